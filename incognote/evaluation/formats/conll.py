"""CoNLL: one token per line with its tag last, in BIO (also IOB1, IO), BIOES or BILOU. A blank line ends a sentence.

    -DOCSTART-<TAB>note-1<TAB>-X-<TAB>O         the next document, here with its id (we write it in the second column);
    Ruth<TAB>0<TAB>4<TAB>B-PATIENT              `# newdoc id = note-1` also works
    Hale<TAB>5<TAB>9<TAB>I-PATIENT

The format has no text, so it is rebuilt: a space between tokens, a line break between sentences. If every token of a
document has its start and end in two adjacent columns (NeuroNER's layout, and ours), tokens are placed there, with
white space between them. Such predictions are matched with the gold's text, which may differ in white space only.

`tagged` makes tokens with tags for formats without offsets. No token crosses a span boundary, so no span is lost.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from incognote.errors import MalformedRecord
from incognote.evaluation.formats.base import CorpusFormat, CorpusWriter, OneFile
from incognote.evaluation.formats.document import CorpusDocument, CorpusProblem, Gold, LabeledSpan, SourceMark
from incognote.evaluation.formats.source import File, Look, files, opened

SUFFIXES = (".conll", ".bio", ".iob", ".bilou", ".bioes")
_START = "-DOCSTART-"
_PLACEHOLDERS = ("", "O", "_", "-", "-X-")
_NAMED = re.compile(r"#\s*newdoc\s+id\s*=\s*(.+)")
_TAG = re.compile(r"O\Z|([BILUES])-(.+)\Z")


class _Token(NamedTuple):
    words: str
    columns: Sequence[str]
    sentence: int


def _fits(look: Look) -> bool:
    if look.suffix in SUFFIXES:
        return True
    lines = [line.split() for line in look.head.decode("utf-8", "replace").split("\n")[:50] if line.strip()]
    rows = [line for line in lines if line[0] not in ("#", _START)]
    return bool(rows) and look.suffix in (".tsv", ".txt", "") and all(
        len(row) > 1 and _TAG.match(row[-1]) for row in rows[:-1] or rows
    )  # fmt: skip


def _read(path: Path) -> Iterator[CorpusDocument | CorpusProblem]:
    many = path.is_dir()
    for file in files(path, SUFFIXES if many else ()):
        try:
            yield from _documents(file, many)
        except UnicodeDecodeError:
            yield CorpusProblem(file.name, "not UTF-8; the rest was not read")


def _documents(file: File, many: bool) -> Iterator[CorpusDocument]:
    tokens: list[_Token] = []
    name, number, sentence = "", 0, 0
    with opened(file.path) as stream:
        for at, raw in enumerate(stream):
            line = raw.decode("utf-8" if at else "utf-8-sig").rstrip("\r\n")
            named = _NAMED.match(line)
            if named or line.startswith(_START):
                if tokens or name:
                    number += 1
                    yield _document(name, file.name if many else "", number, tokens)
                    name, tokens = "", []
                name = named[1].strip() if named else _name(line) or name
            elif not line.strip():
                sentence += 1
            else:
                columns = line.split("\t") if "\t" in line else line.split()
                tokens.append(_Token(columns[0], columns[1:], sentence))
    if tokens or name:
        yield _document(name, file.name if many else "", number + 1, tokens)


def _name(line: str) -> str:
    """The id in a document's first line: the part that is not a placeholder."""
    parts = line[len(_START) :].split("\t" if "\t" in line else None)
    left = [part for part in parts if part.strip() not in _PLACEHOLDERS]
    return left[0] if left and "\t" in line else " ".join(left).strip("()")


def _document(name: str, folder: str, number: int, tokens: Sequence[_Token]) -> CorpusDocument:
    made = name or folder or str(number)
    if not name and folder and number > 1:
        made = f"{folder} {number}"
    fault, marks = None, None
    text, places = _placed(tokens)
    try:
        marks = _marks(tokens, places, text)
    except MalformedRecord as error:
        fault = str(error)
    return CorpusDocument(made, f"document {number}", text, marks, fault, numbered=not name and not folder)


def _placed(tokens: Sequence[_Token]) -> tuple[str, list[tuple[int, int]]]:
    """The text, and the position of each token in it."""
    places = _said(tokens)
    parts: list[str] = []
    at, sentence = 0, tokens[0].sentence if tokens else 0
    made: list[tuple[int, int]] = []
    for number, token in enumerate(tokens):
        gap = places[number][0] - at if places else int(number > 0)
        white = " " * gap
        if gap and token.sentence != sentence:
            white = "\n" + white[1:]
        parts += [white, token.words]
        made.append((at + gap, at + gap + len(token.words)))
        at, sentence = made[-1][1], token.sentence
    return "".join(parts), made


