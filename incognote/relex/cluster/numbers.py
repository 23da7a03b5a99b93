"""Telephones and identifiers by their normal form."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from incognote.detectors.rules.lexicon import fold
from incognote.relex.cluster.united import attached, by_key
from incognote.relex.nouns import Variant

_EXTENSION = re.compile(r"(?:e?xt(?:ension|n)?\.?|(?<=\d)\s*x|#)\s*[:.]?\s*(\d{1,6})\s*\Z", re.IGNORECASE)
_LOCAL = 7  # digits of a number without its area code
_COUNTRY = 3  # digits of a country's code at most
_TELLING = 5  # letters and digits from which an identifier is the same under any type

Phone = tuple[str, str]
"""The digits without trunk zeros and North America's leading 1, and the extension."""


@lru_cache(maxsize=1 << 12)
def phone_of(words: str) -> Phone:
    """(413) 555-0109 ext. 22 → ("4135550109", "22"); +1 617 555 0192 → ("6175550192", "")."""
    match = _EXTENSION.search(words)
    number = words[: match.start()] if match else words
    digits = "".join(c for c in number.replace("(0)", "") if c.isdigit())
    if len(digits) == 11 and digits[0] == "1":
        digits = digits[1:]
    if len(digits) > _LOCAL:
        digits = digits.lstrip("0") or digits
    return digits or fold(words), match.group(1) if match else ""


def phones(variants: Iterable[Variant]) -> list[tuple[Phone, list[Variant]]]:
    """Numbers that are one: however grouped, with the country's code or a trunk zero, without area code or extension.

    A shorter form belongs to a fuller one where only one fits (in its record, else in the patient's).
    """
    forms = by_key(sorted(set(variants)), lambda v: phone_of(v.words))
    ends: dict[str, list[Phone]] = defaultdict(list)
    for form in sorted(forms):
        ends[form[0][-_LOCAL:]].append(form)

    def fuller(form: Phone) -> list[Phone]:
        digits, extension = form
        if len(digits) < _LOCAL:
            return []
        longer = [
            other
            for other in ends[digits[-_LOCAL:]]
            if other[0] != digits
            and other[0].endswith(digits)
            and other[1] == extension
            and (len(digits) == _LOCAL or len(other[0]) - len(digits) <= _COUNTRY)
        ]
        return longer or (
            [other for other in ends[digits[-_LOCAL:]] if other[0] == digits and other[1]] if not extension else []
        )

    return [(form, sorted(found)) for form, found in attached(forms, fuller)]


@lru_cache(maxsize=1 << 12)
def code_of(words: str) -> str:
    """Letters and digits alone, in small letters; zeros before a number say nothing."""
    low = "".join(c for c in fold(words) if c.isalnum()) or words
    return (low.lstrip("0") or low) if low.isdigit() else low


def codes(variants: Iterable[Variant]) -> list[tuple[tuple[str, str], list[Variant]]]:
    """Identifiers that are one: the same letters and digits, a prefix left out or not; short ones under one type."""

    def form(variant: Variant) -> tuple[str, str]:
        code = code_of(variant.words)
        return code, "" if len(code) >= _TELLING else variant.type

    forms = by_key(sorted(set(variants)), form)
    behind: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for code, kind in sorted(forms):
        if (bare := code.lstrip("abcdefghijklmnopqrstuvwxyz")) != code and bare.isdigit():
            behind[bare.lstrip("0")].append((code, kind))

    def fuller(key: tuple[str, str]) -> list[tuple[str, str]]:
        """The same number with letters before it: KB330927, of 330927."""
        return behind[key[0]] if len(key[0]) >= _TELLING and key[0].isdigit() else []

    return [(key, sorted(found)) for key, found in attached(forms, fuller)]
