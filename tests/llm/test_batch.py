"""Batch mode: one batch a pass, nothing paid twice whatever is killed when, nothing left at the provider."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import (
    ContextTooLong,
    EgressRefused,
    ModelProblem,
    ModelRejected,
    ModelUnavailable,
    PolicyProblem,
    SettingError,
)
from incognote.keys import Keyring
from incognote.llm import batch, batchlines
from incognote.llm.base import Message, Reply, Request
from incognote.llm.batch import BatchModel
from incognote.llm.batchdesk import Desk
from incognote.llm.batchjobs import Ledger
from incognote.llm.batchlines import Unwanted, pieces, results
from incognote.llm.egress import Egress
from incognote.llm.prices import Price
from incognote.llm.recording import Recording, Replayed
from incognote.testing import BatchPlan, LocalServer, Trouble
from incognote.testing.http1 import parts

pytest.importorskip("openai")
KEYS = Keyring(bytes(range(32)))
NAME = "openai/gpt-4o-mini"
WORDS = ("zebulon", "quackenbosh", "77120943", "plumtree")


def note(n: int) -> Request:
    return Request((Message("system", "Find the PHI."), Message("user", f"Zebulon Quackenbosh 77120943 Plumtree #{n}")))


class Script:
    """Answers and counts: what a provider answered, it charges."""

    def __init__(self) -> None:
        self.paid: Counter[str] = Counter()
        self.troubles: dict[str, Trouble | Reply] = {}

    def __call__(self, request: Request) -> str | Reply | Trouble:
        asked = request.messages[-1].content
        self.paid[asked] += 1
        return self.troubles.get(asked[-2:], f"\u2028 reply to {asked}")


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def server(script: Script) -> Iterator[LocalServer]:
    with LocalServer(script) as server:
        yield server


@pytest.fixture
def recording(tmp_path: Path) -> Iterator[Recording]:
    recording = Recording(tmp_path / "r.db", KEYS)
    yield recording
    recording.close()


def made(server: LocalServer, recording: Recording, **more: Any) -> BatchModel:
    return BatchModel(
        NAME,
        **{
            "api_base": server.url,
            "api_key": server.api_key,
            "recording": recording,
            "egress": Egress([server.url]),
            "poll_seconds": 0.01,
            "settle_seconds": 0.05,
            "allow_provider_storage": True,
            **more,
        },
    )


@asynccontextmanager
async def opened(server: LocalServer, recording: Recording, **more: Any) -> AsyncIterator[BatchModel]:
    model = made(server, recording, **more)
    try:
        yield model
    finally:
        await model.aclose()


async def answers(model: BatchModel, *numbers: int) -> list[Reply | BaseException]:
    return await asyncio.gather(*(model.complete(note(n)) for n in numbers), return_exceptions=True)


def is_right(reply: Reply | BaseException, n: int) -> bool:
    return isinstance(reply, Reply) and reply.text == f"\u2028 reply to {note(n).messages[-1].content}"


def created(server: LocalServer) -> int:
    return sum((c.method, c.path, c.status) == ("POST", "/v1/batches", 200) for c in server.log)


def looked_at(server: LocalServer) -> int:
    return sum(c.path.startswith("/v1/batches/") and c.status == 200 for c in server.log)


async def until(seen: Callable[[], int]) -> None:
    async with asyncio.timeout(30):
        while not seen():  # noqa: ASYNC110 -- the server is in another thread and signals nothing
            await asyncio.sleep(0.005)


def at_rest(recording: Path) -> bytes:
    """All that lies in the recording's folder."""
    return b"".join(path.read_bytes() for path in recording.parent.iterdir())


@pytest.mark.parametrize("consent", [False, None, "yes", 1])
def test_without_the_policys_consent_it_is_not_built(server: LocalServer, recording: Recording, consent: Any) -> None:
    with pytest.raises(PolicyProblem, match="allow_provider_storage = true"):
        made(server, recording, allow_provider_storage=consent)


def test_it_needs_an_allowed_address_and_an_encrypted_recording(
    server: LocalServer, recording: Recording, tmp_path: Path
) -> None:
    with pytest.raises(EgressRefused):
        made(server, recording, api_base="https://elsewhere.example/v1")
    with pytest.raises(SettingError, match="encrypted"):
        made(server, Recording(tmp_path / "plain.jsonl", plain=True))


