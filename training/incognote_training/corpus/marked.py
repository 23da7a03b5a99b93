"""Handwritten notes with marks in the text.

    === id | style | country | era
    Seen today: ⟦PATIENT:Maria Kovács⟧, ⟦AGE:61 y⟧ …

A note ends at the next head or the end of the file. Empty lines around it are ignored. Marks are never nested.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from incognote.errors import MalformedRecord
from incognote.evaluation.formats.document import LabeledSpan
from incognote.schemas.catalogue import catalogue
from incognote_training.corpus.document import Document

_HEAD = re.compile(r"=== +([\w.-]+) *\| *([^|\n]+?) *\| *([^|\n]*?) *\| *([^|\n]*?) *")
_MARK = re.compile(r"⟦([A-Z_]+):([^⟦⟧]*)⟧")


def read(path: str | Path | None = None) -> Iterator[Document]:
    """Read the notes of a file or of a folder's .txt files. The default is the notes that come with the project.

    Raises:
        MalformedRecord: a head or a mark is malformed, a type is unknown, or an id occurs twice. The message names file
            and line.
    """
    seen: set[str] = set()
    for name, text in _texts(path):
        for line, head, body in _blocks(name, text):
            where = f"{name} line {line}"
            found = _HEAD.fullmatch(head)
            if found is None:
                raise MalformedRecord(f"{where}: write `=== id | style | country | era`")
            if found[1] in seen:
                raise MalformedRecord(f"{where}: the id {found[1]} occurs twice; give each note its own")
            seen.add(found[1])
            words, spans = unmarked(body, where)
            yield Document(found[1], words, spans, "en", found[2], "handwritten")


def unmarked(body: str, where: str) -> tuple[str, tuple[LabeledSpan, ...]]:
    """A text without its marks, and the spans that they marked.

    Raises:
        MalformedRecord: a bracket is unpaired, a type is unknown, or marked words are empty or begin or end with white
            space.
    """
    types = catalogue()
    out: list[str] = []
    spans: list[LabeledSpan] = []
    at = length = 0
    for mark in _MARK.finditer(body):
        plain = body[at : mark.start()]
        kind, words = mark.groups()
        line = body.count("\n", 0, mark.start()) + 1
        if kind not in types:
            raise MalformedRecord(f"{where}, line {line} of the note: the catalogue has no type {kind}")
        if not words or words != words.strip():
            raise MalformedRecord(
                f"{where}, line {line} of the note: marked words are empty, or begin or end with white space"
            )
        out += (plain, words)
        length += len(plain)
        spans.append(LabeledSpan(length, length + len(words), kind))
        length += len(words)
        at = mark.end()
    out.append(body[at:])
    whole = "".join(out)
    if "⟦" in whole or "⟧" in whole:
        line = whole.count("\n", 0, min(i for i, sign in enumerate(whole) if sign in "⟦⟧")) + 1
        raise MalformedRecord(f"{where}, about line {line} of the note: a malformed mark: write ⟦TYPE:words⟧")
    return whole, tuple(spans)


def _texts(path: str | Path | None) -> Iterator[tuple[str, str]]:
    place: Traversable = files(__package__).joinpath("handwritten") if path is None else Path(path)
    if place.is_file():
        yield place.name, place.read_text(encoding="utf-8")
    elif place.is_dir():
        for entry in sorted(place.iterdir(), key=lambda entry: entry.name):
            if entry.name.endswith(".txt"):
                yield entry.name, entry.read_text(encoding="utf-8")
    elif path is not None:
        raise MalformedRecord("the handwritten notes cannot be read. Name a .txt file or a folder of them")


def _blocks(name: str, text: str) -> Iterator[tuple[int, str, str]]:
    """Each note's first line number, head, and body."""
    lines = text.split("\n")
    heads = [number for number, line in enumerate(lines) if line.startswith("===")]
    if any(line.strip() for line in lines[: heads[0] if heads else len(lines)]):
        raise MalformedRecord(f"{name} line 1: text before the first head `=== id | style | country | era`")
    for number, following in zip(heads, [*heads[1:], len(lines)], strict=True):
        body = "\n".join(lines[number + 1 : following]).strip("\n")
        if not body.strip():
            raise MalformedRecord(f"{name} line {number + 1}: a head without a note")
        yield number + 1, lines[number], body
