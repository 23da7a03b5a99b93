"""The values of FHIR R4: the form of primitives, the ids in references, and the identifiers that a resource reveals.

Primitives: R4, Data Types (section 2.24.0.1). References and URLs: R4, References (section 2.3.0.1) and Bundle (section
2.36.4): relative and absolute literal references, `urn:uuid:`, `urn:oid:`, `#contained`, and the conditional references
and request URLs of transactions.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from incognote.errors import AccountingError, SchemaViolation
from incognote.formats.base import Change
from incognote.formats.records.narrative import Attached, Narrative
from incognote.formats.records.rawjson import Node
from incognote.nouns import Known
from incognote.schemas.fhir import rules

_YEAR = r"(?:[0-9](?:[0-9](?:[0-9][1-9]|[1-9]0)|[1-9]00)|[1-9]000)"
_MONTH, _DAY = r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12][0-9]|3[01])"
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?:\.[0-9]+)?"
_ZONE = r"(?:Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))"
_INTEGER = r"(?:0|[1-9][0-9]{0,9})"

_FORMS = {
    name: re.compile(form)
    for name, form in {
        "date": rf"{_YEAR}(?:-{_MONTH}(?:-{_DAY})?)?",
        "dateTime": rf"{_YEAR}(?:-{_MONTH}(?:-{_DAY}(?:T{_CLOCK}{_ZONE})?)?)?",
        "instant": rf"{_YEAR}-{_MONTH}-{_DAY}T{_CLOCK}{_ZONE}",
        "time": _CLOCK,
        "code": r"\S+(?: \S+)*",
        "id": r"[A-Za-z0-9\-.]{1,64}",
        "uri": r"\S+", "url": r"\S+", "canonical": r"\S+",
        "string": r"(?s:.+)", "markdown": r"(?s:.+)", "xhtml": r"(?s:.+)",
        "base64Binary": r"[0-9A-Za-z+/=\s]+",
        "oid": r"urn:oid:[0-2](?:\.(?:0|[1-9][0-9]*))+",
        "uuid": r"urn:uuid:[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
        "integer": rf"-?{_INTEGER}", "integer64": r"-?(?:0|[1-9][0-9]{0,18})",
        "unsignedInt": _INTEGER, "positiveInt": r"[1-9][0-9]{0,9}",
        "decimal": r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?",
    }.items()
}
_KINDS = {
    "boolean": ("boolean",), "integer": ("integer",), "unsignedInt": ("integer",), "positiveInt": ("integer",),
    "decimal": ("integer", "number"),
}
_ON_A_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")


def is_primitive(type_: str) -> bool:
    """Whether a type's JSON value is a string, number or boolean."""
    return type_ in _FORMS or type_ == "boolean"


def fits(type_: str, node: Node, raw: str) -> bool:
    """Whether a JSON value is valid for a primitive type."""
    if node.kind not in _KINDS.get(type_, ("string",)):
        return False
    return type_ == "boolean" or is_valid(type_, node.value if node.kind == "string" else raw[node.start : node.end])


def is_valid(type_: str, written: str) -> bool:
    """Whether a string is in the lexical space of a primitive type. A day must exist in the calendar."""
    if _FORMS[type_].fullmatch(written) is None:
        return False
    if type_ in ("date", "dateTime", "instant") and (day := _ON_A_DAY.match(written)):
        try:
            date(*map(int, day.groups()))
        except ValueError:
            return False
    return True


BASE = "https://deid.invalid/fhir"
"""Replaces every server address: `.invalid` never resolves (RFC 6761, section 6.4)."""

