"""Words for the search for known identifiers: tokens of a text, variants of names and dates, and word lists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from typing import Any, NamedTuple

from incognote.detectors.rules.view import cut
from incognote.languages import language
from incognote.text.lexicon import fold

# Letters include their combining marks, so that a decomposed accent does not split a word. Digits are separate from
# letters, so that MRN12345 contains the token 12345.
_TOKEN = re.compile("([^\\W\\d_](?:[^\\W\\d_]|[\u0300-\u036f])*|\\d+)")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_GAP = re.compile(r"[\s.,/\-–—'’()\u200e\u200f年月日]{0,4}\Z")

Day = tuple[int | None, int, int]


class KnownWords(NamedTuple):
    """A language's words for known identifiers, from the file `words/known.toml` of its bundle. All words are folded.

    Attributes:
        titles, suffixes, particles: words that may occur before, after and within a name.
        not_initials: letters with periods that are not initials.
        verbs: names that are also verbs.
        make_ordinary: words after an ordinary word that only looks like a name.
        letters: single letters that are words or endings of words.
        months: month names in English and other languages, each with its number.
        before_day: words before a day and a month without a year.
        before_month: words before a month that may also be a name.
        links: words between the parts of a date.
        between: words between numbers that are spelled out.
        signs: words for the symbols of an e-mail address.
        extension, postal_code, po_box: patterns for telephone numbers and addresses.
    """

    titles: frozenset[str]
    suffixes: frozenset[str]
    particles: frozenset[str]
    not_initials: frozenset[str]
    verbs: frozenset[str]
    make_ordinary: frozenset[str]
    letters: frozenset[str]
    months: dict[str, int]
    before_day: frozenset[str]
    before_month: frozenset[str]
    links: frozenset[str]
    between: frozenset[str]
    signs: frozenset[str]
    extension: re.Pattern[str]
    postal_code: re.Pattern[str]
    po_box: re.Pattern[str]


@cache
def vocabulary() -> KnownWords:
    """Return the words of the language, read once per process."""
    written = language().table("words", "known.toml")
    names, dates, numbers = written["names"], written["dates"], written["numbers"]
    months = {
        word: number
        for lists in (dates.pop("more_months"), dates.pop("months"))
        for number, line in enumerate(lists, 1)
        for word in line.split()
    }
    patterns: dict[str, Any] = {key: re.compile(numbers.pop(key)) for key in ("extension", "postal_code", "po_box")}
    lists: dict[str, Any] = {key: frozenset(words.split()) for key, words in (names | dates | numbers).items()}
    return KnownWords(**lists, months=months, **patterns)


class TokenList(NamedTuple):
    """The tokens of a text as parallel lists. `lows` are folded (lower case, no diacritics), `words` are as written."""

    text: str
    words: list[str]
    lows: list[str]
    starts: list[int]
    ends: list[int]

    def gap(self, i: int) -> str:
        """Return the text between token i-1 and token i."""
        return self.text[self.ends[i - 1] : self.starts[i]]


def tokens(text: str) -> TokenList:
    """Split a text into tokens."""
    starts, ends, words, _ = cut(_TOKEN, text)
    folded = str.lower if text.isascii() else fold
    return TokenList(text, words, list(map(folded, words)), starts, ends)


def unspaced(value: str) -> bool:
    """Whether the value is written in a script without spaces between words (Han, Kana, Thai, …)."""
    return bool(_UNSPACED.search(value))


class NameForm(NamedTuple):
    """A sequence of folded tokens that refers to the person. `kind` is whole, part, initial or initials."""

    tokens: tuple[str, ...]
    kind: str


def variants(name: str) -> Iterator[NameForm]:
    """Yield every way to write a name: in full, inverted, shortened, with initials, and its parts alone.

    A comma means LAST, FIRST MIDDLE. Parts of a hyphenated name also count alone. Particles (van, de, al) never do.
    """
    given, family = _split(name)
    if not given and not family:
        return
    if not family:
        yield from _parts(given)
        return
    first, middles = given[:1], given[1:]
    surname = _flat(family)
    if first:
        forms = {surname: None, _flat(family[-1:]): None, tuple("".join(word) for word in family): None}
        for form in forms:  # in full, its last part, O'Brien as OBrien
            yield from _combined(first, middles, form)
    yield from _parts([*given, *family])
    if len(family) > 1:
        yield NameForm(surname, "whole")
    initials = tuple(word[0][0] for word in (*given, *family) if word[0] not in vocabulary().particles)
    if len(initials) > 1:
        yield NameForm(initials, "initials")
        yield NameForm((initials[0], initials[-1]), "initials")


def _combined(
    first: list[tuple[str, ...]], middles: list[tuple[str, ...]], surname: tuple[str, ...]
) -> Iterator[NameForm]:
    one, rest = _flat(first), _flat(middles)
    letters = tuple(word[0][0] for word in middles)
    initial = (first[0][0][0],)
    every = ((*one, *rest), one, (*one, *letters), (*initial, *letters), initial, (*initial, *rest), rest)
    for given in dict.fromkeys(every):
        if given:
            kind = "initial" if min(map(len, given)) == 1 else "whole"
            yield NameForm((*given, *surname), kind)
            yield NameForm((*surname, *given), kind)


def _parts(words: list[tuple[str, ...]]) -> Iterator[NameForm]:
    for word in words:
        if len(word) == 1 and (word[0] in vocabulary().particles or len(word[0]) < 2):
            continue
        yield NameForm(word, "part")
        if len(word) > 1:
            yield NameForm(("".join(word),), "part")


def _flat(words: list[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(token for word in words for token in word)


def _split(name: str) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Split a name into given and family names. Each is a list of words, and a word is its tokens (O'Brien has two)."""
    name = re.sub(r"\([^)]*\)|[\"“”]", " ", name)
    head, comma, tail = name.partition(",")
    if comma and (rest := [w for w in _words(tail) if w[0] not in vocabulary().suffixes]):
        return rest, _words(head)
    chunks = [words for chunk in head.split() if (words := _words(chunk))]
    chunks = [words for k, words in enumerate(chunks) if not _ornament(words, k == 0, k > 0)]
    if len(chunks) < 2:
        return [word for words in chunks for word in words], []
    cut = len(chunks) - 1
    while (
        cut > 1
        and len(chunks[cut - 1]) == 1
        and chunks[cut - 1][0][0] in vocabulary().particles
        and len(chunks[cut - 1][0][0]) > 1
    ):
        cut -= 1  # Ludwig van Beethoven
    return [w for words in chunks[:cut] for w in words], [w for words in chunks[cut:] for w in words]


