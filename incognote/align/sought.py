"""A mention as it is compared with a text."""

from __future__ import annotations

from dataclasses import dataclass

from incognote.align.fitting import parts
from incognote.align.folding import Folded
from incognote.nouns import Mention

_HINT = 12  # words of a hint on one side that are listened to: those next to the identifier


@dataclass(frozen=True, slots=True)
class Sought:
    """A mention's phrase, folded.

    Attributes:
        phrase: folded, without spaces at its ends.
        start, end: where in it the identifier stands; equal where nothing of it is left.
        left, right: the parts of the hint before and after it, in reading order.
    """

    mention: Mention
    phrase: str
    start: int
    end: int
    left: tuple[str, ...]
    right: tuple[str, ...]

    @classmethod
    def of(cls, mention: Mention) -> Sought:
        whole = Folded(mention.phrase)
        start, end = whole.forward(mention.start), whole.forward(mention.end)
        lead = len(whole.folded) - len(whole.folded.lstrip())
        tail = max(lead, len(whole.folded.rstrip()))
        start, end = min(max(start, lead), tail), min(end, tail)
        while start < end and whole.folded[start] == " ":
            start += 1
        while start < end and whole.folded[end - 1] == " ":
            end -= 1
        left, right = parts(whole.folded[lead:start])[-_HINT:], parts(whole.folded[end:tail])[:_HINT]
        return cls(mention, whole.folded[lead:tail], start - lead, end - lead, tuple(left), tuple(right))

    @property
    def words(self) -> str:
        """The identifier itself, folded."""
        return self.phrase[self.start : self.end]

    @property
    def hinted(self) -> bool:
        """Whether letters or digits stand around the identifier."""
        return bool(self.left or self.right)
