"""E-mails with one text part in quoted-printable, and mailboxes of plain e-mails."""

from __future__ import annotations

import re
from collections.abc import Sequence

from incognote.formats.registry import named

from . import Sample

PS = b"%!PS-Adobe-3.0\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n"
ATTACHED = (
    b"From: a@b.org\nContent-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: application/postscript\n"
    b"Content-Disposition: attachment; filename=\"Jane Doe.ps\"\n\n" + PS + b"\n--x--\n"
)


def _message(texts: Sequence[str]) -> bytes:
    data = "\n".join(texts).encode()
    encoded = re.sub(rb"[^!-<>-~\n ]|[ ](?=\n|\Z)", lambda c: b"=%02x" % c[0][0], data)
    wrapped = re.sub(rb"[^=\n]{60}(?=[^\n]{9})", rb"\g<0>=\n", encoded)
    return (
        b"From: \"Carter, Emily\" <emily@carter.org>\nDate: Mon, 3 Mar 2025 10:00:00 -0500\n"
        b"MIME-Version: 1.0\nContent-Type: multipart/mixed;\n boundary=\"=_one\"\n\n--=_one\n"
        b"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n"
        + wrapped
        + b"\n--=_one--\n"
    )


def _mailbox(texts: Sequence[str]) -> bytes:
    head = "From - Thu Jan  1 00:00:00 1970\nContent-Type: text/plain; charset=utf-8\n\n"
    return "".join(f"{head}{text}\n\n" for text in texts).encode()


SAMPLES = (
    Sample(
        named("eml"),
        _message,
        [
            (PS, "unsupported-format"),
            (ATTACHED, "unsupported-format"),
            (b"Seen by Dr. Carter.\n", "malformed"),
            (b"Subject: Jos\xe9\n\nSeen.\n", "malformed"),
            (b"Content-Type: multipart/mixed; boundary=x\n\nSeen.\n", "malformed"),
        ],
    ),
    Sample(
        named("mbox"),
        _mailbox,
        [
            (PS, "unsupported-format"),
            (b"Seen by Dr. Carter.\n", "malformed"),
            (b"From a@b.org Mon Mar  3 10:00:00 2025\n\nSeen by Dr. Carter.\n", "malformed"),
            (b"From a@b.org Mon Mar  3 10:00:00 2025\n" + ATTACHED, "unsupported-format"),
        ],
        many=True,
    ),
)