async def test_each_pass_is_one_batch_at_half_the_price(
    server: LocalServer, recording: Recording, script: Script
) -> None:
    async with opened(server, recording, price=Price(2.0, 8.0, 1.0)) as model:
        for numbers in (range(30), range(30, 60)):
            replies = await answers(model, *numbers)
            for n, reply in zip(numbers, replies, strict=True):
                assert isinstance(reply, Reply)
                assert is_right(reply, n)
                tokens = reply.usage
                assert (tokens.calls, reply.model, reply.finish) == (1, NAME, "stop")
                assert tokens.input > 0
                assert tokens.usd == pytest.approx((tokens.input * 2 + tokens.output * 8) / 2e6)
    assert (created(server), model.batches) == (2, 2)
    assert (len(script.paid), max(script.paid.values())) == (60, 1)
    assert server.files == {}
    assert recording.sealed.jobs() == {}


async def test_equal_requests_share_a_line_and_its_price(
    server: LocalServer, recording: Recording, script: Script
) -> None:
    async with opened(server, recording) as model:
        replies = await answers(model, 1, 1, 1)
    assert all(is_right(reply, 1) for reply in replies)
    assert sorted(r.usage.calls for r in replies if isinstance(r, Reply)) == [0, 0, 1]
    assert script.paid.total() == 1


async def test_what_is_recorded_is_not_sent(server: LocalServer, recording: Recording) -> None:
    async with opened(server, recording) as model:
        await answers(model, 1, 2)
    before = len(server.log)
    async with opened(server, recording) as again:
        assert all(is_right(r, n) for n, r in enumerate(await answers(again, 1, 2), 1))
        assert again.hits == 2
    assert len(server.log) == before
    assert is_right(await Replayed(NAME, recording).complete(note(1)), 1)


async def test_a_request_nobody_waits_for_any_more_is_not_sent(
    server: LocalServer, recording: Recording, script: Script
) -> None:
    async with opened(server, recording) as model:
        leaving = asyncio.create_task(model.complete(note(1)))
        staying = asyncio.create_task(model.complete(note(2)))
        await asyncio.sleep(0.01)
        leaving.cancel()
        assert is_right(await staying, 2)
    assert len(script.paid) == 1


async def test_a_closed_run_is_collected_by_the_next(server: LocalServer, recording: Recording, script: Script) -> None:
    server.batch_plan = BatchPlan(polls=5)
    first = made(server, recording, poll_seconds=60)
    waiting = asyncio.gather(*(first.complete(note(n)) for n in range(5)), return_exceptions=True)
    await until(lambda: created(server))
    await asyncio.sleep(0.05)
    await first.aclose()
    assert all(isinstance(reply, ModelUnavailable) for reply in await waiting)
    async with opened(server, recording) as second:
        replies = await answers(second, *range(7))
    assert all(is_right(reply, n) for n, reply in enumerate(replies))
    assert (created(server), second.batches) == (2, 1)  # the five were collected, two are new
    assert max(script.paid.values()) == 1
    assert server.files == {}


async def test_what_nobody_asks_for_again_is_collected_too(server: LocalServer, recording: Recording) -> None:
    server.batch_plan = BatchPlan(polls=2)
    first = made(server, recording, poll_seconds=60)
    waiting = asyncio.gather(first.complete(note(1)), return_exceptions=True)
    await until(lambda: looked_at(server))
    for task in first._tasks:
        task.cancel()  # as if killed: aclose would look once more
    await made(server, recording).aclose()
    assert (server.files, recording.sealed.jobs()) == ({}, {})
    assert is_right(await Replayed(NAME, recording).complete(note(1)), 1)
    await first.aclose()
    await waiting


