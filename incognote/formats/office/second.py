"""The second reader of office documents: all characters and attributes that lxml sees in every part.

It knows no parts, relations, stories, or fields. It only leaves out what the closed lists of `rules.py` keep, the
neutral pictures, and the instructions of fields that the rules of RTF keep.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

from incognote.formats.encoding import MAX_BYTES
from incognote.formats.office.pictures import pictures
from incognote.formats.office.rules import (
    attribute_of,
    characters_of,
    is_declared,
    is_part,
    is_prefix,
    key_of,
    kind_of,
    stays,
)
from incognote.formats.rtf import closed

Keeps = Callable[[str, str, str, str], bool]
"""Whether every document keeps a value: given its element, its attribute ("" for characters), the element around, and
the value. Elements and attributes are named as lxml does: `{namespace}name`."""

_XML = re.compile(rb"\s*(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*<(?:\x00?\?\x00?x|\x00?[A-Za-z])")
_RUNS = re.compile(rb"[\x20-\x7e\t\xc2-\xf4\x80-\xbf]{4,}|(?:[\x20-\x7e]\x00){4,}|(?:\x00[\x20-\x7e]){4,}")
_LAYOUT = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_WORDS = frozenset(("t", "delText"))
_INSTRUCTIONS = frozenset(("instrText", "delInstrText"))


def keeps(element: str, attribute: str, holder: str, value: str) -> bool:
    """Whether the rules of office documents keep a value in every document. See `Keeps`."""
    key = _key(element)
    if not attribute:
        return bool(key) and stays(characters_of(key), value)
    own = attribute_of(attribute)
    return bool(key and own) and stays(kind_of(key, own, _key(holder)), value)


def texts(data: bytes, keeps: Keeps = keeps) -> Iterator[str]:
    """Yield every paragraph, and every other character of the file that the rules do not keep.

    Raises:
        Exception: a part cannot be read.
    """
    from incognote.formats.registry import of_container, second_reading

    neutral = frozenset(pictures().values())
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        yield file.comment.decode("latin-1")
        if sum(entry.file_size for entry in file.infolist()) > MAX_BYTES:
            raise ValueError("too large")
        for entry in file.infolist():
            yield from (each for each in entry.filename.split("/") if not is_part(each))
            yield entry.comment.decode("latin-1")
            part = file.read(entry)
            if part in neutral:
                continue
            if entry.filename.lower().endswith((".xml", ".rels", ".vml")):
                yield from _xml(part, keeps)
            elif of_container(part) is not None:
                yield from second_reading(part)
            elif _XML.match(part):
                yield from _xml(part, keeps)
            else:
                yield from (run.replace(b"\0", b"").decode("utf-8", "replace") for run in _RUNS.findall(part))


def _xml(part: bytes, keeps: Keeps) -> Iterator[str]:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
    root = etree.fromstring(part, parser)
    paragraphs: dict[Any, list[str]] = {}
    spaces: set[tuple[str | None, str]] = set()
    for node in root.getroottree().iter():
        if not isinstance(node.tag, str):  # a comment or a processing instruction
            yield str(node.text)
            yield from _around(node, keeps)
            continue
        name = etree.QName(node).localname
        spaces.update(node.nsmap.items())
        if not _key(node.tag):
            yield name
        yield from _attributes(node, keeps)
        holder = next((each for each in node.iterancestors() if _local(each) == "p"), None)
        if holder is not None and name in _LAYOUT:
            paragraphs.setdefault(holder, []).append(_LAYOUT[name])
        text = node.text or ""
        if name in _INSTRUCTIONS and closed.keeps("field", text):
            text = ""
        if holder is not None and (name in _WORDS or name in _INSTRUCTIONS):
            paragraphs.setdefault(holder, []).append(text)
        elif name == "sym" and holder is not None:
            paragraphs.setdefault(holder, []).append(_symbol(node))
        elif text.strip() and not keeps(node.tag, "", "", text.strip()):
            yield text
        yield from _around(node, keeps)
    yield from ("".join(words) for words in paragraphs.values())
    for prefix, uri in spaces:
        if prefix and not is_prefix(prefix):
            yield prefix
        if not is_declared(uri):
            yield uri


def _attributes(node: Any, keeps: Keeps) -> Iterator[str]:
    parent = node.getparent()
    holder = parent.tag if parent is not None and isinstance(parent.tag, str) else ""
    for attribute, value in node.attrib.items():
        if not attribute_of(attribute) and not keeps(node.tag, attribute, holder, value):
            yield attribute.rpartition("}")[2]
        if not keeps(node.tag, attribute, holder, value):
            yield value


def _around(node: Any, keeps: Keeps) -> Iterator[str]:
    """Yield the characters after an element, which belong to the one around it."""
    parent = node.getparent()
    tail = (node.tail or "").strip()
    if tail and (parent is None or not keeps(parent.tag, "", "", tail)):
        yield tail


def _local(node: Any) -> str:
    return node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""


def _symbol(node: Any) -> str:
    """Return the character of a symbol, as its number says."""
    code = next((value for name, value in node.attrib.items() if name.rpartition("}")[2] == "char"), "0")
    return chr(int(code, 16)) if re.fullmatch(r"[0-9A-Fa-f]{1,4}", code) else code


def _key(tag: str) -> str:
    uri, brace, name = tag[1:].partition("}") if tag[:1] == "{" else ("", "", tag)
    return key_of(uri, name) if brace else ""
