"""The word classes and cue phrases of name_cues.toml, and how a credential is told."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from incognote.detectors.rules.lexicon import eponym_pairs
from incognote.detectors.rules.view import TOKEN
from incognote.languages import language
from incognote_en.rules.names.words import Words


class Cue(NamedTuple):
    """One phrase: the words after its first, the kinds it may be of with the type of their name, and itself."""

    rest: tuple[str, ...]
    kinds: tuple[tuple[str, str], ...]
    phrase: str


@dataclass(frozen=True)
class Vocabulary:
    """The closed word classes of name_cues.toml; what each is for stands there."""

    stop: frozenset[str]
    homographs: frozenset[str]
    credentials: frozenset[str]
    suffixes: frozenset[str]
    particles: frozenset[str]
    abbreviated: frozenset[str]
    after: frozenset[str]
    weak_verbs: frozenset[str]
    belongings: frozenset[str]
    before: frozenset[str]
    never: frozenset[str]
    plain_titles: frozenset[str]
    name_keys: frozenset[str]
    line_keys: frozenset[str]
    spoken: frozenset[str]
    signing: frozenset[str]
    unsure: frozenset[str]
    auxiliary: frozenset[str]
    determiners: frozenset[str]
    saints: frozenset[str]
    times: frozenset[str]
    not_speakers: frozenset[str]
    not_initials: frozenset[str]
    table_heads: frozenset[str]


@lru_cache(maxsize=1)
def _file() -> dict[str, Any]:
    return language("en").table("lexicon", "name_cues.toml")


@lru_cache(maxsize=1)
def vocabulary() -> Vocabulary:
    """The word classes, read once."""
    words = {name: frozenset(words) for name, words in _file()["words"].items()}
    return Vocabulary(**{**words, "never": words["never"] | eponym_pairs()})


@lru_cache(maxsize=1)
def name_heads() -> dict[str, str]:
    """A column's head, in lower case → the type of the names below it."""
    return {head: type_ for type_, heads in _file()["columns"].items() for head in heads}


@lru_cache(maxsize=1)
def kinship() -> frozenset[str]:
    """The kinship phrases."""
    return frozenset(phrase for entry in _file()["cue"] if entry["kind"] == "kin" for phrase in entry["words"])


@lru_cache(maxsize=1)
def cues() -> dict[str, tuple[Cue, ...]]:
    """First word of a phrase → the cues that begin with it, longest first."""
    kinds: dict[str, list[tuple[str, str]]] = {}
    for entry in _file()["cue"]:
        for phrase in entry["words"]:
            kinds.setdefault(phrase, []).append((entry["kind"], entry["type"]))
    table: dict[str, list[Cue]] = {}
    for phrase, found in kinds.items():
        first, *rest = TOKEN.findall(phrase)
        table.setdefault(first, []).append(Cue(tuple(rest), tuple(found), phrase))
    return {first: tuple(sorted(found, key=lambda c: -len(c.rest))) for first, found in table.items()}


@lru_cache(maxsize=1)
def lone_cues() -> frozenset[str]:
    """The cues of a single word."""
    return frozenset(first for first, found in cues().items() for cue in found if not cue.rest)


@lru_cache(maxsize=1)
def lone_titles() -> frozenset[str]:
    """The titles of a single word."""
    kinds = ((first, kind) for first, found in cues().items() for cue in found if not cue.rest for kind, _ in cue.kinds)
    return frozenset(first for first, kind in kinds if kind == "title")


def is_credential(words: Words, i: int) -> int:
    """How many words from i on make one credential ("MD" 1, "M.D." 4, "PA-C" 1), 0 for none."""
    known = vocabulary().credentials
    word = words.word(i)
    if not word or not word[0].isalpha():
        return 0
    if word in known and len(word) > 1:
        if (
            not word.startswith("PGY")
            and words.word(i + 1) in ("-", "/")
            and not words.gap(i + 1)
            and words.word(i + 2).isdigit()
        ):
            return 0  # the beginning of a number
        return 2 if words.word(i + 1) == "." and not words.gap(i + 1) else 1
    if len(word) > 2:
        return 0
    joined, count = "", 0
    while (
        count < 12 and words.is_word(i + count) and len(words.word(i + count)) <= 2 and words.word(i + count + 1) == "."
    ):
        if count and words.gap(i + count).strip(" -"):
            break
        joined += words.word(i + count)
        count += 2
        if joined in known and words.gap(i + count) not in ("", "-"):
            return count
    if joined in known:
        return count
    if joined and words.is_word(i + count) and not words.gap(i + count) and joined + words.word(i + count) in known:
        return count + 1
    return 0
