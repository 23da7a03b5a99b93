"""Propose a record schema from sample records: count what the fields contain, and set a flag if that is sufficient.

A draft contains nothing from a sample except counts, shares, lengths, and member names that are certainly field names.
If the evidence is not sufficient, the flags are left out, which blocks the approval until a person decides.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from incognote.errors import UsageError
from incognote.nouns import Span, Text
from incognote.schemas.fieldnames import MOST_DIGITS, child, hint, item, looks_like_name
from incognote.schemas.record_schema import ENVELOPE, Flag

Find = Callable[[Sequence[Text]], list[list[Span]]]
_DATA_TYPE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
_WRITTEN: Mapping[Flag, str] = {"pass": "passThrough", "auto": "autoDeId", "mask": "shouldMask", "hash": "shouldHash"}
_SAMPLE = 200  # values per field that the detectors read; enough to estimate a share
_SEEN_CHARACTERS = 4_000
_DISTINCT_COUNTED = 100_000
_SURE = 0.5  # a field is masked if at least this share of its values is one whole identifier
_PROSE_WORDS, _PROSE_LENGTH, _PROSE_SHARE = 6, 80, 0.1
_CODED_LENGTH, _CODED_REPEATS, _CODED_LEAST = 40, 5, 20
_MAP_KEYS, _MAP_SHARE, _NAME_LEAST = 30, 0.2, 5


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of the samples for one field.

    Args:
        filled: the share of its occurrences that have a value, 0 to 1.
        distinct: the number of different values. longest: the length of the longest, in characters.
        kind: what the values look like: coded, short text, free text, number, true/false, map, mixed, empty.
        hits: by entity type, the number of values with a hit among the `looked_at` values.
        proposal: the flag, or "undecided". why: the reason in words.
    """

    path: str
    filled: float
    distinct: int
    longest: int
    kind: str
    hits: Mapping[str, int]
    looked_at: int
    proposal: str
    why: str

    def __str__(self) -> str:
        hits = "".join(f", {kind} in {n} of {self.looked_at}" for kind, n in sorted(self.hits.items()))
        return (f"{self.kind}, filled {self.filled:.0%}, {self.distinct} distinct, longest {self.longest}{hits}: "
                f"{self.proposal} ({self.why})")


@dataclass(frozen=True, slots=True)
class Draft:
    """The content of a proposed schema file, the evidence for each field, and the number of records."""

    schema: dict[str, Any]
    evidence: tuple[Evidence, ...]
    records: int

    @property
    def undecided(self) -> tuple[str, ...]:
        """The paths of the fields that a person must decide."""
        return tuple(e.path for e in self.evidence if e.proposal == "undecided")


@dataclass(slots=True)
class _Field:
    """The values seen at one place of the records."""

    places: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    filled: int = 0
    values: set[int] = field(default_factory=set)
    longest: int = 0
    prose: int = 0
    numbered: int = 0
    sample: list[str] = field(default_factory=list)
    members: dict[str, _Field] = field(default_factory=dict)
    items: _Field | None = None

    @property
    def distinct(self) -> int:
        return len(self.values)


def draft(records: Iterable[Mapping[str, Any]], find: Find, data_type: str) -> Draft:
    """Propose a schema from samples.

    Args:
        records: parsed records of one kind; iterated once.
        find: the detectors; returns one list of spans per text.
        data_type: the data type of the new schema.

    Raises:
        UsageError: there is no record, a sample is not an object, the data type is malformed, or the member names vary
            like data.
    """
    if not _DATA_TYPE.fullmatch(data_type):
        raise UsageError(
            "--name must be letters, digits, dots, hyphens, and underscores, beginning with a letter, at most 64."
        )
    root = _Field()
    for record in records:
        if not isinstance(record, Mapping):
            raise UsageError("A sample record must be a JSON object.")
        _see(root, {key: value for key, value in record.items() if key not in ENVELOPE})
    if not root.places:
        raise UsageError("A draft needs at least one sample record.")
    if not root.members or _is_map(root):
        raise UsageError("The field names of the samples vary like data. Use the same field names in every record.")
    drafting = _Drafting(find)
    schema: dict[str, Any] = {
        "$schema": "http://json-schema.org/draft-04/schema#", "type": "object", "recordVersion": "1.0",
        "description": f"Draft from {root.places} records. Decide every field, then approve", "dataType": data_type,
    }
    properties = drafting.object(root, "")
    if drafting.patient_key is not None:
        schema["patientKey"] = drafting.patient_key
    return Draft({**schema, "properties": properties}, tuple(drafting.evidence), root.places)


def _see(place: _Field, value: Any) -> None:
    place.places += 1
    kind = _kind(value)
    place.kinds[kind] += 1
    if value is None or value == "":
        return
    place.filled += 1
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _see(place.members.setdefault(str(key), _Field()), inner)
    elif isinstance(value, list):
        place.items = place.items or _Field()
        for inner in value:
            _see(place.items, inner)
    else:
        written = value if isinstance(value, str) else str(value)
        place.longest = max(place.longest, len(written))
        if len(place.values) < _DISTINCT_COUNTED:
            place.values.add(hash(written))
        if isinstance(value, str):
            place.prose += len(value) > _PROSE_LENGTH or "\n" in value or len(value.split()) >= _PROSE_WORDS
            place.numbered += sum(c.isdigit() for c in value) > MOST_DIGITS
            if len(place.sample) < _SAMPLE:
                place.sample.append(value[:_SEEN_CHARACTERS])


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    for kind, types in (("string", str), ("integer", int), ("number", float), ("object", Mapping), ("array", list)):
        if isinstance(value, types):
            return kind
    raise UsageError(f"A sample contains a {type(value).__name__}, which JSON cannot represent.")


