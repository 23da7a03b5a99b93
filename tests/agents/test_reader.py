"""What the policy lets a model read, and how chunks without an answer are handled."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from incognote import Deidentifier
from incognote.errors import EgressRefused, KeyMissing, PolicyProblem, SettingError, UnknownName
from incognote.extraction.routing import Chance, least_value, value
from incognote.keys import Keyring
from incognote.llm.base import Reply, Request, Usage
from incognote.nouns import Span, Text
from incognote.prompts.loader import load
from incognote.schemas.choices import ModelTerms
from incognote.schemas.policy import load_policy
from incognote.testing import ScriptedLLM, text_of

NOTE = "Seen by Dr. Emily Carter on 03/16/2025. Her budgie Quill is well."


def policy(tmp_path: Path, models: str) -> str:
    path = tmp_path / "own.toml"
    path.write_text(f'name = "own"\nextends = "strict"\n[models]\n{models}\n', encoding="utf-8")
    return str(path)


def finds_quill() -> ScriptedLLM:
    return ScriptedLLM(lambda request: '{"PERSON": ["budgie <<Quill>>"]}' if "Quill" in text_of(request) else "{}")


def test_what_either_finds_is_removed() -> None:
    with Deidentifier(model=finds_quill()) as deid:
        result = deid.deidentify(NOTE)
    assert result.text == "Seen by Dr. [PERSON] on [DATE]. Her budgie [PERSON] is well."
    read = result.manifest["models"]
    assert (read["route"], read["chunks"], read["requests"]) == ("all", 1, 1)
    assert read["placed"] == {"exact": 1}


def test_the_policy_may_keep_the_model_out(tmp_path: Path) -> None:
    model = finds_quill()
    with Deidentifier(policy(tmp_path, 'route = "embedded"'), model=model, detectors=("rules", "llm")) as deid:
        result = deid.deidentify(NOTE)
    assert model.calls == 0
    assert "Quill" in result.text
    assert result.manifest["models"]["route"] == "embedded"


def test_only_chunks_where_something_may_be_missed_are_read_where_the_policy_says_so() -> None:
    terms = load_policy("strict")
    text = Text("Seen by Quill. " + "The wound is dry. " * 8 + "Seen by Rowan. " + "The wound is dry. " * 8)
    chances = [
        Span(text, 8, 13, "PERSON", 0.9, ("encoder:full",)),
        Span(text, 167, 172, "PERSON", 0.9, ("encoder:full", "rules:names.title")),
    ]
    share = next(s / 1000 for s in range(1, 1001) if least_value(s / 1000, 20) <= value([Chance(8, 13, "alone")], 20))
    with Deidentifier(model=ScriptedLLM(lambda request: "{}"), chunk_words=20) as deid:
        reader = deid.engine.reader
        assert reader is not None
        (chunk,) = reader.plan(text, chances, replace(terms, models=ModelTerms("doubtful", share=share + 0.05)))
        assert reader.plan(text, chances, replace(terms, models=ModelTerms("doubtful", share=share - 0.05))) == []
    assert chunk.start == 0


def test_a_text_without_a_letter_is_read_by_nobody() -> None:
    model = finds_quill()
    with Deidentifier(model=model) as deid:
        assert deid.deidentify(" -- \n ... ").manifest["models"]["route"] == "nothing"
    assert model.calls == 0


@pytest.mark.parametrize("reply", [Reply("", finish="refusal"), Reply("", finish="filter")])
def test_a_declined_chunk_is_for_review_unless_the_policy_lets_the_rules_stand_for_it(
    tmp_path: Path, reply: Reply
) -> None:
    with Deidentifier(model=ScriptedLLM(lambda request: reply)) as deid:
        held = deid.deidentify(NOTE)
    assert held.verdict.outcome == "review"
    assert {reason.code for reason in held.verdict.reasons} == {"model-declined"}
    with Deidentifier(policy(tmp_path, 'on_failure = "embedded"'), model=ScriptedLLM(lambda request: reply)) as deid:
        let = deid.deidentify(NOTE)
    assert let.verdict.outcome == "release"
    assert let.manifest["models"]["unanswered"] == {"model-declined": 1}


def test_a_budget_holds_for_the_whole_run() -> None:
    model = ScriptedLLM(lambda request: Reply("{}", usage=Usage(90, 10, 0, 1, 0.0)))
    with Deidentifier(model=model, budget_tokens=250, concurrency=1, model_slots=1) as deid:
        outcomes = [result.verdict.outcome for result in deid.batch([NOTE] * 6)]
    assert outcomes.count("review") >= 3
    assert model.calls <= 6


def test_money_cannot_be_bounded_where_no_price_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    with pytest.raises(SettingError, match="price"):
        _ = Deidentifier(model="openai/nobody-knows-me", budget_usd=1.0).engine


def test_a_model_elsewhere_is_refused_before_any_note_without_a_recorded_agreement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    with pytest.raises(EgressRefused, match="incognote model agree"):
        _ = Deidentifier(model="openai/gpt-4o-mini").engine


def test_batches_need_the_policys_consent_and_a_recording_under_a_lasting_key(tmp_path: Path) -> None:
    words = {"model": "openai/m", "api_base": "http://127.0.0.1:9/v1", "batch": True}
    with pytest.raises(SettingError, match="recording"):
        _ = Deidentifier(**words).engine  # type: ignore[arg-type] # keywords shared by several tests
    with pytest.raises(KeyMissing):
        _ = Deidentifier(**words, recording=tmp_path / "r").engine  # type: ignore[arg-type] # as above
    Keyring.write_new(tmp_path / "key")
    with pytest.raises(PolicyProblem, match="allow_provider_storage"):
        _ = Deidentifier(**words, recording=tmp_path / "r", key_file=tmp_path / "key").engine  # type: ignore[arg-type] # as above


def test_the_detector_llm_needs_a_model_and_can_be_left_out() -> None:
    with pytest.raises(SettingError, match="model"):
        _ = Deidentifier(detectors=("llm",)).engine
    with pytest.raises(UnknownName, match="llm"):
        _ = Deidentifier(detectors=("oracle",)).engine
    assert Deidentifier(model=finds_quill(), detectors=("rules",)).engine.reader is None


def test_what_is_set_for_one_model_holds_for_it() -> None:
    model = ScriptedLLM(lambda request: "{}", name="openai/small")
    tables = {"openai/small": {"passes": 1, "chunk_words": 16, "max_tokens": 99}}
    with Deidentifier(model=model, models=tables) as deid:
        manifest = deid.deidentify(NOTE + " " + NOTE + " " + NOTE).manifest["models"]
    assert (manifest["passes"], manifest["chunk_words"]) == (1, 16)
    assert manifest["chunks"] > 1
    assert {request.max_tokens for request in model.requests} == {99}


def test_all_types_are_asked_for_where_all_are_wanted() -> None:
    model = ScriptedLLM(
        lambda request: '{"MARITAL_STATUS": ["<<widowed>>"]}' if "MARITAL" in str(request.schema) else "{}"
    )
    with Deidentifier(model=model, passes=1) as deid:
        assert [s.text for s in deid.detect(["She is widowed."], types="all")[0]] == ["widowed"]
        assert deid.detect(["She is widowed."]) == [[]]


READS_GERMAN = {"scripted/model": {"reads": ["en", "de"]}}
GERMAN = (
    "Die Patientin Jutta Wiesner wurde am 3. Mai wegen einer akuten Atemnot aufgenommen und erhielt Sauerstoff über "
    "die Nase. Der weitere Verlauf war ohne Besonderheiten, und sie konnte nach wenigen Tagen nach Hause gehen."
)


def test_a_german_text_is_asked_about_with_the_additions_for_german_and_the_manifest_says_so() -> None:
    seen: list[str] = []

    def answer(request: Request) -> str:
        seen.append(request.messages[0].content)
        return '{"PERSON": ["<<Jutta Wiesner>>"], "DATE": ["am <<3. Mai>> wegen"]}'

    with Deidentifier(model=ScriptedLLM(answer), models=READS_GERMAN) as deid:
        german, english = deid.deidentify(GERMAN), deid.deidentify(NOTE)
    assert german.verdict.outcome == "release"
    assert "The text is in German" in seen[0]
    assert "The text is in German" not in seen[1]
    own = load("extract/v3").localized(frozenset({"de"})).version
    assert german.manifest["models"]["prompt"]["languages"] == {"de": own}
    assert "languages" not in english.manifest["models"]["prompt"]


def test_the_rules_of_a_language_that_a_model_reads_work_as_if_it_were_accepted() -> None:
    text = Text(GERMAN)
    with Deidentifier(model=ScriptedLLM(lambda request: "{}"), models=READS_GERMAN) as deid:
        detection = deid.engine.detection
        assert detection.reads == {"en"}
        assert {source for span in detection.detect([text])[0] for source in span.sources if "rules:" in source} == {
            "rules:de/dates_words.day-month",
            "rules:de/listed.titled",
        }


def test_a_short_english_text_is_read_by_the_english_rules_if_the_model_also_reads_spanish(tmp_path: Path) -> None:
    reads = {"scripted/model": {"reads": ["en", "es"]}}
    for route in ("all", "doubtful"):
        own, model = policy(tmp_path, f'route = "{route}"'), ScriptedLLM(lambda request: "{}")
        with Deidentifier(own, model=model, models=reads, detectors=("rules", "llm")) as deid:
            assert deid.deidentify("La Jolla, CA 92037 c/o Keller").text == "[ADDRESS] c/o [PERSON]"
