"""The entries of the review queue, and a person's decisions about them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal

from incognote.agents.item import Item, packed, regions_of, unpacked
from incognote.errors import UsageError
from incognote.nouns import Reason, Region, Span, Text

State = Literal["waiting", "approved", "rejected"]


@dataclass(frozen=True, slots=True)
class ReviewCase:
    """One record with everything that a person needs to decide. All of it is PHI.

    Args:
        item: the record as it was submitted, without `opened`. `content` is its text.
        texts: its free texts, each under its field path; "" for a plain text. The text of pages may be empty.
        spans: what the machine would replace, disjoint within each text, in order.
        doubts: uncertain spans. They are not replaced unless a person adds them.
        reasons: why it is here, with fields and details.
        policy: name and version of the policy.
        data_type: the schema of the record, if it had one.
        extra: what the sender needs to deliver it later, ready for JSON. It is returned unchanged.
        readings: what was read on its pages, if it is an image or a scan, so that they need not be read again.
    """

    item: Item = field(repr=False)
    texts: tuple[Text, ...] = field(repr=False)
    spans: tuple[Span, ...] = field(default=(), repr=False)
    doubts: tuple[Span, ...] = field(default=(), repr=False)
    reasons: tuple[Reason, ...] = field(default=(), repr=False)
    policy: str = ""
    data_type: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)
    readings: str = field(default="", repr=False)

    def packed(self) -> bytes:
        """Serialize the case for sealing."""
        told = {
            "item": packed(self.item),
            "texts": [[text.field, text.content] for text in self.texts],
            "spans": pack_spans(self.texts, self.spans),
            "doubts": pack_spans(self.texts, self.doubts),
            "reasons": [[reason.code, reason.field, reason.detail] for reason in self.reasons],
            "policy": self.policy,
            "data_type": self.data_type,
            "extra": dict(self.extra),
            "readings": self.readings,
        }
        return json.dumps(told).encode()

    @classmethod
    def unpacked(cls, data: bytes) -> ReviewCase:
        """Restore a case from `packed`."""
        told = json.loads(data)
        texts = tuple(Text(content, path) for path, content in told["texts"])
        return cls(
            unpacked(told["item"]),
            texts,
            unpack_spans(texts, told["spans"]),
            unpack_spans(texts, told["doubts"]),
            tuple(Reason(*reason) for reason in told["reasons"]),
            told["policy"],
            told["data_type"],
            told["extra"],
            told.get("readings", ""),
        )


@dataclass(frozen=True, slots=True)
class Changes:
    """How a person's spans differ from the machine's, in counts. A region without words counts as added."""

    kept: int = 0
    moved: int = 0
    retyped: int = 0
    added: int = 0
    dropped: int = 0

    @classmethod
    def between(cls, found: Sequence[Span], decided: Sequence[Span], regions: int = 0) -> Changes:
        """Count the differences. A span with other ends that overlaps a found one counts as moved."""
        before = {(s.field, s.start, s.end): s.type for s in found}
        after = {(s.field, s.start, s.end): s.type for s in decided}
        same = before.keys() & after.keys()
        gone = [s for s in found if (s.field, s.start, s.end) not in same]
        new = [s for s in decided if (s.field, s.start, s.end) not in same]
        moved = sum(any(s.overlaps(other) for other in gone) for s in new)
        return cls(
            kept=sum(before[at] == after[at] for at in same),
            moved=moved,
            retyped=sum(before[at] != after[at] for at in same),
            added=len(new) - moved + regions,
            dropped=sum(not any(s.overlaps(other) for other in new) for s in gone),
        )


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """One line of the queue. Nothing in it is PHI.

    Args:
        number: its place in the queue.
        id: its random name.
        key, release: of the record, as its sender named them.
        origin: the sender, such as `worker` or `api`.
        reasons: codes, and fields if an approved schema names them.
        characters, spans: the length of its texts, and the number of found spans.
        since, decided, delivered: times, UTC.
        by: the person who decided. While the record waits, the person who last saved other spans.
        changes: how the decided spans differ from the found ones.
        assignee: the person the record is assigned to.
        comments: the number of comments on the record.
    """

    number: int
    id: str
    key: str
    release: str
    origin: str
    state: State
    reasons: tuple[Reason, ...]
    policy: str
    data_type: str | None
    characters: int
    spans: int
    since: str
    decided: str | None = None
    by: str | None = None
    changes: Changes | None = None
    delivered: str | None = None
    assignee: str | None = None
    comments: int = 0

    def told(self) -> dict[str, Any]:
        """Return the entry, ready for JSON."""
        reasons = [{"code": reason.code, "field": reason.field} for reason in self.reasons]
        return {**asdict(replace(self, reasons=())), "reasons": reasons}


@dataclass(frozen=True, slots=True)
class ReviewComment:
    """A person's comment on a record. The text may quote the record: PHI."""

    by: str
    at: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ReviewDecision:
    """A person's decision.

    Args:
        outcome: `approve` (the output with these spans goes to the destination) or `reject` (the record goes to
            quarantine).
        spans: all identifiers of the record's texts, disjoint; None for the current ones, proposed or found.
        regions: the parts of its pages without words that a person added; None for the current ones.
    """

    outcome: Literal["approve", "reject"]
    spans: tuple[Span, ...] | None = field(default=None, repr=False)
    regions: tuple[Region, ...] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class DecidedCase:
    """A decided record to be delivered.

    Args:
        spans: all identifiers, as decided.
        regions: the parts of its pages without words that a person added.
    """

    entry: QueueEntry
    case: ReviewCase = field(repr=False)
    spans: tuple[Span, ...] = field(repr=False)
    regions: tuple[Region, ...] = field(default=(), repr=False)

    def packed(self) -> bytes:
        """Serialize the spans and regions for sealing."""
        regions = [region.as_dict() for region in self.regions]
        return json.dumps({"spans": pack_spans(self.case.texts, self.spans), "regions": regions}).encode()

    @classmethod
    def unpacked(cls, entry: QueueEntry, case: ReviewCase, data: bytes) -> DecidedCase:
        """Restore what was decided from `packed`, or from a list of spans, which former versions wrote."""
        told = json.loads(data)
        if isinstance(told, list):
            told = {"spans": told, "regions": ()}
        return cls(entry, case, unpack_spans(case.texts, told["spans"]), regions_of(told["regions"]))


