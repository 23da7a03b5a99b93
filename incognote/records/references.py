"""FHIR references and URLs: which stretches of them are ids, and what stands there afterwards.

The forms are those of R4, References (section 2.3.0.1) and Bundle (section 2.36.4): relative and absolute literal
references, `urn:uuid:`, `urn:oid:`, `#contained`, and the conditional references and request URLs of transactions.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from incognote.errors import AccountingError, SchemaViolation
from incognote.schemas.fhir.rules import rules

BASE = "https://deid.invalid/fhir"
"""Stands for every server: `.invalid` never resolves (RFC 6761, section 6.4)."""

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
    """A stretch that is replaced by a keyed hash; `form` says what must come of it."""

    start: int
    end: int
    form: Form


@dataclass(frozen=True, slots=True)
class Link:
    """A reference or URL taken apart.

    Args:
        segments: what is hashed.
        fixed: what is replaced whatever the hashes are: `(start, end, new)`.
        type, id: of the resource meant, where the reference tells; `id` is also that of `#id` and of `urn:uuid:id`.
        base: the server's address, "" for none.
    """

    segments: tuple[Segment, ...]
    fixed: tuple[tuple[int, int, str], ...] = ()
    type: str | None = None
    id: str | None = field(default=None, repr=False)
    base: str = field(default="", repr=False)


def take_apart(written: str, path: str) -> Link:
    """Read a reference, a fullUrl, a link or a request URL.

    Raises:
        SchemaViolation: it is none of these, or names a resource type that R4 does not have.
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
    raise SchemaViolation(f"{path}: not a reference or URL of FHIR R4", field=path)


def _segments(match: re.Match[str], *groups: str) -> tuple[Segment, ...]:
    return tuple(Segment(*match.span(group), id_form(match[group])) for group in groups if match[group])


def id_form(written: str) -> Form:
    """What must come of a bare id, so that it still equals the ids inside references."""
    return "uuid" if _UUID.fullmatch(written) else "id"


def shaped(value: str, form: Form) -> str:
    """A keyed hash as an id of FHIR; the same hash always gives the same id.

    Args:
        value: what the policy's hash made of the old id. A valid id stays as it is; of anything else a digest is taken.
    """
    digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).digest()
    if form == "uuid":
        return str(uuid.UUID(bytes=digest[:16], version=4))
    if form == "oid":
        return f"2.25.{uuid.UUID(bytes=digest[:16], version=4).int}"  # ITU-T X.667, section 7: the arc of UUIDs
    return value if re.fullmatch(_ID, value) else digest.hex()[:32]


def check_one_to_one(pairs: Iterable[tuple[str, str]]) -> None:
    """Refuse replacements of ids by which a reference would lead elsewhere, or nowhere.

    Args:
        pairs: what stood there and what its hash is; other values than ids (queries, numbers with spaces) do not count.

    Raises:
        AccountingError: one id has two replacements, or two ids have one.
    """
    known = {(old, new) for old, new in pairs if re.fullmatch(_ID, old)}
    if not len(known) == len({old for old, _ in known}) == len({new for _, new in known}):
        raise AccountingError("the replacements of ids are not one to one: references would lead astray")
