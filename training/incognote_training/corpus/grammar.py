r"""The small grammar of document templates.

    {a|b|}                one of the alternatives, one of which may be empty
    {{slot}} {{slot:arg}} a value (`scene.py`) or an entry of a list (`lists/`); {{^slot}} with a capital first letter
    {{###-?}}             characters: # a digit, % a digit but 0, ? a capital, & a small letter, * a hexadecimal digit
    {?30 text}            in 30 of 100 documents
    {*2-5 text}           repeated, one per line; {*2-5, text} {*2-5; text} {*2-5_ text} with comma, semicolon, space
    {~ a || b || c}       all, in any order, with a space between; {~2-3 ...} that many of them; {~~ ...} one per line,
                          {~~~ ...} with an empty line between
    \{ \} \| \n           the characters themselves and a line break; a bar outside braces needs no escape

A template is parsed once. `expand` walks through it for one document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from incognote.errors import UsageError


class Piece(NamedTuple):
    """Words with their entity type, or None for plain text."""

    text: str
    type: str | None = None


Fill = Callable[[str, str], Iterator[Piece]]
"""Maps a slot's name and argument to its pieces."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A value to be filled in."""

    name: str
    argument: str
    capital: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several parts."""

    parts: tuple[Template, ...]


@dataclass(frozen=True, slots=True)
class Maybe:
    """A part that is present with a probability."""

    chance: float
    part: Template


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part repeated several times."""

    least: int
    most: int
    between: str
    part: Template


@dataclass(frozen=True, slots=True)
class Shuffle:
    """Some or all parts, in any order; `most` is None for all."""

    least: int
    most: int | None
    between: str
    parts: tuple[Template, ...]


Node = str | Piece | Slot | Choice | Maybe | Repeat | Shuffle
Template = tuple[Node, ...]

_SIGNS = r"(?=[^{}]*[#%?&*])[#%?&*0-9 ./:()+_-]+"
_SLOT = rf"\{{\{{(?P<capital>\^?)(?P<name>[a-z][\w.?+*-]*|{_SIGNS})(?::(?P<argument>[^{{}}|]*))?\}}\}}"
_SPECIAL = re.compile(rf"\\[{{}}|\\]|{_SLOT}|\{{|\}}|\|\||\|")
_HEAD = re.compile(r"\?(\d+) ?|\*(\d+)-(\d+)([,;_]?)[ \n]?|(~{1,3})(?:(\d+)-(\d+))?\s*")
_BETWEEN = {"": "\n", ",": ", ", ";": "; ", "_": " "}
_JOIN = {"~": " ", "~~": "\n", "~~~": "\n\n"}


def parse(text: str, name: str = "template") -> Template:
    """Parse a template.

    Raises:
        UsageError: a brace is not closed, or one too many is; the message names the template and the place.
    """
    template, at = _Parser(text.replace("\\n", "\n"), name).sequence(0, "")
    if at != len(text) - text.count("\\n"):
        raise UsageError(f"{name}: an extra closing brace at character {at}: escape or remove it")
    return template


class _Parser:
    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self._name = name

    def sequence(self, at: int, ends: str) -> tuple[Template, int]:
        """Nodes up to one of the ends ("}", "|", "||"). Outside braces, there are no ends but the text's own."""
        nodes: list[Node] = []
        plain: list[str] = []

        def flush() -> None:
            if plain:
                nodes.append("".join(plain))
                plain.clear()

        while (found := _SPECIAL.search(self._text, at)) is not None:
            plain.append(self._text[at : found.start()])
            sign, at = found.group(), found.end()
            if sign[0] == "\\":
                plain.append(sign[1])
            elif (name := found["name"]) is not None:
                flush()
                nodes.append(Slot(name, found["argument"] or "", bool(found["capital"])))
            elif sign == "{":
                flush()
                node, at = self._braces(at)
                nodes.append(node)
            elif sign == "}" or ends == "|" or ends == sign == "||":
                flush()
                return tuple(nodes), found.start()
            else:
                plain.append(sign)
        plain.append(self._text[at:])
        flush()
        if ends:
            raise self._wrong(len(self._text), "a brace that is not closed")
        return tuple(node for node in nodes if node != ""), len(self._text)

    def _braces(self, at: int) -> tuple[Node, int]:
        head = _HEAD.match(self._text, at)
        if head is None:
            parts, at = self._parts(at, "|")
            return Choice(tuple(parts)), at
        chance, least, most, sign, tildes, some, others = head.groups()
        if tildes:
            parts, at = self._parts(head.end(), "||")
            stripped = tuple(_stripped(part) for part in parts)
            return Shuffle(int(some or 0), int(others) if others else None, _JOIN[tildes], stripped), at
        part, at = self.sequence(head.end(), "}")
        if chance:
            return Maybe(int(chance) / 100, part), at + 1
        return Repeat(int(least), int(most), _BETWEEN[sign], part), at + 1

    def _parts(self, at: int, bar: str) -> tuple[list[Template], int]:
        parts = []
        while True:
            part, at = self.sequence(at, bar)
            parts.append(part)
            if self._text.startswith("}", at):
                return parts, at + 1
            at += len(bar)

    def _wrong(self, at: int, what: str) -> UsageError:
        return UsageError(f"{self._name}: {what} at character {at}: close or escape it")


