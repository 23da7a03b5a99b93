"""spaCy's DocBin (.spacy): the entities of `doc.ents`, read and written without spaCy.

The file is zlib over MessagePack. It holds 64-bit numbers for the attributes of each token, a flag for the space after
it, and each string once. A string's number is its MurmurHash64A (Austin Appleby, public domain) with seed 1. The
exceptions are a few hundred names that spaCy numbers from 1 (`docbin_symbols.txt`): `PERSON` is 380. Only that table
could change with a version of spaCy, and it cannot mislead: a number is used only if its string is in the file.
Otherwise the document is a problem. So scoring needs neither spaCy nor its numerical libraries. Span groups
(`doc.spans`) are not read. Documents have no ids here. They are numbered, and predictions are matched by text.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files as resources
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from incognote.errors import MalformedRecord
from incognote.evaluation.formats.base import CorpusFormat, CorpusWriter, utf8
from incognote.evaluation.formats.conll import tagged
from incognote.evaluation.formats.document import CorpusDocument, CorpusProblem, Gold, SourceMark
from incognote.evaluation.formats.source import Look, content, files
from incognote.files.atomic import AtomicFile

_ORTH, _IOB, _TYPE = 65, 77, 78  # spaCy's numbers of these attributes, unchanged since version 2
_INSIDE, _OUTSIDE, _BEGIN = 1, 2, 3  # its IOB codes; 0 means not set
_CODES = {"B": _BEGIN, "I": _INSIDE, "O": _OUTSIDE}
_ALL = (1 << 64) - 1


def _fits(look: Look) -> bool:
    return look.suffix == ".spacy"


def _read(path: Path) -> Iterator[CorpusDocument | CorpusProblem]:
    many = path.is_dir()
    for file in files(path, (".spacy",)):
        try:
            yield from _documents(content(file.path), f"{file.name} " if many else "")
        except MalformedRecord as error:
            yield CorpusProblem(file.name, str(error))


def _documents(data: bytes, prefix: str) -> Iterator[CorpusDocument]:
    import ormsgpack  # a dependency of langgraph's checkpoints

    try:
        packed = ormsgpack.unpackb(zlib.decompress(data))
        attributes: list[int] = list(packed["attrs"])
        lengths = np.frombuffer(packed["lengths"], np.int32)
        spaces = np.frombuffer(packed["spaces"], np.bool_)
        tokens = np.frombuffer(packed["tokens"], np.uint64).reshape(-1, len(attributes))
        strings = {number(string): string for string in packed["strings"]}
        flags: Sequence[Any] = packed.get("flags") or [{}] * len(lengths)
    except (zlib.error, ValueError, KeyError, TypeError, AttributeError):
        raise MalformedRecord("not a spaCy DocBin") from None
    if len(flags) != len(lengths) or not len(tokens) == len(spaces) == lengths.sum() or _ORTH not in attributes:
        raise MalformedRecord("its parts do not fit together")
    at = 0
    for count, (length, flag) in enumerate(zip(lengths.tolist(), flags, strict=True), 1):
        rows, blanks = tokens[at : at + length], spaces[at : at + length]
        at += length
        yield _document(
            f"{prefix}{count}",
            rows,
            blanks,
            attributes,
            strings,
            isinstance(flag, Mapping) and bool(flag.get("has_unknown_spaces")),
        )


def _document(
    name: str,
    rows: NDArray[np.uint64],
    blanks: NDArray[np.bool_],
    attributes: list[int],
    strings: Mapping[int, str],
    unknown: bool,
) -> CorpusDocument:
    place = f"document {name}"
    try:
        words = [_string(one, strings) for one in rows[:, attributes.index(_ORTH)].tolist()]
    except MalformedRecord as error:
        return CorpusDocument(name, place, fault=str(error), numbered=True)
    places = []
    parts: list[str] = []
    at = 0
    for word, blank in zip(words, [True] * len(words) if unknown else blanks.tolist(), strict=True):
        places.append((at, at + len(word)))
        parts.append(word + " " * blank)
        at += len(parts[-1])
    text = "".join(parts)
    marks, fault = None, None
    try:
        if _IOB in attributes and _TYPE in attributes:
            marks = _marks(
                rows[:, attributes.index(_IOB)].tolist(), rows[:, attributes.index(_TYPE)].tolist(), places, strings
            )
    except MalformedRecord as error:
        fault = str(error)
    return CorpusDocument(name, place, text, marks, fault, numbered=True)


def _marks(
    codes: list[int], types: list[int], places: list[tuple[int, int]], strings: Mapping[int, str]
) -> tuple[SourceMark, ...] | None:
    """The entities, or None if no token has an IOB code."""
    if codes and not any(codes):
        return None
    found: list[tuple[int, int, int]] = []
    inside = False
    for code, type_, (start, end) in zip(codes, types, places, strict=True):
        if code == _BEGIN and not type_:  # "no entity begins here": a blocked token
            code = _OUTSIDE
        if code == _INSIDE and inside and found[-1][2] == type_:
            found[-1] = found[-1][0], end, type_
        elif code in (_INSIDE, _BEGIN):
            found.append((start, end, type_))
        inside = code in (_INSIDE, _BEGIN)
    return tuple(SourceMark(((start, end),), _string(type_, strings)) for start, end, type_ in found)


def _string(coded: int, strings: Mapping[int, str]) -> str:
    if coded not in strings:
        raise MalformedRecord("made by an unsupported version of spaCy")
    return strings[coded]


@lru_cache(1 << 16)
def number(string: str) -> int:
    """The number of a string in spaCy: its position among the numbered names, otherwise its MurmurHash64A."""
    if string in _symbols():
        return _symbols()[string]
    data, factor = string.encode("utf-8"), 0xC6A4A7935BD1E995
    whole = len(data) - len(data) % 8
    state = 1 ^ (len(data) * factor & _ALL)
    for at in range(0, whole, 8):
        part = int.from_bytes(data[at : at + 8], "little") * factor & _ALL
        part = (part ^ part >> 47) * factor & _ALL
        state = (state ^ part) * factor & _ALL
    if data[whole:]:
        state = (state ^ int.from_bytes(data[whole:], "little")) * factor & _ALL
    state = (state ^ state >> 47) * factor & _ALL
    return state ^ state >> 47


@cache
def _symbols() -> Mapping[str, int]:
    written = resources("incognote.evaluation.formats").joinpath("docbin_symbols.txt").read_text(encoding="utf-8")
    names = written.partition("\n")[2].split()
    return {"": 0, **{name: at for at, name in enumerate(names, 1)}}


class _Bin:
    """Collects documents and writes them at the end, because the file begins with the strings of all of them."""

    def __init__(self, path: Path) -> None:
        self._whole = AtomicFile(path)
        self._strings: set[str] = {""}
        self._rows: list[tuple[int, int, int]] = []
        self._spaces: list[bool] = []
        self._lengths: list[int] = []

    def add(self, document: Gold) -> None:
        utf8(document.text + "".join(label.type for label in document.labels))
        rows: list[tuple[int, int, int]] = []
        blanks: list[bool] = []
        text, at, strings = document.text, 0, set()
        for start, end, tag in [*tagged(document), (len(document.text), len(document.text), "O")]:
            if at < start:  # one space is a flag of the token before it; other white space is a token
                held = bool(rows) and text[at] == " "
                if held:
                    blanks[-1] = True
                if white := text[at + held : start]:
                    strings.add(white)
                    rows.append((number(white), _INSIDE if tag[0] == "I" else _OUTSIDE, number(tag[2:])))
                    blanks.append(False)
            if start < end:
                strings |= {text[start:end], tag[2:]}
                rows.append((number(text[start:end]), _CODES[tag[0]], number(tag[2:])))
                blanks.append(False)
            at = end
        self._strings |= strings
        self._rows += [(orth, iob, kind if iob != _OUTSIDE else 0) for orth, iob, kind in rows]
        self._spaces += blanks
        self._lengths.append(len(rows))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            import ormsgpack

            count = len(self._lengths)
            packed = {
                "version": "0.1",
                "attrs": [_ORTH, _IOB, _TYPE],
                "tokens": np.array(self._rows, np.uint64).tobytes(),
                "spaces": np.array(self._spaces, np.bool_).tobytes(),
                "lengths": np.array(self._lengths, np.int32).tobytes(),
                "strings": sorted(self._strings),
                "cats": [{}] * count,
                "flags": [{"has_unknown_spaces": False}] * count,
                "span_groups": [b"\x90"] * count,
            }
            self._whole.write(zlib.compress(ormsgpack.packb(packed)))
        self._whole.__exit__(kind, error, trace)


def _write(path: Path) -> CorpusWriter:
    return _Bin(path)


DOCBIN = CorpusFormat("spacy", "spaCy's DocBin, its entities", _fits, _read, _write, suffixes=(".spacy",))
