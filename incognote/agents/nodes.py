"""The nodes of the graph. They pass each step its values and store what it returns.

`Progress` travels in LangGraph's runtime context, which neither a checkpointer nor a tracer sees. Only `graph` and this
module know it. The steps do not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from dataclasses import replace as changed
from typing import TYPE_CHECKING, Annotated, ParamSpec, TypedDict, TypeVar

from langgraph.runtime import Runtime as Langgraph
from langgraph.types import Send

from incognote.agents import audit as auditing
from incognote.agents import steps
from incognote.agents.breaker import SECONDARY
from incognote.agents.engine import Engine
from incognote.agents.gaps import time_of
from incognote.agents.item import Item
from incognote.agents.manifest import manifest_of
from incognote.agents.stages import (
    Audited,
    Detected,
    FieldValues,
    Merged,
    Opened,
    Planned,
    Replaced,
    mendable,
)
from incognote.errors import (
    ContextTooLong,
    EgressRefused,
    IncognoteError,
    IndexProblem,
    ModelProblem,
    ModelRejected,
    ModelUnavailable,
    RecordProblem,
)
from incognote.nouns import Derivable, MutedInterval, PageBox, Reason, Result, Span, Verdict
from incognote.schemas.policy import Policy

if TYPE_CHECKING:
    from incognote.agents.composites import Seat
    from incognote.extraction.extractor import Extraction

_CODES = frozenset(kind.code for kind in (ModelUnavailable, ModelRejected, ContextTooLong, EgressRefused))
_SHORT = 2_000  # characters in all texts of a record
_LARGE = 20_000  # bytes of a record that is opened in a thread
P = ParamSpec("P")
T = TypeVar("T")


def _either(code: str, other: str) -> str:
    """Choose one of two codes.

    Chunks can fail concurrently, and LangGraph takes one value per step without a reducer.
    """
    return max(code, other)


class MachineState(TypedDict, total=False):
    """The state that LangGraph sees: the request that a node sends, and codes. It never contains text."""

    request: int
    failed: Annotated[str, _either]
    outcome: str


@dataclass(slots=True, eq=False, repr=False)
class Progress:
    """The progress of one record. The step named beside each value makes it, and replaces it as a whole.

    Args:
        policy: the policy to apply. It is the engine's own, unless spans of every type are wanted.
        finding: only spans are wanted, no output.
        seat: the record's place among the records of its patient that share requests; None for a record alone.
    """

    item: Item
    engine: Engine
    policy: Policy
    finding: bool = False
    seat: Seat | None = None
    opened: Opened = field(default=Opened())  # identify
    fields: FieldValues = field(default=FieldValues())  # detect; merge drops its spans
    found: Detected = field(default=Detected())  # detect; merge drops its spans
    planned: Planned = field(default=Planned())  # plan
    read: dict[int, Extraction] = field(default_factory=dict)  # extract: by index of the planned chunks
    merged: Merged = field(default=Merged())  # merge, mend, widen
    replaced: Replaced = field(default=Replaced())  # replace
    audited: Audited = field(default=Audited())  # audit
    image: str | None = None  # keep
    visible: Derivable | None = None  # keep
    failures: list[Reason] = field(default_factory=list)  # any step that fails
    result: Result | None = None  # result

    async def working(self, work: Callable[P, T], *args: P.args, **words: P.kwargs) -> T:
        """Run CPU work in a thread, so that the loop stays free. Short texts are processed on the loop itself.

        A thread does not make Python code faster. Handing over a short text and its result means waiting for the
        interpreter lock twice, which takes longer than processing it.
        """
        if sum(map(len, self.opened.texts)) < _SHORT:
            return work(*args, **words)
        return await asyncio.to_thread(work, *args, **words)

    @property
    def domain(self) -> str:
        return self.item.domain or self.engine.domain

    @property
    def quarantined(self) -> bool:
        return bool(self.failures) or self.audited.lost


Node = Callable[[MachineState, Langgraph[Progress]], Awaitable[MachineState]]


def guarded(step: Callable[[Progress], Awaitable[None]]) -> Node:
    """Return a node that fails closed. If any error occurs, the record is quarantined, and the reason holds no value.

    A record in quarantine passes unchanged.
    """

    async def node(state: MachineState, runtime: Langgraph[Progress]) -> MachineState:
        at = runtime.context
        if at.quarantined:
            return {}
        try:
            await step(at)
            return {}
        except RecordProblem as problem:
            reason = Reason(problem.code, problem.field, str(problem))
        except (ModelProblem, IndexProblem) as problem:  # the record is not the cause: it can be retried unchanged
            reason = Reason(problem.code, "", str(problem))
        except IncognoteError as problem:
            reason = Reason(type(problem).__name__, "", str(problem))
        except Exception as bug:  # fail closed: the class name is enough, since the message may quote the record
            reason = Reason("internal-error", "", f"{type(bug).__name__} in {step.__name__}")
        at.failures.append(reason)
        return {"failed": reason.code}

    node.__name__, node.__doc__ = step.__name__, step.__doc__  # not functools.wraps: LangGraph reads the signature
    return node


@guarded
async def identify(at: Progress) -> None:
    """Choose the schema and open the record."""
    engine, settings = at.engine, at.engine.settings

    def opened() -> Opened:
        return steps.identify(
            at.item,
            lambda: engine.registry,
            data_type=settings.data_type,
            longest=settings.max_characters,
            finding=at.finding,
        )

    if isinstance(at.item.content, str) and not at.item.is_record:
        at.opened = opened()
        return
    with engine.opening():
        at.opened = await asyncio.to_thread(opened) if len(at.item.content) > _LARGE else opened()


@guarded
async def fields(at: Progress) -> None:
    """Process the structured fields."""
    at.fields = steps.fields(at.opened, at.item.known, at.engine.policy, at.engine.keyring, at.domain)


@guarded
async def detect(at: Progress) -> None:
    """Find spans without a language model, or take those that came with the item."""
    if at.item.spans is not None:
        at.found = steps.item_spans(at.opened, at.item.spans)
        return
    if at.engine.reader is not None and at.policy.models.route == "all" and at.seat is None:
        at.engine.reader.breaker.permit()  # costs no time. A record that shares requests is planned as in a replay
    at.found = await at.working(steps.detect, at.opened, at.fields.known, at.engine.detection, at.engine.policy)


@guarded
async def plan(at: Progress) -> None:
    """Choose what a language model reads."""
    has_spans = at.item.spans is not None
    at.planned = Planned("nothing") if has_spans else steps.plan(at.opened, at.found, at.engine.reader, at.policy)
    if at.seat is not None:
        at.seat.put(steps.pieces(at.opened, at.found, at.planned, range(len(at.planned.chunks))))
        requests, shared = await at.seat.planned()
        at.planned = changed(at.planned, requests=requests, shared=shared)


async def all_at_once(state: MachineState, runtime: Langgraph[Progress]) -> list[Send] | str:
    """Send each chunk, or each group of small chunks, to its own node. Skip to `merge` if there are none."""
    at = runtime.context
    if at.quarantined or not at.planned.requests:
        return "merge"
    return [Send("extract", MachineState(request=i)) for i in range(len(at.planned.requests))]


async def extract(state: MachineState, runtime: Langgraph[Progress]) -> MachineState:
    """Run all passes over one chunk, or over a group of small chunks in step.

    The findings of a pass are aligned at once, since the next pass is shown their mask. Then the gaps and the doubted
    words of each chunk are judged, if it is a part of a transcript.
    """

    async def extract(at: Progress) -> None:
        assert at.engine.reader is not None  # `plan` makes requests only if there is a reader
        group = at.planned.requests[state["request"]]
        pieces = steps.pieces(at.opened, at.found, at.planned, group)
        if at.seat is None:
            answers = await at.engine.reader.extract(pieces, at.policy)
        else:
            answers = await at.seat.read(state["request"])
        for piece, answer in zip(pieces, answers, strict=True):
            await at.engine.reader.judge_gaps(piece, answer, time_of(at.opened), at.policy)
        at.read.update(zip(group, answers, strict=True))

    return await guarded(extract)(state, runtime)


@guarded
async def merge(at: Progress) -> None:
    """Merge all findings into one disjoint set of spans per text."""
    if at.item.spans is not None:
        at.merged = steps.merge_item_spans(at.opened, at.found, at.policy)
        return
    engine = at.engine
    at.merged = await at.working(
        steps.merge, at.opened, at.found, at.planned, at.read, engine.detection, engine.reader, at.policy
    )
    at.found = changed(at.found, raw=(), hidden=())  # for a large text they take as much memory as everything else


@guarded
async def replace(at: Progress) -> None:
    """Write the replacements into the original."""
    engine = at.engine
    at.replaced = Replaced()
    if not engine.policy.surrogates:
        at.replaced = steps.replace(at.opened, at.fields, at.merged, {}, engine.policy, engine.keyring, at.domain)
        return
    from incognote.relex.facts import withheld

    spans = steps.relexicalized(at.opened, at.merged, engine.policy)
    without: dict[Span, str] = {**withheld(spans)}
    name, given = steps.name_of(at.item, at.opened), [span for span in spans if span not in without]
    surrogates = await engine.relexing.surrogates(name, at.opened, at.domain, given)

    def write() -> Replaced:
        drawn = {span: shown for span, shown in surrogates.items() if span not in without}
        policy, keyring = engine.policy, engine.keyring
        return steps.replace(at.opened, at.fields, at.merged, drawn, policy, keyring, at.domain, without)

    at.replaced = write()
    if wrong := await at.working(steps.misleading, at.replaced, engine.detection):
        without |= wrong
        at.replaced = write()


@guarded
async def audit(at: Progress) -> None:
    """Scan the output again. This may send the record to `mend`, or once to `widen`."""
    if at.item.spans is not None:
        at.audited = await at.working(
            auditing.reread, at.opened, at.fields, at.replaced, at.engine.detection, at.engine.policy
        )
        return
    at.audited = await at.working(
        auditing.audit, at.opened, at.fields, at.found, at.merged, at.replaced, at.audited,
        at.engine.detection, at.engine.policy,
    )  # fmt: skip


@guarded
async def mend(at: Progress) -> None:
    """Mask what the audit still found, then replace and audit again."""
    at.merged = auditing.mend(at.opened.texts, at.merged, at.audited.leftovers)
    at.audited = Audited(hidden=at.audited.hidden)


@guarded
async def widen(at: Progress) -> None:
    """Resolve review by the policy: mask the whole line of each leftover and doubt, then replace and audit again."""
    at.merged = auditing.widen(at.opened.texts, at.merged, at.audited.leftovers)
    at.audited = Audited(hidden=at.audited.hidden)


@guarded
async def keep(at: Progress) -> None:
    """Keep what is removed from the pages of an image, if the policy has a vault, and what stays visible on them."""
    vault, data = at.engine.vault, at.item.content
    if vault is not None and isinstance(data, bytes):
        name = steps.name_of(at.item, at.opened)
        at.image = await vault.keep(data, name, at.domain, at.opened, at.replaced)
    if isinstance(data, bytes) and not at.audited.reasons:
        at.visible = await at.working(_visible, at.opened, at.replaced)


def after_audit(at: Progress) -> str:
    """Return the next node: `mend` at most twice, `widen` once if the policy says so, or else `result`."""
    merged, leftovers = at.merged, at.audited.leftovers
    if mendable(merged, leftovers, lost=at.quarantined):
        return "mend"
    held = bool(leftovers or merged.doubts) and not merged.widened and not at.quarantined
    return "widen" if held and at.engine.policy.on_review == "widen" else "result"


def judge(at: Progress) -> None:
    """Tell the breaker whether the model answered for this record, if it was called."""
    if at.engine.reader is None or not at.planned.requests:
        return
    answered = any(not extraction.unanswered for extraction in at.read.values())
    codes = {code for extraction in at.read.values() for code in extraction.unanswered}
    codes |= {reason.code for reason in at.failures if reason.code in _CODES}
    if answered or codes - SECONDARY:
        at.engine.reader.breaker.answered(() if answered else codes)


def _boxes(opened: Opened, replaced: Replaced) -> tuple[PageBox, ...]:
    """Return the parts of pages that the replacements cover."""
    if opened.record is None:
        return ()
    from incognote.formats.pictures import PagedDocument

    if not isinstance(opened.record, PagedDocument):
        return ()
    return tuple(
        PageBox(page, *box, r.span.type, r.span.score, r.span.sources)
        for r in replaced.replacements
        for page, box in opened.record.boxes_of(r.span.field, r.span.start, r.span.end)
    )


def _intervals(opened: Opened, replaced: Replaced) -> tuple[MutedInterval, ...]:
    """Return the parts of a recording that the replacements mute."""
    if opened.record is None:
        return ()
    from incognote.formats.audio.document import AudioDocument

    if not isinstance(opened.record, AudioDocument):
        return ()
    whole = opened.record.how.voice == "remove"
    voice = [MutedInterval(0.0, opened.record.file.seconds, "BIOMETRIC_ID", 1.0, ("policy",))] if whole else []
    return (*voice, *(
        MutedInterval(time.start, time.end, r.span.type, r.span.score, r.span.sources)
        for r in replaced.replacements
        for time in opened.record.times_of(r.span.field, r.span.start, r.span.end)
    ))  # fmt: skip


def _visible(opened: Opened, replaced: Replaced) -> Derivable | None:
    """Return what is visible on the pages of an image or a scan, or the transcript of a recording."""
    if opened.form is None or opened.record is None:
        return None
    from incognote.formats.audio.document import AudioDocument
    from incognote.formats.pictures import PagedDocument

    changes: dict[str, list[tuple[int, int, str]]] = {}
    for r in replaced.replacements:
        changes.setdefault(r.span.field, []).append((r.span.start, r.span.end, r.text))
    if isinstance(opened.record, AudioDocument):
        from incognote.formats.audio.derived import muted_transcript

        return muted_transcript(opened.record, changes)
    if not isinstance(opened.record, PagedDocument):
        return None
    from incognote.formats.images.derived import visible_pages

    return visible_pages(opened.record, opened.form.name, changes)


def conclude(at: Progress) -> Verdict:
    """Make the record's result. No record content can make it fail, since it reads only counts and codes."""
    reasons = tuple(sorted({*at.audited.reasons, *at.failures}))
    verdict = Verdict("quarantine" if at.quarantined else "review" if reasons else "release", reasons)
    reader = at.engine.reader
    models = reader.work(at.planned, at.read, at.merged.silent) if reader is not None else None
    at.result = Result(
        id=at.item.id,
        verdict=verdict,
        manifest=manifest_of(
            at.engine, at.opened, at.fields, at.merged, at.replaced, at.audited, models, verdict, at.image
        ),
        replacements=at.replaced.replacements,
        kept=(*at.replaced.kept, *at.merged.unserved),
        dropped=(*at.merged.dropped, *at.audited.dropped),
        is_record=at.item.is_record or (at.opened.form is not None and at.opened.form.is_record),
        media_type=at.item.media_type,
        _output=None if at.failures else at.replaced.output,
        boxes=_boxes(at.opened, at.replaced),
        intervals=_intervals(at.opened, at.replaced),
        image=at.image,
        _pages=at.visible if verdict.released else None,
    )
    return verdict
