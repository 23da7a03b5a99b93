"""An index of known values by first token, normal form, and calendar day, so that one pass over a text is enough."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date
from functools import cached_property
from typing import NamedTuple

from incognote.detectors.known.words import days_of, tokens, unspaced, variants, vocabulary
from incognote.nouns import Known
from incognote.schemas.catalogue import catalogue
from incognote.text import reading
from incognote.text.lexicon import EPONYM, MEDICAL, commonness, fold, given, lexicon

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
"""Shorter names are not joined from pieces."""
INNER_HEAD = 4
"""Shorter identifiers are not searched for inside longer tokens."""
_TYPO_LENGTH, _FAR_TYPO_LENGTH = 6, 10
_LONGEST_VARIED = 64
"""A longer name is searched for as written only. Its misspellings and beginnings would fill the memory."""


class Entry(NamedTuple):
    """A token sequence that represents a known value.

    Attributes:
        rest: the tokens after the first.
        common: every token longer than one letter is an ordinary word, so capitals must support the match.
        leak: finding the sequence in an output proves that the value is still there.
    """

    rest: tuple[str, ...]
    type: str
    kind: str
    score: float
    common: bool
    leak: bool


Forms = dict[str, dict[str, str]]
"""The forms to search for, each with its type, by their first `SQUEEZED_HEAD` characters."""


def alike(word: str) -> str:
    """Return a word's letters, with digits and symbols replaced by similar letters. i and l count as one letter."""
    return "".join(c for c in fold(word.translate(_STANDS_FOR)) if c.isalpha()).replace("i", "l")


def _by_head(forms: Iterable[tuple[str, str]]) -> Forms:
    made: Forms = {}
    for form, kind in forms:
        made.setdefault(form[:SQUEEZED_HEAD], {}).setdefault(form, kind)
    return made


class _Usual(dict[str, bool]):
    """Whether a token is a number or a common word, computed once per index."""

    def __missing__(self, word: str) -> bool:
        usual = self[word] = word.isdigit() or is_usual(word)
        return usual


class Index:
    """Known values, keyed for lookup by the tokens of a text. Immutable once built.

    Args:
        thorough: see `KnownDetector`.

    Attributes:
        unsought: the number of values per type that are not searched for. Ages do not count: they never are.

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
        self._names: list[tuple[str, str]] = []  # full names without separators
        self._literals: list[tuple[str, str]] = []  # e-mail addresses, URLs and user names, without separators
        self._parts: list[tuple[str, str]] = []  # parts of names that may be misspelled
        self.inner: dict[str, dict[str, str]] = {}  # identifiers to find inside longer tokens, by their head
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
        """Parts of names by their forms with one or two letters removed. Built on first use; `leaks` needs none."""
        near: dict[str, set[tuple[str, str]]] = {}
        for part, kind in self._parts:
            for form in deletions(part) if len(part) <= _LONGEST_VARIED else ():
                near.setdefault(form, set()).add((part, kind))
        return near

    @cached_property
    def longest_near(self) -> int:
        """The longest token to check: a misspelling has at most two extra letters.

        Without the limit, the deletions of a very long token would fill the memory.
        """
        return max(map(len, self.near), default=0) + 2

    @cached_property
    def mails(self) -> Forms:
        """E-mail addresses, URLs and user names by their letters and digits."""
        return _by_head((form, kind) for form, kind in self._literals if len(form) >= MIN_SQUEEZED_CODE)

    @cached_property
    def alike(self) -> Forms:
        """Full names, and long parts that are not common words, as returned by `alike`."""
        parts = ((part, kind) for part, kind in self._parts if not is_usual(part))
        return _by_head((alike(name), kind) for name, kind in (*self._names, *parts))

    @cached_property
    def dates_written(self) -> Forms:
        """Days as eight digits."""
        return self._dates("%d%m%Y", "%m%d%Y", "%Y%m%d")

    @cached_property
    def dates_said(self) -> Forms:
        """Days as eight or six digits."""
        return self._dates("%d%m%Y", "%m%d%Y", "%Y%m%d", "%d%m%y", "%m%d%y", "%y%m%d")

    def _dates(self, *ways: str) -> Forms:
        days = [(day, kind) for days in self.days.values() for day, kind in days.items()]
        return _by_head((day.strftime(way), kind) for day, kind in days for way in ways)

    @cached_property
    def beginnings(self) -> frozenset[str]:
        """The beginnings of names that are a single token. Such a name may be cut into pieces."""
        names = [word for word, entries in self.sequences.items() if any(not e.rest for e in entries)]
        cut = (name for name in names if MIN_STITCHED <= len(name) <= _LONGEST_VARIED)
        return frozenset(name[:n] for name in cut for n in range(1, len(name)))

    def __bool__(self) -> bool:
        return bool(self.sequences or self.codes or self.phones or self.days or self.unspaced)

    def _add(self, one: Known, seen: set[tuple[tuple[str, ...], str]]) -> bool:
        """Add one value. Return whether there is anything to search for."""
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
        """Add every way to write a name. Return whether any of them is long enough."""
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
        """Add a sequence of tokens. Return whether it is long enough."""
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
        """Add an address, its line with the house number, and its postal code. Return whether it is long enough."""
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
    """Whether a word is an ordinary English or medical word, so that only a capital shows that it is a name."""
    entry = lexicon().get(word, 0)
    if commonness(entry) < 2 and given(entry) > 2 and word not in vocabulary().months:
        return False
    return commonness(entry) >= 2 or bool(entry & (MEDICAL | EPONYM)) or word in vocabulary().months


def normal_form(value: str) -> str:
    """Return an identifier in lower case without separators."""
    return "".join(tokens(value).lows)


def phone_forms(value: str) -> Iterator[str]:
    """Yield the digits of a telephone number, with and without country code and trunk zero, without its extension."""
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
    """Return the word and its forms with one letter removed (two if it is long). Similar words share such a form."""
    forms = {word} | {word[:k] + word[k + 1 :] for k in range(len(word))}
    if len(word) >= _FAR_TYPO_LENGTH:
        forms |= {form[:k] + form[k + 1 :] for form in tuple(forms) for k in range(len(form))}
    return forms
