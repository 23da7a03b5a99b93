"""/v1/try, which serves the try page: one note or small file, its spans, its verdict. Nothing is stored."""

from __future__ import annotations

import base64
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Annotated, BinaryIO, Literal, cast

from fastapi import APIRouter, Body, Depends, Request
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from incognote.agents.item import item_of
from incognote.errors import RecordProblem, SchemaProblem, UsageError
from incognote.files.inputs import Input, read
from incognote.files.sources import Source
from incognote.formats.base import actions_of, texts_of
from incognote.formats.encoding import codec_of
from incognote.formats.records.csvtext import dictionaries
from incognote.formats.registry import name_of, of_content
from incognote.formats.tables import DELIMITERS, Columns, Layout
from incognote.nouns import Reason, Replacement, Span, Text
from incognote.reasons import reason_texts
from incognote.schemas.catalogue import catalogue
from incognote.schemas.policy import load_policy, shipped_policies
from incognote.service.api.access import Context, needs
from incognote.service.api.context import REFUSAL, ApiContext, opted_out
from incognote.service.api.keys import Caller
from incognote.service.api.messages import Outcome, StrictModel, Why, why
from incognote.service.api.problems import Refused
from incognote.service.api.trypages import (
    MOST_BYTES,
    MOST_PAGE_BYTES,
    MOST_PAGES,
    MOST_SECONDS,
    TriedSound,
    bytes_of,
    released_pages,
    released_sound,
    with_pages,
)
from incognote.service.review import case_of
from incognote.service.review.cases import DROPPED

if TYPE_CHECKING:
    from incognote.agents.engine import Engine
    from incognote.agents.item import Item
    from incognote.formats.base import FieldAction
    from incognote.nouns import Result
    from incognote.sdk import Deidentifier

MOST_RECORDS = 50
_PROSE = 6  # words of a table cell from which its column counts as free text
_FINDERS = {
    "rules": "Rules", "encoder": "Encoder", "llm": "Language model", "known": "Known identifier", "pack": "Site pack",
    "sweep": "Repeats another span", "reading": "Hidden or encoded text", "audit": "Final check",
    "widen": "Rest of a doubtful line",
}  # fmt: skip


State = Literal["replaced", "kept", "doubt", "dropped"]


class ToTry(StrictModel):
    """One note or file, and how to read it."""

    text: str | None = Field(None, description="a note, a JSON record, or lines of JSON")
    file: str | None = Field(None, description="the bytes of a file, in base64")
    suffix: str = Field("", max_length=16, pattern=r"^(\.[A-Za-z0-9]+)*$", description="of the file's name")
    policy: str | None = Field(None, max_length=100, description="one of those that GET /v1/try lists")
    detectors: str | None = Field(None, max_length=100, description="one of those that GET /v1/try lists")


class TryChoice(BaseModel):
    """A policy or a set of detectors that the page offers."""

    name: str
    about: str


class TryChoices(BaseModel):
    """The options that the page offers. The configured policy and detectors come first."""

    policies: list[TryChoice]
    detectors: list[TryChoice]
    most_bytes: int = MOST_BYTES
    most_page_bytes: int = MOST_PAGE_BYTES
    most_pages: int = MOST_PAGES
    most_seconds: int = MOST_SECONDS
    most_records: int = MOST_RECORDS


class TextPiece(BaseModel):
    """A piece of a text. `new` is its replacement; null if there is none, or if the record is not released."""

    text: str
    new: str | None = None
    state: State | None = None
    type: str = ""
    group: str = ""
    about: str = ""
    sources: list[str] = []
    score: float = 0.0
    operator: str = ""


class TriedText(BaseModel):
    """One text of a record, in pieces that together are the original."""

    field: str
    parts: list[TextPiece]


class TriedField(BaseModel):
    """A structured field and what its schema does with it."""

    field: str
    value: str
    action: str
    type: str


