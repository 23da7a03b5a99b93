"""Which labels are compared, under which names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from incognote.errors import ImpossibleSpan, UsageError
from incognote.evaluation.corpus import Gold, Label, Pair
from incognote.evaluation.counts import group

UNTYPED = "PHI"
"""The type of a finding whose system names none (a "[REDACTED]"): right where types are not asked for, never typed."""


@dataclass(frozen=True, slots=True)
class Scheme:
    """What of a corpus is scored.

    Attributes:
        scored: the names that are scored: such as the gold corpus uses. A finding of any other name is left out, for
            nobody annotated what it might be right about.
        by: what a label's type is compared as: its evaluation group (the seven of the RedactOR paper, §4.1, and
            OTHER), or `str` for the types as they are written.
    """

    scored: frozenset[str]
    by: Callable[[str], str] = group

    @classmethod
    def of(
        cls, documents: Iterable[Gold | Pair], by: Callable[[str], str] = group, only: Collection[str] = ()
    ) -> Scheme:
        """The scheme of a corpus: the names its gold uses, or those among them that `only` lists.

        Raises:
            UsageError: the gold holds no label that would be scored.
        """
        used = {
            by(label.type)
            for document in documents
            for label in (document.labels if isinstance(document, Gold) else document.gold)
        }
        scored = frozenset(used & set(only) if only else used)
        if not scored:
            asked = f" of {', '.join(sorted(only))}" if only else ""
            raise UsageError(f"no gold, no score: the corpus holds no label{asked}")
        return cls(scored, by)

    def gold(self, pair: Pair) -> list[Label]:
        """The gold labels that are scored, renamed, each once, in the order of the text.

        Raises:
            ImpossibleSpan: a gold label does not fit its text or holds nothing but blanks; it is never taken for
                "nothing here". Who would rather leave such a document out asks for its gold before scoring it.
        """
        for start, end, _ in pair.gold:
            if 0 <= start < end and pair.text[start:end].isspace():
                raise ImpossibleSpan(f"a gold label of {start}..{end} holds nothing but blanks")
        return self._named(pair.gold, len(pair.text), self.scored, "gold")

    def found(self, pair: Pair) -> list[Label]:
        """The findings that are scored, those that name no type among them, in the order of the text.

        Raises:
            ImpossibleSpan: a finding does not fit its text.
        """
        return self._named(pair.found, len(pair.text), self.scored | {UNTYPED}, "found")

    def _named(self, labels: Iterable[Label], length: int, names: Collection[str], side: str) -> list[Label]:
        labels = fitting(labels, length, side)
        return sorted({Label(s, e, name) for s, e, type_ in labels if (name := self.by(type_)) in names})


def fitting(labels: Iterable[Label], length: int, side: str) -> Iterable[Label]:
    """The labels, checked against the length of their text.

    Raises:
        ImpossibleSpan: a label is empty or lies outside the text. The message holds offsets only.
    """
    for label in labels:
        if not 0 <= label.start < label.end <= length:
            raise ImpossibleSpan(
                f"a {side} label of {label.start}..{label.end} does not fit a text of {length} characters"
            )
        yield label
