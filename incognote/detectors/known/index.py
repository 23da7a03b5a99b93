"""What is sought, laid out so that a text is walked once: by first token, by normal form, by calendar day."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date
from functools import cached_property
from typing import NamedTuple

from incognote.detectors.known.words import days_of, tokens, unspaced, variants, vocabulary
from incognote.detectors.rules.lexicon import EPONYM, MEDICAL, commonness, fold, given, lexicon
from incognote.nouns import Known
from incognote.schemas.catalogue import catalogue
from incognote.text import reading

_NAMES = frozenset(("PERSON", "PATIENT", "CLINICIAN", "RELATIVE"))
_PHONES = frozenset(("TELEPHONE_NUMBER", "FAX_NUMBER"))
_ADDRESSES = frozenset(("ADDRESS", "STREET"))
_LITERAL = frozenset(("EMAIL", "URL", "USERNAME"))
_SCORES = {"whole": 0.95, "literal": 0.9, "part": 0.8, "initial": 0.85, "initials": 0.5}
_STANDS_FOR = str.maketrans("0134578$@!|", "oleastbsall")
_ROT13 = str.maketrans("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm")
_MIN_CODE = 4  # shorter numbers mean too many other things
_MIN_SQUEEZED_NAME, MIN_SQUEEZED_CODE = 6, 6
SQUEEZED_HEAD = 6
MIN_STITCHED = 6
"""Shorter names are not put together from pieces."""
INNER_HEAD = 4
"""Shorter identifiers are not sought inside longer tokens."""
_TYPO_LENGTH, _FAR_TYPO_LENGTH = 6, 10


class Entry(NamedTuple):
    """A token sequence that stands for a known value.

    Attributes:
        rest: the tokens after the first.
        common: every long token is an ordinary word, so capitals must speak for it.
        leak: finding it in an output proves that the value is still there.
    """

    rest: tuple[str, ...]
    type: str
    kind: str
    score: float
    common: bool
    leak: bool


Forms = dict[str, dict[str, str]]
"""What is sought, with its type, by its first `SQUEEZED_HEAD` signs."""


def alike(word: str) -> str:
    """The letters of a word and those that its digits and signs stand for; i and l are one."""
    return "".join(c for c in fold(word.translate(_STANDS_FOR)) if c.isalpha()).replace("i", "l")


def _by_head(forms: Iterable[tuple[str, str]]) -> Forms:
    made: Forms = {}
    for form, kind in forms:
        made.setdefault(form[:SQUEEZED_HEAD], {}).setdefault(form, kind)
    return made


class _Usual(dict[str, bool]):
    """Whether a token is a number or a usual word, worked out once for an index."""

    def __missing__(self, word: str) -> bool:
        usual = self[word] = word.isdigit() or is_usual(word)
        return usual


class Index:
    """Known values by what a text's token can be looked up with; immutable once built.

    Args:
        thorough: as `KnownDetector` takes it.

    Attributes:
        unsought: how many values of a type nothing seeks; ages do not count, of which nothing seeks any.

    Raises:
        UnknownName: a value's type is not in the catalogue.
    """

    def __init__(self, known: Iterable[Known], *, thorough: bool = True) -> None:
        self.thorough = thorough
        self.sequences: dict[str, list[Entry]] = {}
        self.codes: dict[str, str] = {}
        self.phones: dict[str, str] = {}
        self.days: dict[tuple[int, int], dict[date, str]] = {}
        self.unspaced: dict[str, list[tuple[str, str]]] = {}
        self._usual = _Usual()
        self._names: list[tuple[str, str]] = []  # in full, without separators
        self._literals: list[tuple[str, str]] = []  # e-mail addresses, URLs and user names, without separators
        self._parts: list[tuple[str, str]] = []  # parts of names that may be misspelt
        self.inner: dict[str, dict[str, str]] = {}  # what is sought inside longer tokens, by its head
        self.squeezed: Forms = {}  # full names and codes without separators, by their head
        self.unsought: Counter[str] = Counter()
        seen: set[tuple[tuple[str, ...], str]] = set()
        for one in dict.fromkeys(known):
            if not self._add(one, seen):
                self.unsought[one.type] += 1
        for entries in self.sequences.values():
            if len(entries) > 1:
                entries.sort(key=lambda e: (-len(e.rest), -e.score, e.type))
        for code, kind in self.codes.items():
            if len(code) >= MIN_SQUEEZED_CODE:
                self._squeeze(code, kind)
        self.code_heads = frozenset(code[:2] for code in self.codes)
        self.code_stems = frozenset(code[:_MIN_CODE] for code in self.codes)
        self.day_numbers = frozenset(
            number
            for days in self.days.values()
            for day in days
            for number in (day.day, day.month, day.year, day.year % 100)
        )
        self.longest_code = max(map(len, self.codes), default=0)
        self.phone_heads = frozenset(phone[:2] for phone in self.phones)
        self.phone_stems = frozenset(phone[:4] for phone in self.phones)

    @cached_property
    def near(self) -> dict[str, set[tuple[str, str]]]:
        """Parts of names by what is left of them without a letter or two; made when first sought: leaks need none."""
        near: dict[str, set[tuple[str, str]]] = {}
        for part, kind in self._parts:
            for form in deletions(part):
                near.setdefault(form, set()).add((part, kind))
        return near

    @cached_property
    def longest_near(self) -> int:
        """A misspelling has two letters more at most; the deletions of an endless word would fill the memory."""
        return max(map(len, self.near), default=0) + 2

    @cached_property
    def mails(self) -> Forms:
        """E-mail addresses, URLs and user names by their letters and digits."""
        return _by_head((form, kind) for form, kind in self._literals if len(form) >= MIN_SQUEEZED_CODE)

    @cached_property
    def alike(self) -> Forms:
        """Full names, and long parts that are no usual words, as `alike` makes them."""
        parts = ((part, kind) for part, kind in self._parts if not is_usual(part))
        return _by_head((alike(name), kind) for name, kind in (*self._names, *parts))

    @cached_property
    def dates_written(self) -> Forms:
        """Days by eight digits."""
        return self._dates("%d%m%Y", "%m%d%Y", "%Y%m%d")

    @cached_property
    def dates_said(self) -> Forms:
        """Days by eight digits or six."""
        return self._dates("%d%m%Y", "%m%d%Y", "%Y%m%d", "%d%m%y", "%m%d%y", "%y%m%d")

    def _dates(self, *ways: str) -> Forms:
        days = [(day, kind) for days in self.days.values() for day, kind in days.items()]
        return _by_head((day.strftime(way), kind) for day, kind in days for way in ways)

    @cached_property
    def beginnings(self) -> frozenset[str]:
        """What the names of one token begin with; such a name may be cut in pieces."""
        names = [word for word, entries in self.sequences.items() if any(not e.rest for e in entries)]
        return frozenset(name[:n] for name in names if len(name) >= MIN_STITCHED for n in range(1, len(name)))

    def __bool__(self) -> bool:
        return bool(self.sequences or self.codes or self.phones or self.days or self.unspaced)

    def _add(self, one: Known, seen: set[tuple[tuple[str, ...], str]]) -> bool:
        """Lay out one value -> whether there is anything to seek."""
        value = reading.seen(one.value).strip()
        group = catalogue()[one.type].group
        if not value or group == "AGE":
            return True
        if unspaced(value):
            whole = re.sub(r"\s+", "", value)
            if len(whole) > 1:
                self.unspaced.setdefault(whole[0], []).append((whole, one.type))
            return len(whole) > 1
        if one.type in _NAMES:
            return self._name(value, one.type, seen)
        if group == "DATE":
            days = list(days_of(value))
            for day in days:
                self.days.setdefault((day.month, day.day), {}).setdefault(day, one.type)
            return bool(days)
        if one.type in _PHONES:
            numbers = list(phone_forms(value))
            for number in numbers:
                self.phones.setdefault(number, one.type)
                self._squeeze(number, one.type)
            return bool(numbers)
        if one.type in _ADDRESSES:
            return self._address(value, one.type, seen)
        if one.type in _LITERAL or (group in ("LOCATION", "PROFESSION", "OTHER") and one.type != "ZIP"):
            if one.type in _LITERAL:
                self._literals.append((normal_form(value), one.type))
            return self._sequence(tuple(tokens(value).lows), one.type, "literal", seen)
        code = normal_form(value)
        if len(code) < _MIN_CODE:
            return False
        if any(c.isdigit() for c in code):
            self.codes.setdefault(code, one.type)
            return True
        return self._sequence(tuple(tokens(value).lows), one.type, "literal", seen)

    def _name(self, value: str, kind_of: str, seen: set[tuple[tuple[str, ...], str]]) -> bool:
        """Every way a name may be written -> whether any of them is long enough."""
        sought = False
        for words, kind in dict.fromkeys(variants(value)):
            sought |= self._sequence(words, kind_of, kind, seen)
            if kind == "whole" and len(words) > 1 and len(whole := "".join(words)) >= _MIN_SQUEEZED_NAME:
                self._sequence((whole,), kind_of, "whole", seen)
                if not all(map(is_usual, words)):
                    self._squeeze(whole, kind_of)
                    self._names.append((whole, kind_of))
                    if self.thorough:
                        self._squeeze(whole[::-1], kind_of)  # written backwards
                        self._squeeze(whole.translate(_ROT13), kind_of)
        return sought

    def _squeeze(self, form: str, kind: str) -> None:
        self.squeezed.setdefault(form[:SQUEEZED_HEAD], {}).setdefault(form, kind)

    def _inside(self, form: str, kind: str) -> None:
        if len(form) >= INNER_HEAD:
            self.inner.setdefault(form[:INNER_HEAD], {}).setdefault(form, kind)

    def _sequence(
        self, words: tuple[str, ...], kind_of: str, kind: str, seen: set[tuple[tuple[str, ...], str]]
    ) -> bool:
        """Seek a sequence of tokens -> whether it is long enough."""
        size = sum(map(len, words))
        key = (words, kind_of)
        if size < (3 if kind == "literal" else 2):
            return False
        if key in seen:
            return True
        seen.add(key)
        long = [word for word in words if len(word) > 1]
        common = all(map(self._usual.__getitem__, long))
        telling = kind in ("whole", "literal") or kind == "initial" or (kind == "part" and len(words[0]) > 2)
        numbered = kind == "literal" and len(words) > 1 and any(word.isdigit() for word in words)
        whole = kind == "whole" and len(long) > 1
        leak = telling and size > (3 if kind == "literal" else 2) and (not common or whole or numbered)
        self.sequences.setdefault(words[0], []).append(Entry(words[1:], kind_of, kind, _SCORES[kind], common, leak))
        if kind == "part" and len(words) == 1:
            self._inside(words[0], kind_of)
            if len(words[0]) >= _TYPO_LENGTH:
                self._parts.append((words[0], kind_of))
        return True

    def _address(self, value: str, kind: str, seen: set[tuple[tuple[str, ...], str]]) -> bool:
        """The whole, its line with the house number, and its postal code -> whether the whole is long enough."""
        sought = self._sequence(tuple(tokens(value).lows), kind, "literal", seen)
        for part in re.split(r"[,;\n]+", value):
            lows = tuple(tokens(part).lows)
            number = next((k for k, low in enumerate(lows) if low.isdigit()), None)
            words = [low for low in lows if low.isalpha() and len(low) > 2]
            if number is not None and words and len(lows) > 1:
                self._sequence(lows, kind, "literal", seen)
                if number + 2 < len(lows) and len(lows[number + 1]) > 2:
                    self._sequence(
                        lows[number : number + 2] if len(lows[number + 1]) > 3 else lows[number : number + 3],
                        kind,
                        "literal",
                        seen,
                    )
            code = vocabulary().postal_code.search(part)
            if code and (number is None or len(lows) > 1 or part.strip() == code.group().strip()):
                self.codes.setdefault(normal_form(code.group()), "ZIP")
        return sought


def is_usual(word: str) -> bool:
    """An ordinary English or medical word, so that its capital must say that it is a name."""
    entry = lexicon().get(word, 0)
    if commonness(entry) < 2 and given(entry) > 2 and word not in vocabulary().months:
        return False
    return commonness(entry) >= 2 or bool(entry & (MEDICAL | EPONYM)) or word in vocabulary().months


def normal_form(value: str) -> str:
    """An identifier without separators and case."""
    return "".join(tokens(value).lows)


def phone_forms(value: str) -> Iterator[str]:
    """The digits of a telephone number, with and without country code and trunk zero; no extension."""
    value = vocabulary().extension.split(value)[0]
    digits = "".join(c for c in value if c.isdigit())
    forms = {digits}
    if digits.startswith("00"):
        value, digits = "+" + digits[2:], digits[2:]
        forms.add(digits)
    if value.lstrip().startswith("+"):
        for size in (1, 2, 3):
            national = digits[size:].removeprefix("0")
            if _country(digits, size):
                forms |= {
                    national,
                    "0" + national,
                    digits[:size] + national,
                    digits[:size] + "0" + national,
                    "00" + digits[:size] + national,
                }
    elif len(digits) == 11 and digits[0] == "1":
        forms.add(digits[1:])
    elif len(digits) == 10:
        forms.add("1" + digits)
    if digits.startswith("0"):
        forms.add(digits[1:])
    yield from (form for form in forms if len(form) >= 7)


def _country(digits: str, size: int) -> bool:
    from phonenumbers import COUNTRY_CODE_TO_REGION_CODE

    return int(digits[:size] or 0) in COUNTRY_CODE_TO_REGION_CODE


def deletions(word: str) -> set[str]:
    """The word and what is left of it without one letter (without two, if long): words that are near share one."""
    forms = {word} | {word[:k] + word[k + 1 :] for k in range(len(word))}
    if len(word) >= _FAR_TYPO_LENGTH:
        forms |= {form[:k] + form[k + 1 :] for form in tuple(forms) for k in range(len(form))}
    return forms
