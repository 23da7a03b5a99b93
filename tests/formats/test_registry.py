"""Format detection. A reader that loses or falsifies data releases nothing."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import BinaryIO

import pytest

from incognote.errors import AccountingError, MalformedRecord, RecordProblem, SettingError, UnsupportedFormat
from incognote.formats import registry
from incognote.formats.base import (
    Document,
    Edit,
    FieldAction,
    FieldEdit,
    Format,
    Place,
    TextEdit,
    actions_of,
    of_child,
    texts_of,
)
from incognote.formats.json import JsonRecord
from incognote.formats.output import rebuilt
from incognote.formats.registry import (
    FormatMismatch,
    name_of,
    of_content,
    of_media_type,
    open_documents,
    open_one,
    suffix_of,
)
from incognote.formats.text import plain
from incognote.nouns import Text
from incognote.schemas.registry import Registry

SOURCE = b"name = Emily Carter\nnote = seen today\n"
EDITS = {"name": [(0, 12, "[PERSON]")]}


class Lines(Document):
    """`field = text` lines; its subclasses misbehave."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.texts = tuple(Text(text, name) for name, _, text in self._rows())

    def _rows(self) -> list[list[str]]:
        return [list(line.partition(" = ")) for line in self.data.decode().splitlines()]

    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        rows = self._rows()
        for row in rows:
            for edit in edits:
                if isinstance(edit, TextEdit) and edit.field == row[0]:
                    row[2] = row[2][: edit.start] + edit.new + row[2][edit.end :]
        out.write("".join(f"{''.join(row)}\n" for row in rows).encode())

    def places(self, field: str, start: int, end: int) -> tuple[Place, ...]:
        return ()


class ForgetsEdits(Lines):
    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        out.write(self.data)


class EditsElsewhere(Lines):
    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        super().rebuild([TextEdit("note", 0, 4, "[PERSON]")], out)


class LosesBytes(Lines):
    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.data = data.rstrip()


class InventsTexts(Lines):
    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.texts = (*self.texts, Text(str(len(data)), "length"))


class WritesNonsense(Lines):
    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        out.write(b"\xff\xfe\xfd")


def _format(document: Callable[[bytes], Document]) -> Format:
    def read(stream: BinaryIO, media_type: str) -> Iterator[Document]:
        yield document(stream.read())

    return Format("toy", ("text/x-toy",), (".toy",), read)


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[[Format], Format]:
    """Install a format as if a package had added it."""

    def installed(form: Format) -> Format:
        monkeypatch.setattr(registry, "every", lambda: registry.ours() | {form.name: form})
        return form

    return installed


def test_an_honest_reader_is_released(install: Callable[[Format], Format]) -> None:
    form, document = open_one(SOURCE, install(_format(Lines)).media_types[0])
    assert rebuilt(form, document, EDITS, {}) == b"name = [PERSON]\nnote = seen today\n"
    assert rebuilt(form, document, {}, {}) == SOURCE


@pytest.mark.parametrize("lie", [ForgetsEdits, EditsElsewhere, LosesBytes, InventsTexts, WritesNonsense])
def test_a_reader_that_lies_releases_nothing(lie: type[Lines], install: Callable[[Format], Format]) -> None:
    install(_format(lie))
    with pytest.raises(FormatMismatch, match="toy reader"):
        rebuilt(*open_one(SOURCE, "text/x-toy"), EDITS, {})


def test_edits_of_no_text_of_the_document_are_refused(install: Callable[[Format], Format]) -> None:
    form, document = open_one(SOURCE, install(_format(Lines)).media_types[0])
    with pytest.raises(AccountingError):
        rebuilt(form, document, {"address": [(0, 1, "x")]}, {})


def test_a_reader_that_fails_is_a_refusal_that_quotes_nothing(install: Callable[[Format], Format]) -> None:
    def fail(data: bytes) -> Document:
        raise KeyError(data.decode())

    form = install(_format(fail))
    [each] = open_documents(form, io.BytesIO(SOURCE))
    assert getattr(each, "reason", None) is not None
    assert "Carter" not in repr(each)
    with pytest.raises(RecordProblem, match="KeyError") as problem:
        open_one(SOURCE, "text/x-toy")
    assert problem.value.code == "malformed"


class Box(Document):
    """Concatenated documents, each after its length and a colon."""

    def __init__(self, data: bytes) -> None:
        self.data, self.children, at = data, {}, 0
        while at < len(data):
            colon = data.index(b":", at)
            at = colon + 1 + int(data[at:colon])
            self.children[str(len(self.children))] = plain(data[colon + 1 : at].decode())

    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        edits = list(edits)
        for name, child in self.children.items():
            child.rebuild(of_child(edits, name), inner := io.BytesIO())
            out.write(b"%d:%s" % (len(inner.getvalue()), inner.getvalue()))

    def places(self, field: str, start: int, end: int) -> tuple[Place, ...]:
        return ()