class TriedReason(Why):
    """A reason why a record is not released, in words."""

    means: str = ""
    next: str = ""


class TriedRecord(BaseModel):
    """One note or record. `pages` are pictures of what is released (PNG, base64), if it has pages."""

    verdict: Outcome
    reasons: list[TriedReason]
    texts: list[TriedText] = []
    fields: list[TriedField] = []
    pages: list[str] = []
    sound: TriedSound | None = None


class Tried(BaseModel):
    """The result. `output` or `file` (base64, for documents) has the released records only; null if there are none."""

    policy: str
    detectors: str
    records: list[TriedRecord]
    counts: dict[str, int]
    remark: str = ""
    output: str | None = None
    file: str | None = None


def same_site(request: Request) -> None:
    """Refuse a request from a page of another site, and a request that is not JSON.

    Raises:
        Refused: 403 or 415.
    """
    headers = request.headers
    foreign = headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
    origin = headers.get("origin")
    if foreign or (origin is not None and origin.partition("://")[2] != headers.get("host")):
        raise Refused(403, "a page of another site sent this request: open the try page of this server")
    if request.method == "POST" and headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Refused(415, "send the request as application/json")


routes = APIRouter(prefix="/v1/try", include_in_schema=False, dependencies=[Depends(same_site)])
Trier = Annotated[Caller, needs("try")]


@routes.get("")
def choices(context: Context, caller: Trier) -> TryChoices:
    """The policies and detectors that the page offers."""
    return TryChoices(
        policies=[TryChoice(name=name, about=_about_policy(named)) for name, named in _policies(context).items()],
        detectors=[TryChoice(name=", ".join(each), about=_about(context, each)) for each in _detectors(context)],
    )


@routes.post("", response_model_exclude_defaults=True)
async def try_one(asked: Annotated[ToTry, Body()], context: Context, caller: Trier) -> Tried:
    """De-identify one note or small file. It is not stored, not logged and not counted as a record."""
    data = bytes_of(asked.text, asked.file, asked.suffix)
    policies, sets = _policies(context), {", ".join(each): each for each in _detectors(context)}
    policy, detectors = asked.policy or next(iter(policies)), asked.detectors or next(iter(sets))
    if policy not in policies or detectors not in sets:
        raise UsageError("policy and detectors: choose from those that GET /v1/try lists")
    deid = await run_in_threadpool(_engine, context, policies[policy], sets[detectors])
    inputs, remark = await run_in_threadpool(_read, data, asked.suffix, deid)
    records, outputs = [], []
    for one in inputs:
        record, output = await _tried(context, deid, one)
        records.append(record)
        outputs.append(output)
    counts = Counter(p.type for r in records for t in r.texts for p in t.parts if p.state == "replaced")
    return Tried(
        policy=policy, detectors=detectors, remark=remark, records=records, counts=dict(sorted(counts.items())),
        output=_joined(inputs, outputs), file=_file(outputs),
    )  # fmt: skip


def _policies(context: ApiContext) -> dict[str, str]:
    """Return the policies by name, the configured one first.

    Those with surrogates are left out, since an index stores them.
    """
    found: dict[str, str] = {}
    for named in (context.settings.policy, *shipped_policies()):
        policy = load_policy(named)
        if not policy.surrogates:
            found.setdefault(policy.name, named)
    return found


def _detectors(context: ApiContext) -> list[tuple[str, ...]]:
    """Return the sets of detectors, the configured one first. A language model with recorded replies is left out."""
    engine = context.deid.engine
    own = tuple(name for name in engine.settings.detectors if name != "llm")
    if engine.reader is not None and engine.recording is None:
        own = (*own, "llm")
    return list(dict.fromkeys(each for each in (own, ("rules", "encoder"), ("rules",), ("encoder",)) if each))


def _about_policy(named: str) -> str:
    about = load_policy(named).about
    return f"{about[:1].upper()}{about[1:]}."


