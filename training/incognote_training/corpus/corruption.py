"""Corruptions of texts: scanning, capitals, hurried typing, line wrapping, wrong encodings.

Each kind makes `edits.Edit`s, so that spans stay exact in every case.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

from incognote.evaluation.formats.document import LabeledSpan
from incognote_training.corpus.document import Document
from incognote_training.corpus.edits import Edit, edited

_SCANNED = {
    "l": "1I|", "1": "lI", "I": "l1|", "O": "0", "0": "Oo", "o": "0", "S": "5", "5": "S", "B": "8", "8": "B", "Z": "2",
    "2": "Z", "g": "9q", "6": "b", "e": "c", "c": "e", "h": "b", "n": ("ri",), "m": ("rn",), "u": ("ii",), "t": "f",
    "G": "6", ".": ",", ",": ".", "a": "o", "D": "O", "i": "j!", "f": "t", "y": "v",
}  # fmt: skip
_PAIRS = {"rn": "m", "cl": "d", "vv": "w", "li": "h", "ii": "u", "nn": "rm"}
_KEYS = {
    "a": "sq", "b": "vn", "c": "xv", "d": "sf", "e": "wr", "f": "dg", "g": "fh", "h": "gj", "i": "uo", "j": "hk",
    "k": "jl", "l": "k;", "m": "n,", "n": "bm", "o": "ip", "p": "o[", "q": "wa", "r": "et", "s": "ad", "t": "ry",
    "u": "yi", "v": "cb", "w": "qe", "x": "zc", "y": "tu", "z": "x",
}  # fmt: skip
_WORD = re.compile(r"[^\W\d_]{4,}")
_MARK = re.compile(r"(?<!\d)[,.;:'](?!\d)|[,.;:'](?=\s|$)")
_BLANK = re.compile(r"(?<=\S) (?=\S)")
_GAP = re.compile(r"  +")

Corrupt = Callable[[str, Random], Iterator[Edit]]


def scanned(text: str, random: Random) -> Iterator[Edit]:
    """Letters confused by optical character recognition."""
    rate = random.choice((0.006, 0.015, 0.03))
    for at, sign in enumerate(text):
        if random.random() < rate:
            pair = _PAIRS.get(text[at : at + 2])
            if pair and random.random() < 0.5:
                yield Edit(at, at + 2, pair)
            elif sign in _SCANNED:
                yield Edit(at, at + 1, random.choice(_SCANNED[sign]))
            elif sign == " ":
                yield Edit(at, at + 1, random.choice(("", "  ", " ")))


def mistyped(text: str, random: Random) -> Iterator[Edit]:
    """Typing errors."""
    rate = random.choice((0.01, 0.025, 0.05))
    for word in _WORD.finditer(text):
        if random.random() >= rate:
            continue
        at = random.randrange(word.start(), word.end() - 1)
        one, two = text[at], text[at + 1]
        slip = random.randrange(4)
        if slip == 0 and one != two:
            yield Edit(at, at + 2, two + one)
        elif slip == 1:
            yield Edit(at, at + 1, "")
        elif slip == 2:
            yield Edit(at, at + 1, one + one)
        else:
            yield Edit(at, at + 1, random.choice(_KEYS.get(one.lower(), one)))


def unpunctuated(text: str, random: Random) -> Iterator[Edit]:
    """Punctuation marks left out."""
    rate = random.choice((0.3, 0.7, 1.0))
    for mark in _MARK.finditer(text):
        if random.random() < rate:
            yield Edit(mark.start(), mark.end(), "")


def wrapped(text: str, random: Random) -> Iterator[Edit]:
    """Lines broken at a width, with or without an indent."""
    width = random.randint(38, 84)
    indent = random.choice(("\n", "\n", "\n", "\n  ", "\r\n", "\n    "))
    begin, last = 0, -1
    for at, sign in enumerate(text):
        if sign == "\n":
            begin, last = at + 1, -1
        elif sign == " ":
            last = at
        if at - begin >= width and last > begin:
            yield Edit(last, last + 1, indent)
            begin, last = last + 1, -1


def respaced(text: str, random: Random) -> Iterator[Edit]:
    """Words joined or split, and spaces doubled or replaced by tabs."""
    joined, doubled = random.choice((0.0, 0.01, 0.03)), random.choice((0.0, 0.02))
    for blank in _BLANK.finditer(text):
        chance = random.random()
        if chance < joined:
            yield Edit(blank.start(), blank.end(), "")
        elif chance < joined + doubled:
            yield Edit(blank.start(), blank.end(), random.choice(("  ", "\t", "\u00a0", "   ")))
    if random.random() < 0.4:
        for word in _WORD.finditer(text):
            if random.random() < 0.015:
                at = random.randrange(word.start() + 1, word.end())
                yield Edit(at, at, " ")


def tabbed(text: str, random: Random) -> Iterator[Edit]:
    """Gaps replaced by tabs, or closed."""
    to = random.choice(("\t", "\t\t", " ", "      "))
    for gap in _GAP.finditer(text):
        yield Edit(gap.start(), gap.end(), to)
    for at, sign in enumerate(text):
        if sign == ":" and text[at + 1 : at + 2] == " " and random.random() < 0.5:
            yield Edit(at + 1, at + 2, random.choice(("\t", "", "   ")))


def misdecoded(text: str, random: Random) -> Iterator[Edit]:
    """UTF-8 decoded with a wrong encoding, or letters that a system could not represent."""
    kind = random.randrange(5)
    for at, sign in enumerate(text):
        if sign == "'" and kind < 2:
            sign = "’"
        if sign.isascii():
            continue
        if kind == 0:
            yield Edit(at, at + 1, sign.encode().decode("cp1252", errors="replace"))
        elif kind == 1:
            yield Edit(at, at + 1, sign.encode().decode("latin-1").replace("\x99", "").replace("\x80", "") or "?")
        elif kind == 2:
            yield Edit(at, at + 1, random.choice(("?", "\ufffd")))
        elif kind == 3:
            bare = "".join(c for c in unicodedata.normalize("NFKD", sign) if c.isascii())
            yield Edit(at, at + 1, bare or "?")
        else:
            yield Edit(at, at + 1, f"&#{ord(sign)};")


def escaped(text: str, random: Random) -> Iterator[Edit]:
    """Line breaks as `\\n` or `<br>`, and ampersands as entities, as in an export."""
    ends = random.choice(("\\n", "<br>", "<br/>\n", " | ", "\\.br\\", "~"))
    for at, sign in enumerate(text):
        if sign == "\n":
            yield Edit(at, at + 1, ends)
        elif sign == "&" and random.random() < 0.8:
            yield Edit(at, at + 1, "&amp;")


_KINDS: tuple[tuple[Corrupt, float], ...] = (
    (scanned, 2.0), (mistyped, 2.5), (unpunctuated, 1.5), (wrapped, 2.5), (respaced, 1.5), (tabbed, 1.0),
    (misdecoded, 1.0), (escaped, 0.8),
)  # fmt: skip


def corrupted(document: Document, random: Random) -> Document:
    """The document with one to three corruptions, or with all letters in one case."""
    text, spans = document.text, document.spans
    chance = random.random()
    if chance < 0.34:
        text = _cased(text, str.upper if chance < 0.15 else str.lower)
        if random.random() < 0.5:
            return replace(document, text=text)
    kinds, weights = zip(*_KINDS, strict=True)
    for kind in dict.fromkeys(random.choices(kinds, weights, k=random.choice((1, 1, 1, 2, 2, 3)))):
        text, spans = edited(text, spans, kind(text, random))
    return replace(document, text=text, spans=_trimmed(text, spans))


def _cased(text: str, way: Callable[[str], str]) -> str:
    """Change the case character by character. A character that would become two (ß) stays."""
    return "".join(made if len(made := way(sign)) == 1 else sign for sign in text)


def _trimmed(text: str, spans: tuple[LabeledSpan, ...]) -> tuple[LabeledSpan, ...]:
    """Trim white space that an edit may have left at the spans' edges."""
    made = []
    for span in spans:
        words = text[span.start : span.end]
        start = span.start + len(words) - len(words.lstrip())
        made.append(span._replace(start=start, end=start + len(words.strip())))
    return tuple(made)
