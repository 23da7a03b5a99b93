"""How a reader would classify words: as a person, a kind of institution, or a label. Only the words are used, not how
surrogates are made here. The judges use the pools and generators only to get the class of a profession."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from incognote.relex.cluster.values import date_of
from incognote.relex.names import gender, locale, parse
from incognote.relex.names.guess import SURE, bearers
from incognote.relex.names.parsed import key, words
from incognote.text.lexicon import BRAND, commonness, fold, given, lexicon, surname

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_LABEL = re.compile(r"[\[\]<>{}*_█]|(.)\1{3,}|^\W*$")


@cache
def data() -> dict[str, Any]:
    return tomllib.loads(files("incognote.evaluation.relex").joinpath("words.toml").read_text(encoding="utf-8"))


def is_label(text: str) -> bool:
    """Return True for a placeholder that is not a surrogate: [NAME], XXXX, ***, PATIENT."""
    low = {fold(word) for word in WORD.findall(text)}
    return bool(_LABEL.search(text)) or (bool(low) and low <= set(data()["labels"]["words"].split()))


@lru_cache(maxsize=1 << 14)
def is_person(text: str) -> bool:
    """Return True if the words can be a person's name: at least one is a known name, and none is likelier another word.

    Initials alone count as a person's. A name that no list holds is not recognized, so compare with the originals.
    """
    if is_label(text) or institution(text) or any(c.isdigit() for c in text):
        return False
    pieces = [piece for piece in parse(text).pieces if piece.role in ("given", "nick", "middle", "surname")]
    full = [p for p in pieces if p.style == "plain" and len(p.text) > 1]
    return (
        bool(pieces)
        and all(p.text[0].isupper() or p.text.islower() for p in full)
        and (not full or any(map(_named, (p.text for p in full))))
    )


def _named(word: str) -> bool:
    """Return True if it is known as a name, and more often so than as a word or a brand."""
    parts = [word, *re.split(r"[\s-]", word)]
    if any(bearers(key(part)) for part in parts):
        return not any(lexicon().get(fold(part), 0) & BRAND for part in parts)
    entries = [lexicon().get(fold(part), 0) for part in parts]
    return any(max(given(e), surname(e)) > 2 * max(0, commonness(e) - 1) and not e & BRAND for e in entries)


@lru_cache(maxsize=1 << 14)
def institution(text: str) -> str:
    """The kind of institution that the words name (school, care, pharmacy, …), or ""."""
    low = [fold(word) for word in WORD.findall(text)]
    found = [kind for kind, line in data()["institutions"].items() if set(line.split()) & set(low)]
    return found[0] if found else ""


@lru_cache(maxsize=1 << 14)
def gender_of(text: str) -> str:
    """`female`, `male`, or "" if the name does not show it."""
    guess = gender(parse(text))
    return guess.value if guess.value != "unknown" and guess.confidence >= SURE else ""


@lru_cache(maxsize=1 << 14)
def locale_of(text: str) -> str:
    """The locale of the name, or ""."""
    guess = locale(parse(text))
    return guess.value if guess.value != "unknown" and guess.confidence >= SURE else ""


@lru_cache(maxsize=1 << 14)
def shape(text: str) -> str:
    """The shape of a text: digits become 9, letters a or A, and everything else stays."""
    return "".join("9" if c.isdigit() else "A" if c.isupper() else "a" if c.isalpha() else c for c in text)


@lru_cache(maxsize=1 << 14)
def bearing(text: str) -> tuple[object, ...]:
    """How a person's name is written: title, degrees, suffix, parts shown, order, case, possessive."""
    name = parse(text)
    shown = [p for p in name.pieces if p.role in ("given", "nick", "middle", "surname")]
    whole = [p for p in shown if p.style != "initial"]
    size = "one" if len(shown) == 1 else "initials" if not whole else "several"
    return key(name.title), name.degrees, size, name.order == "inverted", name.case, bool(name.possessive)


def titles() -> frozenset[str]:
    return words().titles


def day_of(text: str, day_first: bool) -> date | None:
    """The day of a full date. None for anything else, and for days that do not exist."""
    form = date_of(text, day_first)
    try:
        return date(int(form[1]), int(form[2]), int(form[3])) if form[0] == "day" and form[1] else None
    except ValueError:
        return None
