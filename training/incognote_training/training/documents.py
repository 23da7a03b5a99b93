"""Annotated texts for training, and their mixture.

One JSON document per line: `id`, `text`, `spans` ({start, end, type}), `source`, and `soft` if annotators differed. The
last is a list of words, {start, end, votes}, with a share per BIO label in `votes` ("B-CITY": 0.75, "O": 0.25).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from incognote.errors import UsageError
from incognote_training.training.config import Data

SYNTHETIC = frozenset({"", "template", "injected"})


@dataclass(frozen=True, slots=True)
class Votes:
    """The annotators' votes on a stretch: a share per BIO label."""

    start: int
    end: int
    shares: dict[str, float]


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its spans, disjoint and sorted by offset."""

    id: str = field(repr=False)
    text: str = field(repr=False)
    spans: tuple[tuple[int, int, str], ...]
    votes: tuple[Votes, ...] = ()
    source: str = ""

    @property
    def authentic(self) -> bool:
        """Whether it was written or annotated individually."""
        return SYNTHETIC.isdisjoint(self.kinds)

    @property
    def kinds(self) -> frozenset[str]:
        """The parts of its source: "template+corrupted" has two."""
        return frozenset(self.source.split("+"))


def read(path: Path) -> Iterator[Document]:
    """Read the documents of a JSONL file.

    Raises:
        UsageError: it cannot be read, or a line is malformed. The message gives the line number, never the content.
    """
    try:
        with path.open(encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield _document(line, path.name, number)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path.name} cannot be read as UTF-8 text: {type(error).__name__}") from None


def mixed(data: Data, seed: int) -> list[Document]:
    """The documents of an epoch in the configured mixture. The seed decides which documents are taken.

    Raises:
        UsageError: a file cannot be read, or one side has too few documents for the share.
    """
    read_in = [each for path in data.files for each in read(path) if each.kinds.isdisjoint(data.without)]
    made = [document for document in read_in if not document.authentic]
    real = [document for document in read_in if document.authentic]
    random = np.random.default_rng([seed, 1])
    share = data.synthetic_share
    if share is None:
        together = made + real * data.repeat_authentic
        return _some(together, data.total, random) if data.total else together
    total = data.total
    if total is None:
        total = min(len(side) for side in (made, real) if side) if made or real else 0
    wanted = round(total * share)
    for name, side, n in (("synthetic", made, wanted), ("authentic", real, total - wanted)):
        if n > len(side):
            raise UsageError(f"data: the mixture needs {n:,} {name} documents, but there are only {len(side):,}")
    return _some(made, wanted, random) + _some(real, total - wanted, random)


def _some(documents: Sequence[Document], n: int, random: np.random.Generator) -> list[Document]:
    return [documents[i] for i in sorted(random.permutation(len(documents))[:n])]


def _document(line: str, name: str, number: int) -> Document:
    try:
        row = json.loads(line)
        text = row["text"]
        spans = tuple(sorted((int(s["start"]), int(s["end"]), str(s["type"])) for s in row["spans"]))
        votes = tuple(
            Votes(int(v["start"]), int(v["end"]), {str(k): float(x) for k, x in v["votes"].items()})
            for v in row.get("soft") or ()
        )
        ends = [0, *(end for _, end, _ in spans)]
        if not isinstance(text, str) or any(
            not before <= start < end <= len(text) for before, (start, end, _) in zip(ends, spans, strict=False)
        ):
            raise ValueError
        return Document(str(row["id"]), text, spans, votes, str(row.get("source") or ""))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise UsageError(
            f"{name}, line {number}: not a document: it needs id, text, and disjoint spans with start, end, and type"
        ) from None
