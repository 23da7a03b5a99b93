"""What routing keeps and what it saves, on some of the development notes with their recorded replies."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incognote import Deidentifier
from incognote.errors import UsageError
from incognote.extraction.routing import WORTH
from incognote.nouns import Span
from incognote.schemas.choices import ModelTerms
from incognote_benchmarks.reading.counting import Counter
from incognote_benchmarks.routing import __main__ as command
from incognote_benchmarks.routing import measure
from incognote_benchmarks.routing.curves import Curve, by_expectation, by_words, figures, line
from incognote_benchmarks.routing.fitting import missed, signals, threshold, weights
from incognote_benchmarks.routing.material import Read, Reading, gold_of
from incognote_benchmarks.routing.sheets import written

DATA = Path(__file__).parents[2] / "data"
ANSWERED = ("dev-a-18", "dev-a-21", "dev-b-08", "dev-c-13", "dev-c-20", "dev-a-free-01", "dev-a-free-14")
OTHERS = ("dev-a-16", "dev-c-02", "dev-d-04", "dev-e-051", "dev-e-053", "dev-e-066", "dev-e-001")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of tests/data with only a few notes."""
    made = tmp_path_factory.mktemp("data")
    shutil.copytree(DATA / "replies", made / "replies")
    for name in ("notes.jsonl", "dev_e.jsonl"):
        lines = (DATA / name).read_text(encoding="utf-8").splitlines()
        kept = [line for line in lines if json.loads(line)["id"] in (*ANSWERED, *OTHERS)]
        (made / name).write_text("".join(line + "\n" for line in kept), encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def reading() -> Reading:
    return Reading(Deidentifier(detectors=("rules", "encoder")), Counter("characters / 4", lambda text: len(text) // 4))


@pytest.fixture(scope="module")
def answered(folder: Path, reading: Reading) -> list[Read]:
    return reading.recorded(gold_of(folder / "notes.jsonl"), folder / "replies" / "extract-v2.jsonl")


@pytest.fixture(scope="module")
def measured(folder: Path) -> dict[str, Any]:
    return measure(folder, resamples=20)


def test_only_notes_with_a_whole_recorded_answer_are_replayed_in_as_many_passes_as_there_are(
    answered: list[Read],
) -> None:
    assert {read.gold.id for read in answered} == set(ANSWERED)
    assert {read.passes for read in answered} == {1, 2}


def test_a_chunk_costs_its_messages_and_replies_in_all_passes(answered: list[Read]) -> None:
    for read in answered:
        (part,) = read.parts
        assert part.instructions * 1.05 < part.tokens < 3 * part.instructions
    once, twice = ([r.parts[0].tokens for r in answered if r.passes == n] for n in (1, 2))
    assert min(twice) > 1.5 * max(once)


def test_sending_all_finds_what_all_three_find_and_sending_nothing_what_two_do(
    reading: Reading, answered: list[Read]
) -> None:
    curve = Curve(reading, answered)
    points = [curve.point(by_words, limit) for limit in (0, float("inf"))]
    sums = curve.sums(by_words, points, resamples=5)
    for name, like in (("0", "all"), ("1", "embedded")):
        ours, theirs = figures(sums, name), figures(sums, like)
        assert {k: v for k, v in ours.items() if k != "tokens"} == {k: v for k, v in theirs.items() if k != "tokens"}
    assert figures(sums, "0")["tokens"]["value"] == 1
    assert figures(sums, "1")["tokens"]["value"] == 0
    assert figures(sums, "0")["of_all"]["value"] == 1


def test_more_tokens_never_keep_fewer_characters_and_no_router_is_better_than_the_gold(
    reading: Reading, answered: list[Read]
) -> None:
    curve = Curve(reading, answered)
    lines = {}
    for name, order in (("ours", by_expectation), ("gold", curve.oracle)):
        points = curve.points(order)
        lines[name] = line(curve.sums(order, points, resamples=1), points)
        kept = [point["of_all"] for point in lines[name]]
        assert kept == sorted(kept)
    assert kept[0] < 1 == kept[-1]
    for point in lines["ours"]:
        budget = [p["of_all"] for p in lines["gold"] if p["tokens"] <= point["tokens"] + 0.15]  # chunks are not split
        assert max(budget) >= point["of_all"]


def test_a_threshold_keeps_to_its_share_of_the_tokens_and_a_lower_one_would_not(
    reading: Reading, answered: list[Read]
) -> None:
    curve = Curve(reading, answered)
    for share in (0.2, 0.5):
        limit = threshold(curve, share)
        points = [curve.point(by_expectation, each) for each in (limit, limit * 0.9)]
        kept, lower = (point["tokens"] for point in line(curve.sums(by_expectation, points, resamples=1), points))
        assert kept <= share
        assert lower >= kept


def test_the_weights_that_made_the_counts_are_found_again() -> None:
    random = np.random.default_rng(0)
    x = random.gamma(1.0, 2.0, (4000, 2))
    y = random.poisson(x @ np.array([0.2, 0.05])).astype(float)
    assert weights(x, y) == pytest.approx([0.2, 0.05], abs=0.01)
    y = random.poisson(x @ np.array([0.2, 0.0])).astype(float)
    assert weights(x, y) == pytest.approx([0.2, 0.0], abs=0.01)


def test_a_signal_that_no_text_gives_cannot_be_fitted() -> None:
    with pytest.raises(UsageError, match="more texts"):
        weights(np.array([[1.0, 0.0], [2.0, 0.0]]), np.array([1.0, 0.0]))


def test_misses_are_counted_by_identifier(reading: Reading, folder: Path) -> None:
    (gold,) = (g for g in gold_of(folder / "notes.jsonl") if g.id == "dev-c-20")
    (read,) = reading.recorded([gold], folder / "replies" / "extract-v2.jsonl")
    bare = Read(gold, read.text, (), (), read.parts, 1)
    labels = [Span(read.text, label.start, label.end, label.type, 1.0, ("gold",)) for label in gold.labels]
    whole = Read(gold, read.text, tuple(labels), (), read.parts, 1)
    one_short = Read(gold, read.text, tuple(labels[1:]), (), read.parts, 1)
    assert missed(reading, [bare, whole]).tolist() == [len(gold.labels), 0]
    assert missed(reading, [one_short])[0] <= 1
    assert signals([bare]).tolist() == [[0.0, 0.0]]


def test_constants_are_fitted_on_texts_without_a_recorded_reply(measured: dict[str, Any]) -> None:
    assert measured["choosing"]["weights"]["texts"] == len(OTHERS)
    assert measured["runs"]["scripted"]["texts"] == len(OTHERS)
    assert measured["runs"]["recorded"]["texts"] == len(ANSWERED)
    assert sum(half["texts"] for half in measured["halves"]) == len(ANSWERED)


def test_a_scripted_model_finds_everything(measured: dict[str, Any]) -> None:
    alone = measured["runs"]["scripted"]["systems"]["alone"]
    assert alone["recall"]["value"] == pytest.approx(1.0, abs=0.002)
    assert alone["whole_documents"]["value"] >= 0.8


def test_reading_once_what_is_sent_costs_half_of_reading_it_twice(measured: dict[str, Any]) -> None:
    runs = measured["runs"]
    once, twice = (runs[key]["systems"]["routed"] for key in ("recorded_once_of_twice", "recorded_twice"))
    assert once["tokens"]["value"] <= 0.6 * twice["tokens"]["value"]


def test_scores_are_told_in_bins_with_the_share_that_is_right(measured: dict[str, Any]) -> None:
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
    assert told["default"] == measured["default"]
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


def test_the_page_says_on_how_many_texts_and_under_which_threshold(measured: dict[str, Any]) -> None:
    page = written(measured, None, None)
    assert f"Recorded replies: {len(ANSWERED)} texts, 5 with identifiers" in page
    assert f"routed at {measured['default']}" in page
    rows = [line for line in page.split("\n") if line.startswith("|")]
    assert all(line.count("|") == rows[i - 1].count("|") for i, line in enumerate(rows) if line.startswith("| ---"))


def test_notes_without_a_recorded_reply_are_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(folder / "replies", tmp_path / "replies")
    for name in ("notes.jsonl", "dev_e.jsonl"):
        one = json.dumps({"id": name, "text": "Seen by Dr. Abara.", "spans": []})
        (tmp_path / name).write_text(one + "\n", encoding="utf-8")
    assert command.main(["--notes", str(tmp_path)]) == 2
    assert "no note has a recorded reply" in capsys.readouterr().err


def test_the_committed_figures_are_of_the_constants_in_force() -> None:
    told = json.loads((DATA.parents[1] / "docs" / "measured" / "routing.json").read_text(encoding="utf-8"))
    assert told["default"] == ModelTerms().missed
    assert told["choosing"]["in_force"] == WORTH
    for kind, worth in WORTH.items():
        fitted = told["choosing"]["weights"][kind]
        assert fitted["low"] <= worth <= fitted["high"]
