"""E-mails: what is replaced, kept, removed and refused in them."""

from __future__ import annotations

import base64
import io
import json
import quopri
import re
from contextlib import suppress
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from random import Random
from time import process_time
from typing import BinaryIO, cast

import pytest

from incognote import Deidentifier
from incognote.errors import RecordProblem, UnsupportedFormat
from incognote.formats.base import Document, FieldEdit, TextEdit, Unreadable, actions_of, known_of, texts_of
from incognote.formats.mail.charsets import CODECS
from incognote.formats.output import rebuilt
from incognote.formats.registry import named, open_documents, open_one
from incognote.schemas.registry import Registry

PLAIN = b"Subject: s\nContent-Type: text/plain; charset=utf-8\n"
NEW = {"mask": "[NAME]", "hash": "0f1e2d3c4b5a6978", "date": "[DATE]", "absent": ""}


def texts(data: bytes) -> dict[str, str]:
    return {text.field: text.content for text in texts_of(open_one(data, "message/rfc822")[1])}


def written(data: bytes, **words: str) -> bytes:
    """Return a message with all structured fields replaced, and words of its texts replaced by others."""
    form, document = open_one(data, "message/rfc822")
    values = {action: NEW[action.action] for action in actions_of(document)}
    changes = {
        text.field: [(text.content.index(old), text.content.index(old) + len(old), new)
                     for old, new in words.items() if old in text.content]
        for text in texts_of(document)
    }  # fmt: skip
    return rebuilt(form, document, changes, values)


def refused(data: bytes) -> RecordProblem:
    with pytest.raises(RecordProblem) as problem:
        open_one(data, "message/rfc822")
    assert "Carter" not in str(problem.value) + problem.value.field
    return problem.value


def part(kind: str, body: bytes, more: str = "") -> bytes:
    b = f"b{len(body)}"
    head = f"Subject: s\nContent-Type: multipart/mixed; boundary={b}\n\n"
    head += f"--{b}\n\nSeen.\n--{b}\nContent-Type: {kind}\n{more}\n"
    return head.encode() + body + f"\n--{b}--\n".encode()


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (b'From: "Carter, Emily" <emily@carter.org>', b'From: "[NAME]" <[NAME]>'),
        (b"To: Emily Carter\n\t<emily@carter.org>, bob@x.org", b'To: "[NAME]"\n\t<[NAME]>, [NAME]'),
        (b"Cc: =?utf-8?q?Carter,_Zo=C3=AB?= <z@x.org>", b'Cc: "[NAME]" <[NAME]>'),
        (b"Reply-To: z@x.org (Emily Carter)", b'Reply-To: [NAME] ("[NAME]")'),
        (b"Bcc: undisclosed-recipients:;", b"Bcc: undisclosed-recipients:;"),
        (b"Return-Path: <>", b"Return-Path: <>"),
        (b'Sender: "Emily \\"Em\\" Carter" </O=X/CN=ECARTER>', b'Sender: "[NAME]" <[NAME]>'),
        (b"Message-ID: <emily@carter.org>", b"Message-ID: <0f1e2d3c4b5a6978@hashed.invalid>"),
        (b"Date: Mon, 3 Mar 2025 10:00:00 -0500", b"Date: [DATE]"),
        (b"X-Mailer: Carter 1.0\nX-Folded: a\n Carter", b""),
        (b"Received: from carter.org\n by mx; Mon, 3 Mar 2025 10:00:00 -0500", b""),
        (b"MIME-Version: 1.0 (Emily Carter)", b"MIME-Version: 1.0 "),
        (b"Importance: Carter", b""),
        (b"Importance: High", b"Importance: High"),
    ],
)  # fmt: skip
def test_each_header_field_is_replaced_or_removed_by_a_closed_list(field: bytes, expected: bytes) -> None:
    out = written(field + b"\nSubject: s\n\nSeen.\n")
    assert out == (expected + b"\n" if expected else b"") + b"Subject: s\n\nSeen.\n"


