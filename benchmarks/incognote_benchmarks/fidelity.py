"""What an output changes besides its redactions: pixels of PDFs, and the structure, styles, and texts of office files.

`pdf`, `docx`, and `xlsx` return figures for one original and its output, given the identifiers. All of them compare
with other libraries than those of the readers: PDFium, lxml, openpyxl, LibreOffice.
"""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np

from incognote_benchmarks.pdfium import Box, Word, changes, covers, inserted, opened, overlap, picture, pixels, words
from incognote_benchmarks.programs import converted
from incognote_benchmarks.searching import loose_pattern

LOST = "lost word"
GROWN = 2.0
"""Boxes grow by this many points on each side."""
COLUMN = 2.0
"""A gap between two words of a line separates columns if it is wider than the height of the line by this factor."""
_MOST_PAIRS = 10_000_000
"""Longer texts are compared without the order of their words."""
_DIFFERENT = 8
"""Pixels differ if a color differs by more (of 255)."""
_MARKS = ".,;:()[]'\""
_WORD = re.compile(r"\S+")
_XML = (".xml", ".rels", ".vml")
_TEXT = re.compile(r"\{[^}]*\}(?:t|delText|instrText|v|is)$")


def pdf(
    original: bytes,
    output: bytes,
    identifiers: Iterable[str] = (),
    boxes: Mapping[int, Sequence[Box]] | None = None,
) -> tuple[Counter[str], Counter[str]]:
    """Return how many pixels of the pages differ outside of boxes, and the words outside of identifiers that are gone.

    Args:
        identifiers: what was redacted.
        boxes: the boxes by page, from 0. By default, they are those of the words that differ, enlarged by 2 points,
            and of the shapes that the output draws over them.

    Returns:
        Counts. `pixels_outside`: those that differ outside the boxes. `pixels_outside_lines`: also outside the lines
        with a change, which are set anew, up to the next column. `pixels_boxes`: those in boxes. `image_pages`: pages
        that lost all of their words.

    Raises:
        pypdfium2.PdfiumError: one of the files is no PDF, or it has a password.
    """
    sought = tuple(identifiers)
    parts = {part.strip(_MARKS) for name in sought for part in name.split()}
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    with opened(original) as first, opened(output) as second:
        counts["pages"] = len(first)
        if len(first) != len(second):
            counts["page_count_differs"] = 1
        for i in range(min(len(first), len(second))):
            shown = words(first[i]), words(second[i])
            counts += _page(first[i], second[i], *shown, None if boxes is None else boxes.get(i, ()))
            old, new = (" ".join(word.text for word in each) for each in shown)
            fewer = Counter(old.split()) - Counter(new.split())  # the words of columns can come in another order
            gone = [word for word in words_lost(old, new, sought) if fewer[word] and word.strip(_MARKS) not in parts]
            counts["words_lost"] += len(gone)
            kinds.update(f"page {i + 1}: {LOST} {word}" for word in gone)
    return counts, kinds


def _page(
    first: Any, second: Any, old: Sequence[Word], new: Sequence[Word], given: Sequence[Box] | None
) -> Counter[str]:
    before, after = picture(first), picture(second)
    counts = Counter(words=len(old), image_pages=bool(old) and not new)
    if before.shape != after.shape:
        return counts + Counter(page_sizes_differ=1)
    found = changes(old, new)
    inside = list(given or ())
    if given is None:
        inside = [word.box for change in found for word in change.old] + [word.box for word in inserted(old, new)]
        inside += [place for place in _drawn(first, second) if any(overlap(box, place) > 0 for box in inside)]
    lines = []
    for change in found:
        lines.append(_around([word.box for word in (*change.old, *change.new)], (*change.line, *change.new_line)))
    different = (np.abs(before - after) > _DIFFERENT).any(axis=-1)
    masks = []
    for kind in (inside, inside + lines):
        mask = np.zeros(different.shape, dtype=bool)
        for box in kind:
            mask[pixels(first, (box[0] - GROWN, box[1] - GROWN, box[2] + GROWN, box[3] + GROWN))] = True
        masks.append(mask)
    moved = sum(
        abs(a.box[0] - b.box[0]) + abs(a.box[1] - b.box[1]) > 0.5
        for change in found for pair in (change.before, change.after) if pair for a, b in [pair]
    )  # fmt: skip
    return counts + Counter(
        pixels=different.size, pixels_boxes=int(masks[0].sum()), changes=len(found), neighbors_moved=moved,
        pixels_outside=int((different & ~masks[0]).sum()), pixels_outside_lines=int((different & ~masks[1]).sum()),
    )  # fmt: skip


def _around(boxes: Sequence[Box], line: Iterable[Word]) -> Box:
    """Return the box around boxes and the words of their line that are next to them, up to the next column."""
    around = boxes[0]
    for box in (*boxes, *(word.box for word in sorted(line, key=lambda word: _apart(word.box, boxes[0])))):
        if box in boxes or _apart(box, around) < COLUMN * min(around[2] - around[0], around[3] - around[1]):
            around = (min(around[0], box[0]), min(around[1], box[1]), max(around[2], box[2]), max(around[3], box[3]))
    return around


