"""How much of the meaning of notes, and of a corpus, is left after redaction, measured with an embedder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from incognote.errors import UsageError
from incognote.evaluation.corpus import Pair
from incognote.evaluation.intervals import Figure, interval, resampled
from incognote.evaluation.measures import redacted
from incognote.evaluation.metrics.tally import RESAMPLES

Vectors = NDArray[np.float64]
_BLOCK = 512


class TextEmbedder(Protocol):
    """An object that turns texts into vectors."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.floating]:
        """Return an array of texts × dimensions, in the order of the texts."""
        ...


@dataclass(frozen=True, slots=True)
class Utility:
    """The Clinical Utility Score of Guan §4.1.2: score = (1 − loss) × F1.

    `loss` is the mean over the documents of 1 − cosine(original, redacted), each clipped to 0..1.
    """

    score: float
    loss: Figure
    f1: float


@dataclass(frozen=True, slots=True)
class Preservation:
    """Semantic preservation as in CIPHER's Table 4.

    Attributes:
        cosine: mean cosine of each note before and after.
        neighbours: the share of a note's k nearest notes (by cosine) before that are still among its k nearest after;
            mean over the notes.
        wasserstein: the 1-Wasserstein distance between the notes before and after in each dimension, mean over
            dimensions, in the embedder's own units. The paper does not say which multivariate form it uses. This one is
            exact, has no random directions, and costs one sort per dimension. It is a lower bound of any joint form.
        wasserstein_scaled: the same with each dimension in standard deviations of the originals, so that embedders can
            be compared. A dimension in which the originals do not vary is not scaled.
    """

    documents: int
    cosine: Figure
    neighbours: Figure
    wasserstein: float
    wasserstein_scaled: float


