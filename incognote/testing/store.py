"""Files and batches like OpenAI's endpoints, in memory, as far as a test needs them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from typing import Literal

from incognote.testing.wire import CHAT, ApiError, Json

Outcome = Literal["completed", "failed", "expired", "partial", "missing"]
_STAMPS = (
    "in_progress_at", "finalizing_at", "completed_at", "failed_at", "expired_at", "cancelling_at", "cancelled_at",
)  # fmt: skip
_OVER = ("completed", "failed", "expired", "cancelled")
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """What happens to the batches that are created from now on.

    Args:
        polls: how many times a batch must be checked before it ends. The checks before that return `in_progress`.
        seconds: the minimum time from its creation to its end.
        outcome: `completed` (every line answered), `failed` (none, as after validation), `expired` (a share answered,
            the rest in the error file), `partial` (the same, but the status is completed), `missing` (completed, and
            the unanswered lines are in neither file).
        share: the share of lines answered under `expired`, `partial` and `missing`. These are the first lines.
    """

    polls: int = 2
    seconds: float = 0.0
    outcome: Outcome = "completed"
    share: float = 0.5


@dataclass(slots=True)
class _Batch:
    shown: Json = field(repr=False)
    plan: BatchPlan
    born: float
    body_of: Callable[[Json], Json]
    looks: int = 0


class Store:
    """Files and batches of one server. They survive its restarts.

    Args:
        answer: returns status and body of the response to one line of a batch.
    """

    def __init__(self, answer: Callable[[Json], tuple[int, Json]]) -> None:
        self.plan = BatchPlan()
        self._answer = answer
        self._files: dict[str, tuple[Json, bytes]] = {}
        self._batches: dict[str, _Batch] = {}
        self._made = 0

    def _id(self, kind: str) -> str:
        self._made += 1
        return f"{kind}{self._made:024d}"

    @property
    def held(self) -> dict[str, bytes]:
        """The content of every file that was not deleted, by id."""
        return {shown["id"]: content for shown, content in self._files.values()}

    def upload(self, body: bytes, content_type: str) -> Json:
        """Store a file from a multipart form."""
        form = parts(body, content_type)
        if "file" not in form or "purpose" not in form:
            raise ApiError(400, "a form with file and purpose is required", param="file")
        name, content = form["file"]
        return self.keep(name, form["purpose"][1].decode("utf-8", "replace"), content)

    def keep(self, name: str, purpose: str, content: bytes) -> Json:
        """Store a file, and return its description."""
        shown: Json = {
            "id": self._id("file-"),
            "object": "file",
            "bytes": len(content),
            "created_at": int(time.time()),
            "expires_at": None,
            "filename": name,
            "purpose": purpose,
            "status": "processed",
            "status_details": None,
        }
        self._files[shown["id"]] = shown, content
        return shown

    def files(self, query: Mapping[str, str]) -> Json:
        shown = (shown for shown, _ in self._files.values())
        return _page([s for s in shown if query.get("purpose") in (None, s["purpose"])], query)

    def file(self, id: str) -> Json:
        return self._found(id)[0]

    def content(self, id: str) -> bytes:
        return self._found(id)[1]

    def delete(self, id: str) -> Json:
        self._found(id)
        del self._files[id]
        return {"id": id, "object": "file", "deleted": True}

    def _found(self, id: str) -> tuple[Json, bytes]:
        if id not in self._files:
            raise ApiError(404, "no such file", param="id")
        return self._files[id]

    def create(self, asked: Json, body_of: Callable[[Json], Json], total: int = 0) -> Json:
        """Create a batch over an uploaded file.

        Args:
            asked: the terms, as OpenAI names them.
            body_of: returns the chat completion's body from a line of the file.
            total: the number of requests, if the provider knows it at once.
        """
        if asked.get("completion_window") != "24h":
            raise ApiError(400, "completion_window: only 24h", param="completion_window")
        if asked.get("input_file_id") not in self._files:
            raise ApiError(400, "input_file_id: no such file", param="input_file_id")
        now = int(time.time())
        shown: Json = {
            "id": self._id("batch_"),
            "object": "batch",
            "endpoint": CHAT,
            "errors": None,
            "input_file_id": asked["input_file_id"],
            "completion_window": "24h",
            "status": "validating",
            "output_file_id": None,
            "error_file_id": None,
            "created_at": now,
            "expires_at": now + _DAY,
            **dict.fromkeys(_STAMPS),
            "request_counts": {"total": total, "completed": 0, "failed": 0},
            "metadata": asked.get("metadata"),
        }
        self._batches[shown["id"]] = _Batch(shown, self.plan, time.monotonic(), body_of)
        return dict(shown)

    def batches(self, query: Mapping[str, str]) -> Json:
        return _page([batch.shown for batch in reversed(self._batches.values())], query)

    def batch(self, id: str) -> Json:
        """Return a batch. Each call advances it."""
        batch = self._batch(id)
        batch.looks += 1
        status = batch.shown["status"]
        if status == "cancelling":
            self._finish(batch, "cancelled", batch.plan.share, told=False)
        elif status not in _OVER:
            late = time.monotonic() - batch.born >= batch.plan.seconds
            if batch.looks >= batch.plan.polls and late:
                self._end(batch)
            else:
                _enter(batch.shown, "in_progress")
        return dict(batch.shown)

    def results(self, id: str) -> list[bytes]:
        """Return the lines of a batch's output and error files."""
        shown = self._batch(id).shown
        files = [shown[key] for key in ("output_file_id", "error_file_id") if shown[key]]
        return [line for file in files for line in self.content(file).split(b"\n") if line]

    def forget(self, id: str) -> None:
        """Delete a batch with its files."""
        shown = self._batch(id).shown
        for key in ("input_file_id", "output_file_id", "error_file_id"):
            self._files.pop(shown[key], None)
        del self._batches[id]

    def cancel(self, id: str) -> Json:
        """Stop a batch: `cancelling` now, `cancelled` at the next check, with what was answered by then."""
        batch = self._batch(id)
        if batch.shown["status"] in _OVER:
            raise ApiError(409, "the batch is over", param="id")
        _enter(batch.shown, "cancelling")
        return dict(batch.shown)

    def _batch(self, id: str) -> _Batch:
        if id not in self._batches:
            raise ApiError(404, "no such batch", param="id")
        return self._batches[id]

    def _end(self, batch: _Batch) -> None:
        outcome = batch.plan.outcome
        if batch.shown["input_file_id"] not in self._files:
            _fail(batch.shown, "missing_file", "the input file is gone")
        elif outcome == "failed":
            _fail(batch.shown, "invalid_request", "the batch was set to fail")
        elif outcome in ("completed", "expired"):
            share = 1.0 if outcome == "completed" else batch.plan.share
            self._finish(batch, outcome, share, told=True)
        else:
            self._finish(batch, "completed", batch.plan.share, told=outcome == "partial")

    def _finish(self, batch: _Batch, status: str, share: float, *, told: bool) -> None:
        """Answer a share of the lines and end the batch. `told` says whether the others are in the error file."""
        shown = batch.shown
        try:
            lines = _lines(self.content(shown["input_file_id"]), batch.body_of)
        except ApiError as error:
            return _fail(shown, error.code or "invalid_request", error.message)
        answered = round(share * len(lines))
        good: list[Json] = []
        bad: list[Json] = []
        for line in lines[:answered]:
            code, body = self._answer(batch.body_of(line))
            made = self._line(line, {"status_code": code, "request_id": self._id("req_"), "body": body}, None)
            (good if code == 200 else bad).append(made)
        reason = {"code": "batch_expired", "message": "This request could not be executed in the completion window."}
        if told:
            bad += [self._line(line, None, reason) for line in lines[answered:]]
        shown["output_file_id"] = self._written("output", good)
        shown["error_file_id"] = self._written("error", bad)
        shown["request_counts"] = {"total": len(lines), "completed": len(good), "failed": len(lines) - len(good)}
        _enter(shown, status)
        return None

    def _line(self, line: Json, response: Json | None, error: Json | None) -> Json:
        return {"id": self._id("batch_req_"), "custom_id": line["custom_id"], "response": response, "error": error}

    def _written(self, kind: str, lines: Iterable[Json]) -> str | None:
        """Write a file of these lines, last first, since their order is not guaranteed.

        Return its id; None for no lines.
        """
        content = "".join(json.dumps(line) + "\n" for line in reversed(list(lines))).encode()
        return str(self.keep(f"batch_{kind}.jsonl", "batch_output", content)["id"]) if content else None


