"""Texts in languages that the configured detectors, prompt, or model cannot read."""

from __future__ import annotations

from pathlib import Path

import pytest

from incognote import Deidentifier
from incognote.errors import SettingError
from incognote.prompts.loader import load
from incognote.testing import ScriptedLLM

SPANISH = "Paciente de 45 años que acude a urgencias por dolor abdominal. Vive con su esposa María Jesús en Albacete."
RUSSIAN = "Больная поступила с жалобами на боли в груди, живёт в Рязани с мужем."


def silent() -> ScriptedLLM:
    return ScriptedLLM(lambda request: "{}")


@pytest.mark.parametrize(
    ("note", "language"), [(SPANISH, "Spanish"), (RUSSIAN, "Russian"), ("患者王建国，男，63岁，胸闷三年", "Chinese")]
)
def test_a_note_that_no_detector_reads_is_for_review(note: str, language: str) -> None:
    verdict = Deidentifier(detectors=("rules",)).deidentify(note).verdict
    assert verdict.outcome == "review"
    assert ("unsupported-language", language) in {(r.code, r.detail) for r in verdict.reasons}


def test_a_name_in_another_script_is_replaced_and_the_note_released() -> None:
    result = Deidentifier(detectors=("rules",)).deidentify("Second opinion by Иванов Пётр is awaited. She is well.")
    assert result.text == "Second opinion by [PERSON] is awaited. She is well."


def test_a_better_name_for_words_in_another_script_wins() -> None:
    model = ScriptedLLM(lambda request: '{"LOCATION": ["from <<Афины>>"]}')
    with Deidentifier(model=model, detectors=("llm",), passes=1) as deid:
        result = deid.deidentify("She came from Афины last year, and she is well.")
    assert [r.span.type for r in result.replacements if "Афины" in r.span.text] == ["LOCATION"]


def test_a_model_reads_what_its_prompt_was_written_for() -> None:
    assert load("extract/v2").languages == ("en",)
    with Deidentifier(model=silent(), detectors=("rules", "llm")) as deid:
        assert "unsupported-language" in {r.code for r in deid.deidentify(SPANISH).verdict.reasons}


def test_a_model_that_is_trusted_with_a_language_reads_it_where_it_reads_all() -> None:
    with Deidentifier(model=silent(), detectors=("rules", "llm"), reads=("en", "es")) as deid:
        result = deid.deidentify(SPANISH)
    assert "unsupported-language" not in {r.code for r in result.verdict.reasons}
    assert result.manifest["models"]["reads"] == ["en", "es"]


def test_a_model_that_reads_doubtful_chunks_only_reads_no_language(tmp_path: Path) -> None:
    policy = tmp_path / "own.toml"
    policy.write_text('name = "own"\nextends = "strict"\n[models]\nroute = "doubtful"\n', encoding="utf-8")
    with Deidentifier(str(policy), model=silent(), detectors=("rules", "llm"), reads=("es",)) as deid:
        assert "unsupported-language" in {r.code for r in deid.deidentify(SPANISH).verdict.reasons}


def test_an_unanswered_chunk_is_not_read_in_any_language(tmp_path: Path) -> None:
    policy = tmp_path / "own.toml"
    policy.write_text('name = "own"\nextends = "strict"\n[models]\non_failure = "embedded"\n', encoding="utf-8")
    model = ScriptedLLM(lambda request: "no JSON")
    with Deidentifier(str(policy), model=model, detectors=("rules", "llm"), reads=("es",)) as deid:
        assert "unsupported-language" in {r.code for r in deid.deidentify(SPANISH).verdict.reasons}


def test_an_overlay_says_what_a_prompt_was_written_for(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text('base = "extract/v2"\nlanguages = ["es", "en"]\n', encoding="utf-8")
    assert load(str(path)).languages == ("en", "es")
    assert load(str(path)).version != load("extract/v2").version


def test_a_language_may_be_accepted_at_ones_own_risk() -> None:
    result = Deidentifier(detectors=("rules",), languages=("es",)).deidentify(SPANISH)
    assert "unsupported-language" not in {r.code for r in result.verdict.reasons}
    assert result.manifest["versions"]["languages"] == "en es"


def test_a_language_nobody_knows_is_refused_by_its_setting() -> None:
    with pytest.raises(SettingError, match="languages"):
        Deidentifier(languages=("spanish",))


def test_a_field_of_a_record_names_itself() -> None:
    record = {"dataType": "note", "text": SPANISH}
    reasons = Deidentifier(detectors=("rules",)).deidentify(record).verdict.reasons
    assert ("unsupported-language", "text", "Spanish") in {(r.code, r.field, r.detail) for r in reasons}


def test_a_narrative_of_fhir_is_held_and_a_short_field_is_not() -> None:
    def condition(text: str) -> dict[str, object]:
        return {"resourceType": "Condition", "subject": {"reference": "Patient/1"}, "note": [{"text": text}]}

    deid = Deidentifier(detectors=("rules",))
    assert "unsupported-language" in {r.code for r in deid.deidentify(condition(SPANISH)).verdict.reasons}
    assert "unsupported-language" not in {r.code for r in deid.deidentify(condition("HTA, DM2")).verdict.reasons}
