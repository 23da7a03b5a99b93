"""Offsets before and after replacement, carried over in logarithmic time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator


class Shift:
    """The stretches that were replaced, as they stood in the original and as they stand in the new text.

    Args:
        replaced: (start, end, out_start, out_end) of each, disjoint, in any order.
    """

    def __init__(self, replaced: Iterable[tuple[int, int, int, int]]) -> None:
        ordered = sorted(replaced)
        self._old = ([r[0] for r in ordered], [r[1] for r in ordered])
        self._new = ([r[2] for r in ordered], [r[3] for r in ordered])

    @property
    def growth(self) -> int:
        """By how much the new text is longer."""
        return self._new[1][-1] - self._old[1][-1] if self._old[1] else 0

    def moved(self, old: int, new: int) -> Iterator[tuple[int, int, int, int]]:
        """What was replaced, as given, with offsets that are later by `old` and `new`."""
        for start, end, out_start, out_end in zip(*self._old, *self._new, strict=True):
            yield start + old, end + old, out_start + new, out_end + new

    def forward(self, offset: int, *, end: bool = False) -> int:
        """The offset in the new text of one in the original; inside a replaced stretch, the replacement's edge.

        Args:
            end: the offset is the exclusive end of a stretch.
        """
        return _carried(offset, self._old, self._new, end)

    def back(self, offset: int, *, end: bool = False) -> int:
        """The offset in the original of one in the new text; inside a replacement, the edge of what it replaced."""
        return _carried(offset, self._new, self._old, end)


def _carried(offset: int, here: tuple[list[int], list[int]], there: tuple[list[int], list[int]], end: bool) -> int:
    at = (bisect_left if end else bisect_right)(here[0], offset) - 1  # the last stretch that begins before it
    if at < 0:
        return offset
    if offset < here[1][at]:
        return there[1][at] if end else there[0][at]
    return offset + there[1][at] - here[1][at]
