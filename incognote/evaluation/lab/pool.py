"""Example candidates from an annotated pool: short stretches of its texts with all their labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from incognote.errors import UsageError
from incognote.evaluation.corpus import CorpusProblem, Gold, LabeledSpan, read_gold
from incognote.evaluation.experiments.seal import log_opening
from incognote.evaluation.formats import documents
from incognote.evaluation.lab.lint import refuse_test
from incognote.extraction.chunks import chunks, length
from incognote.prompts import sendable
from incognote.prompts.overlay import Example
from incognote.schemas.catalogue import catalogue

WORDS = 60
"""The maximum number of words in an example."""
LEAST = 12
"""The minimum number of words. With fewer, a document could seem to quote the example by chance."""


@dataclass(frozen=True, slots=True)
class ExampleCandidate:
    """A stretch of a document of the pool.

    Args:
        document: its index in the pool.
        start, end: of the stretch, in code points of the document.
    """

    document: int
    start: int
    end: int
    example: Example = field(repr=False)


def annotated(path: Path) -> list[Gold]:
    """The annotated texts of a development file.

    Raises:
        UsageError: the file is marked as a test set or cannot be read, or no document in it is usable.
    """
    refuse_test(path)
    gold = [one for one in read_gold(path) if isinstance(one, Gold)]
    if not gold:
        raise UsageError(
            f"{path.name} has no usable document. It must hold texts with spans (see `incognote convert`)."
        )
    return gold


def texts_of(path: Path) -> list[str]:
    """The texts of a file, annotated or not. Opening a sealed file is logged.

    Raises:
        UsageError: it cannot be read, or has no texts.
    """
    log_opening(path, "prompt")
    _, stream = documents(path)
    found = [one.text for one in stream if not isinstance(one, CorpusProblem) and one.text is not None]
    if not found:
        raise UsageError(f"{path.name} has no texts.")
    return found


def candidates(gold: Sequence[Gold], words: int = WORDS) -> list[ExampleCandidate]:
    """Stretches of about `words` words that do not cut an identifier and hold only types of the catalogue."""
    return [one for number, document in enumerate(gold) for one in _of(number, document, words)]


def _of(number: int, document: Gold, words: int) -> Iterator[ExampleCandidate]:
    text = document.text
    for chunk in chunks(text, words, 0):
        inside = text[chunk.start : chunk.end]
        start = chunk.start + len(inside) - len(inside.lstrip())
        end = chunk.end - (len(inside) - len(inside.rstrip()))
        labels = sorted(label for label in document.labels if label.start < end and start < label.end)
        if length(text[start:end]) >= LEAST and _whole(labels, start, end):
            found = tuple((a - start, b - start, type_) for a, b, type_ in labels)
            example = Example(sendable(text[start:end]), found)
            if _plain(example):
                yield ExampleCandidate(number, start, end, example)


def _whole(labels: Iterable[LabeledSpan], start: int, end: int) -> bool:
    at = start
    for label in labels:
        if label.start < at or label.end > end or label.type not in catalogue():
            return False
        at = label.end
    return True


def _plain(example: Example) -> bool:
    """Return True if the example can be written: it has no bracket or bar where a mark would be misread."""
    if any(mark in example.text for mark in ("[[", "]]")):
        return False
    return not any(set(example.text[a:b]) & set("[]|") or not example.text[a:b].strip() for a, b, _ in example.found)