def pack_spans(texts: Sequence[Text], spans: Sequence[Span]) -> list[list[Any]]:
    """Return spans as lists for JSON. Each names its text by its index."""
    place = {text.field: i for i, text in enumerate(texts)}
    return [[place[s.field], s.start, s.end, s.type, s.score, list(s.sources)] for s in spans]


def unpack_spans(texts: Sequence[Text], packed: Sequence[Sequence[Any]]) -> tuple[Span, ...]:
    """Restore spans from `pack_spans`."""
    return tuple(Span(texts[i], start, end, kind, score, tuple(by)) for i, start, end, kind, score, by in packed)


def check_spans(case: ReviewCase, spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return the spans in order.

    Raises:
        UsageError: a span is outside the record's texts, two overlap, or a type is unknown.
    """
    from incognote.schemas.catalogue import catalogue

    place = {text.field: i for i, text in enumerate(case.texts)}
    if any(case.texts[place[s.field]] != s.source if s.field in place else True for s in spans):
        raise UsageError("spans: one has a path that this record does not have")
    if any(s.type not in catalogue() for s in spans):
        raise UsageError("spans: one has a type that is not in the catalog")
    ordered = tuple(sorted(spans, key=lambda s: (place[s.field], s.start)))
    if any(one.overlaps(other) for one, other in pairwise(ordered)):
        raise UsageError("spans: two overlap")
    return ordered
