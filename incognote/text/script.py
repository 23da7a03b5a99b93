"""Find letters of non-Latin scripts in a text: their position, the number of words, and the script.

The ranges follow the Unicode block list (Unicode 16.0). Digits, punctuation and symbols are not letters. Fullwidth
Latin, phonetic and mathematical letters count as Latin.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

_BLOCKS = (
    (0x0370, "Greek"), (0x0400, "Cyrillic"), (0x0530, "Armenian"), (0x0590, "Hebrew"), (0x0600, "Arabic"),
    (0x0700, "Syriac"), (0x0750, "Arabic"), (0x0780, "Thaana"), (0x07C0, "N'Ko"), (0x0800, ""), (0x0860, "Syriac"),
    (0x0870, "Arabic"), (0x0900, "Devanagari"), (0x0980, "Bengali"), (0x0A00, "Gurmukhi"), (0x0A80, "Gujarati"),
    (0x0B00, "Odia"), (0x0B80, "Tamil"), (0x0C00, "Telugu"), (0x0C80, "Kannada"), (0x0D00, "Malayalam"),
    (0x0D80, "Sinhala"), (0x0E00, "Thai"), (0x0E80, "Lao"), (0x0F00, "Tibetan"), (0x1000, "Burmese"),
    (0x10A0, "Georgian"), (0x1100, "Hangul"), (0x1200, "Ethiopic"), (0x13A0, "Cherokee"), (0x1400, ""),
    (0x1780, "Khmer"), (0x1800, "Mongolian"), (0x18B0, ""), (0x1C80, "Cyrillic"), (0x1C90, "Georgian"), (0x1CC0, ""),
    (0x1F00, "Greek"), (0x2C00, ""), (0x2D00, "Georgian"), (0x2D30, ""), (0x2D80, "Ethiopic"), (0x2DE0, "Cyrillic"),
    (0x2E80, "Han"), (0x3040, "Kana"), (0x3100, "Han"), (0x3130, "Hangul"), (0x3190, "Han"), (0x31F0, "Kana"),
    (0x3200, "Han"), (0xA000, ""), (0xA640, "Cyrillic"), (0xA6A0, ""), (0xA8E0, "Devanagari"), (0xA900, ""),
    (0xA960, "Hangul"), (0xA980, ""), (0xA9E0, "Burmese"), (0xAA00, ""), (0xAA60, "Burmese"), (0xAA80, ""),
    (0xAB00, "Ethiopic"), (0xAB70, "Cherokee"), (0xABC0, ""), (0xAC00, "Hangul"), (0xF900, "Han"), (0xFB07, "Armenian"),
    (0xFB1D, "Hebrew"), (0xFB50, "Arabic"), (0xFF66, "Kana"), (0xFFA0, "Hangul"), (0x10000, ""),
    (0x1EE00, "Arabic"), (0x20000, "Han"),
)  # fmt: skip
"""The start of each block of letters, with its script. Rare scripts have no name: ""."""
_STARTS = [start for start, _ in _BLOCKS]

_OTHER = (
    "\u0370-\u1cff\u1f00-\u1fff\u2c00-\u2c5f\u2c80-\u2dff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3040-\ua71f"
    "\ua800-\uab2f\uab70-\ud7ff\uf900-\ufaff\ufb07-\ufdff\ufe70-\ufefc\uff66-\uffdc"
    "\U00010000-\U0001cfff\U0001e800-\U0001e95f\U0001ee00-\U0001eeff\U00020000-\U0003ffff"
)
_ANY = re.compile(f"[{_OTHER}]")
_RUN = re.compile(f"[{_OTHER}]+(?:[ \\xa0.\\-'’ʼ·・\\u200b-\\u200f]{{1,3}}[{_OTHER}]+)*")
_WORD = re.compile(f"[{_OTHER}]+")
_UNSPACED = {"Han": 2, "Kana": 2, "Thai": 5, "Lao": 5, "Khmer": 5, "Burmese": 5, "Tibetan": 5}
"""Scripts written without spaces, with the approximate number of letters per word."""


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive words in non-Latin scripts.

    Args:
        start, end: code points of the text.
        script: the script of most letters; "" for a rare one.
        words: the number of words; initials do not count.
        letters: the number of letters.
    """

    start: int
    end: int
    script: str
    words: int
    letters: int


def script_of(letter: str) -> str:
    """Return the script of a non-Latin letter."""
    return _BLOCKS[max(0, bisect_right(_STARTS, ord(letter)) - 1)][1]


def runs(text: str) -> Iterator[Run]:
    """Yield every run of a text, in order. One or two Greek letters are symbols (β-hCG, κ/λ, γδ), not words."""
    if text.isascii() or not _ANY.search(text):
        return
    for found in _RUN.finditer(text):
        words, letters = 0, 0
        scripts: dict[str, int] = {}
        for word in _WORD.findall(found[0]):
            here = [script_of(c) for c in word if c.isalpha()]
            if not here or (len(here) < 3 and set(here) == {"Greek"}):
                continue
            for script in here:
                scripts[script] = scripts.get(script, 0) + 1
            letters += len(here)
            spaced = _UNSPACED.get(here[0])
            words += -(-len(here) // spaced) if spaced else len(here) > 1
        if scripts:
            script = "Kana" if "Kana" in scripts else max(scripts, key=lambda name: scripts[name])
            yield Run(found.start(), found.end(), script, words, letters)
