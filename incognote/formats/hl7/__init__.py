"""HL7 v2 messages, versions 2.1 to 2.9, in the encoding ER7."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from incognote.formats.base import Document, Format, Unreadable


def _read(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
    from incognote.formats.hl7.message import read

    return read(stream, media_type)


def _second(data: bytes) -> Iterable[str]:
    from incognote.formats.hl7.second import second

    return second(data)


def _kept(data: bytes) -> bytes:
    from incognote.formats.hl7.message import kept

    return kept(data)


FORMATS = (
    Format(
        "hl7", ("application/hl7-v2", "x-application/hl7-v2+er7"), (".hl7",), _read, contents=("HL7 v2 message",),
        second=_second, kept=_kept,
    ),
)