Form = Literal["id", "uuid", "oid"]
_ID = r"[A-Za-z0-9\-.]{1,64}"
_SERVER = r"(?:(?P<base>https?://[^\s?#]+)/)?(?P<type>[A-Z][A-Za-z]+)"
_LITERAL = re.compile(rf"{_SERVER}/(?P<id>{_ID})(?:/_history/(?P<version>{_ID}))?(?:#(?P<fragment>\S+))?")
_REQUEST = re.compile(rf"{_SERVER}(?:\?(?P<query>\S+))?")
_CONTAINED = re.compile(rf"#(?P<id>{_ID})?")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_OID = re.compile(r"[0-2](?:\.(?:0|[1-9][0-9]*))+")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:(?://)?")


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch that is replaced by a keyed hash in the given form."""

    start: int
    end: int
    form: Form


@dataclass(frozen=True, slots=True)
class Link:
    """The parts of a reference or URL.

    Args:
        segments: the stretches that are hashed.
        fixed: the replacements that do not depend on hashes: `(start, end, new)`.
        type, id: the type and id of the target, if the reference names them. `id` is also set for `#id` and
            `urn:uuid:id`.
        base: the address of the server, or "".
    """

    segments: tuple[Segment, ...]
    fixed: tuple[tuple[int, int, str], ...] = ()
    type: str | None = None
    id: str | None = field(default=None, repr=False)
    base: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Field:
    """How the edits of one field are written back.

    Args:
        node: the value. holder, name, index: the object that contains it, its name, and its index in a list.
        type: the FHIR type.
        fixed: edits of the decoded string that are always made.
        segments: the stretches that are replaced by hashes.
        narrative, attached: the XHTML or attachment that is edited instead of the string itself.
    """

    node: Node
    holder: Node
    name: str
    index: int | None
    type: str
    fixed: tuple[Change, ...] = ()
    segments: tuple[Segment, ...] = ()
    narrative: Narrative | None = None
    attached: Attached | None = None


def take_apart(written: str, path: str) -> Link:
    """Split a reference, a fullUrl, a link or a request URL into its parts.

    Raises:
        SchemaViolation: the value is none of these, or names a resource type that R4 does not have.
    """
    if contained := _CONTAINED.fullmatch(written):
        return Link(_segments(contained, "id"), id=contained["id"])
    for prefix, form in (("urn:uuid:", _UUID), ("urn:oid:", _OID)):
        if written.startswith(prefix) and form.fullmatch(written, len(prefix)):
            kind: Form = "uuid" if form is _UUID else "oid"
            return Link((Segment(len(prefix), len(written), kind),), id=written[len(prefix) :])
    for pattern in (_LITERAL, _REQUEST):
        match = pattern.fullmatch(written)
        if match and match["type"] in rules().vocabulary["resource_types"]:
            base = match["base"] or ""
            groups = [name for name in ("id", "version", "fragment", "query") if name in pattern.groupindex]
            return Link(_segments(match, *groups), ((0, len(base), BASE),) if base else (), match["type"],
                        match["id"] if pattern is _LITERAL else None, base)
    scheme = _SCHEME.match(written)
    if scheme and scheme.end() < len(written) and not re.search(r"\s", written):
        return Link((Segment(scheme.end(), len(written), "id"),), ((0, scheme.end(), f"{BASE}/url/"),))
    raise SchemaViolation(f"{path}: not a FHIR R4 reference or URL", field=path)


def _segments(match: re.Match[str], *groups: str) -> tuple[Segment, ...]:
    return tuple(Segment(*match.span(group), id_form(match[group])) for group in groups if match[group])


def id_form(written: str) -> Form:
    """Return the form of the hash for a bare id, so that it still equals the ids in references."""
    return "uuid" if _UUID.fullmatch(written) else "id"


def shaped(value: str, form: Form) -> str:
    """Return a keyed hash as a FHIR id. The same hash always gives the same id.

    Args:
        value: the policy's hash of the old id. A valid id is used unchanged, anything else is digested.
        form: the form of the new id.
    """
    digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).digest()
    if form == "uuid":
        return str(uuid.UUID(bytes=digest[:16], version=4))
    if form == "oid":
        return f"2.25.{uuid.UUID(bytes=digest[:16], version=4).int}"  # ITU-T X.667, section 7: the OID arc of UUIDs
    return value if re.fullmatch(_ID, value) else digest.hex()[:32]


def check_one_to_one(pairs: Iterable[tuple[str, str]]) -> None:
    """Reject replacements of ids after which a reference would have a wrong target or none.

    Args:
        pairs: old values and their hashes. Values that are not ids (queries, numbers with spaces) do not count.

    Raises:
        AccountingError: one id has two replacements, or two ids have one.
    """
    known = {(old, new) for old, new in pairs if re.fullmatch(_ID, old)}
    if not len(known) == len({old for old, _ in known}) == len({new for _, new in known}):
        raise AccountingError("the replacements of ids are not one-to-one, so references would be wrong")


_NAMED = {"Patient": "PATIENT", "Person": "PATIENT", "RelatedPerson": "RELATIVE", "Practitioner": "CLINICIAN",
          "Organization": "PERSON"}
TELECOM = {"phone": "TELEPHONE_NUMBER", "sms": "TELEPHONE_NUMBER", "pager": "TELEPHONE_NUMBER", "fax": "FAX_NUMBER",
            "email": "EMAIL", "url": "URL"}
_ADDRESS = {"line": "STREET", "city": "CITY", "postalCode": "ZIP", "text": "ADDRESS"}  # state names are too common
_SUBJECTS = ("subject", "patient", "beneficiary", "individual", "for")
_TITLES = re.compile(r"^(?:(?:Dr|Prof|Mr|Mrs|Ms|Miss)\b\.?\s*)+|(?:,\s*(?:M\.?D|D\.?O|Ph\.?D|RN|NP|PA(?:-C)?)\b\.?)+$")
# Shorter values would match unrelated words.
_SHORTEST_NUMBER, _SHORTEST_ID, _SHORTEST_LINE, _SHORTEST_WORD = 4, 6, 6, 2


def revealed(resource: str, node: Node) -> Iterator[Known]:
    """Yield the names, contacts and dates that one resource reveals, without those of contained resources and entries.

    Args:
        resource: the resource type.
        node: the resource, already checked against its rules.
    """
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
    for name, kind in (("birthDate", "BIRTH_DATE_TIME"), ("deceasedDateTime", "DEATH_DATE_TIME")):
        for day in strings(node, name):
            if len(day) >= len("2000-01-01"):
                yield Known(kind, day[:10])


def bare(name: str) -> str:
    """Return a name without its titles, because texts may use other titles."""
    return _TITLES.sub("", name)


def patient_of(root: Node) -> str | None:
    """Return the subject of a resource, or the only patient of a Bundle. None if there is none or more than one."""
    resources = [root, *(r for entry in items(root, "entry") for r in items(entry, "resource"))]
    patients = [r for r in resources if _type(r) == "Patient"]
    own_ids = {found for r in patients for found in strings(r, "id")}
    if patients:
        return own_ids.pop() if len(own_ids) == 1 and all("id" in r.value for r in patients) else None
    subjects = {_subject(r) for r in resources if any(name in r.value for name in _SUBJECTS)}
    return subjects.pop() if len(subjects) == 1 else None


def items(node: Node, name: str) -> list[Node]:
    """Return the objects in a member: several, one or none."""
    return _of_kind("object", node, name)


def strings(node: Node, name: str) -> list[str]:
    """Return the strings in a member: several, one or none."""
    return [string.value for string in _of_kind("string", node, name)]


def _of_kind(kind: str, node: Node, name: str) -> list[Node]:
    member = node.value.get(name) if node.kind == "object" else None
    if member is None:
        return []
    return [value for value in (member.value if member.kind == "array" else [member]) if value.kind == kind]


def identifier_type(identifier: Node) -> str:
    """Return the entity type of an Identifier, by the code of its `type` (HL7 table 0203) or else by its `system`."""
    known = rules().vocabulary
    for concept in items(identifier, "type"):
        for coding in items(concept, "coding"):
            for code in strings(coding, "code"):
                if code in known["identifier_types"]:
                    return str(known["identifier_types"][code])
    return next((str(known["identifier_systems"][s]) for s in strings(identifier, "system")
                 if s in known["identifier_systems"]), "GUID")


def identifier_known(identifier: Node) -> Iterator[Known]:
    """Yield the number of an Identifier."""
    for value in strings(identifier, "value"):
        yield from number_known(identifier_type(identifier), value)


def number_known(entity: str, value: str) -> Iterator[Known]:
    """Yield a number that is long enough to search for."""
    number = value.removeprefix("urn:uuid:").removeprefix("urn:oid:")
    if len(number) >= _SHORTEST_NUMBER and any(c.isdigit() for c in number):
        yield Known(entity, number)


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
                yield Known(TELECOM.get(system, "GUID"), value)
    for address in items(node, "address"):
        for member, entity in _ADDRESS.items():
            for part in strings(address, member):
                if len(part) >= (_SHORTEST_LINE if entity == "STREET" else _SHORTEST_WORD):
                    yield Known(entity, part)


def _subject(resource: Node) -> str | None:
    for subject in (subject for name in _SUBJECTS for subject in items(resource, name)):
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
