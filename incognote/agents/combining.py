"""Combine what a language model named in a text with what rules and encoder found there.

A finding of only one of rules and encoder is often wrong. If a model that read the words named nothing there, it is
nearly always wrong (docs/models.md), so the policy may drop it (`models.veto`). The model has no say:

    - on what both detectors hold, on known identifiers, and on rules with a label or a check digit, for numbers, ages,
      or dates other than two bare numbers ("2/3")
    - in a chunk of which it did not answer a part, or in which a phrase of its reply could not be placed
    - if its reply was not one complete JSON object of known types at the first try, or was about several texts
    - in a chunk in which it missed more than a tenth of what is certain, as an empty reply does if anything is certain
    - in a chunk with words to a model ("ignore the instructions"), hidden characters, or a language it does not read
    - near the end of a chunk within a text, where the cut may have hidden the context

With `veto = "minority"`, each of several votes is judged in this way. What fewer than half of the votes named and no
embedded detector holds is dropped if more than half of them were silent about it and their silence counts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from incognote.agents.detection import NAMES, Detection
from incognote.agents.gaps import HEARD
from incognote.agents.stages import Detected, Merged, Opened, Planned
from incognote.align.merge import merge
from incognote.detectors.agreement import deniable, is_weak, labeled
from incognote.detectors.known import KnownDetector
from incognote.detectors.rules import unread_in
from incognote.languages import language
from incognote.nouns import Known, Span, Text
from incognote.schemas.catalogue import catalogue
from incognote.schemas.policy import Policy

if TYPE_CHECKING:
    from incognote.extraction.chunks import Chunk
    from incognote.extraction.extractor import Extraction

LEAST_NAMED = 0.9
"""The share of the certain findings of a chunk that a model must have named for its silence to count."""
EDGE = 60
"""Characters at a chunk's end within a text in which a model's silence does not count."""
_REACH = 24
"""Characters before a span that may belong to it."""
LEAST_LETTERS = 3
"""The fewest characters of an original for which the audit searches the output."""
RULES = {"rules"}
_BARE_DATE = re.compile(r"\d{1,2}([/.-])\d{1,2}(?!\d|\1\d)")
_SHORTENED = ("AGE", "DATE", "LOCATION")
"""Groups of which a policy may keep a part, such as three digits of a ZIP code. A number never becomes one of them."""
Ranges = tuple[tuple[int, int], ...]


def findings(raw: Iterable[Span], policy: Policy) -> tuple[list[Span], list[Span]]:
    """Merge the raw spans of rules and encoder, and return the certain ones and those that only one of them holds.

    Doubts confirm a finding too. Findings of types that the policy does not replace are left out.
    """
    certain: list[Span] = []
    single: list[Span] = []
    for span in merge(s for s in raw if policy.replaces(s.type) and s.score >= policy.doubt):
        choice = policy.choice(span.type)
        if holds_alone(span):
            single.append(span)
        if choice is not None and span.score >= choice.threshold and _certain(span):
            certain.append(span)
    return certain, single


def _certain(span: Span) -> bool:
    """Whether two detectors hold a finding, or a rule that the encoder may not deny, or one that is no guess."""
    detectors = _detectors(span)
    if HEARD.issuperset(detectors):  # a guess about speech that was not understood
        return False
    return detectors != {"encoder"} and not (detectors == RULES and deniable(span))


def holds_alone(span: Span) -> bool:
    """Whether a finding is only the encoder's, or only that of a rule that is not protected.

    Rules for ages and dates are not meant, because prompts tell the model to leave some of those out, such as weekdays.
    A date of two bare numbers is meant: "2/3" is more often a score or a count.
    """
    if _detectors(span) == RULES:
        group = catalogue()[span.type].group
        return not _protected(span) and group != "AGE" and (group != "DATE" or _BARE_DATE.match(span.text) is not None)
    return _detectors(span) == {"encoder"}


def _protected(span: Span) -> bool:
    """Whether a finding of rules has a label or a check digit, or is a number or an address on the internet."""
    return labeled(span) or catalogue()[span.type].group in ("ID", "CONTACT")


def _detectors(span: Span) -> set[str]:
    """Return the detectors that hold a finding. A weak rule for a name or a place counts only if it is alone.

    Such a rule takes any capitalized word without another explanation. So does the encoder. For dates and ages, a weak
    rule counts, as in `holds_alone`.
    """
    counts = catalogue()[span.type].group in ("DATE", "AGE")
    names = {source.partition(":")[0] for source in span.sources if counts or not is_weak(source)} - {"audit"}
    return names or RULES


def silence(
    text: Text, certain: Sequence[Span], read: Sequence[tuple[Chunk, Extraction | None]], languages: frozenset[str]
) -> Ranges:
    """Return the ranges of a text in which a model named nothing, and in which that counts.

    Args:
        certain: from `findings`, as spans of the text, without those that only one detector holds.
        read: the chunks of the text with their results; None for a chunk without one.
        languages: those that the model reads.
    """
    counts: list[tuple[int, int]] = []
    not_silent: list[tuple[int, int]] = []
    for chunk, extraction in read:
        named = [(s.start, s.end) for s in (*extraction.spans, *extraction.doubts)] if extraction else []
        not_silent += named
        if extraction is None or not _credible(text, chunk, extraction, named, certain, languages):
            not_silent.append((chunk.start, chunk.end))
            continue
        start, end = _inner(text, chunk)
        if start < end:
            counts.append((start, end))
    return _without(counts, not_silent)


def _inner(text: Text, chunk: Chunk) -> tuple[int, int]:
    """Return the part of a chunk in which silence may count."""
    return chunk.start + EDGE if chunk.start else 0, chunk.end - EDGE if chunk.end < len(text) else chunk.end


def outvoted(
    text: Text, certain: Sequence[Span], held: Sequence[Span], read: Sequence[tuple[Chunk, Extraction]],
    languages: frozenset[str],
) -> list[Span]:  # fmt: skip
    """Return the findings of models that only a minority of the votes named, where the silence of a majority counts.

    Args:
        certain, read, languages: as in `silence`.
        held: what the embedded detectors hold, including doubts and known identifiers.
    """
    gone: list[Span] = []
    kept: list[Span] = list(held)
    for chunk, extraction in read:
        votes = extraction.by_vote
        credible = [vote for vote in votes if _credible(text, chunk, extraction, vote, certain, languages)]
        start, end = _inner(text, chunk)
        for span in extraction.spans:
            silent = sum(all(high <= span.start or span.end <= low for low, high in vote) for vote in credible)
            lost = start <= span.start and span.end <= end and 2 * silent > len(votes)
            (gone if lost else kept).append(span)
    return [span for span in gone if not any(span.overlaps(other) for other in kept)]


def _credible(
    text: Text, chunk: Chunk, extraction: Extraction, named: Sequence[tuple[int, int]], certain: Sequence[Span],
    languages: frozenset[str],
) -> bool:  # fmt: skip
    """Whether a model's silence about parts of a chunk counts."""
    if extraction.unanswered or extraction.unsure or not extraction.clear:
        return False
    inside = [s for s in certain if s.start < chunk.end and chunk.start < s.end]
    if sum(any(s.start < end and start < s.end for start, end in named) for s in inside) < LEAST_NAMED * len(inside):
        return False
    part = chunk.of(text)
    return not addresses_model(part.content) and not unread_in(part, languages)


