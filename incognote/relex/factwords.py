"""The words and patterns by which `facts` decides, read from the language (`words/facts.toml` and the lexicon)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from incognote.detectors.clinical import never_names
from incognote.detectors.rules.patterns.rule import shipped_macros
from incognote.languages import language
from incognote.text.lexicon import BRAND, EPONYM, EPONYM_NOUN, MEDICAL, fold, given, lexicon, surname


def entry_of(word: str) -> int:
    """Return the lexicon's entry of a word, or of its singular."""
    base = fold(word)
    entry = lexicon().get(base, 0)
    return entry if entry or not base.endswith("s") else lexicon().get(base[:-1], 0)


def name_weight(entry: int) -> int:
    """Return the weight of a word as a given name or a surname, whichever is larger."""
    return max(given(entry), surname(entry))


def names_a_thing(word: str, entry: int) -> bool:
    """Whether a word names a drug, a device, a disease, a test or a sign, or is a clinical abbreviation."""
    base = fold(word)
    if entry & (MEDICAL | BRAND | EPONYM | EPONYM_NOUN) or base in never_names() or base in lists()["thing"]:
        return True
    return word.isupper() and base in _abbreviations()


@cache
def _abbreviations() -> frozenset[str]:
    return frozenset(language().table("lexicon", "residue.toml").get("abbreviations", "").split())


@cache
def things_named() -> frozenset[str]:
    """Nouns that follow the eponym of a thing: "sign", "syndrome"."""
    eponyms = language().table("words", "sweep.toml").get("eponyms", {})
    return frozenset(word for words in eponyms.values() for word in words)


@cache
def handling() -> frozenset[str]:
    """Articles, and words before a thing that is used and not before a person: "via", "removed"."""
    written = language().table("lexicon", "residue.toml")
    return frozenset(f"{written.get('articles', '')} {written.get('handling', '')}".split())


@cache
def digit_words() -> frozenset[str]:
    """Spelled-out digits."""
    return frozenset(shipped_macros().get("digit_word", "").split("|"))


@cache
def peoples() -> frozenset[str]:
    """Peoples, languages and religions, which are words of a social history and no places."""
    groups = language().table("lexicon", "demographics.toml").get("group", ())
    return frozenset(fold(word) for group in groups if group["type"] == "ETHNICITY" for word in group["words"])


@cache
def lists() -> Mapping[str, frozenset[str]]:
    """The word lists of `facts.toml`."""
    written = language().table("words", "facts.toml").get("words", {})
    return {name: frozenset(words.split()) for name, words in written.items()}


@cache
def patterns(name: str) -> tuple[re.Pattern[str], ...]:
    """The patterns of `facts.toml` with their word lists filled in, longest words first."""
    words = {each: "|".join(sorted(map(re.escape, known), key=len, reverse=True)) for each, known in lists().items()}
    macro = re.compile(r"\{([a-z]+)\}")
    written = language().table("words", "facts.toml").get("numbers", {}).get(name, ())
    return tuple(re.compile(macro.sub(lambda match: words[match[1]], pattern)) for pattern in written)
