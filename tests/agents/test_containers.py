"""How the machine handles a text, or a field of a record, that is entirely in another format."""

from __future__ import annotations

import json

import pytest

from incognote import Deidentifier
from incognote.formats.registry import has_reader
from incognote.nouns import Reason

FORMATS = {
    "RTF": "{\\rtf1\\ansi Patient Emily Carter\\par}",
    "HTML": "<html><body>Patient <b>Emily Carter</b></body></html>",
    "C-CDA": '<?xml version="1.0"?><ClinicalDocument xmlns="urn:hl7-org:v3">Emily Carter</ClinicalDocument>',
    "HL7 v2 message": "MSH|^~\\&|ADT|X\rPID|1||4821||CARTER^EMILY\r",
    "PDF in base64": "JVBERi0xLjQKMSAwIG9iago8PD4+CmVuZG9iago=",
}


@pytest.fixture(scope="module")
def deid() -> Deidentifier:
    return Deidentifier(detectors=("rules",), key="ab" * 32)


@pytest.mark.parametrize("what", FORMATS)
def test_a_text_that_is_wholly_of_a_format_goes_to_quarantine_by_its_name(deid: Deidentifier, what: str) -> None:
    result = deid.deidentify("\ufeff\n" + FORMATS[what])
    remedy = " inside a text. Send it as a document of its own: a file, or bytes with its media type"
    detail = what + (remedy if has_reader(what) else ", a format without a reader")
    reason = Reason("unsupported-format", "", detail)
    assert (result.verdict.outcome, result.verdict.reasons) == ("quarantine", (reason,))


@pytest.mark.parametrize("what", sorted(FORMATS.keys() - {"HTML"}))
def test_so_does_a_record_with_such_a_field(deid: Deidentifier, what: str) -> None:
    result = deid.deidentify({"dataType": "note", "id": "1", "text": FORMATS[what]})
    (reason,) = result.verdict.reasons
    assert (result.verdict.outcome, reason.code, reason.field) == ("quarantine", "unsupported-format", "text")
    assert reason.detail.startswith(what)


def test_a_text_of_a_record_that_is_a_page_is_read_as_one(deid: Deidentifier) -> None:
    page = '<p title="Emily Carter" onclick="x()">Dr. Em<b>ily</b> Carter &amp; team</p>\n<!-- MRN 4471902 -->'
    raw = json.dumps({"dataType": "note", "id": "1", "text": page}).replace("<", "\\u003c", 1)
    for content in (raw, raw.encode(), json.loads(raw)):
        result = deid.deidentify(content, data_type="note" if isinstance(content, str) else None)
        assert result.verdict.reasons == ()
        new = json.loads(result.data if isinstance(content, bytes) else result.text)
        assert new["text"] == '<p title="[PERSON]">Dr. [PERSON]<b></b> &amp; team</p>\n'
    assert "\\u003cp title" in deid.deidentify(raw, data_type="note").text


def test_a_page_in_a_record_that_cannot_be_read_is_named_by_its_path(deid: Deidentifier) -> None:
    result = deid.deidentify({"dataType": "note", "id": "1", "text": "<p>a</p>\n<plaintext>Carter"})
    [reason] = result.verdict.reasons
    assert (reason.code, reason.field) == ("malformed", "text")
    assert reason.detail.startswith("text: line 2: <plaintext>")


def test_a_note_that_quotes_one_is_served_as_a_note(deid: Deidentifier) -> None:
    text = "Seen by Dr. Emily Carter.\n<table><tr><td>K</td><td>4.1</td></tr></table>\nAll <b>well</b>."
    result = deid.deidentify(text)
    assert result.verdict.reasons == ()
    assert result.text == text.replace("Emily Carter", "[PERSON]")


def test_spans_that_come_with_a_text_are_used_whatever_it_is() -> None:
    from incognote.agents.item import Item

    with Deidentifier(detectors=("rules",), key="ab" * 32) as deid:
        (result,) = deid.batch([Item("<p>Emily Carter</p>", spans=((3, 15, "PERSON"),))])
    assert result.text == "<p>[PERSON]</p>"


def test_the_narrative_of_a_resource_has_a_reader(deid: Deidentifier) -> None:
    div = '<div xmlns="http://www.w3.org/1999/xhtml"><p>Seen by Dr. Emily Carter</p></div>'
    patient = {"resourceType": "Patient", "id": "p1", "text": {"status": "generated", "div": div}}
    result = deid.deidentify(patient)
    assert result.verdict.released
    assert "Carter" not in json.dumps(result.record)
