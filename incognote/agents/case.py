"""What travels through the graph beside its state.

The state that LangGraph sees (and could persist or trace) holds counts and codes only; note text lives in the Case,
which is handed to the nodes as runtime context and dies with the run.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

from incognote.llm.base import Usage
from incognote.nouns import Known, Reason, Replacement, Result, Span, Text

if TYPE_CHECKING:
    from incognote.agents.toolkit import Toolkit
    from incognote.agents.views import View
    from incognote.extraction.chunks import Chunk
    from incognote.extraction.extractor import Extraction
    from incognote.formats.base import FieldAction
    from incognote.formats.records.record import OpenRecord
    from incognote.schemas.policy import Policy

MOST_ROUNDS = 2  # a third look found nothing new on the development notes
Route = Literal["nothing", "embedded", "doubtful", "all"]
Given = tuple[tuple[int, int, str], ...] | Mapping[str, tuple[tuple[int, int, str], ...]]


def _either(one: str, other: str) -> str:
    """One of two codes: chunks can fail side by side, and LangGraph takes one value a step unless told how."""
    return max(one, other)


class State(TypedDict, total=False):
    """PHI-free by construction: numbers, route and codes."""

    texts: int
    actions: int
    spans: int
    route: Route
    chunks: int
    request: int
    mended: int
    widened: int
    failed: Annotated[str, _either]
    outcome: str


@dataclass(frozen=True, slots=True)
class Item:
    """One text or record to de-identify, in the words every face shares.

    Args:
        content: the plain text, or the raw JSON of a record.
        id: what the caller calls it; never appears in a manifest.
        patient: the subject; without one each document is its own.
        domain: who shares hashes and date shifts; None takes the setting.
        data_type: the schema for a record that carries no dataType.
        known: identifiers known beforehand.
        is_record: whether `content` is JSON of a record.
        fault: why it cannot be processed at all; it is quarantined with these words, which hold no value.
        spans: (start, end, type) of all identifiers of a plain text, or of each text of a record by its field path, to
            be used as they are instead of looking for any; what is made of it is then not audited either.
        opened: the record, where its reader has opened it already (rows of a table); `content` is then its own text.
    """

    content: str = field(repr=False)
    id: str | None = field(default=None, repr=False)
    patient: str | None = field(default=None, repr=False)
    domain: str | None = None
    data_type: str | None = None
    known: tuple[Known, ...] = field(default=(), repr=False)
    is_record: bool = False
    fault: str | None = None
    opened: OpenRecord | None = field(default=None, repr=False)
    spans: Given | None = field(default=None, repr=False)


@dataclass(slots=True)
class Case:
    """The dossier of one run. Each attribute below the line is written by one node, named beside it."""

    item: Item = field(repr=False)
    tools: Toolkit = field(repr=False)
    # ----
    record: OpenRecord | None = field(default=None, repr=False)  # identify
    texts: tuple[Text, ...] = field(default=(), repr=False)  # identify
    patient: str | None = field(default=None, repr=False)  # identify
    known: tuple[Known, ...] = field(default=(), repr=False)  # fields
    field_values: Mapping[FieldAction, str] = field(default_factory=dict, repr=False)  # fields, replace
    policy: Policy | None = None  # None: the toolkit's own
    finding: bool = False  # spans are wanted and no output, so a text of any format is read as it is
    views: tuple[View, ...] = field(default=(), repr=False)  # detect: of the texts
    raw_spans: list[list[Span]] = field(default_factory=list, repr=False)  # detect: of the views
    hidden: list[list[Span]] = field(default_factory=list, repr=False)  # detect: whole fragments, of the texts
    bare: set[str] = field(default_factory=set)  # detect: fields of texts in which an audit would find nothing
    route: Route = "embedded"  # plan
    chunks: list[tuple[int, Chunk]] = field(default_factory=list, repr=False)  # plan: of the text at an index
    requests: list[list[int]] = field(default_factory=list)  # plan: which chunks are asked about together
    read: dict[int, Extraction] = field(default_factory=dict, repr=False)  # extract: by index of `chunks`
    remarks: list[Reason] = field(default_factory=list)  # merge: what the reading leaves for a person
    spans: dict[str, tuple[Span, ...]] = field(default_factory=dict, repr=False)  # merge, mend, widen
    silent: int = 0  # merge: texts a model named nothing in though others did, or though they are long
    doubts: list[Span] = field(default_factory=list, repr=False)  # merge
    unserved: list[Span] = field(default_factory=list, repr=False)  # merge
    surrogates: Mapping[Span, tuple[str, str]] = field(default_factory=dict, repr=False)  # replace
    replacements: list[Replacement] = field(default_factory=list, repr=False)  # replace
    kept: list[Span] = field(default_factory=list, repr=False)  # replace
    new_texts: dict[str, str] = field(default_factory=dict, repr=False)  # replace
    output: str | None = field(default=None, repr=False)  # replace
    leftovers: list[Span] = field(default_factory=list, repr=False)  # audit
    audited: dict[str, array[int]] = field(default_factory=dict, repr=False)  # audit: what it hid
    reasons: list[Reason] = field(default_factory=list)  # audit; a failing node
    unsought: dict[str, int] = field(default_factory=dict)  # audit
    quarantined: bool = False  # audit; a failing node
    rounds: int = 0  # mend
    mended: int = 0  # mend
    widened: int = 0  # widen
    result: Result | None = field(default=None, repr=False)  # result

    @property
    def domain(self) -> str:
        return self.item.domain or self.tools.domain

    @property
    def rules(self) -> Policy:
        """The policy in force."""
        return self.policy or self.tools.policy

    def reading(self) -> dict[str, Any] | None:
        """What the language models did, for the manifest; None where none was asked."""
        if self.tools.reader is None:
            return None
        usage, how, unanswered, passes = Usage(), Counter[str](), Counter[str](), 0
        for made in self.read.values():
            usage, how, unanswered = usage + made.usage, how + made.how, unanswered + made.unanswered
            passes += len(made.by_pass)
        return {
            **self.tools.reader.facts(),
            "route": self.route,
            "chunks": len(self.chunks),
            "requests": len(self.requests),
            "passes_made": passes,
            "usage": asdict(usage),
            "placed": dict(sorted(how.items())),
            "silent": self.silent,
            "unanswered": dict(sorted(unanswered.items())),
        }

    @property
    def mendable(self) -> bool:
        """Whether what the audit found is masked and looked at again, rather than the verdict taken."""
        return bool(self.leftovers) and self.rounds < MOST_ROUNDS and not self.quarantined

    def facts(self) -> dict[str, Any]:
        """Counts for the manifest."""
        by_type: dict[str, int] = {}
        by_operator: dict[str, int] = {}
        for r in self.replacements:
            by_type[r.span.type] = by_type.get(r.span.type, 0) + 1
            by_operator[r.operator] = by_operator.get(r.operator, 0) + 1
        return {
            "texts": len(self.texts),
            "fields": len(self.field_values),
            "replaced": len(self.replacements),
            "kept_by_policy": len(self.kept) + len(self.unserved),
            "flagged": len(self.doubts) + len(self.leftovers),
            "unsought": dict(sorted(self.unsought.items())),
            "by_type": dict(sorted(by_type.items())),
            "by_operator": dict(sorted(by_operator.items())),
        }
