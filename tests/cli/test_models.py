"""Language models on the command line: each command that detects spans calls them, reports usage, and closes them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incognote.cli.reading import line
from incognote.cli.shell import remedies
from incognote.errors import ModelProblem
from incognote.sdk import Deidentifier
from incognote.testing import LocalServer

Run = Callable[..., Any]
Options = tuple[str, ...]


@pytest.fixture
def lines(folder: Path, tmp_path: Path) -> Path:
    """The notes as lines, and one more that the model does not know."""
    path = tmp_path / "in.jsonl"
    texts = [*(file.read_text() for file in sorted(folder.iterdir())), "A stranger to it."]
    path.write_text("".join(json.dumps({"id": i, "text": text, "spans": []}) + "\n" for i, text in enumerate(texts)))
    return path


def test_a_run_tells_what_its_model_did_in_table_json_and_manifest(
    run: Run, folder: Path, tmp_path: Path, model: Options, server: LocalServer
) -> None:
    table = run("deid", folder, "--out", tmp_path / "one", *model)
    assert table.code == 0
    cells = [re.split(r"\s{2,}", line.strip(), maxsplit=1) for line in table.out.splitlines()]
    expected = {
        "language model": "openai/tiny",
        "texts by route": "all 2",
        "chunks": "2 read in 3 passes",
        "calls": "3",
        "cost": "$0.00",
        "mentions placed": "exact 3",
    }
    assert expected.items() <= dict(row for row in cells if len(row) == 2).items()
    done = run("deid", folder, "--out", tmp_path / "two", "--json", *model)
    told = done.data["models"]
    assert json.loads((tmp_path / "two" / "manifest.json").read_text())["models"] == told
    assert (told["calls"], told["chunks"], told["placed"]) == (3, 2, {"exact": 3})
    assert told["tokens_in"] > told["tokens_out"] > 0
    assert told["tokens_in_per_note"] == told["tokens_in"] / 2
    assert server.calls == 6
    assert run("deid", folder, "--out", tmp_path / "three", "--json").data["models"] is None


def test_the_report_shows_cached_tokens_only_if_there_are_any() -> None:
    usage = {"calls": 1, "from_recording": 0, "tokens_in": 1500, "tokens_out": 20, "cached": 1200, "usd": 0.0}
    assert "tokens in 1,500 (1,200 cached, 750 per note), out 20" in line(usage, 2)
    assert "tokens in 1,500 (750 per note), out 20" in line({**usage, "cached": 0}, 2)


def test_one_record_is_printed_alone_and_the_report_goes_to_the_standard_error(
    run: Run, folder: Path, model: Options
) -> None:
    done = run("deid", folder / "0.txt", *model)
    assert done.out == "Seen by Dr. [PERSON] on [DATE]. Her sister [PERSON] brought the keys."
    assert done.err.startswith("incognote: language model: 1 text, 2 calls, tokens in ")


def test_a_recording_is_asked_first_and_makes_a_key_where_none_is(
    run: Run, folder: Path, lines: Path, tmp_path: Path, model: Options, server: LocalServer
) -> None:
    args = (lines, "--out", tmp_path / "out.jsonl", *model, "--recording", tmp_path / "rec.db")
    first = run("detect", *args)
    assert "Created key" in first.err
    assert "language model: 3 texts, 3 calls, tokens" in first.err
    again = run("deid", folder, "--out", tmp_path / "out", *args[3:], "--json")
    assert (again.data["models"]["calls"], again.data["models"]["from_recording"]) == (0, 3)
    assert [file.read_text() for file in (tmp_path / "out").glob("*.txt")] != []


def test_a_line_that_was_not_read_carries_its_code_and_the_others_their_spans(
    run: Run, lines: Path, tmp_path: Path, model: Options
) -> None:
    done = run("detect", lines, "--out", tmp_path / "out.jsonl", *model)
    assert done.code == 1
    first, second, third = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
    assert "llm:pass1" in first["spans"][0]["sources"]
    assert len(second["spans"]) == 1
    assert third == {"id": 2, "error": "model-rejected"}
    assert "1 line could not be processed" in done.err


def test_scores_are_of_the_model_where_one_is_named(run: Run, lines: Path, model: Options) -> None:
    lines.write_text("\n".join(lines.read_text().splitlines()[:2]))
    done = run("evaluate", lines, "--json", *model)
    assert done.code == 0
    assert "language model: 2 texts, 3 calls" in done.err
    assert "language model: 2 texts, 3 calls" in run("evaluate", lines, "--release", *model).err
    assert run("evaluate", lines, "--pred", lines, *model).code == 2


def test_what_a_model_could_not_be_asked_is_held_and_retried(
    run: Run, folder: Path, tmp_path: Path, model: Options, server: LocalServer
) -> None:
    server.stop()
    done = run("deid", folder, "--out", tmp_path / "out", *model)
    assert done.code == 3
    assert "model-unavailable" in done.out
    assert "incognote doctor --model" in done.out
    server.start()
    retried = run("quarantine", "retry", tmp_path / "out-quarantine", "--out", tmp_path / "again", "--json", *model)
    assert (retried.code, retried.data["released"], retried.data["models"]["calls"]) == (0, 2, 3)


def test_a_budget_that_is_spent_sends_the_rest_to_review(
    run: Run, folder: Path, tmp_path: Path, model: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INCOGNOTE_CONCURRENCY", "1")
    monkeypatch.setenv("INCOGNOTE_MODEL_SLOTS", "1")
    done = run("deid", folder, "--out", tmp_path / "out", "--budget-tokens", "1", *model)
    assert done.code == 3
    assert "chunks not answered" in done.out
    assert "budget-exhausted: The run reached its budget" in done.out


def test_an_option_goes_before_what_the_file_says_of_the_model(
    run: Run, folder: Path, tmp_path: Path, model: Options, server: LocalServer
) -> None:
    config = tmp_path / "settings.toml"
    config.write_text('[models."openai/tiny"]\napi_base = "https://models.example.org/v1"\npasses = 5\n')
    args = ("deid", folder, "--config", config, "--json")
    done = run(*args, "--out", tmp_path / "out", "--passes", "1", *model)
    assert (done.code, done.data["models"]["passes"], server.calls) == (0, 1, 2)
    refused = run(*args, "--out", tmp_path / "more", *model[:2])
    assert refused.code == 1
    assert "incognote model agree openai/tiny" in refused.err
    assert server.calls == 2


def test_votes_and_their_rule_are_the_options(run: Run, folder: Path, tmp_path: Path, model: Options) -> None:
    more = ("--vote", "3", "--vote-rule", "majority", "--chunk-words", "32", "--prompt", "extract/v1")
    told = run("deid", folder, "--out", tmp_path / "out", "--json", *model, *more).data["models"]
    assert (told["votes"], told["vote_rule"], told["chunk_words"], told["calls"]) == (3, "majority", 32, 9)
    assert told["prompt"]["name"] == "extract/v1"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--model", "openai/tiny", "--detectors", "rules"), "remove --model"),
        (("--passes", "2", "--batch"), "--passes, --batch can be used only with a language model"),
        (("--passes", "nine", "--model", "openai/x"), "use need, or a number from 1 to 8"),
        (("--detectors", "llm"), "llm needs a model"),
        (("--model", "openai/tiny", "--api-base", "http://127.0.0.1:9/v1", "--prompt", "nope"), "no prompt named"),
        (("--model", "openai/tiny", "--api-base", "http://127.0.0.1:9/v1", "--batch"), "needs a recording"),
    ],
)
def test_options_that_contradict_or_do_nothing_are_refused(run: Run, folder: Path, options: Options, said: str) -> None:
    done = run("deid", folder / "0.txt", *options)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_a_key_is_no_option_of_any_command(run: Run) -> None:
    for command in (("deid",), ("detect",), ("evaluate",), ("doctor",), ("quarantine", "retry"), ("replay",)):
        assert "--api-key" not in run(*command, "--help").out


def test_every_command_closes_what_it_opened(
    run: Run, folder: Path, lines: Path, tmp_path: Path, model: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, closed = [], []
    real = Deidentifier.close
    monkeypatch.setattr(Deidentifier, "close", lambda self: (closed.append(self), real(self)))
    make = Deidentifier._make
    monkeypatch.setattr(Deidentifier, "_make", lambda self: (opened.append(self), make(self))[1])
    held = tmp_path / "out-quarantine"
    for args in (
        ("deid", folder / "0.txt", *model),
        ("deid", folder / "0.txt", "--passes", "2"),
        ("deid", lines, "--out", tmp_path / "out", *model),
        ("quarantine", "retry", held, "--out", tmp_path / "again", *model),
        ("detect", lines, *model),
        ("evaluate", lines, "--release", *model),
        ("schema", "draft", lines, "--name", "v"),
    ):
        run(*args)
        assert opened
        assert opened == closed
        opened.clear()
        closed.clear()


def test_every_code_of_a_model_has_a_remedy() -> None:
    codes = {kind.code for kind in _below(ModelProblem) if "code" in vars(kind)}
    assert codes >= {"model-unavailable", "model-rejected", "model-context", "egress-refused"}
    more = {
        "budget-exhausted", "mention-ambiguous", "mention-unplaced", "mention-of-unknown-type",
        "model-declined", "model-reply-cut", "model-reply-unusable",
    }  # fmt: skip
    assert codes | more <= remedies().keys()


def _below(kind: type[ModelProblem]) -> set[type[ModelProblem]]:
    return {one for sub in kind.__subclasses__() for one in (sub, *_below(sub))}


def test_detecting_shows_how_far_it_is_on_a_terminal(
    run: Run, lines: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "detecting" not in run("detect", lines, "--out", tmp_path / "out.jsonl").err
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "detecting" in run("detect", lines, "--out", tmp_path / "again.jsonl").err


def test_the_report_and_the_doctor_name_what_the_server_does_not_support(
    run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", LocalServer.api_key)
    with LocalServer(lambda _: "{}", dialect="llama-cpp-python") as server:
        model = ("--model", "openai/tiny", "--api-base", server.url)
        done = run("deid", folder, "--out", tmp_path / "out", *model)
        assert "JSON schemas (any JSON object was requested instead)" in done.out
        manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
        assert manifest["models"]["left_out"] == ["json_schema"]
        (line,) = (each for each in run("doctor", "--json", *model).data["lines"] if each["about"] == "requests")
        assert line["state"] == "warn"
        assert "JSON schemas" in line["seen"]
