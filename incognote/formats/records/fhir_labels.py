"""What the label of a FHIR value says about it: an age, a date of birth, or an identifier."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from incognote.formats.records.fhir_values import items, strings
from incognote.formats.records.rawjson import Node
from incognote.schemas.fhir import Rules

_LONG, _IDENTIFYING = 7, 5
_LARGEST = 30  # a power of ten; no measurement is larger


def telling_label(rules: Rules, resource: str, holder: Node) -> str | None:
    """Return the entity type of the values of an object, by the labels that its resource type has there."""
    known: Mapping[str, str] = rules.vocabulary["telling_codes"]
    kinds: Mapping[str, str] = rules.vocabulary["identifier_types"]
    names = rules.vocabulary["labels"].get(resource, ())
    labels = [word for name in names for word in strings(holder, name)]
    for concept in (concept for name in names for concept in items(holder, name)):
        codings = items(concept, "coding")
        for coding in codings:
            for system in strings(coding, "system"):
                for code in strings(coding, "code"):
                    if f"{system}|{code}" in known:
                        return known[f"{system}|{code}"]
                    if system.rstrip("/").endswith("/v2-0203") and code in kinds:
                        return kinds[code]
        labels += [*strings(concept, "text"), *(s for c in codings for s in strings(c, "display"))]
        labels += [code for c in codings for code in strings(c, "code") if code.upper() != "NO"]  # nitric oxide
    return next(filter(None, map(rules.told_by, labels)), None)


def identifying_unit(rules: Rules, holder: Node, value: str) -> str | None:
    """Return the identifier type of a number of five digits or more, by the unit next to it: `MRN`."""
    if abs(Decimal(value).adjusted()) < _IDENTIFYING - 1:
        return None
    return next(filter(None, map(rules.told_by, (*strings(holder, "unit"), *strings(holder, "code")))), None)


def identifying_display(rules: Rules, holder: Node, code: str) -> str | None:
    """Return the identifier type of a code with five digits or more, by its display. Not for LOINC and SNOMED."""
    if sum(c.isdigit() for c in code) < _IDENTIFYING or any(rules.is_checked(s) for s in strings(holder, "system")):
        return None
    return next(filter(None, map(rules.told_by, strings(holder, "display"))), None)


def is_unit(rules: Rules, holder: Node, unit: str) -> bool:
    """Whether a unit is a common one, or repeats the code next to it, which passes on its own."""
    system = next(iter(strings(holder, "system")), "")
    same = unit in strings(holder, "code") and rules.is_code(system, unit)
    return same or unit in rules.vocabulary["units"].split()


def is_long_number(rules: Rules, holder: Node, value: str) -> bool:
    """Whether a number is as long as an identifier and has no public unit."""
    number = Decimal(value)
    if abs(number.adjusted()) > _LARGEST:
        return True
    if not number or number.adjusted() < _LONG - 1:
        return False
    system, code = (next(iter(strings(holder, name)), "") for name in ("system", "code"))
    return not rules.is_unit(system, code)
