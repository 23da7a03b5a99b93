"""The closed rules of what may stay in a page: elements, attributes, style sheets, and names within the page."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

_NUMBER = re.compile(
    r"(?<!\d)(?P<sign>[-+]?)(?P<digits>\d{1,4}(?:\.\d{1,6})?|\.\d{1,6})(?P<unit>%|(?:px|pt|pc|r?em|ex|ch|cm|mm|in|q|v[hw]|"
    r"vmin|vmax|deg|rad|turn|m?s|dpi|dppx|fr|x)(?![A-Za-z]))?(?!\d)", re.IGNORECASE
)
_DATE_LIKE = re.compile(r"\d[-/.]\d+[-/.]\d")
_BYTE = r"\s*(?:25[0-5]|2[0-4]\d|1?\d?\d)\s*"
_COLOR = re.compile(
    r"#(?:[0-9A-Fa-f]{3,4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})(?!\w)"
    rf"|rgba?\({_BYTE},{_BYTE},{_BYTE}(?:,\s*[01]?(?:\.\d{{1,2}})?\s*)?\)"
)
_LOCAL = re.compile(r"url\(\s*([\"']?)#(?P<name>[^\"'()\s]+)\1\s*\)", re.IGNORECASE)
_DRAWING = re.compile(
    r"(?:[\s,()MmLlHhVvCcSsQqTtAaZz]|(?:matrix|translate|scale|rotate|skew[XY])\(|[-+]?(?:\d{1,4}\.?\d{0,8}|\.\d{1,8})"
    r"(?:e-?\d{1,2})?(?=[^\d]|$))*"
)
_LANGUAGE = re.compile(r"([a-z]{2,3})(?:-(?:arab|cyrl|hans|hant|latn))?(?:-(?:[a-z]{2}|001|150|419))?", re.IGNORECASE)
# A size of HTML (no drawing): a number of at most four digits.
_SIZE = re.compile(r"\d{1,4}(?:px|pt|em|\*)?|(?:100|\d{1,2}(?:\.\d{1,4})?)%|auto", re.IGNORECASE)
_NAMESPACE = re.compile(
    r"http://www\.w3\.org/(?:1999/xhtml|2000/svg|1999/xlink|1998/Math/MathML|TR/REC-html40)|"
    r"urn:schemas-microsoft-com:(?:office:(?:office|word|excel|powerpoint|smarttags)|vml)|"
    r"http://schemas\.microsoft\.com/office/(?:2004/12/omml|\d{4}/\d{1,2}/[a-z]{1,12})|"
    r"uuid:C2F41010-65B3-11d1-A29F-00AA00C14882|http://www\.idpf\.org/2007/ops"
)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_PRODUCER = re.compile(
    r"(?:LibreOffice|OpenOffice|pandoc|Microsoft (?:Word|Excel|PowerPoint|Outlook|Exchange Server)|Aspose\.Words|"
    r"Word\.Document|Excel\.Sheet|PowerPoint\.Slide)"
    r"(?: ?\d{1,3}(?:\.\d{1,5}){0,3})?(?: \((?:Linux|Windows|filtered(?: medium)?|MacOSX?)\))?", re.IGNORECASE
)
_SELECTOR = re.compile(
    r"(?P<name>[.#][A-Za-z_-][\w-]*)|(?P<word>::?[A-Za-z-]+|@?[A-Za-z][\w]*)|[\s,>+~*()]|\d{1,2}(?!\d)", re.ASCII
)
_PLAIN_RULE = re.compile(r"\A@(?:media|page|supports)\b", re.IGNORECASE)


@cache
def rules() -> dict[str, dict[str, Any]]:
    """Return the lists of `rules.toml`, each as a set of its words."""
    tables = tomllib.loads(files(__package__).joinpath("rules.toml").read_text(encoding="utf-8"))
    return {name: {key: frozenset(words.split()) for key, words in table.items()} for name, table in tables.items()}


def is_closed(value: str) -> bool:
    """Whether a value, a declaration or a selector consists of layout, elements, and names as `Names` leaves them."""
    value = value.strip()
    if is_language(value) or is_namespace(value) or is_producer(value) or value.lower() in _meta_names():
        return True
    parts = re.sub(r"(?<![^\W_])n\d+(?![^\W_])|[#@{}~>_-]|(?<=[a-z])(?=[A-Z])", " ", _COLOR.sub(" ", value))
    return is_layout(parts, frozenset().union(*rules()["elements"].values(), rules()["words"]["names"]))


@cache
def _meta_names() -> frozenset[str]:
    return frozenset().union(*rules()["meta"].values())


def is_layout(value: str, more: frozenset[str] = frozenset()) -> bool:
    """Whether a value consists of numbers with units, colors, and words of layout. It has no date or long number.

    Args:
        more: other words that it may have, in lower case.
    """
    allowed = rules()["words"]["layout"]
    left = _COLOR.sub(" ", value)
    plain = sum(1 for number in _NUMBER.finditer(left) if not number["unit"] and len(number["digits"]) > 2)
    if (plain > 1 and sum(map(str.isdigit, left)) > 5) or _DATE_LIKE.search(left):
        return False
    left = _NUMBER.sub(" ", left)
    if re.search(r"[\d_]|[^\w\s,;:()/%+*=.!\"'-]", left):
        return False
    words = (word.lower() for word in re.findall(r"[^\W\d_]+", left))
    return all(word in allowed or word in more for word in words)


def layout(value: str, names: Names, *, is_drawing: bool) -> tuple[str, bool]:
    """Return a layout attribute's new value, with its references to names renamed, and whether it may stay."""
    new = _LOCAL.sub(lambda link: f"url(#{names.of(link['name'])})", value)
    bare = _LOCAL.sub(" ", value)
    return new, is_layout(bare) or (is_drawing and _DRAWING.fullmatch(bare) is not None)


