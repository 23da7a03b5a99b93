"""A strict JSON reader that keeps positions, so that edits can be spliced into the raw text.

It follows RFC 8259 strictly: no NaN, no duplicate keys, no control characters in strings, at most 200 levels. A byte
order mark at the start is skipped and kept. Lone surrogate escapes are read as lone surrogates and written unchanged.
The reader is a loop over compiled expressions and the standard library's C string scanner. It does not recurse, and
its time is linear.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from json import JSONEncoder
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]  # missing in the stubs
from typing import Any, Literal

from incognote.errors import MalformedRecord
from incognote.text.escapes import LONE_SURROGATE

Kind = Literal["object", "array", "string", "integer", "number", "boolean", "null"]
MAX_DEPTH = 200
_ENCODER = JSONEncoder(ensure_ascii=False)

_VALUE = re.compile(
    r'[ \t\n\r]*(?:(")|(\{)|(\[)|(-?(?:0|[1-9][0-9]*)(?![0-9.eE]))'
    r"|(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)|(true|false)|(null))"
)
_KINDS: tuple[Kind, ...] = ("string", "object", "array", "integer", "number", "boolean", "null")  # by group of _VALUE
_KEY = re.compile(r'[ \t\n\r]*(")(?:([^"\\\x00-\x1f]*)"[ \t\n\r]*:)?')
_COLON = re.compile(r"[ \t\n\r]*:")
_NEXT = re.compile(r"[ \t\n\r]*([,}\]])")
_CLOSING = {"object": "}", "array": "]"}
_SPACE = re.compile(r"[ \t\n\r]*")
_PAIR = r"[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPE = re.compile(rf"\\(?:u{_PAIR}|u[0-9a-fA-F]{{4}}|.)")


class Node:
    """One JSON value and its position: `raw[start:end]` is its text, including quotes and brackets.

    Attributes:
        kind: the JSON type; `integer` is a number without fraction and exponent (Draft 4).
        value: the members by name, the items, the decoded string, a bool, or None. Numbers are not decoded: use
            `raw[start:end]`.
        key_start: where the quoted name of a member begins; -1 if the value is not a member.
    """

    __slots__ = ("end", "key_start", "kind", "start", "value")

    def __init__(self, kind: Kind, start: int, end: int, value: Any = None, key_start: int = -1) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.value = value
        self.key_start = key_start

    def __repr__(self) -> str:
        return f"Node({self.kind}, {self.start}..{self.end})"


def parse(raw: str) -> Node:
    """Read one JSON text.

    Raises:
        MalformedRecord: the text is not JSON, has a duplicate key, or is nested too deeply. The message gives only the
            line and column.
    """
    at = 1 if raw.startswith("\ufeff") else 0
    open_nodes: list[Node] = []
    root: Node | None = None
    key, key_start = "", -1
    while True:
        match = _VALUE.match(raw, at)
        if match is None:
            raise _fault(raw, _skip(raw, at))
        group = match.lastindex or 0
        kind = _KINDS[group - 1]
        node = Node(kind, match.start(group), match.end(), None, key_start)
        at = match.end()
        if group == 1:
            try:
                node.value, at = scanstring(raw, at, True)
            except JSONDecodeError as error:
                raise _fault(raw, error.pos) from None
            node.end = at
        elif group <= 3:
            node.value = {} if group == 2 else []
        elif group == 6:
            node.value = raw[node.start] == "t"
        if open_nodes:
            parent = open_nodes[-1]
            if parent.kind == "object":
                parent.value[key] = node
            else:
                parent.value.append(node)
        elif root is None:
            root = node

        if group in (2, 3):
            if len(open_nodes) == MAX_DEPTH:
                raise _fault(raw, node.start, f"nested deeper than {MAX_DEPTH} levels")
            open_nodes.append(node)
            match = _NEXT.match(raw, at)
            if match is None or match[1] != _CLOSING[kind]:  # not empty: the first member or item follows
                if group == 2:
                    key, key_start, at = _key(raw, at, node.value)
                else:
                    key_start = -1
                continue
        while open_nodes:
            match = _NEXT.match(raw, at)
            if match is None:
                raise _fault(raw, _skip(raw, at))
            at = match.end()
            parent = open_nodes[-1]
            if match[1] == ",":
                if parent.kind == "object":
                    key, key_start, at = _key(raw, at, parent.value)
                else:
                    key_start = -1
                break
            if match[1] != _CLOSING[parent.kind]:
                raise _fault(raw, at - 1)
            parent.end = at
            open_nodes.pop()
        else:
            end = _skip(raw, at)
            if end != len(raw):
                raise _fault(raw, end)
            assert root is not None
            return root


def _key(raw: str, at: int, members: dict[str, Node]) -> tuple[str, int, int]:
    """Return the name of the next member, its start, and the offset at which its value may begin."""
    match = _KEY.match(raw, at)
    if match is None:
        raise _fault(raw, _skip(raw, at))
    start, at = match.start(1), match.end()
    name: str | None = match[2]
    if name is None:  # the name contains an escape or is invalid
        try:
            name, at = scanstring(raw, start + 1, True)
        except JSONDecodeError as error:
            raise _fault(raw, error.pos) from None
        colon = _COLON.match(raw, at)
        if colon is None:
            raise _fault(raw, at)
        at = colon.end()
    if name in members:
        raise _fault(raw, start, "a duplicate key in an object")
    return name, start, at


def _skip(raw: str, at: int) -> int:
    """Return the offset of the next character that is not white space."""
    return _SPACE.match(raw, at).end()  # type: ignore[union-attr]  # it matches the empty string too


def _fault(raw: str, at: int, what: str = "not valid JSON") -> MalformedRecord:
    line = raw.count("\n", 0, at) + 1
    return MalformedRecord(f"{what} at line {line}, column {at - raw.rfind(chr(10), 0, at)}")


def raw_offsets(raw: str, node: Node, offsets: Iterable[int]) -> list[int]:
    """Return the raw-text offsets of code-point offsets in a decoded string.

    Args:
        node: the string.
        offsets: offsets in 0..len(node.value), in any order.
    """
    body = node.start + 1
    if node.end - 1 - body == len(node.value):
        return [body + offset for offset in offsets]
    decoded_marks, raw_marks = [0], [body]  # after each escape: offset in the decoded string and in the raw text
    for match in _ESCAPE.finditer(raw, body, node.end - 1):
        decoded_marks.append(decoded_marks[-1] + match.start() - raw_marks[-1] + 1)
        raw_marks.append(match.end())
    found = []
    for offset in offsets:
        i = bisect_right(decoded_marks, offset) - 1
        found.append(raw_marks[i] + offset - decoded_marks[i])
    return found


def string_edits(raw: str, node: Node, edits: Sequence[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Convert edits of a decoded string (code points, end exclusive) to edits of the raw text, with escapes."""
    places = raw_offsets(raw, node, [offset for start, end, _ in edits for offset in (start, end)])
    return [(places[2 * i], places[2 * i + 1], quoted(text)[1:-1]) for i, (_, _, text) in enumerate(edits)]


def quoted(text: str) -> str:
    """Return `text` as a JSON string. Escapes what JSON requires, and lone surrogates, which UTF-8 cannot represent."""
    written = _ENCODER.encode(text)
    return LONE_SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", written)