def test_the_names_and_addresses_of_the_header_are_known() -> None:
    document = open_one(b'From: "Carter, Emily" <emily@carter.org>\n\nSeen.\n', "message/rfc822")[1]
    assert [(known.type, known.value) for known in known_of(document)] == [
        ("PERSON", "Carter, Emily"), ("EMAIL", "emily@carter.org")]  # fmt: skip


@pytest.mark.parametrize(
    "subject",
    [
        "=?utf-8?q?Emily_Carter?=", "=?UTF-8?B?RW1pbHkgQ2FydGVy?=", "=?utf-8?q?Emily_Car?=\r\n =?utf-8?q?ter?=",
        "Emily\r\n Carter", "=?iso-8859-1*en?Q?Emily=20Carter?=", "=?utf-8?q?Emily Carter?=",
    ],
)  # fmt: skip
def test_a_subject_is_read_in_every_encoding_and_written_back(subject: str) -> None:
    data = f"Subject: Re: {subject} \r\n\r\nSeen.\r\n".encode()
    assert texts(data)["subject"] == "Re: Emily Carter"
    out = written(data, **{"Emily Carter": "José Ñandú"})
    assert message_from_bytes(out, policy=policy.default)["Subject"].strip() == "Re: José Ñandú"
    assert max(map(len, out.split(b"\r\n"))) < 79


def test_a_character_split_over_two_encoded_words_is_read() -> None:
    assert texts(b"Subject: =?utf-8?q?Zo=C3?= =?utf-8?q?=AB?= Carter\n\nSeen.\n")["subject"] == "Zoë Carter"


@pytest.mark.parametrize(
    ("transfer", "charset", "body", "expected"),
    [
        ("7bit", "us-ascii", b"Mr. Carter has asthma.", b"Mr. [N] has asthma."),
        ("8bit", "iso-8859-1", "Mr. Carter, né Zoë".encode("latin-1"), "Mr. [N], né Zoë".encode("latin-1")),
        ("quoted-printable", "utf-8", b"N=C3=A9 Car=\nter, wei=DF=\n ok".replace(b"=DF", b"=C3=9F"),
         b"N=C3=A9 [N]=\n, wei=C3=9F=\n ok"),
        ("quoted-printable", "windows-1252", b"=43arter=92s knee =3D ok", b"[N]=92s knee =3D ok"),
        ("base64", "utf-8", b"TXIuIENhcnRl\nciBpcyBvay4=\n", b"TXIuIFtOXSBp\ncyBvay4="),
        ("base64", "utf-16", base64.b64encode("\ufeffCarter ok".encode("utf-16-le")),
         base64.b64encode("\ufeff[N] ok".encode("utf-16-le"))),
        ("8bit", "iso-2022-jp", b"\x1b$B4Q;!\x1b(B Carter", b"\x1b$B4Q;!\x1b(B [N]"),
    ],
)  # fmt: skip
def test_a_text_is_edited_in_its_own_encoding(transfer: str, charset: str, body: bytes, expected: bytes) -> None:
    head = f"Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: {transfer}\n\n".encode()
    assert written(head + body, Carter="[N]").rstrip() == head + expected


def test_a_long_replacement_gets_soft_line_breaks() -> None:
    head = b"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n"
    out = written(head + b"a" * 30 + b" Carter " + b"b" * 30, Carter="é" * 30)
    assert max(map(len, out.splitlines())) <= 76
    assert list(texts(out).values()) == ["a" * 30 + " " + "é" * 30 + " " + "b" * 30]


def test_names_of_files_are_hashed_in_every_form_and_keep_their_suffix() -> None:
    forms = (
        'attachment; filename="Emily Carter.txt"; size=12',
        "attachment; filename*=utf-8''Emily%20Carter.txt",
        "attachment;\n filename*0=\"Emily \";\n filename*1=Carter.txt",
        "attachment; filename==?utf-8?q?Emily_Carter?=.txt",
    )
    for form in forms:
        out = written(part("text/plain; name=\"Emily Carter.txt\"", b"ok", f"Content-Disposition: {form}\n"))
        assert out.count(b'"0f1e2d3c4b5a6978.txt"') == 2
        assert b"Carter" not in out
        assert b"size" not in out