def addresses_model(content: str) -> bool:
    """Whether a text contains words or characters that are meant for a language model rather than for a reader."""
    return _addressed().search(content) is not None


@cache
def _addressed() -> re.Pattern[str]:
    return re.compile("|".join(language().table("words", "addressed.toml")["patterns"]), re.IGNORECASE | re.MULTILINE)


def _without(ranges: Iterable[tuple[int, int]], holes: Sequence[tuple[int, int]]) -> Ranges:
    """Return the union of ranges, without the holes."""
    left: list[tuple[int, int]] = []
    for start, end in _joined(ranges):
        for low, high in holes:
            if start < high and low < end:
                if start < low:
                    left.append((start, low))
                start = max(start, high)
        if start < end:
            left.append((start, end))
    return tuple(left)


def _joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


@dataclass(frozen=True, slots=True)
class Veto:
    """What a language model's silence drops from one record.

    Attributes:
        raw: by text, the spans of the embedded detectors that are left, in the coordinates of its view.
        dropped: the dropped findings, as spans of the texts.
        silent: by field, the ranges in which the silence of the model counts.
        outvoted: by text, the findings of a minority of the votes, which are dropped too.
    """

    raw: list[list[Span]]
    dropped: list[Span]
    silent: dict[str, Ranges]
    outvoted: dict[int, list[Span]] = field(default_factory=dict)


