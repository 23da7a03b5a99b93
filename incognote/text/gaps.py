"""Gaps of a transcript: speech without words, written as in RedactOR, A.5.1."""

from __future__ import annotations

import re
from collections.abc import Iterator

from incognote.text.escapes import Edit

UNWORDED = "\u25ae"
"""The character for something without words, such as a signature on a page. Detectors find nothing in it."""
TOKEN = re.compile(r"<human_timestamp_\(\d{2,3}:[0-5]\d\.\d{2} - \d{2,3}:[0-5]\d\.\d{2}\)>", re.ASCII)
_HEAD = "<human_timestamp_("


def token(start: float, end: float) -> str:
    """Return the token of a gap: `<human_timestamp_(00:02.85 - 00:02.95)>`.

    Args:
        start, end: in seconds.
    """
    return f"{_HEAD}{clock(start)} - {clock(end)})>"


def clock(seconds: float) -> str:
    """Return a time as minutes and seconds: `00:02.85`."""
    hundredths = round(seconds * 100)
    minutes, rest = divmod(hundredths, 6000)
    return f"{minutes:02}:{rest // 100:02}.{rest % 100:02}"


def folded(text: str) -> Iterator[Edit]:
    """Yield an edit for each token that writes `UNWORDED`, so that detectors see no times in it."""
    if _HEAD in text:
        for match in TOKEN.finditer(text):
            yield *match.span(), UNWORDED
