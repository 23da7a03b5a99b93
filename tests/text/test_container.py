"""Classifying a whole content: formats without a reader are named, and notes count as notes."""

from __future__ import annotations

import base64
import binascii
import bz2
import gzip
import io
import json
import lzma
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.text.container import of_bytes, of_records, of_text

DATA = Path(__file__).parents[1] / "data"
PDF = b"%PDF-1.4\n%\x93\x8c\x8b\x9e ReportLab\n1 0 obj\n<< /Filter /ASCII85Decode >>\nendobj\n%%EOF\n"
RTF = r"{\rtf1\ansi{\fonttbl\f0 Arial;}\f0 Patient Emily Carter\par}"
HTML = "<html><body><p>Patient <b>Emily Carter</b></p></body></html>"
CCDA = '<ClinicalDocument xmlns="urn:hl7-org:v3"><title>Visit</title></ClinicalDocument>'
HL7 = "MSH|^~\\&|ADT|X|Y|Z|20250316||ADT^A01|1|P|2.5\rPID|1||48213977||CARTER^EMILY\r"
EML = "MIME-Version: 1.0\nFrom: a@b.org\n"


def _zipped(*names: str, first: str = "") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        if first:
            made.writestr("mimetype", first)
        for name in names:
            made.writestr(name, "<x/>" * 2000)
    return out.getvalue()


def _tarred() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as made:
        made.addfile(tarfile.TarInfo("note.txt"))
    return out.getvalue()


def _database(folder: Path) -> bytes:
    base = sqlite3.connect(folder / "x.db")
    base.execute("create table a (b)")
    base.close()
    return (folder / "x.db").read_bytes()


def _ole(entry: str) -> bytes:
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(20_000) + entry.encode("utf-16-le") + bytes(100)


