"""The rules of the Basic Application Level Confidentiality Profile and its options (DICOM PS3.15 Annex E)."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple, cast

from incognote.errors import BadSchema
from incognote.schemas.registry import Registry

Code = Literal["keep", "clean", "uid", "remove", "empty", "dummy", "mask", "hash"]
"""What happens to an attribute. `mask` and `hash` come only from a hospital's schema."""
SITE = "dicom.site"
"""The data type of a hospital's own schema. Its fields are the keywords of attributes, and names of options."""
OPTIONS = {
    "descriptors": ("113105", "Clean Descriptors Option"),
    "structured": ("113104", "Clean Structured Content Option"),
    "graphics": ("113103", "Clean Graphics Option"),
    "full": ("113106", "Retain Longitudinal Temporal Information Full Dates Option"),
    "modified": ("113107", "Retain Longitudinal Temporal Information Modified Dates Option"),
    "patient": ("113108", "Retain Patient Characteristics Option"),
    "device": ("113109", "Retain Device Identity Option"),
    "uids": ("113110", "Retain UIDs Option"),
    "private": ("113111", "Retain Safe Private Option"),
    "institution": ("113112", "Retain Institution Identity Option"),
}
"""The code and meaning of each option in DICOM's own code system (CID 7050)."""
BASIC = ("113100", "Basic Application Confidentiality Profile")
CLEAN_PIXELS = ("113101", "Clean Pixel Data Option")
FACES = "faces"
"""The option of a hospital that wants no faces. Nothing removes them, so instances that may show one are held."""
_SITE_OPTIONS = {
    "RetainUIDs": "uids", "RetainDeviceIdentity": "device", "RetainInstitutionIdentity": "institution",
    "RetainPatientCharacteristics": "patient", "RetainLongitudinal": "modified", "RetainSafePrivate": "private",
    "CleanDescriptors": "descriptors", "CleanStructuredContent": "structured", "CleanGraphics": "graphics",
    "CleanRecognizableVisualFeatures": FACES,
}  # fmt: skip
_FLAGS: Mapping[str, Code] = {"pass": "keep", "mask": "mask", "hash": "hash", "auto": "clean"}
_FIRST: dict[str, tuple[Code, Code, Code]] = {  # by the type of the attribute: 1, 2, 3
    "X": ("remove", "remove", "remove"), "Z": ("empty", "empty", "empty"), "D": ("dummy", "dummy", "dummy"),
    "U": ("uid", "uid", "uid"), "K": ("keep", "keep", "keep"), "C": ("clean", "clean", "clean"),
    "Z/D": ("dummy", "empty", "empty"), "X/Z": ("empty", "empty", "remove"), "X/D": ("dummy", "dummy", "remove"),
    "X/Z/D": ("dummy", "empty", "remove"), "X/Z/U*": ("clean", "clean", "clean"),
}  # fmt: skip
_TOKEN = re.compile(r"[^\W_]+")
_SETTING = re.compile(r"\d{1,4}|[a-z]|(?=[a-z]*\d)(?=\d*[a-z])[a-z\d]{1,7}")
_MOST_DIGITS = 4


class ProfileRow(NamedTuple):
    """A row of Table E.1-1: the code of the profile, and those of its options."""

    basic: str
    options: Mapping[str, str]


@dataclass(frozen=True)
class TagLists:
    """Our own closed lists, as in rules.toml."""

    hash: Mapping[str, str]
    known: Mapping[str, str]
    names: Mapping[str, str]
    concepts: Mapping[str, str]
    classes: frozenset[str]
    binary: frozenset[str]
    systems: frozenset[str]
    technical: frozenset[str]
    devices: frozenset[str]
    makers: frozenset[str] = field(repr=False)
    words: frozenset[str] = field(repr=False)


@dataclass(frozen=True)
class Profile:
    """The profile with the chosen options.

    Args:
        options: their names, as in `OPTIONS`.
        site: what a hospital decided for attributes, by keyword.
    """

    options: frozenset[str]
    site: Mapping[str, Code] = field(default_factory=dict)

    def code(self, tag: int, keyword: str, iod: str) -> Code | None:
        """Return what happens to an attribute, or None if neither the table nor the hospital has it.

        Args:
            iod: the name of the instance's IOD. "" for an element inside a sequence or an unknown IOD: the strictest
                type of the attribute is assumed.
        """
        if keyword in self.site:
            return self.site[keyword]
        row = rows().get(tag)
        if row is None:
            return None
        given = {code for option, code in row.options.items() if option in self.options}
        if "K" in given:
            return "keep"
        if "C" in given:
            return "clean"
        return _FIRST[row.basic][int(_type(keyword, iod)) - 1]

    def fallback(self, tag: int, keyword: str, iod: str) -> Code:
        """Return what happens to an attribute that would be cleaned, but cannot be: the code without an option."""
        row = rows().get(tag)
        return _FIRST[row.basic][int(_type(keyword, iod)) - 1] if row else "remove"


def _type(keyword: str, iod: str) -> str:
    """Return the type of an attribute: 1, 2 or 3."""
    types: Mapping[str, Mapping[str, str]] = _content()["types"]
    found = types.get(keyword)
    return (found.get(iod) or found[""]) if found and iod else "1"


