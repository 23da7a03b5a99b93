"""Read a workbook with openpyxl, and all its parts with lxml, to check an output.

Short numbers, amounts, times of day, labels, and formulas that stay in every document are left out. The rules for these
are those of the first reader (`closed.py`, `formulas.py`, `labels.py`). Nothing else is shared.
"""

from __future__ import annotations

import datetime as dt
import io
import re
import warnings
import zipfile
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from incognote.formats.office import second as office
from incognote.formats.office.rules import is_closed, is_font, stays
from incognote.formats.xlsx.closed import (
    MAIN,
    SPACES,
    elements,
    is_built_in,
    is_code,
    is_nobody,
    is_number,
    is_plain,
    is_plain_name,
    is_plain_style,
)
from incognote.formats.xlsx.closed import is_closed as is_kept
from incognote.formats.xlsx.formulas import names_in
from incognote.formats.xlsx.labels import ShownCell, is_label, labeled
from incognote.formats.xlsx.notes import EXCEL, OFFICE, VML, is_box

_OWN = re.compile(r"xl/(?:(?:(?:worksheets|tables|comments)/)?[^/]*\.xml|drawings/[^/]*\.vml)")
_CELLS = frozenset(("c", "row", "v", "f", "is"))
_SPACES = frozenset((prefix or None, uri) for prefix, uri in (*SPACES.items(), ("v", VML), ("o", OFFICE), ("x", EXCEL)))
_PLACE = r"\$?[A-Z]{1,3}\$?[0-9]{1,7}|[A-Z]{1,3}|[0-9]{1,7}"
_PLACES = re.compile(rf"(?:{_PLACE})(?:[: ](?:{_PLACE}))*")
_NUMBER = re.compile(r"[+\-]?[0-9.]+(?:[eE][+\-]?[0-9]+)?")
_FORMULAS = frozenset(("f", "formula", "formula1", "formula2", "definedName"))
_PAGES = frozenset(f"{page}{place}" for page in ("odd", "even", "first") for place in ("Header", "Footer"))
_CODES = re.compile(r'&(?:"[^"]*"|K[0-9A-Fa-f+\-]{6}|[0-9]{1,3}|[A-Z&])')
_STYLES = re.compile(r"(?:Table|Pivot)Style(?:Light|Medium|Dark)[0-9]{1,2}")
_FORMULA = re.compile(rb"<(?:\w+:)?f>([^<]*)<")
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}f"


def texts(data: bytes) -> Iterator[str]:
    """Yield all words of a workbook.

    Raises:
        Exception: openpyxl or lxml cannot read it.
    """
    import openpyxl  # type: ignore[import-untyped]  # ships no types
    from openpyxl.utils.escape import unescape  # type: ignore[import-untyped]  # as above

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl warns of parts that it does not keep
        book = openpyxl.load_workbook(io.BytesIO(data), keep_links=False)
        found = dict.fromkeys(map(unescape, (*_of_values(book), *_of_names(book))))
        if formulas := list(dict.fromkeys(_of_formulas(book))):
            results = openpyxl.load_workbook(io.BytesIO(data), data_only=True, keep_links=False)
            found |= dict.fromkeys(map(unescape, (*formulas, *_of_values(results))))
    found |= dict.fromkeys(_of_parts(data))
    yield from (each for each in found if each and not _is_word(each))


def _of_values(book: Any) -> Iterator[str]:
    for sheet in book.worksheets:
        amounts = frozenset(_amounts(sheet))
        for cell in _existing(sheet):
            yield _shown(cell.value) if cell.data_type != "f" and cell.coordinate not in amounts else ""
            if cell.comment is not None:
                yield from (cell.comment.text, cell.comment.author)
            if cell.hyperlink is not None:
                yield from filter(None, (cell.hyperlink.target, cell.hyperlink.tooltip, cell.hyperlink.display))
        for name in _PAGES:
            page = getattr(sheet, name)
            for place in (page.left, page.center, page.right):
                yield re.sub(r"&(?:\[[A-Za-z]+\]|[A-Z](?![a-z]))", " ", place.text or "")
        for each in sheet.data_validations.dataValidation:
            yield from filter(None, (each.prompt, each.promptTitle, each.error, each.errorTitle))
    core = book.properties
    yield from (str(each) for each in (core.title, core.subject, core.description, core.keywords,
                                       core.lastModifiedBy, core.category, core.identifier, core.creator)
                if each and each != "openpyxl")  # fmt: skip


def _existing(sheet: Any) -> Iterator[Any]:
    """Yield the cells that a sheet has, in order. `iter_rows` would make millions of empty ones."""
    for _, cell in sorted(sheet._cells.items()):
        yield cell


