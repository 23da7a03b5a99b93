"""The audit: find what still looks like an identifier in the output, with our own replacements blanked."""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from incognote.agents.combining import LEAST_LETTERS, parted
from incognote.agents.detection import Detection, TextView, detected
from incognote.agents.implausible import over_masked
from incognote.agents.secondreader import counts, second_reading
from incognote.agents.stages import (
    NO_IDENTIFIER,
    UNWRITABLE,
    Audited,
    Detected,
    FieldValues,
    Merged,
    Opened,
    Replaced,
    mendable,
)
from incognote.align.merge import merge
from incognote.detectors.known import KnownDetector
from incognote.errors import AccountingError
from incognote.nouns import Known, Reason, Replacement, Span, Text, shift_of
from incognote.offsets import Shift
from incognote.schemas.policy import Policy
from incognote.text.characters import BLANK
from incognote.text.lexicon import is_only_brand, only_titles
from incognote.text.parts import LARGE, windows

_HASH = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{8,64}(?![0-9A-Za-z])")
_HIDDEN = re.compile(rf"\.?[^\S\n]{{0,3}}{re.escape(BLANK)}")
WIDENED = "widen"
"""The source of a span that is a whole line."""


def blanked(text: str, stretches: Iterable[tuple[int, int]]) -> str:
    """Return a text with ranges overwritten. The length, and the line breaks outside the ranges, stay the same."""
    pieces: list[str] = []
    at = 0
    for start, end in sorted(stretches):
        if end > at:
            start = max(start, at)
            pieces += [text[at:start], BLANK * (end - start)]
            at = end
    return "".join([*pieces, text[at:]])


def audit(
    opened: Opened, fields: FieldValues, found: Detected, merged: Merged, replaced: Replaced, before: Audited,
    detection: Detection, policy: Policy,
) -> Audited:  # fmt: skip
    """Scan the output again, search it for the originals, and check that the counts balance.

    Args:
        before: the result of the last round. If a text has over 100,000 characters, only its changed parts are read
            again.

    Raises:
        AccountingError: spans found ≠ replaced + kept.
    """
    _balance(merged, replaced)
    known = KnownDetector(fields.known)
    unsought = known.unsought + detection.standing.unsought
    ours: dict[str, list[Replacement]] = defaultdict(list)
    stays: dict[str, list[Span]] = defaultdict(list)
    for r in replaced.replacements:
        ours[r.span.field].append(r)
    for span in (*replaced.kept, *merged.unserved):
        stays[span.field].append(span)
    shifts = {text.field: shift_of(ours[text.field]) for text in opened.texts}
    outputs = []
    for text in opened.texts:  # what the policy keeps is not a leftover
        written = ((r.out_start, r.out_end) for r in ours[text.field])
        shift = shifts[text.field]
        kept = ((shift.forward(s.start), shift.forward(s.end, end=True)) for s in stays[text.field])
        outputs.append(Text(blanked(replaced.texts[text.field], chain(written, kept)), text.field))
    views = list(map(TextView.of, outputs, found.views))
    reasons: list[Reason] = []
    listed = bool(fields.known) or detection.lists
    elsewhere = _elsewhere(opened, replaced) if listed else ()
    for view in (*views, *map(TextView.of, elsewhere)):
        read = (view.seen.content, *(fragment.words for fragment in view.reading.fragments))
        left = {leak for words in read for who in (known, detection.standing) for leak in who.leaks(words)}
        reasons += [Reason("known-identifier-left", view.text.field, leak) for leak in left if policy.replaces(leak)]
    lost = bool(reasons)
    leftovers: list[Span] = []
    blanks: dict[str, array[int]] = {}
    for text, view in zip(opened.texts, views, strict=True):
        shift = shifts[text.field]
        hidden = array("Q")  # start, end and new length of each range; a set of tuples takes twenty times as much
        for r in ours[text.field]:
            hidden.extend((r.span.start, r.span.end, len(r.text)))
        for s in stays[text.field]:
            hidden.extend((s.start, s.end, len(s)))
        if not (text.field in found.bare and view.text.content == text.content):  # else already read
            for span in _left(view, shift, hidden, before.hidden.get(text.field), detection, policy):
                start, end = shift.back(span.start), shift.back(span.end, end=True)
                leftovers.append(Span(text, start, end, span.type, span.score, ("audit", *span.sources)))
        blanks[text.field] = hidden
    leftovers, dropped = parted(leftovers, merged)
    if not mendable(merged, leftovers, lost=lost):  # else the next audit checks it, at half the cost of a detection
        originals = _originals(replaced)
        for view in views:
            again = originals.leaks(view.seen.content)
            reasons += [Reason("original-repeated", view.text.field, leak) for leak in again if policy.replaces(leak)]
        unsure = {view.text.field for view in views if view.reading.unsure}
        unsure |= {
            view.text.field
            for view in found.views
            if view.reading.unsure and _left_of(view.reading.unsure, ours[view.text.field])
        }
        reasons += [Reason("unreadable-characters", field) for field in unsure]
        sought = (known, detection.standing, originals)
        unseen, failed, more = second_reading(opened, sought, replaced, detection, policy)
        reasons += [*unseen, *failed]
        leftovers = [*leftovers, *more]
        lost = lost or bool(unseen)
    reasons += [Reason("left-after-audit", s.field, s.type) for s in leftovers]
    reasons += [Reason("doubtful", s.field, s.type) for s in merged.doubts]
    if policy.relex.withheld == "review":
        certain = {*UNWRITABLE, NO_IDENTIFIER}
        doubted = ((span, code) for span, code in replaced.withheld.items() if code not in certain)
        reasons += [Reason(code, span.field, span.type) for span, code in doubted]
    if opened.record is not None:
        from incognote.formats.base import remarks_of

        reasons += remarks_of(opened.record)
    reasons += [*merged.remarks, *over_masked(opened.texts, replaced.replacements, policy.over_masked)]
    if policy.needs_subject and opened.patient is None:
        remedy = "the policy is keyed per patient. Pass patient=, or set patientKey in the schema"
        reasons.append(Reason("no-subject", "", remedy))
    served = {kind: n for kind, n in unsought.items() if policy.replaces(kind)}
    return Audited(tuple(leftovers), tuple(reasons), served, blanks, lost, dropped)