def iod_of(sop_class: str) -> str:
    """Return the name of the IOD of a SOP class, "" if it is unknown; "-" for one without exceptions in the table."""
    name: str | None = _content()["iods"].get(sop_class)
    return name or ("-" if sop_class.startswith("1.2.840.10008.5.1.4.1.1.") else "")


@cache
def rows() -> Mapping[int, ProfileRow]:
    """Return the rows of Table E.1-1 by tag, without those for repeating groups."""
    found = {}
    for tag, row in _content()["rows"].items():
        basic, *rest = row.rpartition(" ")[0].split()
        if "x" not in tag:
            found[int(tag, 16)] = ProfileRow(basic, dict(each.split(":") for each in rest))
    return found


@cache
def safe_private() -> Mapping[tuple[int, int, str], str]:
    """Return the value representation of each safe private attribute by group, last byte of its number, and creator."""
    parted = (each.split(maxsplit=2) for each in _content()["private"])
    return {(int(tag[:4], 16), int(tag[6:], 16), creator): vr for tag, vr, creator in parted}


@cache
def safe_creators() -> frozenset[str]:
    """Return the private creators that have safe attributes."""
    return frozenset(creator for _, _, creator in safe_private())


def edition() -> str:
    """Return the edition of the standard that the table has: `2026c`."""
    return str(_content()["edition"]["basic"])


@cache
def lists() -> TagLists:
    """Return our own closed lists."""
    content = _toml()
    kept = content["kept"]
    return TagLists(
        hash=content["hash"],
        known=content["known"],
        names=content["names"],
        concepts=content["concepts"],
        classes=frozenset(kept["classes"]),
        binary=frozenset(kept["binary"]),
        systems=frozenset(kept["systems"]),
        technical=frozenset(kept["technical"]),
        devices=frozenset(kept["devices"]),
        makers=frozenset(kept["makers"].split()),
        words=frozenset(kept["words"].split()),
    )


@cache
def profile() -> Profile:
    """Return the profile with the options that are on unless a hospital turns them off."""
    return Profile(frozenset(_toml()["options"]), dict.fromkeys(_toml()["removed"], "remove"))


def profile_with(registry: Registry) -> Profile:
    """Return the profile with what the hospital's schema `dicom.site` changes.

    Raises:
        UnapprovedSchema: the schema is not approved. BadSchema: one of its fields is no keyword and no option.
    """
    if SITE not in registry:
        return profile()
    from pydicom.datadict import tag_for_keyword

    options = set(profile().options)
    site = dict(profile().site)
    for name, rule in registry.get(SITE).root.properties.items():
        if name in _SITE_OPTIONS:
            (options.add if rule.flag == "pass" else options.discard)(_SITE_OPTIONS[name])
        elif tag_for_keyword(name) is None:
            raise BadSchema(f"{SITE}: {name} is neither the keyword of an attribute nor an option")
        else:
            site[name] = _FLAGS[rule.flag or "mask"]
    return replace(profile(), options=frozenset(options), site=site)


def is_technical(keyword: str, value: str) -> bool:
    """Whether a text is one of a scanner's settings: its attribute and all of its words are in our lists.

    A word counts, too, if it is a number of at most 4 digits, one letter, or up to 7 letters and digits.
    """
    return keyword in lists().technical and all(_is_setting(keyword, each) for each in words_of(value))


def is_setting(value: str) -> bool:
    """Whether all words of a value are settings, as above."""
    return all(_is_setting("", each) for each in words_of(value))


def _is_setting(keyword: str, word: str) -> bool:
    if sum(map(str.isdigit, word)) > _MOST_DIGITS:
        return False
    maker = keyword in lists().devices and word in lists().makers
    return maker or word in lists().words or _SETTING.fullmatch(word) is not None


def stretch_of(keyword: str, value: str, words: Collection[str]) -> tuple[int, int] | None:
    """Return the stretch of a value with all words of known identifiers, if all others are settings, as above."""
    if keyword not in lists().technical:
        return None
    found = list(_TOKEN.finditer(value))
    known = [each for each in found if each[0].casefold() in words]
    if not known or any(each not in known and not _is_setting(keyword, each[0].casefold()) for each in found):
        return None
    return known[0].start(), known[-1].end()


@cache
def _meanings() -> Mapping[tuple[str, str], frozenset[str]]:
    """Return the meanings of the codes of DICOM's context groups, by code system and code."""
    from pydicom.sr._concepts_dict import concepts

    systems: Mapping[str, Mapping[str, Mapping[str, tuple[str, Any]]]] = cast(Any, concepts)  # its type is object
    found: dict[tuple[str, str], set[str]] = {}
    for system, names in systems.items():
        for codes in names.values():
            for code, (meaning, _) in codes.items():
                found.setdefault((system, code), set()).add(meaning.casefold())
    return {key: frozenset(each) for key, each in found.items()}


def is_standard_meaning(system: str, code: str, meaning: str) -> bool:
    """Whether a code has this meaning in the standard."""
    return meaning.casefold() in _meanings().get((system, code), ())


def has_word_of(value: str, words: Collection[str]) -> bool:
    """Whether a value has one of these words, whatever their case."""
    return any(each in words for each in words_of(value))


def words_of(value: str) -> list[str]:
    """Return the words of a value in lower case."""
    return _TOKEN.findall(value.casefold())


@cache
def _content() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files(__package__).joinpath("profile.json").read_text(encoding="utf-8"))
    return found


@cache
def _toml() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("rules.toml").read_text(encoding="utf-8"))