def test_preamble_epilogue_boundary_and_unknown_parameters_hold_no_names() -> None:
    data = (
        b"Subject: s\r\nContent-Type: multipart/mixed; boundary=\"=_Carter\"; x=Carter\r\n\r\nDear Carter\r\n"
        b"--=_Carter\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nok\r\n--=_Carter--\r\nBye Carter"
    )
    assert written(data) == (
        b"Subject: s\r\nContent-Type: multipart/mixed; boundary=\"0f1e2d3c4b5a6978\"\r\n\r\n\r\n"
        b"--0f1e2d3c4b5a6978\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nok\r\n--0f1e2d3c4b5a6978--\r\n"
    )


def test_an_attached_message_is_read_like_the_message() -> None:
    inner = b"From: Emily Carter <e@carter.org>\nX-A: Carter\nSubject: knee\n\nCarter is well."
    out = written(part("message/rfc822", inner), Carter="[N]")
    assert b'\n\nFrom: "[NAME]" <[NAME]>\nSubject: knee\n\n[N] is well.\n--' in out


def test_a_delivery_report_keeps_its_status_and_no_address() -> None:
    status = (
        b"Reporting-MTA: dns; mail.carter.org\nArrival-Date: Mon, 3 Mar 2025 10:00:00 -0500\n\n"
        b"Final-Recipient: rfc822; emily@carter.org\nAction: failed\nStatus: 5.1.1\n"
        b"Diagnostic-Code: smtp; 550 Carter unknown\n"
    )
    out = written(part("message/delivery-status", status), Carter="[N]")
    assert (
        b"Arrival-Date: [DATE]\n\nFinal-Recipient: rfc822; [NAME]\nAction: failed\nStatus: 5.1.1\n"
        b"Diagnostic-Code: smtp; 550 [N] unknown\n"
    ) in out
    assert b"arter" not in out


PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR Carter"


@pytest.mark.parametrize("kind", ["image/png; name=Carter.png", "image/x-carter", "application/octet-stream"])
def test_a_picture_is_replaced_by_a_text_and_the_rest_of_the_message_is_kept(kind: str) -> None:
    more = "Content-Disposition: inline; filename=Carter.png; size=9\n"
    more += "Content-Description: Carter\nContent-ID: <Carter@x>\n"
    data = part(kind, base64.b64encode(PNG), more + "Content-Transfer-Encoding: base64\n")
    shown = {"part[1]": "Seen.", "part[2].content-description": "Carter", "part[2]": "[picture]"}
    assert texts(data) == {"subject": "s", **shown}
    assert written(data, Carter="[N]").endswith(
        b"\n\nSeen.\n--0f1e2d3c4b5a6978\nContent-Type: text/plain\nContent-Description: [N]\n"
        b"Content-ID: <0f1e2d3c4b5a6978@hashed.invalid>\n\n[picture]\n--0f1e2d3c4b5a6978--\n"
    )
    alone = b"Subject: s\r\nContent-Type: image/png\r\n\r\n" + PNG
    assert written(alone) == b"Subject: s\r\nContent-Type: text/plain\r\n\r\n[picture]"