KILLED = """
import asyncio, os, signal, sys
from incognote.keys import Keyring
from incognote.llm.base import Message, Request
from incognote.llm.batch import BatchModel
from incognote.llm.batchdesk import Desk
from incognote.llm.egress import Egress
from incognote.llm.recording import Recording

path, url, key, where = sys.argv[1:]
real = getattr(Desk, where)

async def then_die(self, *args):
    if where != "delete":
        await real(self, *args)
    os.kill(os.getpid(), signal.SIGKILL)

setattr(Desk, where, then_die)

def note(n):
    return Request((Message("system", "Find the PHI."), Message("user", f"Zebulon Quackenbosh 77120943 Plumtree #{n}")))

async def main():
    model = BatchModel(
        "openai/gpt-4o-mini", api_base=url, api_key=key, recording=Recording(path, Keyring(bytes(range(32)))),
        egress=Egress([url]), poll_seconds=0.01, settle_seconds=0.05, allow_provider_storage=True,
    )
    await asyncio.gather(*(model.complete(note(n)) for n in range(8)))

asyncio.run(main())
"""


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
@pytest.mark.parametrize("where", ["upload", "open", "state", "read", "delete"])
async def test_killed_anywhere_nothing_is_paid_twice_and_nothing_stays_behind(
    server: LocalServer, tmp_path: Path, script: Script, where: str
) -> None:
    path = tmp_path / "r.db"
    died = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", KILLED, path, server.url, server.api_key, where], check=False, timeout=60
    )
    assert died.returncode == -signal.SIGKILL
    assert server.files  # so there is something to find again
    assert not [word for word in WORDS if word.encode() in at_rest(path).lower()]
    recording = Recording(path, KEYS)
    async with opened(server, recording) as model:
        replies = await answers(model, *range(8))
    assert all(is_right(reply, n) for n, reply in enumerate(replies))
    assert (created(server), script.paid.total()) == (1, 8)
    assert (server.files, recording.sealed.jobs()) == ({}, {})
    recording.close()


async def test_two_runs_over_one_recording_pay_once(server: LocalServer, recording: Recording, script: Script) -> None:
    other = Recording(recording.sealed.path, KEYS)
    async with opened(server, recording) as one, opened(server, other) as two:
        first, second = await asyncio.gather(answers(one, *range(6)), answers(two, *range(6)))
    assert all(is_right(reply, n) for replies in (first, second) for n, reply in enumerate(replies))
    assert (created(server), script.paid.total()) == (1, 6)
    assert server.files == {}
    other.close()


async def test_a_failed_line_fails_its_request_only(server: LocalServer, recording: Recording, script: Script) -> None:
    script.troubles = {
        "#1": Trouble("status", 500),
        "#2": Trouble("status", 400, "invalid_value"),
        "#3": Trouble("status", 400, "context_length_exceeded"),
        "#4": Trouble("status", 400, "content_filter"),
        "#5": Reply("", "refusal"),
        "#6": Reply("cut", "length"),
    }
    async with opened(server, recording) as model:
        replies = await answers(model, *range(7))
    assert is_right(replies[0], 0)
    assert [type(reply) for reply in replies[1:4]] == [ModelUnavailable, ModelRejected, ContextTooLong]
    assert [r.finish for r in replies[4:] if isinstance(r, Reply)] == ["filter", "refusal", "length"]
    assert (created(server), server.files) == (1, {})
    with pytest.raises(ContextTooLong):
        await Replayed(NAME, recording).complete(note(3))
    script.troubles = {}
    async with opened(server, recording) as later:
        assert is_right((await answers(later, 1))[0], 1)


@pytest.mark.parametrize("outcome", ["partial", "missing"])
async def test_a_completed_batch_without_all_results_fails_the_rest(
    server: LocalServer, recording: Recording, outcome: Any
) -> None:
    server.batch_plan = BatchPlan(outcome=outcome, share=0.5)
    async with opened(server, recording) as model:
        replies = await answers(model, *range(4))
    assert [is_right(reply, n) for n, reply in enumerate(replies)] == [True, True, False, False]
    assert all(isinstance(reply, ModelUnavailable) for reply in replies[2:])
    assert (created(server), server.files) == (1, {})


@pytest.mark.parametrize("outcome", ["failed", "expired"])
async def test_a_batch_that_came_to_nothing_is_sent_once_more(
    server: LocalServer, recording: Recording, script: Script, outcome: Any
) -> None:
    server.batch_plan = BatchPlan(outcome=outcome, share=0.5)
    async with opened(server, recording, poll_seconds=0.2) as model:
        asking = asyncio.ensure_future(answers(model, *range(4)))
        await until(lambda: created(server))
        server.batch_plan = BatchPlan()
        assert all(is_right(reply, n) for n, reply in enumerate(await asking))
        server.batch_plan = BatchPlan(outcome="failed")
        assert all(isinstance(reply, ModelUnavailable) for reply in await answers(model, 7, 8))
    assert created(server) == 4  # and not a fifth
    assert max(script.paid.values()) == 1
    assert server.files == {}