BINARY: dict[str, bytes] = {
    "PDF": PDF,
    "PostScript": b"%!PS-Adobe-3.0\n",
    "PNG image": b"\x89PNG\r\n\x1a\n\x00\x00",
    "JPEG image": b"\xff\xd8\xff\xe0\x00\x10JFIF",
    "GIF image": b"GIF89a\x01\x00",
    "TIFF image": b"II*\x00\x08\x00\x00\x00",
    "BMP image": b"BM\x36\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00",
    "WebP image": b"RIFF\x24\x00\x00\x00WEBPVP8 ",
    "HEIC image": b"\x00\x00\x00\x18ftypheic",
    "DICOM image": bytes(128) + b"DICM\x02\x00\x00\x00UL",
    "WAV audio": b"RIFF\x24\x00\x00\x00WAVEfmt ",
    "MP3 audio": b"\xff\xe3\x18\xc4\x00\x00",
    "FLAC audio": b"fLaC\x00\x00\x00\x22",
    "Ogg audio": b"OggS\x00\x02\x00\x00",
    "M4A audio": b"\x00\x00\x00\x1cftypM4A \x00\x00",
    "AMR audio": b"#!AMR\n\x3c",
    "AIFF audio": b"FORM\x00\x01\x00\x00AIFFCOMM",
    "AU audio": b".snd\x00\x00\x00\x18",
    "CAF audio": b"caff\x00\x01\x00\x00desc",
    "W64 audio": b"riff\x2e\x91\xcf\x11\xa5\xd6",
    "SPHERE audio": b"NIST_1A\n   1024\nsample_rate",
    "VOC audio": b"Creative Voice File\x1a\x1a\x00",
    "WavPack audio": b"wvpk\x00\x00\x00\x00",
    "DSS dictation": b"\x03ds2\x00\x01",
    "MP4 video": b"\x00\x00\x00\x18ftypisom",
    "gzip": gzip.compress(b"a note"),
    "bzip2": bz2.compress(b"a note"),
    "xz": lzma.compress(b"a note"),
    "7-Zip archive": b"7z\xbc\xaf\x27\x1c\x00\x04",
    "RAR archive": b"Rar!\x1a\x07\x01\x00",
    "tar archive": _tarred(),
    "ZIP archive": _zipped("note.txt"),
    "DOCX": _zipped("[Content_Types].xml", "word/document.xml"),
    "XLSX": _zipped("[Content_Types].xml", "xl/workbook.xml"),
    "PPTX": _zipped("[Content_Types].xml", "ppt/presentation.xml"),
    "ODT": _zipped("content.xml", first="application/vnd.oasis.opendocument.text"),
    "ODS": _zipped("content.xml", first="application/vnd.oasis.opendocument.spreadsheet"),
    "EPUB": _zipped("a.xhtml", first="application/epub+zip"),
    "DOC": _ole("WordDocument"),
    "XLS": _ole("Workbook"),
    "MSG": _ole("__substg1.0_0037001F"),
    "OLE file": _ole("Other"),
    "Parquet": b"PAR1\x15\x04" + bytes(40) + b"PAR1",
    "EDF recording": b"0       " + b"X" * 160 + b"16.03.2508.15.00512     " + b" " * 64,
    "program": b"MZ" + bytes(58) + b"\x80\x00\x00\x00" + bytes(64) + b"PE\x00\x00",
}
TEXTS: dict[str, str] = {
    "RTF": RTF,
    "HTML": HTML,
    "C-CDA": CCDA,
    "XHTML": '<?xml version="1.0"?>\n<!-- made by X -->\n<html xmlns="http://www.w3.org/1999/xhtml"><p>x</p></html>',
    "SVG": '<svg xmlns="http://www.w3.org/2000/svg"><text>Emily Carter</text></svg>',
    "FHIR XML": '<Patient xmlns="http://hl7.org/fhir"><id value="1"/></Patient>',
    "XML": "<record><name>Emily Carter</name></record>\n<record><name>Ann Roe</name></record>",
    "HL7 v2 message": HL7,
    "X12 interchange": f"ISA*00*{' ' * 10}*00*{' ' * 10}*ZZ*{'A':<15}*ZZ*{'B':<15}*250316*0815*^*00501*1*0*P*:~",
    "EDIFACT interchange": "UNA:+.? 'UNB+UNOC:3+1+2+250316:0815+1'",
    "vCard": "BEGIN:VCARD\nVERSION:3.0\nFN:Emily Carter\nEND:VCARD\n",
    "PEM or PGP block": "-----BEGIN PGP MESSAGE-----\n\nabc\n-----END PGP MESSAGE-----\n",
    "uuencoded file": "begin 644 note.txt\n&;F]T92!A\n`\nend\n",
    "SQL dump": "-- MySQL dump 10.13\nINSERT INTO p VALUES (1,'Emily Carter');\n",
    "MIME message": EML + 'Content-Type: text/html; charset="utf-8"\n\n<p>Emily Carter</p>\n',
}
NOTES = (
    "",
    " \n",
    "Seen by Dr. Emily Carter on 03/16/2025.",
    "BP <90/60, K <3.5. The portal showed <b>CRITICAL</b> in red.",
    "<b>Assessment:</b> stable. <b>Plan:</b> home.",
    "<name> was seen by <doctor> on <date>.",
    "<3 the new walker, she says.",
    "Her labs, as pasted:\n<table><tr><td>K</td><td>4.1</td></tr></table>\nAll well.",
    "<table><tr><td>K</td><td>4.1</td></tr></table>\nAll well, Dr. Carter.",
    "ADT feed sent:\nPID|1||48213977||CARTER^EMILY\nNo action.",
    "MSH|^~\\&|ADT|X|Y|Z|20250316||ADT^A01|1|P|2.5\nThis header arrived without its message.",
    "PAR1 antagonist vorapaxar stopped.",
    "MZ twins, 32 weeks, one chorion." + " Both well." * 40,
    "BM normal, passing flatus. Tolerating diet, afebrile, walking in the hall.",
    "UNABLE to reach her by telephone.",
    "ISA reviewed. PKU screen negative.",
    "0 complaints. 0 falls.",
    "Stable",
    "NAD",
    "%PDF-1.4 attachments cannot be opened on the ward, says Dr. Carter.",
    "Date: 03/16/2025\nFrom: Ward 3\nSubject: transfer\n\nContent-Type was discussed.",
    EML + "Content-Type: text/plain; charset=utf-8\n\nPlease call Dr. Carter.\n",
    '{"text": "<html>"}',
    '{"a": 1}\n{"b": 2}\n',
    "id,note\n1,<p>fine</p>\n",
    "iVBOR is the name of the trial, and nothing else here is base64.",
    base64.b64encode(b"Seen by Dr. Emily Carter.").decode(),
    "4821397748213977482139774821397748213977",
)


