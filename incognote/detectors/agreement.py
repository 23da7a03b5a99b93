"""Combine the rules and the encoder: check unsure spans of one against the other, and settle their entity types.

Rules and the encoder make different errors. A span of a reliable rule is kept whatever the encoder says. A rule that
guesses (a capitalized word with no other explanation) is wrong too often to be trusted alone, and right too often to be
dropped. For such a rule the encoder's probability decides: a span that the encoder denies becomes doubtful and is not
removed. Weak rules are chosen by measurement: weak.toml, made by benchmarks/scripts/weak_rules.py.

An encoder span that no rule supports is as reliable as its score says only if the score is high, because it is the most
probable of thousands of words. It needs a score of at least ALONE, by the group of its type. Short words in capitals
and short numbers are mostly abbreviations and measurements, and need at least BARE. Below that, the span is doubtful.
Each threshold is the highest, in steps of 0.05, below which at most one such span in ten is right. A rule that is not
weak is denied only if the encoder gives it almost no chance. All thresholds were chosen on notes, dev-e, dev-f and
dev-g.

If both find a span and disagree on its type, a weak rule takes the encoder's type. For numbers and internet addresses,
the encoder takes a strong rule's type: labels and form distinguish those, and the encoder's classes leave them to the
rules (encoder/labels.toml). The evaluation group is then right for 97 to 98% of the spans
(docs/measured/detection.md).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

from incognote.detectors import PASSED
from incognote.detectors.clinical import clinical, never_names
from incognote.detectors.rules.patterns.rule import labeled_rules, source_of
from incognote.languages import language
from incognote.nouns import PACK, Span
from incognote.plugins import installed
from incognote.schemas.catalogue import catalogue
from incognote.text.characters import BLANK
from incognote.text.lexicon import fold, given, lexicon, surname

if TYPE_CHECKING:  # importing it loads numpy
    from incognote.detectors.encoder.decoding import EncoderReading

DENIED = 0.3
"""The encoder denies a weak rule's span if it gives the span less than this probability."""
DENIED_FLATLY, CERTAIN = 0.1, 0.8
"""The encoder denies a span of another rule only below DENIED_FLATLY. It never denies a number, a span with a score of
at least CERTAIN, or a span of a site pack."""
DENIED_CERTAIN = 0.02
"""In other languages, it also denies spans with such a score below this, unless the rule has a label. On 254 texts
held back from training (synthetic), this raised precision by 0.3 to 0.5 points and lowered recall by up to 0.2."""
ALONE = {"LOCATION": 0.75, "PROFESSION": 0.7}
ALONE_ELSE = 0.65
ALONE_FOREIGN = 0.55
BARE = 0.85
"""The minimum score of a span that only the encoder found: per evaluation group, for all other groups, in languages
other than English, and for short words in capitals and short numbers. On 100 synthetic Spanish notes of an author that
neither rules nor encoder had seen, ALONE_FOREIGN between 0.5 and 0.7 changed recall and precision by at most 0.003."""
_BARE = re.compile(r"[A-Z]{1,6}|\d{1,3}")
APART_FOREIGN = 0.05
"""In other languages than English, words that are cut off a rule's span are less probable than this."""
EXACT, APART, USUAL = 0.9, 0.2, 4
"""From a score of EXACT, the encoder's name decides where a rule's name ends. The words that are cut off are less
probable than APART to be part of an identifier, and less usual than USUAL as a name."""
_WORDS = re.compile(r"[^\W\d_]+")

_DAYS, _RETURNS = "rules:dates_days.", "rules:dates_words.month-to-return"
_NAME = re.compile(rf"(?:[A-Z][^\W\d_]+\.?|{BLANK}) \Z")

_LABELED = re.compile(r"rules:(?:[a-z]{2}/)?(?:names\.label|tables\.|hl7\.)")
_NUMBERS = frozenset({"ID", "CONTACT"})
_ANY_NUMBER = "GUID"


@cache
def is_weak(source: str) -> bool:
    """Whether a source of a span is a rule that needs a second opinion. Each language lists its own (weak.toml)."""
    code, found, _ = source.removeprefix("rules:").partition("/")
    return source in _weak(code if found and code in installed("incognote.languages") else "en")


@cache
def _weak(code: str) -> frozenset[str]:
    written = language(code).table("rules", "weak.toml")
    return frozenset(source_of(name, code) for name in written.get("rules", ()))


ENGLISH = frozenset({"en"})