def parts(body: bytes, content_type: str) -> dict[str, tuple[str, bytes]]:
    """Parse a multipart form into its fields: file name ("" for none) and bytes of each.

    Starlette's own parser needs another package. The standard library's takes a line of the content for a boundary.

    Raises:
        ApiError: it is not a multipart form.
    """
    form = Message()
    form["content-type"] = content_type
    boundary = form.get_boundary()
    if form.get_content_type() != "multipart/form-data" or not boundary:
        raise ApiError(400, "a multipart form is required")
    fields: dict[str, tuple[str, bytes]] = {}
    for part in (b"\r\n" + body).split(b"\r\n--" + boundary.encode("latin-1"))[1:-1]:
        lines, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        head = message_from_bytes(lines)
        fields[str(head.get_param("name", header="content-disposition"))] = head.get_filename(""), content
    return fields


def _lines(content: bytes, body_of: Callable[[Json], Json]) -> list[Json]:
    """Return the requests of a batch's input file.

    Raises:
        ApiError: a line is not a request to the endpoint, or a custom_id occurs twice.
    """
    try:
        lines = [json.loads(line) for line in content.decode().split("\n") if line.strip()]
    except ValueError:
        raise ApiError(400, "a line is not JSON", "invalid_json_line") from None
    for line in lines:
        if not isinstance(line, dict) or not isinstance(line.get("custom_id"), str):
            raise ApiError(400, "a line lacks custom_id", "missing_required_parameter")
        body_of(line)
    if not lines:
        raise ApiError(400, "the file is empty", "empty_file")
    if len({line["custom_id"] for line in lines}) < len(lines):
        raise ApiError(400, "a custom_id occurs twice", "duplicate_custom_id")
    return lines


def _enter(shown: Json, status: str) -> None:
    shown["status"] = status
    shown[f"{status}_at"] = shown.get(f"{status}_at") or int(time.time())


def _fail(shown: Json, code: str, message: str) -> None:
    problem = {"code": code, "message": message, "param": None, "line": None}
    shown["errors"] = {"object": "list", "data": [problem]}
    _enter(shown, "failed")


def _page(items: list[Json], query: Mapping[str, str]) -> Json:
    """Return a page of a list, as the endpoints do: after the id `after`, at most `limit` items."""
    ids = [item["id"] for item in items]
    begin = ids.index(query["after"]) + 1 if query.get("after") in ids else 0
    end = begin + int(query.get("limit", "10000"))
    page = items[begin:end]
    first, last = (page[0]["id"], page[-1]["id"]) if page else (None, None)
    return {"object": "list", "data": page, "first_id": first, "last_id": last, "has_more": end < len(items)}
