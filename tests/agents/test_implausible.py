"""Texts that are masked almost entirely, and models that find nothing or mark everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from incognote import Deidentifier
from incognote.agents.implausible import LEAST_WORDS, ROW, share
from incognote.errors import PolicyProblem
from incognote.nouns import Span, Text
from incognote.schemas.policy import load_policy
from incognote.testing import ScriptedLLM

NOTE = "Seen by Dr. Emily Carter on 03/16/2025. The wound is dry and she is well."
ROSTER = " ".join(f"Mrs. Emily Carter, 03/16/2025, (415) 555-01{i:02}." for i in range(12))


def codes(result: object) -> set[str]:
    return {r.code for r in result.verdict.reasons}  # type: ignore[attr-defined]  # it is a Result


def own(tmp_path: Path, line: str) -> str:
    path = tmp_path / "own.toml"
    path.write_text(f'name = "own"\nextends = "strict"\n{line}\n', encoding="utf-8")
    return str(path)


def test_a_long_text_that_is_nearly_all_masked_is_for_review() -> None:
    deid = Deidentifier(detectors=("rules",))
    result = deid.deidentify(ROSTER)
    assert len(ROSTER.split()) >= LEAST_WORDS
    assert codes(result) == {"over-masked"}
    assert not deid.deidentify("Mrs. Emily Carter, 03/16/2025, (415) 555-0112.").verdict.reasons


def test_the_policy_says_how_much_is_too_much(tmp_path: Path) -> None:
    assert (
        not Deidentifier(own(tmp_path, "over_masked = 0.95"), detectors=("rules",)).deidentify(ROSTER).verdict.reasons
    )
    note = NOTE + " " + "The wound is dry. " * 10
    assert codes(Deidentifier(own(tmp_path, "over_masked = 0.05"), detectors=("rules",)).deidentify(note)) == {
        "over-masked"
    }
    with pytest.raises(PolicyProblem, match="over_masked"):
        load_policy(own(tmp_path, "over_masked = 0"))
    assert load_policy("strict").version != load_policy(own(tmp_path, "over_masked = 0.7")).version


def test_a_word_counts_once_however_many_spans_touch_it() -> None:
    text = Text("Ann-Bea Carter is well .")
    spans = [Span(text, 0, 3, "PERSON"), Span(text, 4, 7, "PERSON"), Span(text, 8, 14, "PERSON")]
    assert share(text, spans) == (2, 4)
    assert share(text, []) == (0, 4)


def test_a_model_that_names_nothing_where_others_find_plenty_is_doubted_at_once() -> None:
    text = "Emily Carter, MRN 4821397, DOB 03/16/1950, phone (415) 555-0112, seen by Dr. John Smith. The wound is dry."
    with Deidentifier(model=ScriptedLLM(lambda request: "{}"), detectors=("rules", "llm")) as deid:
        assert "model-silent" in codes(deid.deidentify(text))
        assert "model-silent" not in codes(deid.deidentify("The wound is dry and she is well."))


def test_a_model_that_stays_silent_is_not_believed_from_the_twentieth_text_on() -> None:
    with Deidentifier(model=ScriptedLLM(lambda request: "{}"), detectors=("rules", "llm"), concurrency=1) as deid:
        results = [deid.deidentify(NOTE) for _ in range(ROW + 2)]
    outcomes = [result.verdict.outcome for result in results]
    assert outcomes == ["release"] * (ROW - 1) + ["review"] * 3
    assert codes(results[-1]) == {"model-silent"}
    assert [result.manifest["models"]["silent"] for result in results] == [1] * (ROW + 2)


def test_texts_without_identifiers_say_nothing_of_a_model() -> None:
    with Deidentifier(model=ScriptedLLM(lambda request: "{}"), detectors=("rules", "llm")) as deid:
        results = [deid.deidentify("The wound is dry and she is well.") for _ in range(ROW + 2)]
    assert {result.verdict.outcome for result in results} == {"release"}


def test_a_mention_ends_the_doubt() -> None:
    answers = iter(["{}"] * (ROW + 1) + ['{"PERSON": ["Dr. <<Emily Carter>>"]}'] * 4)
    with Deidentifier(model=ScriptedLLM(lambda request: next(answers)), detectors=("rules", "llm"), passes=1) as deid:
        results = [deid.deidentify(NOTE) for _ in range(ROW + 2)]
    assert codes(results[ROW]) == {"model-silent"}
    assert results[ROW + 1].verdict.released


def test_a_model_that_marks_everything_is_not_believed_from_the_twentieth_text_on() -> None:
    text = "The wound is dry and clean."
    model = ScriptedLLM(lambda request: '{"PERSON": ["<<The wound is dry and clean>>"]}')
    with Deidentifier(model=model, detectors=("rules", "llm"), passes=1) as deid:
        results = [deid.deidentify(text) for _ in range(ROW)]
    assert codes(results[-2]) == set()
    assert codes(results[-1]) == {"model-marks-all"}
