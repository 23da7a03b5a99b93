"""HL7 v2 messages."""

from __future__ import annotations

from collections.abc import Sequence

from incognote.formats.registry import named

from . import Sample
from .ours import PS

ESCAPES = str.maketrans({
    "|": r"\F\\"[:-1], "^": r"\S\\"[:-1], "&": r"\T\\"[:-1], "~": r"\R\\"[:-1], "\\": r"\E\\"[:-1],
    "\n": r"\.br\\"[:-1], "\r": r"\X0D\\"[:-1],
})


def message(*segments: str, end: str = "\r", charset: str = "UNICODE UTF-8") -> bytes:
    """Return an ORU message with these segments after its header."""
    header = rf"MSH|^~\&|||||20250309||ORU^R01|||2.5||||||{charset}"
    return "".join(segment + end for segment in (header, *segments)).encode()


def _messages(texts: Sequence[str]) -> bytes:
    ends = ("\r", "\n", "\r\n")
    return b"".join(
        message(f"OBX|1|FT|||{text.translate(ESCAPES)}", end=ends[i % 3])
        for i, text in enumerate(texts))


SAMPLES = (
    Sample(
        named("hl7"), _messages,
        [
            (message("OBX|1|TX|||Jos\xe9").replace("é".encode(), b"\xe9"), "encoding"), (PS, "unsupported-format"),
            (b"MSH|^~\\&|A\rseen by Dr. Carter\r", "malformed"), (b"MSH|^^\\&|A\r", "malformed"),
            (message("ZPI|1|Doe"), "schema-violation"), (b"seen by Dr. Carter\r", "malformed"),
        ],
        many=True,
    ),
)
