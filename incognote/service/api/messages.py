"""The requests and answers under /v1, and their conversion to Items and from Results."""

from __future__ import annotations

import base64
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
After = Annotated[int, Query(ge=0, le=2**53, description="Number of the last item that you have.")]
Limit = Annotated[int, Query(ge=1, le=200, description="Maximum number of items.")]


class StrictModel(BaseModel):
    """A request model. Unknown members are refused, so that a misspelled one is not ignored."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class DocumentModel(StrictModel):
    """One text, record, or file."""

    text: str | None = Field(None, description="A plain note.")
    record: dict[str, Any] | None = Field(None, description="A record. `dataType` or `resourceType` names its schema.")
    file: str | None = Field(None, description="The bytes of a document, in base64.")
    media_type: Annotated[str, Field(max_length=200)] | None = Field(
        None, description="The media type of `file`. Without it, the content decides."
    )
    id: Identifier | None = Field(None, description="Your id. The response has its keyed hash.")
    patient: Identifier | None = Field(None, description="The subject. Date shifts and surrogates depend on it.")
    domain: Annotated[str, Field(max_length=200)] | None = Field(None, description="Domain of hashes and surrogates.")
    data_type: Annotated[str, Field(max_length=200)] | None = Field(
        None, description="The schema of a record without `dataType`."
    )
    known: dict[str, str | list[str]] | None = Field(
        None,
        description="Identifiers that are known in advance. If one is left in the output, the verdict is `quarantine`.",
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> DocumentModel:
        if sum(given is not None for given in (self.text, self.record, self.file)) != 1:
            raise ValueError("text, record, or file")
        if self.media_type is not None and self.file is None:
            raise ValueError("media_type is only for file")
        self._bytes()
        return self

    def _bytes(self) -> bytes | None:
        try:
            return None if self.file is None else base64.b64decode(self.file, validate=True)
        except ValueError:
            raise ValueError("file must be base64") from None

    def item(self, raw: str | None = None) -> Item:
        """Return the Item for the machine.

        Args:
            raw: the record as it was written, so that what is not replaced keeps its bytes.
        """
        content = self.text if self.text is not None else raw if raw is not None else json.dumps(self.record)
        data = self._bytes()
        return Item(
            content if data is None else data,
            id=self.id,
            patient=self.patient,
            domain=self.domain,
            data_type=self.data_type,
            known=known_of(self.known),
            is_record=self.record is not None,
            media_type=self.media_type,
        )


class ToDeidentify(DocumentModel):
    """One text, record, or file, and the operation."""

    operation: Operation = Field(
        "redact", description="`tag` returns only spans, `redact` follows the policy, `surrogate` invents names."
    )


class ToSubmit(StrictModel):
    """The documents of a new job."""

    documents: list[DocumentModel] = Field(min_length=1)
    operation: Operation = "redact"


class Entity(BaseModel):
    """A span that is, or would be, replaced. Offsets count Unicode code points of the original. `end` is exclusive."""

    field: str = Field(description="Path of the field. Empty for a plain note.")
    start: int = Field(description="Offset of its first character.")
    end: int = Field(description="Offset after its last character.")
    type: str = Field(description="Entity type.")
    score: float = Field(description="Confidence, from 0 to 1.")
    sources: list[str] = Field(description="Detectors that found it.")
    operator: str = Field(description="Operator that replaced it.")
    out_start: int = Field(description="Offset in the new text of the field.")
    out_end: int = Field(description="Offset after its end in the new text.")


class Why(BaseModel):
    """A reason for a verdict that is not `release`."""

    code: str = Field(description="Reason code.")
    field: str = Field(description="Path of the field. Empty for the whole record.")
    detail: str = Field(description="Detail without PHI.")


class Answer(BaseModel):
    """The result of one document. `text`, `record`, and `file` are null unless the verdict is `release`."""

    id: str | None = Field(None, description="Keyed hash of your id.")
    operation: Operation = Field(description="The operation that ran.")
    verdict: Outcome = Field(description="Whether the result may be released.")
    reasons: list[Why] = Field([], description="Why the verdict is not `release`.")
    text: str | None = Field(None, description="The new text.")
    record: dict[str, Any] | list[Any] | None = Field(None, description="The new record.")
    file: str | None = Field(None, description="The bytes of the new document, in base64.")
    entities: list[Entity] = Field([], description="The replaced spans.")
    manifest: dict[str, Any] = Field({}, description="What decided the result, without PHI.")


class JobTold(BaseModel):
    """The state of a job."""

    id: str = Field(description="Id of the job.")
    number: int = Field(description="Number of the job, in the order of submission.")
    operation: Operation = Field(description="What the job does.")
    state: Literal["running", "done", "cancelled"] = Field(
        description="Whether the job is running, complete, or canceled."
    )
    submitted: str = Field(description="Time of submission.")
    documents: int = Field(description="Number of documents.")
    counts: dict[str, int] = Field(description="Number of documents in each state.")


class JobList(BaseModel):
    """A page of jobs. Pass `next` as `after` to get the next page."""

    jobs: list[JobTold]
    next: int | None = None


class DocumentTold(BaseModel):
    """One document of a job."""

    number: int = Field(description="Number of the document in the job.")
    state: Literal["waiting", "running", "released", "review", "quarantined", "cancelled"] = Field(
        description="The verdict, or how far the document is."
    )
    answer: Answer | None = Field(None, description="The result, when there is one.")


class DocumentList(BaseModel):
    """A page of documents. Pass `next` as `after` to get the next page."""

    documents: list[DocumentTold]
    next: int | None = None


async def raw_body(request: Request) -> tuple[str, Node]:
    """Return the body as it was written, with the positions of its values.

    Raises:
        UsageError: our parser rejects it, since parsers may disagree about such a body.
    """
    try:
        raw = (await request.body()).decode("utf-8", "surrogatepass")
        return raw, parse(raw)
    except (UnicodeDecodeError, MalformedRecord):
        raise UsageError("the body must be JSON in UTF-8 without duplicate members, NaN, or deep nesting") from None


def raw_member(body: tuple[str, Node], *path: str | int) -> str | None:
    """Return a member as it was written; None if it is absent."""
    raw, node = body
    for step in path:
        if isinstance(step, str) and step not in node.value:
            return None
        node = node.value[step]
    return None if node.kind == "null" else raw[node.start : node.end]


def known_of(given: Mapping[str, Any] | None) -> tuple[Known, ...]:
    """Return the known identifiers.

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
    """Return an answer without its record, and the raw record if it may be released.

    The id is replaced by its keyed hash, like names of files on the command line, since an id is often a record number.
    For `tag`, neither text nor record is returned, since the caller has them.
    """
    told: dict[str, Any] = {
        "id": None if result.id is None else keyring.name(result.id),
        "operation": operation,
        "verdict": result.verdict.outcome,
        "reasons": [why(reason) for reason in result.verdict.reasons],
        "text": None,
        "record": None,
        "file": None,
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
    if isinstance(result.content, bytes):
        told["file"] = base64.b64encode(result.content).decode("ascii")
        return told, None
    if result.is_record:
        return told, result.output()
    told["text"] = result.text
    return told, None


def why(reason: Reason) -> dict[str, str]:
    """Return a reason, ready for JSON."""
    return {"code": reason.code, "field": reason.field, "detail": reason.detail}


def written(told: Mapping[str, Any], record: str | None) -> str:
    """Return an answer as JSON. It contains the record as it was written."""
    if record is None:
        return json.dumps(told)
    head = json.dumps({name: value for name, value in told.items() if name != "record"})
    return f'{head[:-1]}, "record": {record.lstrip(chr(0xFEFF))}}}'