def veto(
    opened: Opened, found: Detected, planned: Planned, read: Mapping[int, Extraction], detection: Detection,
    languages: frozenset[str], policy: Policy,
) -> Veto:  # fmt: skip
    """Drop the findings of a record that only one embedded detector holds and about which the model is silent.

    Without rules or without the encoder, nothing is dropped: a finding could not have a second detector.

    Args:
        languages: those that the model reads.
    """
    left = Veto(list(map(list, found.raw)), [], {})
    names = {detector.name for detector in detection.detectors}
    if policy.models.veto == "none" or not planned.chunks or not names.issuperset(NAMES):
        return left
    for i, (text, view) in enumerate(zip(opened.texts, found.views, strict=True)):
        chunks = [(chunk, read.get(at)) for at, (index, chunk) in enumerate(planned.chunks) if index == i]
        # the view undoes escapes and look-alikes, with which a text could hide what it says to a model
        if not chunks or addresses_model(unicodedata.normalize("NFKD", view.seen.content).replace("_", " ")):
            continue
        certain, single = findings(found.raw[i], policy)
        held = [span for span in certain if not holds_alone(span)]
        left.silent[text.field] = silent = silence(text, view.original(held), chunks, languages)
        originals = view.original(single)
        gone = [(s, o) for s, o in zip(single, originals, strict=True) if vetoed(o, silent)]
        left.raw[i] = [s for s in found.raw[i] if not any(s.overlaps(seen) for seen, _ in gone)]
        left.dropped.extend(original for _, original in gone)
        if policy.models.veto != "minority":
            continue
        answered = [(chunk, extraction) for chunk, extraction in chunks if extraction is not None]
        everything = view.original(s for s in found.raw[i] if s.score >= policy.doubt)
        left.outvoted[i] = minority = outvoted(text, view.original(held), everything, answered, languages)
        left.dropped.extend(minority)
    return left


def vetoed(span: Span, silent: Ranges) -> bool:
    """Whether a span is in one of the ranges in which a model's silence counts."""
    return any(start <= span.start and span.end <= end for start, end in silent)


def restored(
    spans: Mapping[str, tuple[Span, ...]], dropped: Sequence[Span], policy: Policy
) -> tuple[dict[str, tuple[Span, ...]], tuple[Span, ...]]:
    """Return the spans of a record with the dropped findings that must be replaced after all, and the others.

    A finding comes back if it contains words that are replaced elsewhere in the record. An original that is left in the
    output is a leak wherever it is.
    """
    if not dropped:
        return dict(spans), ()
    replaced = (s for own in spans.values() for s in own if len(s) >= LEAST_LETTERS and policy.replaces(s.type))
    originals = KnownDetector([Known(s.type, s.words) for s in replaced], thorough=False)
    left = [s for s in dropped if not any(s.overlaps(other) for other in spans[s.field])]
    back = [s for s in left if originals.leaks(s.words)]
    by_field = {field: tuple(merge([*own, *(s for s in back if s.field == field)])) for field, own in spans.items()}
    return by_field, tuple(s for s in left if s not in back)


