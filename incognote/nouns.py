"""The value types of de-identification. They are immutable and check themselves.

Offsets count Unicode code points of the original text, and `end` is exclusive. A repr never shows note text.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from dataclasses import field as dataclass_field
from html import escape
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args, overload

from incognote.errors import ImpossibleSpan, NotReleased, UsageError
from incognote.offsets import Shift
from incognote.text.characters import visible
from incognote.text.reading import seen

if TYPE_CHECKING:
    from incognote.display import Mark, Shown

Outcome = Literal["release", "review", "quarantine"]
DerivedKind = Literal["text", "hocr", "pdf", "srt", "vtt", "json"]
"""What can be derived from redacted pages (text, hOCR, PDF) and from muted recordings (text, SRT, VTT, JSON)."""
PACK = "pack:"
"""Prefix of a span's source if a site pack found it. Its type takes precedence over those of other detectors."""
_TYPE = re.compile(r"[A-Z][A-Z0-9_]*\Z")
_SEVERITY: tuple[Outcome, ...] = ("release", "review", "quarantine")


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Text:
    """One free-text value of a record, with its field path.

    Attributes:
        content: The text.
        field: The path of the field. "" for a plain note.
        language: The language that the source states (ISO 639-1), or None.
    """

    content: str = field(repr=False)
    field: str = ""
    language: str | None = dataclass_field(default=None, compare=False)

    def __len__(self) -> int:
        return len(self.content)


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text that contains an identifier.

    Attributes:
        source: The Text that contains it.
        start: First offset, in code points of the original text.
        end: Offset after the last character.
        type: The entity type.
        score: Confidence, from 0 to 1.
        sources: The detectors that found it.

    Raises:
        ImpossibleSpan: The span is empty or outside the text, or the type name or the score (0 to 1) is not valid.
    """

    source: Text = field(repr=False)
    start: int
    end: int
    type: str
    score: float = 1.0
    sources: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end <= len(self.source.content):
            raise ImpossibleSpan(
                f"A span {self.start}..{self.end} does not fit a text of {len(self.source)} characters."
            )
        if not _TYPE.match(self.type):
            raise ImpossibleSpan("The type of a span must be uppercase letters, digits, and underscores.")
        if not 0.0 <= self.score <= 1.0:
            raise ImpossibleSpan("The score of a span must be between 0 and 1.")

    @classmethod
    def claimed(cls, source: Text, start: int, end: int, type: str, text: str, **more: Any) -> Span:
        """Create a span from outside data, and check that its words match the text.

        Raises:
            ImpossibleSpan: The words differ from the text at these offsets.
        """
        span = cls(source, start, end, type, **more)
        if span.text != text:
            raise ImpossibleSpan(f"the words claimed for {start}..{end} differ from the text")
        return span

    @property
    def field(self) -> str:
        """The path of the field that contains the span."""
        return self.source.field

    @property
    def text(self) -> str:
        """The characters of the span in the original text."""
        return self.source.content[self.start : self.end]

    @property
    def words(self) -> str:
        """The text as a person reads it: without invisible characters, with escapes decoded."""
        return seen(self.text)

    def overlaps(self, other: Span) -> bool:
        """Whether both spans share at least one character of the same field."""
        return self.field == other.field and self.start < other.end and other.start < self.end

    def __len__(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Mention:
    """An identifier that a language model reported: its entity type, its words, and the words around it as a hint.

    Args:
        type: The entity type.
        phrase: The words as the model gave them, including the hint.
        start: Offset of the identifier in the phrase. The rest of the phrase is the hint.
        end: Offset after the identifier.

    Raises:
        ImpossibleSpan: The identifier is empty or outside the phrase, or the type name is not valid.
    """

    type: str
    phrase: str = field(repr=False)
    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end <= len(self.phrase):
            raise ImpossibleSpan(f"An identifier at {self.start}..{self.end} does not fit its phrase.")
        if not _TYPE.match(self.type):
            raise ImpossibleSpan("The type of a mention must be uppercase letters, digits, and underscores.")

    @classmethod
    def bare(cls, type: str, words: str) -> Mention:
        """A mention without a hint."""
        return cls(type, words, 0, len(words))

    @property
    def words(self) -> str:
        """The identifier, as the model wrote it."""
        return self.phrase[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Known:
    """An identifier that is known in advance, from a roster, `known=`, or the record's own fields.

    Detection searches for it in all its spellings.
    """

    type: str
    value: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Replacement:
    """A replaced span, the operator that replaced it, and the new words at `out_start:out_end` in the new text.

    `reason` says why a span got its label although the policy asks for a surrogate: a code of `reasons.toml`, or "".
    """

    span: Span
    operator: str
    text: str = field(repr=False)
    out_start: int
    out_end: int
    identity: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PageBox:
    """A part of a page that was removed.

    Attributes:
        page: From 1.
        x0, y0, x1, y1: Its sides in pixels of the page, from the top left corner; x1 and y1 are exclusive.
        type: The entity type.
        score: Confidence, from 0 to 1.
        sources: What found it.
    """

    page: int
    x0: int
    y0: int
    x1: int
    y1: int
    type: str
    score: float = 1.0
    sources: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-able data."""
        return {name: getattr(self, name) for name in ("page", "x0", "y0", "x1", "y1", "type", "score")} | {
            "sources": list(self.sources)
        }


