"""Check whether a pattern has a bounded ASCII shape, which codes and numbers fit, but sentences and words do not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from re import _constants, _parser  # type: ignore[attr-defined]  # the parse tree that the pattern is compiled from
from typing import Any

LONGEST = 40
"""The maximum length in characters: too short for a sentence. The longest codes of public code systems have 32."""
_SHORTEST_WORD, _LONGEST_CODE = 4, 12

_PRINTABLE = frozenset(range(32, 127))
_BLANKS = frozenset(map(ord, " \t\n\r\f\v"))
_LOWER = frozenset(map(ord, "abcdefghijklmnopqrstuvwxyz"))
_LETTERS = _LOWER | frozenset(map(ord, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
_CATEGORIES = {
    _constants.CATEGORY_DIGIT: frozenset(map(ord, "0123456789")),
    _constants.CATEGORY_WORD: _LETTERS | frozenset(map(ord, "0123456789_")),
    _constants.CATEGORY_SPACE: _BLANKS,
}
_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)
_ZERO_WIDTH = (_constants.AT, _constants.ASSERT, _constants.ASSERT_NOT)


def compiled(pattern: str) -> re.Pattern[str]:
    r"""Compile a schema's pattern. `\d`, `\w` and case-insensitive letters are ASCII, as in JSON Schema's dialect.

    Raises:
        re.error: the pattern is not a Python regular expression.
    """
    try:
        return re.compile(pattern, re.ASCII)
    except (ValueError, RecursionError, OverflowError) as error:  # (?u), nested too deep, repeated too often
        raise re.error(str(error)) from None


def loose(pattern: str, max_length: int | None = None) -> str:
    """Return why a pattern is not a bounded ASCII shape, or "" if it is one.

    A bounded pattern matches at most LONGEST characters, by itself or because of the schema's maxLength. A shape names
    only printable ASCII characters. It does not repeat letters together with blanks (free text), lower-case letters
    four times or more, or letters more than twelve times (any name). Upper-case codes of up to twelve characters are
    allowed.

    Args:
        pattern: a pattern that `compiled` accepts.
        max_length: the schema's maxLength.
    """
    tree = _parser.parse(pattern, re.ASCII)
    longest = min(tree.getwidth()[1], LONGEST + 1 if max_length is None else max_length)
    if longest > LONGEST:
        return f"its pattern can match more than {LONGEST} characters"
    if not all(_bounded(part) for part in _parts(tree)):
        return "its pattern can match characters that it does not list, or non-ASCII characters"
    repeated = [one for part in _parts(tree) if (one := _repeated(part, longest)) is not None]
    if any(codes & _LETTERS and codes & _BLANKS for _, codes in repeated):
        return "its pattern can match free text (letters and spaces in any order)"
    if any(len(codes & (_LOWER if most <= _LONGEST_CODE else _LETTERS)) > 1 for most, codes in repeated):
        return "its pattern can match any word, including names"
    return ""


def _parts(tree: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield every node that matches characters, including inner nodes."""
    for kind, given in tree:
        if kind in _ZERO_WIDTH:
            continue
        yield kind, given
        for inner in _inside(kind, given):
            yield from _parts(inner)


def _inside(kind: Any, given: Any) -> Iterator[Any]:
    if kind is _constants.BRANCH:
        yield from given[1]
    elif kind is _constants.SUBPATTERN or kind in _REPEATS:
        yield given[-1]
    elif kind is _constants.ATOMIC_GROUP:
        yield given
    elif kind is _constants.GROUPREF_EXISTS:
        yield from (branch for branch in given[1:] if branch is not None)


def _bounded(part: tuple[Any, Any]) -> bool:
    kind, given = part
    if kind is _constants.LITERAL:
        return given in _PRINTABLE
    if kind is _constants.IN:
        found = _set(given)
        return found is not None and found <= _PRINTABLE
    return kind not in (_constants.ANY, _constants.NOT_LITERAL)


def _repeated(part: tuple[Any, Any], longest: int) -> tuple[int, frozenset[int]] | None:
    """Return how often a node repeats and which characters may vary, or None if it cannot form a word.

    Literal letters count only with characters that may vary: `(ab)*` is not a word, but `([A-Z]b)*` may be one.
    """
    kind, given = part
    most = min(given[1], longest) if kind in _REPEATS else 0
    if most < _SHORTEST_WORD:
        return None
    codes = {frozenset({said}) if inner is _constants.LITERAL else _set(said) or frozenset()
             for inner, said in _parts(given[2]) if inner in (_constants.LITERAL, _constants.IN)}
    free = frozenset().union(*(c for c in codes if len(c & _LETTERS) > 1 or c & _BLANKS))
    return most, free


def _set(given: Iterable[tuple[Any, Any]]) -> frozenset[int] | None:
    """Return the characters of `[…]`, or None for a negated set."""
    found: set[int] = set()
    for kind, said in given:
        if kind is _constants.LITERAL:
            found.add(said)
        elif kind is _constants.RANGE:
            found.update(range(min(said[0], 128), min(said[1], 128) + 1))
        elif kind is _constants.CATEGORY and said in _CATEGORIES:
            found.update(_CATEGORIES[said])
        else:
            return None
    return frozenset(found)
