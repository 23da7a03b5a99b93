"""`incognote mcp` used by the real client over standard input and output."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from incognote import Deidentifier
from incognote.errors import UsageError
from incognote.integrations.mcp import MOST, McpTools

NOTE = "Seen by Dr. Abara on 03/09/2025."
RTF = r"{\rtf1\ansi Seen by Dr. Ab\'61ra}"
WORDS = ("Abara", "03/09/2025", "61ra", "4471902")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    root.mkdir()
    (root / "a.txt").write_text(NOTE, encoding="utf-8")
    (root / "held.txt").write_text("%!PS-Adobe-3.0\nSeen by Dr. Abara", encoding="utf-8")
    lines = [{"id": "4471902", "text": NOTE}, {"id": "4471902", "text": RTF}]
    (root / "b.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + "{broken 4471902\n")
    (tmp_path / "secret.txt").write_text(NOTE, encoding="utf-8")
    (root / "way-out.txt").symlink_to(tmp_path / "secret.txt")
    return root


async def test_a_real_client_gets_released_text_offsets_and_reasons_and_no_word_of_an_original(
    folder: Path, tmp_path: Path
) -> None:
    log = tmp_path / "stderr"
    command = ["-m", "incognote", "mcp", "--root", str(folder), "--detectors", "rules"]
    with log.open("w") as said:
        server = stdio_client(StdioServerParameters(command=sys.executable, args=command), errlog=said)
        async with Client(server) as client:
            answers: dict[str, Any] = {}

            async def ask(tool: str, arguments: Mapping[str, Any]) -> Any:
                answer = await client.call_tool(tool, dict(arguments))
                answers[f"{tool} {len(answers)}"] = answer.model_dump()
                return answer

            assert [tool.name for tool in (await client.list_tools()).tools] == ["deidentify", "detect", "explain"]
            answer = await ask("deidentify", {"text": NOTE})
            assert answer.structured_content == {"verdict": "release", "text": "Seen by Dr. [PERSON] on [DATE]."}
            assert json.loads(answer.content[0].text) == answer.structured_content
            found = (await ask("detect", {"text": NOTE})).structured_content["spans"]
            assert [(each["start"], each["end"], each["type"]) for each in found] == [
                (12, 17, "CLINICIAN"), (21, 31, "DATE"),
            ]  # fmt: skip
            why = (await ask("explain", {"text": NOTE})).structured_content["spans"][1]
            assert (why["hipaa"], why["operator"], why["found_by"]) == ("C", "label", ["rules:dates.whole"])
            held = (await ask("explain", {"path": "held.txt"})).structured_content["records"][0]
            assert held["verdict"] == "quarantine"
            assert held["reasons"][0]["what_to_do"]
            for arguments in ({"text": 4471902}, {"path": "../secret.txt"}, {}, {"text": NOTE, "more": NOTE}):
                assert (await ask("deidentify", arguments)).is_error
            assert (await ask("deidentify", {"path": "way-out.txt"})).is_error
            assert (await ask("remember", {"text": NOTE})).is_error
            records = (await ask("deidentify", {"path": "b.jsonl"})).structured_content["records"]
            assert [each["verdict"] for each in records] == ["release", "quarantine", "quarantine"]
            assert ["text" in each for each in records] == [True, False, False]
    assert len(answers) == 11
    assert not any(word in str(answers) for word in WORDS)
    assert not any(word in log.read_text() for word in WORDS)


@pytest.fixture(scope="module")
def rules() -> Deidentifier:
    return Deidentifier(detectors=["rules"])


def test_without_a_root_no_file_may_be_named(folder: Path, rules: Deidentifier) -> None:
    with pytest.raises(UsageError):
        McpTools(rules, ()).call("deidentify", {"path": str(folder / "a.txt")})


@pytest.mark.parametrize("path", ["missing.txt", "..", ".", "/etc/passwd", "a\0b", "", "~/x", "a" * 300, "\ud800"])
def test_the_error_is_the_same_for_a_missing_file_and_one_outside(
    path: str, folder: Path, rules: Deidentifier
) -> None:
    with pytest.raises(UsageError, match=r"^path: no such file in a folder that the server may read"):
        McpTools(rules, [folder]).call("detect", {"path": path})


def test_a_file_of_many_records_is_answered_in_part_and_says_so(folder: Path, rules: Deidentifier) -> None:
    (folder / "many.jsonl").write_text('{"id": "1", "text": "Lungs clear."}\n' * (MOST + 1))
    answer = McpTools(rules, [folder]).call("deidentify", {"path": "many.jsonl"})
    assert answer["more"]
    assert len(answer["records"]) == MOST
