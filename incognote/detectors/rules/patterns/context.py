"""Prefix contexts: phrases directly before a match, or anywhere in a window before it.

Most contexts are lists of plain phrases, which are looked up in a set. A regular expression with a hundred
alternatives, tried at every word of the window, would cost ten times as much. It is used only for parts that are not
plain phrases.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

BEFORE_WINDOW = 48  # characters before a match that are searched for a directly preceding phrase
_JOINERS = " \t\r\n\u00a0.:=,(#~\"'[–—-"  # allowed between the phrase and the match
_MOST_JOINERS = 6
_JOIN = r"""[\s.:=,(#~"'\[–—-]{0,6}\Z"""
_EDGE = r"(?:(?<![^\W_])|(?![^\W_]))"  # a context begins at a word boundary or with a nonword character
_NESTED = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|(?P<open>\()|(?P<close>\))|(?P<bar>\|)", re.DOTALL)
_FIRST_LETTER = re.compile(r"([^\W\d_])(?![?*{])|\[((?:[^\W\d_](?:-[^\W\d_])?)+)\](?![?*]|\{0)")
_GROUP = re.compile(r"\((?:\?(?:-i)?:)")
_MACRO_ALONE = re.compile(r"\{([a-z_]+)\}\Z")
_PHRASE = re.compile(r"[^\W_][\w' /@]*(?<!\s)\??\Z")
_WORD = re.compile(r"[\w'’]+")
_TAIL_WORD = re.compile(r"[\w'’]+\Z")


@dataclass(frozen=True, slots=True)
class Prefix:
    """Phrases in lower case with single spaces, and a regular expression for the other parts."""

    phrases: frozenset[str]
    longest: int
    ends: frozenset[str]
    """The last two characters of each phrase. They exclude most words before these are split."""
    pattern: re.Pattern[str] | None

    def before(self, text: str, start: int) -> bool:
        """Whether the context is directly before `start`, with at most a few spaces or colons in between."""
        low = max(0, start - BEFORE_WINDOW)
        if self.phrases:
            tail = text[low:start]
            words = tail.rstrip(_JOINERS)
            end = words[-2:].lower().replace("’", "'")
            if (
                (end in self.ends or end[-1:] in self.ends)
                and len(tail) - len(words) <= _MOST_JOINERS
                and self._ends(words.lower().replace("’", "'"))
            ):
                return True
        return bool(self.pattern and self.pattern.search(text, low, start))

    def _ends(self, words: str) -> bool:
        split = words.split()
        if split[-1] in self.phrases:
            return True
        word = _TAIL_WORD.search(words)
        if word and word[0] in self.phrases:
            return True
        return any(
            " ".join(split[-n:]).lstrip("(\"'[") in self.phrases for n in range(1, min(self.longest, len(split)) + 1)
        )

    def near(self, text: str, low: int, start: int) -> bool:
        """Whether the context occurs anywhere between `low` and `start`."""
        if self.phrases and low < start:
            words = _WORD.findall(text, low, start)
            if words and low and text[low].isalnum() and text[low - 1].isalnum():
                del words[0]
            if not self.phrases.isdisjoint([word.lower() for word in words]):
                return True
        return bool(self.pattern and self.pattern.search(text, low, start))


def expand(pattern: str, macros: Mapping[str, str]) -> str:
    """Replace each `{name}` with its macro, in macros too. Raises KeyError if there is no macro of that name."""
    for _ in range(8):
        if not re.search(r"\{[a-z_]+\}", pattern):
            break
        pattern = re.sub(r"\{([a-z_]+)\}", lambda m: f"(?:{macros[m[1]]})", pattern)
    return pattern


def words_of(part: str, macros: Mapping[str, str]) -> list[str]:
    """Return the phrases of a part of a context: itself, both forms of `word?`, or the words of a lone `{macro}`."""
    alone = _MACRO_ALONE.match(part)
    parts = macros[alone[1]].split("|") if alone else [part]
    phrases = []
    for phrase in parts:
        if not _PHRASE.match(phrase):
            return []
        phrases += [phrase[:-2], phrase[:-1]] if phrase.endswith("?") else [phrase]
    return [phrase.lower() for phrase in phrases]


def prefix(parts: Sequence[str], macros: Mapping[str, str], *, adjacent: bool) -> Prefix | None:
    """Build a Prefix from a list in a rule file, or return None for an empty list.

    Args:
        parts: phrases, `{macro}` or regular expressions.
        adjacent: True for `before`. False for `near`, where phrases of several words become regular expressions.
    """
    if not parts:
        return None
    phrases: list[str] = []
    regexes: list[str] = []
    for part in parts:
        found = words_of(part, macros)
        if not found or (not adjacent and any(not _WORD.fullmatch(phrase) for phrase in found)):
            regexes.append(boundary(expand(part, macros)))
        else:
            phrases += found
    joined = f"{_edge(regexes)}(?:{'|'.join(regexes)}){_JOIN if adjacent else ''}"
    pattern = re.compile(joined, re.IGNORECASE) if regexes else None
    longest = max((p.count(" ") + 1 for p in phrases), default=0)
    return Prefix(frozenset(phrases), longest, frozenset(p[-2:] for p in phrases), pattern)


def adjacent_pattern(parts: Iterable[str], macros: Mapping[str, str]) -> re.Pattern[str]:
    """Build one regular expression for parts directly before a match. Search it in a slice that ends at the match."""
    regexes = [boundary(expand(part, macros)) for part in parts]
    return re.compile(f"{_edge(regexes)}(?:{'|'.join(regexes)}){_JOIN}", re.IGNORECASE)


def _edge(regexes: Iterable[str]) -> str:
    """Return the pattern for the beginning of a context. If all first letters are known, they exclude most places."""
    letters = _first_letters("|".join(regexes))
    return f"(?=[{''.join(sorted(letters))}])(?<![^\\W_])" if letters else _EDGE


def _first_letters(pattern: str) -> set[str]:
    """Return the letters and letter ranges that any match begins with, ignoring case.

    Returns an empty set if a match may begin with something else.
    """
    letters: set[str] = set()
    for part in _alternatives(pattern):
        group = _GROUP.match(part)
        if group and (close := _closing(part)) and part[close + 1 : close + 2] not in ("?", "*", "{"):
            inner = _first_letters(part[group.end() : close])
            if not inner:
                return set()
            letters |= inner
        elif first := _FIRST_LETTER.match(part):
            letters.add(first[1] or first[2])
        else:
            return set()
    return letters


def _alternatives(pattern: str) -> list[str]:
    """Split a regular expression at the bars outside its groups."""
    parts, depth, begin = [], 0, 0
    for found in _NESTED.finditer(pattern):
        depth += bool(found["open"]) - bool(found["close"])
        if found["bar"] and not depth:
            parts.append(pattern[begin : found.start()])
            begin = found.end()
    return [*parts, pattern[begin:]]


def _closing(pattern: str) -> int:
    """Return where the first group of a regular expression closes."""
    depth = 0
    for found in _NESTED.finditer(pattern):
        depth += bool(found["open"]) - bool(found["close"])
        if not depth:
            return found.start()
    return 0


def boundary(part: str) -> str:
    """Make a plain phrase match at a word boundary and with any white space and apostrophe. Keep anything else."""
    if not re.fullmatch(r"[\w' ]*\w", part):
        return part
    return re.sub(r" +", lambda _: r"\s{1,3}", part.replace("'", "['’]")) + r"(?![^\W_])"
