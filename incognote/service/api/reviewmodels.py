"""The requests and responses of /v1/review."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from incognote.service.api.messages import StrictModel, Why

_PERSON = "^[A-Za-z0-9._-]*$"
ReviewState = Literal["waiting", "approved", "rejected"]


class SpanMark(StrictModel):
    """A span that is an identifier. Offsets are Unicode code points, and `end` is exclusive."""

    field: str = Field("", max_length=1000, description="the text's field path; empty for a plain note")
    start: int = Field(ge=0, le=2**31, description="offset of the first character")
    end: int = Field(ge=1, le=2**31, description="offset after the last character")
    type: str = Field(max_length=64, pattern="^[A-Z][A-Z0-9_]*$", description="entity type")


class BoxMark(StrictModel):
    """A part of a page without words that is removed, in pixels of the page's picture. `x1` and `y1` are exclusive."""

    page: int = Field(ge=1, le=2**31, description="number of the page, from 1")
    x0: int = Field(ge=0, le=2**31)
    y0: int = Field(ge=0, le=2**31)
    x1: int = Field(ge=1, le=2**31)
    y1: int = Field(ge=1, le=2**31)
    type: str = Field(max_length=64, pattern="^[A-Z][A-Z0-9_]*$", description="entity type of what has no words")


class IntervalMark(StrictModel):
    """A part of a recording that is muted exactly, in seconds."""

    start: float = Field(ge=0, le=1e6, allow_inf_nan=False)
    end: float = Field(gt=0, le=1e6, allow_inf_nan=False)
    type: str = Field(max_length=64, pattern="^[A-Z][A-Z0-9_]*$", description="entity type of what is said")


RegionMark = BoxMark | IntervalMark


class Marks(StrictModel):
    """All identifiers of a record's texts, pages, and sound."""

    spans: list[SpanMark] = Field(max_length=100_000)
    regions: list[RegionMark] | None = Field(
        None, max_length=1000, description="parts of pages or sound without words; if left out, the current ones"
    )


class QueueSearch(StrictModel):
    """A filter for the queue. It is sent in the body rather than the query so that proxies do not log it."""

    state: ReviewState = Field("waiting", description="state of the records")
    release: str | None = Field(
        None, max_length=255, pattern="^[A-Za-z0-9][A-Za-z0-9._/-]*$", description="name of a release"
    )
    reason: str | None = Field(None, max_length=64, pattern="^[A-Za-z-]+$", description="a reason code")
    find: str | None = Field(
        None, max_length=64, pattern="^[0-9A-Za-z._/-]+$", description="a number, or part of an id or key"
    )
    days: int = Field(0, ge=0, le=36500, description="in the queue for at least this many days")
    assignee: str | None = Field(
        None, max_length=64, pattern=_PERSON, description="the name of a person; empty for unassigned records"
    )
    after: int = Field(0, ge=0, le=2**53, description="only records with a higher number")
    before: int | None = Field(None, ge=0, le=2**53, description="only records with a lower number, the nearest first")
    limit: int = Field(50, ge=1, le=200, description="maximum number of records")


class Assignment(StrictModel):
    """The person who should review a record; null to remove the assignment."""

    assignee: str | None = Field(max_length=64, pattern=_PERSON)


class Comment(StrictModel):
    """A comment on a record. It may contain PHI."""

    text: str = Field(min_length=1, max_length=4000, pattern=r"\S")


class ToDecide(StrictModel):
    """A decision.

    If you do not give spans or regions, the current ones apply. These are the spans that were found or, with a
    revision, the proposed spans.
    """

    outcome: Literal["approve", "reject"] = Field(description="approve or reject the record")
    spans: list[SpanMark] | None = Field(None, max_length=100_000, description="all identifiers of the record")
    regions: list[RegionMark] | None = Field(
        None, max_length=1000, description="all parts of pages or sound without words"
    )
    revision: str | None = Field(None, pattern="^[0-9a-f]{16}$", description="of the spans that you reviewed")


class QueueLine(BaseModel):
    """An entry in the queue. It contains no PHI."""

    number: int
    id: str
    key: str
    release: str
    origin: str
    state: ReviewState
    reasons: list[dict[str, str]]
    policy: str
    data_type: str | None
    characters: int
    spans: int
    since: str
    decided: str | None
    by: str | None
    changes: dict[str, int] | None
    delivered: str | None
    assignee: str | None
    comments: int


class Queue(BaseModel):
    """A page of the queue. `total` records match the filter. Pass `next` as `after` to get the next page."""

    entries: list[QueueLine]
    counts: dict[str, int]
    total: int
    next: int | None = None


class SpanShown(BaseModel):
    """A span with its sources and its score."""

    field: str
    start: int
    end: int
    type: str
    score: float
    sources: list[str]


class TextShown(BaseModel):
    """One text. It contains PHI."""

    field: str
    content: str


class CommentShown(BaseModel):
    """A comment on a record. It may contain PHI."""

    by: str
    at: str
    text: str


class Record(BaseModel):
    """A record in review. It contains PHI."""

    entry: QueueLine = Field(description="its line of the queue")
    texts: list[TextShown] = Field(description="its texts")
    spans: list[SpanShown] = Field(description="the current identifiers")
    regions: list[RegionMark] = Field(
        description="the current parts of pages or sound without words that a person added"
    )
    sound: bool = Field(description="whether it is a recording")
    doubts: list[SpanShown] = Field(description="spans that a detector was not sure about")
    reasons: list[Why] = Field(description="why it is held")
    revision: str = Field(description="of the spans; it changes when someone corrects them")
    approvable: bool = Field(description="false if changing spans cannot fix the reason that the record is held")
    comments: list[CommentShown] = Field(description="comments of reviewers")


class PreviewMark(BaseModel):
    """A replacement in a new text. Offsets are Unicode code points, and `end` is exclusive."""

    start: int
    end: int
    type: str


class PreviewText(BaseModel):
    """A new text with its replacements."""

    field: str
    content: str
    marks: list[PreviewMark]


class Preview(BaseModel):
    """The result of an approval: the output as it would be written (empty if it is binary), and its texts."""

    output: str
    texts: list[PreviewText]


class PageShown(BaseModel):
    """A page of a record, and the part of a text that is on it. Offsets are as in a span."""

    within: str = Field(description="the inner document, such as an attachment; empty for the record itself")
    number: int = Field(description="its number in its document, from 1")
    field: str
    start: int
    end: int
    takes_regions: bool = Field(description="whether parts of it without words can be removed")


class PagePicture(BaseModel):
    """The picture of a page. It contains PHI."""

    png: str = Field(description="a PNG file in Base64")
    width: int = Field(description="in pixels")
    height: int = Field(description="in pixels")
    boxes: list[tuple[int, int, int, int] | None] = Field(
        description="for each code point of the page's text: left, top, right, bottom in pixels. Empty in a preview"
    )


class Me(BaseModel):
    """The name of a key, and its roles."""

    name: str
    roles: list[str]


class ReasonShown(BaseModel):
    """A reason code in plain words."""

    code: str
    means: str
    next: str
    review: str


class Reviewers(BaseModel):
    """The people who have a key that allows review."""

    names: list[str]


class EntityTypeShown(BaseModel):
    """An entity type."""

    name: str
    group: str
    parent: str | None
    about: str
    pixels: bool = Field(description="whether it is what a page shows without words, such as a signature")
