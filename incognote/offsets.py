"""Map offsets between a text and its replacement in logarithmic time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator


class Shift:
    """The replaced ranges, with their offsets in the original and in the new text.

    Args:
        replaced: (start, end, out_start, out_end) of each, disjoint, in any order.
    """

    def __init__(self, replaced: Iterable[tuple[int, int, int, int]]) -> None:
        ordered = sorted(replaced)
        self._old = ([r[0] for r in ordered], [r[1] for r in ordered])
        self._new = ([r[2] for r in ordered], [r[3] for r in ordered])

    @property
    def growth(self) -> int:
        """The number of characters that the new text is longer."""
        return self._new[1][-1] - self._old[1][-1] if self._old[1] else 0

    def moved(self, old: int, new: int) -> Iterator[tuple[int, int, int, int]]:
        """Yield the replaced ranges as given, with offsets moved by `old` and `new`."""
        for start, end, out_start, out_end in zip(*self._old, *self._new, strict=True):
            yield start + old, end + old, out_start + new, out_end + new

    def forward(self, offset: int, *, end: bool = False) -> int:
        """Map an offset in the original to the new text. Inside a replaced range, return the edge of the replacement.

        Args:
            end: the offset is the exclusive end of a range.
        """
        return _carried(offset, self._old, self._new, end)

    def back(self, offset: int, *, end: bool = False) -> int:
        """Map an offset in the new text to the original.

        Inside a replacement, return the edge of the replaced range.
        """
        return _carried(offset, self._new, self._old, end)


def _carried(offset: int, here: tuple[list[int], list[int]], there: tuple[list[int], list[int]], end: bool) -> int:
    at = (bisect_left if end else bisect_right)(here[0], offset) - 1  # the last range that begins before it
    if at < 0:
        return offset
    if offset < here[1][at]:
        return there[1][at] if end else there[0][at]
    return offset + there[1][at] - here[1][at]
