"""The best BIO sequence under a linear-chain CRF, for many sequences at once (CIPHER, "The Student": vectorised batched
Viterbi), and the cutting of long texts at words that cannot but be O.

The score of tags y is the sum of emissions e[t, y_t] and transitions A[y_t-1, y_t]. Forbidden transitions weigh minus
infinity, and a sequence never begins with an I. Nothing is weighed at its two ends: sequences are cut anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Tags = NDArray[np.int64]


def viterbi(emissions: Floats, lengths: NDArray[np.int64], transitions: Floats) -> Tags:
    """The best path of each sequence.

    Args:
        emissions: sequences × words × tags; what stands behind a sequence's length is not looked at.
        lengths: per sequence, how many words it has.
        transitions: tags × tags, from × to, minus infinity where forbidden; the first tag is O, then B and I by turns.

    Returns:
        sequences × words; 0 behind a sequence's length.
    """
    n, longest, k = emissions.shape
    paths = np.zeros((n, longest), np.int64)
    if not n or not longest:
        return paths
    order = np.argsort(-lengths, kind="stable")  # the longest first: those that have ended are a tail, and are left out
    sizes = lengths[order]
    alive = [int(np.searchsorted(-sizes, -t, side="left")) for t in range(longest)]  # how many are longer than t
    anywhere = np.r_[0, 1:k:2]  # O and every B may follow any tag; an I only the B and the I of its class
    to_any = np.ascontiguousarray(transitions[:, None, anywhere])
    begun = transitions[np.arange(1, k, 2), np.arange(2, k, 2)]
    going = transitions[np.arange(2, k, 2), np.arange(2, k, 2)]
    alphas = np.full((longest, n, k), -np.inf, np.float32)
    alphas[0] = emissions[order, 0]
    alphas[0, :, 2::2] = -np.inf
    for t in range(1, longest):
        m = alive[t]
        if not m:
            break
        before, now = alphas[t - 1, :m], alphas[t, :m]
        now[:, anywhere] = (before.T[:, :, None] + to_any).max(axis=0)
        now[:, 2::2] = np.maximum(before[:, 1::2] + begun, before[:, 2::2] + going)
        now += emissions[order[:m], t]
    # No way back is kept: where the best path came from is asked again along it, one row of tags instead of a table.
    into = np.ascontiguousarray(transitions.T)
    tag = np.zeros(n, np.int64)
    m = 0
    for t in range(longest - 1, -1, -1):
        going_on, m = m, alive[t]
        tag[going_on:m] = alphas[t, going_on:m].argmax(axis=1)
        if going_on:
            tag[:going_on] = (alphas[t, :going_on] + into[tag[:going_on]]).argmax(axis=1)
        paths[order[:m], t] = tag[:m]
    return paths


class Decoder:
    """Decodes whole texts, in batches of the stretches that are in doubt.

    Most words of a note are O beyond doubt, and such a word parts the text: what stands on its two sides is decoded
    apart, side by side with the stretches of all other texts. Exact, not an approximation: a word is only taken for
    such when no path of the CRF can gain by another tag there. Giving O instead changes the transitions to and from
    the word, and turns an I behind it into a B; `_slack` bounds what this can cost over all pairs of neighbours.
    """

    def __init__(self, transitions: Floats) -> None:
        self._transitions = np.ascontiguousarray(transitions, np.float32)
        self._slack = _slack(self._transitions)

    def __call__(self, texts: Sequence[Floats]) -> list[Tags]:
        """The best tags of each text, from its emissions (words × tags)."""
        found = [np.zeros(len(emissions), np.int64) for emissions in texts]
        pieces = [(i, a, b) for i, emissions in enumerate(texts) for a, b in self._stretches(emissions)]
        pieces.sort(key=lambda piece: piece[1] - piece[2])
        for at in range(0, len(pieces), 64):
            some = pieces[at : at + 64]
            lengths = np.array([b - a for _, a, b in some])
            block = np.zeros((len(some), lengths[0], len(self._transitions)), np.float32)
            for row, (i, a, b) in zip(block, some, strict=True):
                row[: b - a] = texts[i][a:b]
            for (i, a, b), path in zip(some, viterbi(block, lengths, self._transitions), strict=True):
                found[i][a:b] = path[: b - a]
        return found

    def part(self, emissions: Floats) -> int:
        """The last word but one, or one before it, that is O beyond doubt: the words on its two sides can be decoded
        apart, each side with that word; 0 where there is none."""
        certain = np.flatnonzero(self._certain(emissions)[:-1])
        return int(certain[-1]) if len(certain) else 0

    def _certain(self, emissions: Floats) -> NDArray[np.bool_]:
        others = emissions[:, 1:].max(axis=1, initial=-np.inf)
        turned = np.zeros(len(emissions), np.float32)  # what it costs the next word to begin a span instead of going on
        turned[:-1] = np.maximum(0, (emissions[1:, 2::2] - emissions[1:, 1::2]).max(axis=1, initial=0))
        certain: NDArray[np.bool_] = emissions[:, 0] - others > turned + self._slack
        return certain

    def _stretches(self, emissions: Floats) -> list[tuple[int, int]]:
        """From one certain O to the next, each with the certain O before it and behind it, where there is one."""
        if not len(emissions):
            return []
        doubt = np.flatnonzero(~self._certain(emissions))
        if not len(doubt):
            return []
        gaps = np.flatnonzero(np.diff(doubt) > 1)
        first = doubt[np.concatenate(([0], gaps + 1))]
        last = doubt[np.concatenate((gaps, [len(doubt) - 1]))]
        return [(max(0, int(a) - 1), min(len(emissions), int(b) + 2)) for a, b in zip(first, last, strict=True)]


def _slack(a: Floats) -> float:
    """How much more any other tag can gain from its neighbours than O: an upper bound over all legal neighbours."""
    if len(a) == 1:
        return 0.0
    entering = _gain(a[:, 1:], a[:, :1])  # from any tag p: A[p, y] - A[p, O]
    leaving = _gain(a[1:, np.r_[0, 1 : len(a) : 2]].T, a[0, np.r_[0, 1 : len(a) : 2]][:, None])  # to O or a B
    begins, goes_on = a[1::2], a[2::2]
    inside = np.concatenate([np.diag(begins[:, 2::2]), np.diag(goes_on[:, 2::2])])  # y to the I of its class, y = B, I
    begun = np.concatenate([a[0, 1::2], a[0, 1::2]])
    after = max(0.0, _gain(goes_on, begins))  # what the I had from the word behind it, over what its B has
    return float(max(0.0, entering) + max(leaving, float((inside - begun).max()) + after))


def _gain(some: Floats, base: Floats) -> float:
    """The most that `some` exceeds `base` by, where `some` is allowed."""
    legal = np.isfinite(some)
    return float(np.where(legal, some - np.where(np.isfinite(base), base, 0), -np.inf).max(initial=-np.inf))
