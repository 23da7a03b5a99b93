"""What a workbook may keep although no detector reads it (`rules.toml`): names, values of attributes, and formats.

Each rule accepts only content that cannot name a person. The reader removes or renames all other content.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from incognote.formats.office import rules as office
from incognote.schemas.fieldnames import known_words

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_COMPATIBLE = "http://schemas.openxmlformats.org/markup-compatibility/2006"
_OFFICE = "http://schemas.microsoft.com/office/spreadsheetml"
SPACES = {
    "": MAIN, "x": MAIN, "r": RELATIONS, "mc": _COMPATIBLE,
    "xdr": "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing",
    "x14": f"{_OFFICE}/2009/9/main", "x14ac": f"{_OFFICE}/2009/9/ac", "xr": f"{_OFFICE}/2014/revision",
    "xr2": f"{_OFFICE}/2015/revision2", "xr3": f"{_OFFICE}/2016/revision3", "xr6": f"{_OFFICE}/2016/revision6",
    "xr10": f"{_OFFICE}/2016/revision10", "x15": f"{_OFFICE}/2010/11/main", "x15ac": f"{_OFFICE}/2010/11/ac",
    "x16r2": f"{_OFFICE}/2015/02/main", "xm": "http://schemas.microsoft.com/office/excel/2006/main",
    "mx": "http://schemas.microsoft.com/office/mac/excel/2008/main", "mv": "urn:schemas-microsoft-com:mac:vml",
}  # fmt: skip
"""The declarations of namespaces that may stay, by prefix. Other prefixes could be words."""
_CELL = r"\$?[A-Z]{1,3}\$?[0-9]{1,7}"
_CELLS = re.compile(rf"(?:(?:{_CELL}|[A-Z]{{1,3}}|[0-9]{{1,7}})(?::(?:{_CELL}|[A-Z]{{1,3}}|[0-9]{{1,7}}))?(?: |\Z))+")
_SHAPES: Mapping[str, re.Pattern[str]] = {
    **dict.fromkeys(("ref", "sqref", "topLeftCell", "activeCell"), _CELLS),
    "rgb": re.compile(r"[0-9A-Fa-f]{6}(?:[0-9A-Fa-f]{2})?"),
    "appName": re.compile(r"xl|Calc|LibreOffice"),
    "xml:space": re.compile(r"preserve|default"),
    **dict.fromkeys(("defaultTableStyle", "defaultPivotStyle"),
                    re.compile(r"(?:Table|Pivot)Style(?:Light|Medium|Dark)[0-9]{1,2}")),
    "calcId": re.compile(r"[0-9]{1,6}"), "rupBuild": re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6})?"),
}  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+")
_DIGITS = re.compile(r"\d+")
_BUILT_IN = re.compile(
    r"_xlnm\.(?:Print_Area|Print_Titles|_FilterDatabase|Criteria|Extract|Database|Sheet_Title|Consolidate_Area)"
)
_SHORT, _LONG = 4, 6  # digits of a number in a name or formula, and of one in a cell
_ROUND = 3  # digits of a number before its zeros
_CODE = re.compile(
    r"(?:\[(?:\$[^\]\-\d]{0,4}(?:-[0-9A-Fa-f]{1,8})?|h+|m+|s+|Red|Blue|Green|Black|White|Yellow|Cyan|Magenta"
    r"|Color ?\d{1,2}|[<>=]{1,2}-?[\d.]{1,9}|DBNum\d|ENG|HIJ|NatNum\d)\]"
    r"|General|Standard|AM/PM|A/P|am/pm|[yY]{1,4}|[mM]{1,5}|[dD]{1,4}|[hH]{1,2}|[sS]{1,2}|[eE][+\-]|[eEgGbB]{1,4}|T{1,4}|J{1,4}"
    r"|[#0?.,%/:;@()+\-\s$€£¥'!^&<>=~{}]|[_*].|\\[^\w]|\\[A-Za-z](?![A-Za-z\\])|(?P<text>\"[^\"]{0,40}\"))*"
)
_TEXT = re.compile(r"\"([^\"]*)\"")


@cache
def rules() -> Mapping[str, Any]:
    """Return the content of `rules.toml`."""
    return tomllib.loads((files(__package__) / "rules.toml").read_text("utf-8"))


@cache
def elements() -> Mapping[str, frozenset[str]]:
    """Return the attributes that stay, by the name of the element."""
    return {name: frozenset(attributes.split()) for name, attributes in rules()["elements"].items()}


@cache
def _values() -> frozenset[str]:
    return frozenset(rules()["values"]["names"].split())


@cache
def _plain() -> frozenset[str]:
    words = rules()["words"]
    return known_words() | frozenset((words["plain"] + words["units"]).split())


@cache
def _styles() -> frozenset[str]:
    return frozenset(rules()["words"]["styles"].split())


@cache
def _nobody() -> frozenset[str]:
    return frozenset(rules()["words"]["nobody"].split("\n")) - {""}


def is_plain(words: str) -> bool:
    """Whether words in a formula, a number format, or a name are words of layout and at most one short number."""
    digits = [each for each in _DIGITS.findall(words) if each.strip("0")]
    if len(digits) > 1 or any(len(each) > _SHORT for each in digits):
        return False
    return all(each in _plain() for each in _WORD.findall(words.lower()))


def is_nobody(value: str) -> bool:
    """Whether a value under a label is no identifier, such as `unknown` or `Total`."""
    return value.strip(" .:").lower() in _nobody()


def is_plain_name(name: str) -> bool:
    """Whether the name of a table or a defined name, such as `LabResults_2`, consists of words of layout."""
    return is_plain(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name))


def is_built_in(name: str) -> bool:
    """Whether a defined name is one of Excel, such as that of the area to print."""
    return _BUILT_IN.fullmatch(name) is not None


def is_plain_style(name: str) -> bool:
    """Whether the name of a cell style is one that comes with a program."""
    return all(each in _styles() for each in _WORD.findall(name)) and sum(map(str.isdecimal, name)) <= _SHORT


def is_closed(name: str, value: str) -> bool:
    """Whether an attribute may stay with a value: a short number, a cell, a color, or a word of the standard."""
    if (shape := _SHAPES.get(name)) is not None:
        return shape.fullmatch(value) is not None
    return value in _values() or office.is_closed(value)


def is_code(code: str) -> bool:
    """Whether a number format may stay: its signs are those of formats, and its words in quotes are plain."""
    return len(code) < 500 and _CODE.fullmatch(code) is not None and all(map(is_plain, _TEXT.findall(code)))


def is_number(written: str) -> bool:
    """Whether the number in a cell is too short or too round to be an identifier, or the result of arithmetic."""
    whole, _, fraction = written.lstrip("+-").partition(".")
    fraction, _, exponent = fraction.lower().partition("e")
    if exponent and abs(int(exponent)) > 4 and not exponent.startswith("-"):
        return False
    whole = whole.lstrip("0")
    if not fraction.strip("0") and len(whole.rstrip("0")) <= _ROUND and len(whole) > _LONG:
        return whole.endswith("0000")
    return len(whole) <= _LONG and (len(fraction) <= 6 or len(fraction) >= 13 or len(whole) < _ROUND)
