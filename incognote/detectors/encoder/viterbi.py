"""Find the best BIO sequence under a linear-chain CRF, and cut long texts at words that are certainly O.

Many sequences are decoded at once (CIPHER, "The Student": vectorized batched Viterbi).

The score of tags y is the sum of the emissions e[t, y_t] and the transitions A[y_t-1, y_t]. Forbidden transitions are
minus infinity, and a sequence never begins with an I. The two ends of a sequence have no start or end scores, because
sequences are cut anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Tags = NDArray[np.int64]


def viterbi(emissions: Floats, lengths: NDArray[np.int64], transitions: Floats) -> Tags:
    """Return the best path of each sequence.

    Args:
        emissions: sequences × words × tags; values beyond a sequence's length are ignored.
        lengths: the number of words of each sequence.
        transitions: tags × tags, from × to, minus infinity where forbidden; tag 0 is O, then B and I alternate.

    Returns:
        sequences × words; 0 beyond a sequence's length.
    """
    n, longest, k = emissions.shape
    paths = np.zeros((n, longest), np.int64)
    if not n or not longest:
        return paths
    order = np.argsort(-lengths, kind="stable")  # longest first: sequences that have ended form a tail that is skipped
    sizes = lengths[order]
    alive = [int(np.searchsorted(-sizes, -t, side="left")) for t in range(longest)]  # how many are longer than t
    anywhere = np.r_[0, 1:k:2]  # O and every B may follow any tag, an I only the B or I of its class
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
    # No backpointers are stored. The predecessor is recomputed along the best path: one row of tags, not a table.
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
    """Decodes whole texts, in batches of the stretches that are not certain.

    Most words of a note are certainly O, and such a word splits the text: its two sides are decoded separately, in one
    batch with the stretches of all other texts. The result is exact: a word counts as certain only if no path of the
    CRF scores higher with another tag there. A change to O changes the transitions to and from the word, and turns an I
    after it into a B. `_slack` bounds this cost over all pairs of neighbors.
    """

    def __init__(self, transitions: Floats) -> None:
        self._transitions = np.ascontiguousarray(transitions, np.float32)
        self._slack = _slack(self._transitions)

    def __call__(self, texts: Sequence[Floats]) -> list[Tags]:
        """Return the best tags of each text from its emissions (words × tags)."""
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
        """Return the last word that is certainly O, excluding the final word; 0 if there is none.

        The two sides of that word can be decoded separately, each together with the word.
        """
        certain = np.flatnonzero(self._certain(emissions)[:-1])
        return int(certain[-1]) if len(certain) else 0

    def _certain(self, emissions: Floats) -> NDArray[np.bool_]:
        others = emissions[:, 1:].max(axis=1, initial=-np.inf)
        turned = np.zeros(len(emissions), np.float32)  # the cost if the next word begins a span instead of going on
        turned[:-1] = np.maximum(0, (emissions[1:, 2::2] - emissions[1:, 1::2]).max(axis=1, initial=0))
        certain: NDArray[np.bool_] = emissions[:, 0] - others > turned + self._slack
        return certain

    def _stretches(self, emissions: Floats) -> list[tuple[int, int]]:
        """Return the stretches between certain Os, each with the certain O before and after it, if any."""
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
    """An upper bound, over all legal neighbors, of how much more another tag can gain from its neighbors than O."""
    if len(a) == 1:
        return 0.0
    entering = _gain(a[:, 1:], a[:, :1])  # from any tag p: A[p, y] - A[p, O]
    leaving = _gain(a[1:, np.r_[0, 1 : len(a) : 2]].T, a[0, np.r_[0, 1 : len(a) : 2]][:, None])  # to O or a B
    begins, goes_on = a[1::2], a[2::2]
    inside = np.concatenate([np.diag(begins[:, 2::2]), np.diag(goes_on[:, 2::2])])  # y to the I of its class, y = B, I
    begun = np.concatenate([a[0, 1::2], a[0, 1::2]])
    after = max(0.0, _gain(goes_on, begins))  # what an I gains from the next word, compared with its B
    return float(max(0.0, entering) + max(leaving, float((inside - begun).max()) + after))


def _gain(some: Floats, base: Floats) -> float:
    """The largest difference `some` - `base` where `some` is allowed."""
    legal = np.isfinite(some)
    return float(np.where(legal, some - np.where(np.isfinite(base), base, 0), -np.inf).max(initial=-np.inf))
