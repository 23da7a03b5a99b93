"""Open a FHIR R4 resource or Bundle: its free texts, its identifying fields, and how it is put together again.

References keep leading where they led: every id gets the same keyed hash wherever it stands, inside a Bundle and across
the Bundles of one domain. Servers lose their address; records of two servers belong in two domains, since both may call
different patients by one id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from incognote.records.fhir_known import patient_of, strings
from incognote.records.fhir_splice import Surgery
from incognote.records.fhir_values import is_valid
from incognote.records.fhir_walk import FhirWalk, Field
from incognote.records.opened import Edit, FieldAction, OpenRecord
from incognote.records.rawjson import Node, quoted, splice, string_edits
from incognote.records.references import check_one_to_one, shaped
from incognote.schemas.fhir import data_type, fhir_schemas
from incognote.schemas.registry import Registry


def open_fhir(raw: str, root: Node, registry: Registry) -> OpenRecord:
    """Open one resource.

    Args:
        root: `raw`, parsed.
        registry: of record schemas; FHIR's own rules come with the package and are not looked up in it.

    Raises:
        SchemaViolation: an element, extension or resource type without a rule, a value that is not of its type,
            XHTML or an attachment that cannot be read.
        UnapprovedSchema: the rules are not as they were approved.
    """
    del registry
    walk = FhirWalk(raw, root)
    name = data_type(root.value["resourceType"].value)
    return FhirRecord(
        data_type=name, schema=next(s for s in fhir_schemas() if s.data_type == name),
        texts=tuple(walk.texts), actions=tuple(walk.actions), known=tuple(dict.fromkeys(walk.known)),
        patient=patient_of(root), id=next(iter(strings(root, "id")), None), raw=raw,
        nodes={path: f.node for path, f in walk.fields.items()}, fields=walk.fields, drops=tuple(walk.drops),
    )


@dataclass(frozen=True, eq=False)
class FhirRecord(OpenRecord):
    """One FHIR resource under the rules.

    Args:
        fields: how each path is written back. drops: members that leave.
    """

    fields: Mapping[str, Field] = field(repr=False, default_factory=dict)
    drops: tuple[tuple[Node, str], ...] = field(repr=False, default=())

    def rebuild(self, spliced: Mapping[str, Sequence[Edit]], actions: Mapping[FieldAction, str]) -> str:
        """The new raw record, valid FHIR if the old one was.

        A date whose replacement is no date of its type, whatever is to be absent, and a string of which nothing is left
        give way to `data-absent-reason`. Hashes become ids, UUIDs or OIDs, as what they replace was.

        Raises:
            AccountingError: as OpenRecord; or two ids of the record got one replacement.
            RecordProblem: an attachment's character set cannot hold its replacements.
        """
        self.account(spliced, actions)
        surgery = Surgery()
        for holder, name in self.drops:
            surgery.drop(holder, name)
        changes: dict[str, list[Edit]] = {path: [*f.fixed, *spliced.get(path, ())] for path, f in self.fields.items()}
        ids: list[tuple[str, str]] = []
        for action, value in actions.items():
            path = action.text.field
            place = self.fields[path]
            if action.action == "hash":
                form = next(s.form for s in place.segments if (s.start, s.end) == (action.start, action.end))
                changes[path].append((action.start, action.end, shaped(value, form)))
                ids.append((action.text.content[action.start : action.end], value))
            elif action.action == "absent" or not value or _is_no_date(action, place, value):
                surgery.withhold(place.holder, place.name, place.index)
            else:
                changes[path].append((action.start, action.end, value))
        check_one_to_one(ids)
        written: list[tuple[Node, list[Edit]]] = []
        for path, edits in changes.items():
            place = self.fields[path]
            if _is_emptied(place, edits):
                surgery.withhold(place.holder, place.name, place.index)
            else:
                written.append((place.node, _raw_edits(self.raw, place, edits)))
        structural = surgery.finish()
        return splice(self.raw, [*structural, *(e for node, edits in written if surgery.keeps(node) for e in edits)])


def _is_no_date(action: FieldAction, place: Field, value: str) -> bool:
    return action.action == "date" and not is_valid(place.type, value)


def _is_emptied(place: Field, edits: Sequence[Edit]) -> bool:
    """FHIR knows no empty strings."""
    return bool(edits) and place.narrative is None and place.attached is None and not splice(place.node.value, edits)


def _raw_edits(raw: str, place: Field, edits: Sequence[Edit]) -> list[Edit]:
    if place.narrative is not None:
        edits = place.narrative.edits(edits)
    if not edits:
        return []
    if place.attached is None:
        return string_edits(raw, place.node, edits)
    content = splice(place.attached.content, edits)
    return [(place.node.start, place.node.end, quoted(place.attached.encode(content)))]
