"""Rich text."""

from __future__ import annotations

from collections.abc import Sequence

from incognote.formats.registry import named
from incognote.formats.rtf.stretch import encoded

from . import Sample


def _document(texts: Sequence[str]) -> bytes:
    paragraphs = "\\par\r\n".join("\\plain\\f0\\b " + encoded(text, 1) for text in texts)
    return f"{{\\rtf1\\ansi\\deff0{{\\fonttbl{{\\f0\\froman Times New Roman;}}}}\r\n{paragraphs}}}".encode()


SAMPLES = (
    Sample(
        named("rtf"),
        _document,
        [
            (b"Seen by Dr. Carter.", "malformed"),
            (b"%!PS-Adobe-3.0\n", "unsupported-format"),
            (b"{\\rtf1 Seen by Dr. Carter.", "malformed"),
            (b"{\\rtf1 Seen} by Dr. Carter.", "malformed"),
            (b"{\\rtf1\\ansi\\ansicpg54321 Jos\\'e9}", "malformed"),
        ],
    ),
)
