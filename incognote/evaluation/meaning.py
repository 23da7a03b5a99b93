"""What of a corpus's meaning is left once what was found is taken out, as an embedder sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incognote.errors import UsageError
from incognote.evaluation.corpus import Pair
from incognote.evaluation.measures import redacted
from incognote.evaluation.metrics.utility import (
    Embedder,
    Preservation,
    Utility,
    clinical_utility,
    semantic_preservation,
)

NEIGHBOURS = 10
"""The k of CIPHER's Table 4."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """Guan's Clinical Utility Score and CIPHER's semantic preservation.

    Attributes:
        embedder: its name.
        utility: with the F1 of spans that agree in boundaries and type (`strict`).
        preservation: None where the documents are too few for ten neighbours.
    """

    embedder: str
    utility: Utility
    preservation: Preservation | None


class Remembering:
    """An embedder that reads no text twice: the originals are the same for every system."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, NDArray[np.floating]] = {}

    def embed(self, texts: Sequence[str]) -> NDArray[np.floating]:
        """Texts × dimensions, in the order of the texts.

        Raises:
            UsageError: the embedder does not answer with a vector for each.
        """
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            made = np.asarray(self._embedder.embed(new))
            if made.ndim != 2 or len(made) != len(new):
                raise UsageError("the embedder must answer with one vector per text, all of the same length")
            self._known.update(zip(new, made, strict=True))
        return np.stack([self._known[text] for text in texts])


class Meanings:
    """The texts of a corpus before and after."""

    def __init__(self) -> None:
        self._originals: list[str] = []
        self._redacted: list[str] = []

    def add(self, pair: Pair) -> None:
        """Take in one document, each finding replaced by its type in brackets."""
        self._originals.append(pair.text)
        self._redacted.append(redacted(pair.text, pair.found))

    def measured(self, name: str, embedder: Embedder, f1: float, *, resamples: int, seed: int) -> Meaning:
        """Embed them all.

        Raises:
            UsageError: there is no document, or the embedder answers something else than a vector for each.
        """
        once = Remembering(embedder)
        utility = clinical_utility(self._originals, self._redacted, f1, once, resamples=resamples, seed=seed)
        preservation = None
        if len(self._originals) >= NEIGHBOURS + 2:
            preservation = semantic_preservation(
                self._originals, self._redacted, once, k=NEIGHBOURS, resamples=resamples, seed=seed
            )
        return Meaning(name, utility, preservation)
