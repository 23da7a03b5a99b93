"""XML that is read without entities of its own, and written so that every character comes back."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from incognote.errors import MalformedRecord

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def parser(target: Any) -> ElementTree.XMLParser:
    """A parser that hands what it meets to a target and refuses a document type, where entities would be declared."""
    target.doctype = _refused
    return ElementTree.XMLParser(target=target)  # noqa: S314  # no document type, so no entity that could expand


def tree(data: bytes) -> ElementTree.Element:
    """The tree of a document.

    Raises:
        MalformedRecord: it is not well-formed, or has a document type.
    """
    try:
        reading = parser(_Builder())
        reading.feed(data)
        root = reading.close()
    except (ElementTree.ParseError, LookupError, ValueError):
        raise MalformedRecord("not well-formed XML") from None
    assert isinstance(root, ElementTree.Element)
    return root


def escaped(text: str, *, attribute: bool = False) -> str:
    """Text as it stands in XML; a carriage return, which a parser would take for part of a line end, as a reference.

    Raises:
        MalformedRecord: as `checked` does.
    """
    text = checked(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")
    if attribute:
        text = text.replace('"', "&quot;").replace("\n", "&#10;").replace("\t", "&#9;")
    return text


def checked(text: str) -> str:
    """The text, if XML can carry it.

    Raises:
        MalformedRecord: it holds a character that XML has no way to carry.
    """
    if _FORBIDDEN.search(text):
        raise MalformedRecord("its text holds a control character or half a surrogate pair, which XML cannot carry")
    return text


class _Builder(ElementTree.TreeBuilder):
    """A builder whose `doctype` can be set."""


def _refused(name: str, public: str | None, system: str | None) -> None:
    raise MalformedRecord("it declares a document type, which is not read")
