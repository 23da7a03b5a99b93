"""Attached documents: base64 of a text in some character set, and back."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, field

from incognote.errors import RecordProblem, SchemaViolation, UnsupportedFormat
from incognote.schemas.fhir.rules import rules
from incognote.text.container import of_bytes

_CHARSET = re.compile(r"; *charset=\"?([A-Za-z0-9\-]+)\"?", re.IGNORECASE)
# Any control character but blanks and line ends: a text in another character set reads like this.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")


@dataclass(frozen=True, slots=True)
class Attached:
    """A decoded attachment.

    Args:
        content: its text.
        charset: Python's name of its character set.
        is_markup: XHTML, whose tags stay.
    """

    content: str = field(repr=False)
    charset: str
    is_markup: bool

    def encode(self, content: str) -> str:
        """New content as base64 in the same character set.

        Raises:
            RecordProblem: the character set cannot hold what was put in.
        """
        try:
            return base64.b64encode(content.encode(self.charset)).decode("ascii")
        except UnicodeEncodeError:
            raise RecordProblem(
                f"an attachment in {self.charset} cannot hold its replacements: send it in UTF-8") from None


def decode(data: str, content_type: str | None, path: str) -> Attached:
    """Read `Attachment.data`.

    Args:
        content_type: `Attachment.contentType`, its charset parameter included; without one UTF-8 is assumed.
        path: of the attachment, for messages.

    Raises:
        UnsupportedFormat: the bytes are a PDF, an image or another format without a reader, whatever is declared.
        SchemaViolation: a media type that cannot be read as text, no base64, or bytes that are not of the character
            set, or are of another one as well: control characters (UTF-16 read as UTF-8), UTF-8 called Latin-1. Nothing
            is released of what cannot be read.
    """
    known = rules().vocabulary
    media_type = (content_type or "").split(";")[0].strip().lower()
    readable = ("HTML", "XHTML") if known["media_types"].get(media_type) == "markup" else ()
    try:
        octets = base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        octets = None
    what = of_bytes(octets) if octets else None
    if what is not None and what not in readable:
        raise UnsupportedFormat.of(what, f"{path}.data")
    if media_type not in known["media_types"]:
        served = ", ".join(known["media_types"])
        raise SchemaViolation(f"{path}.contentType: only {served} can be read", field=f"{path}.contentType")
    named = _CHARSET.search(content_type or "")
    charset = known["charsets"].get(named[1].lower() if named else "utf-8")
    if charset is None:
        raise SchemaViolation(f"{path}.contentType: a character set that is not served", field=f"{path}.contentType")
    if octets is None:
        raise SchemaViolation(f"{path}.data: not base64", field=f"{path}.data")
    try:
        content = octets.decode(charset)
        if _UNPRINTABLE.search(content) or (charset in ("latin-1", "cp1252") and _is_utf8(octets)):
            raise SchemaViolation(f"{path}.data: not text in {charset}: name its character set in contentType",
                                  field=f"{path}.data")
    except UnicodeDecodeError:
        raise SchemaViolation(f"{path}.data: not text in {charset}", field=f"{path}.data") from None
    return Attached(content, charset, known["media_types"][media_type] == "markup")


def _is_utf8(octets: bytes) -> bool:
    """Whether bytes beyond ASCII are valid UTF-8: in a one-byte set no text looks like that by chance."""
    try:
        octets.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return not octets.isascii()
