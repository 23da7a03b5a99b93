"""Markdown in a source: the characters that a reader does not see, and the parts that no markup is in."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Kind = Literal["drop", "break", "escape", "cell", "code", "matter"]
_MATTER = re.compile(r"---[ \t]*\r?\n(?P<body>.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_KEY = r"^(?:[\w .-]+:[ \t]+|[ \t]*(?:- +){1,9}+(?![\w .-]*:[ \t]))"
_REST = r"[ \t]*(?:(?<=[ \t])#[^\n\r]*)?\r?$"
_VALUE = re.compile(rf"{_KEY}([^\s\"'\[{{|>#&*!][^\n\r\"\\#]*?){_REST}", re.MULTILINE)
_QUOTED = re.compile(rf"(?:{_KEY}|^(?:[\w .-]|\[[\w ]+\])+:[ \t]+)(\")(?:[^\n\r\"\\]|\\.)*(\"){_REST}", re.MULTILINE)
_FENCE = re.compile(
    r"^[ \t>]*(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)\n(?P<body>.*?)(?:^[ \t>]*(?P=fence)[`~]*[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_CODE = re.compile(
    r"(?<![`\\])(?P<ticks>`+)(?!`)(?P<body>(?:(?!\n[ \t]*\n).){1,400}?)(?<!`)(?P=ticks)(?!`)", re.DOTALL
)
_AUTOLINK = re.compile(r"<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[\w.!#$%&'*+/=?^`{|}~-]+@[\w.-]+)>", re.ASCII)
_ESCAPE = re.compile(r"\\(?P<sign>[!-/:-@\[-`{-~])|\\(?=\r?\n)")
_DEFINITION = re.compile(
    r"^[ \t>]{0,8}\[(?!\^)(?P<label>(?:[^\[\]\\]|\\.)+)\]:(?:[ \t]*|[ \t]*\r?\n[ \t>]*(?=[^\s/]*/\S|<|#))"
    r"(?P<link><[^<>\n]*>|[^\s<\0][^\s\0]*)"
    r"(?:(?:[ \t]+|[ \t]*\r?\n[ \t>]*)(?P<title>\"[^\"]*\"|'[^']*'|\([^()]*\)))?[ \t]*\r?$",
    re.MULTILINE,
)
_INSIDE = r"(?P<text>(?:[^\[\]\\]|\\.|!?\[(?:[^\[\]\\]|\\.)*\](?:\([^()\n]*\))?){0,400})"
_LINK = re.compile(
    rf"!?\[{_INSIDE}\]\([ \t\n]*(?P<link><[^<>\n]*>|(?:[^\s()<>\\]|\\.|\([^\s()]*\))*)"
    r"(?:[ \t\n]+(?P<title>\"[^\"]*\"|'[^']*'|\([^()]*\)))?[ \t\n]*\)",
    re.DOTALL,
)
_REFERENCE = re.compile(rf"!?\[{_INSIDE}\]\[(?P<label>(?:[^\[\]\\]|\\.)*)\]", re.DOTALL)
_LINE_MARK = re.compile(r"(?:\A|\n)[ \t]{0,3}(?:(?:>[ \t]?)+|#{1,6}(?=[ \t])[ \t]*)")
_DELIMITERS = re.compile(r"^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$", re.MULTILINE)
_PIPE = re.compile(r"[ \t]*\|[ \t]*")
_EMPHASIS = tuple(
    re.compile(form, re.DOTALL)
    for form in (
        r"(?<!\*)(\*{3})(?=[^\s*])(?:(?!\n[ \t]*\n).){0,400}?[^\s*](\*{3})(?!\*)",
        r"(?<!\*)(\*\*)(?=[^\s*])(?:(?!\n[ \t]*\n).){0,400}?\S(\*\*)(?!\*)",
        r"(?<!\*)(\*)(?=[^\s*])(?:(?!\n[ \t]*\n)[^*]){0,400}?[^\s*](\*)(?!\*)",
        r"(?<!\w)(_{1,3})(?=[^\s_])(?:(?!\n[ \t]*\n).){0,400}?[^\s_](\1)(?!\w)",
        r"(~~)(?=\S)(?:(?!\n[ \t]*\n).){0,400}?\S(~~)",
    )
)


class Mark(NamedTuple):
    """A part of the source that is not read like the words around it."""

    start: int
    end: int
    kind: Kind


class MarkdownMarks:
    """The marks of a source.

    Attributes:
        marks: in order, an outer one before those in it.
        pairs: of each stretch of emphasis or code, where its signs before and after it begin and end.
        autolinks: the places of addresses in angle brackets.
        links: the places of link destinations.
        definitions: the places of the brackets that begin a definition.
        asides: the places of words that are not shown where they are, with their context: titles and labels of links.
        values: the places of values without quotes in the YAML at the beginning.
        quotes: the places of the quotes around its other values.
        openings: the places of parentheses after brackets that begin no link, but could begin one after an edit.
    """

    def __init__(self, source: str) -> None:
        self._left = source  # without what earlier forms have matched
        self._found: list[Mark] = []
        self._new: list[Mark] = []
        self.pairs: list[tuple[int, int, int, int]] = []
        self.autolinks: list[tuple[int, int]] = []
        self.links: list[tuple[int, int]] = []
        self.definitions: set[int] = set()
        self.asides: list[tuple[int, int, str]] = []
        self.values: list[tuple[int, int]] = []
        self.quotes: list[int] = []
        self.openings: list[int] = []
        self._literal()
        self._links()
        self._tables()
        for found in _LINE_MARK.finditer(self._left):
            self._mark(*found.span(), "break" if found[0][0] == "\n" else "drop")
        for form in _EMPHASIS:
            self._next()
            for found in form.finditer(self._left):
                self._pair(*found.span(1), *found.span(2))
        self._next()
        self.marks = sorted(self._found, key=lambda mark: (mark.start, -mark.end))

    def _mark(self, start: int, end: int, kind: Kind) -> None:
        if start < end:
            self._new.append(Mark(start, end, kind))

    def _pair(self, start: int, inner: int, outer: int, end: int) -> None:
        self.pairs.append((start, inner, outer, end))
        self._mark(start, inner, "drop")
        self._mark(outer, end, "drop")

    def _next(self) -> None:
        """Blank out the new marks, so that no later form matches them. Lines stay, and escapes differ from code."""
        pieces: list[str] = []
        at = 0
        for mark in sorted(self._new):
            if mark.start >= at:
                blank = "\1" if mark.kind == "escape" else "\0"
                pieces += (self._left[at : mark.start], re.sub(r"[^\n]", blank, self._left[mark.start : mark.end]))
                at = mark.end
                self._found.append(mark)
        self._left = "".join((*pieces, self._left[at:]))
        self._new = []

    def _literal(self) -> None:
        """Find the parts without markup, and escaped characters."""
        if matter := _MATTER.match(self._left):
            self._mark(*matter.span(), "matter")
            at = matter.start("body")
            self.values = [(at + value.start(1), at + value.end(1)) for value in _VALUE.finditer(matter["body"])]
            for value in _QUOTED.finditer(matter["body"]):
                self.quotes += (at + value.start(1), at + value.start(2))
        self._next()
        for found in _FENCE.finditer(self._left):
            self._mark(*found.span(), "code")
        self._next()
        for found in _ESCAPE.finditer(self._left):
            self._mark(*found.span(), "escape" if found["sign"] else "drop")
        self._next()
        for found in _CODE.finditer(self._left):
            self._pair(*found.span("ticks"), found.end("body"), found.end())
            self._mark(*found.span("body"), "code")
        self._next()

    def _links(self) -> None:
        labels = set()
        for found in _DEFINITION.finditer(self._left):
            labels.add(_label(found["label"]))
            self.definitions.add(found.start("label") - 1)
            self._aside(found, "label")
            self._mark(*found.span(), "drop")
        self._next()
        for _ in range(2):  # an image may be in a link
            for form in (_LINK, _REFERENCE):
                for found in form.finditer(self._left):
                    if form is _REFERENCE and _label(found["label"] or found["text"]) not in labels:
                        continue
                    self._aside(found, "label" if form is _REFERENCE else "")
                    self._mark(found.start(), found.start("text"), "drop")
                    self._mark(found.end("text"), found.end(), "drop")
                self._next()
        self.openings = [found.start() + 1 for found in re.finditer(r"\]\(", self._left)]
        for found in _AUTOLINK.finditer(self._left):
            self.autolinks.append((found.start(), found.end()))
            self._mark(found.start(), found.start() + 1, "drop")
            self._mark(found.start() + 1, found.end() - 1, "code")
            self._mark(found.end() - 1, found.end(), "drop")
        self._next()

    def _aside(self, found: re.Match[str], label: str) -> None:
        """Keep the words of a link that are not shown, and its destination."""
        groups = found.groupdict()
        if groups.get("link"):
            self.links.append(found.span("link"))
        if label and groups["label"]:
            self.asides.append((*found.span("label"), "label"))
        if groups.get("title"):
            start, end = found.span("title")
            self.asides.append((start + 1, end - 1, "title"))

    def _tables(self) -> None:
        for found in _DELIMITERS.finditer(self._left):
            if "|" not in found[0]:
                continue
            start = self._left.rfind("\n", 0, max(found.start() - 1, 0)) + 1
            end = re.compile(r"\n[ \t]*(?:\n|\Z)|\Z").search(self._left, found.end())
            self._mark(max(found.start() - 1, 0), found.end() + (found.end() < len(self._left)), "break")
            for pipe in list(_PIPE.finditer(self._left, start, end.start() if end else len(self._left))):
                before, after = self._left[pipe.start() - 1 : pipe.start()], self._left[pipe.end() : pipe.end() + 1]
                at_edge = before in ("", "\n") or after in ("", "\n", "\r")
                self._mark(*pipe.span(), "drop" if at_edge else "cell")
        self._next()


def _label(text: str) -> str:
    return " ".join(text.split()).casefold()
