"""The cost of reading with a model: the deterministic figures are checked. No test checks speed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from incognote.evaluation.corpus import LabeledSpan
from incognote_benchmarks.reading import __main__ as command
from incognote_benchmarks.reading import counting, measure
from incognote_benchmarks.reading.material import Note, findings, light_texts
from incognote_benchmarks.reading.plot import plot
from incognote_benchmarks.reading.schedule import ideal
from incognote_benchmarks.reading.sheets import sheets, written

pytest.importorskip("openai", reason="needs the extra llm")


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    return measure(Path(__file__).parents[1] / "data" / "notes.jsonl", synthetic=True, small=True)


def test_the_default_contract_answers_in_half_of_what_an_echo_takes(measured: dict[str, Any]) -> None:
    for name in ("all", "without_phi"):
        assert measured["tokens"][name]["contracts"]["contract 2"]["of_echo"] <= 0.5
    assert measured["tokens"]["without_phi"]["contracts"]["contract 2"]["output"] <= 1.0  # {}


def test_contract_1_says_of_every_type_that_it_is_absent(measured: dict[str, Any]) -> None:
    one, two = (measured["tokens"]["without_phi"]["contracts"][f"contract {i}"]["output"] for i in (1, 2))
    assert one > 50 * two


def test_an_echo_is_about_as_long_as_its_text(measured: dict[str, Any]) -> None:
    clean = measured["tokens"]["without_phi"]
    assert {echo["output"] for echo in clean["echo"].values()} == {clean["text"]}


def test_composite_requests_find_the_same_in_fewer_calls_and_tokens(measured: dict[str, Any]) -> None:
    (four,) = measured["composites"]
    assert four["equal"]
    assert four["spans"] == four["identifiers"] > 0
    assert (four["single"]["calls"], four["composite"]["calls"]) == (4.0, 1.0)
    assert four["saved"] > 0.5
    assert four["saved_with_schema"] > 0.25


def test_later_passes_gain_by_masking_alone(measured: dict[str, Any]) -> None:
    masked, bare = (measured["passes"][key]["all"] for key in ("masking", "no_masking"))
    for kind in ("recall", "all_or_nothing"):
        assert masked[kind][0] == bare[kind][0]
        assert masked[kind] == sorted(masked[kind])
        assert masked[kind][1] > masked[kind][0]
        assert masked[kind][3] > masked[kind][1]
        assert set(bare[kind]) == {bare[kind][0]}


def test_passes_by_need_find_more_than_two_passes_in_fewer_calls(measured: dict[str, Any]) -> None:
    one, need, two = measured["by_need"]
    assert one["recall"] < two["recall"] <= need["recall"]
    assert one["leaking"] > two["leaking"] >= need["leaking"]
    assert one["calls"] < need["calls"] < two["calls"]


def test_every_run_of_the_schedule_asked_twice_about_each_note(measured: dict[str, Any]) -> None:
    assert measured["schedule"]
    for run in measured["schedule"]:
        assert run["calls"] == 2 * run["notes"]
        assert run["wall"] >= run["ideal"] == pytest.approx(2 * run["latency"])
        assert 1 <= run["peak"] <= run["slots"]


def test_processor_time_is_told_for_each_part(measured: dict[str, Any]) -> None:
    told = measured["cpu"]["milliseconds"]
    assert told["orchestration"] == pytest.approx(told["with_model"] - told["detection"])
    assert measured["cpu"]["calls"] == 1.0


def test_the_page_has_a_table_for_each_part_and_says_what_was_measured_on(measured: dict[str, Any]) -> None:
    page = written(measured, "passes.png")
    assert "notes.jsonl (synthetic): 27 notes" in page
    assert "meets the target for these groups: all notes, without PHI. It misses" in page
    for sheet in sheets(measured):
        assert f"## {sheet.title}" in page
        assert sheet.said in page
        assert {len(row) for row in sheet.rows} == {len(sheet.columns)}


def test_the_command_writes_figures_page_and_picture(
    measured: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra evaluation")
    monkeypatch.setattr(command, "measure", lambda *_, **__: measured)
    assert command.main(["--out", str(tmp_path / "reading.json")]) == 0
    assert json.loads((tmp_path / "reading.json").read_text(encoding="utf-8")) == measured
    assert "(passes.png)" in (tmp_path / "reading.md").read_text(encoding="utf-8")
    assert (tmp_path / "passes.png").read_bytes().startswith(b"\x89PNG")
    assert "Tokens per note" in capsys.readouterr().out


def test_without_matplotlib_there_is_no_picture_and_the_extra_is_named(
    measured: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setattr(command, "measure", lambda *_, **__: measured)
    assert command.main(["--out", str(tmp_path / "reading.json")]) == 0
    assert "incognote[evaluation]" in capsys.readouterr().err
    assert "passes.png" not in (tmp_path / "reading.md").read_text(encoding="utf-8")
    assert not (tmp_path / "passes.png").exists()


def test_notes_that_do_not_do_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text('{"id": "a", "text": "Nothing here.", "spans": []}\n', encoding="utf-8")
    assert command.main(["--notes", str(path)]) == 2
    assert "some.jsonl" in capsys.readouterr().err


@pytest.mark.parametrize(("calls", "seconds"), [(0, 0.0), (1, 0.4), (32, 0.4), (64, 0.4), (65, 0.6), (640, 4.0)])
def test_the_ideal_has_two_waves_at_least_and_every_slot_busy(calls: int, seconds: float) -> None:
    assert ideal(calls, 0.2, 32) == pytest.approx(seconds)


def test_a_phrase_has_a_hint_where_its_words_stand_twice_and_a_name_never_has() -> None:
    text = "Gray is 76 years old, takes 76 mg.\nGray, seen 3/4 by Abara."
    gold = tuple(LabeledSpan(text.index(w), text.index(w) + len(w), t) for w, t in (("76", "AGE"), ("3/4", "DATE")))
    note = Note("n", text, (*gold, LabeledSpan(0, 4, "PERSON")))
    assert [phrase for _, phrase, _, _ in findings(note)] == ["Gray", "76 years", "3/4"]


def test_a_light_text_is_a_whole_line_with_its_own_offsets() -> None:
    text = "Too short.\nThe patient was seen by Dr. Abara today at noon.\nShort again."
    at = text.index("Abara")
    (light,) = light_texts([Note("n", text, (LabeledSpan(at, at + 5, "PERSON"),))])
    assert [light.text[x.start : x.end] for x in light.gold] == ["Abara"]
    cut = Note("n", text, (LabeledSpan(at, len(text), "PERSON"),))  # extends into the next line
    assert light_texts([cut]) == []


def test_without_tables_tokens_are_a_quarter_of_the_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "find_spec", lambda name: None)
    count = counting.counter()
    assert count.name == "characters / 4"
    assert count("12345") == 2


def test_with_tables_nothing_is_fetched_and_the_cache_folder_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tiktoken", reason="needs the extra llm")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "mine")
    count = counting.counter()
    assert count.name == "o200k_base"
    assert count("hello world") == 2
    assert count("<|endoftext|>") > 1  # a note may contain any string
    assert counting.os.environ["TIKTOKEN_CACHE_DIR"] == "mine"


def test_a_picture_is_drawn_without_a_screen(measured: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra evaluation")
    plot(measured, tmp_path / "p.png")
    assert "matplotlib.pyplot" not in sys.modules
    assert (tmp_path / "p.png").stat().st_size > 10_000