def _apart(one: Box, other: Box) -> float:
    """Return the distance of two boxes, in points."""
    return max(one[0] - other[2], other[0] - one[2], one[1] - other[3], other[1] - one[3], 0)


def _drawn(first: Any, second: Any) -> Iterator[Box]:
    """Yield the boxes of the shapes that only the second page has. Those of half a page and more are left out."""
    width, height = first.get_size()
    old = Counter(tuple(round(side) for side in box) for _, box in covers(first))
    for _, box in covers(second):
        key = tuple(round(side) for side in box)
        if old[key]:
            old[key] -= 1
        elif (box[2] - box[0]) * (box[3] - box[1]) < width * height / 2:
            yield box


def docx(original: bytes, output: bytes, identifiers: Iterable[str]) -> tuple[Counter[str], Counter[str]]:
    """Return the counts of parts and elements that are equal, and the kinds of parts, elements, and words that are not.

    Elements are compared in order with all attributes, without their text. Words that are not in an identifier must
    still be in the text of their part, in order.

    Raises:
        zipfile.BadZipFile, lxml.etree.XMLSyntaxError: one of the files is damaged.
    """
    return _package(original, output, tuple(identifiers))


def _package(original: bytes, output: bytes, identifiers: Sequence[str]) -> tuple[Counter[str], Counter[str]]:
    from lxml import etree

    before, after = _parts(original), _parts(output)
    shared = before.keys() & after.keys()
    counts = Counter(parts=len(before), parts_added=len(after) - len(shared), parts_missing=len(before) - len(shared))
    counts["parts_identical"] = sum(before[name] == after[name] for name in shared)
    kinds = Counter(f"{_label(name)}: part missing" for name in before.keys() - shared)
    for name in sorted(shared):
        if before[name] == after[name] or not name.endswith(_XML) or name == "xl/sharedStrings.xml":
            continue  # shared strings are compared in their cells
        old, new = (_emptied(etree.fromstring(each[name], _parser())) for each in (before, after))
        counts["parts_changed"] += 1
        one, other = _skeleton(old), _skeleton(new)
        lost, gained = _differences(one, other)
        counts["elements"] += len(one)
        counts["elements_lost"] += len(lost)
        counts["elements_added"] += len(gained)
        counts["parts_same_skeleton"] += not lost and not gained
        label = _label(name)
        kinds.update(f"{label}: -{each}" for each in lost)
        kinds.update(f"{label}: +{each}" for each in gained)
        if "docProps" not in name:
            words_ = words_lost(_text(old), _text(new), identifiers)
            counts["words_lost"] += len(words_)
            kinds.update(f"{label}: {LOST} {word}" for word in words_)
    return counts, kinds


def _label(name: str) -> str:
    return re.sub(r"\d+", "", name)


def _parser() -> Any:
    from lxml import etree

    return etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)


