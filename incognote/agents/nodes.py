"""The nodes, one per step of a record's way. Each returns only PHI-free counts; text stays in the Case."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from langgraph.runtime import Runtime as Langgraph
from langgraph.types import Send

from incognote.agents import audit as auditing
from incognote.agents.case import Case, State
from incognote.agents.language import reads, unsupported
from incognote.agents.manifest import manifest_of
from incognote.agents.views import View, detected, settled
from incognote.agents.watch import doubted
from incognote.errors import (
    ImpossibleSpan,
    IncognoteError,
    IndexProblem,
    MalformedRecord,
    ModelProblem,
    RecordProblem,
    UnsupportedFormat,
)
from incognote.extraction.extractor import Piece
from incognote.nouns import Reason, Result, Span, Text, Verdict, subject_form
from incognote.operators.apply import apply
from incognote.operators.base import Scene
from incognote.operators.registry import operators
from incognote.schemas.catalogue import catalogue
from incognote.schemas.policy import Policy
from incognote.text.container import of_text

if TYPE_CHECKING:
    from incognote.formats.base import FieldAction

# Letters and NULs by turns: no rule would find a name in them.
_UTF_16 = re.compile(r"(?:[\x20-\x7e]\x00){4}|(?:\x00[\x20-\x7e]){4}")
_SHORT = 2_000  # characters in all texts of a record
Node = Callable[[State, Langgraph[Case]], Awaitable[State]]
P = ParamSpec("P")
T = TypeVar("T")


def guarded(step: Callable[[Case], Awaitable[State]]) -> Node:
    """A node that fails closed: whatever goes wrong, the record is quarantined and the reason holds no value.

    A record in quarantine passes untouched.
    """

    async def node(state: State, runtime: Langgraph[Case]) -> State:
        case = runtime.context
        if case.quarantined:
            return {}
        try:
            return await step(case)
        except RecordProblem as problem:
            reason = Reason(problem.code, problem.field, str(problem))
        except (ModelProblem, IndexProblem) as problem:  # no record is to blame: it can be retried as it is
            reason = Reason(problem.code, "", str(problem))
        except IncognoteError as problem:
            reason = Reason(type(problem).__name__, "", str(problem))
        except Exception as bug:  # fail closed: the class name says enough, the message may quote the record
            reason = Reason("internal-error", "", f"{type(bug).__name__} in {step.__name__}")
        case.quarantined = True
        case.output = None
        case.reasons.append(reason)
        return {"failed": reason.code}

    node.__name__, node.__doc__ = step.__name__, step.__doc__  # not functools.wraps: LangGraph reads the signature
    return node


@guarded
async def identify(case: Case) -> State:
    """Pick the schema by data type and open the record; a plain text is one field."""
    item = case.item
    if item.fault:
        raise MalformedRecord(item.fault)
    limit = case.tools.settings.max_characters
    if len(item.content) > limit:
        raise MalformedRecord(f"longer than {limit} characters: raise max_characters or split it")
    if item.is_record:
        from incognote.formats.json import open_record

        case.record = item.opened or open_record(
            item.content, case.tools.registry, data_type=item.data_type or case.tools.settings.data_type
        )
        case.texts = case.record.texts
    else:
        case.texts = (Text(item.content),)
    named = (item.patient, case.record.patient if case.record else None)
    case.patient = next((form for p in named if p is not None and (form := subject_form(p))), None)
    for text in case.texts:
        if "\x00" in text.content and _UTF_16.search(text.content):
            raise MalformedRecord("UTF-16 that was read as another encoding: say its charset", field=text.field)
        if not case.finding and item.spans is None and (what := of_text(text.content)):
            raise UnsupportedFormat.of(what, text.field)
    return {"texts": len(case.texts)}


@guarded
async def fields(case: Case) -> State:
    """Serve the structured fields by their flags; what they reveal becomes known."""
    case.known = case.item.known + (case.record.known if case.record else ())
    if case.record is None:
        return {"actions": 0}
    values = {}
    for action in case.record.actions:
        span = _of_field(action)
        if action.action in ("mask", "absent"):
            values[action] = f"[{span.type}]"
        elif action.action == "hash":
            values[action] = str(operators()["hash"].replace(span, _scene(case, action.text, (span,)), {}))
        else:
            new, _, _ = apply(action.text, (span,), case.tools.policy, _scene(case, action.text, (span,)))
            values[action] = new
    case.field_values = values
    return {"actions": len(values)}


@guarded
async def detect(case: Case) -> State:
    """Rules, packs, known identifiers and the encoder: CPU work; or the spans that came with the text."""
    if case.item.spans is not None:
        case.raw_spans = _given(case)
        return {"spans": sum(map(len, case.raw_spans))}
    await _worked(case, _look, case)
    return {"spans": sum(map(len, case.raw_spans))}


def _look(case: Case) -> None:
    case.views = tuple(View.of(text) for text in case.texts)
    case.raw_spans, case.hidden = detected(case.views, lambda texts: case.tools.detect(texts, case.known))
    if case.tools.embedded.detectors:  # else an audit asks others
        case.bare = {
            view.text.field
            for view, raw, hidden in zip(case.views, case.raw_spans, case.hidden, strict=True)
            if not any(auditing.counts(span, case.tools.policy) for span in chain(raw, hidden))
        }


@guarded
async def plan(case: Case) -> State:
    """Choose the route: which chunks of which texts a language model reads, if there is one and the policy lets it."""
    reader, policy = case.tools.reader, case.rules
    if case.item.spans is not None or not any(c.isalnum() for t in case.texts for c in t.content):
        case.route = "nothing"
    elif reader is not None:
        case.route = policy.models.route
        for i, (view, raw) in enumerate(zip(case.views, case.raw_spans, strict=True)):
            case.chunks += [(i, chunk) for chunk in reader.plan(view.text, view.original(raw), policy)]
        case.requests = reader.requests(_pieces(case))
    return {"route": case.route, "chunks": len(case.chunks)}


async def all_at_once(state: State, runtime: Langgraph[Case]) -> list[Send] | str:
    """A chunk or a group of light ones each to a node of its own; straight on where none is read."""
    case = runtime.context
    if case.quarantined or not case.requests:
        return "merge"
    return [Send("extract", State(request=i)) for i in range(len(case.requests))]


async def extract(state: State, runtime: Langgraph[Case]) -> State:
    """All passes over one chunk, or in step over a group of light ones.

    What a pass found is aligned at once, since the next one is shown its mask.
    """

    async def extract(case: Case) -> State:
        assert case.tools.reader is not None  # `plan` makes requests only then
        group, pieces = case.requests[state["request"]], _pieces(case)
        made = await case.tools.reader.extractor(case.rules).extract([pieces[i] for i in group])
        case.read.update(zip(group, made, strict=True))
        return {}

    return await guarded(extract)(state, runtime)


@guarded
async def merge(case: Case) -> State:
    """One disjoint set per text of all that was found, swept over the document."""
    if case.item.spans is not None:
        for text, given in zip(case.texts, case.raw_spans, strict=True):
            case.spans[text.field] = tuple(span for span in given if case.rules.choice(span.type) is not None)
            case.unserved += [span for span in given if case.rules.choice(span.type) is None]
        return {"spans": sum(map(len, case.spans.values()))}
    for at, made in sorted(case.read.items()):
        index, _ = case.chunks[at]
        view = case.views[index]
        field = view.text.field
        viewed, unseen = view.viewed(made.spans)
        case.raw_spans[index] = [*case.raw_spans[index], *viewed]
        case.hidden[index] = [*case.hidden[index], *unseen]
        case.doubts += made.doubts
        case.remarks += [Reason(code, field, kind) for code, kind in made.unsure]
        if case.rules.models.on_failure == "review":
            case.remarks += [Reason(code, field) for code in made.unanswered]
    read = reads(case)
    case.remarks += await _worked(case, unsupported, case, read)
    for view, raw, hidden, languages in zip(case.views, case.raw_spans, case.hidden, read, strict=True):
        found = settled(case.tools, view, raw, hidden, case.rules, languages)
        case.spans[view.text.field] = found.spans
        case.doubts += found.doubts
        case.unserved += found.unserved
    if case.tools.reader is not None:
        case.remarks += doubted(case, case.tools.reader.watch)
    case.raw_spans, case.hidden = [], []  # of a large text they take as much memory as the rest
    return {"spans": sum(map(len, case.spans.values()))}


@guarded
async def replace(case: Case) -> State:
    """Splice the replacements into the original; everything outside the spans is byte-identical."""
    case.replacements, case.kept = [], []
    if case.tools.policy.surrogates:
        await _relexicalize(case)
    edits: dict[str, list[tuple[int, int, str]]] = {}
    for text in case.texts:
        spans = case.spans.get(text.field, ())
        new, replacements, kept = apply(text, spans, case.tools.policy, _scene(case, text, spans))
        case.new_texts[text.field] = new
        case.replacements += replacements
        case.kept += kept
        edits[text.field] = [(r.span.start, r.span.end, r.text) for r in replacements]
    case.output = case.record.rewritten(edits, case.field_values) if case.record else case.new_texts[""]
    return {"spans": len(case.replacements)}


@guarded
async def audit(case: Case) -> State:
    """Re-scan the output; may send the record to `mend`, or to `widen` once."""
    if case.item.spans is not None:
        return {}
    await _worked(case, auditing.audit, case)
    return {}


@guarded
async def mend(case: Case) -> State:
    """Mask what the audit still found, then replace and audit again."""
    auditing.mend(case)
    return {"mended": case.mended}


@guarded
async def widen(case: Case) -> State:
    """Resolve review by the policy: mask the whole line of each leftover and doubt, then replace and audit again."""
    auditing.widen(case)
    return {"widened": case.widened}


async def result(state: State, runtime: Langgraph[Case]) -> State:
    """Verdict and manifest."""
    return {"outcome": conclude(runtime.context).outcome}


def conclude(case: Case) -> Verdict:
    """Make the case's result. It cannot fail for what a record holds: it reads counts and codes only."""
    reasons = tuple(sorted(set(case.reasons)))
    verdict = Verdict("quarantine" if case.quarantined else "review" if reasons else "release", reasons)
    case.result = Result(
        id=case.item.id,
        verdict=verdict,
        manifest=manifest_of(case, verdict),
        replacements=tuple(case.replacements),
        kept=(*case.kept, *case.unserved),
        is_record=case.item.is_record,
        _output=case.output,
    )
    return verdict


