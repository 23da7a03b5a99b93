"""Batches that fail, are killed, or get lost: nothing is paid for twice, and nothing is left at the provider."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import (
    ContextTooLong,
    ModelRejected,
    ModelUnavailable,
)
from incognote.llm import batch
from incognote.llm.base import Reply, left_out_by
from incognote.llm.batchjobs import BatchJobs
from incognote.llm.recording import Recording, Replayed
from incognote.llm.vendors.openai_batch import OpenAIBatch
from incognote.testing import BatchPlan, LocalServer, Trouble

from .conftest import (
    KEYS,
    NAME,
    WORDS,
    Script,
    answers,
    at_rest,
    created,
    is_right,
    looked_at,
    made,
    note,
    opened,
    until,
)

pytest.importorskip("openai")


KILLED = """
import asyncio, os, signal, sys
from incognote.keys import Keyring
from incognote.llm.base import Message, Request
from incognote.llm.batch import BatchModel
from incognote.llm.vendors.openai_batch import OpenAIBatch
from incognote.llm.egress import Egress
from incognote.llm.recording import Recording

path, url, key, where = sys.argv[1:]
real = getattr(OpenAIBatch, where)

async def then_die(self, *args):
    if where != "delete":
        await real(self, *args)
    os.kill(os.getpid(), signal.SIGKILL)

setattr(OpenAIBatch, where, then_die)

def note(n):
    return Request((Message("system", "Find the PHI."), Message("user", f"Zebulon Quackenbosh 77120943 Plumtree #{n}")))

async def main():
    model = BatchModel(
        OpenAIBatch("openai/gpt-4o-mini", api_base=url, api_key=key, egress=Egress([url])),
        Recording(path, Keyring(bytes(range(32)))), poll_seconds=0.01, settle_seconds=0.05, allow_provider_storage=True,
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
    assert server.files  # so there is something to recover
    assert not [word for word in WORDS if word.encode() in at_rest(path).lower()]
    recording = Recording(path, KEYS)
    async with opened(server, recording) as model:
        replies = await answers(model, *range(8))
    assert all(is_right(reply, n) for n, reply in enumerate(replies))
    assert (created(server), script.paid.total()) == (1, 8)
    assert (server.files, recording.sealed.jobs()) == ({}, {})
    recording.close()


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
    assert created(server) == 4  # no fifth batch
    assert max(script.paid.values()) == 1
    assert server.files == {}


async def test_a_cancelled_batch_is_sent_once_more(server: LocalServer, recording: Recording, script: Script) -> None:
    server.batch_plan = BatchPlan(polls=10**6, share=0.5)
    async with opened(server, recording) as model:
        asking = asyncio.ensure_future(answers(model, *range(4)))
        await until(lambda: created(server))
        server.batch_plan = BatchPlan()
        await until(lambda: looked_at(server))
        (job,) = BatchJobs(recording.sealed, NAME, server.url).jobs()
        assert job.batch is not None
        await model._api._call("POST", f"/batches/{job.batch}/cancel")
        assert all(is_right(reply, n) for n, reply in enumerate(await asking))
    assert (created(server), max(script.paid.values()), server.files) == (2, 1, {})


@pytest.mark.parametrize(("dialect", "batches"), [("groq", 3), ("vllm-0.4", 3), ("sglang", 4)])
async def test_a_rejected_schema_is_left_out_of_later_batches(
    script: Script, recording: Recording, dialect: str, batches: int
) -> None:
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    with LocalServer(script, dialect=dialect) as server:
        async with opened(server, recording) as model:
            for n in (1, 2):
                assert is_right(await model.complete(replace(note(n), schema=schema, strict=True)), n)
            assert "json_schema" in left_out_by(model)
        assert (created(server), server.files) == (batches, {})


async def test_a_rejected_line_is_not_blamed_on_the_schema_if_others_pass(
    server: LocalServer, recording: Recording, script: Script
) -> None:
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    script.troubles = {"#1": Trouble("status", 400, "invalid_value")}
    async with opened(server, recording) as model:
        asking = (model.complete(replace(note(n), schema=schema, strict=True)) for n in (1, 2))
        replies = await asyncio.gather(*asking, return_exceptions=True)
    assert isinstance(replies[0], ModelRejected)
    assert is_right(replies[1], 2)
    assert created(server) == 1


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
    monkeypatch.setattr(batch, "_MOST_SILENT", 3)
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
        real, calls = getattr(OpenAIBatch, name), []

        async def lost(self: OpenAIBatch, *args: Any, real: Any = real, calls: list[int] = calls) -> Any:
            done = await real(self, *args)
            calls.append(1)
            if len(calls) == 1:
                raise ModelUnavailable("cut off", retry_after=0.01)
            return done

        monkeypatch.setattr(OpenAIBatch, name, lost)
    async with opened(server, recording) as model:
        assert all(is_right(reply, n) for n, reply in enumerate(await answers(model, 1, 2), 1))
    assert (created(server), script.paid.total()) == (1, 2)
    assert (server.files, recording.sealed.jobs()) == ({}, {})


async def test_a_refused_batch_leaves_no_file(
    server: LocalServer, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(self: OpenAIBatch, file: str, token: str) -> str:
        raise ModelRejected("403")

    monkeypatch.setattr(OpenAIBatch, "open", refuse)
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
    real = OpenAIBatch.delete

    async def refuse(self: OpenAIBatch, file: str) -> None:
        raise ModelUnavailable("503")

    monkeypatch.setattr(OpenAIBatch, "delete", refuse)
    model = made(server, recording)
    assert is_right((await answers(model, 1))[0], 1)
    await asyncio.gather(*model._tasks)
    assert (model.failed_deletions, len(server.files)) == (2, 2)
    await model.aclose()
    assert (model.failed_deletions, len(server.files)) == (4, 2)
    monkeypatch.setattr(OpenAIBatch, "delete", real)
    await made(server, recording).aclose()
    assert (server.files, recording.sealed.jobs()) == ({}, {})
