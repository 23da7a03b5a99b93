"""Read intervals of recordings: JSON lines, as `incognote detect` writes them; and pair gold with findings.

    gold     {"id", "intervals": [{"start", "end", "type", "phrase"?}], "speech"?: [{"start", "end", "fact"?}]}
    found    {"id", "intervals": [{"start", "end", "type"}], "verdict"?}, or {"id", "error"}

Times are in seconds. Intervals of one `phrase` (a number) are the words of one identifier; without it, each interval is
an identifier. `speech` holds all words or stretches of speech, and `fact` is true for those of clinical facts. More
keys are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, ValidationError, model_validator

from incognote.errors import MalformedRecord, UsageError
from incognote.evaluation.formats.document import CorpusProblem
from incognote.evaluation.formats.source import File, rows, suffix
from incognote.evaluation.recordings.measures import GoldRecording, MutedRecording, SpokenIdentifier
from incognote.speech.nouns import Interval

FAILED = "error"
"""The verdict of a recording that could not be read."""
_SUFFIXES = (".json", ".jsonl", ".ndjson")
_Seconds = Annotated[float, Field(ge=0, le=1e7, allow_inf_nan=False)]


class _Time(BaseModel):
    start: _Seconds
    end: _Seconds
    fact: bool = False

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.start > self.end:
            raise ValueError("it ends before it starts")
        return self

    @property
    def interval(self) -> Interval:
        return Interval(self.start, self.end)


class _Identifier(_Time):
    type: Annotated[str, Field(min_length=1)]
    phrase: int | None = None


class _Line(BaseModel):
    id: str | int
    intervals: list[_Identifier]
    speech: list[_Time] = []
    verdict: str = ""


def holds_intervals(path: str | Path) -> bool:
    """Whether a file of gold holds intervals of recordings, by its first line."""
    path = Path(path)
    if not path.is_file() or suffix(path) not in _SUFFIXES:
        return False
    _, first = next(rows(File(path, path.name)), ("", None))
    return isinstance(first, dict) and first.keys() >= {"id", "intervals"}


def pairs(gold: str | Path, found: str | Path) -> Iterator[tuple[GoldRecording, MutedRecording] | CorpusProblem]:
    """Yield each gold recording with what was muted in it: nothing, with a CorpusProblem, if there is no usable line.

    Raises:
        UsageError: a file cannot be read.
    """
    problems: list[CorpusProblem] = []
    waiting: dict[str, MutedRecording] = {}
    for one in _lines(found):
        if isinstance(one, CorpusProblem):
            problems.append(CorpusProblem(f"found {one.id}", one.what))
        else:
            waiting[str(one.id)] = _muted(one)
    for each in _lines(gold):
        if isinstance(each, CorpusProblem):
            yield each
            continue
        known = _gold(each)
        muted = waiting.pop(known.id, None)
        if muted is None or muted.verdict == FAILED:
            what = "no line" if muted is None else "the recording could not be read"
            yield CorpusProblem(known.id, f"{what}; counted as nothing muted", scored=True)
        yield known, muted or MutedRecording(known.id, (), FAILED)
    yield from problems
    yield from (CorpusProblem(name, "intervals for an id that has no gold") for name in waiting)


def _lines(path: str | Path) -> Iterator[_Line | CorpusProblem]:
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"{path.name} is not a file. Name a file of JSON lines with intervals.")
    seen: set[str] = set()
    for place, value in rows(File(path, path.name)):
        one = _line(place, value)
        if isinstance(one, _Line) and str(one.id) in seen:
            yield CorpusProblem(str(one.id), "the id occurs twice; the first counts")
            continue
        seen.add(str(one.id))
        yield one


def _line(place: str, value: Any) -> _Line | CorpusProblem:
    if isinstance(value, MalformedRecord):
        return CorpusProblem(place, str(value))
    if isinstance(value, dict) and "error" in value and "id" in value:
        return _Line(id=str(value["id"]), intervals=[], verdict=FAILED)
    try:
        return _Line.model_validate(value)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"]) or "the line"
        return CorpusProblem(place, f"{where} is missing, empty, or has a wrong form")


def _muted(line: _Line) -> MutedRecording:
    return MutedRecording(str(line.id), tuple(each.interval for each in line.intervals), line.verdict)


def _gold(line: _Line) -> GoldRecording:
    phrases: dict[tuple[str, int], list[_Identifier]] = {}
    for number, each in enumerate(line.intervals):
        key = ("alone", number) if each.phrase is None else ("phrase", each.phrase)
        phrases.setdefault(key, []).append(each)
    identifiers = (SpokenIdentifier(own[0].type, tuple(e.interval for e in own)) for own in phrases.values())
    speech = tuple(each.interval for each in line.speech)
    return GoldRecording(
        str(line.id), tuple(identifiers), speech, tuple(each.interval for each in line.speech if each.fact)
    )
