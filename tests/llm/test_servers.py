"""The answers of real servers, as recorded in tests/data/servers, are understood."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import ContextTooLong
from incognote.llm.base import LanguageModel, Message, Request, left_out_by
from incognote.llm.opening import ModelSpec, open_model
from incognote.testing.dialects import DIALECTS

if not find_spec("openai"):
    pytest.skip("the extra `llm` is not installed", allow_module_level=True)

ROOT = Path(__file__).parents[2]
RECORDED = {path.stem: json.loads(path.read_text("utf-8")) for path in (ROOT / "tests/data/servers").glob("*.json")}
SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
ASK = Request((Message("user", "Seen: Ms. Abara."),), SCHEMA, strict=True)


def opened(endpoint: Any, tmp_path: Path) -> LanguageModel:
    return open_model(ModelSpec("openai/tiny", home=tmp_path, api_base=endpoint.url, attempts=1))


def answers(raw: Any, server: str, *names: str) -> list[Any]:
    recorded = (RECORDED[server][name] for name in names)
    return [raw(each["status"], each["body"].encode(), {"Content-Type": each["type"]}) for each in recorded]


@pytest.mark.parametrize(("server", "whole"), [("llama-cpp-python", "json_object"), ("llama.cpp", "json_schema_long")])
async def test_a_reply_has_its_text_its_end_and_its_usage(
    server: str, whole: str, endpoint: Any, raw: Any, tmp_path: Path
) -> None:
    endpoint.answer(*answers(raw, server, "plain", whole))
    model = opened(endpoint, tmp_path)
    first = await model.complete(Request(ASK.messages))
    second = await model.complete(Request(ASK.messages))
    await model.aclose()
    assert (first.finish, second.finish) == ("length", "stop")
    assert isinstance(json.loads(second.text), dict)
    assert first.usage.input > 0
    assert 0 < first.usage.output <= 13


async def test_a_reply_that_llama_cpp_withholds_because_it_was_cut_counts_as_cut(
    endpoint: Any, raw: Any, tmp_path: Path
) -> None:
    assert RECORDED["llama.cpp"]["json_object"]["status"] == 500
    endpoint.answer(*answers(raw, "llama.cpp", "json_object"))
    model = opened(endpoint, tmp_path)
    reply = await model.complete(ASK)
    await model.aclose()
    assert (reply.text, reply.finish) == ("", "length")
    assert len(endpoint.bodies) == 1


@pytest.mark.parametrize("server", RECORDED)
async def test_a_long_prompt_is_too_long(server: str, endpoint: Any, raw: Any, tmp_path: Path) -> None:
    endpoint.answer(*answers(raw, server, "too_long"))
    model = opened(endpoint, tmp_path)
    with pytest.raises(ContextTooLong):
        await model.complete(ASK)
    await model.aclose()
    assert len(endpoint.bodies) == 1


async def test_llama_cpp_python_rejects_schemas_and_accepts_json_objects(
    endpoint: Any, raw: Any, tmp_path: Path
) -> None:
    rejected, accepted = answers(raw, "llama-cpp-python", "json_schema", "json_object")
    endpoint.answer(rejected, accepted, rejected, accepted, accepted)
    model = opened(endpoint, tmp_path)
    for _ in range(3):
        assert (await model.complete(ASK)).finish == "stop"
    await model.aclose()
    assert left_out_by(model) == {"json_schema"}
    assert [body["response_format"]["type"] for body in endpoint.bodies] == [
        "json_schema", "json_object", "json_schema", "json_object", "json_object",
    ]  # fmt: skip
    assert DIALECTS["llama-cpp-python"].format == (500, RECORDED["llama-cpp-python"]["json_schema"]["body"])


async def test_llama_cpp_accepts_schemas(endpoint: Any, raw: Any, tmp_path: Path) -> None:
    endpoint.answer(*answers(raw, "llama.cpp", "json_schema_long"))
    model = opened(endpoint, tmp_path)
    reply = await model.complete(ASK)
    await model.aclose()
    assert list(json.loads(reply.text)) == ["PERSON"]
    assert left_out_by(model) == frozenset()
    assert 0 < reply.usage.cached < reply.usage.input


@pytest.mark.parametrize("server", RECORDED)
def test_no_answer_names_a_folder_of_the_machine(server: str) -> None:
    assert not [body for each in RECORDED[server].values() if "/lib/python" in (body := each["body"])]


def test_the_page_lists_the_servers_as_they_were_checked() -> None:
    page = (ROOT / "docs" / "models.md").read_text("utf-8")
    rows = json.loads((ROOT / "docs" / "measured" / "servers.json").read_text("utf-8"))
    expected = [f"| {row['server']} | {row['chat']} | {row['batch']} | {row['seen']} |" for row in rows]
    section = page[page.index("## Servers") :].split("\n## ")[0]
    assert [line for line in section.splitlines() if line.startswith("| ")][1:] == expected
    assert {row["server"].split("`")[0].split()[0] for row in rows if row["chat"] == "run"} == set(RECORDED)
