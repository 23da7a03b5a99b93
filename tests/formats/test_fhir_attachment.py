"""Attached texts: base64 in, base64 out, and nothing is released that cannot be read."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import RecordProblem, SchemaViolation, UnsupportedFormat
from incognote.formats.base import actions_of, texts_of
from incognote.formats.records.narrative import decode

from .fhir_samples import XHTML, answer, opened, out, served

NOTE = "Patient: Ada Byron\nSeen 3 May with her sister.\n"


def b64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def document(**attachment: Any) -> dict[str, Any]:
    return {"resourceType": "DocumentReference", "status": "current", "content": [{"attachment": attachment}]}


def attached(resource: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = resource["content"][0]["attachment"]
    return made


@given(st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1),
       st.sampled_from(["utf-8", "UTF-8", '"utf-8"']))
def test_a_text_survives_base64_and_back(content: str, charset: str) -> None:
    data = b64(content.encode())
    read = decode(data, f"text/plain; charset={charset}", "content[0].attachment")
    assert read.content == content
    assert read.encode(content) == data


@pytest.mark.parametrize(("charset", "codec"), [
    ("iso-8859-1", "latin-1"), ("ISO-8859-1", "latin-1"), ("windows-1252", "cp1252"), ("us-ascii", "ascii")])
def test_a_text_stays_in_its_character_set(charset: str, codec: str) -> None:
    note = "Ada Byron seen" + ("" if codec == "ascii" else " at the café")
    sent = document(contentType=f"text/plain;charset={charset}", data=b64(note.encode(codec)))
    made = out(sent, {"Ada Byron": "[X]"})
    assert base64.b64decode(attached(made)["data"]).decode(codec) == note.replace("Ada Byron", "[X]")


def test_an_attached_text_is_scanned_and_the_rest_of_it_stays() -> None:
    record = opened(document(contentType="text/plain", data=b64(NOTE.encode())))
    assert [(t.field, t.content) for t in record.texts] == [("content[0].attachment.data", NOTE)]
    made = attached(json.loads(served(record, {"Ada Byron": "[PERSON]"})))
    assert base64.b64decode(made["data"]).decode() == NOTE.replace("Ada Byron", "[PERSON]")


def test_without_edits_the_base64_keeps_its_line_breaks() -> None:
    data = b64(NOTE.encode())
    raw = json.dumps(document(contentType="text/plain", data=f"{data[:20]}\r\n{data[20:]}"))
    assert served(opened(raw)) == raw


def test_size_and_hash_of_the_old_bytes_go() -> None:
    data = b64(NOTE.encode())
    made = out(document(contentType="text/plain", size=47, hash="2jmj7l5rSw0yVb/vlWAYkK/YBwk=", data=data))
    assert set(attached(made)) == {"contentType", "data"}


def test_an_attached_page_keeps_its_tags() -> None:
    page = f'<html xmlns="{XHTML}"><body><p>Ada <b>Byron</b> seen.</p></body></html>'
    made = out(document(contentType="text/html", data=b64(page.encode())), {"Ada Byron": "[PERSON]"})
    assert base64.b64decode(attached(made)["data"]).decode() == page.replace("Ada ", "[PERSON]").replace("Byron", "")


@pytest.mark.parametrize(("content_type", "data"), [
    ("application/pdf", b64(b"%PDF-1.7 Byron")), ("image/jpeg", b64(b"\xff\xd8Byron")),
    ("application/json", b64(b'{"name": "Byron"}')),
    (None, b64(b"Byron")),
    ("text/plain; charset=utf-7", b64(b"Byron")), ("text/plain", b64(b"Byron \xff")), ("text/plain", "Byron"),
    ("text/plain; charset=us-ascii", b64("Byrön".encode())),
    ("text/plain", b64("Byron".encode("utf-16-le"))), ("text/plain", b64("Byron".encode("utf-16-be"))),
    ("text/plain", b64("Byron".encode("utf-16"))), ("text/plain; charset=iso-8859-1", b64("Byron".encode("utf-16"))),
    ("text/plain; charset=iso-8859-1", b64("Byrön".encode())), ("text/plain; charset=us-ascii", b64(b"B\0yron")),
    ("text/plain; charset=iso-8859-1", b64(b"Byron\x92s")),
    ("text/plain; name=Byron", b64(b"x")), ("text/Byron", b64(b"x")), ("text/plain; charset=Byron", b64(b"x")),
])
def test_what_cannot_be_read_as_text_is_refused_without_being_quoted(content_type: str | None, data: str) -> None:
    given = {"data": data} | ({"contentType": content_type} if content_type else {})
    with pytest.raises(SchemaViolation) as raised:
        opened(document(**given))
    assert raised.value.field.startswith("content[0].attachment")
    assert "Byron" not in str(raised.value)
    assert data not in str(raised.value)


@pytest.mark.parametrize(("content_type", "content", "what"), [
    ("application/postscript", b"%!PS Byron", "PostScript"), ("image/jp2", b"\0\0\0\x0cjP  Byron", "JPEG 2000 image"),
    (None, b"%!PS Byron", "PostScript"), ("text/plain; charset=us-ascii", b"%!PS Byron", "PostScript"),
    ("text/html", b"7z\xbc\xaf\x27\x1cByron", "7-Zip archive"),
])
def test_an_attachment_of_a_format_without_a_reader_is_named_whatever_its_type_says(
    content_type: str | None, content: bytes, what: str
) -> None:
    given = {"data": b64(content)} | ({"contentType": content_type} if content_type else {})
    with pytest.raises(UnsupportedFormat) as raised:
        opened(document(**given))
    assert str(raised.value) == f"{what}, a format without a reader"
    assert raised.value.field == "content[0].attachment.data"


def test_a_replacement_its_character_set_cannot_hold_is_an_error_without_values() -> None:
    record = opened(document(contentType="text/plain; charset=us-ascii", data=b64(b"Ada Byron")))
    with pytest.raises(RecordProblem, match="UTF-8") as raised:
        served(record, {"Ada Byron": "José Núñez"})
    assert "José" not in str(raised.value)
    assert raised.value.__cause__ is None


@pytest.mark.parametrize("content_type", ["text/rtf", "application/rtf", "text/plain", None])
def test_an_attachment_with_a_reader_is_read_by_it_whatever_its_type_says(content_type: str | None) -> None:
    given = {"contentType": content_type} if content_type else {}
    rtf = b"{\\rtf1\\ansi{\\info{\\author Ada Byron}}\nSeen by {\\b By}ron.\\par}"
    record = opened(document(data=b64(rtf), **given))
    [text] = [text for text in texts_of(record) if "Byron" in text.content]
    assert text.field.startswith("content[0].attachment.data/")
    start = text.content.index("Byron")
    written = record.rewritten({text.field: [(start, start + 5, "[X]")]},
                               {action: answer(action) for action in actions_of(record)})
    made = base64.b64decode(attached(json.loads(written))["data"])
    assert b"Seen by {\\b [X]}" in made
    assert b"Byron" not in made
    assert b"ron" not in made


def test_a_page_that_is_not_xhtml_is_read_as_html() -> None:
    record = opened(document(contentType="text/html", data=b64(b"<p>Ada<br>Byron<script>Byron()</script>")))
    [text] = [text for text in texts_of(record) if "Byron" in text.content]
    start = text.content.index("Byron")
    made = json.loads(record.rewritten({text.field: [(start, start + 5, "[X]")]}, {}))
    assert b"Byron" not in base64.b64decode(attached(made)["data"])


def test_an_attachment_without_edits_keeps_its_base64() -> None:
    data = b64(b"{\\rtf1\\ansi Seen.\\par}")
    raw = json.dumps(document(contentType="text/rtf", data=f"{data[:20]}\r\n{data[20:]}"))
    assert served(opened(raw)) == raw


def test_a_pdf_without_data_may_be_mentioned() -> None:
    assert attached(out(document(contentType="application/pdf", title="Letter"))) == {
        "contentType": "application/pdf", "title": "Letter"}


def test_a_url_to_a_binary_is_remapped_and_loses_its_server() -> None:
    made = attached(out(document(contentType="application/pdf", url="https://ehr.example/fhir/Binary/b-77")))
    assert made["url"].startswith("https://deid.invalid/fhir/Binary/")
    assert "b-77" not in made["url"]


def test_a_url_to_elsewhere_is_withheld_and_beside_data_refused() -> None:
    made = attached(out(document(contentType="application/pdf", url="https://files.example/byron.pdf")))
    assert made["_url"]["extension"][0]["valueCode"] == "masked"
    assert "url" not in made
    with pytest.raises(SchemaViolation, match="outside the record") as raised:
        opened(document(contentType="text/plain", data=b64(b"a"), url="https://files.example/byron.txt"))
    assert "byron" not in str(raised.value)


def test_a_data_url_is_refused() -> None:
    with pytest.raises(SchemaViolation):
        opened(document(url="data:text/plain;base64,Qnlyb24="))
