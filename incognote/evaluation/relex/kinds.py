"""What a reader takes words for: a person, a kind of institution, a label. Of words alone, and not of how surrogates
are made here: the judges know the pools and generators only where a class of professions is asked for."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from incognote.detectors.rules.lexicon import BRAND, commonness, fold, given, lexicon, surname
from incognote.relex.cluster.values import date_of
from incognote.relex.names import gender, locale, parse
from incognote.relex.names.guess import SURE, bearers
from incognote.relex.names.parsed import key, words

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_LABEL = re.compile(r"[\[\]<>{}*_█]|(.)\1{3,}|^\W*$")


@cache
def data() -> dict[str, Any]:
    return tomllib.loads(files("incognote.evaluation.relex").joinpath("words.toml").read_text(encoding="utf-8"))


def is_label(text: str) -> bool:
    """A placeholder and no surrogate: [NAME], XXXX, ***, PATIENT."""
    low = {fold(word) for word in WORD.findall(text)}
    return bool(_LABEL.search(text)) or (bool(low) and low <= set(data()["labels"]["words"].split()))


@lru_cache(maxsize=1 << 14)
def is_person(text: str) -> bool:
    """Words that can be a person's name: at least one is known as one, and none is likelier something else.

    Initials alone are taken for a person's. A name that no list holds is not recognised; compare with the originals.
    """
    if is_label(text) or institution(text) or any(c.isdigit() for c in text):
        return False
    pieces = [piece for piece in parse(text).pieces if piece.role in ("given", "nick", "middle", "surname")]
    told = [p for p in pieces if p.style == "plain" and len(p.text) > 1]
    return (
        bool(pieces)
        and all(p.text[0].isupper() or p.text.islower() for p in told)
        and (not told or any(map(_named, (p.text for p in told))))
    )


def _named(word: str) -> bool:
    """Known as a name, and oftener so than as a word or a brand."""
    parts = [word, *re.split(r"[\s-]", word)]
    if any(bearers(key(part)) for part in parts):
        return not any(lexicon().get(fold(part), 0) & BRAND for part in parts)
    entries = [lexicon().get(fold(part), 0) for part in parts]
    return any(max(given(e), surname(e)) > 2 * max(0, commonness(e) - 1) and not e & BRAND for e in entries)


@lru_cache(maxsize=1 << 14)
def institution(text: str) -> str:
    """The kind of institution that the words name: school, care, pharmacy …; "" where none is told."""
    low = [fold(word) for word in WORD.findall(text)]
    found = [kind for kind, line in data()["institutions"].items() if set(line.split()) & set(low)]
    return found[0] if found else ""


@lru_cache(maxsize=1 << 14)
def gender_of(text: str) -> str:
    """`female`, `male`, or "" where the name does not tell."""
    guess = gender(parse(text))
    return guess.value if guess.value != "unknown" and guess.confidence >= SURE else ""


@lru_cache(maxsize=1 << 14)
def locale_of(text: str) -> str:
    """Where the name is at home, or ""."""
    guess = locale(parse(text))
    return guess.value if guess.value != "unknown" and guess.confidence >= SURE else ""


@lru_cache(maxsize=1 << 14)
def shape(text: str) -> str:
    """Digits as 9, letters as a or A, all else as it stands."""
    return "".join("9" if c.isdigit() else "A" if c.isupper() else "a" if c.isalpha() else c for c in text)


@lru_cache(maxsize=1 << 14)
def bearing(text: str) -> tuple[object, ...]:
    """How a person's name is written: title, degrees, suffix, what is shown, order, case, possessive."""
    name = parse(text)
    shown = [p for p in name.pieces if p.role in ("given", "nick", "middle", "surname")]
    whole = [p for p in shown if p.style != "initial"]
    size = "one" if len(shown) == 1 else "initials" if not whole else "several"
    return key(name.title), name.degrees, size, name.order == "inverted", name.case, bool(name.possessive)


def titles() -> frozenset[str]:
    return words().titles


def day_of(text: str, day_first: bool) -> date | None:
    """The day of a full date; None of anything else, and of a day that no calendar has."""
    form = date_of(text, day_first)
    try:
        return date(int(form[1]), int(form[2]), int(form[3])) if form[0] == "day" and form[1] else None
    except ValueError:
        return None
