"""Words of tables and forms: which label says what about its values (`labels.toml`), and which words name an amount."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from incognote.errors import IncognoteError
from incognote.languages import language
from incognote.schemas.catalogue import catalogue
from incognote.schemas.fieldnames import tells
from incognote.text.lexicon import KINDS, PLACE, commonness, fold, given, lexicon, surname

LONGEST = 40
"""The characters of a label."""
REPLACED = re.compile(r"\[(?P<type>[A-Z_]+?)(?:_[0-9]+)?\]|[0-9a-f]{16}")
"""What a value is replaced with: a type, or a hash."""
_LANGUAGES = ("en", "de", "fr", "es", "ar")
_TRIMMED = " .:*?\u00a0\t\n\"'"
_TEST = re.compile(r"[^\W\d_]+[0-9]+")
_NAME = re.compile(r"[^\W\d_][^\W\d_]*(?:[ ,.'’\-]{1,2}[^\W\d_]+){0,6}\.?")
_CODE = re.compile(
    r"[^\W\d_]{0,4}[\W_]{0,2}[0-9][\w/.()+ \-]{0,30}|[0-9a-f\-]{12,36}|[+(]{1,2}[0-9][0-9/.() +\-]{4,24}"
)
_ENDING = re.compile(r"\s*\([^()]*\)\Z|[ .:]+(?:intern|extern)\Z")
_BORN = re.compile(r"(?<![^\W\d_])(?:dob|d\.o\.b|geb|gebdat|born|birth ?date|née?|né\(e\)|nac|fnac)(?![^\W\d_])")
_WORDS = re.compile(r"[^\W\d_]+|[€$£]")
_DOSE = re.compile(
    r"(?<![\w.,/])[0-9]{1,4}(?:[.,][0-9]{1,3})? ?(?:%|(?:[kmnµμ]?g|mcg|m?l|iu|mmol|mmhg)(?:/(?:d?l|kg|h))?)(?![\w/])",
    re.IGNORECASE,
)
_DECIMAL = r"(?<![\w.,/])[0-9]{1,4}[.,][0-9]{1,3}(?![\w.,/])"
_TOKENS = re.compile(
    rf"(?P<dose>{_DOSE.pattern})|(?P<decimal>{_DECIMAL})|(?P<word>[^\W\d_]+)|[^\s,;:()]", re.IGNORECASE
)
_NUMBERS = frozenset("no nr number id ref code account konto iban phone tel mobile".split())
_DIGITS = {"TELEPHONE_NUMBER": 7, "FAX_NUMBER": 7}


@dataclass(frozen=True, slots=True)
class ColumnLabel:
    """What a label says about its values.

    Args:
        type: their entity type. action: as in a FieldAction.
        certain: whether all values are identifiers. Otherwise only those with the form of the type are.
        person: whether it counts only if another label names an identifier.
        short: whether it may be a drug or a test. It is uncertain, and counts only next to another label.
    """

    type: str
    action: Literal["mask", "hash", "date"]
    certain: bool = True
    person: bool = False
    short: bool = False

    def fits(self, value: str) -> bool:
        """Whether a value has the form of the type, or is what replaced one."""
        value = value.strip()
        group = catalogue()[self.type].group
        if replaced := REPLACED.fullmatch(value):
            kind = replaced["type"] or "MEDICAL_RECORD_NUMBER"  # a hash
            return kind not in catalogue() or family(kind) == family(self.type)
        if self.type in ("EMAIL", "URL"):
            return "@" in value or "." in value
        if group == "PERSON":
            return _NAME.fullmatch(value) is not None
        digits = sum(map(str.isdecimal, value))
        if group in ("ID", "CONTACT"):
            return _CODE.fullmatch(value) is not None and digits >= _DIGITS.get(self.type, 5 if self.short else 4)
        if self.type == "STATE" and len(value) == 2:
            return value.isalpha() and value.isupper()
        if group == "AGE":
            return value[:1].isdecimal() and len(value) < 10
        return digits > 2 and not _TEST.fullmatch(value) if group == "DATE" else digits > 0

    def takes(self, value: str) -> bool:
        """Whether a value under this label is an identifier. A name has a letter, a date a digit that is in no dose."""
        is_name = catalogue()[self.type].group == "PERSON"
        needs = str.isalpha if is_name else str.isdecimal if self.action == "date" else None
        value = _DOSE.sub("", value) if self.action == "date" else value
        if needs and (not any(map(needs, value)) or REPLACED.fullmatch(value.strip())):
            return self.fits(value)
        return (self.certain or self.fits(value)) and self.end(value) > 0

    def end(self, value: str) -> int:
        """Return where the identifier in a value ends, or 0. A name ends before known words with a dose.

        In `Okafor allopurinol 100 mg`, it ends after the name. In `TSH 0.02` and `eczema`, there is no identifier.
        """
        if catalogue()[self.type].group != "PERSON":
            return len(value)
        end, is_amount, is_known = 0, False, True
        for token in _TOKENS.finditer(value):
            if token["dose"] or token["decimal"]:
                is_amount, is_known = True, is_known and token["dose"] is not None
            elif token["word"] and _names_nobody(token["word"]):
                is_known = is_known and token["word"].islower()
            else:
                end, is_amount, is_known = token.end(), False, True
        is_finding = is_amount and (is_known or not end)
        return end if is_finding or (not end and value.islower()) else len(value)


def _names_nobody(word: str) -> bool:
    """Whether a word in lower case is known and no name, or one in capitals is short like `TSH` and no known name."""
    entry = lexicon().get(fold(word), 0)
    if given(entry) or surname(entry) or entry & PLACE:
        return False
    return (word.islower() and bool(commonness(entry) or entry & KINDS)) or (word.isupper() and 1 < len(word) < 6)


def family(kind: str) -> str:
    """Return the group of an entity type. Ages are dates."""
    group = catalogue()[kind].group
    return "DATE" if group == "AGE" else group


@cache
def _amounts() -> frozenset[str]:
    return frozenset(_file()["amounts"]["words"].split())


@cache
def _file() -> Mapping[str, Any]:
    return tomllib.loads((files(__package__) / "labels.toml").read_text("utf-8"))


@cache
def _known() -> Mapping[str, ColumnLabel]:
    found: dict[str, ColumnLabel] = {}
    for each in _file()["label"]:
        short = each.get("short", False)
        one = ColumnLabel(each["type"], each["action"], not short, each.get("person", False), short)
        for label in " ".join(each["labels"].split()).split(", "):
            found.setdefault(_plain(label), one)
    for code in _LANGUAGES:
        for label, one in _of_language(code):
            found.setdefault(label, one)
    return found


def _of_language(code: str) -> Iterator[tuple[str, ColumnLabel]]:
    try:
        columns = language(code).table("rules", "tables.toml").get("column", ())
    except (IncognoteError, FileNotFoundError):
        return
    for column in columns:
        kind, group = column["type"], catalogue()[column["type"]].group
        action: Literal["mask", "hash", "date"] = (
            "hash" if group == "ID" else "date" if group in ("DATE", "AGE") else "mask"
        )
        one = ColumnLabel(kind, action, False, column.get("needs_person", False))
        for header in column["headers"]:
            yield _plain(header), one


def label_of(words: str) -> ColumnLabel | None:
    """Return what a cell says about the cells next to it, or None if it is no label."""
    if len(words) > LONGEST or "[" in words:  # `[TELEPHONE_NUMBER]` is a replaced value
        return None
    plain = _plain(words)
    found = _known().get(plain) or _known().get(_ENDING.sub("", plain).strip(_TRIMMED))
    if found is None and "#" in words:
        found = _known().get(plain.removesuffix(" no"))
        found = None if found is None or catalogue()[found.type].group == "PERSON" else found
    if found is not None:
        return found
    if len(plain.split()) < 4 and _BORN.search(plain) and not any(map(str.isdecimal, plain)):
        return ColumnLabel("BIRTH_DATE_TIME", "date", False)
    if any(map(str.isdecimal, plain)) or not plain.isascii() or len(plain.split()) > 4 or is_amount(words):
        return None
    kind = tells(words)
    return None if kind is None else ColumnLabel(kind, "hash" if catalogue()[kind].group == "ID" else "mask", False)


def is_label(words: str) -> bool:
    """Whether a cell is a label as it is written in the lists. Such a cell cannot name a person."""
    return len(words) <= LONGEST and _plain(words) in _known()


def _plain(words: str) -> str:
    """Return a label as it is in the lists. `#` means a number, so `Patient #` is no name."""
    return " ".join(words.lower().replace("_", " ").replace("#", " no ").strip(_TRIMMED).split())


def is_codebook(row: Sequence[str]) -> bool:
    """Whether a row is the header of a list of variables. The labels in such a list have no values."""
    words, said = _file()["codebook"], set(map(_plain, row))
    return _plain(row[0]) in words["variable"].split(", ") and not said.isdisjoint(words["about"].split(", "))


def is_amount(words: str) -> bool:
    """Whether a cell names what is counted or measured, or a unit of it."""
    if len(words) > LONGEST or _plain(words) in _known():
        return False
    found = frozenset(_WORDS.findall(words.lower()))
    return not found.isdisjoint(_amounts()) and found.isdisjoint(_NUMBERS)