@dataclass(frozen=True, slots=True)
class MutedInterval:
    """A part of a recording that was muted, with its margins.

    Attributes:
        start, end: In seconds.
        type: The entity type.
        score: Confidence, from 0 to 1.
        sources: What found it.
    """

    start: float
    end: float
    type: str
    score: float = 1.0
    sources: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-able data."""
        return {"start": round(self.start, 3), "end": round(self.end, 3), "type": self.type,
                "score": round(self.score, 4), "sources": list(self.sources)}  # fmt: skip


Region = PageBox | MutedInterval
"""A part of a page or a recording without words."""


def subject_form(words: str) -> str:
    """The one form of a subject's name or id and of a name in the index, for every key, scope and comparison: NFKC,
    case folded, without invisible characters, one space between words. "" where nothing is left. Idempotent.

    It folds less than a reading does: keys that are on file must stay what they are.
    """
    plain = unicodedata.normalize("NFKC", visible(words)).casefold()
    return " ".join(unicodedata.normalize("NFKC", plain).split())


def patient_scope(patient: str) -> str:
    """The scope in which a patient's surrogates are kept, however the patient's name or id is written."""
    return f"patient:{subject_form(patient)}"


@dataclass(frozen=True, slots=True, order=True)
class Reason:
    """Why a verdict is not `release`: a stable code, the field path, and a detail without PHI."""

    code: str
    field: str = ""
    detail: str = ""

    def __str__(self) -> str:
        detail = self.detail.removeprefix(f"{self.field}: ") if self.field else self.detail  # errors can begin with it
        return self.code + (f" at {self.field}" if self.field else "") + (f": {detail}" if detail else "")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an output can be released: `release`, `review`, or `quarantine`, with reasons.

    `release` means that all checks of the policy passed. It does not prove that no identifier is left.
    """

    outcome: Outcome
    reasons: tuple[Reason, ...] = ()

    @property
    def released(self) -> bool:
        """Whether the outcome is `release`."""
        return self.outcome == "release"

    @classmethod
    def worst(cls, verdicts: Iterable[Verdict]) -> Verdict:
        """The strictest of several outcomes, with all reasons. `release` if there are none."""
        seen = list(verdicts)
        outcome = _SEVERITY[max((_SEVERITY.index(v.outcome) for v in seen), default=0)]
        return cls(outcome, tuple(sorted({r for v in seen for r in v.reasons})))


class Derivable(Protocol):
    """What is visible on the pages of an output, without its pixels, or what is heard in it, without its sound.

    Attributes:
        kinds: what can be derived.
    """

    @property
    def kinds(self) -> Collection[DerivedKind]: ...

    def derived(self, kind: DerivedKind, output: bytes) -> str | bytes:
        """Return the text, hOCR, or a searchable PDF of the pages, or the transcript of a recording.

        Args:
            output: the redacted document, which has the pixels.
        """
        ...


