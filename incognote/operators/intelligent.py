"""Intelligent redaction after Guan, section 3.4, Algorithm 3 and Figure 4.

Where the paper contradicts itself, this module follows its examples:
- Figure 4 computes the decade as `year mod 10`, which gives 4 for 2024. Its example shows 202X, which is `year // 10`.
- Its example keeps an age of 45, for which the algorithm has no case. A policy uses another operator for AGE.
- In its second example, "Dr. " and "Cardiology" are replaced with the name and the institution. So `extent` widens the
  span over a physician's title before it, and over a specialty directly after an institution's name. The title of
  another role ("Mr.", "nurse") is kept.

The cue words around a span, the knowledge base of Algorithm 3, are data of the language: `words/intelligent.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from incognote.languages import language
from incognote.nouns import Span
from incognote.operators.base import Operator, OperatorContext, is_birth, is_date, label, state_at
from incognote.schemas.catalogue import catalogue

_TITLE_AT_MOST = 24  # maximum length of a title before a name
_NEAR = 60  # characters searched on each side; a more distant cue belongs to something else
_BREAK = re.compile(r"[\n\r;]|[.!?](?=\s+[A-Z])")
_NOT_STAFF = ("PATIENT", "RELATIVE")


class Intelligent(Operator):
    """A label that keeps clinically useful information. A type without a case in the algorithm gets the plain label.

    - names: [PATIENT], [CARDIOLOGY PHYSICIAN], [PHYSICIAN], [NURSE], [RELATIVE] …
    - dates: [DATE+12 days] from the anchor where that matters, else [DATE-Spring-202X]. A part that is not written is
      left out: [DATE-Spring], [DATE-202X].
    - places and institutions: [LOCATION-Massachusetts], or the Census region, depending on `geography`; [LOCATION] if
      the state is unknown.
    - numbers and contacts: [MRN-REDACTED], [PHONE-REDACTED] …
    """

    name = "intelligent"

    def replace(self, span: Span, context: OperatorContext, params: Mapping[str, Any]) -> str:
        kinds = catalogue().lineage(span.type)
        if "PERSON" in kinds:
            return self._name(span)
        if is_date(span.type):
            return self._date(span, context, params)
        if "LOCATION" in kinds or "ORGANIZATION" in kinds:
            state = state_at(span, context)
            if state is None:
                return "[LOCATION]"
            return f"[LOCATION-{state.name if self.param(params, 'geography') == 'state' else state.region}]"
        kind = id_kind(span)
        return f"[{kind}-REDACTED]" if kind else label(span, context)

    def extent(self, span: Span, context: OperatorContext, params: Mapping[str, Any]) -> tuple[int, int]:
        kinds = catalogue().lineage(span.type)
        if "PERSON" in kinds and role_of(span) == "PHYSICIAN":
            return title_before(span, max(0, span.start - _TITLE_AT_MOST)), span.end
        if "ORGANIZATION" in kinds or span.type == "LOCATION":
            return span.start, department_after(span)
        return span.start, span.end

    def _name(self, span: Span) -> str:
        role = role_of(span)
        specialty = specialty_of(span) if role == "PHYSICIAN" else None
        return f"[{specialty} {role}]" if specialty else f"[{role}]"

    def _date(self, span: Span, context: OperatorContext, params: Mapping[str, Any]) -> str:
        read = context.read_dates(span, self.param(params, "day_first"))
        if read is None or len(read) > 1 or isinstance(read[0], str):
            return "[DATE]"
        written = read[0]
        anchor = context.anchored(self.param(params, "day_first"))
        own = context.anchor is None and written.date == anchor  # the text's own admission date keeps its season
        if anchor and written.date and not own and self._relative(span, params):
            return f"[DATE{(written.date - anchor).days:+d} days]"
        season = _knowledge().seasons[written.month % 12 // 3] if written.month else None
        decade = f"{written.year // 10}X" if written.year else None
        return f"[{'-'.join(part for part in ('DATE', season, decade) if part)}]"

    def _relative(self, span: Span, params: Mapping[str, Any]) -> bool:
        relevance = self.param(params, "relevance")
        if is_birth(span.type):
            return False  # the days from birth to admission would be an age in days
        return relevance == "always" or (relevance == "cued" and matters_in_time(span))


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
    seasons: tuple[str, ...]


def role_of(span: Span) -> str:
    """ExtractClinicalRole: PATIENT, PHYSICIAN, NURSE, RELATIVE …; CLINICIAN or PERSON if the context gives no role.

    The types PATIENT and RELATIVE are certain and are kept. A CLINICIAN is never the patient.
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
    """ExtractSpecialty: the nearest specialty in the same sentence. One after the name takes precedence."""
    text = span.source.content
    after = _BREAK.split(text[span.end : span.end + _NEAR], maxsplit=1)[0]
    before = _BREAK.split(text[max(0, span.start - _NEAR) : span.start])[-1]
    follows = [(m.start(), -len(m.group()), name) for name, m in _specialties_in(after)]
    if follows:
        return min(follows)[2]
    leads = [(m.end(), len(m.group()), name) for name, m in _specialties_in(before)]
    return max(leads)[2] if leads else None


def title_before(span: Span, floor: int) -> int:
    """Return the start of the physician's title before a name, not before `floor`, or the span's start if none."""
    found = _knowledge().title.search(span.source.content[floor : span.start])
    return floor + found.start() if found else span.start


def department_after(span: Span) -> int:
    """Return the end of the specialty directly after an institution's name, or the span's end if there is none."""
    found = _knowledge().department.match(span.source.content, span.end)
    return found.end() if found else span.end


def matters_in_time(span: Span) -> bool:
    """AssessTemporalImportance: whether a clinical event is mentioned near the date, in the same sentence."""
    text = span.source.content
    before = _BREAK.split(text[max(0, span.start - _NEAR) : span.start])[-1]
    after = _BREAK.split(text[span.end : span.end + _NEAR], maxsplit=1)[0]
    return bool(_knowledge().temporal.search(before) or _knowledge().temporal.search(after))


def id_kind(span: Span) -> str | None:
    """ClassifyIDType: by the type, or by the last cue before it for mixed types. None if it is not a number."""
    known = _knowledge()
    listed = next((step for step in catalogue().lineage(span.type) if step in known.kinds), None)
    if listed in ("GUID", "FIN"):
        before = re.split(r"[\n\r]", span.source.content[max(0, span.start - _NEAR) : span.start])[-1]
        cues = [(m.start(), kind) for kind, cue in known.cues for m in cue.finditer(before)]
        if cues:
            return max(cues)[1]
    return known.kinds[listed] if listed else None


def _specialties_in(words: str) -> Iterable[tuple[str, re.Match[str]]]:
    return ((name, match) for name, cue in _knowledge().specialties for match in cue.finditer(words))


@cache
def _knowledge() -> _Knowledge:
    written = language("en").table("words", "intelligent.toml")
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
        department=re.compile(rf"[ \t]+(?:{written['department']['before']})?(?:{any_specialty})\b", fold),
        temporal=re.compile(written["temporal"]["cue"], fold),
        kinds=written["kinds"],
        cues=tuple((kind, re.compile(cue, fold)) for kind, cue in written["cues"].items()),
        seasons=tuple(written["seasons"]["names"]),
    )
