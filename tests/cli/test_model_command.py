"""`incognote model` and `incognote doctor --model`: consent to send notes to a model, and whether it works."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incognote.testing import LocalServer, text_of

Run = Callable[..., Any]
Options = tuple[str, ...]
AGREE = ("model", "agree", "openai/gpt-4o", "--by", "Ada Officer", "--baa", "BAA-7", "--retention-days", "30")


def test_an_agreement_is_recorded_listed_and_lets_a_run_begin(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Nothing.")
    args = ("deid", tmp_path / "a.txt", "--model", "openai/gpt-4o")
    refused = run(*args)
    assert refused.code == 1
    assert "incognote model agree openai/gpt-4o --api-base https://api.openai.com:443" in refused.err
    assert "No agreement is recorded" in run("model", "list").out
    done = run(*AGREE)
    assert done.code == 0
    assert "openai/gpt-4o at https://api.openai.com:443 may receive notes. Agreed by Ada Officer" in done.out
    told = run("model", "list", "--json").data
    [agreement] = told["agreements"]
    assert (agreement["by"], agreement["terms"]) == ("Ada Officer", {"baa": "BAA-7", "retention_days": 30})
    assert told["prices"]["openai/gpt-4o"]["input"] > 0
    listed = run("model", "list").out
    assert "30 days" in listed
    assert "openai/gpt-4o-mini" in listed
    assert "api_key" in run(*args).err  # the next missing setting


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("model", "agree", "openai/gpt-4o"), 2, ""),
        ((*AGREE[:4], " ", *AGREE[5:]), 2, "name the person"),
        ((*AGREE[:6], " ", *AGREE[7:]), 2, "BAA"),
        ((*AGREE, "--note", "x" * 201), 2, "at most 200 characters"),
        ((*AGREE, "--api-base", "http://models.example.org/v1"), 1, "http"),
        ((*AGREE[:2], "azure/gpt-4o", *AGREE[3:]), 2, "api_base"),
    ],
)
def test_an_agreement_names_model_address_person_and_terms(run: Run, args: Options, code: int, said: str) -> None:
    done = run(*args)
    assert done.code == code
    assert said in done.err
    assert run("model", "list", "--json").data["agreements"] == []


def test_a_note_stands_beside_the_terms_in_the_list(run: Run) -> None:
    assert run(*AGREE, "--note", "contract 2026/118").code == 0
    assert run(*AGREE).code == 0
    assert [a["note"] for a in run("model", "list", "--json").data["agreements"]] == ["contract 2026/118", ""]
    head, noted, plain = run("model", "list").out.splitlines()[:3]
    assert head.endswith("  note")
    assert noted.endswith("30 days   contract 2026/118")
    assert plain.endswith("30 days")


def test_a_model_on_this_machine_needs_no_agreement(run: Run) -> None:
    done = run(*AGREE, "--api-base", "http://127.0.0.1:9/v1")
    assert (done.code, "no agreement is needed" in done.out) == (0, True)
    assert run("model", "list", "--json").data["agreements"] == []


def test_a_price_table_of_ones_own_is_listed_first(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "prices.toml"
    own.write_text('[models]\n"here/big" = { input = 1.0, output = 2.0, as_of = 2026-01-01 }\n')
    monkeypatch.setenv("INCOGNOTE_PRICES", str(own))
    prices = run("model", "list", "--json").data["prices"]
    assert next(iter(prices)) == "here/big"
    assert prices["here/big"] == {"input": 1.0, "output": 2.0, "cached": 1.0, "as_of": "2026-01-01"}


def _lines(done: Any) -> dict[str, dict[str, str]]:
    return {line["about"]: line for line in done.data["lines"]}


def test_the_doctor_asks_one_invented_question_and_says_what_notes_will_cost(
    run: Run, model: Options, server: LocalServer
) -> None:
    done = run("doctor", "--json", *model)
    lines = _lines(done)
    assert done.code == 0
    assert {lines[about]["state"] for about in ("llm", "agreement", "model", "replies", "cost")} == {"ok"}
    assert "tokens in" in lines["model"]["seen"]
    assert "$0.00 per 1,000 notes of 1 chunk of 600 words, passes by need: 1.05 calls" in lines["cost"]["seen"]
    [asked] = server.requests
    assert text_of(asked).startswith("The grey cat of the story")
    more = run("doctor", "--json", *model, "--passes", "1", "--vote", "3", "--chunk-words", "64")
    assert "1 chunk of 64 words, 1 pass, 3 votes: 3 calls" in _lines(more)["cost"]["seen"]


def test_the_doctor_sends_nothing_without_an_agreement_and_says_the_price(run: Run) -> None:
    done = run("doctor", "--json", "--model", "openai/gpt-4o-mini")
    lines = _lines(done)
    assert done.code == 1
    assert lines["agreement"]["state"] == "fail"
    assert "incognote model agree openai/gpt-4o-mini --api-base" in lines["agreement"]["remedy"]
    assert "model" not in lines
    dollars = float(lines["cost"]["seen"].partition("$")[2].split()[0])
    assert 0.1 < dollars < 2


def test_the_doctor_tells_a_model_that_is_away_from_one_that_rambles(run: Run, model: Options) -> None:
    with LocalServer(lambda request: "It is a cat.") as rambling:
        lines = _lines(run("doctor", "--json", "--model", "openai/tiny", "--api-base", rambling.url))
        assert (lines["model"]["state"], lines["replies"]["state"]) == ("ok", "warn")
        rambling.stop()
        done = run("doctor", "--json", "--model", "openai/tiny", "--api-base", rambling.url)
    assert (done.code, _lines(done)["model"]["state"]) == (1, "fail")
    assert run("doctor", "--model", "openai").code == 1


def test_the_doctor_looks_at_the_model_of_the_settings_too(
    run: Run, server: LocalServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "settings.toml"
    config.write_text(f'model = "openai/tiny"\n[models."openai/tiny"]\napi_base = "{server.url}"\n')
    lines = _lines(run("doctor", "--json", "--config", config))
    assert lines["model"]["state"] == "ok"
    assert len(server.requests) == 1


def test_the_doctor_says_which_models_cannot_answer_in_batches(run: Run) -> None:
    done = run("doctor", "--json", "--model", "xai/grok", "--batch")
    (line,) = (each for each in done.data["lines"] if each["about"] == "batch" and "xai/grok" in each["seen"])
    assert (line["state"], done.code) == ("fail", 1)
    assert "anthropic/NAME" in line["remedy"]
