"""Detection without a language model: views of the texts, the detectors, and how their spans are settled.

Rules, encoder, site packs, the roster and the record's known identifiers propose spans of a view (`TextView`). The
spans are divided by the policy's thresholds, merged, swept for repetitions, and mapped back to the original.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from incognote.align.bearers import short_forms
from incognote.align.merge import merge
from incognote.align.misspelled import misspelled
from incognote.align.sweep import sweep, sweep_all
from incognote.detectors import Detector
from incognote.detectors.agreement import ENGLISH, agreed, named, supported
from incognote.detectors.known import KnownDetector, read_roster
from incognote.detectors.packs import Pack, load_pack
from incognote.detectors.retyping import retyped
from incognote.detectors.rules import RulesDetector, foreign_lexicon, unread_in
from incognote.errors import SettingError, UnknownName
from incognote.languages import language
from incognote.nouns import PACK, Known, Reason, Span, Text
from incognote.plugins import installed, load
from incognote.schemas.policy import Policy
from incognote.text.language import foreign_words, names_of, says_english, unread
from incognote.text.lexicon import LEXICON, beside, is_common
from incognote.text.reading import Fragment, Reading, read

if TYPE_CHECKING:
    from incognote.detectors.encoder import EncoderDetector, Point
    from incognote.detectors.encoder.decoding import EncoderReading

_SHORT_FIELD = 200  # characters: short fields of a record say more together than alone
SOURCE = "script"
"""The source of a span of words in a script that no active detector reads."""
LLM = "llm"
"""The name, in the list of detectors, of the language model. It is not an embedded detector."""
NAMES = ("rules", "encoder")
CODE = "GUID"
"""The type of an encoded block in which no span of another type was found."""

DISGUISED = 0.7
"""The score of a disguised word or number. It is replaced, and any detector with a better type wins."""


@dataclass(frozen=True, slots=True)
class TextView:
    """A text, its reading, and its content as a reader sees it. `seen` is the text itself if both are equal."""

    text: Text
    reading: Reading = field(repr=False)
    seen: Text

    @classmethod
    def of(cls, text: Text, before: TextView | None = None) -> TextView:
        """Return the view of a text.

        Args:
            before: the view of the text from which this text was made by blanking and replacing. If nothing had to be
                folded there, nothing has to be folded here.
        """
        if before is not None and before.text.content == text.content:
            return before
        if before is not None and before.reading.as_written:
            return cls(text, Reading(text.content, text.content), text)
        reading = read(text.content, LEXICON)
        return cls(text, reading, text if reading.plain else Text(reading.seen, text.field))

    def original(self, spans: Iterable[Span]) -> list[Span]:
        """Map spans of the view to spans of the text. They may overlap if several share one escape."""
        if self.reading.plain:
            return list(spans)
        return [self._original(span) for span in spans]

    def _original(self, span: Span) -> Span:
        start, end = self.reading.back(span.start, span.end)
        return replace(span, source=self.text, start=start, end=end)

    def viewed(self, spans: Iterable[Span]) -> tuple[list[Span], list[Span]]:
        """Return the spans of the text as spans of the view, and the spans of which the view shows nothing."""
        if self.reading.plain:
            return list(spans), []
        seen: list[Span] = []
        unseen: list[Span] = []
        for span in spans:
            start, end = self.reading.forward(span.start, span.end)
            if start < end:
                seen.append(replace(span, source=self.seen, start=start, end=end))
            else:
                unseen.append(span)
        return seen, unseen

    def disjoint(self, spans: Iterable[Span], more: Sequence[Span] = ()) -> tuple[Span, ...]:
        """Return spans of the view, and others of the text, as one disjoint set of spans of the text."""
        own = self.original(spans)
        return tuple(own) if self.reading.plain and not more else tuple(merge([*own, *more]))


def detected(
    views: Sequence[TextView], detect: Callable[[Sequence[Text]], list[list[Span]]]
) -> tuple[list[list[Span]], list[list[Span]]]:
    """Run a detector on views and on their fragments.

    Returns:
        For each view, the spans of the view. And for each view, a span of the original for each fragment that holds an
        identifier or that cannot be read. The second kind may overlap.
    """
    inner = [(i, fragment) for i, view in enumerate(views) for fragment in view.reading.fragments]
    by_text = detect([*(v.seen for v in views), *(Text(f.words, views[i].text.field) for i, f in inner)])
    for view, spans in zip(views, by_text, strict=False):
        spans += (Span(view.seen, a, b, _kind(view, a), DISGUISED, ("reading",)) for a, b in view.reading.disguised)
    whole: list[list[Span]] = [[] for _ in views]
    for (i, fragment), spans in zip(inner, by_text[len(views) :], strict=True):
        whole[i] += _whole(views[i].text, fragment, spans)
    return by_text[: len(views)], whole


@dataclass(frozen=True, slots=True)
class SettledSpans:
    """The detectors' spans of one text, settled under a policy.

    Attributes:
        spans: the spans to replace; disjoint, in order.
        doubts: spans too weak to replace and too strong to ignore. They make the verdict `review`.
        unserved: spans of types that the policy leaves unchanged.
    """

    spans: tuple[Span, ...] = field(repr=False)
    doubts: tuple[Span, ...] = field(repr=False)
    unserved: tuple[Span, ...] = field(repr=False)


def divided(raw: Sequence[Span], policy: Policy) -> SettledSpans:
    """Divide the raw spans of one text by the policy's thresholds.

    The strong ones are merged, the others left as they are.
    """
    strong: list[Span] = []
    weak: list[Span] = []
    unserved: list[Span] = []
    for span in raw:
        choice = policy.choice(span.type)
        if choice is None:
            unserved.append(span)
        elif span.score >= choice.threshold:
            strong.append(span)
        elif span.score >= policy.doubt:
            weak.append(span)
    return SettledSpans(tuple(merge(strong, policy.priority)), tuple(weak), tuple(unserved))


def outside(spans: Sequence[Span], found: Sequence[Span]) -> tuple[Span, ...]:
    """Return those of `spans` that touch none of the found (disjoint, sorted) spans, merged."""
    left: list[Span] = []
    at = 0
    for span in sorted(spans, key=lambda s: (s.start, s.end)):
        while at < len(found) and found[at].end <= span.start:
            at += 1
        if at == len(found) or found[at].start >= span.end:
            left.append(span)
    return tuple(merge(left))


class Detection:
    """The embedded detectors of an engine. Thread-safe after construction.

    Args:
        names: the detectors to use, our own and those of installed packages. `llm` among them is ignored.
        packs: folders of site packs.
        roster: a file of identifiers known for every record.
        point, fast: options of the encoder.
        objects: additional detectors.
        languages: languages to accept as if they were read (ISO 639-1).
        read: languages that a model reads. Texts in them are read as in accepted languages.

    Raises:
        UnknownName, SettingError: an unknown name, a duplicate name, or a pack or roster that cannot be read.
    """

    def __init__(
        self,
        names: Sequence[str],
        packs: Sequence[Path] = (),
        roster: Path | None = None,
        *,
        point: Point = "balanced",
        fast: bool = False,
        objects: Sequence[Detector] = (),
        languages: Sequence[str] = (),
        read: Collection[str] = (),
    ) -> None:
        self.packs: tuple[Pack, ...] = tuple(load_pack(folder) for folder in packs)
        others = installed("incognote.detectors")
        unknown = [name for name in names if name not in (*NAMES, LLM, *others)]
        if unknown:
            raise UnknownName("detector", unknown[0], {*NAMES, LLM, *others})
        added = [load("incognote.detectors", name)() for name in names if name not in (*NAMES, LLM)]
        self._others: tuple[Detector, ...] = (*added, *objects)
        for detector in self._others:
            if lacking := [part for part in ("name", "version", "reads", "detect") if not hasattr(detector, part)]:
                raise SettingError(f"detectors: {type(detector).__name__} has no {lacking[0]}")
        bearers = [*NAMES, LLM, "known", *(d.name for d in self._others)]
        if twice := {name for name in bearers if bearers.count(name) > 1}:
            raise SettingError(f"detectors: another detector is already named {min(twice)}. Rename one of the two.")
        embedded = not {"rules", "encoder"}.isdisjoint(names)
        self._accepted = frozenset({"en", *languages, *read})
        self._router = RulesDetector(self.packs, _with_rules(), languages, read) if embedded else None
        self._rules = self._router if "rules" in names else None
        self._encoder = _encoder(point, fast=fast) if "encoder" in names else None
        self._foreign = _foreign(point) if "encoder" in names else []
        ours = tuple(d for d in (self._rules, self._encoder, *self._foreign) if d is not None)
        self.detectors: tuple[Detector, ...] = (*ours, *self._others)
        self.reads = frozenset[str](languages).union(*(d.reads for d in self.detectors if d not in self._foreign))
        """The languages that any of the detectors supports, and the accepted languages."""
        listed: list[Known] = [k for pack in self.packs for k in pack.known]
        self._listed = KnownDetector(listed) if listed else None
        if roster is not None:
            listed = [*listed, *read_roster(roster)]
        self.standing = KnownDetector(listed)
        """The identifiers known for every record: the roster and the packs' deny and staff lists."""
        self.lists = bool(self.packs) or roster is not None
        """Whether such identifiers may exist."""
        self._pack_folders = packs

    def detect(self, texts: Sequence[Text], known: Sequence[Known] = ()) -> list[list[Span]]:
        """Return the spans of every detector, per text, overlapping and unmerged. Rules and encoder are reconciled."""
        spoken = list(map(self._spoken, texts))
        by_text: list[list[Span]] = self._rules.detect(texts, spoken) if self._rules else [[] for _ in texts]
        readings: list[list[tuple[EncoderReading, frozenset[str]]]] = [[] for _ in texts]
        for encoder, place in self._readers(texts, spoken):
            asked, codes = [texts[i] for i in place], [spoken[i] for i in place]
            for i, reading in zip(place, encoder.read(asked, codes), strict=True):
                readings[i].append((reading, ENGLISH if encoder is self._encoder else encoder.reads))
        for i, opinions in enumerate(readings):
            if opinions:
                by_text[i] = self._reconciled(by_text[i], opinions, spoken[i])
        seekers: list[Detector] = [self.standing, *([KnownDetector(known)] if known else []), *self._others]
        for seeker in seekers:
            for spans, more in zip(by_text, seeker.detect(texts), strict=True):
                spans.extend(more)
        if self._listed:
            for spans, more in zip(by_text, self._listed.detect(texts), strict=True):
                spans.extend(replace(s, sources=(f"{PACK}lists", *s.sources)) for s in more)
        return by_text

    def _reconciled(
        self, spans: Sequence[Span], read: Sequence[tuple[EncoderReading, frozenset[str]]], spoken: frozenset[str]
    ) -> list[Span]:
        """Reconcile the rules' spans of a text with one or more encoders. All of them must deny a span."""
        alone = read[0][1] == ENGLISH and len(read) == 1
        by_rules = list(agreed(spans, [reading for reading, _ in read], ENGLISH if alone else spoken))
        learned = [s for reading, codes in read for s in supported(reading.spans, by_rules, codes)]
        if others := sorted(spoken - ENGLISH):
            from incognote.detectors.rules.listed import placed, unattached  # English notes do not load the module

            for code in others:
                learned = [placed(unattached(span, code), code) for span in learned]
        doubts = (s for reading, _ in read for s in reading.doubts if not self._allowed(s.text))
        return [*named(by_rules, [s for s in learned if not self._allowed(s.text)]), *doubts]

    def _readers(
        self, texts: Sequence[Text], spoken: Sequence[frozenset[str]]
    ) -> Iterator[tuple[EncoderDetector, list[int]]]:
        """Yield each encoder with the texts that it reads.

        The English encoder leaves out texts whose few English words are read by the encoder of an accepted language.
        """
        for encoder in self._foreign:
            yield encoder, [i for i, codes in enumerate(spoken) if codes & encoder.reads]
        if self._encoder:
            yield (
                self._encoder,
                [i for i, codes in enumerate(spoken) if "en" in codes and not self._beside(texts[i], codes)],
            )

    def _beside(self, text: Text, spoken: frozenset[str]) -> bool:
        """Whether the encoder of an accepted language reads the English words of a text, too."""
        others = spoken - {"en"}
        if not others or not self._foreign or not spoken <= self._accepted or says_english(text.content):
            return False
        return all("en" in beside(code) for code in others)

    def rescan(self, texts: Sequence[Text]) -> list[list[Span]]:
        """Scan for the audit with the detectors, or with the rules if only a language model was used before."""
        return self.detect(texts) if self.detectors else self._only_rules.detect(texts)

    @cached_property
    def _only_rules(self) -> Detection:
        return Detection(("rules",), self._pack_folders)

    def find(self, texts: Sequence[Text], policy: Policy, known: Sequence[Known] = ()) -> list[SettledSpans]:
        """Find spans in texts and settle them under a policy."""
        views = [TextView.of(text) for text in texts]
        spans, whole = detected(views, lambda seen: self.detect(seen, known))
        return [self.settle_view(*each, policy) for each in zip(views, spans, whole, strict=True)]

    def settle_view(
        self, view: TextView, raw: Sequence[Span], hidden: Sequence[Span], policy: Policy,
        reads: frozenset[str] | None = None,
    ) -> SettledSpans:  # fmt: skip
        """Settle spans of a view and whole fragments under a policy, as spans of the text.

        Args:
            raw, hidden: the two results of `detected`.
            reads: as in `settle`.
        """
        seen, whole = self.settle(view.seen, raw, policy, reads), divided(hidden, policy)
        spans = view.disjoint(seen.spans, whole.spans)
        doubts, unserved = view.original(seen.doubts), view.original(seen.unserved)
        return SettledSpans(
            spans, outside([*doubts, *whole.doubts], spans), outside([*unserved, *whole.unserved], spans)
        )

    def settle(
        self, text: Text, raw: Sequence[Span], policy: Policy, reads: frozenset[str] | None = None
    ) -> SettledSpans:
        """Divide raw spans by the policy's thresholds, merge the strong ones, and find their repetitions.

        The whole document is searched for repetitions.

        Args:
            reads: the languages that are read. Words in the script of any other language are found too. The default is
                the languages of these detectors.
        """
        by_score = divided(raw, policy)
        spans = list(by_score.spans)
        spoken = self._spoken(text)  # its rules ran, even if its records go to review
        read = (spoken if self._rules else frozenset()) | (self.reads if reads is None else reads)
        if policy.replaces("PERSON") and (words := foreign(text, spans, read)):
            spans = merge([*spans, *words], policy.priority)
        common = _common(spoken)
        for find in (sweep, short_forms, misspelled):
            if repeated := [s for s in find(text, spans, common) if not self._allowed(s.text)]:
                spans = merge([*spans, *repeated], policy.priority)
        spans = retyped(spans, lambda kind: policy.choice(kind) is not None)
        return SettledSpans(tuple(spans), outside(by_score.doubts, spans), outside(by_score.unserved, spans))

    def across(
        self, texts: Sequence[Text], spans: Mapping[str, tuple[Span, ...]], priority: Sequence[str] = ()
    ) -> dict[str, tuple[Span, ...]]:
        """Return the spans of a record's texts, with further places of what was found in its other texts.

        The name of a letter's subject stands in its header, too.
        """
        if len(texts) < 2:
            return dict(spans)
        more = sweep_all(texts, spans, _common(frozenset().union(*map(self._spoken, texts))))
        new = {field: [span for span in each if not self._allowed(span.text)] for field, each in more.items()}
        return {field: tuple(merge([*spans.get(field, ()), *each], priority)) for field, each in new.items()}

    def _spoken(self, text: Text) -> frozenset[str]:
        """Return the languages whose rules and encoder read a text; English without either."""
        return self._router.spoken(text) if self._router else ENGLISH

    def _allowed(self, words: str) -> bool:
        return any(pack.allow(words.lower()) for pack in self.packs)