async def _worked(case: Case, work: Callable[P, T], *args: P.args, **words: P.kwargs) -> T:
    """CPU work: on a thread, so that the loop stays free; on the loop itself where the texts are short.

    A thread does not make Python code faster, and to hand a short text over and back (twice the wait for the
    interpreter lock) takes longer than to serve it.
    """
    if sum(map(len, case.texts)) < _SHORT:
        return work(*args, **words)
    return await asyncio.to_thread(work, *args, **words)


async def _relexicalize(case: Case) -> None:
    """Ask the loop for all mentions at once, those in masked fields too, so that fields and texts agree (§A.9.5)."""
    policy = case.tools.policy
    masked: dict[FieldAction, Span] = {}
    for action in case.record.actions if case.record else ():
        span = _of_field(action)
        if action.action in ("mask", "date") and _by_surrogate(span, policy):
            masked[action] = span
    asked = [span for spans in case.spans.values() for span in spans if _by_surrogate(span, policy)]
    case.surrogates = await case.tools.relexing.surrogates(case, [*asked, *masked.values()])
    told = {action: case.surrogates[span][0] for action, span in masked.items()}
    case.field_values = {**case.field_values, **told}


def _by_surrogate(span: Span, policy: Policy) -> bool:
    """A line that is masked whole is nobody's name: it becomes its label."""
    choice = policy.choice(span.type)
    return choice is not None and choice.operator == "surrogate" and auditing.WIDENED not in span.sources


