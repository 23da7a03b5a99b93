"""What an RTF document may keep although no detector reads it: names of fonts and styles, field codes, and numbers.

Each rule accepts only content that cannot name a person. The reader removes or renames all other content.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

_BOOKMARK = r"_(?:Toc|Ref|Hlk|PictureBullets|Hlt)\d{0,12}|_GoBack|(?:Text|Check|Dropdown|Bookmark|OLE_LINK)_?\d{0,3}"
_PICTURE = r"(?:d{1,4}|M{1,4}|y{2,4}|h{1,2}|H{1,2}|m{1,2}|s{1,2}|am/pm|AM/PM|[#0/:.,\- ])*"
_FORM = r"(?i:mergeformat|charformat|arabic|roman|upper|lower|alphabetic|firstcap|caps|ordinal|cardtext|dollartext|hex)"
_FIELD = re.compile(
    r"\s*(?:PAGE|NUMPAGES|SECTION|SECTIONPAGES|NUMWORDS|NUMCHARS|DATE|TIME|FORMTEXT|FORMCHECKBOX|FORMDROPDOWN|TOC"
    rf"|SEQ\s+(?:Table|Figure|Tabelle|Abbildung)|(?:REF|PAGEREF|NOTEREF)\s+(?:{_BOOKMARK})|\s*)"
    rf"(?:\s+\\\*\s*{_FORM}|\s+\\[@#]\s*\"{_PICTURE}\"|\s+\\[onbt]\s*\"\d-\d\"|\s+\\[hzunprwdtfs])*\s*",
    re.ASCII,
)
_WHOLE = {
    "bookmark": re.compile(_BOOKMARK, re.ASCII),
    "field": _FIELD,
    "number": re.compile(r"\s*-?\d{0,6}\s*", re.ASCII),
    "value": re.compile(r"\s*(?:-?\d{1,10}|[\d;(),\-]+)\s*", re.ASCII),
}
_LONGEST = 200  # characters; longer content could slow down the patterns
_WORD = re.compile(r"[^\W\d_]+")
_MARK = re.compile(r"\w{2,}")
NOBODY = frozenset(
    ("", "unknown", "unknown author", "author", "user", "windows user", "microsoft office user", "administrator")
)
"""Authors that are not a person, in lower case."""
_ROLES = frozenset(
    "admin clerk clinic department desk doctor hospital medical nurse office records secretary service staff station"
    " system team transcription typist unit user ward".split()
)


@cache
def vocabulary(kind: str) -> frozenset[str]:
    """Return one list of `vocabulary.toml`: words, fonts, styles, or shapes."""
    return frozenset(tomllib.loads((files(__package__) / "vocabulary.toml").read_text("utf-8"))[kind].split())


def keeps(rule: str, content: str) -> bool:
    """Whether the whole content of a destination may stay.

    Args:
        rule: fonts, styles, shapes, bookmark, field, number, or value.
    """
    if rule in ("fonts", "styles"):  # tables of many names
        return all(_is_listed(rule, name) for name in content.split(";"))
    if rule == "shapes":
        return content.strip() in vocabulary(rule)
    return len(content) <= _LONGEST and bool(_WHOLE[rule].fullmatch(content))


def is_full_name(author: str) -> bool:
    """Whether an author is more than a user name, and not a role such as `Medical Records`."""
    names = author.casefold().split()
    return len(names) > 1 and _ROLES.isdisjoint(names)


def renamed(rule: str, content: str) -> Iterator[tuple[int, int, str]]:
    """Yield the names in a table of fonts or styles that may not stay, and the names that replace them."""
    at = 0
    for number, name in enumerate(content.split(";")):
        if not _is_listed(rule, name):
            yield at, at + len(name), "Arial" if rule == "fonts" else f"Style {number}"
        at += len(name) + 1


def masked_marks(content: str) -> Iterator[tuple[int, int, str]]:
    """Yield the words in the label of a list, which become hyphens because the label states its own length."""
    for word in _MARK.finditer(content):
        yield word.start(), word.end(), "-" * len(word[0])


def _is_listed(rule: str, name: str) -> bool:
    return vocabulary(rule).issuperset(_WORD.findall(name)) and not re.search(r"\d{4}", name)
