"""Which rules read a text: those of the languages that it is written in. All texts are synthetic."""

from __future__ import annotations

import pytest

from incognote import Deidentifier
from incognote.agents.detection import Detection
from incognote.detectors.rules import RulesDetector
from incognote.nouns import Text

CODES = ("en", "ar", "de", "es", "fr")
GERMAN = (
    "Wir berichten über die Patientin Frau Lindqvist, die sich am 3. März 2021 wegen Dyspnoe in unserer Ambulanz "
    "vorstellte."
)
ENGLISH = "Mrs. Lindqvist was seen in clinic on March 3, 2021 because of shortness of breath and will return next week."
ARABIC = "حضرت المريضة فاطمة العتيبي اليوم تشكو من ألم في الصدر منذ يومين وتم إعطاؤها Aspirin 300 mg ونصحت بالمراجعة."


@pytest.fixture(scope="module")
def rules() -> RulesDetector:
    return RulesDetector(languages=CODES, accepted=CODES)


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        (GERMAN, {"de"}),
        (ENGLISH, {"en"}),
        (ARABIC, {"ar", "en"}),
        ("Paciente mujer de 45 años que acude a urgencias por dolor torácico desde hace dos días.", {"es"}),
        ("Patiente de 45 ans adressée aux urgences pour une douleur thoracique depuis deux jours.", {"fr"}),
    ],
)
def test_a_text_is_read_by_the_rules_of_its_language(rules: RulesDetector, text: str, languages: set[str]) -> None:
    assert rules.spoken(Text(text)) == languages


def test_english_rules_also_read_a_text_in_a_language_that_is_not_accepted() -> None:
    assert RulesDetector(languages=CODES).spoken(Text(GERMAN)) == {"de", "en"}


def test_english_rules_alone_read_every_text() -> None:
    assert RulesDetector().spoken(Text(GERMAN)) == {"en"}


def test_an_english_note_with_a_long_german_letter_is_read_by_both(rules: RulesDetector) -> None:
    letter = " ".join([GERMAN] * 3)
    assert rules.spoken(Text(" ".join([ENGLISH] * 6) + "\n\n" + letter)) == {"de", "en"}


def test_rules_that_hold_in_every_language_read_a_german_text(rules: RulesDetector) -> None:
    (spans,) = rules.detect([Text(f"{GERMAN} Rückfragen an maria.l@klinik-nord.example bitte.")])
    assert "EMAIL" in {span.type for span in spans}


def test_the_english_encoder_does_not_read_a_german_text() -> None:
    (spans,) = Detection(("rules", "encoder"), languages=["de"]).detect([Text(GERMAN)])
    assert not [span for span in spans if any(source.startswith("encoder") for source in span.sources)]


def test_a_language_without_a_proven_bundle_goes_to_review_unless_it_is_accepted() -> None:
    with Deidentifier(detectors=("rules",)) as careful:
        held = careful.deidentify(GERMAN)
    with Deidentifier(detectors=("rules",), languages=["de"]) as accepting:
        released = accepting.deidentify(GERMAN)
    assert [reason.code for reason in held.verdict.reasons] == ["unsupported-language"]
    assert released.verdict.outcome == "release"
    assert "Lindqvist" not in released.text