def reread(
    opened: Opened, fields: FieldValues, replaced: Replaced, detection: Detection, policy: Policy
) -> Audited:
    """Check the output of a record whose spans came with the item, such as one that a reviewer approved.

    The spans are not doubted. But a person does not see what only the second reader shows.
    """
    sought = (KnownDetector(fields.known), detection.standing, _originals(replaced))
    reasons, _, more = second_reading(opened, sought, replaced, detection, policy)
    reasons += [Reason("second-reader", "", kind) for kind in sorted({span.type for span in more})]
    return Audited(reasons=tuple(reasons), lost=bool(reasons))


def _originals(replaced: Replaced) -> KnownDetector:
    """Return a search for the originals, without single words that are a brand: the sweep leaves "mirena", too."""
    words = [Known(r.span.type, r.span.words) for r in replaced.replacements if len(r.span) >= LEAST_LETTERS]
    return KnownDetector([each for each in words if not is_only_brand(each.value)], thorough=False)


def _left_of(stretches: Iterable[tuple[int, int]], replaced: Sequence[Replacement]) -> bool:
    """Whether a range is not completely replaced."""
    starts = [r.span.start for r in replaced]
    return any(not (at := bisect_right(starts, start)) or replaced[at - 1].span.end < end for start, end in stretches)


def _left(
    view: TextView, shift: Shift, hidden: array[int], before: array[int] | None, detection: Detection, policy: Policy
) -> list[Span]:
    """Return what detection still finds in the output and should have been replaced.

    In a huge text that was audited before, only the surroundings of the changes are read. The rest was already read in
    the same form. If they contain a finding, the whole text is read, since a name points to its repetitions.
    """

    def left(*views: TextView) -> list[Span]:
        spans_by_view, whole = detected(views, detection.rescan)
        return [
            span
            for view, spans, fragments in zip(views, spans_by_view, whole, strict=True)
            for span in (*view.original(spans), *fragments)
            if counts(span, policy) and BLANK not in span.text and not _title(span)
        ]

    output = view.text
    if before is not None and len(output) >= LARGE:
        new = _threes(before) ^ _threes(hidden)
        changed = [(shift.forward(start), shift.forward(end, end=True)) for start, end, _ in new]
        parts = (Text(output.content[a:b], output.field) for a, b in windows(output.content, changed))
        if not left(*(TextView.of(part, view) for part in parts)):
            return []
    return left(view)


