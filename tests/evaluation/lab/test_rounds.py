"""Proposals are accepted if they help on unseen texts, and rejected if they do not help or hide a loss."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import KeyMissing, ModelUnavailable, SettingError, UsageError
from incognote.evaluation.corpus import Gold
from incognote.evaluation.lab.pool import annotated
from incognote.evaluation.lab.proposing import SCHEMA
from incognote.evaluation.lab.rounds import LEAST, RoundsOutcome, RoundsTerms, estimate, halves, run
from incognote.evaluation.lab.runner import ModelRequestOptions, PromptRunner
from incognote.llm.base import Reply, Request, Usage
from incognote.prompts.loader import load
from incognote.testing import ScriptedLLM

Model = Callable[..., ScriptedLLM]
TERMS = RoundsTerms("extract/v2", rounds=2)
HELPS = "names of people in every form, nicknames in lower case too"


def go(
    folder: Path, how: ModelRequestOptions, gold: Path, llm: ScriptedLLM, terms: RoundsTerms = TERMS
) -> RoundsOutcome:
    with PromptRunner(folder, how, lambda: llm) as runner:
        return run(runner, terms, annotated(gold))


def test_a_guideline_that_helps_on_unseen_texts_is_accepted_and_no_word_of_a_note_is_written_down(
    tmp_path: Path, gold: Path, how: ModelRequestOptions, model: Model, nicks: list[str]
) -> None:
    llm, folder = model(HELPS), tmp_path / "lab"
    outcome = go(folder, how, gold, llm)
    first, *rest = outcome.rows
    assert (first["type"], first["aim"], first["accepted"], first["wrong"]) == ("PERSON", "recall", True, 0)
    made = first["trial"]
    assert made["documents"] == 32
    assert made["gain"] > 10
    assert made["adjusted"] == pytest.approx(2 * made["p"])
    assert made["adjusted"] <= 0.05
    assert not rest, "no type has errors any more"
    assert outcome.accepted is not None
    assert load(str(outcome.accepted)).guidelines["PERSON"].about == HELPS
    written = "".join((folder / name).read_text() for name in ("ledger.jsonl", "proposal-1.toml", "terms.json"))
    assert not [word for word in (*nicks, "Abara", "wound", "Zorvaxin") if word in written]
    half, deciding = halves(annotated(gold), 0)
    (asked,) = [request.messages[1].content for request in llm.requests if request.schema == SCHEMA]
    shown = {word.strip(".") for word in asked.split() if word.startswith("bay-")}
    assert shown
    assert shown <= {document.text.split()[-1].strip(".") for document in half}
    assert not shown & {document.text.split()[-1].strip(".") for document in deciding}


def test_one_that_changes_nothing_is_refused(
    tmp_path: Path, gold: Path, how: ModelRequestOptions, model: Model
) -> None:
    outcome = go(tmp_path / "lab", how, gold, model("names of people"))
    assert [row["refused"] for row in outcome.rows] == [["no-gain"], ["no-gain"]]
    assert outcome.accepted is None


def test_one_whose_loss_hides_in_precision_is_refused(
    tmp_path: Path, gold: Path, how: ModelRequestOptions, model: Model
) -> None:
    outcome = go(tmp_path / "lab", how, gold, model(HELPS, also_drugs=True))
    row = outcome.rows[0]
    assert row["trial"]["gain"] > 10
    assert row["trial"]["adjusted"] <= 0.05
    assert row["refused"] == ["loses-precision", "touches-clean-texts"]
    assert outcome.accepted is None


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (lambda nick: json.dumps({"guideline": f"names such as {nick} in lower case", "reason": "x"}), "quotes-a-note"),
        (lambda nick: json.dumps({"guideline": "names", "reason": "x", "more": "y"}), "reply-unusable"),
    ],
)
def test_a_reply_that_quotes_a_note_or_is_no_guideline_is_not_tried(
    tmp_path: Path,
    gold: Path,
    how: ModelRequestOptions,
    model: Model,
    nicks: list[str],
    said: Callable[[str], str],
    code: str,
) -> None:
    inner = model("")

    def answer(request: Request) -> str | Reply:
        if request.schema != SCHEMA:
            return inner._answering(request).act  # type: ignore[return-value]  # the script does not misbehave
        shown = request.messages[1].content
        return said(next(nick for nick in nicks if nick in shown))

    outcome = go(tmp_path / "lab", how, gold, ScriptedLLM(answer), RoundsTerms("extract/v2", rounds=1))
    assert outcome.rows[0]["refused"] == [code]
    assert outcome.rows[0]["trial"] is None
    assert outcome.rows[0]["overlay"] is None


def test_a_finished_run_asks_nothing_when_it_is_run_again(
    tmp_path: Path, gold: Path, how: ModelRequestOptions, model: Model
) -> None:
    first = go(tmp_path / "lab", how, gold, model("names of people"))
    again = model("something else")
    second = go(tmp_path / "lab", how, gold, again)
    assert again.calls == 0
    assert second.rows == first.rows
    assert (second.paid.calls, second.total.calls) == (0, first.total.calls)


def test_a_run_that_a_budget_ended_goes_on_without_paying_twice(
    tmp_path: Path, gold: Path, how: ModelRequestOptions, model: Model
) -> None:
    whole = model(HELPS)
    go(tmp_path / "whole", how, gold, whole)
    calls = 0
    inner = model(HELPS)

    def answer(request: Request) -> Reply:
        nonlocal calls
        calls += 1
        act = inner._answering(request).act
        assert isinstance(act, Reply)
        return Reply(act.text, usage=Usage(input=1, output=1, calls=1, usd=1.0))

    tight = ModelRequestOptions(how.model, detectors=how.detectors, synthetic=True, budget_usd=50)
    with pytest.raises(ModelUnavailable, match="Run the same command again"):
        go(tmp_path / "cut", tight, gold, ScriptedLLM(answer))
    assert 50 <= calls < whole.calls
    wide = ModelRequestOptions(how.model, detectors=how.detectors, synthetic=True, budget_usd=7000)
    outcome = go(tmp_path / "cut", wide, gold, ScriptedLLM(answer))
    assert calls == whole.calls
    assert outcome.total.usd == whole.calls
    assert outcome.rows[0]["accepted"]


def test_a_folder_is_about_one_thing(tmp_path: Path, gold: Path, how: ModelRequestOptions, model: Model) -> None:
    go(tmp_path / "lab", how, gold, model("names of people"))
    with pytest.raises(SettingError, match="used other values: rounds"):
        go(tmp_path / "lab", how, gold, model(""), RoundsTerms("extract/v2", rounds=3))
    with pytest.raises(SettingError, match="used other values: prompt"):
        go(tmp_path / "lab", how, gold, model(""), RoundsTerms("extract/v1", rounds=2))


@pytest.mark.parametrize(
    ("written", "what"),
    [
        ('[models."scripted/model"]\nprompt = "extract/v1"\n', "set prompt"),
        ("budget_tokens = 5\n", "budget_tokens"),
    ],
)
def test_no_configuration_goes_before_what_is_measured(
    tmp_path: Path, gold: Path, model: Model, written: str, what: str
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(written)
    with pytest.raises(SettingError, match=what):
        go(tmp_path / "lab", ModelRequestOptions("scripted/model", synthetic=True, config=str(config)), gold, model(""))


def test_replies_about_texts_that_are_not_synthetic_need_a_key(tmp_path: Path, gold: Path, model: Model) -> None:
    with pytest.raises(KeyMissing):
        go(tmp_path / "lab", ModelRequestOptions("scripted/model", detectors=("llm",)), gold, model(""))


def test_equal_texts_lie_in_one_half_and_kinds_are_dealt_evenly(gold: Path) -> None:
    documents = annotated(gold)
    twice = [*documents, *(Gold(f"{one.id}-again", one.text, one.labels) for one in documents[:20])]
    first, second = halves(twice, 0)
    assert not {one.text for one in first} & {one.text for one in second}
    assert len(first) + len(second) == len(twice)
    for half in halves(documents, 0):
        assert (len(half), sum(not one.labels for one in half)) == (32, 8)
    assert halves(documents, 1)[0] != halves(documents, 0)[0]


def test_too_few_texts_are_refused(gold: Path) -> None:
    with pytest.raises(UsageError, match=str(LEAST)):
        halves(annotated(gold)[: LEAST - 1], 0)


def test_a_prompt_whose_examples_quote_the_texts_is_refused(
    tmp_path: Path, gold: Path, how: ModelRequestOptions, model: Model
) -> None:
    text = annotated(gold)[0].text
    mine = tmp_path / "mine.toml"
    mine.write_text(f'base = "extract/v2"\n[[examples]]\ntext = "{text}"\n', encoding="utf-8")
    with pytest.raises(UsageError, match="Examples 1 of mine share 8 consecutive words"):
        go(tmp_path / "lab", how, gold, model(""), RoundsTerms(str(mine), rounds=1))


def test_proposals_stand_on_the_prompt_that_was_given(
    tmp_path: Path, gold: Path, how: ModelRequestOptions, model: Model
) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('base = "extract/v2"\n[entities.DATE]\nadd = "Bare years too."\n', encoding="utf-8")
    outcome = go(tmp_path / "lab", how, gold, model(HELPS), RoundsTerms(str(mine), rounds=1))
    assert outcome.accepted is not None
    made = load(str(outcome.accepted)).guidelines
    assert (made["DATE"].added, made["PERSON"].about) == ("Bare years too.", HELPS)


def test_the_estimate_counts_a_call_for_every_reading(
    tmp_path: Path, gold: Path, how: ModelRequestOptions, model: Model
) -> None:
    local = ModelRequestOptions("openai/any", detectors=("llm",), synthetic=True, api_base="http://127.0.0.1:9/v1")
    with PromptRunner(tmp_path / "lab", local, lambda: model("")) as runner:
        guess: Any = estimate(runner, TERMS, annotated(gold))
    assert guess.calls == 32 * 5
    assert guess.usd == 0