def _ornament(words: list[tuple[str, ...]], first: bool, later: bool) -> bool:
    """Whether words are a title before the name or a credential after it."""
    low = words[0][0]
    return (
        len(words) == 1
        and len(words[0]) == 1
        and ((first and low in vocabulary().titles) or (later and low in vocabulary().suffixes))
    )


def _words(written: str) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for chunk in re.split(r"[\s\-‐.,]+", written):
        lows = tuple(tokens(chunk).lows)
        if lows:
            found.append(lows)
    return found


def days_of(value: str) -> list[date]:
    """Return the days that a written date may mean.

    There are two if day and month may be swapped, and none if the value is not a full date.
    """
    found: list[date] = []
    words = tokens(value.split("T")[0] if re.match(r"\d{4}-\d\d-\d\dT", value) else value)
    for day, _ in _read(words, 0):
        if day[0] is not None:
            found.extend(_dates(day))
    return sorted(set(found))


def days_in(words: TokenList, i: int) -> Iterator[tuple[Day, int]]:
    """Yield every reading of a date at token i: (year or None, month, day) and its end. Longer readings come first."""
    yield from sorted(_read(words, i), key=lambda reading: -reading[1])


def _dates(day: Day) -> Iterator[date]:
    year, month, dom = day
    assert year is not None
    for full in (year,) if year > 99 else (1900 + year, 2000 + year):
        try:
            yield date(full, month, dom)
        except ValueError:
            continue


def matches(day: Day, known: date) -> bool:
    """Whether a reading may mean that day. Its year may be missing or have two digits."""
    year, month, dom = day
    return (
        month == known.month
        and dom == known.day
        and (year is None or year == known.year or (year < 100 and year == known.year % 100))
    )


def _read(words: TokenList, i: int) -> Iterator[tuple[Day, int]]:
    months, links = vocabulary().months, vocabulary().links
    parts: list[tuple[str, int, int]] = []  # (kind, number, end); kind n is a number, m a month name
    j = i
    while j < len(words.lows) and len(parts) < 3 and j - i < 6:
        low = words.lows[j]
        if j > i and not _GAP.match(words.gap(j)):
            break
        if low.isdecimal():
            if len(low) > 4 and not (j == i and len(low) == 8):
                break
            parts.append(("n", int(low), j + 1))
            if len(low) == 8:
                yield from _compact(low, j + 1)
                return
            if len(low) > 2 and len(low) != 4:
                break
        elif low in months and not any(kind == "m" for kind, _, _ in parts):
            parts.append(("m", months[low], j + 1))
        elif j == i or low not in links:
            break
        j += 1
    yield from _orders(words, i, parts)


def _compact(digits: str, end: int) -> Iterator[tuple[Day, int]]:
    for year, month, day in (
        (digits[:4], digits[4:6], digits[6:]),
        (digits[4:], digits[:2], digits[2:4]),
        (digits[4:], digits[2:4], digits[:2]),
    ):
        if _valid(int(month), int(day)) and 1850 < int(year) < 2200:
            yield (int(year), int(month), int(day)), end


def _orders(words: TokenList, i: int, parts: list[tuple[str, int, int]]) -> Iterator[tuple[Day, int]]:
    kinds = "".join(kind for kind, _, _ in parts)
    numbers = [number for _, number, _ in parts]
    ends = [end for _, _, end in parts]
    if len(parts) == 3:
        a, b, c = numbers
        orders = {
            "nnn": ((a, b, c), (c, b, a), (c, a, b)),
            "mnn": ((c, a, b), (b, a, c)),
            "nmn": ((c, b, a), (a, b, c)),
        }.get(kinds, ())
        for year, month, day in orders:
            if _valid(month, day) and (year > 999 or 0 <= year < 100):
                yield (year, month, day), ends[2]
    if len(parts) >= 2:
        a, b = numbers[:2]
        if kinds[:2] == "mn" and _valid(a, b):
            yield (None, a, b), ends[1]
        elif kinds[:2] == "nm" and _valid(b, a):
            yield (None, b, a), ends[1]
        elif kinds[:2] == "nn" and ends[1] == i + 2 and words.gap(i + 1) == "/":
            for month, day in ((a, b), (b, a)):
                if _valid(month, day):
                    yield (None, month, day), ends[1]


def _valid(month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= (30 if month in (4, 6, 9, 11) else 29 if month == 2 else 31)
