"""/v1/schemas: record schemas that wait for approval, their fields, statistics of sample records, approval."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path
from pydantic import BaseModel, Field

from incognote.errors import BadSchema, UnapprovedSchema, UnknownName, UsageError
from incognote.schemas.draft import draft
from incognote.schemas.registry import Registry, SchemaRow, check, field_rows, load_schema
from incognote.schemas.registry import approve as approve_file
from incognote.service.api.access import Approver, Context, Reviewer
from incognote.service.api.context import ApiContext
from incognote.service.api.messages import StrictModel
from incognote.service.api.problems import Refused, answers

routes = APIRouter(prefix="/v1/schemas", tags=["schemas"])
DataType = Annotated[str, Path(max_length=64, pattern="^[A-Za-z][A-Za-z0-9_.-]*$")]


class SchemaTold(BaseModel):
    """One record schema and its approver."""

    data_type: str
    file: str
    shipped: bool
    version: str
    state: str
    by: str
    at: str
    problems: int


class FieldTold(BaseModel):
    """One field and what happens to it."""

    path: str
    types: str
    flag: str
    entity_type: str
    known_as: str
    about: str


class SchemaShown(BaseModel):
    """A schema, field by field, and the problems that prevent its approval."""

    schema_: SchemaTold = Field(alias="schema")
    fields: list[FieldTold]
    problems: list[str]


class Samples(StrictModel):
    """Sample records. They are analyzed but not stored."""

    records: list[dict[str, Any]] = Field(min_length=1, max_length=10_000)


class Statistic(BaseModel):
    """Counts of one field in the samples."""

    path: str
    filled: float
    distinct: int
    longest: int
    kind: str
    hits: dict[str, int]
    looked_at: int
    proposal: str
    why: str


class ToApprove(StrictModel):
    """The version that was read, as returned by /v1/schemas."""

    version: str = Field(pattern="^[0-9a-f]{8,64}$")


@routes.get("", responses=answers())
def schemas(context: Context, caller: Reviewer) -> list[SchemaTold]:
    """List all record schemas. Schemas that are waiting for approval come first."""
    rows = sorted(_registry(context).rows(), key=lambda row: (row.state == "approved", row.data_type))
    return [_told(row) for row in rows]


@routes.get("/{data_type}", responses=answers(404))
def schema(data_type: DataType, context: Context, caller: Reviewer) -> SchemaShown:
    """Get the fields of a schema and what happens to each."""
    row = _row(context, data_type)
    path = _file(context, row)
    fields = _registry(context).show(data_type) if path is None else field_rows(load_schema(path))
    problems = [] if path is None else [str(problem) for problem in check(path)]
    told = [FieldTold(**{n: getattr(f, n) for n in FieldTold.model_fields}) for f in fields]
    return SchemaShown(schema=_told(row), fields=told, problems=problems)


@routes.post("/{data_type}/statistics", responses=answers(404))
def statistics(
    data_type: DataType, asked: Annotated[Samples, Body()], context: Context, caller: Reviewer
) -> list[Statistic]:
    """Get statistics of each field from sample records. They are counts only, and the samples are not stored."""
    _row(context, data_type)
    found = draft(asked.records, context.deid.engine.detection.detect, data_type)
    return [
        Statistic(**{**{n: getattr(e, n) for n in Statistic.model_fields}, "hits": dict(e.hits)})
        for e in found.evidence
    ]


@routes.post("/{data_type}/approval", responses=answers(404, 409))
def approve(data_type: DataType, asked: Annotated[ToApprove, Body()], context: Context, caller: Approver) -> SchemaTold:
    """Approve the current version of a schema. Its records can then be processed."""
    row = _row(context, data_type)
    path = _file(context, row)
    if path is None or row.state == "approved":
        raise Refused(409, "this schema is approved")
    if row.version != asked.version:
        raise Refused(409, "this schema was changed after you loaded it; load it again")
    context.audit.append("schema.approved", data_type=data_type, version=row.version, by=caller.name)
    try:
        approve_file(path, caller.name, version=row.version)
    except (BadSchema, UnapprovedSchema, UsageError) as error:
        raise Refused(409, str(error)) from None
    context.relearn()
    return _told(_row(context, data_type))


def _registry(context: ApiContext) -> Registry:
    """Return the registry for the current files."""
    return Registry(context.settings.schemas)


def _row(context: ApiContext, data_type: str) -> SchemaRow:
    found = [row for row in _registry(context).rows() if row.data_type == data_type]
    if not found:
        raise UnknownName("schema", data_type)
    return found[0]


def _file(context: ApiContext, row: SchemaRow) -> FilePath | None:
    """Return the file of a site's own schema; None for a shipped one."""
    if row.shipped:
        return None
    places = [folder.expanduser() / row.file for folder in context.settings.schemas]
    return next(
        (p for p in places if p.is_file() and load_schema(p).data_type == row.data_type), None
    )


def _told(row: SchemaRow) -> SchemaTold:
    return SchemaTold(**{name: getattr(row, name) for name in SchemaTold.model_fields})
