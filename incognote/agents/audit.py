"""The audit: what of the output, our own replacements blanked, still looks like an identifier."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from incognote.agents.case import Case
from incognote.agents.views import View, detected
from incognote.agents.watch import over_masked
from incognote.align.merge import merge
from incognote.detectors.known import KnownDetector
from incognote.errors import AccountingError
from incognote.nouns import Known, Reason, Replacement, Span, Text, shift_of
from incognote.offsets import Shift
from incognote.text.characters import BLANK
from incognote.text.parts import LARGE, windows

if TYPE_CHECKING:
    from incognote.schemas.policy import Policy

WIDENED = "widen"
"""The source of a span that is a whole line."""


def blanked(text: str, stretches: Iterable[tuple[int, int]]) -> str:
    """A text with stretches overwritten; length and line breaks of the rest stay."""
    pieces: list[str] = []
    at = 0
    for start, end in sorted(stretches):
        if end > at:
            start = max(start, at)
            pieces += [text[at:start], BLANK * (end - start)]
            at = end
    return "".join([*pieces, text[at:]])


def audit(case: Case) -> None:
    """Re-scan, search the originals, balance the accounts; writes leftovers and reasons into the case.

    Raises:
        AccountingError: spans found ≠ replaced + kept.
    """
    policy = case.tools.policy
    _balance(case)
    known = KnownDetector(case.known)
    unsought = known.unsought + case.tools.standing.unsought
    case.unsought = {kind: n for kind, n in unsought.items() if policy.replaces(kind)}
    replaced: dict[str, list[Replacement]] = defaultdict(list)
    stays: dict[str, list[Span]] = defaultdict(list)
    for r in case.replacements:
        replaced[r.span.field].append(r)
    for span in (*case.kept, *case.unserved):
        stays[span.field].append(span)
    shifts = {text.field: shift_of(replaced[text.field]) for text in case.texts}
    outputs = []
    for text in case.texts:  # what the policy keeps is no leftover either
        ours = ((r.out_start, r.out_end) for r in replaced[text.field])
        shift = shifts[text.field]
        kept = ((shift.forward(s.start), shift.forward(s.end, end=True)) for s in stays[text.field])
        outputs.append(Text(blanked(case.new_texts[text.field], chain(ours, kept)), text.field))
    views = list(map(View.of, outputs, case.views))
    for view in (*views, *map(View.of, _elsewhere(case))):
        output = view.text
        read = (view.seen.content, *(fragment.words for fragment in view.reading.fragments))
        left = {leak for words in read for who in (known, case.tools.standing) for leak in who.leaks(words)}
        lost = [Reason("known-identifier-left", output.field, leak) for leak in left if policy.replaces(leak)]
        case.quarantined |= bool(lost)
        case.reasons += lost
    for text, view in zip(case.texts, views, strict=True):
        shift = shifts[text.field]
        hidden = array("Q")  # start, end and new length of each stretch; a set of tuples takes twenty times as much
        for r in replaced[text.field]:
            hidden.extend((r.span.start, r.span.end, len(r.text)))
        for s in stays[text.field]:
            hidden.extend((s.start, s.end, len(s)))
        for span in _left(case, text, view, shift, hidden):
            start, end = shift.back(span.start), shift.back(span.end, end=True)
            case.leftovers.append(Span(text, start, end, span.type, span.score, ("audit",)))
        case.audited[text.field] = hidden
    if not case.mendable:  # else the next audit asks: its answer decides, and it costs as much as half a detection
        found = [Known(r.span.type, r.span.words) for r in case.replacements if len(r.span) >= 3]
        originals = KnownDetector(found, thorough=False)
        for view in views:
            again = originals.leaks(view.seen.content)
            field = view.text.field
            case.reasons += [Reason("original-repeated", field, leak) for leak in again if policy.replaces(leak)]
        fields = {view.text.field for view in views if view.reading.unsure}
        fields |= {
            v.text.field for v in case.views if v.reading.unsure and _left_of(v.reading.unsure, replaced[v.text.field])
        }
        case.reasons += [Reason("unreadable-characters", field) for field in fields]
    case.reasons += [Reason("left-after-audit", s.field, s.type) for s in case.leftovers]
    case.reasons += [Reason("doubtful", s.field, s.type) for s in case.doubts]
    case.reasons += [*case.remarks, *over_masked(case)]
    if policy.needs_subject and case.patient is None:
        remedy = "the policy is keyed per patient: pass patient= or name patientKey"
        case.reasons.append(Reason("no-subject", "", remedy))


def _left_of(stretches: Iterable[tuple[int, int]], replaced: Sequence[Replacement]) -> bool:
    """Whether a stretch is not wholly replaced."""
    starts = [r.span.start for r in replaced]
    return any(not (at := bisect_right(starts, start)) or replaced[at - 1].span.end < end for start, end in stretches)


def counts(span: Span, policy: Policy) -> bool:
    """Whether a span in an output is a leftover under a policy."""
    return policy.replaces(span.type) and span.score >= policy.audit_threshold


def _left(case: Case, text: Text, view: View, shift: Shift, hidden: array[int]) -> list[Span]:
    """What detection finds in the output that should have gone.

    Of a huge text that was audited before, only the surroundings of what has changed since are read: the rest was read
    as it stands. Should they hold something, the whole is read after all, since a name tells about its repetitions.
    """
    policy = case.tools.policy
    output = view.text
    if output.field in case.bare and output.content == text.content:
        return []  # detection has read just that

    def left(*views: View) -> list[Span]:
        found, whole = detected(views, case.tools.rescan)
        return [
            span
            for view, spans, fragments in zip(views, found, whole, strict=True)
            for span in (*view.original(spans), *fragments)
            if counts(span, policy) and BLANK not in span.text
        ]

    before = case.audited.get(output.field)
    if before is not None and len(output) >= LARGE:
        new = _threes(before) ^ _threes(hidden)
        changed = [(shift.forward(start), shift.forward(end, end=True)) for start, end, _ in new]
        parts = (Text(output.content[a:b], output.field) for a, b in windows(output.content, changed))
        if not left(*(View.of(part, view) for part in parts)):
            return []
    return left(view)


def _threes(numbers: array[int]) -> set[tuple[int, int, int]]:
    return set(zip(*[iter(numbers)] * 3, strict=True))


def _elsewhere(case: Case) -> Iterator[Text]:
    """Every value of the new record beside its free texts: what passed through may repeat a known identifier."""
    listed = bool(case.known) or bool(case.tools.packs) or case.tools.settings.roster is not None
    if case.record is None or case.output is None or not listed:
        return
    free = {text.field for text in case.texts}
    try:
        root = json.loads(case.output, parse_int=str, parse_float=str)
    except ValueError:  # rows of a table: one value each, the free texts among them
        yield Text(case.output)
        return
    waiting = [("", root)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(f"{path}.{name}" if path else name, inner) for name, inner in value.items()]
        elif isinstance(value, list):
            waiting += [(f"{path}[{i}]", inner) for i, inner in enumerate(value)]
        elif isinstance(value, str) and path not in free:
            yield Text(value, path)


def _balance(case: Case) -> None:
    found = sum(len(spans) for spans in case.spans.values())
    if found != len(case.replacements) + len(case.kept):
        raise AccountingError(f"{found} spans found, {len(case.replacements)} replaced, {len(case.kept)} kept")


def mend(case: Case) -> None:
    """Take what the audit found into the spans: with the first ones masked, a second look sees more (RedactOR §3.2)."""
    for text in case.texts:
        more = [s for s in case.leftovers if s.field == text.field]
        case.spans[text.field] = tuple(merge([*case.spans.get(text.field, ()), *more]))
    case.mended += len(case.leftovers)
    case.rounds += 1
    case.leftovers, case.reasons = [], []


def widen(case: Case) -> None:
    """Mask the whole line of every leftover and doubt (the policy's `on_review = "widen"`); counted in the manifest."""
    for text in case.texts:
        suspects = [span for span in (*case.leftovers, *case.doubts) if span.field == text.field]
        lines = set(_lines(text, suspects))
        case.spans[text.field] = _with_lines(text, case.spans.get(text.field, ()), sorted(lines))
        case.widened += len(lines)
    case.leftovers, case.doubts, case.reasons = [], [], []


def _lines(text: Text, spans: Iterable[Span]) -> Iterator[tuple[int, int, str]]:
    """The line that holds each span, and the span's type; a line is looked for once."""
    start = stop = -1
    for span in sorted(spans, key=lambda s: s.start):
        if not start <= span.start < span.end <= stop:
            start = text.content.rfind("\n", 0, span.start) + 1
            start = max(start, text.content.rfind("\r", start, span.start) + 1)
            stop = text.content.find("\n", span.end)
            stop = len(text.content) if stop < 0 else stop
            carriage = text.content.find("\r", span.end, stop)
            stop = stop if carriage < 0 else carriage
        yield start, stop, span.type
        if "\n" in span.text or "\r" in span.text:
            start = stop = -1  # several lines


def _with_lines(text: Text, spans: Iterable[Span], lines: Iterable[tuple[int, int, str]]) -> tuple[Span, ...]:
    """Disjoint sorted spans with sorted lines: each line is one span, with all that touches it."""
    made: list[Span] = []
    waiting = deque(spans)
    for start, end, type_ in lines:
        while waiting and waiting[0].end <= start:
            made.append(waiting.popleft())
        low, high = start, end
        while made and made[-1].end > start:
            before = made.pop()
            low, high = min(low, before.start), max(high, before.end)
        while waiting and waiting[0].start < end:
            high, low = max(high, waiting[0].end), min(low, waiting.popleft().start)
        made.append(Span(text, low, high, type_, 1.0, (WIDENED,)))
    return (*made, *waiting)
