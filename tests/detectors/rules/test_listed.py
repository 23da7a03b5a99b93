"""Names, institutions, and towns from word lists, as the bundles use them. All texts are synthetic."""

from __future__ import annotations

import pytest

from incognote.detectors.rules.listed import finders, placed, unattached
from incognote.detectors.rules.view import View
from incognote.nouns import Span, Text


def found(code: str, text: str) -> list[tuple[str, str]]:
    view = View(Text(text))
    return [(c.type, text[c.start : c.end]) for find in finders(code) for c in find(view)]


@pytest.mark.parametrize(
    ("code", "text", "name"),
    [
        ("de", "Gespräch mit Frau Zwirnlein über die Entlassung.", "Zwirnlein"),
        ("es", "Comentado con la Dra. Zorrozua por teléfono.", "Zorrozua"),
        ("fr", "Avis du Dr Quervelec demandé ce matin.", "Quervelec"),
        ("ar", "تمت مناقشة الحالة مع الدكتور سامي الحربي صباحا", "سامي الحربي"),
    ],
)
def test_a_title_announces_a_name(code: str, text: str, name: str) -> None:
    assert name in [words for _, words in found(code, text)]


@pytest.mark.parametrize(
    ("code", "text", "name"),
    [
        ("de", "Patient: Zwirnlein, Ottokar\nDiagnose: Pneumonie", "Zwirnlein, Ottokar"),
        ("es", "Paciente: Zorrozua Ibarluzea\nDiagnóstico: neumonía", "Zorrozua Ibarluzea"),
    ],
)
def test_a_label_with_a_colon_announces_a_name_on_its_line(code: str, text: str, name: str) -> None:
    assert name in [words for _, words in found(code, text)]


def test_letters_attached_before_an_arabic_name_are_outside_the_span() -> None:
    assert "محمد العتيبي" in [words for _, words in found("ar", "تم شرح الخطة لمحمد العتيبي اليوم")]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("de", "Schwindel. Babinski negativ, Lasègue negativ. Sie nimmt Voltaren und Ramipril."),
        ("es", "Paciente con disnea. Babinski negativo, Lasègue negativo. Se pauta Nolotil y Ventolin."),
        ("fr", "La patiente se plaint de vertiges. Babinski négatif, Lasègue négatif. Doliprane et Ventoline."),
        ("ar", "المريضة تشكو من دوخة وغثيان. الفحص السريري سليم. أعطيت Voltaren"),
    ],
)
def test_drugs_eponyms_and_ordinary_words_are_no_names(code: str, text: str) -> None:
    assert found(code, text) == []


@pytest.mark.parametrize(
    ("code", "text", "institution"),
    [
        ("de", "Verlegung ins Marienkrankenhaus am Abend.", "Marienkrankenhaus"),
        ("es", "Derivada al Hospital San Cecilio para TAC.", "Hospital San Cecilio"),
        ("fr", "Transférée à la clinique Saint-Yves hier.", "clinique Saint-Yves"),
    ],
)
def test_an_institution_goes_from_its_first_word_to_its_last_proper_word(
    code: str, text: str, institution: str
) -> None:
    assert ("HOSPITAL", institution) in found(code, text)


@pytest.mark.parametrize(
    ("code", "text", "town"),
    [
        ("de", "wohnt in Bielefeld", "Bielefeld"),
        ("es", "vive en Zaragoza", "Zaragoza"),
        ("fr", "habite à Grenoble", "Grenoble"),
    ],
)
def test_a_town_is_found_after_a_preposition(code: str, text: str, town: str) -> None:
    assert ("CITY", town) in found(code, text)


@pytest.mark.parametrize(
    ("words", "type_", "left"),
    [
        ("لأحمد", "PATIENT", "أحمد"),
        ("لـأحمد", "PATIENT", "أحمد"),
        ("للبلوي", "CLINICIAN", "بلوي"),
        ("بالرياض", "CITY", "الرياض"),
        ("بمستشفى الشفاء", "HOSPITAL", "مستشفى الشفاء"),
        ("وRosalie", "CLINICIAN", "Rosalie"),
        ("ف15 مارس", "DATE", "15 مارس"),
        ("وليد", "PATIENT", "وليد"),
        ("بغداد", "CITY", "بغداد"),
        ("ب4417", "VEHICLE_LICENSE_PLATE_US", "ب4417"),
        ("عامل بناء", "OCCUPATION", "عامل بناء"),
    ],
)
def test_attached_arabic_letters_stay_outside_a_span_of_the_encoder(words: str, type_: str, left: str) -> None:
    text = Text(f"{words} x")
    assert unattached(Span(text, 0, len(words), type_), "ar").text == left
    assert unattached(Span(text, 0, len(words), type_), "fr").text == words


def test_a_place_of_the_encoder_gets_the_type_of_the_gazetteer() -> None:
    text = Text("Portugal")
    assert placed(Span(text, 0, 8, "CITY"), "fr").type == "COUNTRY"
    assert placed(Span(text, 0, 8, "PERSON"), "fr").type == "PERSON"
    assert placed(Span(Text("Monaco"), 0, 6, "CITY"), "fr").type == "CITY"
    assert placed(Span(Text("Durango"), 0, 7, "CITY"), "es").type == "CITY"


@pytest.mark.parametrize(
    ("code", "text", "words"),
    [
        ("es", "Ingresa en el Hosp. San Carlos esta noche.", "Hosp. San Carlos"),
        ("es", "Ingresa en el Hospital Gral. Gregorio Marañón hoy.", "Hospital Gral. Gregorio Marañón"),
        ("fr", "Vue au CHU de Brest. Son fils va bien.", "CHU de Brest"),
    ],
)
def test_an_institution_ends_with_the_sentence_and_not_after_an_abbreviation(code: str, text: str, words: str) -> None:
    assert words in [name for _, name in found(code, text)]
