"""The words of requests and answers under /v1, and how they become Items and come from Results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import Query, Request
from pydantic import BaseModel, ConfigDict, Field, model_validator

from incognote.agents.item import Item
from incognote.errors import MalformedRecord, UsageError
from incognote.formats.records.rawjson import Node, parse
from incognote.keys import Keyring
from incognote.nouns import Known, Reason, Result

Operation = Literal["tag", "redact", "surrogate"]
Outcome = Literal["release", "review", "quarantine"]
Identifier = Annotated[str, Field(max_length=1000)]
After = Annotated[int, Query(ge=0, le=2**53, description="the number of the last one that was seen")]
Limit = Annotated[int, Query(ge=1, le=200, description="the most of them")]


class StrictModel(BaseModel):
    """What is sent: a member that we do not know is refused, lest a misspelt one be passed over."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class DocumentModel(StrictModel):
    """One text or record."""

    text: str | None = Field(None, description="a plain note")
    record: dict[str, Any] | None = Field(None, description="a record: its schema is found by dataType, or FHIR")
    id: Identifier | None = Field(None, description="your name for it; its keyed hash is handed back")
    patient: Identifier | None = Field(None, description="the subject; date shifts and surrogates are keyed by it")
    domain: Annotated[str, Field(max_length=200)] | None = Field(None, description="who shares hashes and surrogates")
    data_type: Annotated[str, Field(max_length=200)] | None = Field(
        None, description="the schema of a record that carries no dataType"
    )
    known: dict[str, str | list[str]] | None = Field(
        None, description="identifiers known beforehand; one left in the output means quarantine"
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> DocumentModel:
        if (self.text is None) == (self.record is None):
            raise ValueError("text or record")
        return self

    def item(self, raw: str | None = None) -> Item:
        """As the machine takes it.

        Args:
            raw: the record as it was written, so that what is not replaced keeps its bytes.
        """
        content = self.text if self.text is not None else raw if raw is not None else json.dumps(self.record)
        return Item(
            content,
            id=self.id,
            patient=self.patient,
            domain=self.domain,
            data_type=self.data_type,
            known=known_of(self.known),
            is_record=self.record is not None,
        )


class ToDeidentify(DocumentModel):
    """One text or record, and what shall become of it."""

    operation: Operation = Field("redact", description="tag: say where; redact: as the policy says; surrogate")


class ToSubmit(StrictModel):
    """Documents of one job."""

    documents: list[DocumentModel] = Field(min_length=1)
    operation: Operation = "redact"


class Entity(BaseModel):
    """A stretch that is, or would be, replaced. Offsets are Unicode code points, `end` exclusive, into the original."""

    field: str
    start: int
    end: int
    type: str
    score: float
    sources: list[str]
    operator: str
    out_start: int = Field(description="where it stands in the new text of the field")
    out_end: int


class Why(BaseModel):
    """A reason for a verdict that is not `release`."""

    code: str
    field: str
    detail: str


class Answer(BaseModel):
    """What came of one text or record. `text` and `record` are null unless the verdict is `release`."""

    id: str | None = None
    operation: Operation
    verdict: Outcome
    reasons: list[Why] = []
    text: str | None = None
    record: dict[str, Any] | list[Any] | None = None
    entities: list[Entity] = []
    manifest: dict[str, Any] = {}


class JobTold(BaseModel):
    """One job, in counts."""

    id: str
    number: int
    operation: Operation
    state: Literal["running", "done", "cancelled"]
    submitted: str
    documents: int
    counts: dict[str, int]


class JobList(BaseModel):
    """A page of jobs; `next` is `after` of the page behind it."""

    jobs: list[JobTold]
    next: int | None = None


class DocumentTold(BaseModel):
    """One document of a job."""

    number: int
    state: Literal["waiting", "running", "released", "review", "quarantined", "cancelled"]
    answer: Answer | None = None


class DocumentList(BaseModel):
    """A page of documents; `next` is `after` of the page behind it."""

    documents: list[DocumentTold]
    next: int | None = None


async def raw_body(request: Request) -> tuple[str, Node]:
    """The body as it was written, with the places of its values.

    Raises:
        UsageError: our reader does not take it: what another reads there may not be what its sender wrote.
    """
    try:
        raw = (await request.body()).decode("utf-8", "surrogatepass")
        return raw, parse(raw)
    except (UnicodeDecodeError, MalformedRecord):
        raise UsageError("the body is not plain JSON: UTF-8, no member twice, no NaN, not nested too deep") from None


def raw_member(body: tuple[str, Node], *path: str | int) -> str | None:
    """A member as it was written; None where there is none."""
    raw, node = body
    for step in path:
        if isinstance(step, str) and step not in node.value:
            return None
        node = node.value[step]
    return None if node.kind == "null" else raw[node.start : node.end]


def known_of(given: Mapping[str, Any] | None) -> tuple[Known, ...]:
    """Identifiers known beforehand.

    Raises:
        UsageError: they cannot be read.
    """
    if not given:
        return ()
    from incognote.detectors.known import known_from

    try:
        return tuple(known_from(given))
    except (TypeError, ValueError):
        raise UsageError("known: kinds with their values, such as name, mrn, phone") from None


def answer_of(result: Result, operation: Operation, keyring: Keyring) -> tuple[dict[str, Any], str | None]:
    """An answer without its record -> and the raw record, where there is one that may leave.

    The id is told as its keyed hash, as names of files are on the command line: an id is often a record number. Of
    `tag` neither text nor record is told: who asks has them.
    """
    told: dict[str, Any] = {
        "id": None if result.id is None else keyring.name(result.id),
        "operation": operation,
        "verdict": result.verdict.outcome,
        "reasons": [why(reason) for reason in result.verdict.reasons],
        "text": None,
        "record": None,
        "entities": [],
        "manifest": dict(result.manifest),
    }
    leaves = result.verdict.released or operation == "tag"
    if leaves:
        told["entities"] = [
            {
                "field": r.span.field,
                "start": r.span.start,
                "end": r.span.end,
                "type": r.span.type,
                "score": r.span.score,
                "sources": list(r.span.sources),
                "operator": r.operator,
                "out_start": r.out_start,
                "out_end": r.out_end,
            }
            for r in result.replacements
        ]
    if operation == "tag" or not result.verdict.released:
        return told, None
    if result.is_record:
        return told, result.output()
    told["text"] = result.text
    return told, None


def why(reason: Reason) -> dict[str, str]:
    """A reason, JSON-able."""
    return {"code": reason.code, "field": reason.field, "detail": reason.detail}


def written(told: Mapping[str, Any], record: str | None) -> str:
    """An answer as JSON; a record stands in it as it was written."""
    if record is None:
        return json.dumps(told)
    head = json.dumps({name: value for name, value in told.items() if name != "record"})
    return f'{head[:-1]}, "record": {record.lstrip(chr(0xFEFF))}}}'
