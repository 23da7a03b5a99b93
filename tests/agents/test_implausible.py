"""Texts that are masked almost entirely, and models that find nothing or mark everything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from incognote import Deidentifier
from incognote.agents.implausible import LEAST_WORDS, share
from incognote.errors import PolicyProblem
from incognote.jsonlines import read_rows
from incognote.llm.recording import Recording, Replayed
from incognote.nouns import Span, Text
from incognote.schemas.policy import load_policy
from incognote.testing import ScriptedLLM
from incognote_benchmarks.recorded import MODEL

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


PLENTY_ = "Emily Carter, MRN 4821397, DOB 03/16/1950, phone (415) 555-0112, seen by Dr. John Smith. The wound is dry."
CLEAN = "The wound is dry and she is well."
SILENT = ScriptedLLM(lambda request: "{}")


def test_a_model_that_names_nothing_where_others_are_certain_of_plenty_is_doubted_at_once() -> None:
    with Deidentifier(model=SILENT, detectors=("rules", "llm")) as deid:
        result = deid.deidentify(PLENTY_)
        assert "model-silent" in codes(result)
        assert "model-silent" not in codes(deid.deidentify(CLEAN))
    assert result.manifest["models"]["silent"] == 1


def test_a_model_that_is_silent_about_short_texts_is_doubted_from_the_second_one_on() -> None:
    with Deidentifier(model=SILENT, detectors=("rules", "llm"), concurrency=1) as deid:
        results = [deid.deidentify(NOTE) for _ in range(4)]  # two certain findings each
    assert [result.verdict.outcome for result in results] == ["release", "release", "review", "review"]
    assert codes(results[-1]) == {"model-silent"}


def test_texts_without_certain_findings_say_nothing_of_a_model() -> None:
    with Deidentifier(model=SILENT, detectors=("rules", "llm")) as deid:
        results = [deid.deidentify(CLEAN) for _ in range(60)]
    assert {result.verdict.outcome for result in results} == {"release"}


def test_a_certain_finding_now_and_then_does_not_accuse_a_model_that_is_silent_about_it() -> None:
    with Deidentifier(model=SILENT, detectors=("rules", "llm"), concurrency=1) as deid:
        texts = ["Seen by Dr. Carter.", *[CLEAN] * 9] * 12
        assert {deid.deidentify(text).verdict.outcome for text in texts} == {"release"}


def test_a_mention_ends_the_doubt() -> None:
    answers = iter(["{}"] * 4 + ['{"PERSON": ["Dr. <<Emily Carter>>"]}'] * 2 + ["{}"])
    with Deidentifier(model=ScriptedLLM(lambda request: next(answers)), detectors=("rules", "llm"), passes=1) as deid:
        results = [deid.deidentify(NOTE) for _ in range(6)]
        assert deid.deidentify(NOTE).verdict.released
    assert [codes(result) for result in results] == [set()] * 2 + [{"model-silent"}] * 2 + [set()] * 2


@pytest.mark.parametrize("text", ["The wound is dry and clean.", "The wound is dry. " * 15])
def test_a_model_that_marks_everything_is_doubted_after_forty_words(text: str) -> None:
    model = ScriptedLLM(lambda request: json.dumps({"PERSON": [f"<<{text.strip()}>>"]}))
    with Deidentifier(model=model, detectors=("rules", "llm"), passes=1, concurrency=1) as deid:
        results = [deid.deidentify(text) for _ in range(8)]
    for i, result in enumerate(results):
        marked = (i + 1) * len(text.split())
        ended = "model-stopped" in codes(result)
        assert ended == (marked > 240)
        assert ended or ("model-overmarks" in codes(result)) == (marked >= 40)


def test_a_model_that_marks_a_line_of_identifiers_is_not_doubted() -> None:
    line = "Emily Carter, MRN 4821397, DOB 03/16/1950, (415) 555-0112, Dr. John Smith"
    reply = json.dumps({"PERSON": [f"<<{line}>>"]})
    with Deidentifier(model=ScriptedLLM(lambda request: reply), detectors=("rules", "llm"), passes=1) as deid:
        results = [deid.deidentify(line) for _ in range(20)]
    assert not any("model-overmarks" in codes(result) for result in results)


def test_the_replies_of_a_good_model_raise_no_alarm() -> None:
    """66 development notes with recorded replies of a large language model, 20 of them without PHI."""
    data = Path(__file__).parents[1] / "data"
    recording = Recording(data / "replies" / "extract-v2.jsonl", plain=True, create=False)
    texts = [str(row["text"]) for _, row in read_rows(data / "notes.jsonl")]
    settings = {"prompt": "extract/v2", "passes": 1, "detectors": ("rules", "llm")}
    with Deidentifier(model=Replayed(MODEL, recording), **settings) as deid:  # type: ignore[arg-type] # keywords
        short = [text for text in texts if len(text.split()) < deid.engine.settings.chunk_words]
        results = [result for result in deid.batch(short) if "model-unavailable" not in codes(result)]
    assert len(results) >= 60
    assert not any({"model-silent", "model-overmarks", "model-stopped"} & codes(result) for result in results)
