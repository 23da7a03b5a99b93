"""Tags of HTML in a source, as the tokenizer of the HTML standard reads them."""

from __future__ import annotations

import re
from typing import NamedTuple

from incognote.formats.markup.flow import decoded

_NAME = re.compile(r"[A-Za-z][^\t\n\f\r />]*")
_GAP = re.compile(r"[\t\n\f\r /]*")
_ATTRIBUTE_NAME = re.compile(r"=?[^\t\n\f\r />=]*")
_EQUALS = re.compile(r"[\t\n\f\r ]*=[\t\n\f\r ]*")
_UNQUOTED = re.compile(r"[^\t\n\f\r >]+")


class Attribute(NamedTuple):
    """An attribute and its place.

    Args:
        name: in lower case.
        start, end: from the name to behind the value and its quote.
        value: the place of the value.
        quote: `"`, `'`, `=` for a value without quotes, or "" for an attribute without a value.
    """

    name: str
    start: int
    end: int
    value: tuple[int, int]
    quote: str


class Tag(NamedTuple):
    """A start or end tag and its place.

    Args:
        name: in lower case; "" if it is not ASCII.
        is_closed: whether it ends in a slash (`<br/>`).
    """

    name: str
    start: int
    end: int
    attributes: list[Attribute]
    is_closed: bool

    def value(self, source: str, name: str) -> str:
        """Return the value of an attribute with its references decoded, or ""."""
        return next((decoded(source, *each.value) for each in self.attributes if each.name == name), "")


def read_tag(source: str, at: int) -> Tag | None:
    """Return the tag at `at`, or None if the source ends in it, so that a browser shows nothing of it."""
    name = _NAME.match(source, at + (2 if source[at + 1] == "/" else 1))
    assert name is not None  # the caller saw a letter
    attributes: list[Attribute] = []
    position = name.end()
    while True:
        gap = _GAP.match(source, position)
        assert gap is not None  # the pattern also matches the empty string
        if gap.end() == len(source):
            return None
        if source[gap.end()] == ">":
            lower = name[0].lower() if name[0].isascii() else ""
            return Tag(lower, at, gap.end() + 1, attributes, gap[0].endswith("/"))
        word = _ATTRIBUTE_NAME.match(source, gap.end())
        assert word is not None
        position = word.end()
        value, quote = (position, position), ""
        if equals := _EQUALS.match(source, position):
            first = source[equals.end() : equals.end() + 1]
            if first in ('"', "'"):
                close = source.find(first, equals.end() + 1)
                if close < 0:
                    return None
                value, quote, position = (equals.end() + 1, close), first, close + 1
            elif unquoted := _UNQUOTED.match(source, equals.end()):
                value, quote, position = unquoted.span(), "=", unquoted.end()
            else:
                position = equals.end()
                value = (position, position)
        attributes.append(Attribute(word[0].lower(), word.start(), position, value, quote))


def raw_end(source: str, name: str, start: int) -> tuple[int, int]:
    """Return where the content of an element without markup in it ends, and where its end tag ends."""
    match = re.compile(rf"</{name}(?=[\t\n\f\r />])", re.IGNORECASE).search(source, start)
    if match is None:
        return len(source), len(source)
    tag = read_tag(source, match.start())
    return match.start(), tag.end if tag else len(source)
