"""Check a record against its schema, value by value, and write the record back with its edits.

The walker follows JSON Schema Draft 4 for `type` (lists, null, an integer is also a number, 1.0 is not an integer),
`required`, `enum`, `pattern` and `maxLength`. It is stricter in three ways. A member that the schema does not name is a
fault. A `pattern` must match the whole value, anchored or not. A number of five digits or more does not pass through
under the label of an identifier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from incognote.errors import SchemaViolation
from incognote.formats.base import (
    Change,
    DecodedDocument,
    Document,
    FieldAction,
    account,
    joined_edits,
    of_child,
    splice,
)
from incognote.formats.encoding import UTF8, Codec
from incognote.formats.html import HtmlDocument, checked
from incognote.formats.records.rawjson import Node, quoted, raw_offsets, string_edits
from incognote.nouns import Known, Text
from incognote.schemas.fieldnames import child, is_told, item, spoken, tells, words
from incognote.schemas.record_schema import ENVELOPE, FieldRule, Schema

_SHOWN = 5
_LONG, _LONGEST_LABEL = 5, 60
_NAMELESS = frozenset("""
    value values val result results answer reading amount quantity number numeric num n data measurement observation
    response
""".split())


@dataclass(frozen=True, eq=False)
class OpenRecord(DecodedDocument):
    """One record under its schema.

    Args:
        texts: the free texts to de-identify; paths are unique.
        actions: the structured fields that are replaced.
        known: the identifiers that its structured fields reveal, to search for in its texts.
        patient: the subject, if the schema names its field and the record has a value there.
        id: the record's own id, under the same conditions.
        content: the JSON text.
        nodes: the value at the path of each text and action.
        children: the texts that are pages of HTML, by path.
        codec, head, after, separator, position: as in a Document.
    """

    data_type: str
    schema: Schema = field()
    texts: tuple[Text, ...] = field(repr=False)
    actions: tuple[FieldAction, ...] = field(repr=False)
    known: tuple[Known, ...] = field(repr=False)
    patient: str | None = field(repr=False)
    id: str | None = field(repr=False)
    content: str = field(repr=False)
    nodes: Mapping[str, Node] = field(repr=False)
    codec: Codec = field(default=UTF8, kw_only=True)
    head: bytes = field(default=b"", kw_only=True, repr=False)
    after: bytes = field(default=b"", kw_only=True)
    separator: bytes = field(default=b"", kw_only=True)
    position: int | None = field(default=None, kw_only=True)
    children: Mapping[str, Document] = field(default_factory=dict, kw_only=True, repr=False)

    is_record = True

    def rewritten(self, changes: Mapping[str, Sequence[Change]], values: Mapping[FieldAction, str]) -> str:
        """Return the new raw record. Bytes outside the changes and actions stay the same.

        Args:
            changes: the changes by path of a text, in code points of the decoded string.
            values: the new value of every action. It is written as a string, whatever the old value was.

        Raises:
            AccountingError: an action has no value, or a change is not for a text of this record.
        """
        account(self, changes, values)
        edits = self._pages(changes, values)
        own = {action.text.field for action in self.actions}
        for path, inside in changes.items():
            if path in self.nodes:
                edits += string_edits(self.content, self.nodes[path], inside)
        for action, value in values.items():
            if action.text.field not in own:
                continue
            node = self.nodes[action.text.field]
            whole = (action.start, action.end) == (0, len(action.text))
            edits += [(node.start, node.end, quoted(value))] if whole else string_edits(
                self.content, node, [(action.start, action.end, value)])
        return splice(self.content, edits)

    def _pages(self, changes: Mapping[str, Sequence[Change]], values: Mapping[FieldAction, str]) -> list[Change]:
        """Return the edits of the texts that are pages."""
        if not self.children:
            return []
        edits = joined_edits(changes, values)
        return [
            edit
            for path, page in self.children.items()
            if isinstance(page, HtmlDocument)
            for edit in string_edits(self.content, self.nodes[path], checked(page, of_child(edits, path)))
        ]

    def stretches(self, field: str, start: int, end: int) -> Sequence[tuple[int, int]] | None:
        page = self.children.get(field.removesuffix("/"))
        if isinstance(page, HtmlDocument):
            node = self.nodes[field.removesuffix("/")]
            bounds = raw_offsets(self.content, node, [at for pair in page.stretches("", start, end) for at in pair])
            return list(zip(bounds[::2], bounds[1::2], strict=True))
        node = self.nodes[field]
        if node.kind != "string":
            return ((node.start + start, node.start + end),)
        first, last = raw_offsets(self.content, node, (start, end))
        return ((first, last),)


class Walk:
    """The walk through one record with one schema.

    Attributes:
        texts, actions, known: as in OpenRecord, in the order of the record.
        nodes: the value at the path of each text and action.

    Raises:
        SchemaViolation: the record does not fit. The message names up to five fields and no value.
    """

    def __init__(self, raw: str, root: Node, schema: Schema, *, what: str = "member") -> None:
        self._raw = raw
        self._what = what
        self._schema = schema
        self._root = root
        self.texts: list[Text] = []
        self.actions: list[FieldAction] = []
        self.known: list[Known] = []
        self.nodes: dict[str, Node] = {}
        self._faults: list[tuple[str, str]] = []
        self._object(root, schema.root, "")
        if self._faults:
            shown = "; ".join(f"{path}: {fault}" if path else fault for path, fault in self._faults[:_SHOWN])
            more = len(self._faults) - _SHOWN
            raise SchemaViolation(shown + (f"; and {more} more" if more > 0 else ""), field=self._faults[0][0])

    def scalar_at(self, path: str | None) -> str | None:
        """Return the string or number at a path, or None if it is absent, null or empty."""
        if path is None:
            return None
        node = self._keyed(self._root, self._schema.root, "", path)
        if node is None or node.kind not in ("string", "integer", "number"):
            return None
        return self._content(node) or None

    def _value(self, node: Node, rule: FieldRule, path: str, label: str | None = None) -> None:
        if node.kind not in rule.types and not (node.kind == "integer" and "number" in rule.types):
            self._faults.append((path, f"is of type {node.kind}, but must be {' or '.join(sorted(rule.types))}"))
        elif node.kind == "object" and rule.properties:
            self._object(node, rule, path)
        elif node.kind == "array" and rule.items is not None:
            for i, inner in enumerate(node.value):
                self._value(inner, rule.items, item(path, i), label)
        elif label and rule.flag == "pass" and node.kind in ("integer", "number") and self._is_long(node, rule):
            self._faults.append((path, f"is a number as long as an identifier, and its label suggests {label}. "
                                       "Mask or hash the field, or list its values"))
        else:
            self._leaf(node, rule, path)

    def _object(self, node: Node, rule: FieldRule, path: str) -> None:
        members: dict[str, Node] = node.value
        for position, (name, inner) in enumerate(members.items(), 1):
            known = rule.properties.get(name)
            if known is not None:
                self._value(inner, known, child(path, name), self._label(name, known, inner, members))
            elif path or name not in ENVELOPE:
                fault = f"is not in the schema {self._schema.data_type}. Add it with a flag, or remove it"
                if is_told(name, rule.properties):
                    self._faults.append((child(path, name), fault))
                else:
                    self._faults.append((path, f"{spoken(name, position, self._what, rule.properties)} {fault}"))
        for name in sorted(rule.required - members.keys()):
            self._faults.append((child(path, name), "is required, but missing"))

    def _label(self, name: str, rule: FieldRule, node: Node, members: dict[str, Node]) -> str | None:
        """Return what a number identifies, by its name, or by a label next to it if the name is only like `value`.

        It is needed only for a number that is passed.
        """
        leaf = rule.items or rule
        if leaf.flag != "pass" or not leaf.types & {"integer", "number"} or node.kind in ("string", "null", "boolean"):
            return None
        if words(name) not in _NAMELESS:
            return None if rule.reason else tells(name)
        labels = (n.value for n in members.values() if n.kind == "string" and len(n.value) <= _LONGEST_LABEL)
        return next(filter(None, map(tells, labels)), None)

    def _is_long(self, node: Node, rule: FieldRule) -> bool:
        """Whether a number without an `enum` has as many digits as an identifier."""
        return rule.values is None and abs(Decimal(self._content(node)).adjusted()) >= _LONG - 1

    def _leaf(self, node: Node, rule: FieldRule, path: str) -> None:
        for fault in self._limits(node, rule):
            self._faults.append((path, fault))
        if rule.flag == "pass" or node.kind == "null" or node.value == "":
            return
        text = Text(self._content(node), path)
        self.nodes[path] = node
        if rule.flag == "auto":
            self.texts.append(text)
        elif rule.flag == "mask" or rule.flag == "hash":
            kind = rule.entity_type or rule.known_as
            self.actions.append(FieldAction(text, 0, len(text), rule.flag, kind))
            if rule.known_as is not None and node.kind in ("string", "integer", "number") and text.content.strip():
                self.known.append(Known(rule.known_as, text.content))
        else:
            self._faults.append((path, "has no flag in the schema"))

    def _limits(self, node: Node, rule: FieldRule) -> Iterator[str]:
        if rule.values is not None and not any(self._equals(node, value) for value in rule.values):
            yield "is not one of the values in the schema"
        if node.kind == "string":
            if rule.max_length is not None and len(node.value) > rule.max_length:
                yield f"is longer than {rule.max_length} characters"
            if rule.pattern is not None and not rule.pattern.fullmatch(node.value):
                yield "does not match the schema's pattern"

    def _equals(self, node: Node, value: Any) -> bool:
        if node.kind in ("integer", "number"):
            number = isinstance(value, int | float) and not isinstance(value, bool)
            return number and Decimal(self._content(node)) == Decimal(str(value))
        return type(node.value) is type(value) and bool(node.value == value)

    def _content(self, node: Node) -> str:
        return node.value if node.kind == "string" else self._raw[node.start : node.end]

    def _keyed(self, node: Node, rule: FieldRule, path: str, wanted: str) -> Node | None:
        for name, inner in rule.properties.items():
            here = child(path, name)
            member: Node | None = node.value.get(name) if node.kind == "object" else None
            if member is None:
                continue
            if here == wanted:
                return member
            found = self._keyed(member, inner, here, wanted)
            if found is not None:
                return found
        return None