def agreed(
    spans: Iterable[Span], opinions: Sequence[EncoderReading], codes: frozenset[str] = ENGLISH
) -> Iterator[Span]:
    """Yield the spans of rules. A span that every encoder denies gets their highest probability as its score.

    In English, spans of weak rules that are clinical words or numbers are dropped, and a name that a rule ended too
    late is cut where the encoder ends it: "Thuy Le PharmD", "Dr. Marchetti Tuesday". In other languages, ends of a span
    that the encoder is sure are no identifier are cut: "CHU de Brest. Son".

    Args:
        opinions: the result of each encoder that read the text.
        codes: the languages whose rules read the text.
    """
    opinion = opinions[0]
    exact = [s for s in opinion.spans if s.score >= EXACT]
    beside = _Beside(exact if codes != ENGLISH else [s for s in exact if _group(s) == "PERSON"])
    for span in spans:
        if codes != ENGLISH:
            inner = beside(span) if len(opinions) == 1 and _trimmable(span) else None
            if inner is not None and _group(inner) == _group(span):
                span = _trimmed(span, inner, opinion)
        else:
            if all(map(is_weak, span.sources)) and clinical(span):
                continue
            inner = beside(span) if _group(span) == "PERSON" else None
            if inner is not None and len(inner) < len(span):
                span = _cut(span, inner, opinion)
        chance = max(each.sure(span.start, span.end) for each in opinions)
        yield replace(span, score=min(span.score, chance)) if chance < _denied(span) else span


def _trimmable(span: Span) -> bool:
    """Whether the encoder may cut a span of rules in another language: no number, no label, and not of a site pack."""
    return _group(span) not in _NUMBERS and not labeled(span) and not any(s.startswith(PACK) for s in span.sources)


def _trimmed(span: Span, inner: Span, opinion: EncoderReading) -> Span:
    """Cut the ends of a rule's span that the encoder is sure are no part of an identifier: "CHU de Brest. Son"."""
    start, end = span.start, span.end
    if start < inner.start and opinion.sure(start, inner.start) < APART_FOREIGN:
        start = inner.start
    if inner.end < end and opinion.sure(inner.end, end) < APART_FOREIGN:
        end = inner.end
    return span if (start, end) == (span.start, span.end) else replace(span, start=start, end=end)


def _cut(span: Span, inner: Span, opinion: EncoderReading) -> Span:
    """Cut the ends of a rule's name that lie outside the encoder's name and are no part of it."""

    def apart(start: int, end: int) -> bool:
        if any(s.start <= start + 2 and s.end >= end and _group(s) != "PERSON" for s in opinion.spans):
            return True  # another identifier: "Dr. Marchetti Tuesday"
        part = span.source.content[start:end]
        words = _WORDS.findall(part)
        if not words or opinion.sure(start, end) >= APART:
            return False
        return "\n" in part or not any(map(_of_name, words))

    start = inner.start if span.start < inner.start and apart(span.start, inner.start) else span.start
    end = inner.end if inner.end < span.end and apart(inner.end, span.end) else span.end
    return replace(span, start=start, end=end)


def _of_name(word: str) -> bool:
    """Whether a word is an initial, a suffix such as Jr, or a usual name."""
    folded = fold(word)
    entry = lexicon().get(folded, 0)
    return len(word) == 1 or folded in _suffixes() or max(given(entry), surname(entry)) >= USUAL


@cache
def _suffixes() -> frozenset[str]:
    return frozenset(language().table("lexicon", "name_cues.toml").get("words", {}).get("suffixes", ()))


def deniable(span: Span) -> bool:
    """Whether another detector may overrule a span of rules. A rule with a label is never overruled."""
    return _denied(span) > 0 and not labeled(span)


def labeled(span: Span) -> bool:
    """Whether a rule with a label, a column's header, or a check digit found a span."""
    return not labeled_rules().isdisjoint(span.sources) or any(map(_LABELED.match, span.sources))


def _denied(span: Span) -> float:
    if all(map(is_weak, span.sources)):
        return DENIED
    if _group(span) in _NUMBERS or not all(s.startswith("rules:") for s in span.sources):
        return 0.0
    if span.score < CERTAIN:
        return DENIED_FLATLY
    return DENIED_CERTAIN if all("/" in s for s in span.sources) and not labeled(span) else 0.0


