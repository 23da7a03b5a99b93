"""Read boxes of pages: JSON lines, as `incognote detect` writes them, or a COCO file; and pair gold with findings.

    gold     {"id", "boxes": [{"page", "x0", "y0", "x1", "y1", "type", "ink"?}], "words"?: [{"page", "x0", …, "type"?}]}
    found    {"id", "boxes": [{"page", "x0", "y0", "x1", "y1", "type", "score"}], "verdict"?}, or {"id", "error"}

Sides are in pixels; x1 and y1 are exclusive. Pages count from 1, which is the default. A word with a type is a word of
an identifier. A word whose `text` has no letter and no digit is left out. More keys are ignored. In a COCO file, each
image is a file with one page.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, ValidationError, model_validator

from incognote.errors import MalformedRecord, UsageError
from incognote.evaluation import coco
from incognote.evaluation.boxes.nouns import PRINT, LabeledBox, PageFile
from incognote.evaluation.formats.document import CorpusProblem
from incognote.evaluation.formats.source import File, content, rows, suffix

Content = Literal["boxes", "actions"]
FAILED = "error"
"""The verdict of a file that could not be read."""
_SUFFIXES = (".json", ".jsonl", ".ndjson")
_LARGEST = 20_000  # pixels of a side, more than any page that is read has
_Side = Annotated[float, Field(ge=0, le=_LARGEST, allow_inf_nan=False)]


class _Word(BaseModel):
    page: Annotated[int, Field(ge=1)] = 1
    x0: _Side
    y0: _Side
    x1: _Side
    y1: _Side
    type: str = ""
    text: str | None = None

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if self.x0 >= self.x1 or self.y0 >= self.y1:
            raise ValueError("empty")
        return self

    def labeled(self, ink: str = PRINT, score: float = 1.0) -> LabeledBox:
        box = (floor(self.x0), floor(self.y0), ceil(self.x1), ceil(self.y1))
        return LabeledBox(self.page, box, self.type, ink, score)


class _Box(_Word):
    type: Annotated[str, Field(min_length=1)]
    ink: str = PRINT
    score: Annotated[float, Field(ge=0, le=1)] = 1.0


class _Line(BaseModel):
    id: str | int
    boxes: list[_Box]
    words: list[_Word] = []
    verdict: str = ""


def content_of(path: str | Path) -> Content | None:
    """Return what a file of gold holds, by its first value: boxes, DICOM actions, or None for anything else."""
    path = Path(path)
    if not path.is_file() or suffix(path) not in _SUFFIXES:
        return None
    _, first = next(rows(File(path, path.name)), ("", None))
    keys = frozenset(first) if isinstance(first, dict) else frozenset[str]()
    if {"id", "boxes"} <= keys or {"images", "annotations"} <= keys:
        return "boxes"
    return "actions" if {"id", "action", "done"} <= keys else None


def page_files(path: str | Path) -> Iterator[PageFile | CorpusProblem]:
    """Yield the files with boxes, in order. A line that does not fit, or repeats an id, is a CorpusProblem.

    A line with `error` is a file without boxes whose verdict is `FAILED`.

    Raises:
        UsageError: it cannot be read, or is a COCO file that is not sound.
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"{path.name} is not a file. Name a file of JSON lines, or a COCO file.")
    seen: set[str] = set()
    for place, value in rows(File(path, path.name)):
        found = list(_coco(path)) if isinstance(value, dict) and "annotations" in value else [_file(place, value)]
        for one in found:
            if isinstance(one, PageFile) and one.id in seen:
                yield CorpusProblem(one.id, "the id occurs twice; the first counts")
                continue
            seen.add(one.id)
            yield one


def pairs(gold: str | Path, found: str | Path) -> Iterator[tuple[PageFile, PageFile] | CorpusProblem]:
    """Yield each gold file with what was found in it: nothing, with a CorpusProblem, if there is no line, or an error.

    Raises:
        UsageError: as `page_files`.
    """
    problems: list[CorpusProblem] = []
    waiting: dict[str, PageFile] = {}
    for one in page_files(found):
        if isinstance(one, PageFile):
            waiting[one.id] = one
        else:
            problems.append(CorpusProblem(f"found {one.id}", one.what))
    for each in page_files(gold):
        if isinstance(each, CorpusProblem):
            yield each
            continue
        file = waiting.pop(each.id, None)
        if file is None or file.verdict == FAILED:
            what = "no line" if file is None else "the file could not be read"
            yield CorpusProblem(each.id, f"{what}; counted as nothing found", scored=True)
        yield each, file or PageFile(each.id, (), verdict=FAILED)
    yield from problems
    yield from (CorpusProblem(name, "boxes for an id that has no gold") for name in waiting)


def _file(place: str, value: Any) -> PageFile | CorpusProblem:
    if isinstance(value, MalformedRecord):
        return CorpusProblem(place, str(value))
    if isinstance(value, dict) and "error" in value and "id" in value:
        return PageFile(str(value["id"]), (), verdict=FAILED)
    try:
        line = _Line.model_validate(value)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"]) or "the line"
        return CorpusProblem(place, f"{where} is missing, empty, or has a wrong form")
    boxes = tuple(each.labeled(each.ink, each.score) for each in line.boxes)
    words = tuple(each.labeled() for each in line.words if each.text is None or any(map(str.isalnum, each.text)))
    return PageFile(str(line.id), boxes, words, verdict=line.verdict)


def _coco(path: Path) -> Iterator[PageFile]:
    try:
        pages = coco.read(content(path))
    except MalformedRecord as error:
        raise UsageError(f"{path.name}: {error}") from None
    for page in pages:
        boxes = tuple(LabeledBox(1, each.box, each.kind, score=each.score) for each in page.regions)
        yield PageFile(page.name, boxes, size=(page.width, page.height))
