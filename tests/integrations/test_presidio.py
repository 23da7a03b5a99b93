"""The recognizer inside the real `AnalyzerEngine`."""

from __future__ import annotations

import pytest

pytest.importorskip("presidio_analyzer", reason="the extra `presidio` is not installed")

from presidio_analyzer import AnalyzerEngine, Pattern, PatternRecognizer, RecognizerRegistry
from presidio_analyzer.nlp_engine import NoOpNlpEngine

from incognote import Deidentifier, UsageError
from incognote.errors import UnsupportedFormat
from incognote.integrations.presidio import IncognoteRecognizer
from incognote.schemas.catalogue import catalogue

NOTE = "Mr. Emeka Okonkwo, 66, seen by Dr. Abara on 03/09/2025. MRN 4471902. Protocol kappa."


@pytest.fixture(scope="module")
def analyzer() -> AnalyzerEngine:
    kappa = PatternRecognizer("STUDY", patterns=[Pattern("study", r"kappa", 0.6)])
    ours = IncognoteRecognizer(Deidentifier(detectors=["rules"]))
    engine = NoOpNlpEngine([{"lang_code": "en", "model_name": ""}])
    return AnalyzerEngine(registry=RecognizerRegistry(recognizers=[ours, kappa]), nlp_engine=engine)


def test_its_spans_have_presidio_s_names_and_stand_beside_those_of_other_recognizers(analyzer: AnalyzerEngine) -> None:
    found = {(each.entity_type, NOTE[each.start : each.end]) for each in analyzer.analyze(NOTE, "en")}
    assert found == {
        ("PERSON", "Emeka Okonkwo"), ("AGE", "66"), ("PERSON", "Abara"), ("DATE_TIME", "03/09/2025"),
        ("MEDICAL_RECORD", "4471902"), ("STUDY", "kappa"),
    }  # fmt: skip


def test_a_request_for_one_of_presidio_s_types_gets_that_type_alone(analyzer: AnalyzerEngine) -> None:
    found = analyzer.analyze(NOTE, "en", entities=["DATE_TIME"])
    assert [(each.entity_type, each.start) for each in found] == [("DATE_TIME", NOTE.index("03/09"))]


def test_a_score_threshold_of_presidio_s_holds(analyzer: AnalyzerEngine) -> None:
    scores = {each.entity_type: each.score for each in analyzer.analyze(NOTE, "en")}
    over = (min(scores.values()) + max(scores.values())) / 2
    kept = {each.entity_type for each in analyzer.analyze(NOTE, "en", score_threshold=over)}
    assert kept == {name for name, score in scores.items() if score >= over} != set(scores)


def test_the_decision_process_names_the_rule_and_our_type(analyzer: AnalyzerEngine) -> None:
    (found,) = analyzer.analyze(NOTE, "en", entities=["MEDICAL_RECORD"], return_decision_process=True)
    assert found.analysis_explanation.pattern_name.startswith("rules:medical_record")
    assert found.recognition_metadata["incognote_type"] == "MEDICAL_RECORD_NUMBER"


def test_every_type_of_the_catalogue_has_a_name_that_it_can_be_asked_for_by(analyzer: AnalyzerEngine) -> None:
    supported = set(analyzer.get_supported_entities("en"))
    assert len(catalogue()) > 30
    assert all(catalogue().presidio_name(name, supported) for name, kind in catalogue().items() if not kind.pixels)
    assert catalogue().presidio_name("PATIENT", ["PERSON"]) == "PERSON"
    assert catalogue().presidio_name("PATIENT", ["DATE_TIME"]) is None


def test_what_cannot_be_read_raises_instead_of_counting_as_empty(analyzer: AnalyzerEngine) -> None:
    with pytest.raises(UnsupportedFormat):
        analyzer.analyze(r"{\rtf1\ansi Seen by Dr. Ab\'61ra}", "en")
    with pytest.raises(UsageError):
        IncognoteRecognizer().analyze(None, [])  # type: ignore[arg-type]  # as untyped callers call it
