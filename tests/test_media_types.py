"""Bytes in, bytes out: through the SDK, through the quarantine, and from file to file."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from incognote import Deidentifier, Result
from incognote.agents.item import Item, item_of
from incognote.errors import NotReleased, UsageError
from incognote.files.holding import held_inputs, hold
from incognote.files.inputs import read
from incognote.files.outputs import Outputs, place
from incognote.files.quarantine import Quarantine
from incognote.files.sources import find
from incognote.formats import registry
from incognote.formats.base import Document, Format, StretchDocument
from incognote.keys import Keyring
from incognote.nouns import Reason, Verdict

KEY = Keyring(b"k" * 32)
NOTE = b"Author: Dr. Emily Carter\r\n\r\nSeen by Dr. Emily Carter on 03/16/2025."
DEID = Deidentifier(detectors=["rules"])


def _letter(stream: BinaryIO, media_type: str) -> Iterator[Document]:
    """Headers, a blank line, and a body. Only the body and the author are texts."""
    content = stream.read().decode()
    at = content.index("\r\n\r\n") + 4
    end = content.index("\r\n")
    language = "de" if "lang=de" in media_type or b"Sprache" in content.encode() else None
    yield StretchDocument(content, {"author": (8, end), "body": (at, len(content))}, language=language)


LETTER = Format("letter", ("text/x-letter",), (".letter",), _letter, needs_second=False)


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "every", lambda: registry.ours() | {"letter": LETTER})


def _codes(result: Result) -> list[str]:
    return [reason.code for reason in result.verdict.reasons]


def test_text_comes_back_in_the_bytes_it_came_in() -> None:
    data = codecs.BOM_UTF16_LE + "Seen by Dr. Emily Carter, 37 \u00b0C.\r\n".encode("utf-16-le")
    result = DEID.deidentify(data, media_type="text/plain")
    assert result.data == codecs.BOM_UTF16_LE + "Seen by Dr. [PERSON], 37 \u00b0C.\r\n".encode("utf-16-le")
    assert not result.is_record
    assert result.media_type == "text/plain"
    with pytest.raises(UsageError, match=r"\.data"):
        _ = result.text


def test_a_file_has_the_format_of_its_name_or_of_its_content(tmp_path: Path) -> None:
    letter, note, record, unnamed = (tmp_path / name for name in ("a.letter", "b.txt", "c.json", "d"))
    letter.write_bytes(NOTE)
    note.write_bytes(NOTE)
    record.write_text('{"dataType": "note", "id": "1", "text": "Seen by Dr. Emily Carter."}', encoding="utf-8")
    unnamed.write_bytes(record.read_bytes())
    assert DEID.deidentify(letter).media_type == "text/x-letter"
    assert DEID.deidentify(note).data == NOTE.replace(b"Emily Carter", b"[PERSON]").replace(b"03/16/2025", b"[DATE]")
    assert DEID.deidentify(record).data == DEID.deidentify(unnamed).data != record.read_bytes()
    assert DEID.deidentify(note, media_type="text/x-letter").media_type == "text/x-letter"


def test_a_file_that_cannot_be_read_is_an_error_without_its_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        DEID.deidentify(tmp_path / "emily-carter.txt")
    assert "carter" not in str(error.value)
    with pytest.raises(UsageError, match="compressed"):
        DEID.deidentify(Path(__file__).parent / "a.txt.gz")


def test_a_record_keeps_its_bytes_outside_the_edits() -> None:
    data = b'\xef\xbb\xbf{"dataType" : "clinicalRecord","note":"Seen by Dr. Emily Carter."}  '
    result = DEID.deidentify(data, media_type="application/json; charset=utf-8")
    assert result.data == data.replace(b"Emily Carter", b"[PERSON]")
    assert result.record["note"] == "Seen by Dr. [PERSON]."
    assert result.is_record


def test_bytes_without_a_media_type_are_a_record_or_a_text_as_they_say() -> None:
    assert DEID.deidentify(b'{"dataType": "clinicalRecord", "note": "Dr. Abara"}').is_record
    assert DEID.deidentify(b"Dr. Abara").data == b"Dr. [PERSON]"


def test_a_str_has_its_bytes_too_and_no_media_type() -> None:
    assert DEID.deidentify("Dr. Abara, 37 \u00b0C").data == "Dr. [PERSON], 37 \u00b0C".encode()
    with pytest.raises(UsageError, match="media_type= is only for bytes"):
        DEID.deidentify("Dr. Abara", media_type="text/plain")


@pytest.mark.parametrize(
    ("data", "media_type", "code"),
    [
        (b"%!PS-Adobe-3.0", "application/postscript", "unsupported-format"),
        (b"%!PS-Adobe-3.0\n1 0 obj\n", "text/plain", "unsupported-format"),
        (b"Jos\xe9", "text/plain", "encoding"),
        (b"{", "application/json", "malformed"),
        (b"id,note\n1,x\n", "text/csv", "unknown-data-type"),
        (b"{}\n{}\n", "application/jsonl", "malformed"),
    ],
)
def test_what_cannot_be_read_is_quarantined_and_gives_no_bytes(data: bytes, media_type: str, code: str) -> None:
    result = DEID.deidentify(data, media_type=media_type)
    assert _codes(result) == [code]
    with pytest.raises(NotReleased):
        _ = result.data


def test_an_installed_format_is_served_and_known_identifiers_are_sought_outside_its_texts() -> None:
    result = DEID.deidentify(NOTE, media_type="text/x-letter")
    assert result.data == b"Author: Dr. [PERSON]\r\n\r\nSeen by Dr. [PERSON] on [DATE]."
    assert {r.span.field for r in result.replacements} == {"author", "body"}
    hidden = NOTE.replace(b"\r\n\r\n", b"\r\nX-Ref: 77821-4\r\n\r\n")
    assert _codes(DEID.deidentify(hidden, media_type="text/x-letter", known={"mrn": "77821-4"})) == [
        "known-identifier-left"
    ]


def test_a_text_whose_source_states_a_language_that_nothing_reads_is_for_a_person() -> None:
    result = DEID.deidentify(NOTE + b" Sprache", media_type="text/x-letter")
    assert result.verdict.outcome == "review"
    assert "unsupported-language" in _codes(result)


def test_a_reader_that_does_not_write_back_what_it_read_releases_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful(StretchDocument):
        def rewritten(self, changes: object, values: object) -> str:
            return self.content

    def forgetful(stream: BinaryIO, media_type: str) -> Iterator[Document]:
        content = stream.read().decode()
        yield Forgetful(content, {"": (0, len(content))})

    lying = Format("letter", ("text/x-letter",), (".letter",), forgetful, needs_second=False)
    monkeypatch.setattr(registry, "every", lambda: registry.ours() | {"letter": lying})
    result = DEID.deidentify(NOTE, media_type="text/x-letter")
    assert _codes(result) == ["format-mismatch"]
    with pytest.raises(NotReleased):
        result.output(even_if_unreleased=True)


def test_an_item_of_bytes_carries_its_media_type() -> None:
    [result] = DEID.batch([Item(NOTE, media_type="text/x-letter", id="n1")])
    assert (result.id, result.verdict.outcome) == ("n1", "release")


def test_a_file_of_an_installed_format_goes_from_file_to_file(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.letter").write_bytes(NOTE)
    sources = find([str(tmp_path / "in")])
    [one] = read(sources.files[0])
    result = DEID.deidentify(item_of(one, DEID.engine))
    with Outputs(place(str(tmp_path / "out"), sources), sources.files, KEY, keep_names=True) as outputs:
        outputs.write(one, result.content)
    assert (tmp_path / "out" / "a.letter").read_bytes() == result.data
    assert b"Carter" not in result.data


def test_held_bytes_come_back_from_the_quarantine_as_the_document_they_were(tmp_path: Path) -> None:
    (tmp_path / "a.letter").write_bytes(NOTE)
    [one] = read(find([str(tmp_path / "a.letter")]).files[0])
    quarantine = Quarantine(tmp_path / "q", KEY)
    held = hold(quarantine, KEY, one, Verdict("review", (Reason("doubtful"),)), {})
    assert quarantine.open(held).data == NOTE
    assert NOTE not in (tmp_path / "q" / f"{held.name}.held").read_bytes()
    [again] = held_inputs(quarantine, quarantine.items(), pytest.fail)
    assert again.document is not None
    assert again.document.texts == one.document.texts if one.document else False
    assert item_of(again, DEID.engine).content == NOTE


def test_a_damaged_file_of_an_installed_format_is_held_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "a.letter").write_bytes(b"no blank line")
    [one] = read(find([str(tmp_path / "a.letter")]).files[0])
    assert one.error is not None
    assert (one.error.code, "blank" in one.error.detail) == ("malformed", False)


def test_a_record_in_review_keeps_its_bytes() -> None:
    from incognote.service.review.cases import case_of
    from incognote.service.review.nouns import ReviewCase

    item = Item(NOTE, media_type="text/x-letter")
    case = case_of(item, DEID.deidentify(item), DEID.engine)
    assert ReviewCase.unpacked(case.packed()).item == item
    assert [text.field for text in case.texts] == ["author", "body"]
    assert json.loads(case.packed())["item"]["media_type"] == "text/x-letter"
