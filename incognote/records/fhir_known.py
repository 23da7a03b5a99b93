"""What a FHIR resource makes known: names, numbers, dates of birth and addresses, to be sought in all its free text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from incognote.errors import SchemaViolation
from incognote.nouns import Known
from incognote.records.rawjson import Node
from incognote.records.references import take_apart
from incognote.schemas.fhir.rules import rules

_NAMED = {"Patient": "PATIENT", "Practitioner": "CLINICIAN", "Organization": "PERSON"}
_TELECOM = {"phone": "TELEPHONE_NUMBER", "sms": "TELEPHONE_NUMBER", "pager": "TELEPHONE_NUMBER", "fax": "FAX_NUMBER",
            "email": "EMAIL", "url": "URL"}
_ADDRESS = {"line": "STREET", "city": "CITY", "postalCode": "ZIP", "text": "ADDRESS"}  # a state's name is too common
_IDENTIFIERS = ("identifier", "masterIdentifier", "groupIdentifier")
_TITLES = re.compile(r"^(?:(?:Dr|Prof|Mr|Mrs|Ms|Miss)\b\.?\s*)+|(?:,\s*(?:M\.?D|D\.?O|Ph\.?D|RN|NP|PA(?:-C)?)\b\.?)+$")
# Shorter ones would be found where they mean something else.
_SHORTEST_NUMBER, _SHORTEST_ID, _SHORTEST_LINE, _SHORTEST_WORD = 4, 6, 6, 2


def revealed(resource: str, node: Node) -> Iterator[Known]:
    """What one resource reveals; its contained resources and a Bundle's entries are asked on their own.

    Args:
        node: the resource, already found to fit its rules.
    """
    for name in _IDENTIFIERS:
        for identifier in items(node, name):
            yield from _identifier(identifier)
    if resource in _NAMED:
        yield from _party(node, _NAMED[resource])
        for own_id in strings(node, "id"):
            if len(own_id) >= _SHORTEST_ID and any(c.isdigit() for c in own_id):
                yield Known("GUID", own_id)
    if resource == "Organization":
        for word in (*strings(node, "name"), *strings(node, "alias")):
            yield Known("ORGANIZATION", word)
    for contact in items(node, "contact"):
        yield from _party(contact, "RELATIVE" if resource == "Patient" else "PERSON")
    for qualification in items(node, "qualification"):
        for identifier in items(qualification, "identifier"):
            yield from _identifier(identifier)
    for name, kind in (("birthDate", "BIRTH_DATE_TIME"), ("deceasedDateTime", "DEATH_DATE_TIME")):
        for day in strings(node, name):
            if len(day) >= len("2000-01-01"):
                yield Known(kind, day[:10])


def bare(name: str) -> str:
    """A name without its titles: it is sought in texts that may use others."""
    return _TITLES.sub("", name)


def patient_of(root: Node) -> str | None:
    """The subject of a resource; of a Bundle, its one patient. None where there is none, or more than one."""
    resources = [root, *(r for entry in items(root, "entry") for r in items(entry, "resource"))]
    patients = [r for r in resources if _type(r) == "Patient"]
    own_ids = {found for r in patients for found in strings(r, "id")}
    if patients:
        return own_ids.pop() if len(own_ids) == 1 and all("id" in r.value for r in patients) else None
    subjects = {_subject(r) for r in resources if "subject" in r.value}
    return subjects.pop() if len(subjects) == 1 else None


def items(node: Node, name: str) -> list[Node]:
    """The objects a member holds: several, one or none."""
    member = node.value.get(name) if node.kind == "object" else None
    if member is None:
        return []
    return [n for n in (member.value if member.kind == "array" else [member]) if n.kind == "object"]


def strings(node: Node, name: str) -> list[str]:
    """The strings a member holds: several, one or none."""
    member = node.value.get(name) if node.kind == "object" else None
    if member is None:
        return []
    return [n.value for n in (member.value if member.kind == "array" else [member]) if n.kind == "string"]


def identifier_type(identifier: Node) -> str:
    """The entity type of an Identifier, by the code of its `type` (HL7 table 0203), else by its `system`."""
    known = rules().vocabulary
    for concept in items(identifier, "type"):
        for coding in items(concept, "coding"):
            for code in strings(coding, "code"):
                if code in known["identifier_types"]:
                    return str(known["identifier_types"][code])
    return next((str(known["identifier_systems"][s]) for s in strings(identifier, "system")
                 if s in known["identifier_systems"]), "GUID")


def _identifier(identifier: Node) -> Iterator[Known]:
    for value in strings(identifier, "value"):
        number = value.removeprefix("urn:uuid:").removeprefix("urn:oid:")
        if len(number) >= _SHORTEST_NUMBER and any(c.isdigit() for c in number):
            yield Known(identifier_type(identifier), number)


def _party(node: Node, kind: str) -> Iterator[Known]:
    for name in items(node, "name"):
        written = " ".join((*strings(name, "given"), *strings(name, "family")))
        for full in (written, *map(bare, strings(name, "text"))):
            if len(full) >= _SHORTEST_WORD:
                yield Known(kind, full)
    for telecom in items(node, "telecom"):
        system = next(iter(strings(telecom, "system")), "phone")
        for value in strings(telecom, "value"):
            if len(value) >= _SHORTEST_NUMBER:
                yield Known(_TELECOM.get(system, "GUID"), value)
    for address in items(node, "address"):
        for member, entity in _ADDRESS.items():
            for part in strings(address, member):
                if len(part) >= (_SHORTEST_LINE if entity == "STREET" else _SHORTEST_WORD):
                    yield Known(entity, part)


def _subject(resource: Node) -> str | None:
    for subject in items(resource, "subject"):
        for written in strings(subject, "reference"):
            try:
                link = take_apart(written, "subject")
            except SchemaViolation:
                return None
            if written.startswith("#"):
                inside = [c for c in items(resource, "contained") if strings(c, "id") == [link.id]]
                return next((v for c in inside if _type(c) == "Patient" for i in items(c, "identifier")
                             for v in strings(i, "value")), None)
            if link.type in ("Patient", None):
                return link.id
        for identifier in items(subject, "identifier"):
            return next(iter(strings(identifier, "value")), None)
    return None


def _type(resource: Node) -> str:
    return next(iter(strings(resource, "resourceType")), "")