def parted(leftovers: Sequence[Span], merged: Merged) -> tuple[list[Span], tuple[Span, ...]]:
    """Divide what an audit still finds into leftovers, and what the model's silence drops there too.

    A finding stays dropped even if the second scan, in which the originals are blanked, finds it with another detector.
    """
    if not merged.vetoes:
        return list(leftovers), ()
    before = [(s.field, s.start, s.end) for s in merged.dropped]
    rest = [s for s in leftovers if not any(s.field == f and a <= s.start and s.end <= b for f, a, b in before)]
    new = [s for s in merge(rest) if holds_alone(s) and vetoed(s, merged.vetoes.get(s.field, ()))]
    return [s for s in rest if not any(s.overlaps(gone) for gone in new)], tuple(new)


def reconciled(raw: Sequence[Span], named: Sequence[Span], policy: Policy) -> list[Span]:
    """Return the spans of embedded detectors and those of a model in one text, with their disputes settled.

    Type: where a model has the same words in another evaluation group, its type counts. It is right for more than 99%
    of the identifiers of the recorded replies, the embedded detectors for 98%. A known identifier, a site pack, and a
    rule with a label or a check digit keep their type, and no type gives way to one that the policy does not replace.

    Boundary: if a model named only the number of an age, its unit is added ("66" in "66 years old"), and so are words
    before it ("30s" in "late 30s"). A job includes "retired" and "former". Otherwise, the spans are not changed, and
    `align.merge` takes the union of boundaries.
    """
    strong = [s for s in named if policy.replaces(s.type) and s.score >= policy.doubt]
    return [*(_retyped(span, strong) for span in raw), *map(_whole, named)]


def _retyped(span: Span, named: Sequence[Span]) -> Span:
    types = catalogue()
    if _detectors(span) <= {*RULES, "encoder"} and not labeled(span):
        for other in named:
            shared = min(span.end, other.end) - max(span.start, other.start)
            if types[span.type].group in ("ID", "CONTACT") and types[other.type].group in _SHORTENED:
                continue
            if 2 * shared > len(span) and types[other.type].group != types[span.type].group:
                return replace(span, type=other.type)
    return span


def _whole(span: Span) -> Span:
    """Extend a model's age over its unit and "late" or "mid", and a model's job over "retired"."""
    group, text, start, end = catalogue()[span.type].group, span.source.content, span.start, span.end
    if group == "AGE" and (unit := _unit().match(text, end)) is not None:
        end = unit.end()
    before = _before().get(group)
    if before is not None and (words := before.search(text, max(0, start - _REACH), start)) is not None:
        start = words.start()
    return replace(span, start=start, end=end)


@cache
def _before() -> dict[str, re.Pattern[str]]:
    """Return, by evaluation group, the pattern of words directly before a span that belong to it."""
    parts = "|".join(language().table("words", "ages.toml").get("parts", {}).get("words", "").split()) or "(?!)"
    titles = language().table("lexicon", "occupations.toml").get("context", {}).get("retired", "")
    jobs = "|".join(map(re.escape, sorted(titles.split(), reverse=True))) or "(?!)"
    return {
        "AGE": re.compile(rf"(?<![^\W_])(?:{parts})(?:[ -]to[ -](?:{parts}))?[ -]\Z", re.IGNORECASE),
        "PROFESSION": re.compile(rf"(?<![^\W_])(?:{jobs})\.?[ -]\Z", re.IGNORECASE),
    }


@cache
def _unit() -> re.Pattern[str]:
    """Return the pattern of an age's unit behind the number: "-year-old", " yo", " months of age"."""
    words = "|".join(sorted(" ".join(language().table("words", "ages.toml")["units"].values()).split(), reverse=True))
    gap = r"[ \t\u00a0]?[-\u2010\u2013]?[ \t\u00a0]?"
    return re.compile(
        rf"{gap}(?:y ?/ ?o|y\.o\.?|(?:{words})(?:{gap}(?:old|of{gap}age))?)(?![^\W_]|/)", re.IGNORECASE
    )
