"""Replace values with coarser true ones: age bands, years, three-digit ZIP codes, states."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from incognote.nouns import Span
from incognote.operators.base import Operator, OperatorContext, is_birth, is_date, label, state_at
from incognote.operators.readers import OLDEST_TOLD, ages, places
from incognote.schemas.catalogue import catalogue

_LONE_YEAR = re.compile(r"(?<![\d.,:/-])(?:1[89]|20|21)\d\d(?![\d.,:/-]*\d)", re.ASCII)


class Generalize(Operator):
    """Writes a less precise value, by kind. A value that cannot be read becomes the label.

    - AGE: with mode `bands`, bands of `width` years, the last ending at 89. With mode `safe-harbor`, ages up to 89
      stay. Above 89, both write `90+`. The phrase around the number is kept ("40-49-year-old").
    - DATE: the year, if one is written and does not reveal an age above 89. It must not be 90 years or more before the
      year of the document, and for a year of birth the year of the document must be known.
    - ZIP: the first three digits, or 000 (45 CFR 164.514(b)(2)(i)(B)).
    - other places: the state, if the words name or imply it or it is written next to them.
    """

    name = "generalize"

    def replace(self, span: Span, context: OperatorContext, params: Mapping[str, Any]) -> str | None:
        kinds = catalogue().lineage(span.type)
        if "AGE" in kinds:
            return self._age(span, context, params)
        if is_date(span.type):
            return self._date(span, context, params)
        if "ZIP" in kinds:
            return places(context.language).zip3(span.words) or label(span, context)
        if "LOCATION" in kinds:
            state = state_at(span, context)
            return state.name if state else label(span, context)
        return label(span, context)

    def _age(self, span: Span, context: OperatorContext, params: Mapping[str, Any]) -> str | None:
        age = ages(context.language).read_age(span.words)
        if age is None:
            return label(span, context)
        if self.param(params, "mode") == "safe-harbor" and age.high <= OLDEST_TOLD:
            return None
        coarse = age.banded(self.param(params, "width"))
        return label(span, context) if coarse is None else age.rewritten(span.words, coarse)

    def _date(self, span: Span, context: OperatorContext, params: Mapping[str, Any]) -> str | None:
        years = self._years(span, context, params)
        if not years or any(_tells_old_age(year, span, context) for year in years):
            return label(span, context)
        return "-".join(str(year) for year in sorted(set(years)))

    def _years(self, span: Span, context: OperatorContext, params: Mapping[str, Any]) -> list[int]:
        """Return the years in a date or range. If it cannot be read, return its only four-digit year, if any."""
        read = context.read_dates(span, self.param(params, "day_first"))
        if read is None:
            found = _LONE_YEAR.findall(span.words)
            return [int(found[0])] if len(found) == 1 and len(re.findall(r"\d+", span.words)) == 1 else []
        years = [part.year for part in read if not isinstance(part, str)]
        return [year for year in years if year is not None]


def _tells_old_age(year: int, span: Span, context: OperatorContext) -> bool:
    now = context.latest_year
    if now is None:
        return is_birth(span.type)
    return now - year > OLDEST_TOLD