def _common(languages: frozenset[str]) -> Callable[[str], bool]:
    """Return a function that says whether a word is common in one of the languages."""
    if languages == {"en"}:
        return is_common
    return lambda word: any(is_common(word, code) for code in languages)


def _with_rules() -> tuple[str, ...]:
    """Return the languages of the installed packages, English first."""
    return ("en", *sorted(installed("incognote.languages").keys() - {"en"}))


def _encoder(point: Point, *, fast: bool) -> EncoderDetector:
    from incognote.detectors.encoder import EncoderDetector

    return EncoderDetector(point=point, fast=fast)


def _foreign(point: Point) -> list[EncoderDetector]:
    """Return the encoders of the installed languages other than English. Several languages may share one."""
    from incognote.detectors.encoder import EncoderDetector

    names = {str(language(code).table("bundle.toml").get("encoder", "")) for code in _with_rules()[1:]}
    made = []
    for name in sorted(names - {""}):
        if find_spec(name) is None:
            package = name.replace("_", "-")
            raise SettingError(
                f"encoder: a language package needs {package}. Install it (from a checkout: pip install "
                f"./languages/{package.removeprefix('incognote-')}), or remove `encoder` from `detectors`."
            )
        made.append(EncoderDetector(Path(str(files(name).joinpath("encoder"))), point=point))
    return made


