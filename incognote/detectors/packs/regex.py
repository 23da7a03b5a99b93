"""How long a regular expression of a site pack may take: its ways, counted from its text.

A backtracking matcher that fails has tried, at worst, every way of dividing the text among the variable quantifiers.
Their number is the product over a sequence, the sum over alternatives, and a power for a repeated group, so
`(a{1,9}){1,9}` shows itself without being run. What cannot be re-entered (a possessive quantifier, an atomic group, a
look-around) counts once.
"""

from __future__ import annotations

import re

from incognote.errors import UsageError

MOST_WAYS = 1_000_000  # some 20 ms per attempt at worst
_QUANTIFIER = re.compile(r"(?:([*+])|(\?)|\{(?=[\d,])(\d*)(?:(,)(\d*))?\})([+?]?)")
_HEAD = re.compile(
    r"\(\?(?:(?P<flags>[a-zA-Z-]+\))|(?P<once>[=!>]|<[=!])|P=\w+(?=\))|P<\w+>|\(\w+\)|[a-zA-Z]*(?:-[a-zA-Z]+)?:)|\("
)
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_COMMENT = re.compile(r"\(\?#[^)]*\)")


def check_ways(pattern: str) -> None:
    """Refuse a valid pattern that may take long; the message says what to write instead.

    Raises:
        UsageError: an unbounded quantifier (`*`, `+`, `{2,}`), or more than MOST_WAYS ways.
    """
    ways, _ = _alternatives(pattern, 0)
    _bounded(ways)


def _bounded(ways: int) -> int:
    if ways > MOST_WAYS:
        raise UsageError(
            "too many ways to match: give its quantifiers closer bounds, make the inner ones possessive ({1,9}+ or ?+),"
            " write a class [ab] for (a|b)"
        )
    return ways


def _alternatives(pattern: str, at: int) -> tuple[int, int]:
    """The ways from `at` to the end of the group (or of the pattern), and where that is."""
    total, ways = 0, 1
    while at < len(pattern) and pattern[at] != ")":
        if pattern[at] == "|":
            total, ways, at = total + ways, 1, at + 1
            continue
        atom, at = _atom(pattern, at)
        if quantifier := _QUANTIFIER.match(pattern, at):
            atom, at = _repeated(atom, quantifier), quantifier.end()
        ways = _bounded(ways * atom)
    return _bounded(total + ways), at


def _atom(pattern: str, at: int) -> tuple[int, int]:
    if pattern[at] == "\\":
        return 1, at + 2
    if whole := (_CLASS if pattern[at] == "[" else _COMMENT).match(pattern, at):
        return 1, whole.end()
    head = _HEAD.match(pattern, at)
    if head is None:
        return 1, at + 1
    if head["flags"]:
        return 1, head.end()
    ways, end = _alternatives(pattern, head.end())
    return 1 if head["once"] else ways, end + 1


def _repeated(ways: int, quantifier: re.Match[str]) -> int:
    star, question, low, comma, high, mode = quantifier.groups()
    if star or (comma and not high):
        raise UsageError("an unbounded quantifier: write a bound, such as {0,40} for * and {1,40} for +")
    least = 0 if question else int(low or 0)
    most = 1 if question else int(high) if comma else least
    if ways > 1 and most > MOST_WAYS.bit_length():
        return _bounded(MOST_WAYS + 1)
    repeated = (most - least + 1) * ways**most if most else 1
    return 1 if mode == "+" and _bounded(repeated) else repeated
