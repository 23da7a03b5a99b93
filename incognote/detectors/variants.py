"""The variants under which one known identifier may stand in a text, as sequences of folded tokens or as one code."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from incognote.detectors.rules.lexicon import fold
from incognote.nouns import Known
from incognote.schemas.catalogue import catalogue

# A word with its combining marks, or a run of digits: "16th" is two tokens, so an ordinal equals its number.
TOKEN = re.compile(r"(?:[^\W\d_][\u0300-\u036f]*)+|\d+")
_PARTICLES = frozenset(
    "de da do dos das del della di la le van von der den ter bin binti bint al el ibn abu of the and".split()
)
_TITLES = frozenset("dr mr mrs ms miss prof sir md phd rn np do jr sr ii iii iv".split())
_MONTHS = "january february march april may june july august september october november december".split()
_DAY = re.compile(
    r"\s*(?:(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})"
    r"|(?P<a>\d{1,2})[-/. ](?P<b>\d{1,2})[-/. ](?P<y2>\d{4}|\d{2})"
    r"|(?P<c>\d{4})(?P<e>\d{2})(?P<f>\d{2}))(?!\d)"
)
_WORDED = re.compile(
    r"(?i)\s*(?:(?P<d1>\d{1,2})(?:st|nd|rd|th)?[ -])?(?P<m>[a-z]{3,9})\.?[ -]"
    r"(?:(?P<d2>\d{1,2})(?:st|nd|rd|th)?,? )?(?P<y>\d{4})"
)
SHORTEST_CODE = 5  # a shorter number stands for too much else
_SKIPPED = frozenset({"AGE", "RACE", "ETHNICITY", "MARITAL_STATUS", "PARENTHOOD", "OCCUPATION"})


@dataclass(frozen=True, slots=True)
class Form:
    """One way of writing a known value.

    Attributes:
        tokens: folded tokens that follow each other.
        type: the known value's type.
        score: how sure a hit is.
        capital: the words must begin with a capital, since in lower case they are common words.
        fuzzy: a lone name part, long enough to be sought with typos too.
    """

    tokens: tuple[str, ...]
    type: str
    score: float
    capital: bool = False
    fuzzy: bool = False


def tokens(value: str) -> tuple[str, ...]:
    """Folded tokens; numbers without leading zeros are for dates only, so digits stay as written here."""
    return tuple(folded(m.group()) for m in TOKEN.finditer(unicodedata.normalize("NFC", value)))


def folded(word: str) -> str:
    """One token in lower case, without marks."""
    return word if word.isdigit() else fold(word)


def forms_of(known: Known, is_common: Callable[[str], bool]) -> Iterator[Form]:
    """Word-like variants of a known value; codes have `codes_of`."""
    group = catalogue()[known.type].group
    if known.type in _SKIPPED:
        return
    if group == "PERSON" and known.type != "USERNAME":
        yield from _name(known, is_common)
    elif group == "DATE":
        yield from _date(known)
    elif group == "LOCATION":
        yield from _place(known, is_common)


def codes_of(known: Known) -> frozenset[str]:
    """A code's normal forms: its letters and digits in lower case; a phone with and without its country code."""
    kind = catalogue()[known.type]
    if kind.group not in ("ID", "CONTACT") and known.type not in ("USERNAME", "ZIP"):
        return frozenset()
    normal = "".join(tokens(known.value))
    found = {normal}
    if known.type in ("TELEPHONE_NUMBER", "FAX_NUMBER"):
        found |= _numbers(known.value)
    shortest = SHORTEST_CODE if any(c.isdigit() for c in normal) else SHORTEST_CODE + 1
    return frozenset(code for code in found if len(code) >= shortest)


def _numbers(written: str) -> set[str]:
    digits = "".join(c for c in written if c.isdecimal())
    found = {digits}
    if len(digits) == 11 and digits[0] == "1":
        found |= {digits[1:], digits[4:]}
    elif len(digits) == 10 and digits[0] != "0":
        found |= {"1" + digits, digits[3:]}
    if written.lstrip().startswith(("+", "00")):
        import phonenumbers

        try:
            parsed = phonenumbers.parse("+" + digits.removeprefix("00"), None)
        except phonenumbers.NumberParseException:
            return found
        national = str(parsed.national_number)
        found |= {national, "0" + national, f"00{parsed.country_code}{national}", f"{parsed.country_code}{national}"}
    return found


