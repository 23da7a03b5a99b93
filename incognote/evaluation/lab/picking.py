"""Strategies that choose examples from the stretches of a pool."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from incognote.errors import MissingExtra, UsageError
from incognote.evaluation.corpus import Gold, LabeledSpan
from incognote.evaluation.lab.lint import SeenDocuments
from incognote.evaluation.lab.pool import ExampleCandidate
from incognote.evaluation.metrics.utility import TextEmbedder

Strategy = Literal["random", "similar", "hardest", "covering"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
Found = Sequence[Sequence[LabeledSpan]]
"""The findings of a system, per document of the pool."""
_TYPE, _FORM = 3.0, 1.0
"""The value of a new type, and of a new form of a type that is already shown."""


def unseen(offered: Sequence[ExampleCandidate], texts: Sequence[str], k: int) -> list[ExampleCandidate]:
    """The candidates that do not quote the documents to be scored, one per text.

    Raises:
        UsageError: fewer than k are left.
    """
    seen = SeenDocuments(texts)
    once = {one.example.text: one for one in reversed(offered)}
    left = [one for one in offered if once[one.example.text] is one and not seen.quoted(one.example.text)]
    if len(left) < k:
        raise UsageError(
            f"Only {len(left):,} of {len(offered):,} stretches of the pool share no eight consecutive words with the "
            f"documents to be scored, but {k} are needed. Use another pool, a smaller --k, or other documents "
            "(--against)."
        )
    return left


def picked(
    strategy: Strategy,
    offered: Sequence[ExampleCandidate],
    k: int,
    *,
    gold: Sequence[Gold],
    found: Callable[[], Found],
    like: Sequence[str],
    embedder: TextEmbedder | None = None,
    seed: int = 0,
) -> list[ExampleCandidate]:
    """Choose k candidates, in the order in which the strategy takes them.

    random    each is equally likely
    similar   of those with identifiers, greedily the set that is nearest to the texts of `like`: it maximizes the sum
              over texts of the cosine to the nearest one taken (facility location; greedy is within 1 - 1/e of the
              best, Nemhauser et al. 1978)
    hardest   those with the most letters and digits missed or wrongly found, one per document as far as possible
    covering  greedily those with types not shown yet, then forms (9/9/9999, Aaa A. Aaa) of types; shorter ones first

    Args:
        gold: of the pool.
        found: returns a system's findings in the pool's documents; called by `hardest` only.
        like: the texts that `similar` should be near to.
        embedder: for `similar`; by default, TF-IDF over words and pairs of words.
        seed: for `random`; the other strategies draw nothing.

    Raises:
        MissingExtra: TF-IDF needs the extra `evaluation`.
    """
    if strategy == "random":
        return random.Random(seed).sample(list(offered), k)  # noqa: S311 -- not a secret
    if strategy == "similar":
        holding = [one for one in offered if one.example.found]
        offered = holding if len(holding) >= k else offered
        texts = [one.example.text for one in offered]
        return [offered[at] for at in _nearest(_alike(like, texts, embedder), k)]
    if strategy == "hardest":
        return _hardest(offered, k, gold, found())
    return _covering(offered, k)


def _nearest(alike: NDArray[np.float64], k: int) -> list[int]:
    """Choose k columns (candidates) of a texts × candidates table of cosines."""
    best = np.zeros(len(alike))
    taken: list[int] = []
    for _ in range(k):
        gain = np.maximum(alike, best[:, None]).sum(axis=0)
        gain[taken] = -np.inf
        taken.append(int(np.argmax(gain)))
        best = np.maximum(best, alike[:, taken[-1]])
    return taken


def _alike(like: Sequence[str], texts: Sequence[str], embedder: TextEmbedder | None) -> NDArray[np.float64]:
    if embedder is not None:
        both = np.asarray(embedder.embed([*like, *texts]), np.float64)
        length = np.linalg.norm(both, axis=1, keepdims=True)
        both = both / np.where(length > 0, length, 1)
        cosines: NDArray[np.float64] = both[: len(like)] @ both[len(like) :].T
        return cosines
    try:
        from sklearn.feature_extraction.text import (  # type: ignore[import-untyped,unused-ignore]  # it ships no types
            TfidfVectorizer,
        )
    except ImportError:
        raise MissingExtra("evaluation", "the strategy similar without an embedder") from None
    pattern = r"(?u)\b\w+\b"  # words of one letter too
    made = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=pattern).fit([*like, *texts])
    similarity: NDArray[np.float64] = (made.transform(like) @ made.transform(texts).T).toarray()
    return similarity


def _hardest(offered: Sequence[ExampleCandidate], k: int, gold: Sequence[Gold], found: Found) -> list[ExampleCandidate]:
    wrong = [_wrong(one, gold[one.document], found[one.document]) for one in offered]
    order = sorted(range(len(offered)), key=lambda at: (-wrong[at], at))
    first: dict[int, int] = {}
    for at in order:
        first.setdefault(offered[at].document, at)
    alone = set(first.values())
    order = [at for at in order if at in alone and wrong[at]] + [at for at in order if at not in alone or not wrong[at]]
    return [offered[at] for at in order[:k]]


def _wrong(one: ExampleCandidate, gold: Gold, found: Sequence[LabeledSpan]) -> int:
    """The number of letters and digits in the stretch that are marked in only one of gold and findings."""

    def marked(labels: Sequence[LabeledSpan]) -> set[int]:
        return {at for start, end, _ in labels for at in range(max(start, one.start), min(end, one.end))}

    return sum(gold.text[at].isalnum() for at in marked(gold.labels) ^ marked(found))


def form(words: str) -> str:
    """The form of an identifier: digits become 9, runs of letters A, a, or Aa. Other characters stay."""
    written = re.sub(r"\d", "9", words)
    written = re.sub(r"[^\W\d_]+", lambda m: "A" if m[0].isupper() else "a" if m[0].islower() else "Aa", written)
    return " ".join(written.split())


def _covering(offered: Sequence[ExampleCandidate], k: int) -> list[ExampleCandidate]:
    holds = [_facets(one) for one in offered]
    left = list(range(len(offered)))
    shown: set[tuple[str, str]] = set()
    taken: list[ExampleCandidate] = []
    for _ in range(k):
        best = max(left, key=lambda at: (_worth(holds[at], shown), -len(offered[at].example.text), -at))
        left.remove(best)
        shown |= holds[best].keys()
        taken.append(offered[best])
    return taken


def _facets(one: ExampleCandidate) -> Mapping[tuple[str, str], float]:
    text, found = one.example.text, one.example.found
    types = {(type_, ""): _TYPE for _, _, type_ in found}
    return types | {(type_, form(text[a:b])): _FORM for a, b, type_ in found}


def _worth(facets: Mapping[tuple[str, str], float], shown: set[tuple[str, str]]) -> float:
    return sum(worth for facet, worth in facets.items() if facet not in shown)