def _engine(context: ApiContext, policy: str, detectors: tuple[str, ...]) -> Deidentifier:
    configured = policy == context.settings.policy and detectors == _detectors(context)[0]
    if configured and context.deid.engine.recording is None:
        return context.deid
    return context.variant(policy, detectors)


def _about(context: ApiContext, detectors: Sequence[str]) -> str:
    model = context.settings.model or "a language model"
    return f"The text is sent to {model}." if "llm" in detectors else "The text stays on this server."


def _read(data: bytes, suffix: str, deid: Deidentifier) -> tuple[list[Input], str]:
    """Return the records, and a remark on how they were read.

    Raises:
        UsageError: there are too many records, none, or a table without a column of free text or names of columns.
        Refused: it is an archive (415).
    """
    if not data.strip():
        raise UsageError("there is nothing to read: paste a note, or choose a file that is not empty")
    kind = name_of(suffix.lower()) if suffix else of_content(data[:8192]).name
    layout, remark = _layout(data, kind, deid) if kind in DELIMITERS else (None, "")
    source = Source(None, f"file{suffix}", kind, opens=lambda: cast(BinaryIO, io.BufferedReader(io.BytesIO(data))))
    inputs = list(islice(read(source, layout), MOST_RECORDS + 1))
    if any(one.source.archive is not None for one in inputs):
        raise Refused(415, "the file is an archive: unpack it, or use `incognote deid FILE`")
    if len(inputs) > MOST_RECORDS:
        raise UsageError(f"this page reads up to {MOST_RECORDS} records: for more use `incognote deid FILE`")
    if not inputs:
        raise UsageError("the file holds no record: a table needs a row below its header")
    return inputs, remark


def _layout(data: bytes, kind: str, deid: Deidentifier) -> tuple[Layout | None, str]:
    """Return a layout with prose columns as free text and all others hashed. So no unchecked column is released.

    The first line is released as it is, so it must not be a row.
    """
    codec = codec_of(cast(BinaryIO, io.BufferedReader(io.BytesIO(data))))
    if codec is None:
        return None, ""
    try:
        text = data.removeprefix(codec.mark).decode(codec.encoding)
        rows = list(dictionaries(io.StringIO(text, newline=""), DELIMITERS[kind]))
    except (UnicodeDecodeError, RecordProblem):
        return None, ""
    prose = {name for row in rows for name, value in row.items() if len(value.split()) >= _PROSE}
    if not prose:
        raise UsageError("no column of the table holds free text: name the columns with `incognote deid FILE`")
    names = list(rows[0])
    values = any(len(name.split()) >= _PROSE or not any(map(str.isalpha, name)) for name in names)
    if values or any(deid.detect(names)):
        raise UsageError("the first line of the table may hold identifiers: add a line of column names above it")
    texts, others = ([name for name in names if (name in prose) is free] for free in (True, False))
    remark = f"Read as free text: {', '.join(texts)}. Hashed: {', '.join(others) or 'no column'}. "
    return Layout(Columns(texts, hashed=others)), remark + "`incognote deid` lets you choose for each column."


async def _tried(context: ApiContext, deid: Deidentifier, one: Input) -> tuple[TriedRecord, str | bytes | None]:
    """Return one record in the form of the page, and its new content if it is released."""
    engine = deid.engine
    if one.error is not None:
        return TriedRecord(verdict="quarantine", reasons=_explained([one.error])), None
    item = await run_in_threadpool(with_pages, item_of(one, engine), engine)
    if await run_in_threadpool(opted_out, context, deid, item):
        result = REFUSAL
    else:
        result = await deid.adeidentify(item)
    record = TriedRecord(verdict=result.verdict.outcome, reasons=_explained(result.verdict.reasons))
    try:
        _, document = item.open(lambda: engine.registry, engine.settings.data_type)
        texts = (Text(str(item.content)),) if document is None else texts_of(document)
        doubts = () if record.verdict == "release" else await run_in_threadpool(_doubts, item, result, engine)
    except (RecordProblem, SchemaProblem):  # the reasons explain it
        return record, None
    spans = {r.span: r for r in result.replacements} | dict.fromkeys((*result.kept, *doubts, *result.dropped))
    states: dict[Span, State] = {**dict.fromkeys(result.dropped, "dropped"), **dict.fromkeys(doubts, "doubt")}
    record.texts = [TriedText(field=text.field, parts=_parts(text, spans, states, result)) for text in texts]
    record.fields = [_field(action) for action in (actions_of(document) if document is not None else ())]
    output = result.content if result.verdict.released else None
    if output is not None:
        record.pages = await run_in_threadpool(released_pages, document, output)
        record.sound = await run_in_threadpool(released_sound, document, output, result)
    return record, output


