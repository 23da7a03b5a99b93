"""Files and batches behave like OpenAI's: upload, poll until done, collect, delete."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from incognote.errors import ModelRejected
from incognote.llm.base import Request
from incognote.testing import BatchPlan, LocalServer, Misbehaviour, text_of

WINDOW = {"endpoint": "/v1/chat/completions", "completion_window": "24h"}


def answer(request: Request) -> str:
    if text_of(request) == "bad":
        raise ModelRejected("no")
    return f"said {text_of(request)}"


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with LocalServer(answer) as running:
        yield running


def line(id: str, text: str | None = None, **more: Any) -> dict[str, Any]:
    body = {"model": "m", "messages": [{"role": "user", "content": text or id}]}
    return {"custom_id": id, "method": "POST", "url": "/v1/chat/completions", "body": body, **more}


def created(client: Any, server: LocalServer, lines: list[dict[str, Any]]) -> dict[str, Any]:
    content = "\n".join(json.dumps(one) for one in lines).encode()
    file = client.upload(server, content).json
    got = client.post(server, "/batches", {"input_file_id": file["id"], **WINDOW, "metadata": {"run": "7"}})
    assert got.status == 200
    assert isinstance(got.json, dict)
    return got.json


def ended(client: Any, server: LocalServer, batch: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Return the batch's statuses and its final state."""
    statuses = [batch["status"]]
    while batch["status"] not in ("completed", "failed", "expired", "cancelled"):
        batch = client.send(server, "GET", f"/batches/{batch['id']}").json
        statuses.append(batch["status"])
    return statuses, batch


def lines_of(client: Any, server: LocalServer, file: str | None) -> dict[str, Any]:
    if file is None:
        return {}
    content = client.send(server, "GET", f"/files/{file}/content").content
    return {said["custom_id"]: said for said in map(json.loads, content.splitlines())}


def test_a_file_is_kept_word_for_word_until_it_is_deleted(client: Any, server: LocalServer) -> None:
    content = b'{"a": "\xc3\xa9"}\r\n\n--sep\n\x00\r\n'
    file = client.upload(server, content, name="notes.jsonl").json
    assert (file["object"], file["filename"], file["purpose"], file["bytes"]) == (
        "file", "notes.jsonl", "batch", len(content),
    )  # fmt: skip
    path = f"/files/{file['id']}"
    assert client.send(server, "GET", path).json == file
    assert client.send(server, "GET", "/files?purpose=batch").json["data"] == [file]
    assert client.send(server, "GET", "/files?purpose=other").json["data"] == []
    assert client.send(server, "GET", f"{path}/content").content == content
    assert server.files == {file["id"]: content}
    assert client.send(server, "DELETE", path).json == {"id": file["id"], "object": "file", "deleted": True}
    assert server.files == {}
    for method, gone in (("GET", path), ("GET", f"{path}/content"), ("DELETE", path)):
        assert client.send(server, method, gone).status == 404


def test_a_form_without_a_file_is_refused(client: Any, server: LocalServer) -> None:
    assert client.post(server, "/files", {}).status == 400
    form = b'--s\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--s--\r\n'
    assert client.send(server, "POST", "/files", form, content_type="multipart/form-data; boundary=s").status == 400


def test_a_batch_answers_each_line_once_in_no_promised_order(client: Any, server: LocalServer) -> None:
    server.batch_plan = BatchPlan(polls=3)
    statuses, batch = ended(client, server, created(client, server, [line("a"), line("b"), line("c", "bad")]))
    assert statuses == ["validating", "in_progress", "in_progress", "completed"]
    assert batch["request_counts"] == {"total": 3, "completed": 2, "failed": 1}
    assert batch["metadata"] == {"run": "7"}
    good, bad = (lines_of(client, server, batch[key]) for key in ("output_file_id", "error_file_id"))
    texts = {name: said["response"]["body"]["choices"][0]["message"]["content"] for name, said in good.items()}
    assert texts == {"a": "said a", "b": "said b"}
    assert list(good) == ["b", "a"]
    assert (bad["c"]["response"]["status_code"], bad["c"]["error"]) == (400, None)


def test_a_batch_takes_its_time(client: Any, server: LocalServer) -> None:
    server.batch_plan = BatchPlan(polls=1, seconds=3600)
    batch = created(client, server, [line("a")])
    for _ in range(5):
        assert client.send(server, "GET", f"/batches/{batch['id']}").json["status"] == "in_progress"


