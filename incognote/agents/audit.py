"""The audit: what of the output, our own replacements blanked, still looks like an identifier."""

from __future__ import annotations

from collections.abc import Sequence

from incognote.agents.case import Case
from incognote.detectors.known import KnownDetector
from incognote.errors import AccountingError
from incognote.nouns import Known, Reason, Replacement, Span, Text

BLANK = "\u25a0"  # a visible character that no rule takes for a letter, a digit or a space


def blanked(text: str, replacements: Sequence[Replacement]) -> str:
    """The output with every replacement overwritten, length and line breaks of the rest kept."""
    pieces: list[str] = []
    at = 0
    for r in sorted(replacements, key=lambda r: r.out_start):
        pieces += [text[at : r.out_start], BLANK * (r.out_end - r.out_start)]
        at = r.out_end
    return "".join([*pieces, text[at:]])


def back(offset: int, replacements: Sequence[Replacement], *, end: bool = False) -> int:
    """The offset in the original of an offset in the output; inside a replacement, the edge of its span."""
    shift = 0
    for r in sorted(replacements, key=lambda r: r.out_start):
        if offset < r.out_start or (end and offset == r.out_start):
            break
        if offset < r.out_end:
            return r.span.end if end else r.span.start
        shift = r.span.end - r.out_end
    return offset + shift


def audit(case: Case) -> None:
    """Re-scan, search the originals, balance the accounts; writes leftovers and reasons into the case.

    Raises:
        AccountingError: spans found ≠ replaced + kept.
    """
    policy = case.tools.policy
    _balance(case)
    originals = tuple(Known(r.span.type, r.span.text) for r in case.replacements if len(r.span) >= 3)
    seeker, repeats = KnownDetector(case.known), KnownDetector(originals)
    outputs: list[Text] = []
    for text in case.texts:
        mine = [r for r in case.replacements if r.span.field == text.field]
        kept = [s for s in (*case.kept, *case.unserved) if s.field == text.field]
        masked = blanked(case.new_texts[text.field], mine)
        outputs.append(Text(masked, text.field))
        for leak in {*seeker.leaks(masked), *case.tools.standing.leaks(masked)}:
            if policy.choice(leak) is not None:
                case.quarantined = True
                case.reasons.append(Reason("known-identifier-left", text.field, leak))
        if not kept:  # a kept span may repeat an original on purpose (a policy that keeps its type)
            case.reasons += [
                Reason("original-repeated", text.field, leak)
                for leak in set(repeats.leaks(masked))
                if policy.choice(leak) is not None
            ]
    for output, spans in zip(outputs, case.tools.detect(outputs), strict=True):
        mine = [r for r in case.replacements if r.span.field == output.field]
        stays = [s for s in (*case.kept, *case.unserved) if s.field == output.field]
        for span in spans:
            choice = policy.choice(span.type)
            if choice is None or choice.operator == "keep" or span.score < policy.audit_threshold or BLANK in span.text:
                continue
            start, end = back(span.start, mine), back(span.end, mine, end=True)
            if not any(s.start < end and start < s.end for s in stays):
                source = next(t for t in case.texts if t.field == output.field)
                case.leftovers.append(Span(source, start, end, span.type, span.score, ("audit",)))
    case.reasons += [Reason("left-after-audit", s.field, s.type) for s in case.leftovers]
    case.reasons += [Reason("doubtful", s.field, s.type) for s in case.doubts]
    if policy.needs_subject and case.patient is None:
        case.reasons.append(
            Reason("no-subject", "", "the policy is keyed per patient: pass patient= or name patientKey")
        )


def _balance(case: Case) -> None:
    found = sum(len(spans) for spans in case.spans.values())
    if found != len(case.replacements) + len(case.kept):
        raise AccountingError(f"{found} spans found, {len(case.replacements)} replaced, {len(case.kept)} kept")


def widen(case: Case) -> None:
    """Mask the whole line of every leftover and doubt (the policy's `on_review = "widen"`); counted in the manifest."""
    for text in case.texts:
        lines = []
        for span in (*case.leftovers, *case.doubts):
            if span.field == text.field:
                start = max(text.content.rfind("\n", 0, span.start), text.content.rfind("\r", 0, span.start)) + 1
                stops = [i for i in (text.content.find("\n", span.end), text.content.find("\r", span.end)) if i >= 0]
                lines.append((start, min(stops, default=len(text.content)), span.type))
        spans = list(case.spans.get(text.field, ()))
        for start, end, type_ in sorted(set(lines)):
            touched = [s for s in spans if s.start < end and start < s.end]
            whole = Span(
                text,
                min([start, *(s.start for s in touched)]),
                max([end, *(s.end for s in touched)]),
                type_,
                1.0,
                ("widen",),
            )
            spans = sorted([*(s for s in spans if s not in touched), whole], key=lambda s: s.start)
            case.widened += 1
        case.spans[text.field] = tuple(spans)
    case.leftovers, case.doubts, case.reasons = [], [], []
