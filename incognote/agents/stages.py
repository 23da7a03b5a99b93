"""The results of the steps: one frozen value per step, which later steps get.

A step is a function of such values only, and returns one (`steps`, `audit`). These values are never in LangGraph's
state, and their repr shows no text.
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
"""The maximum number of rounds of masking and auditing. On development notes a third audit found nothing."""
UNWRITABLE = frozenset(("no-surrogate", "misleading-surrogate"))
"""Codes of findings that are identifiers, but whose surrogate cannot be written. They always get a label."""
NO_IDENTIFIER = "no-identifier"
"""The code of findings that are provably no identifiers. Their words stay."""
Route = Literal["nothing", "embedded", "doubtful", "all"]
Surrogates = Mapping[Span, tuple[str, str]]
"""The surrogate and the identity's id for each span."""
_NONE: Mapping[Any, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, repr=False)
class Opened:
    """The result of `identify`.

    Args:
        record: None for a plain text.
        texts: its free texts.
        patient: the subject, normalized by `subject_form`.
        form: the format, if the record came as bytes.
    """

    record: Document | None = None
    texts: tuple[Text, ...] = ()
    patient: str | None = None
    form: Format | None = None


@dataclass(frozen=True, slots=True, repr=False)
class FieldValues:
    """The result of `fields`.

    Args:
        known: identifiers of the item and of the record's structured fields.
        values: the new value of each structured field that changes.
    """

    known: tuple[Known, ...] = ()
    values: Mapping[FieldAction, str] = field(default_factory=lambda: _NONE)


@dataclass(frozen=True, slots=True, repr=False)
class Detected:
    """The result of `detect`.

    The spans may overlap and are not judged yet. `merge` drops them, since they can be large.

    Args:
        views: the views of the texts; empty if the spans came with the item.
        raw: per text, the spans of its view.
        hidden: per text, whole fragments of the text itself.
        bare: fields of texts in which an audit would find nothing.
    """

    views: tuple[TextView, ...] = ()
    raw: tuple[Sequence[Span], ...] = ()
    hidden: tuple[Sequence[Span], ...] = ()
    bare: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, repr=False)
class Planned:
    """The result of `plan`.

    Args:
        chunks: the chunks that a language model reads, each with the index of its text.
        requests: groups of chunk indices. Each group is sent in one request.
        shared: how many chunks of other records of the patient are in these requests.
    """

    route: Route = "embedded"
    chunks: tuple[tuple[int, Chunk], ...] = ()
    requests: tuple[Sequence[int], ...] = ()
    shared: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class Merged:
    """The result of `merge`. `mend` and `widen` derive a new one from it.

    Args:
        spans: by field, the spans to replace: disjoint, in order.
        doubts: spans that a person must review.
        unserved: spans of types that the policy leaves unchanged.
        remarks: reasons for review that arose while reading.
        silent: the number of texts in which a model named nothing, although a finding of other detectors was certain.
        dropped: findings of one embedded detector that were dropped because the model named nothing there.
        vetoes: by field, the ranges of the text in which the silence of the model counts.
        rounds, mended, widened: how often `mend` ran, how many spans it masked, and how many lines `widen` masked.
    """

    spans: Mapping[str, tuple[Span, ...]] = field(default_factory=lambda: _NONE)
    doubts: tuple[Span, ...] = ()
    unserved: tuple[Span, ...] = ()
    remarks: tuple[Reason, ...] = ()
    silent: int = 0
    dropped: tuple[Span, ...] = ()
    vetoes: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=lambda: _NONE)
    rounds: int = 0
    mended: int = 0
    widened: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class Replaced:
    """The result of `replace`.

    Args:
        kept: spans that their operator left unchanged.
        texts: the new texts by field.
        output: the new text or raw record, or new bytes if the input was bytes; None until it is made.
        withheld: spans that the policy replaces by surrogates and that got none, each with the code of the reason.
        values: the new value of each structured field that changes.
    """

    replacements: tuple[Replacement, ...] = ()
    kept: tuple[Span, ...] = ()
    texts: Mapping[str, str] = field(default_factory=lambda: _NONE)
    output: str | bytes | None = None
    withheld: Mapping[Span, str] = field(default_factory=lambda: _NONE)
    values: Mapping[FieldAction, str] = field(default_factory=lambda: _NONE)


@dataclass(frozen=True, slots=True, repr=False)
class Audited:
    """The result of `audit`.

    Args:
        leftovers: what detection still finds, as spans of the original texts.
        reasons: why the verdict is not `release`.
        unsought: by type, the number of known identifiers that are too short or too common to search for.
        dropped: what was found again and not masked, because the model named nothing there.
        hidden: by field, what was blanked in the output: start, end and new length, one after the other.
        lost: whether a known identifier is left, or the second reader found an identifier. Then it is quarantined.
    """

    leftovers: tuple[Span, ...] = ()
    reasons: tuple[Reason, ...] = ()
    unsought: Mapping[str, int] = field(default_factory=lambda: _NONE)
    hidden: Mapping[str, array[int]] = field(default_factory=lambda: _NONE)
    lost: bool = False
    dropped: tuple[Span, ...] = ()


def mendable(merged: Merged, leftovers: Sequence[Span], *, lost: bool) -> bool:
    """Whether to mask what the audit found and audit again, instead of concluding."""
    return bool(leftovers) and merged.rounds < MOST_ROUNDS and not lost
