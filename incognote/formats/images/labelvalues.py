"""The values of labels on pages: which of the words beside or below a label are identifiers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from incognote.formats.images.knownwords import is_known, is_name
from incognote.formats.xlsx.vocabulary import ColumnLabel
from incognote.pages.nouns import Word
from incognote.schemas.catalogue import catalogue

_CERTAIN, _LIKELY = 0.95, 0.8
_CODE = re.compile(r"[A-Z0-9]{4,14}")
_DATE = re.compile(
    r"(?<!\d)(?:\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})|\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|"
    r"\d{1,2}[-/. ]?[^\W\d_]{3,9}[-/., ]*\d{4})(?!\d)"
)
_TIME = re.compile(
    r"(?:at|a|las|à|um|[T-]|\d{1,2}(?:[:.h]\d{2}){1,2}h?|[0-2]\d[0-5]\d|[AaPp]\.?[Mm]\.?|Uhr|hrs?|h)[.,]?"
)
_NAMED = frozenset("ORGANIZATION HOSPITAL PHARMACY DIAGNOSTIC_LABS DEPARTMENT CITY COUNTRY".split())
"""Types whose values have letters."""
_PROSE = 4  # usual words in small letters, in a sentence


@dataclass(frozen=True, slots=True)
class LabeledWords:
    """The value of a label.

    Args:
        words: its words. first: how many characters of the first word belong to the label.
        last: the end of the value in the last word; None for all of it.
        type: the entity type. score: from 0 to 1. source: what found it.
    """

    words: Sequence[Word] = field(repr=False)
    type: str
    score: float
    source: str = "label"
    first: int = 0
    last: int | None = None


def taken(words: list[Word], first: int, said: ColumnLabel, text: str) -> Iterator[LabeledWords]:
    """Yield the value of a label, if it is an identifier. Of a date with other words, this is the date.

    Args:
        words: after the label. first: how many characters of the first word belong to the label. text: of the rest.
    """
    while words and not any(map(str.isalnum, words[0].text[first:])):
        words, first = words[1:], 0
    if not words or not said.takes(text) or _names_nothing(text, said.type):
        return
    if said.action == "date":
        words, first = _date_of(words, first)
    yield LabeledWords(words, said.type, _CERTAIN if said.certain else _LIKELY, first=first)


def is_sure(said: ColumnLabel, text: str) -> bool:
    """Whether words after a label without a colon are its value."""
    group = catalogue()[said.type].group
    code = group == "ID" and _CODE.fullmatch(text) is not None and not is_known(text)
    return code or ((group in ("ID", "DATE", "CONTACT") or said.type == "STATE") and said.fits(text))


def _names_nothing(text: str, type_: str) -> bool:
    """Whether words that should name a person or institution are a sentence or have no letter."""
    if catalogue()[type_].group != "PERSON" and type_ not in _NAMED:
        return False
    small = [word for word in text.split() if word[0].islower() and len(word) > 1 and is_known(word)]
    return not any(map(str.isalpha, text)) or sum(not is_name(word) for word in small) >= _PROSE


def _date_of(words: list[Word], first: int) -> tuple[list[Word], int]:
    """Return the words from the first whole date to the last one, with its time, or all words if there is none."""
    texts = [word.text[first if at == 0 else 0 :] for at, word in enumerate(words)]
    whole = [at for at, text in enumerate(texts) if _DATE.search(text)]
    if not whole:
        return words, first
    end = whole[-1] + 1
    while end < len(texts) and _TIME.fullmatch(texts[end]):
        end += 1
    if texts[end : end + 1] and texts[end].startswith("("):  # an age
        end = next((at for at in range(end, len(texts)) if texts[at].endswith(")")), end - 1) + 1
    return words[whole[0] : end], 0 if whole[0] else first
