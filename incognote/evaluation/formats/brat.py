"""BRAT standoff: a folder with NAME.txt and NAME.ann per document, at any depth. MEDDOCAN and many others use it.

    T1<TAB>PATIENT 8 17<TAB>Ruth Hale            offsets in code points; lines of other kinds (relations, notes) are
    T2<TAB>STREET 20 27;28 33<TAB>Mill La ne     ignored; two pieces split only by a line break are one span

A folder with only .ann files can hold predictions, which are matched with the gold's texts. A .txt without its .ann is
a text without annotations. It is not gold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from incognote.errors import MalformedRecord
from incognote.evaluation.formats.base import CorpusFormat, CorpusWriter, Folder
from incognote.evaluation.formats.document import CorpusDocument, CorpusProblem, Gold, SourceMark
from incognote.evaluation.formats.source import Look, content, decoded, files

_LINE = re.compile(r"(\S+) (\d{1,15} \d{1,15}(?:;\d{1,15} \d{1,15})*)\Z")
_ENDS = re.compile(r"[\r\n]+")


def _fits(look: Look) -> bool:
    return look.suffix == ".ann"


def _read(path: Path) -> Iterator[CorpusDocument | CorpusProblem]:
    for file in files(path, (".ann", ".txt")):
        beside = file.path.with_suffix(".ann")
        if file.path != beside and beside.exists() and path.is_dir():
            continue  # read with its .ann
        try:
            yield _document(file.name, file.path.with_suffix(".txt"), beside)
        except MalformedRecord as error:
            yield CorpusProblem(file.name, str(error))


def _document(name: str, txt: Path, ann: Path) -> CorpusDocument:
    text: str | None = None
    others: list[str] = []
    if txt.exists():
        text = decoded(content(txt))
        bare = text.removeprefix("\ufeff")
        for other in (bare, text.replace("\r\n", "\n"), bare.replace("\r\n", "\n")):
            if other != text and other not in others:
                others.append(other)
    marks, fault = None, None
    try:
        marks = tuple(_marks(decoded(content(ann)))) if ann.exists() else None
    except MalformedRecord as error:
        fault = str(error)
    return CorpusDocument(name, name, text, marks, fault, others=tuple(others))


def _marks(lines: str) -> Iterator[SourceMark]:
    for number, line in enumerate(lines.removeprefix("\ufeff").split("\n"), 1):
        if not line.startswith("T"):
            continue
        _, _, rest = line.removesuffix("\r").partition("\t")
        where, tab, words = rest.partition("\t")
        found = _LINE.match(where)
        if not found:
            raise MalformedRecord(f"line {number} of its .ann needs a type, a start, and an end")
        pieces = [piece.split(" ") for piece in found[2].split(";")]
        yield SourceMark(tuple((int(a), int(b)) for a, b in pieces), found[1], words if tab else None)


def _write(path: Path) -> CorpusWriter:
    return Folder(path, _files)


def _files(one: Gold) -> dict[str, str]:
    lines = []
    for number, (start, end, type_) in enumerate(one.labels, 1):
        if not type_ or any(character.isspace() for character in type_):
            raise MalformedRecord("a type has white space, which BRAT cannot represent")
        pieces = _pieces(one.text, start, end)
        where = ";".join(f"{a} {b}" for a, b in pieces)
        words = _ENDS.sub(lambda ends: " " * len(ends[0]), " ".join(one.text[a:b] for a, b in pieces))
        lines.append(f"T{number}\t{type_} {where}\t{words}\n")
    return {".txt": one.text, ".ann": "".join(lines)}


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The pieces of a span in BRAT: split at line breaks, unless it begins or ends with one."""
    words = text[start:end]
    if words.strip("\r\n") != words:
        return [(start, end)]
    pieces, at = [], start
    for gap in _ENDS.finditer(words):
        pieces.append((at, start + gap.start()))
        at = start + gap.end()
    return [*pieces, (at, end)]


BRAT = CorpusFormat("brat", "a folder of BRAT standoff files (.txt and .ann)", _fits, _read, _write)