@pytest.mark.parametrize(
    ("outcome", "status", "answered", "told"),
    [
        ("failed", "failed", 0, 0),
        ("expired", "expired", 2, 2),
        ("partial", "completed", 2, 2),
        ("missing", "completed", 2, 0),
    ],
)
def test_a_batch_ends_as_it_was_told(
    client: Any, server: LocalServer, outcome: Any, status: str, answered: int, told: int
) -> None:
    server.batch_plan = BatchPlan(polls=1, outcome=outcome, share=0.5)
    _, batch = ended(client, server, created(client, server, [line(name) for name in "abcd"]))
    assert batch["status"] == status
    assert batch[f"{status}_at"]
    assert len(lines_of(client, server, batch["output_file_id"])) == answered
    errors = lines_of(client, server, batch["error_file_id"])
    assert len(errors) == told
    assert all(said["response"] is None and said["error"]["code"] == "batch_expired" for said in errors.values())
    assert (batch["errors"] is not None) == (status == "failed")


def test_a_cancelled_batch_keeps_what_was_answered(client: Any, server: LocalServer) -> None:
    batch = created(client, server, [line(name) for name in "abcd"])
    got = client.send(server, "POST", f"/batches/{batch['id']}/cancel").json
    assert got["status"] == "cancelling"
    statuses, batch = ended(client, server, got)
    assert statuses == ["cancelling", "cancelled"]
    assert len(lines_of(client, server, batch["output_file_id"])) == 2
    assert client.send(server, "POST", f"/batches/{batch['id']}/cancel").status == 409


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ([line("a"), line("a")], "duplicate_custom_id"),
        ([line("a", url="/v1/embeddings")], "invalid_url"),
        ([{"body": {}}], "missing_required_parameter"),
        ([], "empty_file"),
    ],
)
def test_a_bad_input_file_fails_the_batch(client: Any, server: LocalServer, lines: Any, code: str) -> None:
    _, batch = ended(client, server, created(client, server, lines))
    assert batch["status"] == "failed"
    assert batch["errors"]["data"][0]["code"] == code
    assert batch["output_file_id"] is None


def test_a_batch_whose_file_is_gone_fails(client: Any, server: LocalServer) -> None:
    batch = created(client, server, [line("a")])
    client.send(server, "DELETE", f"/files/{batch['input_file_id']}")
    assert ended(client, server, batch)[1]["status"] == "failed"


def test_a_batch_needs_a_file_an_endpoint_and_a_window(client: Any, server: LocalServer) -> None:
    file = client.upload(server, b"{}").json["id"]
    for wrong in ({"input_file_id": "file-none"}, {"endpoint": "/v1/embeddings"}, {"completion_window": "1h"}):
        assert client.post(server, "/batches", {"input_file_id": file, **WINDOW, **wrong}).status == 400
    assert client.send(server, "GET", "/batches/batch_none").status == 404


def test_batches_are_listed_the_newest_first_in_pages(client: Any, server: LocalServer) -> None:
    made = [created(client, server, [line("a")])["id"] for _ in range(3)][::-1]
    first = client.send(server, "GET", "/batches?limit=2").json
    assert [one["id"] for one in first["data"]] == made[:2]
    assert first["has_more"]
    rest = client.send(server, "GET", f"/batches?limit=2&after={first['last_id']}").json
    assert [one["id"] for one in rest["data"]] == made[2:]
    assert not rest["has_more"]


def test_batches_outlive_a_restart(client: Any, server: LocalServer) -> None:
    batch = created(client, server, [line("a")])
    server.stop()
    server.start()
    assert ended(client, server, batch)[1]["status"] == "completed"


def test_misbehaviour_reaches_the_lines_of_a_batch(client: Any) -> None:
    with LocalServer(
        answer, misbehaviour=Misbehaviour(["dropped_connection", "refusal", "slow_stream"], 1.0)
    ) as server:
        _, batch = ended(client, server, created(client, server, [line(str(n)) for n in range(30)]))
        good = lines_of(client, server, batch["output_file_id"])
        bad = lines_of(client, server, batch["error_file_id"])
    assert len(good) + len(bad) == 30
    assert {said["response"]["status_code"] for said in bad.values()} == {500}
    messages = [said["response"]["body"]["choices"][0]["message"] for said in good.values()]
    assert {bool(message["refusal"]) for message in messages} == {True, False}
