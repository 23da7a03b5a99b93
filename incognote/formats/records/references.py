"""The characters of XML as they are written: references, and new words for a place in a document."""

from __future__ import annotations

import re
from collections.abc import Iterator

_REFERENCE = re.compile(r"&(?:#(?P<decimal>[0-9]+)|#x(?P<hex>[0-9A-Fa-f]+)|(?P<name>[a-z]+));")
_PREDEFINED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_NO_CHARACTER = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, section 2.2


def unescaped(value: str) -> str:
    """Return well-formed characters or an attribute value with its references resolved."""
    return _REFERENCE.sub(_resolved, value)


def resolved(source: str, start: int, end: int, cdata: bool = False) -> Iterator[tuple[str, int, int, bool]]:
    """Yield the characters of `start:end` of well-formed XML, with the position of each stretch.

    Yields:
        The characters, where they begin and end, and whether they are one reference, so that they are not as written.
    """
    while start < end:
        reference = None if cdata else _REFERENCE.search(source, start, end)
        stop = reference.start() if reference else end
        if stop > start:
            yield source[start:stop], start, stop, False
        if reference:
            yield _resolved(reference), *reference.span(), True
            stop = reference.end()
        start = stop


def escaped(new: str, encoding: str, *, cdata: bool = False, attribute: bool = False) -> str:
    """Return words as XML for their place. Characters that XML does not allow become U+FFFD.

    Args:
        encoding: the encoding of the file. Characters that it cannot represent become character references.
    """
    new = _NO_CHARACTER.sub("\ufffd", new)
    if cdata:
        new = new.replace("]]>", "]]]]><![CDATA[>")
        return "".join(c if _fits(c, encoding) else f"]]>&#{ord(c)};<![CDATA[" for c in new)
    new = new.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    if attribute:
        new = re.sub(r"[\t\n\r]", " ", new).replace('"', "&quot;").replace("'", "&#39;")
    return new.encode(encoding, "xmlcharrefreplace").decode(encoding)


def _fits(character: str, encoding: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _resolved(reference: re.Match[str]) -> str:
    """Return the character of a reference in well-formed XML."""
    if reference["name"]:
        return _PREDEFINED[reference["name"]]
    return chr(int(reference["decimal"]) if reference["decimal"] else int(reference["hex"], 16))
