"""Open a FHIR resource or Bundle: find its free texts and identifying fields, and write it back.

References still point to the same resources: each id gets the same keyed hash everywhere, inside a Bundle and across
the Bundles of one domain. Server addresses are removed. Use one domain per server, because two servers may use the same
id for different patients.

In FHIR's JSON (R4, section 2.6.2), additional information on a primitive `birthDate` is next to it, in `_birthDate`.
For a list it is a list of the same length, with null for items without information.
"""

from __future__ import annotations

from base64 import b64encode
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from incognote.errors import SchemaViolation
from incognote.formats.base import (
    Change,
    Document,
    FieldAction,
    Format,
    account,
    joined_edits,
    of_child,
    splice,
    split_edits,
)
from incognote.formats.records.fhir_values import Field, check_one_to_one, is_valid, patient_of, shaped, strings
from incognote.formats.records.fhir_walk import FhirWalk
from incognote.formats.records.rawjson import Node, quoted, raw_offsets, string_edits
from incognote.formats.records.record import OpenRecord
from incognote.schemas.fhir import Release, data_type, fhir_schema
from incognote.schemas.registry import Registry

_REASON = "http://hl7.org/fhir/StructureDefinition/data-absent-reason"
_MASKED = f'[{{"url": "{_REASON}", "valueCode": "masked"}}]'
WITHHELD = f'{{"extension": {_MASKED}}}'


def open_fhir(raw: str, root: Node, registry: Registry) -> OpenRecord:
    """Open one resource.

    Args:
        raw: the JSON text.
        root: the parsed `raw`.
        registry: the schemas for records in attachments.

    Raises:
        RecordProblem: an attachment cannot be opened.
        SchemaViolation: an element, extension or resource type has no rule, a value does not have its type, or XHTML
            or an attachment cannot be read.
        UnapprovedSchema: the rules were changed after their approval.
    """
    walk, release = _walked(raw, root)
    name = root.value["resourceType"].value
    return FhirRecord(
        data_type=data_type(name), schema=fhir_schema(name, release),
        texts=tuple(walk.texts), actions=tuple(walk.actions), known=tuple(dict.fromkeys(walk.known)),
        patient=patient_of(root), id=next(iter(strings(root, "id")), None), content=raw,
        nodes={path: f.node for path, f in walk.fields.items()}, fields=walk.fields, drops=tuple(walk.drops),
        unknown=tuple(walk.unknown), formats={path: form for path, (form, _) in walk.children.items()},
        children={path: inner.under(registry, None) for path, (_, inner) in walk.children.items()},
    )


def _walked(raw: str, root: Node) -> tuple[FhirWalk, Release]:
    """Return the walk by the rules of R4, or else of R5. A resource does not say which release it follows.

    Raises:
        SchemaViolation: it follows neither. The error is that of the release in which more elements were walked.
    """
    walk = FhirWalk(raw, root)
    try:
        walk.walk()
        return walk, "r4"
    except SchemaViolation as violation:
        later = FhirWalk(raw, root, "r5")
        try:
            later.walk()
            return later, "r5"
        except SchemaViolation as other:
            raise (other if later.size > walk.size else violation) from None


