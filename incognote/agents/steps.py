"""The steps of processing a record, except the audit. Each is a function of the values it may see.

A step gets the values of earlier steps (`stages`) and the parts of the engine that it needs, and returns its result.
Only `replace` and `fields` get a key, and no step gets anything that it could write to.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace as changed
from itertools import chain, pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING

from incognote.agents.audit import WIDENED
from incognote.agents.combining import reconciled, restored, veto
from incognote.agents.detection import Detection, TextView, detected, unsupported, unsupported_as_stated
from incognote.agents.gaps import judged
from incognote.agents.implausible import doubted
from incognote.agents.item import Item, ItemSpans, patient_of
from incognote.agents.secondreader import counts
from incognote.agents.stages import (
    NO_IDENTIFIER,
    UNWRITABLE,
    Detected,
    FieldValues,
    Merged,
    Opened,
    Planned,
    Replaced,
    Surrogates,
)
from incognote.detectors import PASSED
from incognote.errors import ImpossibleSpan, MalformedRecord, UnsupportedFormat
from incognote.formats.base import widened_of
from incognote.keys import Keyring
from incognote.nouns import Known, Reason, Replacement, Span, Text
from incognote.operators.apply import apply
from incognote.operators.base import OperatorContext
from incognote.operators.hash import keyed_integer
from incognote.operators.registry import operators
from incognote.schemas.catalogue import catalogue
from incognote.schemas.policy import Policy
from incognote.text.container import of_text
from incognote.text.gaps import TOKEN

if TYPE_CHECKING:
    from incognote.agents.models import NoteReader
    from incognote.extraction.extractor import Extraction, TextChunk
    from incognote.formats.base import Change, Document, FieldAction
    from incognote.schemas.registry import Registry

# Letters and NULs in alternation. No rule would find a name in them.
_REREAD = 200  # characters on each side of a surrogate that is read again
_UTF_16 = re.compile(r"(?:[\x20-\x7e]\x00){4}|(?:\x00[\x20-\x7e]){4}")


def identify(
    item: Item, registry: Callable[[], Registry], *, data_type: str | None, longest: int, finding: bool
) -> Opened:
    """Choose the schema by data type and open the record. A plain text is one field.

    Args:
        registry: loads the registry if it is needed.
        data_type: the data type of a record that states none and for which the caller names none.
        longest: the maximum number of characters of a text or record.
        finding: only spans are wanted, no output, so a text in any format is read as plain text.

    Raises:
        RecordProblem, SchemaProblem: the record cannot be opened.
    """
    if item.fault:
        raise MalformedRecord(item.fault)
    if isinstance(item.content, str) and len(item.content) > longest:
        raise MalformedRecord(f"longer than {longest} characters. Raise max_characters or split the text")
    form, record = item.open(registry, data_type)
    if record is None:
        texts: tuple[Text, ...] = (Text(str(item.content)),)
    else:
        from incognote.formats.base import texts_of

        texts = texts_of(record)
        if sum(map(len, texts)) > longest:
            raise MalformedRecord(f"longer than {longest} characters. Raise max_characters or split the text")
    for text in texts:
        if "\x00" in text.content and _UTF_16.search(text.content):
            raise MalformedRecord("UTF-16 text that was read in another encoding. Set its charset", field=text.field)
        if not finding and item.spans is None and (name := of_text(text.content)):
            from incognote.formats.registry import has_reader

            if has_reader(name):
                remedy = "Send it as a document of its own: a file, or bytes with its media type"
                raise UnsupportedFormat(f"{name} inside a text. {remedy}", field=text.field)
            raise UnsupportedFormat.of(name, text.field)
    return Opened(record, texts, patient_of(item, record), form)


def fields(opened: Opened, known: Sequence[Known], policy: Policy, keyring: Keyring, domain: str) -> FieldValues:
    """Process the structured fields by their flags. The identifiers in them become known identifiers."""
    if opened.record is None:
        return FieldValues(tuple(known))
    from incognote.formats.base import actions_of, known_of

    values = {}
    for action in actions_of(opened.record):
        span = _of_field(action)
        context = _context(opened, action.text, (span,), {}, policy, keyring, domain)
        if action.action in ("mask", "absent"):
            values[action] = f"[{span.type}]"
        elif action.action == "hash":
            values[action] = str(operators()["hash"].replace(span, context, {}))
        elif action.action == "integer":
            values[action] = str(keyed_integer(int(span.text), keyring, domain))
        else:
            values[action], _, _ = apply(action.text, (span,), policy, context)
    return FieldValues((*known, *known_of(opened.record)), values)


def detect(opened: Opened, known: Sequence[Known], detection: Detection, policy: Policy) -> Detected:
    """Find spans with rules, packs, known identifiers and the encoder. This is CPU work.

    Findings of the format's reader are added to them.
    """
    views = tuple(TextView.of(text) for text in opened.texts)
    raw, hidden = detected(views, lambda texts: detection.detect(texts, known))
    _add_findings(opened, known, views, raw, hidden)
    bare = {
        view.text.field
        for view, *spans in zip(views, raw, hidden, strict=True)
        if detection.detectors and not any(counts(span, policy) for span in chain(*spans))  # else an audit asks others
    }
    return Detected(views, tuple(raw), tuple(hidden), frozenset(bare))


def _add_findings(
    opened: Opened, known: Sequence[Known], views: Sequence[TextView], raw: Sequence[list[Span]],
    hidden: Sequence[list[Span]],
) -> None:  # fmt: skip
    if opened.record is None:
        return
    from incognote.formats.base import findings_of

    by_field: dict[str, list[Span]] = {}
    texts = {text.field: text for text in opened.texts}
    for each in findings_of(opened.record, known):
        span = Span(texts[each.field], each.start, each.end, each.type, each.score, (each.source,))
        by_field.setdefault(each.field, []).append(span)
    for view, found, fragments in zip(views, raw, hidden, strict=True):
        viewed, unseen = view.viewed(by_field.get(view.text.field, ()))
        found += viewed
        fragments += unseen


def item_spans(opened: Opened, spans: ItemSpans) -> Detected:
    """Return the spans that came with the item, instead of running `detect`.

    Raises:
        MalformedRecord: they do not fit their texts, overlap, or have an unknown type.
    """
    by_field = spans if isinstance(spans, Mapping) else {"": spans}
    if by_field.keys() - {text.field for text in opened.texts}:
        raise MalformedRecord("spans: a field does not exist in the record")
    return Detected(raw=tuple(_fitted(text, by_field.get(text.field, ())) for text in opened.texts))


def plan(opened: Opened, found: Detected, reader: NoteReader | None, policy: Policy) -> Planned:
    """Choose the route: which chunks a language model reads, if one is configured and the policy allows it."""
    if not any(c.isalnum() for text in opened.texts for c in text.content):
        return Planned("nothing")
    if reader is None:
        return Planned("embedded")
    chunks = tuple(
        (i, chunk)
        for i, (view, raw) in enumerate(zip(found.views, found.raw, strict=True))
        for chunk in reader.plan(view.text, view.original(raw), policy)
    )
    planned = Planned(policy.models.route, chunks)
    requests = reader.requests(pieces(opened, found, planned, range(len(chunks))))
    return Planned(planned.route, chunks, tuple(requests))


def pieces(opened: Opened, found: Detected, planned: Planned, indices: Sequence[int]) -> list[TextChunk]:
    """Return some of the planned chunks, with the spans that the embedded detectors found in their texts."""
    from incognote.extraction.extractor import TextChunk

    chunks = [planned.chunks[index] for index in indices]
    evidence = {i: found.views[i].original(found.raw[i]) for i in {i for i, _ in chunks}}
    return [TextChunk(opened.texts[i], chunk, evidence[i]) for i, chunk in chunks]


def merge(
    opened: Opened, found: Detected, planned: Planned, read: Mapping[int, Extraction],
    detection: Detection, reader: NoteReader | None, policy: Policy,
) -> Merged:  # fmt: skip
    """Merge all findings into one disjoint set of spans per text, consistent over the whole document.

    Args:
        read: the extraction results of the planned chunks, by chunk index.
    """
    vetoed = veto(opened, found, planned, read, detection, reader.reads if reader else frozenset(), policy)
    raw, hidden = judged(opened, found, planned, read, vetoed.raw, found.hidden, policy)
    doubts: list[Span] = []
    unserved: list[Span] = []
    remarks: list[Reason] = []
    for at, extraction in sorted(read.items()):
        index, _ = planned.chunks[at]
        field = opened.texts[index].field
        named = [span for span in extraction.spans if span not in vetoed.outvoted.get(index, ())]
        viewed, unseen = found.views[index].viewed(named)
        raw[index] = reconciled(raw[index], viewed, policy)
        hidden[index] += unseen
        doubts += extraction.doubts
        remarks += [Reason(code, field, kind) for code, kind in extraction.unsure]
        if policy.models.on_failure == "review":
            remarks += [Reason(code, field) for code in extraction.unanswered]
    languages = _languages(len(opened.texts), planned, read, detection.reads, reader.reads if reader else None)
    remarks += unsupported([view.seen for view in found.views], languages)
    remarks += unsupported_as_stated(opened.texts, languages)
    spans = {}
    for each in zip(found.views, raw, hidden, languages, strict=True):
        settled = detection.settle_view(*each[:3], policy, each[3])
        spans[each[0].text.field] = settled.spans
        doubts += settled.doubts
        unserved += settled.unserved
    silent = 0
    if reader is not None:
        reasons, silent = doubted(opened.texts, found, planned, read, policy, reader.breaker)
        remarks += reasons
    spans, dropped = restored(detection.across(opened.texts, spans, policy.priority), vetoed.dropped, policy)
    if opened.record is not None:
        spans = {field: tuple(_widened(opened.record, each, policy)) for field, each in spans.items()}
    return Merged(spans, tuple(doubts), tuple(unserved), tuple(remarks), silent, dropped, vetoed.silent)


def _widened(record: Document, spans: Sequence[Span], policy: Policy) -> Sequence[Span]:
    """Return the spans of a text, with those that are removed widened by its document."""
    wider = widened_of(record, [span for span in spans if policy.replaces(span.type)])
    kept = (span for span in spans if not policy.replaces(span.type))
    return sorted(
        [*wider, *(span for span in kept if not any(map(span.overlaps, wider)))], key=lambda span: span.start
    )


def merge_item_spans(opened: Opened, found: Detected, policy: Policy) -> Merged:
    """Return the spans that came with the item, separated from those of types that the policy leaves unchanged."""
    served = [[span for span in spans if policy.choice(span.type) is not None] for spans in found.raw]
    unserved = (span for spans in found.raw for span in spans if policy.choice(span.type) is None)
    by_field = {text.field: tuple(spans) for text, spans in zip(opened.texts, served, strict=True)}
    return Merged(by_field, unserved=tuple(unserved))


def name_of(item: Item, opened: Opened) -> str:
    """Return the record's name in the index: its own id, the caller's id, or else a hash of its content."""
    own = (opened.record.id if opened.record is not None else None) or item.id
    content = item.content if isinstance(item.content, bytes) else item.content.encode("utf-8", "surrogatepass")
    return own or f"sha256:{hashlib.sha256(content).hexdigest()}"


def relexicalized(opened: Opened, merged: Merged, policy: Policy) -> list[Span]:
    """Return the spans for relexicalization, all at once.

    Masked fields are included, so that fields and texts agree (RedactOR §A.9.5).
    """
    spans = [span for spans in merged.spans.values() for span in spans if _by_surrogate(span, policy)]
    return [*spans, *_masked_fields(opened, policy).values()]


def replace(
    opened: Opened, fields: FieldValues, merged: Merged, surrogates: Surrogates,
    policy: Policy, keyring: Keyring, domain: str, withheld: Mapping[Span, str] = MappingProxyType({}),
) -> Replaced:  # fmt: skip
    """Write the replacements into the original. Everything outside the spans stays byte-identical.

    Args:
        surrogates: of the spans that get one.
        withheld: the spans that get none, each with the code of the reason.
    """
    surrogates = {**surrogates, **{s: (s.text, "") for s, code in withheld.items() if code == NO_IDENTIFIER}}
    if policy.relex.withheld == "review":
        surrogates = {**surrogates, **{s: (s.text, "") for s, code in withheld.items() if code not in UNWRITABLE}}
    replacements: list[Replacement] = []
    kept: list[Span] = []
    texts: dict[str, str] = {}
    edits: dict[str, list[tuple[int, int, str]]] = {}
    for text in opened.texts:
        spans = merged.spans.get(text.field, ())
        context = _context(opened, text, spans, surrogates, policy, keyring, domain)
        texts[text.field], ours, left = apply(text, spans, policy, context)
        replacements += (changed(r, reason=withheld[r.span]) if r.span in withheld else r for r in ours)
        kept += left
        edits[text.field] = [(r.span.start, r.span.end, r.text) for r in ours]
    if opened.record is None:
        return Replaced(tuple(replacements), tuple(kept), texts, texts[""], withheld)
    values = dict(fields.values)
    if policy.surrogates:
        named = _masked_fields(opened, policy).items()
        values |= {action: surrogates[span][0] for action, span in named if span in surrogates}
    return Replaced(tuple(replacements), tuple(kept), texts, _rebuilt(opened, edits, values), withheld, values)


def misleading(replaced: Replaced, detection: Detection) -> dict[Span, str]:
    """Check each surrogate in its new sentence, and return the spans whose surrogate must not stay, with the reason.

    A surrogate that only a guess of the detectors put there is read again with the words around it. If they see no
    identifier there, the original was probably none.
    """
    from incognote.relex.facts import confirmed, doubled, guessed, named_with_certainty

    certain = named_with_certainty(r.span for r in replaced.replacements if r.span not in replaced.withheld)
    wrong: dict[Span, str] = {}
    windows: list[tuple[Replacement, int, Text]] = []
    for r in replaced.replacements:
        if r.span in replaced.withheld or r.operator != "surrogate" or r.identity is None:
            continue
        new = replaced.texts[r.span.field]
        if r.text == f"[{r.span.type}]":
            wrong[r.span] = "no-surrogate"
        elif doubled(new, r.out_start, r.out_end, r.span):
            wrong[r.span] = "misleading-surrogate"
        elif guessed(r.span) and not confirmed(r.span, certain):
            start = max(0, r.out_start - _REREAD)
            windows.append((r, start, Text(new[start : r.out_end + _REREAD], r.span.field)))
    read = detection.rescan([text for _, _, text in windows]) if windows else ()
    for (r, start, _), spans in zip(windows, read, strict=True):
        if not any(s.score > PASSED and s.start + start < r.out_end and r.out_start < s.end + start for s in spans):
            wrong[r.span] = "not-read-back"
    return wrong


def _rebuilt(opened: Opened, edits: Mapping[str, Sequence[Change]], values: Mapping[FieldAction, str]) -> str | bytes:
    """Return the new record in the type it came in: str or bytes."""
    from incognote.formats.base import DecodedDocument

    if opened.form is not None and opened.record is not None:
        from incognote.formats.output import rebuilt

        return rebuilt(opened.form, opened.record, edits, values)
    assert isinstance(opened.record, DecodedDocument)  # it came as a str
    return opened.record.rewritten(edits, values)


def _languages(
    texts: int, planned: Planned, read: Mapping[int, Extraction], base: frozenset[str], model: frozenset[str] | None
) -> list[frozenset[str]]:
    """Return for each text the languages that the active detectors can read.

    A language model counts for a text only if it read every chunk: the route is `all`, and no chunk is unanswered.
    """
    if model is None or planned.route != "all":
        return [base] * texts
    unanswered = {index for at, (index, _) in enumerate(planned.chunks) if at not in read or read[at].unanswered}
    return [base if index in unanswered else base | model for index in range(texts)]


def _masked_fields(opened: Opened, policy: Policy) -> dict[FieldAction, Span]:
    """Return the structured fields that get a surrogate."""
    if opened.record is None:
        return {}
    from incognote.formats.base import actions_of

    spans = {action: _of_field(action) for action in actions_of(opened.record)}
    return {a: span for a, span in spans.items() if a.action in ("mask", "date") and _by_surrogate(span, policy)}


def _by_surrogate(span: Span, policy: Policy) -> bool:
    """Whether a surrogate replaces a span. A whole line and what has no words get their label instead."""
    choice = policy.choice(span.type)
    whole = WIDENED in span.sources or catalogue()[span.type].pixels or TOKEN.search(span.text) is not None
    return choice is not None and choice.operator == "surrogate" and not whole


def _of_field(action: FieldAction) -> Span:
    return Span(action.text, action.start, action.end, action.entity_type or "GUID", 1.0, ("schema",))


def _fitted(text: Text, stretches: Sequence[tuple[int, int, str]]) -> list[Span]:
    try:
        spans = sorted((Span(text, *each, 1.0, ("given",)) for each in stretches), key=lambda s: s.start)
    except (ImpossibleSpan, TypeError):
        raise MalformedRecord("spans: a span does not fit its text") from None
    if any(before.end > after.start for before, after in pairwise(spans)):
        raise MalformedRecord("spans: two spans overlap")
    if any(span.type not in catalogue() for span in spans):
        raise MalformedRecord("spans: a span has an unknown type. `incognote policy explain` lists the types")
    return spans


def _context(
    opened: Opened, text: Text, spans: tuple[Span, ...], surrogates: Surrogates,
    policy: Policy, keyring: Keyring, domain: str,
) -> OperatorContext:  # fmt: skip
    return OperatorContext(
        text=text,
        spans=spans,
        keyring=keyring,
        domain=domain,
        patient=opened.patient,
        served=policy.serves,
        surrogates=surrogates,
    )