@pytest.mark.parametrize(
    ("data", "code", "words"),
    [
        (part("application/postscript; name=C", b"%!PS"), "unsupported-format", "part 2: application/postscript"),
        (part("image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg'><text>Carter</text></svg>"),
         "unsupported-format", "SVG"),
        (part("image/png", b"%!PS-Adobe-3.0\n1 0 obj"), "unsupported-format", "part 2: image/png: PostScript"),
        (part("image/png", b"Carter"), "unsupported-format", "part 2: image/png"),
        (part("application/dicom", b"\0" * 128 + b"DICM"), "malformed", "part 2"),
        (part("image/png", b"not *base64", "Content-Transfer-Encoding: base64\n"), "malformed", "base64"),
        (part("application/x-carter", b"x"), "unsupported-format", "part 2: an unknown media type"),
        (part("text/calendar", b"BEGIN:VCALENDAR\nSUMMARY:Carter\nEND:VCALENDAR"), "unsupported-format", "iCalendar"),
        (part("application/ms-tnef", b"\x78\x9f\x3e\x22"), "unsupported-format", "application/ms-tnef"),
        (part("text/plain", b"-----BEGIN PGP MESSAGE-----\nCarter"), "unsupported-format", "PEM or PGP"),
        (part("text/plain", b"Hi\nbegin 644 carter.doc\nM"), "unsupported-format", "encoded block"),
        (part("text/plain", b"x", "Content-Transfer-Encoding: x-carter\n"), "record", "transfer encoding"),
        (part("text/plain", b"not *base64", "Content-Transfer-Encoding: base64\n"), "malformed", "base64"),
        (part("text/plain; charset=x-carter", b"x"), "record", "character set"),
        (part("text/plain; charset=utf-8", b"Zo\xeb"), "record", "character set"),
        (part("text/plain; charset=latin1", "Zoë".encode()), "record", "Declare UTF-8"),
        (part("text/plain", b"x", "Content-Type: text/html\n"), "malformed", "occurs twice"),
        (part("multipart/signed; boundary=c", b"--c\n\nx\n--c--"), "unsupported-format", "multipart/signed"),
        (part("message/partial; id=Carter", b"x"), "unsupported-format", "part 2"),
        (part("text/plain", b"x", "Carter without a colon\n"), "malformed", "line 9"),
        (b"From: Carter\rBcc: c@x.org\n\nSeen.\n", "malformed", "line 1 has a control character"),
        (b"From: \0Carter\n\nSeen.\n", "malformed", "line 1 has a control character"),
        (b"Content-Transfer-Encoding: base64\x0c\n\nUm9z", "malformed", "line 1 has a control character"),
        (b"Subject: =?x-carter?q?a?=\n\nSeen.\n", "malformed", "character set"),
        (b"Content-Type: multipart/mixed\n\nCarter", "unsupported-format", "multipart"),
        (b"Content-Type: multipart/mixed; boundary=b\nContent-Transfer-Encoding: base64\n\n", "malformed", "base64"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_place_and_no_name(data: bytes, code: str, words: str) -> None:
    problem = refused(data)
    assert problem.code == code
    assert words in str(problem)


def test_a_message_without_its_last_boundary_is_read_to_the_end() -> None:
    data = part("text/plain", b"Carter is well.").rpartition(b"\n--")[0]
    assert texts(data)["part[2]"] == "Carter is well."


def test_messages_inside_each_other_are_read_up_to_a_limit() -> None:
    message = PLAIN + b"\nCarter is well."
    for depth in range(1, 6):
        message = part("message/rfc822", message)
        assert len(texts(message)) == 2 * depth + 2
    assert "inside each other" in str(refused(part("message/rfc822", message)))


DOCUMENTS = Path(__file__).parents[1] / "data/documents"


@pytest.mark.parametrize(
    ("path", "kind", "mark"),
    [
        ("rtf/lo-text-0.rtf", "application/msword", b"{\\rtf1"),
        ("html/latin.html", "text/html; charset=windows-1252", b"<"),
        ("hl7/hapi_00_oru_r01.hl7", "application/octet-stream", b"MSH|"),
        ("../../../examples/summary.xml", "application/xml", b"<ClinicalDocument"),
        ("../../../examples/records.jsonl", "application/json", b'{"'),
    ],
)
@pytest.mark.parametrize("transfer", ["base64", "quoted-printable"])
def test_an_attachment_is_read_by_its_own_format_and_written_in_its_transfer_encoding(
    path: str, kind: str, mark: bytes, transfer: str
) -> None:
    data = (DOCUMENTS / path).read_bytes()
    data = data.splitlines()[0] if path.endswith("jsonl") else data
    encoded = base64.encodebytes(data) if transfer == "base64" else quopri.encodestring(data)
    message = part(kind, encoded, f"Content-Transfer-Encoding: {transfer}\n")
    _, document = open_one(message, "message/rfc822")
    document = document.under(Registry(), None)
    values = dict.fromkeys(actions_of(document), "0f1e2d3c4b5a6978")
    text = next(t for t in texts_of(document) if t.field.startswith("part[2]/") and re.search("[A-Za-z]{3}", t.content))
    place = re.search("[A-Za-z]{3}", text.content)
    assert place is not None
    out = io.BytesIO()
    edits = [FieldEdit(action, value) for action, value in values.items()]
    document.rebuild([*edits, TextEdit(text.field, *place.span(), "THEX")], out)
    [_, attached] = message_from_bytes(out.getvalue()).get_payload()  # type: ignore[misc]  # a list, for a multipart
    new = attached.get_payload(decode=True)  # type: ignore[union-attr]  # a message
    assert isinstance(new, bytes)
    assert mark in new
    assert b"THEX" in new


def test_an_attached_fhir_bundle_is_released() -> None:
    number = {"system": "http://h.example/mrn", "value": "4471902"}
    patient = {"resourceType": "Patient", "id": "p1", "identifier": [number]}
    entry = {"fullUrl": "urn:uuid:1b6c1a3e-0b1a-4c1a-9b1a-2c1a3e0b1a4c", "resource": patient}
    bundle = json.dumps({"resourceType": "Bundle", "type": "collection", "entry": [entry]})
    message = part("application/fhir+json", bundle.encode())
    with Deidentifier(detectors=["rules"]) as deid:
        result = deid.deidentify(message, media_type="message/rfc822")
    assert b"https://deid.invalid/fhir/uri/" in result.data
    assert b"4471902" not in result.data


def test_pythons_reader_finds_no_word_in_a_damaged_message_that_was_not_replaced() -> None:
    draw = Random(1)
    signs = [*map(bytes, zip(b'\n\r;"=:(<\\ \x0c', strict=True))]
    signs += [b"\r\n", b"\n\n", b"--b\n", b"--b--\n", b"=?", b"?=", b"=\n", b"*0*="]
    signs += [b"Content-Type: text/html\n", b"Content-Type: multipart/mixed; boundary=b\n"]
    signs += [b"Content-Transfer-Encoding: base64\n", b"Content-Transfer-Encoding: quoted-printable\n"]
    sources = [path.read_bytes() for path in sorted((DOCUMENTS / "eml").glob("*.eml"))]
    sources = [data for data in sources if not re.search(rb"html|rtf|hl7|json", data)]
    form = named("eml")
    assert form.second is not None
    compared = 0
    for _ in range(500):
        data = draw.choice(sources)
        for _ in range(draw.choice((1, 2, 4))):
            at = draw.choice([each.start() for each in re.finditer(rb"\n|--|boundary|Content", data)] or [0])
            at = max(at + draw.randrange(-2, 4), 0)
            data = data[:at] + draw.choice([*signs, b""]) + data[at + draw.choice((0, 1, 3)) :]
        try:
            _, document = open_one(data, "message/rfc822")
            values = {action: NEW[action.action] for action in actions_of(document)}
            changes = {text.field: [(0, len(text), "quux")] for text in texts_of(document) if len(text)}
            out = rebuilt(form, document, changes, values)
        except RecordProblem:
            continue
        with suppress(UnsupportedFormat, AttributeError, IndexError):  # of Python's reader: the message goes to review
            shown = set(re.findall(r"[^\W_]{4,}", "\n".join(form.second(out)).lower()))
            assert shown <= {"quux", "name", "date", "0f1e2d3c4b5a6978", "rfc822", "undisclosed", "recipients"}
            compared += 1
    assert compared > 150


@pytest.mark.parametrize(
    "data",
    [
        b"From: " + b"a" * 200_000 + b" @\n\n",
        b"From: " + b'"\\' * 100_000 + b"\n\n",
        b"Content-Type: text/plain; x=" + b'"\\' * 100_000 + b"\n\n",
        b"Content-Type: text/plain; x=a" + b" " * 200_000 + b"b\n\n",
        b"Subject: " + b"=?a?q?" * 30_000 + b"\n\n",
    ],
    ids=["word", "quotes", "quoted parameter", "white space", "encoded words"],
)
def test_a_field_that_is_made_to_take_long_is_read_at_once(data: bytes) -> None:
    started = process_time()
    open_one(data, "message/rfc822")
    assert process_time() - started < 5


def test_new_words_that_the_character_set_lacks_hold_the_message() -> None:
    with pytest.raises(RecordProblem, match="encoding of its file"):
        written(b"Content-Type: text/plain; charset=iso-8859-1\n\nCarter", Carter="王")


def test_a_message_from_python_is_released_and_still_a_message() -> None:
    message = EmailMessage()
    message["From"] = "Emily Carter <emily.carter@mail.example>"
    message["Subject"] = "Naïve question about Emily Carter's knee"
    message["Message-ID"] = "<1.carter@mail.example>"
    message["X-Originating-IP"] = "10.1.2.3"
    message.set_content("Emily Carter (MRN 00718823) was seen on 03/16/2025.\nKnee pain – resolved.\n")
    message.add_attachment("Emily Carter: asthma\n", filename="Emily Carter.txt", cte="base64")
    with Deidentifier("strict") as deid:
        result = deid.deidentify(message.as_bytes(), media_type="message/rfc822")
    out = message_from_bytes(result.data, policy=policy.default)
    assert "[PERSON]'s knee" in out["Subject"]
    [body, attached] = out.iter_parts()
    assert body.get_content() == "[PERSON] (MRN [MEDICAL_RECORD_NUMBER]) was seen on [DATE].\nKnee pain – resolved.\n"
    assert attached.get_content() == "[PERSON]: asthma\n"
    assert "arter" not in str(out)


def test_an_address_that_pythons_reader_drops_is_still_seen_by_the_second_reader() -> None:
    second = named("eml").second
    assert second is not None
    assert any("emily@[carter" in text for text in second(b"From: x <emily@[carter> y\n\nSeen.\n"))


def test_a_date_is_no_difference_if_python_writes_it_with_two_digits() -> None:
    second = named("eml").second
    assert second is not None
    assert list(filter(None, second(b"Date: Mon, 3 Mar 2025 10:00:00 -0500\n\n"))) == ["Mon, 3 Mar 2025 10:00:00 -0500"]


def test_a_mailbox_is_read_message_by_message_and_its_postmarks_hold_no_address() -> None:
    good = b"From carter@x.org Mon Mar  3 10:00:00 2025\nSubject: s\n\nCarter is well.\n>From Carter\n\n"
    bad = b"From carter@x.org Mon Mar  3 10:00:00 2025\n\nno header\n\n"
    found = list(open_documents(named("mbox"), cast(BinaryIO, io.BufferedReader(io.BytesIO(good + bad + good)))))
    assert [isinstance(each, Unreadable) for each in found] == [False, True, False]
    out = io.BytesIO()
    assert isinstance(found[0], Document)
    found[0].rebuild([], out)
    assert out.getvalue().startswith(b"From - Thu Jan  1 00:00:00 1970\nSubject: s\n\nCarter is well.")
    assert found[0].after == b"\n\n"


EBCDIC = ["cp037", "cp500", "ibm1026", "cp1140", "cp864", "utf-7", "hz", "Emily.Carter.MRN-4471902"]


@pytest.mark.parametrize("charset", EBCDIC)
@pytest.mark.parametrize("kind", ["text/plain", "text/html", "text/csv"])
def test_a_part_in_a_character_set_outside_the_closed_list_is_refused_with_its_number(charset: str, kind: str) -> None:
    problem = refused(part(f'{kind}; charset="{charset}"', b"MRN 4471902 617-555-0143"))
    assert "part 2: an unknown character set" in str(problem)


def test_plain_ascii_that_claims_to_be_utf_16_is_refused() -> None:
    assert "do not match" in str(refused(part("text/plain; charset=utf-16le", b"MRN 4471902 617-555-0143")))
    assert "character set" in str(refused(b"Subject: =?utf-16le?Q?MRN_4471902_?=\n\nSeen.\n"))


@pytest.mark.parametrize("word", [*(f"=?{charset}?Q?MRN_4471902?=" for charset in EBCDIC), "=?utf-8*carter?Q?a?="])
def test_an_encoded_word_outside_the_closed_list_of_character_sets_is_refused(word: str) -> None:
    assert "unknown character set" in str(refused(f"Subject: {word}\n\nSeen.\n".encode()))


def test_each_character_set_on_the_list_contains_ascii_except_utf_16() -> None:
    plain = bytes(range(128))
    odd = {name for name, codec in CODECS.items() if "utf-16" not in codec and plain.decode(codec) != plain.decode()}
    assert odd == set()


def test_a_character_set_that_means_nothing_is_removed_unless_it_is_listed() -> None:
    inner = b"Subject: knee\n\nwell"
    disposition = "Content-Disposition: inline; charset=cp500\n"
    out = written(part('message/rfc822; charset="Carter4471902"', inner, disposition))
    assert b"Content-Type: message/rfc822\nContent-Disposition: inline\n" in out
    out = written(b"Content-Type: multipart/mixed; boundary=b; charset=Carter.4471902\n\n--b\n\nSeen.\n--b--\n")
    assert out.startswith(b'Content-Type: multipart/mixed; boundary="0f1e2d3c4b5a6978"\n\n')
    assert b"charset=UTF-8" in written(part("message/rfc822; charset=UTF-8", inner))


def test_the_second_reader_refuses_ebcdic_and_sees_the_plain_ascii_in_any_encoded_word() -> None:
    second = named("eml").second
    assert second is not None
    for charset in ("cp500", "cp037"):
        with pytest.raises(ValueError, match="ASCII"):
            list(second(b"Content-Type: text/plain; charset=%s\n\nMRN 4471902\n" % charset.encode()))
        shown = "\n".join(second(b"Subject: a =?%s?Q?MRN_4471902?=\n\nSeen.\n" % charset.encode()))
        assert "MRN 4471902" in shown
    shown = "\n".join(second(b"Content-Type: text/plain; charset=utf-16le\n\nMRN 4471902!\n"))
    assert "MRN 4471902" in shown
    assert "Carter" in "\n".join(second(b"Content-Type: multipart/mixed; boundary=b; charset=Carter\n\n--b\n\n\n--b--"))


def test_the_second_reader_shows_no_other_words_than_pythons_in_ordinary_encoded_words() -> None:
    message = EmailMessage()
    message["Subject"] = "Naïve question about the very long and tiresome story of Zoë Łukasiewicz and her knee, again"
    second = named("eml").second
    assert second is not None
    words = set(re.findall(r"\w+", "\n".join(second(message.as_bytes()))))
    assert words == set(re.findall(r"\w+", message["Subject"]))


def test_words_over_soft_line_breaks_leave_no_empty_ones() -> None:
    head = PLAIN + b"Content-Transfer-Encoding: quoted-printable\n\n"
    assert written(head + b"Mrs. Ann=\na Ma=\nria Ca=\nrter=\n saw\n", **{"Anna Maria Carter": "[N]"}).endswith(
        b"\n\nMrs. [N]=\n saw\n")
    assert written(head + b"Mrs. Ann=\na Ma=\nria Ca=\nrter saw\n", **{"Anna Maria Carter": "[N]"}).endswith(
        b"\n\nMrs. [N]=\n saw\n")
    assert written(head + b"Mrs. Ann=\na Ma=\nria Ca=\nrter", **{"Anna Maria Carter": "[N]"}).endswith(b"\n\nMrs. [N]")
    html = b"Subject: s\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n"
    page = html + b"<p>Mrs. Anna=\n Carter</p>\n<p>Well</p>\n"
    assert written(page, **{"Anna Carter": "[N]"}).endswith(b"\n\n<p>Mrs. [N]</p>\n<p>Well</p>\n")
