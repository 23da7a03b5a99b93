"""Which rules read a text: those of the languages that it is written in. All texts are synthetic."""

from __future__ import annotations

import pytest

from incognote import Deidentifier
from incognote.agents.detection import Detection
from incognote.detectors.agreement import agreed
from incognote.detectors.rules import RulesDetector
from incognote.errors import SettingError
from incognote.nouns import Span, Text
from incognote.schemas.policy import load_policy

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
    sources = {source for span in spans for source in span.sources}
    assert "encoder:words" in sources
    assert "encoder:full" not in sources


def test_a_language_without_a_proven_bundle_goes_to_review_unless_it_is_accepted() -> None:
    with Deidentifier(detectors=("rules",)) as careful:
        held = careful.deidentify(GERMAN)
    with Deidentifier(detectors=("rules",), languages=["de"]) as accepting:
        released = accepting.deidentify(GERMAN)
    assert [reason.code for reason in held.verdict.reasons] == ["unsupported-language"]
    assert released.verdict.outcome == "release"
    assert "Lindqvist" not in released.text


ENGLISH_NOTE = (
    "Mrs. Harriet Kapoor was seen at Rolling Mesa Drug with her husband Wren. The nurse from Sagebrush Clinic called, "
    "and this is the third visit of the year for pain in the right knee."
)


def found(detection: Detection, text: str) -> set[str]:
    (settled,) = detection.find([Text(text)], load_policy("strict"))
    return {span.text for span in settled.spans}


@pytest.mark.parametrize(
    "more", ["\nالسلام عليكم ورحمة الله وبركاته", "\nVielen Dank und freundliche Grüße aus der Ambulanz"]
)
def test_a_sentence_in_an_accepted_language_does_not_turn_the_english_encoder_off(more: str) -> None:
    detection = Detection(("rules", "encoder"), languages=["ar", "de", "es", "fr"])
    with_more = found(detection, ENGLISH_NOTE + more)
    if "Dank" in more:  # after Arabic, its encoder adds a word to one span
        assert found(detection, ENGLISH_NOTE) <= with_more
    assert all(any(words in each for each in with_more) for words in found(detection, ENGLISH_NOTE))


def test_an_arabic_note_with_a_few_english_words_is_read_only_by_its_own_encoder() -> None:
    detection = Detection(("rules", "encoder"), languages=["ar"])
    text = "المريض محمد العتيبي يأخذ metoprolol 40 mg صباحا ومساء، وعنده ألم في الصدر منذ يومين مع CXR طبيعي"
    sources = {source for span in detection.detect([Text(text)])[0] for source in span.sources}
    assert "encoder:words" in sources
    assert "encoder:full" not in sources


def test_a_span_is_denied_only_by_all_encoders_that_read_the_text() -> None:
    class Opinion:
        spans = ()

        def __init__(self, sure: float) -> None:
            self._sure = sure

        def sure(self, start: int, end: int) -> float:
            return self._sure

    span = Span(Text("Seen by Colm."), 8, 12, "PERSON", 0.6, ("rules:names.single",))
    codes = frozenset({"de", "en"})
    judged = [agreed([span], [Opinion(0.05), Opinion(other)], codes) for other in (0.02, 0.9)]
    scores = [one.score for spans in judged for one in spans]
    assert scores == [0.05, 0.6]


def test_a_language_package_without_its_encoder_is_an_error_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incognote.agents.detection.find_spec", lambda name: None)
    with pytest.raises(SettingError, match=r"pip install \./languages/multilingual"):
        Detection(("rules", "encoder"))
