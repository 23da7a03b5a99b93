"""Open a FHIR R4 resource or Bundle: find its free texts and identifying fields, and write it back.

References still point to the same resources: each id gets the same keyed hash everywhere, inside a Bundle and across
the Bundles of one domain. Server addresses are removed. Use one domain per server, because two servers may use the same
id for different patients.

In FHIR's JSON (R4, section 2.6.2), additional information on a primitive `birthDate` is next to it, in `_birthDate`.
For a list it is a list of the same length, with null for items without information.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from incognote.formats.base import Change, FieldAction, account, splice
from incognote.formats.records.fhir_values import Field, check_one_to_one, is_valid, patient_of, shaped, strings
from incognote.formats.records.fhir_walk import FhirWalk
from incognote.formats.records.rawjson import Node, quoted, raw_offsets, string_edits
from incognote.formats.records.record import OpenRecord
from incognote.schemas.fhir import data_type, fhir_schemas

_REASON = "http://hl7.org/fhir/StructureDefinition/data-absent-reason"
WITHHELD = f'{{"extension": [{{"url": "{_REASON}", "valueCode": "masked"}}]}}'


def open_fhir(raw: str, root: Node) -> OpenRecord:
    """Open one resource.

    Args:
        raw: the JSON text.
        root: the parsed `raw`.

    Raises:
        SchemaViolation: an element, extension or resource type has no rule, a value does not have its type, or XHTML
            or an attachment cannot be read.
        UnapprovedSchema: the rules were changed after their approval.
    """
    walk = FhirWalk(raw, root)
    name = data_type(root.value["resourceType"].value)
    return FhirRecord(
        data_type=name, schema=next(s for s in fhir_schemas() if s.data_type == name),
        texts=tuple(walk.texts), actions=tuple(walk.actions), known=tuple(dict.fromkeys(walk.known)),
        patient=patient_of(root), id=next(iter(strings(root, "id")), None), content=raw,
        nodes={path: f.node for path, f in walk.fields.items()}, fields=walk.fields, drops=tuple(walk.drops),
    )


@dataclass(frozen=True, eq=False)
class FhirRecord(OpenRecord):
    """One FHIR resource, opened by the rules.

    Args:
        fields: how each path is written back. drops: members that are removed.
    """

    fields: Mapping[str, Field] = field(repr=False, default_factory=dict)
    drops: tuple[tuple[Node, str], ...] = field(repr=False, default=())

    def rewritten(self, changes: Mapping[str, Sequence[Change]], values: Mapping[FieldAction, str]) -> str:
        """Return the new raw record. It is valid FHIR if the old one was.

        `data-absent-reason` replaces an `absent` value, a date whose replacement is not a date of its type, and a
        string that would become empty. A hash gets the form of the value it replaces: an id, a UUID or an OID.

        Raises:
            AccountingError: as in OpenRecord; or the replacements of ids are not one to one.
            RecordProblem: an attachment's character set cannot represent its replacements.
        """
        account(self, changes, values)
        structure = StructuralEdits()
        for holder, name in self.drops:
            structure.drop(holder, name)
        edits: dict[str, list[Change]] = {path: [*f.fixed, *changes.get(path, ())] for path, f in self.fields.items()}
        ids: list[tuple[str, str]] = []
        for action, value in values.items():
            path = action.text.field
            place = self.fields[path]
            if action.action == "hash":
                form = next(s.form for s in place.segments if (s.start, s.end) == (action.start, action.end))
                edits[path].append((action.start, action.end, shaped(value, form)))
                ids.append((action.text.content[action.start : action.end], value))
            elif action.action == "absent" or not value or _is_no_date(action, place, value):
                structure.withhold(place.holder, place.name, place.index)
            else:
                edits[path].append((action.start, action.end, value))
        check_one_to_one(ids)
        written: list[tuple[Node, list[Change]]] = []
        for path, inside in edits.items():
            place = self.fields[path]
            if _is_emptied(place, inside):
                structure.withhold(place.holder, place.name, place.index)
            else:
                written.append((place.node, _raw_edits(self.content, place, inside)))
        structural = structure.finish()
        return splice(self.content, [*structural, *(e for node, own in written if structure.keeps(node) for e in own)])

    def stretches(self, field: str, start: int, end: int) -> Sequence[tuple[int, int]] | None:
        place = self.fields[field]
        if place.attached is not None:
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
            for start, end in _stretches(self._holders[key], names):
                self._replace(start, end, "")
        self.gone.sort()
        return self.edits

    def keeps(self, node: Node) -> bool:
        """Whether a value is kept. Call this after `finish`."""
        i = bisect_right(self.gone, (node.start, node.end)) - 1
        return i < 0 or self.gone[i][1] < node.end

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


def _stretches(holder: Node, names: Iterable[str]) -> Iterable[tuple[int, int]]:
    """Yield the stretches to remove from the raw text with some members of an object, including their commas.

    A run of removed members takes the comma before it. A run at the start takes the comma after it.
    """
    removed = set(names)
    members = [(name, node.key_start, node.end) for name, node in holder.value.items()]
    kept_end: int | None = None
    run: tuple[int, int] | None = None
    for name, start, end in members:
        if name in removed:
            run = (run[0] if run else (start if kept_end is None else kept_end), end)
            continue
        if run:
            yield run if kept_end is not None else (run[0], start)
        run, kept_end = None, end
    if run:
        yield run
