"""Coarser but true: age bands, years, three-digit ZIP codes, states."""

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
    """What is told less of, by kind; what cannot be read becomes the label.

    - AGE: with mode `bands`, bands of `width` years, the last ending at 89; with mode `safe-harbor`, ages up to 89
      stay. Above 89 both say `90+`. The phrase around the number stays ("40-49-year-old").
    - DATE: the year, where one is written and tells no age above 89: it must not lie 90 years or more before the
      year the document speaks from, and a year of birth needs such a year to be compared with.
    - ZIP: the first three digits, or 000 (45 CFR 164.514(b)(2)(i)(B)).
    - other places: the state, where the words or the state written next to them tell it.
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
        told = age.banded(self.param(params, "width"))
        return label(span, context) if told is None else age.rewritten(span.words, told)

    def _date(self, span: Span, context: OperatorContext, params: Mapping[str, Any]) -> str | None:
        years = self._years(span, context, params)
        if not years or any(_tells_old_age(year, span, context) for year in years):
            return label(span, context)
        return "-".join(str(year) for year in sorted(set(years)))

    def _years(self, span: Span, context: OperatorContext, params: Mapping[str, Any]) -> list[int]:
        """The years written in a date or range; of words that cannot be read, the one four-digit year among them."""
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