def is_producer(value: str) -> bool:
    """Whether a value is the name and version of a program that writes HTML."""
    return _PRODUCER.fullmatch(value) is not None


def is_language(value: str) -> bool:
    """Whether a value is a language tag with a language from the list, or the empty one."""
    found = _LANGUAGE.fullmatch(value)
    if found is None:
        return value.lower() in ("", "x-none")
    return found[1].lower() in rules()["words"]["languages"]


def is_size(value: str) -> bool:
    """Whether a value is a width or height of HTML."""
    return _SIZE.fullmatch(value.strip()) is not None


def is_namespace(value: str) -> bool:
    """Whether a value is a namespace of HTML, SVG, MathML, or Office."""
    return _NAMESPACE.fullmatch(value) is not None


class Names:
    """The names within a page (ids and classes): kept if they consist of layout words, else renamed consistently."""

    def __init__(self) -> None:
        self._new: dict[str, str] = {}

    def of(self, name: str) -> str:
        """Return the new name. The same name always has the same one."""
        parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^A-Za-z\d]", name)
        known = rules()["words"]["names"]
        if all(part.lower() in known or (part.isdigit() and len(part) < 3) or part in "-_" for part in parts) and (
            sum(map(str.isdigit, name)) < 4 and not re.fullmatch(r"n\d+", name)
        ):
            return name
        return self._new.setdefault(name, f"n{len(self._new) + 1}")

    def of_all(self, value: str) -> str:
        """Return the new value of an attribute that holds names separated by white space."""
        new = [self.of(name) for name in value.split()]
        return value if new == value.split() else " ".join(new)


def declarations(style: str, names: Names) -> str:
    """Return declarations of CSS without those that could hold words, and without comments."""
    bare = _COMMENT.sub("", style)
    kept = [part for part in _split(bare, ";") if _is_declaration(part)]
    if len(kept) == len(_split(bare, ";")) and bare == style and not _LOCAL.search(style):
        return style
    return ";".join(_LOCAL.sub(lambda link: f"url(#{names.of(link['name'])})", part) for part in kept)


def _split(text: str, separator: str) -> list[str]:
    """Split at a separator outside quotes and parentheses."""
    parts = re.findall(rf"(?:\"[^\"]*\"|'[^']*'|\([^()]*\)|[^{separator}])+", text)
    return [str(part) for part in parts]


def _is_declaration(part: str) -> bool:
    if not part.strip():
        return True
    name, colon, value = part.partition(":")
    if not colon or name.strip().lower() in ("content", "behavior", "-moz-binding"):
        return False
    return is_layout(name) and not _NUMBER.search(name) and is_layout(_LOCAL.sub(" ", value))


def sheet(style: str, names: Names) -> str:
    """Return a style sheet without the rules and declarations that could hold words, or "" if it cannot be read."""
    bare = _COMMENT.sub("", style)
    opening = re.match(r"\s*<!--", bare)
    closing = re.search(r"-->\s*\Z", bare)
    if opening and closing:
        bare = bare[opening.end() : closing.start()]
    if re.search(r"[<&\\]", bare):
        return ""
    kept = "".join(_rules(bare, names))
    same = "".join(bare.split()) == "".join(kept.split()) and not _COMMENT.search(style)
    return style if same else kept


def _rules(text: str, names: Names) -> Iterator[str]:
    """Yield the rules of a style sheet that may stay, with their names renamed."""
    at = 0
    while at < len(text):
        opening = re.compile(r"[{;]").search(text, at)
        if opening is None:
            return
        prelude = text[at : opening.start()]
        if opening[0] == ";":  # @import, @charset, @namespace
            at = opening.end()
            continue
        depth, end = 1, opening.end()
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        body, at = text[opening.end() : end - (not depth)], end
        if depth or (selector := _selector(prelude, names)) is None:
            continue
        if "{" in body:
            if _PLAIN_RULE.match(prelude.strip()):
                yield f"{selector}{{{''.join(_rules(body, names))}}}"
        elif "@" not in selector or _PLAIN_RULE.match(prelude.strip()):
            yield f"{selector}{{{declarations(body, names)}}}"


def _selector(prelude: str, names: Names) -> str | None:
    """Return a selector or the head of a media rule with its names renamed, or None if it could hold words."""
    if _PLAIN_RULE.match(prelude.strip()):
        return prelude if is_layout(prelude.replace("@", " ")) else None
    pieces: list[str] = []
    at = 0
    known = frozenset().union(*rules()["elements"].values()) | rules()["words"]["layout"]
    while at < len(prelude):
        part = _SELECTOR.match(prelude, at)
        if part is None or not known.issuperset(filter(None, re.split(r"[:@-]+", (part["word"] or "").lower()))):
            return None
        pieces.append(f"{part[0][0]}{names.of(part['name'][1:])}" if part["name"] else part[0])
        at = part.end()
    return "".join(pieces)


def selected(style: str, form: str) -> frozenset[str]:
    """Return the classes and elements (in lower case, a class with its dot) of rules with a matching declaration.

    Args:
        form: a pattern of the declaration.
    """
    found: set[str] = set()
    for rule in re.finditer(r"([^{}]*)\{([^{}]*)\}", _COMMENT.sub("", style)):
        if re.search(form, rule[2], re.IGNORECASE):
            found.update(part.strip().split()[-1].lower() for part in rule[1].split(",") if part.strip())
    return frozenset(found)
