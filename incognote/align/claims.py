"""What hinted mentions were placed on, by type: bare words of another type are less likely to mean it."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable

from incognote.align.snapping import Stretch


class Claims:
    """Stretches by type, asked for by containment; within one type they are kept disjoint."""

    def __init__(self) -> None:
        self._types: defaultdict[str, list[Stretch]] = defaultdict(list)

    def add(self, type: str, stretches: Iterable[Stretch]) -> None:
        """Claim stretches for a type."""
        held = self._types[type]
        for start, end in stretches:
            at = bisect_right(held, (start, end))
            first = at
            while first > 0 and held[first - 1][1] > start:
                first -= 1
            last = at
            while last < len(held) and held[last][0] < end:
                last += 1
            touched = held[first:last]
            del held[first:last]
            insort(held, (min([start, *(s for s, _ in touched)]), max([end, *(e for _, e in touched)])))

    def by(self, type: str, place: Stretch) -> bool:
        """Whether a type claims a stretch that holds this place."""
        held = self._types.get(type, ())
        at = bisect_right(held, place[0], key=lambda stretch: stretch[0]) - 1
        return at >= 0 and held[at][1] >= place[1]

    def by_another(self, type: str, place: Stretch) -> bool:
        """Whether only other types claim a stretch that holds this place."""
        return not self.by(type, place) and any(self.by(other, place) for other in self._types)


def disjoint(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Sorted, overlapping ones united, empty ones left out."""
    united: list[Stretch] = []
    for start, end in sorted(stretches):
        if start >= end:
            continue
        if united and start < united[-1][1]:
            united[-1] = (united[-1][0], max(end, united[-1][1]))
        else:
            united.append((start, end))
    return united
