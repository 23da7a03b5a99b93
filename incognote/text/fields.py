"""Cells and parameters: words and numbers that stand in fields beside one another and are one name, number or address.

What it needs to know of the language it asks a `Vocabulary`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from incognote.text.escapes import Edit
from incognote.text.vocabulary import Vocabulary, labels

_BROKEN = re.compile(r"(?<![^\W_])([^\W\d_]{2,24})([ ]?\|[ ]?|\t)([^\W\d_]{2,24})(?![^\W_])")
_BETWEEN = r"(?:[ ]?\|[ ]?|[\"'][,;][\"']|[,;\t])"
_ENDS = r"(?=[\"',;|\t\r\n]|[ ]\||\Z)"
_WORD = r"[^\W\d_](?:[^\W\d_]|['’-]){1,24}"
_RIGHT = re.compile(rf"(?:\|[ ]?|[,;][\"']?|\t)({_WORD}){_ENDS}")  # begins with a sign: its search is fast
_LEFT = re.compile(rf"(?:\A|[\"',;|\t\n]|\|[ ])({_WORD})[ \"']?\Z")
_NUMBER = re.compile(
    r"(?<=[\"'])([2-9]\d\d)([\"'][,;][\"'])(\d{2,3})(\2)(\d{4})(?=[\"'])"
    r"|(?<=[,;|\t])([2-9]\d\d)([,;|\t])([2-9]\d\d)(\7)(0\d{3})(?=[,;|\t\r\n]|\Z)"
)
_SEAMS = (b"a | A", b"a|A", b"a\tA", b"0|A", b"0 | A", b"0\tA", b"|000|", b"\t000\t")
_NUMBERED = (b"|000|", b",000,", b";000;", b"\t000\t")
_HOUSED = (b"0|A", b"0 | A", b"0,A", b"0;A", b"0\tA", b'0","A', b'0";"A')


def cells(text: str, words: Vocabulary) -> Iterator[Edit]:
    """Names that the line between two cells divides."""
    at = 0
    while match := _BROKEN.search(text, at):
        left, right = match[1].lower(), match[3].lower()
        at = match.start(3)
        if not match[3].islower():
            continue
        name = words.name(left + right) > 1
        if match[1][0].isupper() and labels().NAMED.search(text[max(0, match.start() - 12) : match.start()]):
            broken = name or not words.known(right)
        else:
            broken = name and match[2] != "\t" and not (words.known(left) and words.known(right))
        if broken:
            yield *match.span(2), ""


def together(text: str, kinds: bytes, words: Vocabulary) -> Iterator[Edit]:
    """Cells that are a name, a number or an address together, and parameters that a name is given in.

    The words of a name stay in their cells: their edits change nothing and say that they are no ordinary words.

    Args:
        kinds: the shape of the text.
    """
    if "&" in text and "=" in text:
        for match in _parameter().finditer(text):
            yield *match.span(1), match[1][0].upper() + match[1][1:]
    quoted = '"' in text and ('";"' in text or '","' in text)
    piped = ("|" in text or "\t" in text) and any(seam in kinds for seam in _SEAMS)
    if not (quoted or piped or b"a,A" in kinds or (";" in text and b"a;A" in kinds)):
        return
    for match in _RIGHT.finditer(text):
        left = _LEFT.search(text[max(match.start() - 28, 0) : match.start()]) if match[1][0].isupper() else None
        if left and _name(left[1], match[1], words):
            start = max(match.start() - 28, 0) + left.start(1)
            yield start, start + len(left[1]), left[1]
            yield *match.span(1), match[1]
    for match in _NUMBER.finditer(text) if quoted or any(sign in kinds for sign in _NUMBERED) else ():
        first = 2 if match[2] else 7
        yield *match.span(first), "-"
        yield *match.span(first + 2), "-"
    for match in _address().finditer(text) if any(sign in kinds for sign in _HOUSED) else ():
        yield *match.span(2), " "
        yield *match.span(4), " "


def _name(left: str, right: str, words: Vocabulary) -> bool:
    """Whether the words of two cells are a given name and a surname, in either order."""
    if not (left[0].isupper() and right[0].isupper()):
        return False
    weights = [0 if words.usual(low) else words.name(low) for low in (left.lower(), right.lower())]
    return max(weights) > 4 and min(weights) > 0


@cache
def _address() -> re.Pattern[str]:
    """The number of a house, the name of a street and its last word, in three cells or in two."""
    return re.compile(
        rf"(?<![^\"',;|\t\n ])(?<![^|][ ])(\d{{1,5}})({_BETWEEN})"
        rf"([A-Z][a-z]{{2,24}}(?:[ ][A-Z][a-z]{{2,24}})?)({_BETWEEN})(?:{labels().STREET})[.]?{_ENDS}"
    )


@cache
def _parameter() -> re.Pattern[str]:
    return re.compile(rf"(?i)[?&]{labels().PARAMETER}=({_WORD})(?=[&;\s#,.\"'<>)]|\Z)")
