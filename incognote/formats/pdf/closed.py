"""What a PDF may keep although no detector reads it: keys, operators, programs, fonts, languages, and page labels."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files

from incognote.formats.rtf.closed import vocabulary

LANGUAGE = re.compile(r"[a-z]{2}(?:-[A-Z]{2})?")
PREFIX = re.compile(r"[A-Za-z]{0,2}[-. ]?")
NAME = re.compile(r"place\d+|field\d+|attachment\d+\.\w{1,8}")
"""The names that we give to places, form fields, and attached files."""
SYSTEMS = frozenset("Adobe Identity UCS Japan1 GB1 CNS1 Korea1 KR".split())
"""The registries and orderings of character collections."""
APPEARANCE = re.compile(r"(?:\s|/[\w+\-]{1,20}\s+[\d.]+\s+Tf|(?:-?[\d.]+\s+){1,4}(?:g|rg|k|Tz|TL|Tc|Tw|Ts)(?=\s|\Z))*")
_PROGRAM = re.compile(r"[\w .,;:()/\-+]{0,120}")
_SUBSET = re.compile(r"((?:[A-Z]{6}\+)?)(.*)", re.DOTALL)
_INK = re.compile(r"/Ink\d{1,2}")
_LONG_NUMBER = re.compile(r"\d{5}")
_MOST_SINGLE = 3  # single letters in the name of a resource; more could spell a name
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@cache
def keys(kind: str) -> frozenset[str]:
    """Return the keys of a kind of dictionary that are kept, each with its slash."""
    return frozenset(f"/{word}" for word in _tables()["keys"][kind].split())


@cache
def names(kind: str) -> frozenset[str]:
    """Return a list of names that are kept, each with its slash."""
    return frozenset(f"/{word}" for word in _tables()["names"][kind].split())


@cache
def all_keys() -> frozenset[str]:
    """Return the keys that are kept in any dictionary."""
    return frozenset().union(*map(keys, _tables()["keys"]))


@cache
def values() -> frozenset[str]:
    """Return the names that are kept as values."""
    kinds = ("values", "annotations", "intents", "icons", "process", "choices")
    return frozenset().union(*map(names, kinds))


@cache
def words(kind: str) -> frozenset[str]:
    """Return a list of words that are kept."""
    return _words(kind)


@cache
def operators() -> frozenset[str]:
    """Return the operators of content streams that are kept."""
    return frozenset(_tables()["operators"]["all"].split())


def is_program(name: str) -> bool:
    """Whether the name of the program that made a file consists of known words and numbers."""
    words = re.findall(r"[a-z]+", name.casefold())
    return bool(_PROGRAM.fullmatch(name)) and all(len(word) < 2 or word in _words("programs") for word in words)


def font_name(name: str) -> str:
    """Return the name of a font, or another one if it has a word that is not known. The prefix of a subset stays."""
    prefix, rest = _SUBSET.fullmatch(name).groups()  # type: ignore[union-attr]  # it matches every string
    return f"{prefix}Arial" if odd_words(name) or re.search(r"\d{4}", rest) else name


def is_resource(name: str) -> bool:
    """Whether the name of a resource consists of the usual abbreviations and short numbers."""
    words = _WORD.findall(name)
    single = sum(len(word) < 2 for word in words)
    known = single <= _MOST_SINGLE and all(len(word) < 2 or word.casefold() in _words("resources") for word in words)
    return known and len(name) < 40 and not _LONG_NUMBER.search(name)


def is_string(content: str) -> bool:
    """Whether a string has a form that cannot name a person, such as the language or the look of a text."""
    return content in SYSTEMS or any(form.fullmatch(content) for form in (NAME, LANGUAGE, PREFIX, APPEARANCE))


def is_ink(value: str) -> bool:
    """Whether a name is the one that we give to an ink."""
    return bool(_INK.fullmatch(value))


def odd_words(name: str) -> set[str]:
    """Return the words of a font's name that are not known."""
    rest = _SUBSET.fullmatch(name)[2]  # type: ignore[index]  # it matches every string
    return {word for word in _WORD.findall(rest) if len(word) > 1 and word.casefold() not in _font_words()}


@cache
def _tables() -> dict[str, dict[str, str]]:
    return tomllib.loads((files(__package__) / "rules.toml").read_text("utf-8"))


@cache
def _words(kind: str) -> frozenset[str]:
    return frozenset(_tables()["words"][kind].split())


@cache
def _font_words() -> frozenset[str]:
    own = {part.casefold() for word in vocabulary("fonts") for part in _WORD.findall(word)}
    return _words("fonts") | own
