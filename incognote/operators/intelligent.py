"""Intelligent redaction after Guan, section 3.4, Algorithm 3 and Figure 4.

Where the print contradicts itself we follow its examples:
- Figure 4 computes the decade as `year mod 10`, which gives 4 for 2024; its example prints 202X, which is `year // 10`.
- Its example keeps an age of 45, for which the algorithm has no case; a policy serves AGE by another operator.
- In its second example "Dr. " and "Cardiology" go with the name and the institution, so `extent` widens the span over a
  physician's title in front of it, and over a specialty that directly follows an institution's name. A title of another
  role ("Mr.", "nurse") stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incognote.nouns import Span
from incognote.operators import context
from incognote.operators.base import Operator, Scene, is_birth, is_date, label
from incognote.operators.dates import WrittenDate
from incognote.operators.whereabouts import state_at
from incognote.schemas.catalogue import catalogue

_TITLE_AT_MOST = 24  # characters in front of a name that a title may take
_SEASONS = ("Winter", "Spring", "Summer", "Fall")  # meteorological, of the northern hemisphere, from December


class Intelligent(Operator):
    """A label that keeps what care needs; a type the algorithm has no case for gets the plain label.

    - names: [PATIENT], [CARDIOLOGY PHYSICIAN], [PHYSICIAN], [NURSE], [RELATIVE] …
    - dates: [DATE+12 days] from the anchor where that matters, else [DATE-Spring-202X]; what is not written
      is left out: [DATE-Spring], [DATE-202X].
    - places and institutions: [LOCATION-Massachusetts], by `geography` the Census region, [LOCATION] where nothing
      tells.
    - numbers and contacts: [MRN-REDACTED], [PHONE-REDACTED] …
    """

    name = "intelligent"

    def replace(self, span: Span, scene: Scene, params: Mapping[str, Any]) -> str:
        kinds = catalogue().lineage(span.type)
        if "PERSON" in kinds:
            return self._name(span)
        if is_date(span.type):
            return self._date(span, scene, params)
        if "LOCATION" in kinds or "ORGANIZATION" in kinds:
            state = state_at(span, scene)
            if state is None:
                return "[LOCATION]"
            return f"[LOCATION-{state.name if self.param(params, 'geography') == 'state' else state.region}]"
        kind = context.id_kind(span)
        return f"[{kind}-REDACTED]" if kind else label(span, scene)

    def extent(self, span: Span, scene: Scene, params: Mapping[str, Any]) -> tuple[int, int]:
        kinds = catalogue().lineage(span.type)
        if "PERSON" in kinds and context.role_of(span) == "PHYSICIAN":
            return context.title_before(span, max(0, span.start - _TITLE_AT_MOST)), span.end
        if "ORGANIZATION" in kinds or span.type == "LOCATION":
            return span.start, context.department_after(span)
        return span.start, span.end

    def _name(self, span: Span) -> str:
        role = context.role_of(span)
        specialty = context.specialty_of(span) if role == "PHYSICIAN" else None
        return f"[{specialty} {role}]" if specialty else f"[{role}]"

    def _date(self, span: Span, scene: Scene, params: Mapping[str, Any]) -> str:
        read = scene.read_dates(span, self.param(params, "day_first"))
        if read is None or len(read) > 1 or not isinstance(read[0], WrittenDate):
            return "[DATE]"
        written = read[0]
        anchor = scene.anchored(self.param(params, "day_first"))
        own = scene.anchor is None and written.date == anchor  # the admission the text itself tells keeps its season
        if anchor and written.date and not own and self._relative(span, params):
            return f"[DATE{(written.date - anchor).days:+d} days]"
        season = _SEASONS[written.month % 12 // 3] if written.month else None
        decade = f"{written.year // 10}X" if written.year else None
        return f"[{'-'.join(part for part in ('DATE', season, decade) if part)}]"

    def _relative(self, span: Span, params: Mapping[str, Any]) -> bool:
        relevance = self.param(params, "relevance")
        if is_birth(span.type):
            return False  # days from an admission to a birth are an age in days
        return relevance == "always" or (relevance == "cued" and context.matters_in_time(span))