@pytest.mark.parametrize("name", BINARY)
def test_a_binary_format_is_named_by_its_bytes(name: str) -> None:
    assert of_bytes(BINARY[name]) == name


def test_a_database_is_named(tmp_path: Path) -> None:
    assert of_bytes(_database(tmp_path)) == "SQLite"


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("before", ["", "\ufeff \r\n\t", "\u200b\u2060\x00\x0b"])
def test_a_text_format_is_named_behind_blanks_marks_and_invisible_characters(name: str, before: str) -> None:
    assert of_text(before + TEXTS[name]) == name
    assert of_bytes((before + TEXTS[name]).encode()) == name


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1"])
def test_the_encoding_hides_no_format(encoding: str) -> None:
    assert of_bytes(HTML.replace("Carter", "Müller").encode(encoding)) == "HTML"


@pytest.mark.parametrize("text", NOTES)
def test_a_note_that_mentions_or_quotes_a_format_is_a_note(text: str) -> None:
    assert of_text(text) is None
    assert of_bytes(text.encode()) is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (PDF.decode("latin-1"), "PDF"),
        ("junk from the scanner\n" + PDF.decode("latin-1"), "PDF"),
        ("{\u200b\\rt\u00adf1\\ansi x}", "RTF"),
        ("<!-- a > b --> <!DOCTYPE HTML PUBLIC '-//W3C//DTD HTML 4.01//EN'><HTML>x", "HTML"),
        ("<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0//EN'><html>x</html>", "XHTML"),
        ("<p>Seen by <b>Dr. Carter</b>.</p>\n<p>Home.</p>", "HTML"),
        ("<div>Seen by Dr. Carter.<br>Home.", None),
        ("<p>Seen<p>Home</p>", "HTML"),
        ("&lt;html&gt;&lt;body&gt;Dr. Carter&lt;/body&gt;&lt;/html&gt;", "HTML"),
        ("<h\u200btml><body>x</body></html>", "HTML"),
        ('<?xml version="1.0"?><?xml-stylesheet href="cda.xsl"?>' + CCDA, "C-CDA"),
        ('<?xml version="1.0"?><n1:ClinicalDocument xmlns:n1="urn:hl7-org:v3"/>', "C-CDA"),
        ("\x0b" + HL7 + "\x1c\r", "HL7 v2 message"),
        (HL7.replace("\r", "\n\n"), "HL7 v2 message"),
        ("FHS|^~\\&|LAB\rBHS|^~\\&|LAB\r" + HL7, "HL7 v2 message"),
        ("MSH|^~\\&|ADT|X|Y|Z|20250316||ADT^A01|1|P|2.5", "HL7 v2 message"),
        ("MSH#^~\\&#ADT\rPID#1##48213977\r", "HL7 v2 message"),
        (base64.b64encode(PDF).decode(), "PDF in base64"),
        (base64.encodebytes(PDF * 20).decode(), "PDF in base64"),
        (base64.urlsafe_b64encode(BINARY["DOCX"]).decode(), "DOCX in base64"),
        ("data:application/pdf;base64," + base64.b64encode(PDF).decode(), "PDF in base64"),
        (base64.b64encode(RTF.encode()).decode(), "RTF in base64"),
        (base64.a85encode(PDF).decode(), "PDF in ASCII85"),
        (base64.a85encode(PDF * 20, adobe=True, wrapcol=72).decode(), "PDF in ASCII85"),
        (binascii.hexlify(PDF).decode(), "PDF in hexadecimal digits"),
    ],
)
def test_disguises_of_a_format_are_seen_through(text: str, name: str | None) -> None:
    assert of_text(text) == name


