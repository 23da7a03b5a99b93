"""A real model's recorded replies, replayed: every note is answered, and the published figures hold.

The development notes are synthetic, and the rules were tuned on them. The replies come from a large language model of
unknown name.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from incognote.errors import ModelProblem, UsageError
from incognote.evaluation.report import ScoreReport
from incognote_benchmarks.recorded import ONE_PASS, TOGETHER, TWO_PASSES, System, compare, markdown, reply_tokens

DATA = Path(__file__).parents[1] / "data"
NOTES, REPLIES = DATA / "notes.jsonl", DATA / "replies"


def value(report: ScoreReport, name: str) -> float:
    found = report.figures[name].value
    assert found is not None
    return found


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The development notes with a recorded reply for prompt 2. The others would only take time."""
    lines = NOTES.read_text(encoding="utf-8").splitlines()
    with System("", "extract/v2", detectors=()).open(REPLIES) as opened:
        found = opened.detect_each([json.loads(line)["text"] for line in lines])
    path = tmp_path_factory.mktemp("answered") / "notes.jsonl"
    kept = (line for line, spans in zip(lines, found, strict=True) if not isinstance(spans, ModelProblem))
    path.write_text("".join(line + "\n" for line in kept), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def one_pass(answered: Path) -> dict[str, ScoreReport]:
    return compare(ONE_PASS, answered, REPLIES)


@pytest.fixture(scope="module")
def two_passes(answered: Path) -> dict[str, ScoreReport]:
    return compare(TWO_PASSES, answered, REPLIES)


def test_every_note_is_answered_under_both_prompts(one_pass: dict[str, ScoreReport]) -> None:
    """Answers are keyed by the whole request, so changing one byte of a prompt would lose its notes here."""
    assert one_pass
    for report in one_pass.values():
        assert (report.documents, report.with_phi, report.without_phi) == (66, 46, 20)
        assert report.synthetic is True


def test_prompt_2_alone_finds_nearly_all_and_takes_little_else(one_pass: dict[str, ScoreReport]) -> None:
    report = one_pass["prompt 2"]
    assert value(report, "recall") >= 0.99
    assert value(report, "precision") >= 0.97


def test_marks_within_the_phrase_cost_less_clinical_text_than_hints_without(one_pass: dict[str, ScoreReport]) -> None:
    assert value(one_pass["prompt 2"], "precision") > value(one_pass["prompt 1"], "precision") + 0.05


def test_rules_and_prompt_2_together_miss_less_than_either(one_pass: dict[str, ScoreReport]) -> None:
    both = one_pass["rules + prompt 2"]
    assert value(both, "recall") >= 0.998
    for alone in ("rules alone", "prompt 2"):
        assert value(both, "recall") > value(one_pass[alone], "recall")
        assert value(both, "documents_leaking") < value(one_pass[alone], "documents_leaking")


def test_no_text_without_phi_is_touched(one_pass: dict[str, ScoreReport], two_passes: dict[str, ScoreReport]) -> None:
    assert one_pass
    assert two_passes
    for report in (*one_pass.values(), *two_passes.values()):
        assert report.without_phi == 20
        assert value(report, "clean_texts_touched") == 0


def test_a_second_pass_never_takes_back_what_the_first_found(two_passes: dict[str, ScoreReport]) -> None:
    for prompt in ("prompt 1", "prompt 2"):
        first, second = two_passes[f"{prompt}, one pass"], two_passes[f"{prompt}, two passes"]
        assert second.with_phi >= 10
        assert value(second, "recall") >= value(first, "recall")


def test_the_page_names_corpus_size_and_interval_of_what_it_tells(
    one_pass: dict[str, ScoreReport], two_passes: dict[str, ScoreReport]
) -> None:
    page = markdown({"One pass": one_pass, "A second pass": two_passes}, reply_tokens(REPLIES))
    assert "notes (synthetic) · n = 66 documents" in page
    assert str(one_pass["prompt 2"].figures["recall"]) in page
    assert "[" in str(one_pass["prompt 2"].figures["recall"])
    assert {json.loads(report.to_json())["synthetic"] for report in one_pass.values()} == {True}


def test_prompt_2s_replies_are_at_most_half_as_long(one_pass: dict[str, ScoreReport]) -> None:
    lengths = reply_tokens(REPLIES)
    assert lengths["extract/v2"] <= lengths["extract/v1"] / 2


def test_notes_without_a_recorded_reply_are_refused(tmp_path: Path) -> None:
    notes = tmp_path / "other.jsonl"
    notes.write_text(json.dumps({"id": "x", "text": "Seen by Dr. Abara.", "spans": []}) + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match="no note has a recorded reply"):
        compare(ONE_PASS, notes, REPLIES)


@pytest.mark.parametrize("name", ["dev_h", "dev_j"])
def test_rules_encoder_and_model_leave_little_and_change_few_texts_without_phi(name: str) -> None:
    [report] = compare([TOGETHER[-1]], DATA / f"{name}.jsonl", REPLIES).values()
    assert value(report, "recall") >= 0.998
    assert value(report, "precision") >= 0.965
    assert value(report, "documents_leaking") <= 0.04
    assert value(report, "clean_texts_touched") <= 0.05