def supported(learned: Iterable[Span], said: Sequence[Span], codes: frozenset[str] = ENGLISH) -> Iterator[Span]:
    """Yield the spans of the encoder. A span that overlaps no rule's span and scores too low becomes doubtful.

    In English, verbs that only a person does ("saw", "denies") are dropped if they follow a capitalized word, and so
    are clinical words and numbers (`incognote.detectors.clinical`).

    Args:
        said: the spans of rules, including doubtful ones.
        codes: the languages whose rules read the text.
    """
    beside = _Beside(said)
    if codes != ENGLISH:
        for span in learned:
            alone = span.score < ALONE_FOREIGN and beside(span) is None
            yield replace(span, score=min(span.score, PASSED)) if alone else span
        return
    for span in map(_without_adjective, learned):
        if (_deed(span) or clinical(span)) and beside(span) is None:
            continue
        line = BARE if _BARE.fullmatch(span.text) else ALONE.get(_group(span), ALONE_ELSE)
        alone = (span.score < line or _eponym(span)) and beside(span) is None
        yield replace(span, score=min(span.score, PASSED)) if alone else span


def _without_adjective(span: Span) -> Span:
    """Cut an adjective in lower case before a name: "little Maryan" becomes "Maryan"."""
    first, _, rest = span.text.partition(" ")
    if first not in _adjectives() or not rest[:1].isupper() or _group(span) != "PERSON":
        return span
    return replace(span, start=span.end - len(rest))


@cache
def _adjectives() -> frozenset[str]:
    return frozenset(language().table("words", "sweep.toml").get("names", {}).get("adjectives", ()))


def _deed(span: Span) -> bool:
    """Whether a span is a verb in lower case directly after a capitalized word: "saw" in "Dr. Conner saw her"."""
    text = span.source.content
    return span.text in _deeds() and _NAME.search(text, max(0, span.start - 30), span.start) is not None


@cache
def _deeds() -> frozenset[str]:
    return frozenset(language().table("words", "sweep.toml").get("names", {}).get("deeds", ()))


def _eponym(span: Span) -> bool:
    return fold(span.text) in never_names()


def named(spans: Iterable[Span], learned: Sequence[Span]) -> Iterator[Span]:
    """Yield the spans of rules, then those of the encoder, each with the more reliable of the two types.

    A person, place, or organization that is the name of a holiday is a date ("arrives on Mardi Gras"). So is a person
    whose name a rule took for a weekday ("to see Monday") or for the month of the next visit ("RTC Jan").

    Args:
        spans: the spans of rules.
        learned: the spans of the encoder, without its doubts.
    """
    said = list(spans)
    days = {(s.start, s.end) for s in said if any(source.startswith(_DAYS) for source in s.sources)}
    months = {(s.start, s.end) for s in said if _RETURNS in s.sources}
    for span in _typed(said, learned):
        at, usual = (span.start, span.end), given(lexicon().get(fold(span.text), 0)) >= USUAL
        day = _group(span) == "PERSON" and (at in months or (at in days and not usual))
        yield replace(span, type="DATE") if day or _holiday(span) else span


def _holiday(span: Span) -> bool:
    """Whether a name is that of a holiday."""
    rules = language().part("rules")
    if rules is None or _group(span) not in ("PERSON", "LOCATION"):
        return False
    return bool(rules.is_holiday(span.source.content, span.start, span.end))


def _typed(spans: Iterable[Span], learned: Sequence[Span]) -> Iterator[Span]:
    said, beside = list(spans), _Beside(learned)
    for span in said:
        other = beside(span) if all(map(is_weak, span.sources)) else None
        yield span if other is None or _group(other) == _group(span) else replace(span, type=other.type)
    telling = [s for s in said if _group(s) in _NUMBERS and s.type != _ANY_NUMBER and not all(map(is_weak, s.sources))]
    beside = _Beside(telling)
    for span in learned:
        other = beside(span) if _group(span) in _NUMBERS else None
        yield span if other is None else replace(span, type=other.type)


class _Beside:
    """Find the span with the largest overlap with a given span. The time grows with the number of overlapping spans."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = sorted(spans, key=lambda span: span.start)
        self._starts = [span.start for span in self._spans]
        self._reach = list(accumulate((span.end for span in self._spans), max))  # the largest end up to each span

    def __call__(self, span: Span) -> Span | None:
        shared: list[Span] = []
        at = bisect_left(self._starts, span.end) - 1
        while at >= 0 and self._reach[at] > span.start:
            if self._spans[at].end > span.start:
                shared.append(self._spans[at])
            at -= 1
        shared.reverse()  # max takes the first of equals
        return max(
            shared, key=lambda o: (min(o.end, span.end) - max(o.start, span.start), o.score, -o.start), default=None
        )


def _group(span: Span) -> str:
    return catalogue()[span.type].group
