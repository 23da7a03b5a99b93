"""Shared strings: the words of cells, which many cells can use, and the rules for runs of formatted words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from incognote.errors import MalformedRecord
from incognote.formats.base import Change
from incognote.formats.encoding import Codec
from incognote.formats.office.rules import is_font
from incognote.formats.xlsx.closed import SPACES, elements, is_closed
from incognote.formats.xlsx.strings import StretchText, decoded, phonetic_of, stretches_of

_PLAIN = re.compile(
    r"\s*<(?:\w+:)?t(?:\s+xml:space=[\"'](?:preserve|default)[\"'])?\s*(?:/>|>[^<]*</(?:\w+:)?t\s*>)\s*"
)
_TAG = re.compile(
    r"""</?(?:\w+:)?(?P<name>\w+)(?P<attributes>(?:\s+[\w:]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*/?>"""
)
_ATTRIBUTE = re.compile(r"""\s+([\w:]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')""")
_RUN = frozenset(
    "t r rPr rFont charset family b i strike outline shadow condense extend color sz u vertAlign scheme".split()
)
_FONT = "Arial"


class SharedStrings:
    """The shared strings of a workbook.

    Args:
        source, codec: the characters of the part and its encoding.

    Attributes:
        items: the position of the content of each string.
        fixed: the changes that are made to every document.

    Raises:
        MalformedRecord: the part has an element that shared strings cannot have.
    """

    def __init__(self, source: str = "", codec: Codec | None = None) -> None:
        self.source, self.codec = source, codec or Codec()
        self.items: list[tuple[int, int]] = []
        self.fixed: list[Change] = []
        self.prefix = ""
        self._shown: dict[int, str] = {}
        if source:
            self._read()

    def shown(self, index: int) -> str:
        """Return the words of a string."""
        if index not in self._shown:
            start, end = self.items[index]
            inner = self.source[start:end]
            self._shown[index] = "".join(decoded(inner[a:b]) for a, b in stretches_of(inner))
        return self._shown[index]

    def _read(self) -> None:
        root = re.search(r"<((?:\w+:)?)sst\b(?:[^<>\"']|\"[^\"]*\"|'[^']*')*?(/)?>", self.source)
        if root is None:
            raise MalformedRecord("shared strings with another root. Save the workbook again")
        self.prefix = root[1]
        self.fixed += self._open_attributes(root)
        if root[2]:
            return
        p = re.escape(root[1])
        item = re.compile(
            rf"\s*(?:<{p}si\s*(?:/>|>(?P<inner>.*?)</{p}si\s*>)|(?P<more><{p}extLst\b.*?</{p}extLst\s*>))", re.DOTALL
        )
        at = root.end()
        while match := item.match(self.source, at):
            at = match.end()
            if match["more"] is not None:
                self.fixed.append((*match.span("more"), ""))
                continue
            start, end = match.span("inner") if match["inner"] is not None else (at, at)
            self.items.append((start, end))
            self.fixed += rich_fixes(self.source, start, end)
        if not re.fullmatch(rf"\s*</{p}sst\s*>\s*", self.source[at:]):
            raise MalformedRecord("shared strings with an element that has no rule. Save the workbook again")

    def _open_attributes(self, root: re.Match[str]) -> Iterator[Change]:
        """Yield the removals of the attributes of the root, except for counts and declarations of namespaces."""
        for attribute in _ATTRIBUTE.finditer(self.source, root.start(), root.end()):
            name, value = attribute[1], attribute[2] if attribute[2] is not None else attribute[3]
            kind, _, prefix = name.partition(":")
            if kind == "xmlns":
                stays = SPACES.get(prefix) == value or (prefix and f"{prefix}:" == self.prefix)
            else:
                stays = name in ("count", "uniqueCount") and is_closed(name, value)
            if not stays:
                yield *attribute.span(), ""


def rich_fixes(source: str, start: int, end: int) -> list[Change]:
    """Return the changes that every document makes to a string item: phonetic hints and open attributes are removed.

    Raises:
        MalformedRecord: it has an element that runs of words cannot have, or words outside of them.
    """
    if _PLAIN.fullmatch(source, start, end):
        return []
    inner = source[start:end]
    fixed = [(start + a, start + b, "") for a, b in phonetic_of(inner)]
    for a, b, _ in fixed:
        inner = inner[: a - start] + " " * (b - a) + inner[b - start :]
    words = set(stretches_of(inner))
    at = 0
    for tag in _TAG.finditer(inner):
        if tag["name"] not in _RUN or (inner[at : tag.start()].strip() and (at, tag.start()) not in words):
            raise MalformedRecord("formatted words with an element that has no rule. Save the workbook again")
        for attribute in _ATTRIBUTE.finditer(inner, *tag.span("attributes")):
            value = attribute[2] if attribute[2] is not None else attribute[3]
            if tag["name"] == "rFont" and attribute[1] == "val":
                if not is_font(decoded(value)):
                    fixed.append((start + attribute.start(), start + attribute.end(), f' val="{_FONT}"'))
            elif attribute[1] not in elements()[tag["name"]] or not is_closed(attribute[1], value):
                fixed.append((start + attribute.start(), start + attribute.end(), ""))
        at = tag.end()
    if inner[at:].strip():
        raise MalformedRecord("words outside of a run. Save the workbook again")
    return fixed


def rich_text(source: str, codec: Codec, start: int, end: int) -> StretchText:
    """Return the words of a string item as a text of its part."""
    text = StretchText(source, codec)
    for a, b in stretches_of(source[start:end]):
        text.add(start + a, start + b)
    return text
