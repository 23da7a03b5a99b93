"""Formulas that may stay: those that consist of functions, cells, short numbers, and words of layout."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from importlib.resources import files

from incognote.formats.xlsx.closed import is_plain

_LONGEST = 8192
_SHEET = r"(?:'(?P<quoted>(?:[^']|'')+)'|(?P<sheet>[^\W\d][\w.]*))!"
_TOKEN = re.compile(
    rf"""(?P<text>"(?:[^"]|"")*")
    |(?P<error>\#(?:NULL!|DIV/0!|VALUE!|REF!|NAME\?|NUM!|N/A|SPILL!|CALC!))
    |{_SHEET}
    |(?P<cells>\$?[A-Z]{{1,3}}\$?[0-9]{{1,7}}(?![\w.(])|\$?[A-Z]{{1,3}}:\$?[A-Z]{{1,3}}(?![\w.(])
        |\$?[0-9]{{1,7}}:\$?[0-9]{{1,7}})
    |(?P<number>[0-9]+(?:\.[0-9]*)?(?:[eE][+\-]?[0-9]{{1,3}})?|\.[0-9]+)
    |(?P<function>(?:_xlfn\.|_xlws\.)*[A-Za-z][A-Za-z0-9.]*)\(
    |(?P<name>[^\W\d][\w.]*)
    |(?P<sign>[\s+\-*/^&=<>%(),;:{{}}@])""",
    re.VERBOSE,
)
_PREFIX = re.compile(r"_xl(?:fn|ws)\.")
_NUMBER = re.compile(r"[0-9]{0,4}0{0,8}(?:\.[0-9]{0,6})?(?:[eE][+\-]?[0-9]{1,2})?")
_FARTHEST = 2  # letters of a column; a longer one could be a word


@cache
def functions() -> frozenset[str]:
    """Return the names of the functions that may stay."""
    return frozenset(tomllib.loads((files(__package__) / "functions.toml").read_text("utf-8"))["functions"].split())


def is_closed(formula: str, sheets: Collection[str], names: Collection[str]) -> bool:
    """Whether a formula cannot name a person.

    Args:
        formula: its characters, decoded.
        sheets: the names of the sheets, and `names` the defined names that stay, both in lower case.
    """
    if len(formula) > _LONGEST:
        return False
    at, refers, joins = 0, False, False
    while at < len(formula):
        token = _TOKEN.match(formula, at)
        if token is None or not _may_stay(token, sheets, names):
            return False
        refers = refers or bool(token["cells"] or token["name"] or token["function"])
        joins = joins or token["sign"] in ("+", "-", "*", "/", "^", "&")
        at = token.end()
    return refers or not joins or "#" in formula  # literals could compose a number: 447*1000+190


def _may_stay(token: re.Match[str], sheets: Collection[str], names: Collection[str]) -> bool:
    if token["text"]:
        return is_plain(token["text"][1:-1])
    if token["quoted"]:
        return token["quoted"].replace("''", "'").lower() in sheets
    if token["sheet"]:
        return token["sheet"].lower() in sheets
    if token["cells"]:
        return all(len(column) <= _FARTHEST or column == "XFD" for column in re.findall("[A-Z]+", token["cells"]))
    if token["number"]:
        return _NUMBER.fullmatch(token["number"]) is not None
    if token["function"]:
        return _PREFIX.sub("", token["function"]).upper() in functions()
    if token["name"]:
        return token["name"].lower() in names or token["name"].upper() in ("TRUE", "FALSE")
    return True


def names_in(formula: str) -> Iterator[str]:
    """Yield, for the second reader, what a formula names: words in quotes, sheets, and defined names."""
    at = 0
    while at < len(formula):
        token = _TOKEN.match(formula, at)
        if token is None:
            yield formula[at:]
            return
        if token["function"] and _PREFIX.sub("", token["function"]).upper() not in functions():
            yield token["function"]
        yield from (found for kind in ("text", "quoted", "sheet", "name") if (found := token[kind]))
        at = token.end()


def renamed(formula: str, sheets: Mapping[str, str]) -> str:
    """Return a formula with the new names of sheets.

    Args:
        sheets: the new name by the old one in lower case.
    """
    if "!" not in formula:
        return formula
    pieces: list[str] = []
    at = 0
    while at < len(formula):
        token = _TOKEN.match(formula, at)
        if token is None:
            return "".join([*pieces, formula[at:]])
        old = (token["quoted"] or token["sheet"] or "").replace("''", "'").lower()
        new = sheets.get(old) if old else None
        pieces.append(token[0] if new is None else "'" + new.replace("'", "''") + "'!")
        at = token.end()
    return "".join(pieces)
