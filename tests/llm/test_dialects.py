"""Servers reject a schema or a long prompt in their own words. Each of these rejections ends in an answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from incognote import Deidentifier
from incognote.errors import ContextTooLong, ModelRejected, ModelUnavailable
from incognote.llm.base import LanguageModel, Message, Reply, Request, left_out_by
from incognote.llm.opening import ModelSpec, open_model
from incognote.llm.vendors.faults import Exchange
from incognote.nouns import Result
from incognote.testing import LocalServer, Trouble
from incognote.testing.dialects import DIALECTS, Dialect

pytest.importorskip("openai")

SCHEMA = {
    "type": "object",
    "properties": {"PERSON": {"type": "array", "items": {"type": "string"}}},
    "required": ["PERSON"],
    "additionalProperties": False,
}
BAD = """{"error":{"message":"Bad request","type":"invalid_request_error"}}"""


def ask(n: int = 0) -> Request:
    return Request((Message("system", "Find names."), Message("user", f"Seen: Ms. Abara {n}.")), SCHEMA, strict=True)


@asynccontextmanager
async def opened(server: LocalServer, tmp_path: Path, **more: Any) -> AsyncIterator[LanguageModel]:
    spec = {"home": tmp_path, "api_base": server.url, "api_key": server.api_key, "timeout": 10, "attempts": 1, **more}
    model = open_model(ModelSpec("openai/m", **spec))
    try:
        yield model
    finally:
        await model.aclose()


@pytest.mark.parametrize("name", [n for n, d in DIALECTS.items() if "json_schema" not in d.accepts])
async def test_a_rejected_schema_ends_in_an_answer_and_is_not_sent_again(name: str, tmp_path: Path) -> None:
    with LocalServer(lambda _: "{}", dialect=name) as server:
        async with opened(server, tmp_path) as model:
            for n in range(4):
                assert (await model.complete(ask(n))).text == "{}"
            first, calls = left_out_by(model), server.calls
            await model.complete(ask(9))
            assert server.calls == calls + 1
    assert first == ({"json_schema"} if "json_object" in DIALECTS[name].accepts else {"json_schema", "response_format"})
    assert calls <= 8  # two more for one request, and as many to confirm a status 500


@pytest.mark.parametrize("name", [n for n, d in DIALECTS.items() if d.context is not None and "unknown" not in n])
def test_a_long_request_is_recognized_in_the_words_of_each_server(name: str) -> None:
    rejection = DIALECTS[name].context
    assert rejection is not None
    noted = Exchange()
    noted.note(rejection[0], {}, rejection[1].encode())
    assert isinstance(noted.problem("openai/m"), ContextTooLong)


async def test_a_long_request_costs_no_other_call(tmp_path: Path) -> None:
    with LocalServer(lambda _: "{}", dialect="llama-cpp-python", context=3) as server:
        async with opened(server, tmp_path) as model:
            with pytest.raises(ContextTooLong, match="chunk_words"):
                await model.complete(ask())
        assert server.calls == 2  # the schema was rejected first


@pytest.mark.parametrize("status", [400, 422, 500, 501])
async def test_an_error_that_no_format_avoids_costs_two_more_calls_per_model(status: int, tmp_path: Path) -> None:
    with LocalServer(lambda _: Trouble("status", status)) as server:
        async with opened(server, tmp_path) as model:
            for n in range(5):
                with pytest.raises(ModelUnavailable if status >= 500 else ModelRejected, match=str(status)):
                    await model.complete(ask(n))
            assert left_out_by(model) == frozenset()
        assert server.calls == 5 + 2


async def test_concurrent_requests_search_once(tmp_path: Path) -> None:
    dialect = Dialect((), (400, BAD), None)
    with LocalServer(lambda _: "{}", dialect=dialect, latency=0.01) as server:
        async with opened(server, tmp_path, slots=16) as model:
            replies = await asyncio.gather(*(model.complete(ask(n)) for n in range(16)))
        assert [r.text for r in replies] == ["{}"] * 16
        assert server.calls == 16 + 2 + 15  # each rejected, one search, and each of the others again


async def test_a_server_that_has_accepted_a_schema_is_not_suspected_after_a_500(tmp_path: Path) -> None:
    acts: list[Reply | Trouble] = [Reply("{}"), Trouble("status", 500), Reply("{}")]
    with LocalServer(lambda _: acts.pop(0)) as server:
        async with opened(server, tmp_path) as model:
            await model.complete(ask(0))
            with pytest.raises(ModelUnavailable, match="500"):
                await model.complete(ask(1))
            await model.complete(ask(2))
            assert left_out_by(model) == frozenset()
        assert server.calls == 3


async def test_neither_is_a_server_that_has_accepted_json_objects(tmp_path: Path) -> None:
    acts: list[Reply | Trouble] = [Reply("{}"), Trouble("status", 500), Trouble("status", 500), Reply("{}")]
    with LocalServer(lambda _: acts.pop(0), dialect="deepseek") as server:
        async with opened(server, tmp_path) as model:
            await model.complete(ask(0))
            for n in (1, 2):
                with pytest.raises(ModelUnavailable, match="500"):
                    await model.complete(ask(n))
            await model.complete(ask(3))
            assert left_out_by(model) == {"json_schema"}


async def test_one_500_proves_nothing_about_the_schema(tmp_path: Path) -> None:
    acts: list[Reply | Trouble] = [Trouble("status", 500), Reply("{}"), Reply("{}")]
    with LocalServer(lambda _: acts.pop(0)) as server:
        async with opened(server, tmp_path) as model:
            await model.complete(ask(0))
            await model.complete(ask(1))
            assert left_out_by(model) == frozenset()
        assert [bool(r.schema) for r in server.requests] == [True, False, True]


async def test_a_busy_server_ends_the_search_without_a_conclusion(tmp_path: Path) -> None:
    acts: list[Reply | Trouble] = [Trouble("status", 500), Trouble("status", 503), Trouble("status", 500), Reply("{}")]
    with LocalServer(lambda _: acts.pop(0)) as server:
        async with opened(server, tmp_path) as model:
            with pytest.raises(ModelUnavailable, match="503"):
                await model.complete(ask(0))
            assert (await model.complete(ask(1))).text == "{}"
        assert server.calls == 4


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (400, '{"error":{"message":"Your credit balance is too low to access the API."}}', "quota", "quota"),
        (400, '{"error":{"message":"API key not valid. Please pass a valid API key."}}', "key", "API key"),
        (400, '"Incorrect API key provided."', "key", "API key"),
        (400, "<html>Bad gateway: context length</html>", None, "model's name"),
    ],
)
def test_other_problems_are_not_taken_for_a_rejected_schema(
    status: int, body: str, kind: str | None, words: str
) -> None:
    noted = Exchange()
    noted.note(status, {}, body.encode())
    assert noted.kind == kind
    assert words in str(noted.problem("openai/m"))


NOTE = "Ruth Hale was seen on 03/14/2024. " + "The wound is clean and dry. No fever was seen today. " * 30


def opened_on(server: LocalServer) -> Deidentifier:
    return Deidentifier(
        model="openai/m", api_base=server.url, api_key=server.api_key, model_attempts=1, passes=1,
        detectors=("rules", "llm"),
    )  # fmt: skip


def codes(result: Result) -> list[str]:
    return [reason.code for reason in result.verdict.reasons]


@pytest.mark.parametrize("name", [n for n, d in DIALECTS.items() if "json_schema" not in d.accepts])
def test_a_note_is_released_whatever_a_server_says_about_schemas(name: str) -> None:
    with LocalServer(lambda _: '{"PERSON": ["<<Ruth Hale>>"]}', dialect=name) as server:
        with opened_on(server) as deid:
            result = deid.deidentify(NOTE)
        assert server.calls <= 3
    assert (result.verdict.outcome, "Hale" in result.text) == ("release", False)


@pytest.mark.parametrize("name", [n for n, d in DIALECTS.items() if d.context is not None])
def test_a_note_is_released_whatever_a_server_says_about_its_length(name: str) -> None:
    def answer(request: Request) -> str:
        return '{"PERSON": ["<<Ruth Hale>>"]}' if "Hale" in request.messages[1].content else "{}"

    with LocalServer(answer, dialect=name, context=1250) as server:
        with opened_on(server) as deid:
            result = deid.deidentify(NOTE)
        assert len(server.requests[0].messages[1].content) > len(NOTE)
    assert (result.verdict.outcome, "Hale" in result.text) == ("release", False)


REJECTED = {400: "model-rejected", 422: "model-rejected", 500: "model-unavailable"}


@pytest.mark.parametrize(("status", "code"), REJECTED.items())
def test_a_server_that_rejects_everything_is_asked_for_less_only_once(status: int, code: str) -> None:
    calls = []
    with LocalServer(lambda _: Trouble("status", status)) as server, opened_on(server) as deid:
        for _ in range(4):
            before = server.calls
            assert codes(deid.deidentify(NOTE)) == [code]
            calls.append(server.calls - before)
    assert calls[1:] == [1, 1, 1]
    assert calls[0] <= 7 + 6  # seven requests about ever smaller parts, and three searches for a format


@pytest.mark.parametrize(("status", "code"), [(401, "x"), (403, "x"), (404, "model_not_found")])
def test_a_wrong_key_or_model_is_no_matter_of_length(status: int, code: str) -> None:
    with LocalServer(lambda _: Trouble("status", status, code)) as server, opened_on(server) as deid:
        assert codes(deid.deidentify(NOTE)) == ["model-rejected"]
        assert server.calls == 1