async def test_a_cancelled_batch_is_sent_once_more(server: LocalServer, recording: Recording, script: Script) -> None:
    server.batch_plan = BatchPlan(polls=10**6, share=0.5)
    async with opened(server, recording) as model:
        asking = asyncio.ensure_future(answers(model, *range(4)))
        await until(lambda: created(server))
        server.batch_plan = BatchPlan()
        await until(lambda: looked_at(server))
        (job,) = Ledger(recording.sealed, NAME, server.url).jobs()
        assert job.batch is not None
        await model._desk._client.batches.cancel(job.batch)
        assert all(is_right(reply, n) for n, reply in enumerate(await asking))
    assert (created(server), max(script.paid.values()), server.files) == (2, 1, {})


async def test_a_parameter_the_model_does_not_take_is_left_out(server: LocalServer, recording: Recording) -> None:
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    asked = Request(note(1).messages, schema=schema, strict=True)
    server._endpoints._schemas = False
    async with opened(server, recording) as model:
        assert is_right(await model.complete(asked), 1)
        assert is_right(await model.complete(Request(note(2).messages, schema=schema, strict=True)), 2)
    assert (created(server), server.files) == (3, {})  # it learned that from the first


async def test_a_provider_that_is_away_for_a_while_ends_nothing(
    server: LocalServer, recording: Recording, script: Script
) -> None:
    server.batch_plan = BatchPlan(polls=6)
    async with opened(server, recording, poll_seconds=0.05) as model:
        asking = asyncio.ensure_future(answers(model, 1, 2))
        await until(lambda: looked_at(server))
        await asyncio.to_thread(server.stop)
        await asyncio.sleep(0.3)
        await asyncio.to_thread(server.start)
        assert all(is_right(reply, n) for n, reply in enumerate(await asking, 1))
    assert (script.paid.total(), server.files) == (2, {})


async def test_a_provider_that_stays_away_fails_the_requests_and_is_collected_later(
    server: LocalServer, recording: Recording, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "_PATIENCE", 3)
    server.batch_plan = BatchPlan(polls=2)
    async with opened(server, recording, poll_seconds=0.3) as model:
        asking = asyncio.ensure_future(answers(model, 1, 2))
        await until(lambda: looked_at(server))
        await asyncio.to_thread(server.stop)
        assert all(isinstance(reply, ModelUnavailable) for reply in await asking)
        await asyncio.to_thread(server.start)
        assert all(is_right(reply, n) for n, reply in enumerate(await answers(model, 1, 2), 1))
    assert (created(server), script.paid.total(), server.files) == (1, 2, {})