def _kind(view: TextView, start: int) -> str:
    return CODE if view.seen.content[start].isdigit() else "PERSON"


def _whole(text: Text, fragment: Fragment, spans: Sequence[Span]) -> Iterable[Span]:
    best = max(spans, key=lambda s: s.score, default=None)
    score = 1.0 if fragment.goes else best.score if best else 0.0
    if score:
        kind = best.type if best and best.score >= 0.5 else CODE
        yield Span(text, fragment.start, fragment.end, kind, score, ("reading",))


def unsupported(texts: Sequence[Text], read: Sequence[frozenset[str]]) -> list[Reason]:
    """Return a reason for each text, or for a record's short fields together, in a language that is not read.

    Args:
        texts: the texts as a reader sees them.
        read: per text, the languages that are read.
    """
    reasons: list[Reason] = []
    short: list[str] = []
    for text, languages in zip(texts, read, strict=True):
        if stretches := unread_in(text, languages):
            reasons.append(Reason("unsupported-language", text.field, names_of(stretches)))
        elif len(text) < _SHORT_FIELD:
            short.append(text.content)
    if len(short) > 1 and not reasons:
        together = frozenset.intersection(*read)
        if stretches := unread("\n".join(short), together, foreign_lexicon(), part=True):
            reasons.append(Reason("unsupported-language", "", names_of(stretches)))
    return reasons


def unsupported_as_stated(texts: Sequence[Text], read: Sequence[frozenset[str]]) -> list[Reason]:
    """Return a reason for each text whose source states a language that is not read."""
    return [
        Reason("unsupported-language", text.field, "as the source states")
        for text, languages in zip(texts, read, strict=True)
        if text.language and text.language.partition("-")[0].lower() not in languages
    ]


def foreign(text: Text, found: Sequence[Span], languages: frozenset[str]) -> list[Span]:
    """Find words in a script that is not read, outside the found spans. Most are names, so their type is PERSON.

    Args:
        found: disjoint, in order.
        languages: the languages that are read.
    """
    return [
        Span(text, start, end, "PERSON", 1.0, (SOURCE,))
        for start, end in foreign_words(text.content, languages)
        if not any(s.start <= start and end <= s.end for s in found)
    ]