def test_texts_of_documents_within_a_document_bear_its_name_and_are_edited_there(
    install: Callable[[Format], Format],
) -> None:
    install(_format(Box))
    form, document = open_one(b"12:Emily Carter10:seen today", "text/x-toy")
    assert [(text.field, text.content) for text in texts_of(document)] == [("0/", "Emily Carter"), ("1/", "seen today")]
    assert rebuilt(form, document, {"0/": [(0, 5, "[X]")]}, {}) == b"10:[X] Carter10:seen today"


class Wraps(Lines):
    """Writes each word on a line of its own, as an edit over two cells of a table is written."""

    def _rows(self) -> list[list[str]]:
        return [list(line.partition(" = ")) for line in re.findall(r"(?ms)^\w+ = .*?(?=^\w+ =|\Z)", self.data.decode())]

    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        super().rebuild([replace(edit, new=f"{edit.new}\n") for edit in edits if isinstance(edit, TextEdit)], out)


def test_a_line_break_between_words_is_no_difference(install: Callable[[Format], Format]) -> None:
    form, document = open_one(b"name = Emily Carter\n", install(_format(Wraps)).media_types[0])
    assert rebuilt(form, document, {"name": [(0, 13, "[PERSON]")]}, {}) == b"name = [PERSON]\n\n"
    with pytest.raises(FormatMismatch):
        rebuilt(form, document, {"name": [(0, 13, "a\nname = b")]}, {})


def test_records_within_a_document_are_opened_again_with_their_schemas(install: Callable[[Format], Format]) -> None:
    record = b'{"dataType": "note", "id": "7", "text": "Emily Carter"}'

    def box(data: bytes) -> Document:
        document = Box(data)
        document.children = {name: JsonRecord(child.data.decode()) for name, child in document.children.items()}
        return document

    install(_format(box))
    form, opened = open_one(b"%d:%s" % (len(record), record), "text/x-toy")
    document = opened.under(Registry(), None)
    values = dict.fromkeys(actions_of(document), "[GUID]")
    written = rebuilt(form, document, {"0/text": [(0, 12, "[PERSON]")]}, values)
    assert written.endswith(b'{"dataType": "note", "id": "[GUID]", "text": "[PERSON]"}')


class Withholds(Lines):
    """Has one structured field, which is absent from the output if its new value is empty."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.actions = tuple(
            FieldAction(text, 0, len(text), "date", "DATE") for text in self.texts if text.field == "day"
        )
        self.texts = tuple(text for text in self.texts if text.field != "day")

    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        new = [edit.value for edit in edits if isinstance(edit, FieldEdit)]
        out.write(self.data if new == ["2024"] else self.data.replace(b"day = 2024\n", b""))

    def written(self, action: FieldAction, value: str) -> str | None:
        return value or None


def test_a_format_says_how_a_structured_field_reads_in_the_output(install: Callable[[Format], Format]) -> None:
    form, document = open_one(b"day = 2024\nnote = seen\n", install(_format(Withholds)).media_types[0])
    [action] = document.actions
    assert rebuilt(form, document, {}, {action: ""}) == b"note = seen\n"
    with pytest.raises(FormatMismatch):
        rebuilt(form, document, {}, {action: "2030"})


@pytest.mark.parametrize(
    ("media_type", "name"),
    [
        ("text/plain; charset=utf-8", "text"),
        ("Application/JSON", "json"),
        ("application/fhir+json", "json"),
        ("application/vnd.ward+json", "json"),
        ("application/x-ndjson", "lines"),
        ("text/csv", "csv"),
    ],
)
def test_a_media_type_says_its_format(media_type: str, name: str) -> None:
    assert of_media_type(media_type).name == name


def test_a_media_type_without_a_reader_is_refused() -> None:
    with pytest.raises(UnsupportedFormat):
        of_media_type("application/postscript")


def test_a_character_set_that_is_not_read_is_refused() -> None:
    with pytest.raises(RecordProblem) as problem:
        open_one(b"plain", "text/plain; charset=iso-8859-1")
    assert problem.value.code == "encoding"


@pytest.mark.parametrize(
    ("head", "name"),
    [(b"A note.", "text"), (b"", "text"), (b'\xef\xbb\xbf {"a": 1}', "json"), (b'{"a":\n1}', "json"),
     (b'{"a":1}\n{"b":2}', "lines"), (b'{"a":1}\n', "json")],
)  # fmt: skip
def test_a_content_says_its_format_where_nothing_else_does(head: bytes, name: str) -> None:
    assert of_content(head).name == name


def test_bytes_with_several_documents_or_none_are_refused() -> None:
    for data in (b"", b"{}\n{}\n"):
        with pytest.raises(MalformedRecord):
            open_one(data, "application/jsonl")


def test_a_format_that_claims_a_suffix_of_ours_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    thief = Format("thief", ("text/x-thief",), (".txt",), lambda stream, media_type: iter(()))
    monkeypatch.setattr(registry, "installed", lambda group: {"thief": None})
    monkeypatch.setattr(registry, "load", lambda group, name: thief)
    with pytest.raises(SettingError, match=r"text and thief both claim \.txt"):
        registry.every.__wrapped__()
    assert name_of(suffix_of("a.TXT.gz")) == "text"  # built-in formats take precedence
