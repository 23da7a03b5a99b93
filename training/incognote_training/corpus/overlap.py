"""Runs of eight words that two texts share, compared by hash. Training notes must share none with evaluation notes.

A word is a run of letters or digits, in lower case. Characters between words do not count. No run is stored or shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

from incognote.evaluation.corpus import read_gold
from incognote.evaluation.formats.document import Gold
from incognote_training.corpus.document import Document

RUN = 8
_WORD = re.compile(r"[^\W_]+")


def runs(text: str) -> Iterator[int]:
    """The hash of every run of eight words, 64 bits each."""
    words = [word.encode() for word in _WORD.findall(text.lower())]
    for at in range(len(words) - RUN + 1):
        yield int.from_bytes(blake2b(b" ".join(words[at : at + RUN]), digest_size=8).digest())


class Measured:
    """The runs of the evaluation notes.

    Args:
        paths: annotated files in any format that `evaluate` reads.

    Raises:
        UsageError: one cannot be read.
    """

    def __init__(self, paths: Iterable[str | Path]) -> None:
        self._runs: frozenset[int] = frozenset(
            run for path in paths for gold in read_gold(path) if isinstance(gold, Gold) for run in runs(gold.text)
        )

    def shares(self, text: str) -> bool:
        """Return True if a text shares a run with any of them."""
        return any(run in self._runs for run in runs(text))


def shared(documents: Iterable[Document]) -> float:
    """The share of documents that have a run in common with another document; 0 if there are none."""
    held: Counter[int] = Counter()
    own: list[frozenset[int]] = []
    for document in documents:
        own.append(frozenset(runs(document.text)))
        held.update(own[-1])
    return sum(any(held[run] > 1 for run in one) for one in own) / len(own) if own else 0.0