def clinical_utility(
    originals: Sequence[str],
    redacted: Sequence[str],
    f1: float,
    embedder: TextEmbedder,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Utility:
    """Compute the Clinical Utility Score of a system with the given F1 (0..1) on these documents.

    Raises:
        UsageError: no texts, texts that do not pair, an F1 outside 0..1, or unusable vectors from the embedder.
    """
    if not 0 <= f1 <= 1:
        raise UsageError("F1 must be between 0 and 1")
    losses = information_losses(originals, redacted, embedder)
    loss = _mean(losses, resamples, seed)
    return Utility((1 - float(losses.mean())) * f1, loss, f1)


def information_losses(originals: Sequence[str], redacted: Sequence[str], embedder: TextEmbedder) -> Vectors:
    """The loss of each document: 1 − cosine of the texts before and after, clipped to 0..1.

    Raises:
        UsageError: as for `clinical_utility`.
    """
    before, after = _embedded(originals, redacted, embedder)
    losses: Vectors = np.clip(1 - _cosines(before, after), 0, 1)
    return losses


def semantic_preservation(
    originals: Sequence[str],
    redacted: Sequence[str],
    embedder: TextEmbedder,
    *,
    k: int = 10,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Preservation:
    """Measure how well the notes keep their places in the embedding, each one and relative to each other.

    Neighbors at equal distance are taken in the order of the documents.

    Raises:
        UsageError: as for `clinical_utility`, or fewer than k + 2 documents. With fewer, every other note is a
            neighbor.
    """
    if k < 1 or len(originals) < k + 2:
        raise UsageError(f"the {k} nearest neighbors need at least {k + 2} documents")
    before, after = _embedded(originals, redacted, embedder)
    apart = np.abs(np.sort(before, axis=0) - np.sort(after, axis=0)).mean(axis=0)
    spread = before.std(axis=0)
    return Preservation(
        documents=len(before),
        cosine=_mean(_cosines(before, after), resamples, seed),
        neighbours=_mean(_kept(before, after, k), resamples, seed),
        wasserstein=float(apart.mean()),
        wasserstein_scaled=float((apart / np.where(spread > 0, spread, 1)).mean()),
    )


def _embedded(originals: Sequence[str], redacted: Sequence[str], embedder: TextEmbedder) -> tuple[Vectors, Vectors]:
    if len(originals) != len(redacted) or not originals:
        raise UsageError("there must be a redacted text for every original, and at least one")
    before, after = (np.asarray(embedder.embed(texts), np.float64) for texts in (originals, redacted))
    if before.ndim != 2 or before.shape != after.shape or len(before) != len(originals):
        raise UsageError("the embedder must return one vector per text, all of the same length")
    if not (np.isfinite(before).all() and np.isfinite(after).all()):
        raise UsageError("the embedder returned a value that is not a finite number")
    return before, after


def _unit(vectors: Vectors) -> Vectors:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = vectors / np.where(length > 0, length, 1)
    return unit


def _cosines(before: Vectors, after: Vectors) -> Vectors:
    """Cosine per pair: 1 (nothing lost) if both vectors are zero, 0 (everything lost) if only one is."""
    cosines: Vectors = (_unit(before) * _unit(after)).sum(axis=1)
    cosines[~before.any(axis=1) & ~after.any(axis=1)] = 1.0
    return cosines


def _kept(before: Vectors, after: Vectors, k: int) -> Vectors:
    """Per document, the share of its k nearest that stay nearest. Runs in blocks, since n × n would not fit."""
    before, after = _unit(before), _unit(after)
    kept: Vectors = np.empty(len(before))
    for start in range(0, len(before), _BLOCK):
        own = np.arange(start, min(start + _BLOCK, len(before)))
        first, second = _nearest(before, own, k), _nearest(after, own, k)
        kept[own] = (first[:, :, None] == second[:, None, :]).any(axis=2).mean(axis=1)
    return kept


def _nearest(unit: Vectors, own: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    likeness = unit[own] @ unit.T
    likeness[np.arange(len(own)), own] = -np.inf
    return np.argsort(-likeness, axis=1, kind="stable")[:, :k]


def _mean(values: Vectors, resamples: int, seed: int) -> Figure:
    """The mean over documents with its bootstrap interval."""
    if len(values) == 1:
        return Figure(float(values[0]), None, None, 1)
    low, high = interval(resampled(values[:, None], resamples, seed)[:, 0] / len(values))
    return Figure(float(values.mean()), low, high, len(values))


NEIGHBOURS = 10
"""The k of CIPHER's Table 4."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """Guan's Clinical Utility Score and CIPHER's semantic preservation.

    Attributes:
        embedder: its name.
        utility: with the F1 of spans that agree in boundaries and type (`strict`).
        preservation: None if there are too few documents for ten neighbors.
    """

    embedder: str
    utility: Utility
    preservation: Preservation | None


class Remembering:
    """An embedder that reads no text twice. The originals are the same for every system."""

    def __init__(self, embedder: TextEmbedder) -> None:
        self._embedder = embedder
        self._known: dict[str, NDArray[np.floating]] = {}

    def embed(self, texts: Sequence[str]) -> NDArray[np.floating]:
        """Return an array of texts × dimensions, in the order of the texts.

        Raises:
            UsageError: the embedder does not return one vector per text.
        """
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            made = np.asarray(self._embedder.embed(new))
            if made.ndim != 2 or len(made) != len(new):
                raise UsageError("the embedder must return one vector per text, all of the same length")
            self._known.update(zip(new, made, strict=True))
        return np.stack([self._known[text] for text in texts])


class Meanings:
    """The texts of a corpus before and after redaction."""

    def __init__(self) -> None:
        self._originals: list[str] = []
        self._redacted: list[str] = []

    def add(self, pair: Pair) -> None:
        """Add one document, with each finding replaced by its type in brackets."""
        self._originals.append(pair.text)
        self._redacted.append(redacted(pair.text, pair.found))

    def measured(self, name: str, embedder: TextEmbedder, f1: float, *, resamples: int, seed: int) -> Meaning:
        """Embed all texts and compute the scores.

        Raises:
            UsageError: there is no document, or the embedder does not return one vector per text.
        """
        once = Remembering(embedder)
        utility = clinical_utility(self._originals, self._redacted, f1, once, resamples=resamples, seed=seed)
        preservation = None
        if len(self._originals) >= NEIGHBOURS + 2:
            preservation = semantic_preservation(
                self._originals, self._redacted, once, k=NEIGHBOURS, resamples=resamples, seed=seed
            )
        return Meaning(name, utility, preservation)
