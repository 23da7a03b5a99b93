"""The closed rules of office documents: names and values that stay unread, since they cannot name a person."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from incognote.formats.markup.rules import is_language, is_layout
from incognote.formats.rtf import closed

WHOLE = re.compile(
    r"[-+]?(?:\d{1,6}(?:\.(?:\d{0,6}|\d{12,17}))?|\.(?:\d{1,6}|\d{12,17}))(?:E[-+]?\d{1,3})?"
    r"(?:pt|in|cm|mm|pc|pi|px|em|ex|fd|f|%|emu)?",
    re.ASCII,
)
"""A number of at most six digits before the point, with a unit. Longer fractions are those of a binary number."""
_COLOR = re.compile(r"(?:#?[0-9A-Fa-f]{6}|#[0-9A-Fa-f]{3}|black|white|window|windowText)(?: \[\d{1,5}\])?")
_HEX = re.compile(r"(?=[^g-zG-Z]*\d)[0-9A-Fa-f]{2,6}")
_PLAIN = re.compile(r"[\W_]{0,200}")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_]+")
_ID = re.compile(r"(?=.*[A-Fa-f])[0-9A-Fa-f]{7,8}|(?:00)?[0-9A-Fa-f]{1,6}")
_GUID = re.compile(r"\{[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\}")
_RELATION = re.compile(r"(?:docR|r|R)?(?:I|i)[dD]\d{1,5}|R\d{1,4}|rel\d{1,4}", re.ASCII)
_MARK = re.compile(r".|[\W_]{0,40}(?:%\d[\W_]{0,40}){0,9}|\d{1,2}")
_LONGEST_VERSION = 10  # digits
_PREFIX = re.compile(r"[a-z]\d{0,2}|ns\d{1,3}|d\d{1,2}p\d{1,2}")
_SHAPE = re.compile(r"#?_x0000_[a-z]{1,2}\d{1,5}|_?\d{1,6}", re.ASCII)
_COMMANDS = re.compile(r"(?:nf|ns|ae|al|at|ar|wa|wr|qx|qy|qb|h[a-i]|[mlcxetrv]){1,4}")
_CSS = re.compile(r"z-index:\s*-?(\d{1,10})\s*")
_LARGE = re.compile(r"\d{7,}")
_GRIDS = (360, 635, 512)  # a hundredth of a millimeter and a twentieth of a point in EMU, and the step of z positions
_PICTURE = re.compile(r"(?:[dMyhHmsegbaAP]{1,4}|AM/PM|am/pm|'(?:de|of|h|Uhr|g)'|[-/:., ])*")
_FORMAT = re.compile(
    r"(?:General|Standard|\[(?:Red|Blue|Green|Black|White|Yellow|Cyan|Magenta|Color\d{1,2}|[$€£¥-]*-?[0-9A-Fa-f]{0,4}|"
    r"[<>=]{1,2}\d{1,6}|[hms]{1,2})\]|AM/PM|A/P|am/pm|[0#?]{1,12}+|[dmyhse]{1,5}|[@%*_(),.;:/+\-$€£¥ ]|\\[^\w]|"
    r"\"[\W_]{0,3}\"|E\+)*+"
)
_SHEET = re.compile(r"(?:'?(?:Sheet|Tabelle|Table|Feuil|Hoja|Foglio)[ _]?\d{0,3}'?!)?\$?[A-Z]{1,3}\$?\d{1,6}"
                    r"(?::\$?[A-Z]{1,3}\$?\d{1,6})?")  # fmt: skip
RELATION_TYPE = re.compile(
    r"http://(?:schemas\.openxmlformats\.org/(?:officeDocument|package)/2006|purl\.oclc\.org/ooxml/officeDocument|"
    r"schemas\.microsoft\.com/office/\d{4}(?:/\d\d?)?)/relationships(?:/metadata)?/[A-Za-z-]+"
)
"""The types of relations. Their last word is one of `[relations]` in `rules.toml`."""
_GALLERIES = frozenset(
    "Default|AutoText|Custom AutoText|Cover Pages|Equations|Footers|Headers|Page Numbers|Tables|Table of Contents|"
    "Watermarks|Text Boxes|Bibliographies|Page Numbers (Top of Page)|Page Numbers (Bottom of Page)|"
    "Page Numbers (Margins)|Quick Parts".split("|")
)
_URN = re.compile(
    r"(?:urn:microsoft\.com/office/officeart|http://schemas\.(?:openxmlformats|microsoft)\.(?:org|com)/(?:office/)?"
    r"(?:drawingml|drawing|officeart))/\d{4}/\d{1,2}/(?:layout|quickstyle|colors|diagram)"
    r"(?:/(?P<name>[A-Za-z]{1,30}\d{0,2}(?:#\d{1,2})?))?"
)


@cache
def lists() -> Mapping[str, Mapping[str, Any]]:
    """Return the lists of `rules.toml` and `vocabulary.toml`: sets of words, but the namespaces by prefix."""
    found: dict[str, dict[str, Any]] = {}
    for name in ("rules", "vocabulary"):
        tables = tomllib.loads(files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
        for table, values in tables.items():
            whole = table in ("spaces", "strict")
            own = {key: text if whole else frozenset(text.split()) for key, text in values.items()}
            found.setdefault(table, {}).update(own)
    return found


def words(name: str) -> frozenset[str]:
    """Return one of the lists of `[lists]`."""
    found: frozenset[str] = lists()["lists"][name]
    return found


@cache
def _values() -> frozenset[str]:
    """Return the values of attributes that are words of the standards or of layout."""
    names: frozenset[str] = lists()["values"]["names"]
    return names | words("values")


@cache
def _prefixes() -> Mapping[str, str]:
    """Return the usual prefix of each namespace whose elements are read."""
    tables = lists()
    return {uri: prefix for table in ("strict", "spaces") for prefix, uri in tables[table].items()}


def prefix_of(uri: str) -> str:
    """Return the usual prefix of a namespace whose elements are read, or ""."""
    return _prefixes().get(uri, "")


def is_declared(uri: str) -> bool:
    """Whether a namespace may be declared."""
    return uri in _prefixes() or uri in words("declared")


def is_prefix(prefix: str) -> bool:
    """Whether a prefix of a namespace is one that office programs write."""
    return prefix in lists()["spaces"] or prefix in words("prefixes") or _PREFIX.fullmatch(prefix) is not None


@lru_cache(16_384)
def key_of(uri: str, name: str) -> str:
    """Return the name of an element with the usual prefix, such as `w:p`, or "" if no standard defines it."""
    prefix = prefix_of(uri)
    return f"{prefix}:{name}" if name in lists()["elements"].get(prefix, ()) else ""


@lru_cache(16_384)
def attribute_of(expanded: str) -> str:
    """Return the name of an attribute with the usual prefix, given `{namespace}name`, or "" if it is unknown."""
    uri, brace, name = expanded[1:].partition("}") if expanded[:1] == "{" else ("", "", expanded)
    prefix = prefix_of(uri) if brace else ""
    if brace and not prefix:
        return ""
    own = f"{prefix}:{name}" if prefix else name
    return own if prefix == "r" or own in lists()["attributes_of"]["names"] else ""


@cache
def _kinds() -> Mapping[str, str]:
    table = lists()["attributes"]
    return {key: kind for kind, keys in table.items() for key in keys}


@lru_cache(16_384)
def kind_of(key: str, attribute: str, holder: str = "") -> str:
    """Return the rule for an attribute, given the usual names of it, of its element, and of the element around that.

    Returns:
        A key of `[attributes]` in `rules.toml`, or `value` if the attribute has no rule of its own.
    """
    kinds = _kinds()
    prefix, _, name = key.partition(":")
    for each in (f"{holder}/{name}@{attribute}", f"{key}@{attribute}", f"{prefix}:*@{attribute}", f"*@{attribute}"):
        if each in kinds:
            return kinds[each]
    return "value"


@cache
def _characters() -> Mapping[str, str]:
    return {key: kind for kind, keys in lists()["characters"].items() for key in keys}


def characters_of(key: str) -> str:
    """Return the rule for the characters of an element: a key of `[characters]` in `rules.toml`, or `value`."""
    return _characters().get(key, "value")


@cache
def _relation_kinds() -> frozenset[str]:
    return frozenset().union(*lists()["relations"].values())


@lru_cache(65_536)
def stays(kind: str, value: str) -> bool:
    """Whether a value of an attribute may stay unread under its rule."""
    rule = _RULES.get(kind)
    if rule is None:
        return is_closed(value)
    return value == "" or rule(value)


def is_closed(value: str) -> bool:
    """Whether a value is a short number, a color, a language, a namespace, a sign, or words of the standards."""
    if len(value) <= 1 or WHOLE.fullmatch(value) or _PLAIN.fullmatch(value):
        return True
    if _COLOR.fullmatch(value) or _HEX.fullmatch(value) or is_language(value) or is_declared(value):
        return True
    return _values().issuperset(re.split(r"[ ,;]+", value.strip()))


def is_named(value: str) -> bool:
    """Whether the name of a shape, a part, or another thing consists of known words and at most three digits."""
    parts = _WORD.findall(value)
    known = all(part.lower() in words("words") or (part.isdigit() and len(part) < 4) for part in parts)
    return known and sum(map(str.isdigit, value)) < 5


def is_part(segment: str) -> bool:
    """Whether a folder or file name of a part has only known words, at most four digits, and a known suffix."""
    stem, dot, suffix = segment.removesuffix(".rels").rpartition(".")
    if dot and suffix.lower() not in words("suffixes"):
        return False
    stem = stem if dot else suffix
    if segment in ("[Content_Types].xml", "_rels", ".rels") or re.fullmatch(r"n\d{1,4}", stem):
        return True
    return re.fullmatch(r"[A-Za-z_-]*\d{0,4}", stem, re.ASCII) is not None and is_named(re.sub(r"\d+\Z", "", stem))


def is_font(value: str) -> bool:
    """Whether the name of a font consists of known words."""
    known = closed.vocabulary("fonts") | words("fonts") | words("fonts_east_asian")
    return known.issuperset(re.findall(r"[^\W\d_]+", value)) and not re.search(r"\d{3}", value)


def is_style(value: str) -> bool:
    """Whether the name or id of a style consists of known words and at most three digits."""
    known = closed.vocabulary("styles") | words("styles") | words("words")
    parts = _WORD.findall(value)
    named = all(part.isdigit() or part in known or part.lower() in known for part in parts)
    return (named or closed.keeps("styles", value)) and sum(map(str.isdigit, value)) < 4


def _is_theme(value: str) -> bool:
    return all(part.lower() in words("themes") | words("words") for part in _WORD.findall(value))


def _is_guid(value: str) -> bool:
    if _GUID.fullmatch(value) is None:
        return WHOLE.fullmatch(value) is not None or value in words("extensions")
    return not re.search(r"\d{6}", value.replace("-", "")) or value.startswith("{00000000-0000-0000-0000-")


def _is_mask(value: str) -> bool:
    if re.fullmatch(r"(?:0[0-9A-Fa-f]){10}", value):
        return True
    short = not value.isdigit() or len(value) < 7 or value.count("0") > len(value) // 2
    return short and re.fullmatch(r"[0-9A-Fa-f]{2,8}", value) is not None


def _is_path(value: str) -> bool:
    if stays("value", value):
        return True
    if re.search(r"\d{7}|[^A-Za-z0-9@#%$,.;:\s()\[\]+*/=_-]", value):
        return False
    return all(
        part.lower() in words("formula") or _COMMANDS.fullmatch(part) or part in _values() or part in ("pt", "in")
        for part in re.findall(r"[A-Za-z]+", re.sub(r"#[0-9A-Fa-f]{3,6}(?![0-9A-Za-z])", " ", value))
    )


def rounded(value: str) -> str:
    """Return a measure with its numbers of more than six digits on a grid of programs, so that they are no codes.

    The grid is a hundredth of a millimeter, so a reader does not see the difference.
    """
    return _LARGE.sub(lambda m: m[0] if _on_grid(m[0]) else str(round(int(m[0]) / _GRIDS[0]) * _GRIDS[0]), value)


def _on_grid(digits: str) -> bool:
    return len(digits) < 7 or len(digits.rstrip("0")) < 5 or any(int(digits) % step == 0 for step in _GRIDS)


def _is_guide(value: str) -> bool:
    if rounded(value) != value or re.search(r"\d{11}|[^A-Za-z0-9\s*/+?:-]", value):
        return False
    return all(part.lower() in words("guide") for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", value))


def css_declarations(value: str) -> list[str]:
    """Return the declarations of a VML style that may stay."""
    kept = []
    for part in value.split(";"):
        name, colon, own = part.partition(":")
        if not part.strip() or (colon and (_is_level(part.strip()) or (_is_css(name) and _is_css(own)))):
            kept.append(part)
    return kept


def _is_level(declaration: str) -> bool:
    found = _CSS.fullmatch(declaration)
    return found is not None and _on_grid(found[1])


def _is_css(value: str) -> bool:
    return is_layout(value if re.search(r"\d", value) else value.replace("-", " "), words("css"))


def _is_css_value(value: str) -> bool:
    return len(css_declarations(value)) == len(value.split(";"))


def is_program(value: str) -> bool:
    """Whether a value consists of the names of programs that write documents, with a version."""
    left = re.sub(r"\$[A-Za-z_][0-9A-Za-z_]*|/[0-9a-f]{40}", " ", value)
    if sum(map(str.isdigit, left)) > _LONGEST_VERSION or re.search(r"\d\s+\d|\d{7}", left):
        return False
    return words("programs").issuperset(re.findall(r"[^\W\d_]+", left))


def is_format(value: str) -> bool:
    """Whether a value is a format code of numbers and dates without words."""
    return len(value) <= 200 and _FORMAT.fullmatch(value) is not None


def is_reference(value: str) -> bool:
    """Whether a formula is a range of a sheet with a standard name."""
    return _SHEET.fullmatch(value) is not None


def _is_diagram(value: str) -> bool:
    found = _URN.fullmatch(value)
    if found is not None:
        return not found["name"] or _is_diagram_name(found["name"])
    return WHOLE.fullmatch(value) is not None or is_named(value) or stays("value", value)


def _is_diagram_name(name: str) -> bool:
    return all(part.isdigit() or part.lower() in words("words") for part in _WORD.findall(name))


def _are_prefixes(value: str) -> bool:
    return all(is_prefix(part.partition(":")[0]) for part in value.split())


_RULES: Mapping[str, Callable[[str], bool]] = {
    "name": is_named, "theme": _is_theme, "font": lambda v: v[:1] == "+" or is_font(v.lstrip("@")),
    "style": is_style, "style_name": lambda v: all(is_style(each) for each in v.split(",")),
    "bookmark": lambda v: closed.keeps("bookmark", v) and not _LARGE.search(v),
    "instruction": lambda v: closed.keeps("field", v) and not _LARGE.search(v),
    "number": lambda v: re.fullmatch(r"-?\d{1,6}", v) is not None or _is_guid(v),
    "hexadecimal": lambda v: _ID.fullmatch(v) is not None, "mask": _is_mask, "guid": _is_guid, "diagram": _is_diagram,
    "extension": lambda v: v in words("extensions") or is_declared(v), "namespace": is_declared,
    "target": lambda v: v == "#" or all(each in ("", "..") or is_part(each) for each in v.split("/")),
    "sort": lambda v: RELATION_TYPE.fullmatch(v) is not None and v.rpartition("/")[2] in _relation_kinds(),
    "content": lambda v: v in words("types"), "suffix": lambda v: v.lower() in words("suffixes"),
    "relation": lambda v: _RELATION.fullmatch(v) is not None,
    "shape": lambda v: _SHAPE.fullmatch(v) is not None or is_named(v),
    "css": _is_css_value, "path": _is_path, "guide": _is_guide,
    "geometry": lambda v: is_closed(v) or (re.fullmatch(r"-?\d{1,10}", v) is not None and rounded(v) == v),
    "bits": lambda v: re.fullmatch(r"[01]{0,12}", v) is not None or _HEX.fullmatch(v) is not None,
    "prefixes": _are_prefixes, "picture": lambda v: _PICTURE.fullmatch(v) is not None, "format": is_format,
    "gallery": lambda v: v in _GALLERIES, "program": is_program,
    "text": lambda v: _MARK.fullmatch(v) is not None, "author": lambda v: v.strip().casefold() in closed.NOBODY,
    "initials": lambda v: False, "removed": lambda v: False, "property": lambda v: v == "generated by python-docx",
    "person": lambda v: v.strip().casefold() in closed.NOBODY, "organization": lambda v: False,
    "reference": is_reference, "template": lambda v: v in ("Normal.dotm", "Normal.dotx", "Normal.dot", "Normal"),
}  # fmt: skip