def _of_field(action: FieldAction) -> Span:
    return Span(action.text, action.start, action.end, action.entity_type or "GUID", 1.0, ("schema",))


def _given(case: Case) -> list[list[Span]]:
    """The spans that came with the item, per text.

    Raises:
        MalformedRecord: they do not fit their texts, overlap, or are of no type there is.
    """
    given = case.item.spans or ()
    by_field = given if isinstance(given, Mapping) else {"": given}
    if by_field.keys() - {text.field for text in case.texts}:
        raise MalformedRecord("spans: some are of no text of the record")
    return [_fitted(text, by_field.get(text.field, ())) for text in case.texts]


def _fitted(text: Text, given: Sequence[tuple[int, int, str]]) -> list[Span]:
    try:
        spans = sorted((Span(text, *one, 1.0, ("given",)) for one in given), key=lambda s: s.start)
    except (ImpossibleSpan, TypeError):
        raise MalformedRecord("spans: one does not fit the text") from None
    if any(one.end > other.start for one, other in pairwise(spans)):
        raise MalformedRecord("spans: two overlap")
    if any(span.type not in catalogue() for span in spans):
        raise MalformedRecord("spans: one is of a type that the catalogue has not (`incognote policy explain`)")
    return spans


def _pieces(case: Case) -> list[Piece]:
    return [Piece(case.texts[i], chunk, case.views[i].original(case.raw_spans[i])) for i, chunk in case.chunks]


def _scene(case: Case, text: Text, spans: tuple[Span, ...]) -> Scene:
    return Scene(
        text=text,
        spans=spans,
        keyring=case.tools.keyring,
        domain=case.domain,
        patient=case.patient,
        served=case.tools.policy.serves,
        surrogates=case.surrogates,
    )
