"""Presidio's endpoints: /analyze, /anonymize, /supportedentities, /recognizers, /anonymizers, /health.

Requests and answers are those that Presidio documents (API version 2.0). There are intended differences. `hash` is
keyed, so that a short number cannot be found by trying all values. `encrypt` is not supported. Errors are problem+json,
with Presidio's member `error`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Query
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, ConfigDict, Field

from incognote.errors import ModelProblem, UnsupportedFormat, UsageError
from incognote.nouns import Span
from incognote.schemas.catalogue import catalogue
from incognote.service.api.access import Context, Submitter
from incognote.service.api.adhoc import AdHoc, found_in
from incognote.service.api.anonymizing import NAMES, Anonymizer, EngineResult, Marked, anonymized
from incognote.service.api.problems import answers
from incognote.text.container import of_text

routes = APIRouter(tags=["Presidio"])
Language = Annotated[str, Query(max_length=8, description="en")]


class LenientModel(BaseModel):
    """A request body that, as in Presidio, may contain unknown members. They are ignored."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)


class ToAnalyze(LenientModel):
    """A text, or several."""

    text: str | list[str] = Field(description="one text, or a list")
    language: str = Field("en", max_length=8, description="language code; only en is accepted")
    entities: list[str] | None = Field(
        None, max_length=1000, description="only these types, by Presidio's names or ours"
    )
    score_threshold: float | None = Field(None, ge=0, le=1, description="lowest score to report")
    correlation_id: str | None = Field(None, description="accepted and ignored")
    return_decision_process: bool | None = Field(False, description="whether to explain each finding")
    ad_hoc_recognizers: list[AdHoc] = Field([], max_length=100, description="your own patterns and deny lists")
    context: list[str] | None = Field(None, description="accepted and ignored")
    allow_list: list[str] | None = Field(None, description="words that are not identifiers, exactly as they occur")
    allow_list_match: Literal["exact"] = Field("exact", description="how the allow list is compared")


class RecognizerResult(BaseModel):
    """One identifier. Offsets are Unicode code points."""

    entity_type: str
    start: int
    end: int
    score: float
    analysis_explanation: dict[str, Any] | None = None


class ToAnonymize(LenientModel):
    """A text, the identifiers in it, and what to do with each type."""

    text: str = Field(min_length=1)
    analyzer_results: list[Marked]
    anonymizers: dict[str, Anonymizer] | None = None


@routes.post("/analyze", responses=answers())
def analyze(
    asked: Annotated[ToAnalyze, Body()], context: Context, caller: Submitter
) -> list[RecognizerResult] | list[list[RecognizerResult]]:
    """Find identifiers in one text, or in each of several texts."""
    if asked.language != "en":
        raise UsageError("language: the detectors read only en")
    texts = [asked.text] if isinstance(asked.text, str) else asked.text
    _known(asked)
    allowed = frozenset(asked.allow_list or ())
    for text in texts:
        if (what := of_text(text)) is not None:
            raise UnsupportedFormat.of(what, "text")
    adhoc = found_in(texts, asked.ad_hoc_recognizers)
    each = []
    for text, spans, more in zip(texts, context.deid.detect_each(texts, types="all"), adhoc, strict=True):
        if isinstance(spans, ModelProblem):
            raise spans
        found = [one for span in spans if (one := _told(span, asked)) is not None]
        found += [RecognizerResult(**one) for one in more]
        each.append([one for one in found if _wanted(one, text, asked, allowed)])
    for found in each:
        found.sort(key=lambda one: (-one.score, one.start, one.end))
    return each[0] if isinstance(asked.text, str) else each


@routes.get("/supportedentities", responses=answers())
def supported_entities(caller: Submitter, language: Language = "en") -> list[str]:
    """List the entity types that /analyze returns."""
    return sorted(catalogue().presidio_names()) if language == "en" else []


@routes.get("/recognizers", responses=answers())
def recognizers(context: Context, caller: Submitter, language: Language = "en") -> list[str]:
    """List the active detectors."""
    return [detector.name for detector in context.deid.engine.detection.detectors] if language == "en" else []


@routes.post("/anonymize", responses=answers())
def anonymize(asked: Annotated[ToAnonymize, Body()], context: Context, caller: Submitter) -> EngineResult:
    """Replace, redact, mask, hash, or keep the given spans. It does not search for other identifiers."""
    return anonymized(asked.text, asked.analyzer_results, asked.anonymizers or {}, context.deid.engine.keyring)


@routes.get("/anonymizers", responses=answers())
def anonymizers(caller: Submitter) -> list[str]:
    """List the operators of /anonymize."""
    return list(NAMES)


@routes.get("/health", response_class=PlainTextResponse)
def health() -> str:
    """Check that the service is up."""
    return "Presidio Analyzer service is up"


def _known(asked: ToAnalyze) -> None:
    """Refuse a request if no detector finds any of its entities."""
    if asked.entities:
        own = {one.supported_entity for one in asked.ad_hoc_recognizers}
        there = {*catalogue().presidio_names(), *catalogue(), *own}
        if not there & set(asked.entities):
            raise UsageError("entities: none of them is supported (see /supportedentities)")


def _told(span: Span, asked: ToAnalyze) -> RecognizerResult | None:
    """Return a span under the name that was asked for: ours, if that was asked for, or else Presidio's."""
    name = catalogue().presidio_name(span.type, asked.entities or ())
    if name is None:
        return None
    explained = None
    if asked.return_decision_process:
        explained = {
            "recognizer": "+".join(span.sources), "pattern_name": None, "pattern": None, "original_score": span.score,
            "score": span.score, "textual_explanation": None, "score_context_improvement": 0,
            "supportive_context_word": "", "validation_result": None,
        }  # fmt: skip
    return RecognizerResult(
        entity_type=name, start=span.start, end=span.end, score=span.score, analysis_explanation=explained
    )


def _wanted(one: RecognizerResult, text: str, asked: ToAnalyze, allowed: frozenset[str]) -> bool:
    return (
        one.score >= (asked.score_threshold or 0)
        and (not asked.entities or one.entity_type in asked.entities)
        and text[one.start : one.end] not in allowed
    )