def _amounts(sheet: Any) -> Iterator[str]:
    """Yield the places of the numbers that are amounts."""
    rows = [list(row) for _, row in groupby(_existing(sheet), lambda cell: cell.row)]
    shown = [[ShownCell(c.column, str(c.value), c.data_type in "sn" and isinstance(c.value, str)) for c in row
              if c.value is not None] for row in rows]  # fmt: skip
    for row, labels in zip(rows, labeled(shown), strict=True):
        numbers = (cell for cell in row if isinstance(cell.value, int | float))
        yield from (cell.coordinate for cell in numbers if cell.column in labels.amounts)


def _of_formulas(book: Any) -> Iterator[str]:
    for sheet in book.worksheets:
        for cell in _existing(sheet):
            if cell.data_type == "f":
                yield from ("", *_names(getattr(cell.value, "text", cell.value)))


def _of_names(book: Any) -> Iterator[str]:
    for sheet in book.worksheets:
        for each in sheet.data_validations.dataValidation:
            yield from (name for formula in (each.formula1, each.formula2) for name in _names(formula))
    for defined in (book.defined_names, *(sheet.defined_names for sheet in book.worksheets)):
        for name, each in defined.items():
            yield name if not is_plain_name(name) and not is_built_in(name) else ""
            yield from _names(each.value)


def _names(formula: Any) -> Iterator[str]:
    """Yield the words of a formula that layout does not have."""
    for each in names_in(str(formula or "").removeprefix("=")):
        yield each if not is_plain(each) and not is_plain_name(each) else ""


def _shown(value: Any) -> str:
    """Return the characters of a cell as the first reader shows them."""
    if value is None or isinstance(value, bool | dt.time | dt.timedelta):
        return ""
    if isinstance(value, dt.datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    if isinstance(value, int | float):
        return "" if is_number(repr(value)) else f"{value:.0f}" if float(value).is_integer() else repr(value)
    return str(value)


def _is_word(words: str) -> bool:
    return is_label(words) or is_nobody(words)


def _of_parts(data: bytes) -> Iterator[str]:
    """Yield the characters and attributes of all parts. Those that only workbooks have are read here."""
    others = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as file, zipfile.ZipFile(others, "w") as rest:
        for name in file.namelist():
            if name.startswith("xl/charts/"):
                yield from (each for formula in _FORMULA.findall(file.read(name)) for each in _names(formula.decode()))
            if _OWN.fullmatch(name):
                yield from _of_part(file.read(name))
            else:
                rest.writestr(name, file.read(name))
    yield from office.texts(others.getvalue(), _keeps)


def _of_part(part: bytes) -> Iterator[str]:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
    spaces: set[tuple[str | None, str]] = set()
    for node in etree.fromstring(part, parser).getroottree().iter():
        yield str(node.tail or "").strip()
        if not isinstance(node.tag, str):  # a comment or a processing instruction
            yield str(node.text)
            continue
        uri, _, local = node.tag[1:].partition("}")
        spaces.update(node.nsmap.items())
        words = (node.text or "").strip()
        if uri == MAIN:
            yield local if local not in elements() and local not in _CELLS else ""
            yield from _names(words) if local in _FORMULAS and not words.startswith('"') else ()
            yield _CODES.sub("\n", words) if local in _PAGES else ""
            yield words if words and not _is_kept(local, words) else ""
            yield from (str(value) for key, value in node.items() if not _is_attribute_kept(str(key), str(value)))
        else:
            shown = (local, words, *map(str, node.values()))
            yield from (each for each in shown if each and not is_box(each) and not is_closed(each))
    for prefix, space in spaces:
        yield from (prefix or "", space) if (prefix, space) not in _SPACES else ()


def _is_kept(local: str, words: str) -> bool:
    """Whether every document keeps the characters of a spreadsheet element."""
    if local in _FORMULAS:
        return True  # its names are shown, and openpyxl shows the choices of a list
    return local in _PAGES or (local == "v" and _NUMBER.fullmatch(words) is not None)


def _is_attribute_kept(key: str, value: str) -> bool:
    """Whether every document keeps an attribute of a spreadsheet element with this value."""
    key = key.rpartition("}")[2]
    if is_kept(key, value) or _PLACES.fullmatch(value) or (key == "id" and stays("relation", value)):
        return True
    if key == "formatCode":
        return is_code(value)
    if key == "location":
        return not any(_names(value))
    if key == "Ignorable":
        return SPACES.keys() >= set(value.split())
    if key in ("name", "displayName", "val"):
        rules = (is_plain_name, is_built_in, is_plain_style, is_font, _STYLES.fullmatch)
        return any(rule(value) for rule in rules)
    return key == "t" and value in ("s", "str", "inlineStr", "b", "e", "n", "d", "shared", "array")


def _keeps(element: str, attribute: str, holder: str, value: str) -> bool:
    """Whether every document keeps a value of another part. The arguments are those of `office.Keeps`."""
    return (element == _CHART and not attribute) or office.keeps(element, attribute, holder, value)