@dataclass(frozen=True, eq=False)
class FhirRecord(OpenRecord):
    """One FHIR resource, opened by the rules.

    Args:
        fields: how each path is written back. drops: members that are removed. unknown: items that are removed.
        children, formats: the attachments that other formats read, by path, and these formats.
    """

    fields: Mapping[str, Field] = field(repr=False, default_factory=dict)
    drops: tuple[tuple[Node, str], ...] = field(repr=False, default=())
    unknown: tuple[tuple[Node, Sequence[int]], ...] = field(repr=False, default=())
    children: Mapping[str, Document] = field(repr=False, default_factory=dict)
    formats: Mapping[str, Format] = field(repr=False, default_factory=dict)

    def rewritten(self, changes: Mapping[str, Sequence[Change]], values: Mapping[FieldAction, str]) -> str:
        """Return the new raw record. It is valid FHIR if the old one was.

        `data-absent-reason` replaces an `absent` value, a date whose replacement is not a date of its type, and a
        string that would become empty. A hash gets the form of the value it replaces: an id, a UUID or an OID.

        Raises:
            AccountingError: as in OpenRecord; or the replacements of ids are not one to one.
            RecordProblem: an attachment's character set cannot represent its replacements, or its reader does not
                write the content that it read.
        """
        account(self, changes, values)
        attached = self._attached(changes, values)
        changes = {path: edits for path, edits in changes.items() if path in self.fields}
        structure = StructuralEdits()
        for holder, name in self.drops:
            structure.drop(holder, name)
        for listed, indices in self.unknown:
            structure.drop_items(listed, indices)
        edits: dict[str, list[Change]] = {path: [*f.fixed, *changes.get(path, ())] for path, f in self.fields.items()}
        ids: list[tuple[str, str]] = []
        for action in self.actions:
            path = action.text.field
            place = self.fields[path]
            new = self.written(action, values[action])
            if new is None:
                structure.withhold(place.holder, place.name, place.index)
            else:
                edits[path].append((action.start, action.end, new))
            if action.action == "hash":
                ids.append((action.text.content[action.start : action.end], values[action]))
        check_one_to_one(ids)
        written: list[tuple[Node, list[Change]]] = attached
        for path, inside in edits.items():
            place = self.fields[path]
            if _is_emptied(place, inside):
                structure.withhold(place.holder, place.name, place.index)
            else:
                written.append((place.node, _raw_edits(self.content, place, inside)))
        structural = structure.finish()
        return splice(self.content, [*structural, *(e for node, own in written if structure.keeps(node) for e in own)])

    def written(self, action: FieldAction, value: str) -> str | None:
        place = self.fields[action.text.field]
        if action.action == "hash":
            form = next(s.form for s in place.segments if (s.start, s.end) == (action.start, action.end))
            return shaped(value, form)
        is_withheld = action.action == "absent" or not value or _is_no_date(action, place, value)
        return None if is_withheld else value

    def always(self, field: str) -> Sequence[Change]:
        return self.fields[field].fixed

    def _attached(
        self, changes: Mapping[str, Sequence[Change]], values: Mapping[FieldAction, str]
    ) -> list[tuple[Node, list[Change]]]:
        """Return the edits that write the attachments of other formats."""
        from incognote.formats.output import rebuilt

        edits = joined_edits(changes, values) if self.children else []
        written: list[tuple[Node, list[Change]]] = []
        for path, inner in self.children.items():
            data = rebuilt(self.formats[path], inner, *split_edits(of_child(edits, path)))
            if data != inner.head + inner.data + inner.after:
                node = self.fields[path].node
                written.append((node, [(node.start, node.end, quoted(b64encode(data).decode("ascii")))]))
        return written

    def stretches(self, field: str, start: int, end: int) -> Sequence[tuple[int, int]] | None:
        place = self.fields.get(field)
        if place is None or place.attached is not None:
            return None
        inside = place.narrative.places(start, end) if place.narrative is not None else [(start, end)]
        bounds = raw_offsets(self.content, place.node, [at for pair in inside for at in pair])
        return list(zip(bounds[::2], bounds[1::2], strict=True))


def _is_no_date(action: FieldAction, place: Field, value: str) -> bool:
    return action.action == "date" and not is_valid(place.type, value)


def _is_emptied(place: Field, edits: Sequence[Change]) -> bool:
    """Whether a string would become empty, which FHIR does not allow."""
    return bool(edits) and place.narrative is None and place.attached is None and not splice(place.node.value, edits)


def _raw_edits(raw: str, place: Field, edits: Sequence[Change]) -> list[Change]:
    if place.narrative is not None:
        edits = place.narrative.edits(edits)
    if not edits:
        return []
    if place.attached is None:
        return string_edits(raw, place.node, edits)
    content = splice(place.attached.content, edits)
    return [(place.node.start, place.node.end, quoted(place.attached.encode(content)))]