def _stripped(part: Template) -> Template:
    """Strip the white space around a part."""
    nodes = list(part)
    if nodes and isinstance(nodes[0], str):
        nodes[0] = nodes[0].lstrip()
    if nodes and isinstance(nodes[-1], str):
        nodes[-1] = nodes[-1].rstrip()
    return tuple(nodes)


def slots(template: Template) -> Iterator[Slot]:
    """Every slot of a template, at any depth."""
    for node in template:
        if isinstance(node, Slot):
            yield node
        elif isinstance(node, (Choice, Shuffle)):
            for part in node.parts:
                yield from slots(part)
        elif isinstance(node, (Maybe, Repeat)):
            yield from slots(node.part)


def expand(template: Template, random: Random, fill: Fill) -> Iterator[Piece]:
    """The pieces of one document."""
    for node in template:
        if isinstance(node, str):
            yield Piece(node)
        elif isinstance(node, Piece):
            yield node
        elif isinstance(node, Slot):
            pieces = fill(node.name, node.argument)
            yield from _capital(pieces) if node.capital else pieces
        elif isinstance(node, Choice):
            yield from expand(node.parts[int(random.random() * len(node.parts))], random, fill)
        elif isinstance(node, Maybe):
            if random.random() < node.chance:
                yield from expand(node.part, random, fill)
        elif isinstance(node, Repeat):
            for turn in range(random.randint(node.least, node.most)):
                if turn:
                    yield Piece(node.between)
                yield from expand(node.part, random, fill)
        else:
            count = (
                len(node.parts) if node.most is None else min(len(node.parts), random.randint(node.least, node.most))
            )
            for turn, part in enumerate(random.sample(node.parts, count)):
                if turn:
                    yield Piece(node.between)
                yield from expand(part, random, fill)


def _capital(pieces: Iterator[Piece]) -> Iterator[Piece]:
    waiting = True
    for text, kind in pieces:
        if waiting and text:
            waiting = False
            text = text[0].upper() + text[1:]
        yield Piece(text, kind)


def assemble(pieces: Iterator[Piece]) -> tuple[str, list[tuple[int, int, str]]]:
    """Join pieces to a text with spans. Removes spaces at line ends and extra empty lines that optional parts leave."""
    out: list[str] = []
    spans: list[tuple[int, int, str]] = []
    at = 0
    tail = "\n\n"  # the last characters written
    for text, kind in pieces:
        if not text:
            continue
        if kind is None:
            text = _tidy(tail, text)
            if not text:
                continue
        else:
            if (
                kind in ("AGE", "OCCUPATION")
                and tail[-2:] in ("a ", "A ")
                and not tail[-3:-2].isalpha()
                and _vowel(text)
            ):
                out[-1] = out[-1][:-1] + "n "
                at += 1
            spans.append((at, at + len(text), kind))
        out.append(text)
        at += len(text)
        tail = (tail + text)[-4:]
    whole = "".join(out)
    kept = whole.rstrip()
    return kept, [span for span in spans if span[1] <= len(kept)]


_BLANK_END = re.compile(r"[ \t]+\n")
_EMPTY_LINES = re.compile(r"\n{3,}")
_VOWEL = re.compile(r"8|1[18](?!\d)|[aeio]|u[^nst]", re.IGNORECASE)


def _vowel(text: str) -> bool:
    return _VOWEL.match(text) is not None


def _tidy(tail: str, text: str) -> str:
    text = _EMPTY_LINES.sub("\n\n", _BLANK_END.sub("\n", text))
    ends = len(tail) - len(tail.rstrip("\n"))
    begins = len(text) - len(text.lstrip("\n"))
    if ends and begins and ends + begins > 2:
        text = "\n" * max(0, 2 - ends) + text[begins:]
    return text
