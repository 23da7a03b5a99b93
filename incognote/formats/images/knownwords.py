"""Words that are usual or medical in the languages in which pages are read, and units."""

from __future__ import annotations

import re
from collections.abc import Iterator

from incognote.formats.images.reading import page_languages
from incognote.text.lexicon import MEDICAL, commonness, fold, given, lexicon, surname

_PIECE = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_UNITS = frozenset(
    "g kg mg µg μg mcg ng pg l L dL dl mL ml µL μL uL fL cm mm m nm mol mmol µmol μmol umol nmol pmol U u IU UI IE mIU "
    "uIU µIU μIU mU kU mEq meq Eq Hg mmHg cmH bpm h hr hrs min s sec d wk w y yr °C °F C F Gy mGy mSv Hz kHz MHz kPa "
    "mill cu gm gr vol am pm x".split()
)
_NUMBER = re.compile(r"\d+")
_MOST_DIGITS = 3  # of a number beside letters that are a unit
_NAME = 4  # the least weight of a given name; that of a surname is higher
_LEAST = 3  # letters of an Arabic word without what is attached to it
_AND = ("", "و", "ف")
_ARTICLES = ("", "ال", "بال", "كال", "لل", "ب", "ل", "ك")
_ENDINGS = ("", "ها", "ه", "ك", "هم", "كم", "نا", "ات")


def is_known(text: str, least: int = 1) -> bool:
    """Whether all letters are usual or medical words, or units, in a language in which pages are read.

    Args:
        least: how common they are, from 1 to 3; one more if they begin with a capital letter.
    """
    pieces = _PIECE.findall(text)
    if any(len(number) > _MOST_DIGITS for number in _NUMBER.findall(text)):
        return False
    return bool(pieces) and all(piece in _UNITS or _is_usual(piece, least) for piece in pieces)


def is_name(text: str) -> bool:
    """Whether a word in it is a given name or a surname that is not rare."""
    entries = (
        lexicon(code).get(fold(piece), 0)
        for piece in _PIECE.findall(text) for code in dict.fromkeys(("en", *page_languages()))
    )  # fmt: skip
    return any(given(entry) >= _NAME or surname(entry) > _NAME for entry in entries)


def _is_usual(word: str, least: int) -> bool:
    plain, least = fold(word), min(3, least + (least > 1 and word[0].isupper()))
    for code in dict.fromkeys(("en", *page_languages())):
        words = lexicon(code)
        entries = [words.get(plain, 0)]
        if code == "ar" and not is_name(word):
            entries += (words.get(each, 0) for each in _stems(plain))
        if any(commonness(entry) >= least or entry & MEDICAL for entry in entries):
            return True
    return False


def _stems(word: str) -> Iterator[str]:
    """Yield what an Arabic word may be without attached conjunctions, prepositions, articles, and pronouns."""
    for start in {one + two for one in _AND for two in _ARTICLES if word.startswith(one + two)}:
        for end in _ENDINGS:
            stem = word[len(start) :].removesuffix(end)
            if word.endswith(end) and len(stem) >= _LEAST:
                yield from (stem, stem + "ه", "ال" + stem)
