"""Markdown: the words as a reader sees them, with the HTML in it read by the rules of pages."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO

from incognote.formats.base import Change, Document, FieldAction, Format, Unreadable, splice
from incognote.formats.encoding import Codec, announced
from incognote.formats.html import HtmlDocument, second_of
from incognote.formats.markup.flow import CELL, FlowLine
from incognote.formats.markup.marks import Mark, MarkdownMarks
from incognote.formats.markup.page import HtmlPage, outermost
from incognote.formats.text import read_whole

_SIGNS = re.compile(r"[\\`*<>&|~]|(?<!\w)_|_(?!\w)")
_YAML = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2}))|\"")
_FAR = 1000
_BRACKETS = re.compile(r"[\[\]]")
# What begins a definition, and what is one to any reader: CommonMark allows it in a list and over two lines.
_BEGINS = re.compile(r"^[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(\[)(?!\^)(?:[^\[\]\\]|\\.)+\]:", re.MULTILINE)
_DEFINES = re.compile(
    r"[ \t]*(?:\r?\n[ \t>]*)?(?:<[^<>\n]*>|[^\s<]\S*)(?:[ \t]+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?[ \t]*\r?$",
    re.MULTILINE,
)


class MarkdownPage(HtmlPage):
    """A text in Markdown: HTML is markup in it, and the words between its tags have marks of their own."""

    def __init__(self, source: str) -> None:
        self._marks = MarkdownMarks(source)
        self._outer = list(outermost(self._marks.marks))
        self._read_marks: list[tuple[int, int]] = []
        self._stretches: list[tuple[int, int]] = []
        super().__init__(source)
        self.unquoted += self._marks.values
        self.unquoted.sort()

    def escape(self, new: str, context: str) -> str:
        if context in ("markdown", "label", "title"):
            new = _SIGNS.sub(r"\\\g<0>", new)
            if context == "title":
                return new.replace('"', "&quot;").replace("'", "&#39;").replace("(", "&#40;").replace(")", "&#41;")
            return _BRACKETS.sub(r"\\\g<0>", new) if context == "label" else new
        if context in ("code", "matter"):
            return new.replace("`", "'") if context == "code" else new.replace("\\", "/").replace('"', "'")
        return super().escape(new, context)

    def _read(self) -> None:
        super()._read()
        self.changes += [(start, end, "#") for start, end in self._marks.links if self._is_read(start, end)]
        for start, end, context in self._marks.asides:
            if not self._is_read(start, end):
                continue
            line = FlowLine()
            inner = [mark for mark in self._marks.marks if start <= mark.start and mark.end <= end]
            self._emit(line, start, end, inner, context)
            self._lines.append(line)

    def _is_read(self, start: int, end: int) -> bool:
        """Whether a part is in a mark that was read as one, and not in a tag that began before it."""
        i = bisect_left(self._read_marks, (start + 1,)) - 1
        return i >= 0 and end <= self._read_marks[i][1]

    def _is_word(self, at: int) -> bool:
        """Whether a character is in the words between tags."""
        i = bisect_left(self._stretches, (at + 1,)) - 1
        return i >= 0 and at < self._stretches[i][1]

    def _less(self, at: int) -> int:
        while (found := self._source.find("<", at)) >= 0:
            i = bisect_left(self._outer, (found + 1,)) - 1
            if i < 0 or self._outer[i].end <= found:
                return found
            at = self._outer[i].end
        return -1

    def _context(self) -> str:
        return "markdown"

    def _words(self, start: int, end: int) -> None:
        first = bisect_left(self._outer, (start,))
        self._stretches.append((start, end))
        marks = self._outer[first : bisect_left(self._outer, (end,))]
        self._read_marks += [mark[:2] for mark in marks]
        self._emit(self._line, start, end, marks, "markdown")

    def _emit(self, line: FlowLine, start: int, end: int, marks: Sequence[Mark], context: str) -> None:
        """Add words and the marks in them to a line."""
        at = start
        for mark in marks:
            line.words(self._source, at, mark.start, context, exact=True)
            at = mark.end
            if mark.kind == "cell":
                line.separate(CELL)
            elif mark.kind in ("escape", "break"):
                character = "\n" if mark.kind == "break" else self._source[mark.end - 1]
                line.put(character, mark.start, mark.end, atomic=True, context=context)
            elif mark.kind != "drop":
                self._literal(line, mark)
        line.words(self._source, at, end, context, exact=True)

    def _literal(self, line: FlowLine, mark: Mark) -> None:
        """Add code, or YAML with its escapes decoded and without the quotes around its values."""
        at = mark.start
        unread = set(self._marks.quotes)
        for found in _YAML.finditer(self._source, mark.start, mark.end) if mark.kind == "matter" else ():
            if not found[1] and not found[2] and found.start() not in unread:
                continue
            line.put(self._source[at : found.start()], at, found.start(), context=mark.kind)
            if found[1] or found[2]:
                line.put(chr(int(found[1] or found[2], 16)), *found.span(), atomic=True, context=mark.kind)
            at = found.end()
        line.put(self._source[at : mark.end], at, mark.end, context=mark.kind)

    def emptied(self, edits: Sequence[Change]) -> Iterator[Change]:
        edits = sorted(edits)
        starts = [edit[0] for edit in edits]

        def within(start: int, end: int) -> list[Change]:
            own = edits[bisect_left(starts, start) : bisect_left(starts, end)]
            return [(a - start, b - start, new) for a, b, new in own]

        for start, inner, outer, end in self._marks.pairs:
            own = within(inner, outer)
            if own and not splice(self._source[inner:outer], own).strip("*_~ "):
                yield start, inner, ""
                yield outer, end, ""
        for opening in self._marks.openings:
            i = bisect_left(starts, opening)
            if i == len(starts) or starts[i] > opening + _FAR or not self._is_word(opening):
                continue
            if "\n\n" not in self._source[opening : starts[i]]:
                yield opening, opening, "\\"
        for start, end in self._marks.autolinks:
            if within(start + 1, end - 1):
                yield start, start + 1, ""
                yield end - 1, end, ""


    def undefined(self, edits: Sequence[Change]) -> Iterator[Change]:
        """Yield edits, with an escape before each bracket that would begin a definition, which readers do not see.

        `Jane Doe: fine` becomes `\\[PERSON]: fine`.
        """
        edits = sorted(edits, key=lambda edit: edit[:2])
        starts: list[int] = []  # of the new words of each edit, in the new source
        grown = 0
        for start, end, words in edits:
            starts.append(start + grown)
            grown += len(words) - (end - start)
        new = splice(self._source, edits)
        escapes: dict[int, list[Change]] = {}
        for found in _BEGINS.finditer(new):
            definition = _DEFINES.match(new, found.end())
            if definition is None or bisect_left(starts, found.start()) == bisect_left(starts, definition.end()):
                continue
            bracket = found.start(1)
            i = bisect_right(starts, bracket) - 1
            start, end, words = edits[i] if i >= 0 else (0, 0, "")
            inside = bracket - (starts[i] if i >= 0 else 0)
            at = start if inside < len(words) else end + inside - len(words)
            if at in self._marks.definitions or self._is_literal(at):
                continue
            if inside < len(words):
                escapes.setdefault(i, []).append((inside, inside, "\\"))
            else:
                yield at, at, "\\"
        for i, (start, end, words) in enumerate(edits):
            yield start, end, splice(words, escapes.get(i, ()))

    def _is_literal(self, at: int) -> bool:
        """Whether a place is in code, or in the YAML at the beginning."""
        i = bisect_right(self._outer, at, key=lambda mark: mark.start) - 1
        return i >= 0 and at < self._outer[i].end and self._outer[i].kind in ("code", "matter")


class MarkdownDocument(HtmlDocument):
    """One text in Markdown. Its text has the field ""."""

    page_of = MarkdownPage
    _page: MarkdownPage

    def edits(self, changes: Mapping[str, Sequence[Change]], values: Mapping[FieldAction, str]) -> list[Change]:
        return list(self._page.undefined(super().edits(changes, values)))


def _open(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
    yield read_whole(stream, media_type, MarkdownDocument, ("HTML", "XHTML"))


def second(data: bytes) -> Iterable[str]:
    """Return all text that lxml sees in the page which markdown-it-py makes of a text, and its link definitions."""
    from markdown_it import MarkdownIt

    codec = announced(data[:4]) or Codec()
    source = data[len(codec.mark) :].decode(codec.encoding)
    known: dict[str, dict[str, dict[str, str]]] = {}
    yield from second_of(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(source, known))
    for label, definition in known.get("references", {}).items():
        yield from (label, definition["href"], definition["title"])


FORMATS = (Format("markdown", ("text/markdown",), (".md", ".markdown"), _open, second=second),)