def _title(span: Span) -> bool:
    """Whether a span is only the title of a name that is replaced: "Mrs" in "Mrs. [PERSON]"."""
    return _HIDDEN.match(span.source.content, span.end) is not None and only_titles(re.findall(r"[^\W\d_]+", span.text))


def _threes(numbers: array[int]) -> set[tuple[int, int, int]]:
    return set(zip(*[iter(numbers)] * 3, strict=True))


def _elsewhere(opened: Opened, replaced: Replaced) -> Iterator[Text]:
    """Yield every value of the new record outside its free texts, without our own hashes.

    A value that was passed through may repeat a known identifier. In the letters and digits of a hash, a short name
    such as Ada can occur by chance.
    """
    if opened.record is None or replaced.output is None or (opened.form is not None and opened.form.packed):
        return
    free = {text.field for text in opened.texts}
    hashes = {value for value in replaced.values.values() if _HASH.fullmatch(value)}
    try:
        root = json.loads(replaced.output, parse_int=str, parse_float=str)
    except ValueError:  # rows of a table, or another format: the output includes the free texts
        output = replaced.output
        words = output if isinstance(output, str) else output.decode("utf-8", "replace")
        yield Text(_HASH.sub(lambda found: "#" * len(found[0]) if found[0] in hashes else found[0], words))
        return
    waiting = [("", root)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(f"{path}.{name}" if path else name, inner) for name, inner in value.items()]
        elif isinstance(value, list):
            waiting += [(f"{path}[{i}]", inner) for i, inner in enumerate(value)]
        elif isinstance(value, str) and path not in free and value not in hashes:
            yield Text(value, path)


def _balance(merged: Merged, replaced: Replaced) -> None:
    found = sum(len(spans) for spans in merged.spans.values())
    done, kept = len(replaced.replacements), len(replaced.kept)
    if found != done + kept:
        raise AccountingError(f"{found} spans found, {done} replaced, {kept} kept")


def mend(texts: Sequence[Text], merged: Merged, leftovers: Sequence[Span]) -> Merged:
    """Add the audit's findings to the spans. With the first ones masked, a second scan finds more (RedactOR §3.2)."""
    spans = {
        text.field: tuple(merge([*merged.spans.get(text.field, ()), *(s for s in leftovers if s.field == text.field)]))
        for text in texts
    }
    return replace(merged, spans=spans, rounds=merged.rounds + 1, mended=merged.mended + len(leftovers))


def widen(texts: Sequence[Text], merged: Merged, leftovers: Sequence[Span]) -> Merged:
    """Mask the whole line of every leftover and doubt (the policy's `on_review = "widen"`).

    The manifest counts the lines.
    """
    spans = dict(merged.spans)
    widened = merged.widened
    for text in texts:
        suspects = [span for span in (*leftovers, *merged.doubts) if span.field == text.field]
        lines = set(_lines(text, suspects))
        spans[text.field] = _with_lines(text, spans.get(text.field, ()), sorted(lines))
        widened += len(lines)
    return replace(merged, spans=spans, doubts=(), widened=widened)


def _lines(text: Text, spans: Iterable[Span]) -> Iterator[tuple[int, int, str]]:
    """Yield the line that contains each span, and the span's type. Each line is searched for only once."""
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
    """Combine disjoint sorted spans with sorted lines. Each line becomes one span with everything that touches it."""
    widened: list[Span] = []
    waiting = deque(spans)
    for start, end, type_ in lines:
        while waiting and waiting[0].end <= start:
            widened.append(waiting.popleft())
        low, high = start, end
        while widened and widened[-1].end > start:
            before = widened.pop()
            low, high = min(low, before.start), max(high, before.end)
        while waiting and waiting[0].start < end:
            high, low = max(high, waiting[0].end), min(low, waiting.popleft().start)
        widened.append(Span(text, low, high, type_, 1.0, (WIDENED,)))
    return (*widened, *waiting)
