"""A chunk with what was found so far masked by its type, and the way back to its offsets (RedactOR §3.2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from incognote.offsets import Shift


@dataclass(frozen=True, slots=True)
class Masked:
    """A text as a later pass sees it.

    Args:
        text: with a mask such as [PERSON] for each finding.
        masks: where the masks stand in it.
        shift: from the original's offsets to its own.
    """

    text: str = field(repr=False)
    masks: tuple[tuple[int, int], ...]
    shift: Shift

    def back(self, start: int, end: int) -> tuple[int, int]:
        """A stretch of the masked text in the original's offsets."""
        return self.shift.back(start), self.shift.back(end, end=True)


def masked(text: str, found: Iterable[tuple[int, int, str]]) -> Masked:
    """Mask disjoint stretches (start, end, type), in any order."""
    pieces: list[str] = []
    moved: list[tuple[int, int, int, int]] = []
    at = length = 0
    for start, end, kind in sorted(found):
        mask = f"[{kind}]"
        pieces += [text[at:start], mask]
        length += start - at
        moved.append((start, end, length, length + len(mask)))
        length += len(mask)
        at = end
    pieces.append(text[at:])
    return Masked("".join(pieces), tuple((a, b) for _, _, a, b in moved), Shift(moved))
