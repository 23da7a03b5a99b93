"""The words of names: data files read once, and the normal form under which name words are compared."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any, NamedTuple

from incognote.detectors.rules.lexicon import fold
from incognote.languages import language

_OCR = str.maketrans("01358", "olesb")
_UNSPOKEN = re.compile(r"[\W_]+")


@lru_cache(maxsize=1 << 16)
def key(words: str) -> str:
    """The normal form of a name's words: lower case, without marks, hyphens, apostrophes, blanks and OCR's digits."""
    low = _UNSPOKEN.sub("", fold(words))
    return low.translate(_OCR) if any(c.isalpha() for c in low) else low


class Words(NamedTuple):
    """Word sets of `words.toml`, folded."""

    titles: frozenset[str]
    female: frozenset[str]
    male: frozenset[str]
    baby: frozenset[str]
    newborn: frozenset[str]
    degrees: frozenset[str]
    physician: frozenset[str]
    suffixes: frozenset[str]
    generations: frozenset[str]
    digraphs: frozenset[str]
    particles: frozenset[str]
    kunya: frozenset[str]
    family_first: frozenset[str]


@cache
def data(name: str) -> dict[str, Any]:
    """A data file of this package, parsed."""
    return language().table("names", name)


@cache
def words() -> Words:
    table = data("words.toml")
    return Words(*(frozenset(table[field].split()) for field in Words._fields))


@cache
def _suffixes() -> dict[str, str]:
    return {word: line.split()[0] for line in data("words.toml")["same_suffix"] for word in line.split()}


def suffix(words: str) -> str:
    """The normal form of a generational suffix: `jr` for Junior and ifj., "" for none."""
    return _suffixes().get(key(words), key(words))


@cache
def roots() -> dict[str, frozenset[str]]:
    """Given name (as `key` gives it) → the roots of the groups it stands in."""
    table: dict[str, set[str]] = {}
    for group in data("nicknames.toml")["groups"]:
        root, *forms = group.split()
        for form in (root, *forms):
            table.setdefault(form, set()).add(root)
    return {form: frozenset(found) for form, found in table.items()}


@cache
def short_forms() -> dict[str, tuple[str, ...]]:
    """Root → the forms of its group, itself among them."""
    groups: list[str] = data("nicknames.toml")["groups"]
    table: dict[str, list[str]] = {}
    for group in groups:
        table.setdefault(group.split()[0], []).extend(group.split())
    return {root: tuple(forms) for root, forms in table.items()}