class StructuralEdits:
    """Structural edits of one raw record, collected per object.

    Attributes:
        edits: the edits of the raw text. gone: the stretches that they remove or replace; they contain no other edit.
    """

    def __init__(self) -> None:
        self._removed: dict[int, set[str]] = {}
        self._holders: dict[int, Node] = {}
        self._items: dict[tuple[int, str], list[int]] = {}
        self.edits: list[Change] = []
        self.gone: list[tuple[int, int]] = []

    def drop(self, holder: Node, name: str) -> None:
        """Remove a member completely."""
        self._holders[id(holder)] = holder
        self._removed.setdefault(id(holder), set()).add(name)

    def drop_items(self, listed: Node, indices: Sequence[int]) -> None:
        """Remove items of a list of extensions. If none is left, the list states that its content is masked."""
        if len(indices) == len(listed.value):
            self._replace(listed.start, listed.end, _MASKED)
            return
        spans = [(i in indices, one.start, one.end) for i, one in enumerate(listed.value)]
        for start, end in _stretches(spans):
            self._replace(start, end, "")

    def withhold(self, holder: Node, name: str, index: int | None) -> None:
        """Remove a primitive, or one item of a list of primitives, and mark it as masked."""
        node, sibling = holder.value[name], holder.value.get(f"_{name}")
        self._holders[id(holder)] = holder
        if index is not None:
            self._items.setdefault((id(holder), name), []).append(index)
        elif sibling is None:
            self._replace(node.key_start, node.end, f'"_{name}": {WITHHELD}')
        else:
            self._replace(sibling.start, sibling.end, WITHHELD)
            self.drop(holder, name)

    def finish(self) -> list[Change]:
        """Return all edits. `gone` is complete after this call."""
        for (key, name), indices in self._items.items():
            self._withhold_items(self._holders[key], name, sorted(indices))
        for key, names in self._removed.items():
            members = self._holders[key].value.items()
            for start, end in _stretches((name in names, node.key_start, node.end) for name, node in members):
                self._replace(start, end, "")
        outermost: list[tuple[int, int]] = []
        for start, end in sorted(set(self.gone), key=lambda stretch: (stretch[0], -stretch[1])):
            if not outermost or end > outermost[-1][1]:
                outermost.append((start, end))
        self.gone = outermost
        whole = set(outermost)
        return [edit for edit in self.edits if edit[:2] in whole or self._is_outside(*edit[:2])]

    def keeps(self, node: Node) -> bool:
        """Whether a value is kept. Call this after `finish`."""
        i = bisect_right(self.gone, (node.start, node.end)) - 1
        return i < 0 or self.gone[i][1] < node.end

    def _is_outside(self, start: int, end: int) -> bool:
        i = bisect_right(self.gone, (start, end)) - 1
        return i < 0 or self.gone[i][1] <= start

    def _withhold_items(self, holder: Node, name: str, indices: Sequence[int]) -> None:
        values, sibling = holder.value[name], holder.value.get(f"_{name}")
        for i in indices:
            self._replace(values.value[i].start, values.value[i].end, "null")
            if sibling is not None:
                self._replace(sibling.value[i].start, sibling.value[i].end, WITHHELD)
        if sibling is None:
            said = ", ".join(WITHHELD if i in set(indices) else "null" for i in range(len(values.value)))
            self.edits.append((values.end, values.end, f', "_{name}": [{said}]'))

    def _replace(self, start: int, end: int, new: str) -> None:
        self.edits.append((start, end, new))
        self.gone.append((start, end))


def _stretches(parts: Iterable[tuple[bool, int, int]]) -> Iterable[tuple[int, int]]:
    """Yield the stretches of the raw text to remove with some parts of an object or a list, including their commas.

    A run of removed parts takes the comma before it. A run at the start takes the comma after it.

    Args:
        parts: for each part, whether it is removed, its start and its end.
    """
    kept_end: int | None = None
    run: tuple[int, int] | None = None
    for is_removed, start, end in parts:
        if is_removed:
            run = (run[0] if run else (start if kept_end is None else kept_end), end)
            continue
        if run:
            yield run if kept_end is not None else (run[0], start)
        run, kept_end = None, end
    if run:
        yield run