def _name(known: Known, is_common: Callable[[str], bool]) -> Iterator[Form]:
    before, comma, after = known.value.partition(",")
    written = (
        f"{after} {before}"
        if comma and tokens(after) and not set(tokens(after)) <= _TITLES
        else known.value.replace(",", " ")
    )
    parts = tuple(p for p in tokens(written) if p not in _TITLES and not p.isdigit())
    if not parts:
        return
    if len(parts) > 1:
        last = parts[-1]
        given = parts[:-1]
        for form in {
            parts,
            (last, *given),
            (given[0], last),
            (last, given[0]),
            (given[0][0], last),
            (last, given[0][0]),
            (*(p[0] for p in given), last),
            (last, *(p[0] for p in given)),
            (given[0], *(p[0] for p in given[1:]), last),
            (last, given[0], *(p[0] for p in given[1:])),
        }:
            yield Form(form, known.type, 1.0 if min(map(len, form)) > 1 else 0.9, capital=min(map(len, form)) == 1)
    for part in dict.fromkeys(parts):
        if len(part) >= 3 and part not in _PARTICLES:
            common = is_common(part)
            yield Form(
                (part,),
                known.type,
                0.6 if common else 0.9,
                capital=common or len(part) == 3,
                fuzzy=len(part) >= 6 and not common,
            )


def day_of(written: str) -> tuple[int, int, int] | None:
    """Year, month, day of a full date; of an ambiguous 03/04/2025 the month-first reading."""
    if match := _DAY.match(written):
        if match["y"] or match["c"]:
            year, month, day = (
                (match["y"], match["m"], match["d"]) if match["y"] else (match["c"], match["e"], match["f"])
            )
        else:
            year, month, day = match["y2"], match["a"], match["b"]
            if int(month) > 12:
                month, day = day, month
        whole = int(year) + (0 if len(year) == 4 else 1900 if int(year) > 30 else 2000)
        found = (whole, int(month), int(day))
    elif (match := _WORDED.match(written)) and (match["d1"] or match["d2"]):
        names = [m for m in _MONTHS if m.startswith(match["m"].lower()[:3])]
        if not names:
            return None
        found = (int(match["y"]), _MONTHS.index(names[0]) + 1, int(match["d1"] or match["d2"]))
    else:
        return None
    return found if 1 <= found[1] <= 12 and 1 <= found[2] <= 31 else None


def _date(known: Known) -> Iterator[Form]:
    day = day_of(known.value)
    if day is None:
        return
    y, m, d = day
    years = (str(y), f"{y % 100:02d}")
    months = {str(m), f"{m:02d}"}
    days = {str(d), f"{d:02d}"}
    name = _MONTHS[m - 1]
    seen: set[tuple[str, ...]] = set()
    for yy in years:
        for mm in months:
            for dd in days:
                seen |= {(mm, dd, yy), (dd, mm, yy)} | ({(yy, mm, dd)} if len(yy) == 4 else set())
    for word in {name, name[:3], "sept" if m == 9 else name}:
        for dd in days:
            for ordinal in ((), ("st",), ("nd",), ("rd",), ("th",)):
                seen |= {(word, dd, *ordinal), (dd, *ordinal, word), (dd, *ordinal, "of", word)}
                seen |= {
                    form
                    for yy in years
                    for form in ((word, dd, *ordinal, yy), (dd, *ordinal, word, yy), (dd, *ordinal, "of", word, yy))
                }
    seen |= {(f"{y}{m:02d}{d:02d}",), (f"{m:02d}{d:02d}{y}",), (f"{d:02d}{m:02d}{y}",)}
    for form in seen:
        yield Form(form, known.type, 1.0)


def _place(known: Known, is_common: Callable[[str], bool]) -> Iterator[Form]:
    whole = tokens(known.value)
    if not whole or (len(whole) == 1 and len(whole[0]) < 4):
        return
    yield Form(whole, known.type, 1.0, capital=len(whole) == 1 and is_common(whole[0]))
    if known.type in ("ADDRESS", "STREET"):
        first = tokens(known.value.split(",")[0])
        if len(first) >= 2 and first != whole:
            yield Form(first, "STREET" if known.type == "ADDRESS" else known.type, 1.0)
        if len(first) >= 3 and first[0].isdigit():  # "12 Plumtree Lane" is written "12 Plumtree Ln" elsewhere
            yield Form(first[:2], "STREET", 0.9)
        for part in whole[2:]:
            if part.isdigit() and len(part) >= SHORTEST_CODE:
                yield Form((part,), "ZIP", 0.9)