def _parts(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {each.filename: archive.read(each) for each in archive.infolist() if not each.is_dir()}


def _emptied(root: Any) -> Any:
    """Return a part without the contents of cells. They are compared one by one."""
    if _short(root.tag) == "worksheet":
        for cell in root.iter("{*}c"):
            kept = {key: value for key, value in cell.items() if key in ("r", "s")}
            cell.clear()
            cell.attrib.update(kept)
    return root


def _skeleton(root: Any) -> list[str]:
    """Return all elements of a part in order, with their depth and attributes, without text."""
    found = []
    waiting = [(root, 0)]
    while waiting:
        element, depth = waiting.pop()
        if isinstance(element.tag, str):
            attributes = " ".join(f"{_short(key)}={value}" for key, value in sorted(element.attrib.items()))
            found.append(f"{depth} {_short(element.tag)} {attributes}".rstrip())
        else:
            found.append(f"{depth} comment or instruction")
        waiting += [(child, depth + 1) for child in reversed(element)]
    return found


def _short(name: Any) -> str:
    return str(name).rpartition("}")[2]


def _differences(one: Sequence[str], other: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the kinds of the elements that only one of two sequences has: the tag and the attributes that differ."""
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    old, new = one[start : len(one) - end], other[start : len(other) - end]
    lost, gained = list[str](), list[str]()
    if len(old) + len(new) > 20_000:  # too slow in order
        lost, gained = list((Counter(old) - Counter(new)).elements()), list((Counter(new) - Counter(old)).elements())
    else:
        for kind, i, until, j, to in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if kind != "equal":
                lost += old[i:until]
                gained += new[j:to]
    return [_kind(each) for each in lost], [_kind(each) for each in gained]


def _kind(element: str) -> str:
    _, _, rest = element.partition(" ")
    tag, _, attributes = rest.partition(" ")
    return " ".join([tag, *re.findall(r"([\w.-]+)=", attributes)])


def _text(root: Any) -> str:
    """Return the text of a part: that of its text elements, with a space for each other end of an element."""
    pieces = []
    for element in root.iter():
        if isinstance(element.tag, str):
            name = _short(element.tag)
            if name in ("p", "tab", "br", "cr", "tc", "c", "si", "v", "row"):
                pieces.append(" ")
            pieces.append(element.text or "")
    return "".join(pieces)


def words_lost(before: str, after: str, identifiers: Iterable[str]) -> list[str]:
    """Return the words of a text outside of identifiers that another text does not have, in order."""
    covered = np.zeros(len(before) + 1, dtype=bool)
    for words_ in identifiers:
        for match in loose_pattern(words_).finditer(before):
            covered[match.start() : match.end()] = True
    free = [match[0] for match in _WORD.finditer(before) if not covered[match.start() : match.end()].any()]
    new = [match[0] for match in _WORD.finditer(after)]
    if len(free) * len(new) > _MOST_PAIRS:
        return list((Counter(free) - Counter(new)).elements())
    steps = SequenceMatcher(None, free, new, autojunk=False).get_opcodes()
    return [word for kind, i, end, _, _ in steps if kind in ("delete", "replace") for word in free[i:end]]


def xlsx(original: bytes, output: bytes, identifiers: Iterable[str]) -> tuple[Counter[str], Counter[str]]:
    """Return what `docx` returns, and how many cells have the same value and style as before.

    Raises:
        Exception: openpyxl cannot open one of the files.
    """
    import openpyxl  # type: ignore[import-untyped]  # ships no types

    sought = tuple(identifiers)
    counts, kinds = _package(original, output, sought)
    with warnings.catch_warnings(action="ignore"):  # it names each extension that it does not read
        first, second = (openpyxl.load_workbook(io.BytesIO(data)) for data in (original, output))
    if not first.worksheets:  # a strict workbook, which openpyxl cannot read
        return counts, kinds
    counts["sheets"] = len(first.worksheets)
    if len(first.worksheets) != len(second.worksheets):
        counts["sheet_count_differs"] = 1
    patterns = [loose_pattern(words_) for words_ in sought]
    for old, new in zip(first.worksheets, second.worksheets, strict=False):
        counts["sheets_other_layout"] += _layout(old) != _layout(new)
        for row in old.iter_rows():
            for cell in row:
                if cell.value is not None or cell.has_style:
                    changed, lost = _cell(cell, new[cell.coordinate], patterns, sought)
                    counts.update(changed)
                    kinds.update(lost)
    return counts, kinds


def _layout(sheet: Any) -> tuple[Any, ...]:
    widths = {key: (each.width, each.hidden) for key, each in sheet.column_dimensions.items()}
    heights = {key: (each.height, each.hidden) for key, each in sheet.row_dimensions.items()}
    merged = sorted(map(str, sheet.merged_cells.ranges))
    rules = sorted(str(each.sqref) for each in sheet.conditional_formatting)
    checks = sorted(str(each.sqref) for each in sheet.data_validations.dataValidation)
    return (sheet.dimensions, widths, heights, merged, rules, checks, sheet.freeze_panes, sheet.sheet_state)


def _cell(
    old: Any, new: Any, patterns: Sequence[re.Pattern[str]], identifiers: Sequence[str]
) -> tuple[Counter[str], Counter[str]]:
    same = old.number_format == new.number_format and all(
        repr(getattr(old, name)) == repr(getattr(new, name))
        for name in ("font", "fill", "border", "alignment", "protection")
    )
    counts, kinds = Counter(cells=1, cells_other_style=int(not same)), Counter[str]()
    if old.value != new.value:
        written = [str(old.value)]
        if hasattr(old.value, "strftime"):
            written += [old.value.strftime(form) for form in ("%m/%d/%Y", "%d.%m.%Y", "%Y-%m-%d", "%d/%m/%Y")]
        known = any(pattern.search(text) for pattern in patterns for text in written)
        counts["cells_edited" if known else "cells_changed_outside"] = 1
        if known and isinstance(old.value, str):
            lost = words_lost(old.value, str(new.value), identifiers)
            counts["words_lost"] += len(lost)
            kinds.update(f"cell {old.coordinate}: {LOST} {word}" for word in lost)
    return counts, kinds


def printed(folder: Path, files: Mapping[str, tuple[str, bytes, bytes]]) -> dict[str, tuple[int, int]]:
    """Return how many pages LibreOffice prints of an original and of its output, by name. 0: it does not open.

    Args:
        files: the suffix, the original, and the output of each file.
    """
    paths = []
    for name, (suffix, original, output) in files.items():
        for kind, data in (("a", original), ("b", output)):
            paths.append(folder / f"{kind}{name}{suffix}")
            paths[-1].write_bytes(data)
    made = converted(folder / "printed", paths, "pdf")
    return {name: (_pages(made.get(f"a{name}")), _pages(made.get(f"b{name}"))) for name in files}


def _pages(paths: Sequence[Path] | None) -> int:
    if not paths:
        return 0
    with opened(paths[0].read_bytes()) as document:
        return len(document)