def _explained(reasons: Iterable[Reason]) -> list[TriedReason]:
    texts = {reason: reason_texts().get(reason.code) for reason in reasons}
    words = {reason: {"means": text.means, "next": text.next} if text else {} for reason, text in texts.items()}
    return [TriedReason(**why(reason), **more) for reason, more in words.items()]


def _doubts(item: Item, result: Result, engine: Engine) -> tuple[Span, ...]:
    return tuple(span for span in case_of(item, result, engine).doubts if DROPPED not in span.sources)


def _parts(
    text: Text, spans: Mapping[Span, Replacement | None], states: Mapping[Span, State], result: Result
) -> list[TextPiece]:
    """Return a text in pieces, including the pieces between spans."""
    parts: list[TextPiece] = []
    at = 0
    for span in sorted((span for span in spans if span.field == text.field), key=lambda span: span.start):
        if span.start > at:
            parts.append(TextPiece(text=text.content[at : span.start]))
        replacement = spans[span]
        kind = catalogue().get(span.type)
        parts.append(
            TextPiece(
                text=span.text,
                new=replacement.text if replacement is not None and result.verdict.released else None,
                state="replaced" if replacement is not None else states.get(span, "kept"),
                type=span.type,
                group=kind.group if kind is not None else "OTHER",
                about=kind.about if kind is not None else "",
                sources=list(dict.fromkeys(map(_finder, span.sources))),
                score=span.score,
                operator=replacement.operator if replacement is not None else "",
            )
        )
        at = span.end
    return [*parts, TextPiece(text=text.content[at:])] if at < len(text) else parts


def _finder(source: str) -> str:
    """Return a source in words: `Rules (names.title)`.

    The rule of a pack is not shown, since its name may be a site's own.
    """
    name, _, detail = source.partition(":")
    word = _FINDERS.get(name, name)
    return f"{word} ({detail})" if detail and name == "rules" else word


def _field(action: FieldAction) -> TriedField:
    words = {"mask": "masked", "hash": "hashed", "integer": "hashed", "absent": "removed", "date": "date changed"}
    done = words[action.action]
    return TriedField(
        field=action.text.field, value=action.text.content, action=done, type=action.entity_type or ""
    )


def _file(outputs: Sequence[str | bytes | None]) -> str | None:
    """Return the released documents as the base64 of one file; None if there are none, or if they are text."""
    pieces = [output for output in outputs if isinstance(output, bytes)]
    return base64.b64encode(b"".join(pieces)).decode() if pieces else None


def _joined(inputs: Sequence[Input], outputs: Sequence[str | bytes | None]) -> str | None:
    """Return the released records as one file, in input order; None if there are none, or if one is not text."""
    pieces: list[str] = []
    for one, output in zip(inputs, outputs, strict=True):
        if isinstance(output, bytes):
            return None
        if output is None or one.document is None:
            continue
        if not pieces:
            pieces.append(one.codec.decode(one.document.head.removeprefix(one.codec.mark)))
        elif not pieces[-1].endswith("\n"):
            pieces.append(one.codec.decode(one.document.separator))
        pieces.append(output + one.ending)
    return "".join(pieces) if pieces else None