def test_a_mail_counts_by_the_kinds_of_its_parts() -> None:
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "a@b.org", "Emily Carter"
    mail.set_content("Please call.")
    assert of_text(mail.as_string()) is None
    mail.add_alternative("<p>Please call.</p>", subtype="html")
    assert of_text(mail.as_string()) == "MIME message"
    assert of_text("From a@b.org Sun Mar 16 08:15:00 2025\n" + mail.as_string()) == "MIME message"
    parts = mail.as_string().partition("\n\n")[2]
    assert of_text(parts) == "MIME message"


def test_a_text_in_base64_within_a_mail_is_not_plain() -> None:
    mail = EmailMessage()
    mail.set_content("Please call Müller.", cte="base64")
    assert of_text(mail.as_string()) == "MIME message"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"dataType": "note", "text": "x"}', "JSON"),
        ('\ufeff\n[{"a": 1}, {"a": 2}]\n', "JSON"),
        ('{"a": 1}\n\n{"a": 2}\n', "JSON lines"),
        ("[1] Stable. [2] Home.", None),
        ("[PERSON] was seen by [PERSON]", None),
        ("{note} stable {end}", None),
        ('{"a": 1} and prose {"b": 2}', None),
        ("[]", None),
        ("[" * 100_000 + "]" * 100_000, None),
    ],
)
def test_records_are_told_from_texts(text: str, name: str | None) -> None:
    assert of_records(text) == name


@pytest.mark.parametrize("corpus", ["dev_e.jsonl", "dev_f.jsonl", "dev_g.jsonl", "dev_h.jsonl", "notes.jsonl"])
def test_of_the_development_notes_only_whole_messages_are_containers(corpus: str) -> None:
    notes = [json.loads(line) for line in (DATA / corpus).read_text(encoding="utf-8").splitlines()]
    found = {note["id"]: of_text(note["text"]) for note in notes}
    assert set(found.values()) <= {None, "HL7 v2 message"}
    messages = {note["id"] for note in notes if note["text"][:4] == "MSH|"}
    assert {name for name, what in found.items() if what} == messages


@given(st.binary(max_size=300))
def test_any_bytes_have_an_answer(data: bytes) -> None:
    found = of_bytes(data)
    assert found is None or found.strip()


@given(st.text(max_size=200), st.sampled_from(sorted(TEXTS)))
def test_words_before_a_format_make_it_part_of_a_text(words: str, name: str) -> None:
    """Nothing raises, whatever is found. Letters before markup are text outside of it."""
    of_text(words + TEXTS[name])
    assert of_text("Seen today: " + HTML) is None


@pytest.mark.parametrize(
    "make",
    [
        lambda n: "<!-- x -->" * (n // 10) + "!",
        lambda n: "<p>" * (n // 3),
        lambda n: "<p>x</p>" + "<!-- y -->" * (n // 10) + "z",
        lambda n: "<!DOCTYPE " + "[" * n,
        lambda n: "A" * 40 + " " * n + "!",
        lambda n: "A" * n + "!",
        lambda n: "MSH|^~\\&|" + "\r" * n,
        lambda n: "\u200b" * n + "x",
        lambda n: "&lt;" * (n // 4),
        lambda n: "{" * n,
        lambda n: "Content-Type: a\n" * (n // 16),
        lambda n: "<a" * (n // 2),
    ],
)
def test_a_hostile_text_has_an_answer_too(make: Callable[[int], str]) -> None:
    """With a backtracking expression, none of these would finish."""
    of_text(make(400_000))
    of_records(make(400_000))
