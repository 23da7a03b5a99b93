"""What the steps of a record's way make: one frozen value per step, which the steps behind it are given.

A step is a function of such values and of nothing else, and returns one (`steps`, `audit`). None of them is ever in
LangGraph's state, and none shows text in its repr.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from incognote.nouns import Known, Reason, Replacement, Span, Text

if TYPE_CHECKING:
    from incognote.agents.detection import TextView
    from incognote.extraction.chunks import Chunk
    from incognote.formats.base import Document, FieldAction, Format

MOST_ROUNDS = 2
"""How often the audit's findings are masked and looked for again: a third look found nothing on development notes."""
Route = Literal["nothing", "embedded", "doubtful", "all"]
Surrogates = Mapping[Span, tuple[str, str]]
"""For each span, its surrogate and the id of its identity."""
_NONE: Mapping[Any, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, repr=False)
class Opened:
    """Of `identify`.

    Args:
        record: None for a plain text. form: its format, where it came as bytes.
        texts: its free texts.
        patient: the subject, in the one form of `subject_form`.
    """

    record: Document | None = None
    texts: tuple[Text, ...] = ()
    patient: str | None = None
    form: Format | None = None


@dataclass(frozen=True, slots=True, repr=False)
class FieldValues:
    """Of `fields`.

    Args:
        known: identifiers of the item and of the record's structured fields.
        values: the new value of each structured field that does not stay.
    """

    known: tuple[Known, ...] = ()
    values: Mapping[FieldAction, str] = field(default_factory=lambda: _NONE)


@dataclass(frozen=True, slots=True, repr=False)
class Detected:
    """Of `detect`; the spans overlap and are not judged yet. `merge` drops them: of a large text they are large.

    Args:
        views: of the texts; none where the spans came with the item.
        raw: per text, spans of its view.
        hidden: per text, whole fragments of the text itself.
        bare: fields of texts in which an audit would find nothing.
    """

    views: tuple[TextView, ...] = ()
    raw: tuple[Sequence[Span], ...] = ()
    hidden: tuple[Sequence[Span], ...] = ()
    bare: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, repr=False)
class Planned:
    """Of `plan`.

    Args:
        chunks: those that a language model reads, each with the index of its text.
        requests: which chunks, by index, are asked about together.
    """

    route: Route = "embedded"
    chunks: tuple[tuple[int, Chunk], ...] = ()
    requests: tuple[Sequence[int], ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Merged:
    """Of `merge`; `mend` and `widen` make another one of it.

    Args:
        spans: by field, what is to be replaced: disjoint, in order.
        doubts: what a person must look at.
        unserved: found, of a type that the policy leaves alone.
        remarks: what the reading leaves for a person.
        silent: texts in which a model named nothing though others did, or though they are long.
        rounds, mended, widened: how often `mend` ran, what it masked, and how many lines `widen` masked.
    """

    spans: Mapping[str, tuple[Span, ...]] = field(default_factory=lambda: _NONE)
    doubts: tuple[Span, ...] = ()
    unserved: tuple[Span, ...] = ()
    remarks: tuple[Reason, ...] = ()
    silent: int = 0
    rounds: int = 0
    mended: int = 0
    widened: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class Replaced:
    """Of `replace`.

    Args:
        kept: spans that their operator left as they are.
        texts: the new texts by field.
        output: the new text or raw record, or new bytes of what came as bytes; None until there is one.
    """

    replacements: tuple[Replacement, ...] = ()
    kept: tuple[Span, ...] = ()
    texts: Mapping[str, str] = field(default_factory=lambda: _NONE)
    output: str | bytes | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Audited:
    """Of `audit`.

    Args:
        leftovers: what detection still finds, as spans of the original texts.
        reasons: why the verdict is not `release`.
        unsought: by type, known identifiers that are too short or too common to be sought.
        hidden: by field, what was blanked in the output: start, end and new length, one after the other.
        lost: whether a known identifier is left, for which the record is quarantined.
    """

    leftovers: tuple[Span, ...] = ()
    reasons: tuple[Reason, ...] = ()
    unsought: Mapping[str, int] = field(default_factory=lambda: _NONE)
    hidden: Mapping[str, array[int]] = field(default_factory=lambda: _NONE)
    lost: bool = False


def mendable(merged: Merged, leftovers: Sequence[Span], *, lost: bool) -> bool:
    """Whether what the audit found is masked and looked at again, rather than the verdict taken."""
    return bool(leftovers) and merged.rounds < MOST_ROUNDS and not lost
