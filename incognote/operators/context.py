"""What the words around a span tell: the role and specialty behind a name, the weight of a date, the kind of a number.

The knowledge base of Guan's Algorithm 3 (section 3.4), as patterns in `intelligent.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from incognote.nouns import Span
from incognote.schemas.catalogue import catalogue

_NEAR = 60  # characters looked at on either side; a cue farther off belongs to something else
_BREAK = re.compile(r"[\n\r;]|[.!?](?=\s+[A-Z])")
_NOT_STAFF = ("PATIENT", "RELATIVE")


@dataclass(frozen=True)
class _Knowledge:
    roles: tuple[tuple[str, re.Pattern[str] | None, re.Pattern[str] | None], ...]
    title: re.Pattern[str]
    titled: re.Pattern[str]
    specialties: tuple[tuple[str, re.Pattern[str]], ...]
    department: re.Pattern[str]
    temporal: re.Pattern[str]
    kinds: dict[str, str]
    cues: tuple[tuple[str, re.Pattern[str]], ...]


def role_of(span: Span) -> str:
    """ExtractClinicalRole: PATIENT, PHYSICIAN, NURSE, RELATIVE …; CLINICIAN or PERSON where nothing tells more.

    A type that is already sure (PATIENT, RELATIVE) stands; a CLINICIAN is never the patient.
    """
    if span.type in _NOT_STAFF:
        return span.type
    if _knowledge().titled.match(span.text):
        return "PHYSICIAN"
    text = span.source.content
    before, after = text[max(0, span.start - _NEAR) : span.start], text[span.end : span.end + _NEAR]
    for role, in_front, behind in _knowledge().roles:
        if span.type == "CLINICIAN" and role in _NOT_STAFF:
            continue
        if (in_front and in_front.search(before)) or (behind and behind.match(after)):
            return role
    if span.type == "CLINICIAN":
        return "PHYSICIAN" if specialty_of(span) else "CLINICIAN"
    return "PERSON"


def specialty_of(span: Span) -> str | None:
    """ExtractSpecialty: the nearest specialty in the same sentence, after the name before in front of it."""
    text = span.source.content
    after = _BREAK.split(text[span.end : span.end + _NEAR], maxsplit=1)[0]
    before = _BREAK.split(text[max(0, span.start - _NEAR) : span.start])[-1]
    follows = [(m.start(), -len(m.group()), name) for name, m in _specialties_in(after)]
    if follows:
        return min(follows)[2]
    leads = [(m.end(), len(m.group()), name) for name, m in _specialties_in(before)]
    return max(leads)[2] if leads else None


def title_before(span: Span, floor: int) -> int:
    """Where the physician's title in front of a name begins, at `floor` at the earliest; the span's start if none."""
    found = _knowledge().title.search(span.source.content[floor : span.start])
    return floor + found.start() if found else span.start


def department_after(span: Span) -> int:
    """Where the specialty that directly follows an institution's name ends; the span's end if none."""
    found = _knowledge().department.match(span.source.content, span.end)
    return found.end() if found else span.end


def matters_in_time(span: Span) -> bool:
    """AssessTemporalImportance: whether a clinical event is told near the date, in its own sentence."""
    text = span.source.content
    before = _BREAK.split(text[max(0, span.start - _NEAR) : span.start])[-1]
    after = _BREAK.split(text[span.end : span.end + _NEAR], maxsplit=1)[0]
    return bool(_knowledge().temporal.search(before) or _knowledge().temporal.search(after))


def id_kind(span: Span) -> str | None:
    """ClassifyIDType: by the type, for the mixed types by the last cue in front; None for what is no number."""
    known = _knowledge()
    listed = next((step for step in catalogue().lineage(span.type) if step in known.kinds), None)
    if listed in ("GUID", "FIN"):
        before = re.split(r"[\n\r]", span.source.content[max(0, span.start - _NEAR) : span.start])[-1]
        told = [(m.start(), kind) for kind, cue in known.cues for m in cue.finditer(before)]
        if told:
            return max(told)[1]
    return known.kinds[listed] if listed else None


def _specialties_in(words: str) -> Iterable[tuple[str, re.Match[str]]]:
    return ((name, match) for name, cue in _knowledge().specialties for match in cue.finditer(words))


@cache
def _knowledge() -> _Knowledge:
    written = tomllib.loads(files("incognote.operators").joinpath("intelligent.toml").read_text(encoding="utf-8"))
    fold = re.IGNORECASE
    any_specialty = "|".join(written["specialties"].values())
    return _Knowledge(
        roles=tuple(
            (
                entry["role"],
                re.compile(f"(?:{entry['before']})\\Z", fold) if "before" in entry else None,
                re.compile(entry["after"], fold) if "after" in entry else None,
            )
            for entry in written["roles"]
        ),
        title=re.compile(f"(?:{written['title']['before']})\\Z", fold),
        titled=re.compile(written["title"]["before"], fold),
        specialties=tuple((name, re.compile(rf"\b(?:{cue})\b", fold)) for name, cue in written["specialties"].items()),
        department=re.compile(rf"[ \t]+(?:(?:department|dept\.?|division) of )?(?:{any_specialty})\b", fold),
        temporal=re.compile(written["temporal"]["cue"], fold),
        kinds=written["kinds"],
        cues=tuple((kind, re.compile(cue, fold)) for kind, cue in written["cues"].items()),
    )