def _is_map(place: _Field) -> bool:
    """Whether an object's member names are data (ids, people) rather than fields, so that none of them may be shown."""
    objects = place.kinds["object"]
    shares = [inner.places / objects for inner in place.members.values()]
    if len(shares) > _MAP_KEYS and sum(shares) / len(shares) < _MAP_SHARE:
        return True
    common = objects >= _NAME_LEAST
    return any(not looks_like_name(key) and not (common and share >= _SURE)
               for key, share in zip(place.members, shares, strict=True))


class _Drafting:
    def __init__(self, find: Find) -> None:
        self._find = find
        self.evidence: list[Evidence] = []
        self.patient_key: str | None = None

    def object(self, place: _Field, path: str) -> dict[str, Any]:
        made = {}
        for name, inner in place.members.items():
            inner_path = child(path, name)
            made[name] = self.field(inner, inner_path, name, share_of=place.kinds["object"])
        return made

    def field(self, place: _Field, path: str, name: str, *, share_of: int) -> dict[str, Any]:
        kinds = set(place.kinds)
        if "number" in kinds:
            kinds.discard("integer")
        written: dict[str, Any] = {"type": next(iter(kinds)) if len(kinds) == 1 else sorted(kinds)}
        plain = kinds - {"null"}
        if plain == {"object"} and place.members and not _is_map(place):
            return {**written, "properties": self.object(place, path)}
        if plain == {"array"} and place.items is not None and place.items.places:
            items = self.field(place.items, item(path, None), name, share_of=place.items.places)
            return {**written, "items": items}
        hits = self._hits(place, path)
        looks = _looks(place, plain)
        flag, entity_type, why = _decide(place, plain, looks, name, hits)
        self.evidence.append(Evidence(
            path, place.filled / share_of, place.distinct, place.longest, looks, dict(sorted(hits.any.items())),
            len(place.sample), flag or "undecided", why,
        ))
        written["description"] = str(self.evidence[-1])
        if flag is None:
            return written
        told = hint(name)
        if self.patient_key is None and told is not None and told.patient and flag == "hash" and "[]" not in path:
            self.patient_key = path
        written |= {spelled: f == flag for f, spelled in _WRITTEN.items()}
        written["entity_type"] = entity_type
        return written

    def _hits(self, place: _Field, path: str) -> _Hits:
        found = _Hits(Counter(), Counter())
        texts = [Text(value, path) for value in place.sample]
        for text, spans in zip(texts, self._find(texts) if texts else [], strict=True):
            found.any.update({span.type for span in spans})
            found.whole.update({s.type for s in spans if len(s) >= 0.8 * len(text.content.strip())})
        return found


@dataclass(frozen=True, slots=True)
class _Hits:
    """By type: the number of values that contain a hit, and of values that are entirely a hit."""

    any: Counter[str]
    whole: Counter[str]


def _looks(place: _Field, plain: set[str]) -> str:
    if not place.filled:
        return "empty"
    if plain == {"boolean"}:
        return "true/false"
    if plain <= {"integer", "number"}:
        return "number"
    if plain == {"object"}:
        return "map"
    if plain & {"object", "array", "boolean"}:
        return "mixed"
    if place.prose >= math.ceil(_PROSE_SHARE * place.filled):
        return "free text"
    repeats = place.filled >= max(_CODED_LEAST, _CODED_REPEATS * place.distinct)
    return "coded" if repeats and place.longest <= _CODED_LENGTH and not place.numbered else "short text"


def _decide(
    place: _Field, plain: set[str], looks: str, name: str, hits: _Hits
) -> tuple[Flag | None, str | None, str]:
    """Return the flag, its entity type, and the reason."""
    if looks in ("empty", "map", "mixed"):
        why = {"empty": "always empty", "map": "its field names vary like data", "mixed": "of several types"}
        return None, None, why[looks]
    told = hint(name)
    if told is not None and told.flag in ("mask", "hash"):
        if looks == "free text":
            return None, None, f"its name suggests {told.type}, but its values are free text"
        if looks != "true/false":
            return told.flag, told.type, "by its name"
    if looks == "true/false":
        return "pass", None, "only true or false"
    if looks == "free text" or (told is not None and told.flag == "auto" and plain == {"string"}):
        if plain != {"string"}:
            return None, None, "free text, but not always a string"
        return "auto", None, looks if looks == "free text" else "by its name"
    if looks == "number":
        return ("pass", None, "measurements") if plain == {"number"} else (None, None, "numbers may be identifiers")
    for kind, n in hits.whole.most_common(1):
        if n >= _SURE * len(place.sample):
            return "mask", kind, "by its detected identifiers"
    if hits.any:
        return None, None, "some values are identifiers"
    if looks == "coded":
        return ("auto" if plain == {"string"} else None), None, "few values, often repeated. To pass them, list them"
    return None, None, "many different values"