@dataclass(frozen=True, slots=True)
class Result:
    """The output for one text or record, with its verdict, replacements, and manifest.

    Read the output from `text` (the new text, or the raw JSON of a record), `record` (the parsed record), or `data`
    (bytes). They raise NotReleased unless the verdict is `release`. `output(even_if_unreleased=True)` overrides this.

    Attributes:
        id: Your ID for the record.
        verdict: Whether the output can be released.
        manifest: A description of how the output was produced, without PHI or record text.
        replacements: The replaced spans.
        kept: Spans that the policy kept.
        dropped: Findings of one embedded detector that were not replaced, because the language model read the text and
            named nothing there (`models.veto` in the policy).
        boxes: The parts of pages that were removed, if the input was an image, a scan, or a DICOM file.
        intervals: The parts that were muted, if the input was a recording.
        image: The identification number under which the index keeps what was removed from the pages, if the policy has
            a vault.
        is_record: Whether the input was a record.
        media_type: The media type of bytes, as you gave it.
    """

    id: str | None = field(repr=False)
    verdict: Verdict
    manifest: Mapping[str, Any] = field(repr=False)
    replacements: tuple[Replacement, ...] = field(default=(), repr=False)
    kept: tuple[Span, ...] = field(default=(), repr=False)
    is_record: bool = False
    _output: str | bytes | None = field(default=None, repr=False)
    media_type: str | None = None
    dropped: tuple[Span, ...] = field(default=(), repr=False)
    boxes: tuple[PageBox, ...] = field(default=(), repr=False)
    image: str | None = None
    _pages: Derivable | None = field(default=None, repr=False)
    intervals: tuple[MutedInterval, ...] = ()

    def output(self, *, even_if_unreleased: bool = False) -> str:
        """The new text, or the raw JSON of the new record.

        Args:
            even_if_unreleased: Return the output even if the verdict is not `release`.

        Raises:
            NotReleased: The verdict is not `release` and you did not override it, or there is no output.
            UsageError: The input was bytes.
        """
        output = self._produced(even_if_unreleased=even_if_unreleased)
        if isinstance(output, bytes):
            raise UsageError("the input was bytes, so the output is bytes: use .data")
        return output

    @property
    def text(self) -> str:
        """The new text, or the raw JSON of the new record.

        Raises:
            NotReleased: The verdict is not `release`.
            UsageError: The input was bytes.
        """
        return self.output()

    @property
    def data(self) -> bytes:
        """The new bytes. If the input was a str, the output in UTF-8.

        Raises:
            NotReleased: The verdict is not `release`.
        """
        output = self._produced()
        return output if isinstance(output, bytes) else output.encode()

    @property
    def content(self) -> str | bytes:
        """The output in the type of the input: str or bytes.

        Raises:
            NotReleased: The verdict is not `release`.
        """
        return self._produced()

    @property
    def derivable(self) -> bool:
        """Whether `derived` returns something: the input was an image, a scan, or a recording, and was released."""
        return self._pages is not None

    @property
    def kinds(self) -> Collection[DerivedKind]:
        """What `derived` returns; empty if nothing can be derived."""
        return self._pages.kinds if self._pages is not None else ()

    @overload
    def derived(self, kind: Literal["text", "hocr", "srt", "vtt", "json"]) -> str: ...
    @overload
    def derived(self, kind: Literal["pdf"]) -> bytes: ...
    @overload
    def derived(self, kind: DerivedKind) -> str | bytes: ...
    def derived(self, kind: DerivedKind) -> str | bytes:
        """The text, hOCR, or a searchable PDF of the redacted pages of an image or a scan, or a recording's transcript.

        None of them contains a word that is covered or muted.

        Args:
            kind: `text`, with a form feed between pages and a line for each utterance; `hocr`, for the place of each
                word; `pdf`, for the redacted pages with invisible text; or `srt`, `vtt`, or `json`, for the time of
                what was said.

        Raises:
            NotReleased: The verdict is not `release`.
            UsageError: The kind is another one, or the input was neither an image, a scan, nor a recording.
            MissingExtra: A library for PDF files is not installed.
        """
        if kind not in get_args(DerivedKind):
            raise UsageError(f"derived: the kind must be one of {', '.join(get_args(DerivedKind))}.")
        output = self.data
        if self._pages is None:
            raise UsageError("derived: the input was neither an image, a scan, nor a recording. Use .data.")
        if kind not in self._pages.kinds:
            raise UsageError(f"derived: of this input, the kind must be one of {', '.join(self._pages.kinds)}.")
        return self._pages.derived(kind, output)

    def _produced(self, *, even_if_unreleased: bool = False) -> str | bytes:
        if self._output is None or not (self.verdict.released or even_if_unreleased):
            reasons = "; ".join(str(r) for r in self.verdict.reasons[:5]) or "no reason recorded"
            raise NotReleased(f"verdict {self.verdict.outcome}: {reasons}")
        return self._output

    @property
    def record(self) -> Any:
        """The new record as Python values.

        Raises:
            NotReleased: The verdict is not `release`.
            UsageError: The input was a plain text, not a record.
        """
        if not self.is_record:
            raise UsageError("the input was a plain text, not a record: use .text")
        return json.loads(self._produced())

    @property
    def types(self) -> Counter[str]:
        """How many spans of each type were replaced."""
        return Counter(r.span.type for r in self.replacements)

    def __repr__(self) -> str:
        return f"<Result {self.verdict.outcome}: {_listed(self.verdict, self.types)}>"

    def _repr_html_(self) -> str:
        return self.show().html

    def show(self, *, original: bool = False) -> Shown:
        """Show this result in a notebook: the verdict in words, the new text with marked spans, and the types.

        A result that was not released shows its reasons and what to do about them, but no text.

        Args:
            original: show the original texts, too. They contain PHI, and a notebook saves what it displays. A Result
                contains only the texts in which a span was found.
        """
        from incognote.display import PHI_WARNING, Markup, Shown, heading, page, reasons_html

        types = Counter(self.types) + Counter(s.type for s in self.kept if original)
        markup, parts = Markup(types), [heading(self.verdict.outcome)]
        parts.append(reasons_html((r.code, " ".join(filter(None, (r.field, r.detail)))) for r in self.verdict.reasons))
        if original:
            parts.append(f"<div><b>{PHI_WARNING}</b></div>")
            spans = [r.span for r in self.replacements] + list(self.kept)
            for source in dict.fromkeys(span.source for span in spans):
                here = [(s.start, s.end, s.type, s.text) for s in spans if s.source == source]
                parts += [f"<div>Original {escape(source.field)}</div>", markup.text(source.content, here)]
            parts.append("<div>De-identified</div>" if self.verdict.released else "")
        if self.verdict.released and isinstance(self._output, str):
            new: dict[str, list[Mark]] = {}
            for r in self.replacements:
                new.setdefault(r.span.field, []).append((r.out_start, r.out_end, r.span.type, r.text))
            parts.append(
                markup.record(self.record, new) if self.is_record else markup.text(self.text, new.get("", ()))
            )
        elif self.verdict.released:
            parts.append(f"<div>{len(self.data):,} bytes. Read them from <code>.data</code>.</div>")
        parts.append("" if self.verdict.released or not types else "<div>Found before it was held:</div>")
        return Shown(page(*parts, markup.counts("No spans were replaced." if self.verdict.released else "")))

    def project(self, annotations: Iterable[tuple[Any, ...]], field: str = "") -> list[tuple[Any, ...]]:
        """Move annotations of the original text to the new text.

        Args:
            annotations: Tuples (start, end, ...) with offsets in the original text of `field`.
            field: The path of the field. "" for a plain note.

        Returns:
            The same tuples with offsets in the new text, in the same order. An annotation that begins or ends inside a
                replaced span is extended to the whole replacement.

        Raises:
            ImpossibleSpan: An annotation is empty, reversed, or begins before the text.
        """
        shift = shift_of(r for r in self.replacements if r.span.field == field)
        projected = []
        for start, end, *rest in annotations:
            if not 0 <= start < end:
                raise ImpossibleSpan("An annotation must be (start, end, ...) with 0 <= start < end.")
            projected.append((shift.forward(start), shift.forward(end, end=True), *rest))
        return projected


