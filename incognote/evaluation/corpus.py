"""Pair annotated texts with predictions, in any format of `formats/`.

The simplest format is ours, one JSON document per line (`.jsonl`, also `.jsonl.gz`):

    gold          {"id", "text", "spans": [{"start", "end", "type"}]}                     more keys are ignored
    predictions   {"id", "spans": [{"start", "end", "type"}]}, or {"id", "error"} for a text that failed

Offsets are Unicode code points, and `end` is exclusive. Types are renamed to ours if the catalogue has the kind
(`formats/names.toml`); otherwise they keep the file's names. A document that does not fit becomes a CorpusProblem with
its id, never a silent "nothing here". A gold document with one bad span is left out of the scores completely.
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
    """One text with its gold and its findings. `scores` has one score per finding, or none if the system gives none."""

    id: str
    text: str = field(repr=False)
    gold: tuple[LabeledSpan, ...]
    found: tuple[LabeledSpan, ...]
    scores: tuple[float, ...] = ()


def read_gold(path: str | Path, form: str | None = None) -> Iterator[Gold | CorpusProblem]:
    """The annotated texts of a file or folder, in order, each checked against its text.

    Args:
        form: the format's name (`formats.formats()`); detected from the content if None.

    Raises:
        UsageError: it cannot be read, or its format cannot be detected.
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
    """Pair each gold text with the findings of a system, read from `predictions` or returned by `detect`.

    A text whose prediction is missing, failed, or does not fit is paired with no findings and also gives a
    CorpusProblem.

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
    """A file of predictions, read only as far as needed. If it is in the order of the gold, little is held in memory.

    A document is matched by its id. If its format only numbers documents, it is matched by its text, ignoring white
    space.
    """

    def __init__(self, path: str | Path, form: str | None) -> None:
        self._form, self._stream = documents(path, form)
        self._waiting: dict[str, CorpusDocument] = {}
        self._seen: dict[str, str] = {}
        self._asked: set[str] = set()
        self._problems: list[CorpusProblem] = []
        self._by_text = False

    def labels(self, gold: Gold) -> tuple[tuple[LabeledSpan, ...], tuple[float, ...]]:
        """The findings in a gold text, and their scores in the form that `Pair` uses.

        Raises:
            MalformedRecord: there is no prediction for the text, it failed, or it does not fit.
        """
        while (name := self._known(gold)) is None and self._read():
            pass  # `_read` keeps the documents that it passes
        if name is None:
            raise MalformedRecord("no prediction")
        self._asked.add(name)
        document = self._waiting.pop(name)
        if document.marks is None and document.fault is None:
            raise MalformedRecord("the prediction failed")
        return renamed(document.against(gold.text), self._form), document.scores()

    def _known(self, gold: Gold) -> str | None:
        """The name under which the prediction for a text is waiting."""
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
        """The problems of the file itself. Call it after all gold was asked for."""
        while self._read():
            pass  # read to the end, to find problems there too
        yield from self._problems
        for name, shown in self._seen.items():
            if name not in self._asked:
                yield CorpusProblem(shown, "a prediction for an id that has no gold")


def _words(text: str) -> str:
    return "\n" + "".join(text.split())  # no id contains a line break


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
    """The answers for a batch. If the batch fails, ask text by text, with None for each text that fails."""
    try:
        return detect(texts)
    except IncognoteError:
        if len(texts) == 1:
            return [None]
        return [_asked(detect, [text])[0] for text in texts]
