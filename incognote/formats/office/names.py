"""New names for those that may not stay: the same name always gets the same new one, in all parts of a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from itertools import count

from incognote.formats.office.rules import is_part, rounded, stays

_FORMS: dict[str, Callable[[int], str]] = {
    "name": lambda n: f"Object {n}",
    "theme": lambda n: "Office",
    "font": lambda n: "Arial",
    "style": lambda n: f"Style{n}",
    "style_name": lambda n: f"Style {n}",
    "bookmark": lambda n: f"_Ref{n}",
    "number": lambda n: str(10_000 + n),
    "hexadecimal": lambda n: f"0A0A{n:04X}" if n < 0xFFFF else f"0B{n:06X}",
    "guid": lambda n: f"{{0A0A0A0A-0A0A-4A0A-8A0A-0A0A0A{n:04X}0A}}",
    "relation": lambda n: f"rId{n}",
    "shape": lambda n: f"_x0000_s{n}",
    "gallery": lambda n: "AutoText",
    "program": lambda n: "Package",
    "diagram": lambda n: f"name{n}",
    "format": lambda n: "General",
}
_BOOKMARK = re.compile(r"\b_[A-Za-z]+[0-9]+")
_SAME = frozenset(("theme", "font", "gallery", "program", "format"))


class NewNames:
    """The new names within one file.

    Args:
        taken: whether a name is already in the file.
    """

    def __init__(self, taken: Callable[[str], bool]) -> None:
        self._taken = taken
        self._new: dict[tuple[str, str], str] = {}
        self._numbers: dict[str, count[int]] = {}

    def of(self, kind: str, value: str) -> str | None:
        """Return the new value of an attribute under its rule: the same one if it may stay, None if it is removed."""
        mark = "#" if kind == "shape" and value[:1] == "#" else ""
        if stays(kind, value):
            return value
        if kind in ("geometry", "guide", "instruction"):
            new = self._bookmarked(value) if kind == "instruction" else rounded(value)
            return new if stays(kind, new) else None
        if kind not in _FORMS:
            return None
        known = self._new.get((kind, value[len(mark) :]))
        if known is None:
            known = self._unused(kind)
            self._new[kind, value[len(mark) :]] = known
        return mark + known

    def _bookmarked(self, instruction: str) -> str:
        """Return the instruction of a field with the new names of bookmarks."""
        return _BOOKMARK.sub(lambda found: self.of("bookmark", found[0]) or "", instruction)

    def _unused(self, kind: str) -> str:
        for number in self._numbers.setdefault(kind, count(1)):
            name = _FORMS[kind](number)
            if kind in _SAME or (not self._taken(name) and stays(kind, name)):
                return name
        raise AssertionError("count() does not end")

    def part(self, name: str, others: Collection[str]) -> str:
        """Return the new name of a part, given the names of all parts. A folder or file with a known name keeps it."""
        return "/".join(self._segment(each, others) for each in name.split("/"))

    def _segment(self, segment: str, others: Collection[str]) -> str:
        if is_part(segment):
            return segment
        _, dot, suffix = segment.rpartition(".")
        end = f".{suffix if stays('suffix', suffix) else 'bin'}" if dot else ""
        new = self._new.get(("part", segment))
        if new is None:
            while True:
                number = next(self._numbers.setdefault("part", count(1)))
                new = f"n{number}{end}"
                if not any(f"/{new}/" in f"/{other}/" for other in others):
                    break
            self._new["part", segment] = new
        return new
