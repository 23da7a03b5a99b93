"""Annotated texts and predictions, in any format of `formats/`, brought together.

The plainest is ours, one JSON document a line (`.jsonl`, also `.jsonl.gz`):

    gold          {"id", "text", "spans": [{"start", "end", "type"}]}                     more keys are ignored
    predictions   {"id", "spans": [{"start", "end", "type"}]}, or {"id", "error"} for a text that failed

Offsets are Unicode code points, `end` exclusive. Types go by our names where the catalogue has the kind
(`formats/names.toml`), else by the file's own. What does not fit is a Problem with its id, never a silent "nothing
here": a gold document with one bad span is left out of the scores as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from incognote.errors import IncognoteError, MalformedRecord, UsageError
from incognote.evaluation.formats import annotated, documents, renamed
from incognote.evaluation.formats.document import CorpusDocument, CorpusProblem, Gold, LabeledSpan
from incognote.nouns import Span

__all__ = ["CorpusProblem", "Detect", "Gold", "LabeledSpan", "Pair", "pairs", "read_gold"]

Detect = Callable[[Sequence[str]], Sequence[Sequence[Span]]]
_BATCH = 64


@dataclass(frozen=True, slots=True)
class Pair:
    """One text with what is in it and what was found in it; `scores` one per finding, or none if a system has none."""

    id: str
    text: str = field(repr=False)
    gold: tuple[LabeledSpan, ...]
    found: tuple[LabeledSpan, ...]
    scores: tuple[float, ...] = ()


def read_gold(path: str | Path, form: str | None = None) -> Iterator[Gold | CorpusProblem]:
    """The annotated texts of a file or folder, in its order, each checked against its text.

    Args:
        form: the format's name (`formats.formats()`); detected from the content if None.

    Raises:
        UsageError: it cannot be read, or its format cannot be told.
    """
    yield from annotated(path, form)


def pairs(
    gold: str | Path,
    predictions: str | Path | None = None,
    detect: Detect | None = None,
    *,
    gold_form: str | None = None,
    predictions_form: str | None = None,
) -> Iterator[Pair | CorpusProblem]:
    """Each gold text with what a system found in it: read from `predictions`, or asked of `detect`.

    A text whose prediction is missing, failed or does not fit is paired with nothing found, and is a Problem too.

    Args:
        gold_form, predictions_form: the formats' names; detected from the content if None.

    Raises:
        UsageError: neither or both of `predictions` and `detect` are given, or a file cannot be read.
    """
    if (predictions is None) == (detect is None):
        raise UsageError("Give either a file of predictions or a detector.")
    if predictions is not None:
        yield from _with_file(read_gold(gold, gold_form), _Predictions(predictions, predictions_form))
    elif detect is not None:
        yield from _with_detector(read_gold(gold, gold_form), detect)


def _with_file(gold: Iterable[Gold | CorpusProblem], predictions: _Predictions) -> Iterator[Pair | CorpusProblem]:
    for document in gold:
        if isinstance(document, CorpusProblem):
            yield document
            continue
        try:
            labels, scores = predictions.labels(document)
        except MalformedRecord as error:
            yield CorpusProblem(document.id, f"{error}; counted as nothing found", scored=True)
            labels, scores = (), ()
        yield Pair(document.id, document.text, document.labels, labels, scores)
    yield from predictions.problems()


class _Predictions:
    """A file of predictions, read as far as it is asked: in the order of the gold it is never held in memory.

    A document goes by its id. One that its format only numbers goes by its text, white space aside.
    """

    def __init__(self, path: str | Path, form: str | None) -> None:
        self._form, self._stream = documents(path, form)
        self._waiting: dict[str, CorpusDocument] = {}
        self._seen: dict[str, str] = {}
        self._asked: set[str] = set()
        self._problems: list[CorpusProblem] = []
        self._by_text = False

    def labels(self, gold: Gold) -> tuple[tuple[LabeledSpan, ...], tuple[float, ...]]:
        """What was found in a gold text, and the scores of it as `Pair` has them.

        Raises:
            MalformedRecord: nothing is said of the text, or what is said does not fit it.
        """
        while (name := self._known(gold)) is None and self._read():
            pass  # `_read` keeps what it comes by
        if name is None:
            raise MalformedRecord("no prediction")
        self._asked.add(name)
        document = self._waiting.pop(name)
        if document.marks is None and document.fault is None:
            raise MalformedRecord("the prediction failed")
        return renamed(document.against(gold.text), self._form), document.scores()

    def _known(self, gold: Gold) -> str | None:
        """Under which name the prediction for a text waits."""
        names = [gold.id, *([_words(gold.text)] if self._by_text else ())]
        return next((name for name in names if name in self._waiting), None)

    def _read(self) -> bool:
        document = next(self._stream, None)
        if document is None:
            return False
        if isinstance(document, CorpusProblem):
            self._problems.append(CorpusProblem(f"prediction {document.id}", document.what))
            return True
        name = document.id
        if document.numbered and document.text is not None:
            name, self._by_text = _words(document.text), True
        if name in self._seen:
            self._problems.append(
                CorpusProblem(f"prediction {document.place}", "two predictions for one id; the first counts")
            )
        else:
            self._seen[name] = document.id
            self._waiting[name] = document
        return True

    def problems(self) -> Iterator[CorpusProblem]:
        """What is wrong with the file itself, once all gold has been asked for."""
        while self._read():
            pass  # to the end: what is wrong there is a problem, too
        yield from self._problems
        for name, shown in self._seen.items():
            if name not in self._asked:
                yield CorpusProblem(shown, "a prediction for an id that has no gold")


def _words(text: str) -> str:
    return "\n" + "".join(text.split())  # no id holds a line end


def _with_detector(gold: Iterable[Gold | CorpusProblem], detect: Detect) -> Iterator[Pair | CorpusProblem]:
    stream = iter(gold)
    while batch := list(islice(stream, _BATCH)):
        texts = [document.text for document in batch if isinstance(document, Gold)]
        answers = iter(_asked(detect, texts))
        for document in batch:
            if isinstance(document, CorpusProblem):
                yield document
                continue
            spans = next(answers)
            if spans is None:
                yield CorpusProblem(document.id, "detection failed; counted as nothing found", scored=True)
            labels = tuple(LabeledSpan(span.start, span.end, span.type) for span in spans or ())
            scores = tuple(round(span.score, 4) for span in spans or ())  # as `incognote detect` writes them
            yield Pair(document.id, document.text, document.labels, labels, scores)


def _asked(detect: Detect, texts: Sequence[str]) -> Sequence[Sequence[Span] | None]:
    """The answers for a batch; where it fails, text by text, None for one that fails alone."""
    try:
        return detect(texts)
    except IncognoteError:
        if len(texts) == 1:
            return [None]
        return [_asked(detect, [text])[0] for text in texts]