class ResultList(list[Result]):
    """The results of a batch, in order: `ResultList(deid.batch(notes))`. A notebook shows a summary without texts."""

    @property
    def released(self) -> list[Result]:
        """The results with the verdict `release`."""
        return [result for result in self if result.verdict.released]

    @property
    def held(self) -> list[Result]:
        """The results with the verdict `review` or `quarantine`."""
        return [result for result in self if not result.verdict.released]

    @property
    def outcomes(self) -> dict[Outcome, int]:
        """How many results have each verdict."""
        counts = Counter(result.verdict.outcome for result in self)
        return {outcome: counts[outcome] for outcome in _SEVERITY}

    def __repr__(self) -> str:
        outcomes = ", ".join(f"{n:,} {name}" for name, n in self.outcomes.items())
        return f"<ResultList of {len(self):,} records: {outcomes}>"

    def _repr_html_(self) -> str:
        from incognote.display import Markup, page, reasons_html

        types = Counter(r.span.type for result in self.released for r in result.replacements)
        counts = Counter(code for result in self for code in {reason.code for reason in result.verdict.reasons})
        words = ("released", "held for review", "quarantined")
        records = ", ".join(f"{n:,} {word}" for word, n in zip(words, self.outcomes.values(), strict=True))
        reasons = reasons_html((code, f"{n:,} of {len(self):,} records") for code, n in counts.most_common())
        return page(f"<div><b>{len(self):,} records:</b> {records}</div>", reasons, Markup(types).counts(""))


def _listed(verdict: Verdict, types: Mapping[str, int]) -> str:
    """The reasons' codes of a verdict; without any, the types that were replaced."""
    codes = dict.fromkeys(reason.code for reason in verdict.reasons)
    return ", ".join(codes or [f"{n} {name}" for name, n in sorted(types.items())]) or "nothing replaced"


def shift_of(replacements: Iterable[Replacement]) -> Shift:
    """How the replacements of one text move its offsets."""
    return Shift((r.span.start, r.span.end, r.out_start, r.out_end) for r in replacements)
