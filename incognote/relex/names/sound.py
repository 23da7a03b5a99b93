"""How a name sounds, so that spellings by ear and transcriptions are found: Meyer, Maier; Philips, Phillips."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from incognote.relex.names.parsed import data

_FEWEST = 4  # letters: shorter names with one sound are usually different names (Lee, Leigh; Li, Ly)
_SOUNDS = 3
_ENDS = {"a": "a", "o": "o", "u": "u"}


@lru_cache(maxsize=1 << 14)
def sounds(word: str) -> frozenset[str]:
    """The ways a folded word may sound: its consonants, and the classes of its first and its last vowel.

    All vowels between them are equal, because a listener tells them apart least. The last vowel has a class because it
    often makes another name (Julia, Julie; Eric, Erica). A silent e has no sound. Short words have none at all.
    """
    if len(word) < _FEWEST or not word.isalpha():
        return _listed().get(word, frozenset())
    heard = word
    for pattern, replacement in _rules("consonants"):
        heard = pattern.sub(replacement, heard)
    heard = re.sub(r"([^aeiouy])\1", r"\1", heard)
    lead, vowels, rest = _SPLIT.match(heard).groups()  # type: ignore[union-attr]  # every part may be empty
    ending = _LAST.search(rest)
    last = _ENDS.get(ending[0][-1], "" if ending[0] == "e" else "i") if ending else ""
    frame = re.sub("[aeiouy]+", ".", rest.removesuffix(ending[0] if ending else ""))
    found = {f"{lead}{one}{frame}{last}" for one in _class_of(vowels)}
    return frozenset(one for one in found if len(one) >= _SOUNDS) | _listed().get(word, frozenset())


def heard_alike(a: str, b: str) -> bool:
    """Return True if two different words may be one name that somebody wrote by ear or transcribed."""
    return bool(sounds(a) & sounds(b)) and frozenset((a, b)) not in _different()


@cache
def _listed() -> dict[str, frozenset[str]]:
    """Name → the listed groups of spellings that contain it."""
    groups = [group.split() for group in data("sounds.toml")["same"]]
    names = {name for group in groups for name in group}
    return {name: frozenset(f"={group[0]}" for group in groups if name in group) for name in names}


@cache
def _different() -> frozenset[frozenset[str]]:
    return frozenset(frozenset(pair.split()) for pair in data("sounds.toml")["different"])


_SPLIT = re.compile(r"(y?[^aeiouy]*)([aeiouy]*w?)(.*)")
_LAST = re.compile(r"[aeiouy]+\Z")


@cache
def _rules(name: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), replacement) for pattern, replacement in data("sounds.toml")[name])


def _class_of(vowels: str) -> str:
    """The classes of the first vowels; each is one letter."""
    for pattern, classes in _rules("vowels"):
        if found := pattern.match(vowels):
            return classes.lower() if set(vowels[found.end() :]) & set("aou") else classes
    return "-"
