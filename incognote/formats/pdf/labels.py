"""Read the values of form fields after their labels on the page."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from incognote.formats.pdf.glyphs import Glyph

_ROW = 1.1  # the most that a value is above or below its label, in units of the font size
_MOST = 40.0  # and in points


def at_labels(glyphs: Sequence[Glyph], values: Iterable[tuple[int, int]]) -> list[Glyph]:
    """Return the glyphs of a page with the values of form fields after the labels that are left of them.

    Args:
        glyphs: first those of the page itself. values: where the glyphs of each field begin and end, in order.
    """
    found = [(begin, end) for begin, end in values if begin < end]
    rows: dict[int, list[tuple[float, int]]] = {}
    for number, glyph in enumerate(glyphs[: found[0][0]] if found else ()):
        rows.setdefault(round(glyph.y), []).append((glyph.x, number))
    for row in rows.values():
        row.sort()
    after: dict[int, list[Glyph]] = {}
    moved: set[int] = set()
    for begin, end in found:
        label = _label(rows, glyphs[begin])
        if "".join(glyph.text for glyph in glyphs[max(label - 1, 0) : label + 1]).rstrip().endswith(":"):
            after.setdefault(label, []).extend(glyphs[begin:end])
            moved.update(range(begin, end))
    return [
        each for number, glyph in enumerate(glyphs)
        for each in (*([] if number in moved else [glyph]), *after.get(number, ()))
    ]  # fmt: skip


def _label(rows: dict[int, list[tuple[float, int]]], value: Glyph) -> int:
    """Return the position of the last glyph left of a value in the nearest row, or -1."""
    most = min(_ROW * value.size, _MOST)
    near = range(round(value.y - most), round(value.y + most) + 1)
    for level in sorted(near, key=lambda level: abs(level - value.y)):
        row = rows.get(level, [])
        at = bisect_left(row, (value.x, -1))
        if at:
            return row[at - 1][1]
    return -1