async def test_a_batch_whose_confirmation_was_lost_is_found(
    server: LocalServer, recording: Recording, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("open", "upload"):
        real, calls = getattr(Desk, name), []

        async def lost(self: Desk, *args: Any, real: Any = real, calls: list[int] = calls) -> Any:
            done = await real(self, *args)
            calls.append(1)
            if len(calls) == 1:
                raise ModelUnavailable("cut off", retry_after=0.01)
            return done

        monkeypatch.setattr(Desk, name, lost)
    async with opened(server, recording) as model:
        assert all(is_right(reply, n) for n, reply in enumerate(await answers(model, 1, 2), 1))
    assert (created(server), script.paid.total()) == (1, 2)
    assert (server.files, recording.sealed.jobs()) == ({}, {})


async def test_a_refused_batch_leaves_no_file(
    server: LocalServer, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(self: Desk, file: str, token: str) -> str:
        raise ModelRejected("403")

    monkeypatch.setattr(Desk, "open", refuse)
    model = made(server, recording)
    assert all(isinstance(reply, ModelRejected) for reply in await answers(model, 1, 2))
    assert (server.files, recording.sealed.jobs()) == ({}, {})
    assert any((c.method, c.path) == ("POST", "/v1/files") for c in server.log)
    await model.aclose()


async def test_a_wrong_key_fails_the_requests_and_leaves_nothing(server: LocalServer, recording: Recording) -> None:
    async with opened(server, recording, api_key="wrong") as model:
        replies = await answers(model, 1, 2)
    assert all(isinstance(reply, ModelRejected) for reply in replies)
    assert server.files == {}
    async with opened(server, recording) as model:
        assert is_right((await answers(model, 1))[0], 1)
    assert recording.sealed.jobs() == {}


async def test_a_file_that_cannot_be_deleted_is_counted_and_tried_again(
    server: LocalServer, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Desk.delete

    async def refuse(self: Desk, file: str) -> None:
        raise ModelUnavailable("503")

    monkeypatch.setattr(Desk, "delete", refuse)
    model = made(server, recording)
    assert is_right((await answers(model, 1))[0], 1)
    await asyncio.gather(*model._tasks)
    assert (model.failed_deletions, len(server.files)) == (2, 2)
    await model.aclose()
    assert (model.failed_deletions, len(server.files)) == (4, 2)
    monkeypatch.setattr(Desk, "delete", real)
    await made(server, recording).aclose()
    assert (server.files, recording.sealed.jobs()) == ({}, {})


async def test_names_metadata_logs_exceptions_and_files_hold_no_word_of_a_note(
    server: LocalServer, recording: Recording, script: Script, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    script.troubles = {"#1": Trouble("status", 500), "#2": Trouble("status", 400, "invalid_value")}
    server._endpoints._echo = True
    server.batch_plan = BatchPlan(polls=3)
    async with opened(server, recording) as model:
        asking = asyncio.ensure_future(answers(model, 1, 2, 3))
        await until(lambda: looked_at(server))
        lying = at_rest(recording.sealed.path)
        replies = await asking
        lying += at_rest(recording.sealed.path)
    assert [type(reply) for reply in replies] == [ModelUnavailable, ModelRejected, Reply]
    upload = next(c for c in server.log if (c.method, c.path) == ("POST", "/v1/files"))
    filename, content = parts(upload.body, upload.headers["content-type"])["file"]
    ids = [json.loads(line)["custom_id"] for line in content.splitlines()]
    assert sorted(ids) == sorted(note(n).address(NAME) for n in (1, 2, 3))
    others = b"".join(c.body + c.path.encode() for c in server.log if c.path != "/v1/files")
    told = " ".join([caplog.text, *map(str, replies[:2]), *map(repr, replies), repr(model)])
    for searched in (filename.encode(), others, lying, told.encode(), " ".join(ids).encode()):
        assert not [word for word in WORDS if word.encode() in searched.lower()]
    assert not [n for n in (1, 2, 3) if note(n).address(NAME).encode() in lying]


def test_a_batch_stays_within_the_providers_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [(str(n), b"x" * 10) for n in range(7)]
    monkeypatch.setattr(batchlines, "MOST_REQUESTS", 3)
    assert [addresses for addresses, _ in pieces(lines)] == [["0", "1", "2"], ["3", "4", "5"], ["6"]]
    monkeypatch.setattr(batchlines, "MOST_REQUESTS", 99)
    monkeypatch.setattr(batchlines, "MOST_BYTES", 20)
    made = list(pieces(lines))
    assert [addresses for addresses, _ in made] == [["0", "1"], ["2", "3"], ["4", "5"], ["6"]]
    assert max(len(content) for _, content in made) == 20
    assert list(pieces([])) == []


async def test_more_than_fits_goes_out_in_several_batches(
    server: LocalServer, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batchlines, "MOST_REQUESTS", 4)
    async with opened(server, recording) as model:
        assert all(is_right(reply, n) for n, reply in enumerate(await answers(model, *range(10))))
    assert (created(server), server.files) == (3, {})


def test_lines_that_are_not_whole_say_nothing() -> None:
    def row(**more: Any) -> bytes:
        return json.dumps({"id": "x", "custom_id": "a", "response": None, "error": None, **more}).encode()

    ok = {"status_code": 200, "body": {"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}}
    silent = [
        b"",
        b"\xff{",
        b"[]",
        b'"a"',
        row(custom_id=None),
        row(custom_id=["a"]),
        row(custom_id="b", response=ok),
        row(response={"status_code": 200, "body": {}}),
        row(response={"status_code": 200, "body": None}),
        row(response={"status_code": 200, "body": "Quackenbosh"}),
        row(response=ok)[:-9],
        row(error={"code": "batch_expired"}),
    ]
    assert [results(line, ["a"], NAME) for line in silent] == [{}] * len(silent)
    (reply,) = results(row(response=ok), ["a"], NAME).values()
    assert isinstance(reply, Reply)
    assert (reply.text, reply.finish) == ("yes", "stop")
    for error in (row(error={"code": "server_error", "message": "Quackenbosh"}), row(response={"status_code": 503})):
        (problem,) = results(error, ["a"], NAME).values()
        assert isinstance(problem, ModelUnavailable)
        assert "Quackenbosh" not in str(problem)
    body = {"error": {"message": "temperature is not supported", "param": "temperature"}}
    assert results(row(response={"status_code": 400, "body": body}), ["a"], NAME) == {"a": Unwanted("temperature")}
    assert all(not isinstance(o, ModelProblem) for o in results(b"\n".join(silent), ["a"], NAME).values())
