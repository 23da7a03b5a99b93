"""Reading annotated texts and predictions, one JSON document a line (`.jsonl`, also `.jsonl.gz`).

    gold          {"id", "text", "spans": [{"start", "end", "type"}]}                     more keys are ignored
    predictions   {"id", "spans": [{"start", "end", "type"}]}, or {"id", "error"} for a text that failed

Offsets are Unicode code points, `end` exclusive. What does not fit is a Problem with its id, never a silent "nothing
here": a gold document with one bad span is left out of the scores as a whole.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from incognote.errors import IncognoteError, MalformedRecord, UsageError
from incognote.nouns import Span

Detect = Callable[[Sequence[str]], Sequence[Sequence[Span]]]
_BATCH = 64


class Label(NamedTuple):
    """A stretch and the name a corpus or a system gives its kind, which need not be one of our catalogue."""

    start: int
    end: int
    type: str


@dataclass(frozen=True, slots=True)
class Gold:
    """One annotated text."""

    id: str
    text: str = field(repr=False)
    labels: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """One text with what is in it and what was found in it."""

    id: str
    text: str = field(repr=False)
    gold: tuple[Label, ...]
    found: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """A document that could not be used as it is: its id (or line), what is wrong, and whether it was scored."""

    id: str
    what: str
    scored: bool = False


def read_gold(path: str | Path) -> Iterator[Gold | Problem]:
    """The annotated texts of a file, in its order, each checked against its text.

    Raises:
        UsageError: the file cannot be read.
    """
    seen: set[str] = set()
    for number, line in enumerate(_lines(path), 1):
        name = f"line {number}"
        try:
            row = _row(line)
            name = _id(row)
            if name in seen:
                raise MalformedRecord("the same id stands twice")
            seen.add(name)
            text = row.get("text")
            if not isinstance(text, str):
                raise MalformedRecord("no text")
            if "spans" not in row:
                raise MalformedRecord("no gold: the document has no spans, not even an empty list")
            yield Gold(name, text, _labels(row["spans"], text))
        except MalformedRecord as error:
            yield Problem(name, str(error))


def pairs(
    gold: str | Path, predictions: str | Path | None = None, detect: Detect | None = None
) -> Iterator[Pair | Problem]:
    """Each gold text with what a system found in it: read from `predictions`, or asked of `detect`.

    A text whose prediction is missing, failed or does not fit is paired with nothing found, and is a Problem too.

    Raises:
        UsageError: neither or both of `predictions` and `detect` are given, or a file cannot be read.
    """
    if (predictions is None) == (detect is None):
        raise UsageError("give either a file of predictions or a detector, and not both")
    if predictions is not None:
        yield from _with_file(read_gold(gold), predictions)
    elif detect is not None:
        yield from _with_detector(read_gold(gold), detect)


def _with_file(gold: Iterable[Gold | Problem], path: str | Path) -> Iterator[Pair | Problem]:
    predictions = _Predictions(path)
    for document in gold:
        if isinstance(document, Problem):
            yield document
            continue
        try:
            labels = _labels(predictions.spans(document.id), document.text)
        except MalformedRecord as error:
            yield Problem(document.id, f"{error}; counted as nothing found", scored=True)
            labels = ()
        yield Pair(document.id, document.text, document.labels, labels)
    yield from predictions.problems()


class _Predictions:
    """A file of predictions, read as far as it is asked: in the order of the gold it is never held in memory."""

    def __init__(self, path: str | Path) -> None:
        self._lines = enumerate(_lines(path), 1)
        self._waiting: dict[str, Any] = {}
        self._seen: set[str] = set()
        self._asked: set[str] = set()
        self._problems: list[Problem] = []

    def spans(self, name: str) -> Any:
        """The spans said of a document; raises MalformedRecord where there are none or they failed."""
        self._asked.add(name)
        while name not in self._waiting and self._read():
            pass
        if name not in self._waiting:
            raise MalformedRecord("no prediction")
        row = self._waiting.pop(name)
        if "error" in row or "spans" not in row:
            raise MalformedRecord("the prediction failed")
        return row["spans"]

    def _read(self) -> bool:
        number, line = next(self._lines, (0, b""))
        if not number:
            return False
        try:
            row = _row(line)
            name = _id(row)
            if name in self._seen:
                raise MalformedRecord("two predictions for one id; the first counts")
            self._seen.add(name)
            self._waiting[name] = row
        except MalformedRecord as error:
            self._problems.append(Problem(f"prediction line {number}", str(error)))
        return True

    def problems(self) -> Iterator[Problem]:
        """What is wrong with the file itself, once all gold has been asked for."""
        while self._read():
            pass
        yield from self._problems
        for name in self._seen - self._asked:
            yield Problem(name, "a prediction for an id that has no gold")


def _with_detector(gold: Iterable[Gold | Problem], detect: Detect) -> Iterator[Pair | Problem]:
    stream = iter(gold)
    while batch := list(islice(stream, _BATCH)):
        texts = [document.text for document in batch if isinstance(document, Gold)]
        answers = iter(_asked(detect, texts))
        for document in batch:
            if isinstance(document, Problem):
                yield document
                continue
            spans = next(answers)
            if spans is None:
                yield Problem(document.id, "detection failed; counted as nothing found", scored=True)
            labels = tuple(Label(span.start, span.end, span.type) for span in spans or ())
            yield Pair(document.id, document.text, document.labels, labels)


def _asked(detect: Detect, texts: Sequence[str]) -> Sequence[Sequence[Span] | None]:
    """The answers for a batch; where it fails, text by text, None for one that fails alone."""
    try:
        return detect(texts)
    except IncognoteError:
        if len(texts) == 1:
            return [None]
        return [_asked(detect, [text])[0] for text in texts]


def _lines(path: str | Path) -> Iterator[bytes]:
    path = Path(path)
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            for line in stream:
                if line.strip():
                    yield line
    except (OSError, EOFError) as error:
        raise UsageError(f"cannot read {path.name}: {type(error).__name__}") from None


def _row(line: bytes) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise MalformedRecord("not one JSON document in UTF-8") from None
    if not isinstance(row, dict):
        raise MalformedRecord("not a JSON object")
    return row


def _id(row: Mapping[str, Any]) -> str:
    name = row.get("id")
    if not isinstance(name, str | int) or name == "":
        raise MalformedRecord("no id")
    return str(name)


def _labels(spans: object, text: str) -> tuple[Label, ...]:
    if not isinstance(spans, list):
        raise MalformedRecord("spans is no list")
    labels = []
    for number, span in enumerate(spans, 1):
        if not isinstance(span, dict):
            raise MalformedRecord(f"span {number} is no object")
        start, end, type_ = span.get("start"), span.get("end"), span.get("type")
        if type(start) is not int or type(end) is not int or not isinstance(type_, str) or not type_:
            raise MalformedRecord(f"span {number} needs a start, an end and a type")
        if not 0 <= start < end <= len(text):
            raise MalformedRecord(f"span {number} of {start}..{end} does not fit a text of {len(text)} characters")
        if isinstance(words := span.get("text"), str) and words != text[start:end]:
            raise MalformedRecord(f"span {number} claims words that do not stand at {start}..{end}")
        labels.append(Label(start, end, type_))
    return tuple(labels)
