"""What routing keeps and what it saves, on some of the development notes with their recorded replies."""

from __future__ import annotations

import json
import shutil
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incognote import Deidentifier
from incognote.errors import UsageError
from incognote.extraction.routing import SHARES, TOKENS, VALUES, WEIGHTS
from incognote_benchmarks.reading.counting import Counter
from incognote_benchmarks.routing import __main__ as command
from incognote_benchmarks.routing import measure
from incognote_benchmarks.routing.curves import Outcomes, by_value, by_words, figures, routed, within
from incognote_benchmarks.routing.fitting import NAMES, out_of_fold, targets, weights
from incognote_benchmarks.routing.material import Read, Reading, gold_of, questions
from incognote_benchmarks.routing.sheets import written

DATA = Path(__file__).parents[2] / "data"
ANSWERED = ("dev-a-18", "dev-a-21", "dev-b-08", "dev-c-13", "dev-c-20", "dev-a-free-01", "dev-a-free-14")
OTHERS = ("dev-a-16", "dev-c-02", "dev-d-04", "dev-e-051", "dev-e-053", "dev-e-066", "dev-e-001")
FILES = ("notes.jsonl", "dev_e.jsonl")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of tests/data with only a few notes."""
    made = tmp_path_factory.mktemp("data")
    shutil.copytree(DATA / "replies", made / "replies")
    for name in FILES:
        lines = (DATA / name).read_text(encoding="utf-8").splitlines()
        kept = [line for line in lines if json.loads(line)["id"] in (*ANSWERED, *OTHERS)]
        (made / name).write_text("".join(line + "\n" for line in kept), encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def outcomes(folder: Path) -> Outcomes:
    count = Counter("characters / 4", lambda text: len(text) // 4)
    deid = Deidentifier(detectors=("rules", "encoder"))
    return Outcomes(Reading(deid, count, folder / "replies" / "extract-v3.jsonl"))


@pytest.fixture(scope="module")
def reads(folder: Path, outcomes: Outcomes) -> list[Read]:
    return outcomes.reading.reads([gold for name in FILES for gold in gold_of(folder / name)])


@pytest.fixture(scope="module")
def measured(folder: Path) -> dict[str, Any]:
    return measure(folder, [folder / "dev_e.jsonl"], resamples=20, files=FILES)


def test_texts_without_a_recorded_reply_are_read_by_a_scripted_model_that_finds_everything(
    outcomes: Outcomes, reads: list[Read]
) -> None:
    assert {read.gold.id for read in reads if read.recorded} == set(ANSWERED)
    for read in reads:
        if not read.recorded:
            assert outcomes.counts(read, None)["covered"] >= 0.98 * outcomes.counts(read, None)["gold"]


def test_sending_all_finds_what_all_three_find_and_sending_nothing_what_two_do(
    outcomes: Outcomes, reads: list[Read]
) -> None:
    plans = {"every": within(reads, by_words, 1), "none": within(reads, by_words, 0)}
    sums = outcomes.sums(reads, plans, resamples=5)
    assert figures(sums, "every") == figures(sums, "all")
    assert figures(sums, "none") == figures(sums, "embedded")
    assert figures(sums, "every")["tokens"]["value"] == figures(sums, "every")["of_all"]["value"] == 1


def test_the_silence_of_the_model_counts_only_in_chunks_that_it_reads(outcomes: Outcomes, reads: list[Read]) -> None:
    every = [outcomes.counts(read, frozenset(range(len(read.parts)))) for read in reads]
    none = [outcomes.counts(read, frozenset()) for read in reads]
    wrong = [sum(each["found"] - each["right"] for each in counts) for counts in (every, none)]
    assert wrong[0] < wrong[1]


def test_a_plan_keeps_to_its_share_of_the_tokens_and_no_plan_completes_more_than_the_gold(
    outcomes: Outcomes, reads: list[Read]
) -> None:
    for share in (0.2, 0.5):
        orders = {"value": by_value({}), "gold": outcomes.oracle}
        sums = outcomes.sums(reads, {n: within(reads, order, share) for n, order in orders.items()}, resamples=1)
        ours, best = (figures(sums, name) for name in orders)
        assert ours["tokens"]["value"] <= share
        assert ours["whole"]["value"] <= best["whole"]["value"]


def test_a_larger_share_in_the_policy_sends_all_that_a_smaller_one_sends(reads: list[Read]) -> None:
    plans = [routed(reads, by_value({}), share) for share in (0.05, 0.2, 0.5, 1.0)]
    for smaller, larger in pairwise(plans):
        assert all(a <= b for a, b in zip(smaller, larger, strict=True))
    assert all(len(sent) == len(read.parts) for sent, read in zip(plans[-1], reads, strict=True))


def test_the_weights_that_made_the_targets_are_found_again() -> None:
    random = np.random.default_rng(0)
    x = np.column_stack([np.ones(20_000), random.normal(0, 1, (20_000, 3))])
    truth = np.array([-1.0, 0.8, 0.0, -0.5])
    y = (random.random(20_000) < 1 / (1 + np.exp(-x @ truth))).astype(float)
    assert weights(x, y) == pytest.approx(truth, abs=0.06)


def test_targets_without_a_difference_cannot_be_fitted() -> None:
    with pytest.raises(UsageError, match="more texts"):
        weights(np.ones((3, 4)), np.ones(3))


def test_a_text_is_scored_with_weights_that_were_fitted_without_it(outcomes: Outcomes, reads: list[Read]) -> None:
    y = targets(outcomes, reads)
    before = out_of_fold(reads, y)
    turned = y.copy()
    turned[0] = 1 - turned[0]
    after = out_of_fold(reads, turned)
    assert after[0] == before[0]
    assert after != before


def test_questions_are_told_from_notes_by_their_style(folder: Path) -> None:
    assert questions(folder / name for name in FILES) == {"dev-a-free-01", "dev-e-001"}


def test_each_set_says_how_many_texts_it_has(measured: dict[str, Any]) -> None:
    sets = measured["sets"]
    assert sets["all texts"]["texts"] == len(ANSWERED) + len(OTHERS)
    assert sets["questions"]["texts"] + sets["notes"]["texts"] == sets["all texts"]["texts"]
    assert sets["recorded replies"]["texts"] == sets["recorded replies"]["recorded"] == len(ANSWERED)
    assert sets["half with errors"]["systems"]["embedded"]["whole"]["value"] <= 0.5
    assert sets["dev_e"]["recorded"] == 0


def test_scores_are_shown_in_bins_with_the_share_that_is_right(measured: dict[str, Any]) -> None:
    corpora = measured["reliability"]["corpora"]
    assert corpora
    for systems in corpora.values():
        for told in systems.values():
            assert sum(one["right"]["of"] for one in told["bins"]) == told["findings"]
            assert all(one["low"] <= one["score"] <= one["high"] for one in told["bins"])
            assert told["error"]["low"] <= told["error"]["high"]
        assert min(one["low"] for one in systems["encoder"]["bins"]) == 0  # includes low-confidence findings
        assert min(one["low"] for one in systems["rules + encoder"]["bins"]) >= 0.5


def test_the_command_writes_figures_page_and_pictures(
    measured: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra evaluation")
    monkeypatch.setattr(command, "measure", lambda *_, **__: dict(measured))
    assert command.main(["--out", str(tmp_path / "routing.json")]) == 0
    told = json.loads((tmp_path / "routing.json").read_text(encoding="utf-8"))
    assert told["fit"] == json.loads(json.dumps(measured["fit"]))
    assert json.loads((tmp_path / "reliability.json").read_text(encoding="utf-8")) == measured["reliability"]
    page = (tmp_path / "routing.md").read_text(encoding="utf-8")
    for name in ("routing.png", "reliability.png"):
        assert f"({name})" in page
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    assert "# Routing results" in capsys.readouterr().out


def test_without_matplotlib_there_is_no_picture_and_the_extra_is_named(
    measured: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setattr(command, "measure", lambda *_, **__: dict(measured))
    assert command.main(["--out", str(tmp_path / "routing.json")]) == 0
    assert "incognote[evaluation]" in capsys.readouterr().err
    assert ".png" not in (tmp_path / "routing.md").read_text(encoding="utf-8")


def test_the_page_says_on_how_many_texts_each_figure_was_measured(measured: dict[str, Any]) -> None:
    page = written(measured, None, None)
    assert f"{len(ANSWERED)} texts in {len(ANSWERED)} chunks, 5 texts with identifiers" in page
    rows = [line for line in page.split("\n") if line.startswith("|")]
    assert all(line.count("|") == rows[i - 1].count("|") for i, line in enumerate(rows) if line.startswith("| ---"))


def test_a_missing_file_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--notes", str(folder)]) == 2
    assert "dev_f.jsonl" in capsys.readouterr().err


def test_the_constants_in_use_are_the_committed_ones_and_within_what_was_fitted() -> None:
    committed = json.loads((DATA.parents[1] / "docs" / "measured" / "routing.json").read_text(encoding="utf-8"))["fit"]
    assert committed["in_use"]["weights"] == dict(zip(NAMES, WEIGHTS, strict=True))
    assert committed["shares"] == list(SHARES)
    assert committed["tokens"] == pytest.approx(TOKENS, rel=0.01)
    for name, weight in zip(NAMES, WEIGHTS, strict=True):
        assert committed["weights"][name]["low"] <= weight <= committed["weights"][name]["high"]
    for used, fitted in zip(VALUES, committed["values"], strict=True):
        assert used == pytest.approx(fitted, rel=0.05)