def _said(tokens: Sequence[_Token]) -> list[tuple[int, int]]:
    """The positions given in the columns. Empty unless every token has one, in order and of its own length."""
    for column in range(len(tokens[0].columns) - 1 if tokens else 0):
        places, at = [], 0
        for token in tokens:
            pair = token.columns[column : column + 2]
            if len(pair) < 2 or not all(p.isascii() and p.isdigit() and len(p) < 12 for p in pair):
                break
            start, end = map(int, pair)
            if start < at or end - start != len(token.words):
                break
            places.append((start, end))
            at = end
        else:
            return places
    return []


def _marks(tokens: Sequence[_Token], places: list[tuple[int, int]], text: str) -> tuple[SourceMark, ...]:
    """Spans from the tags, read leniently like evaluation scripts: an I after another type or after O begins one."""
    found: list[list[int | str]] = []
    open_type, sentence = "", -1
    for number, (token, (start, end)) in enumerate(zip(tokens, places, strict=True), 1):
        tag = _TAG.match(token.columns[-1].strip()) if token.columns else None
        if tag is None:
            raise MalformedRecord(f"token {number} has no BIO, BIOES or BILOU tag in its last column")
        if tag[1] is None:
            open_type = ""
            continue
        if tag[1] in "BUS" or tag[2] != open_type or token.sentence != sentence:
            found.append([start, end, tag[2]])
        else:
            found[-1][1] = end
        open_type = "" if tag[1] in "ULES" else tag[2]
        sentence = token.sentence
    return tuple(SourceMark(((int(a), int(b)),), str(type_)) for a, b, type_ in found)


def _write(path: Path) -> CorpusWriter:
    return OneFile(path, _lines)


def _lines(one: Gold) -> str:
    if any(character in one.id for character in "\t\r\n") or one.id.strip() in _PLACEHOLDERS:
        raise MalformedRecord("its id cannot be written into a column")
    lines = [f"{_START}\t{one.id}\t-X-\tO", ""]
    at = 0
    for start, end, tag in tagged(one):
        if at and "\n" in one.text[at:start] and tag[0] != "I":  # a blank line would end the span
            lines.append("")
        lines.append(f"{one.text[start:end]}\t{start}\t{end}\t{tag}")
        at = end
    return "\n".join([*lines, "", ""])


CONLL = CorpusFormat(
    "conll", "CoNLL: one token per line, BIO, BIOES or BILOU tags", _fits, _read, _write, suffixes=SUFFIXES
)


def tagged(document: Gold) -> Iterator[tuple[int, int, str]]:
    """The tokens of a document in order, as start, end, and BIO tag: words and single punctuation marks.

    Raises:
        MalformedRecord: spans overlap, a span begins or ends with white space, or a type is empty or holds white space.
    """
    labels = disjoint(document)
    text = document.text
    edges = {edge for label in labels for edge in label[:2]}
    coming = iter(labels)
    label = next(coming, None)
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        end = at + 1
        while end < len(text) and end not in edges and _goes_on(text[end - 1], text[end]):
            end += 1
        while label is not None and label.end <= at:
            label = next(coming, None)
        inside = label is not None and label.start <= at
        yield at, end, f"{'B' if label.start == at else 'I'}-{label.type}" if inside and label is not None else "O"
        at = end


def disjoint(document: Gold) -> list[LabeledSpan]:
    """The labels in order, if token tags can represent them.

    Raises:
        MalformedRecord: as for `tagged`.
    """
    labels = sorted(document.labels)
    at = 0
    for start, end, type_ in labels:
        if start < at:
            raise MalformedRecord("two of its spans overlap, which token tags cannot represent")
        if document.text[start].isspace() or document.text[end - 1].isspace():
            raise MalformedRecord("a span begins or ends with white space, which token tags cannot represent")
        if not type_ or any(character.isspace() for character in type_):
            raise MalformedRecord("a type is empty or has white space")
        at = end
    return labels


def _goes_on(before: str, character: str) -> bool:
    """Return True if a character continues the token before it: letters and digits together, and combining marks."""
    marking = unicodedata.category(before)[0] == "M"
    return unicodedata.category(character)[0] == "M" or (character.isalnum() and (marking or before.isalnum()))
