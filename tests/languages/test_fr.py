"""French: each family of rules finds its identifiers and leaves clinical words, doses and scores alone."""

from __future__ import annotations

import pytest

from incognote.detectors.rules import RulesDetector
from incognote.languages import language
from incognote.nouns import Text

_RULES = RulesDetector(languages=("fr",))


def found(content: str) -> dict[str, str]:
    """Return the words of each span of a text with the type of the best span there."""
    spans = sorted(_RULES.detect([Text(content)])[0], key=lambda s: s.score)
    return {content[s.start : s.end]: s.type for s in spans if s.score >= 0.5}


@pytest.mark.parametrize(
    ("content", "words", "kind"),
    [
        ("Vue ce jour par le Dr Claire Vasseur en consultation.", "Claire Vasseur", "CLINICIAN"),
        ("Patient : DUPONT Jean-Marc, hospitalisé.", "DUPONT Jean-Marc", "PATIENT"),
        ("Mme MARTIN Odile, née LEFEBVRE, sort demain.", "LEFEBVRE", "PATIENT"),
        ("Sa fille Vanessa appelle ce matin.", "Vanessa", "RELATIVE"),
        ("Le frère d'Aurélie attend dehors.", "Aurélie", "RELATIVE"),
        ("Courrier de A. Boddaert reçu.", "A. Boddaert", "PERSON"),
        ("mr tanguy a bien dormi cette nuit", "tanguy", "PATIENT"),
    ],
)
def test_names_are_found(content: str, words: str, kind: str) -> None:
    assert found(content).get(words) == kind


@pytest.mark.parametrize(
    ("content", "words", "kind"),
    [
        ("Adressé par l'hôpital Necker pour avis.", "hôpital Necker", "HOSPITAL"),
        ("Transféré au CHU de Nantes hier.", "CHU de Nantes", "HOSPITAL"),
        ("Il a étudié au lycée Diderot.", "lycée Diderot", "ORGANIZATION"),
        ("Ordonnance faxée à la Pharmacie du Rail.", "Pharmacie du Rail", "PHARMACY"),
        ("Il vit en Côte d'Ivoire depuis peu.", "Côte d'Ivoire", "COUNTRY"),
        ("Il est né à Saint-Étienne.", "Saint-Étienne", "CITY"),
    ],
)
def test_institutions_and_towns_are_found_without_their_article(content: str, words: str, kind: str) -> None:
    assert found(content).get(words) == kind


@pytest.mark.parametrize(
    ("content", "words", "kind"),
    [
        ("Opéré le 12/03/2021 sans complication.", "12/03/2021", "DATE"),
        ("Revu le 3.", "3", "DATE"),
        ("Rendez-vous mardi 12 au matin.", "mardi 12", "DATE"),
        ("Contrôle le 1er mai.", "1er mai", "DATE"),
        ("Suivi depuis fin mars.", "fin mars", "DATE"),
        ("Stent posé en 2016.", "2016", "DATE"),
        ("Dr R. le 9 avril 2021 à 14h30 en salle", "9 avril 2021 à 14h30", "DATE_TIME"),
        ("Née le 22.06.1974 ce jour.", "22.06.1974", "BIRTH_DATE_TIME"),
        ("Décédé le 4 décembre 2015.", "4 décembre 2015", "DEATH_DATE_TIME"),
        ("Examinée le vingt-trois juin deux mille dix-huit.", "vingt-trois juin deux mille dix-huit", "DATE"),
    ],
)
def test_dates_are_found(content: str, words: str, kind: str) -> None:
    assert found(content).get(words) == kind


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("Homme de 72 ans, fumeur.", "72 ans"),
        ("Enfant âgé de 3 ans et demi.", "3 ans et demi"),
        ("Petite fille de 6 semaines.", "6 semaines"),
        ("Il a la soixantaine.", "soixantaine"),
        ("Âge : 67", "67"),
    ],
)
def test_ages_are_found(content: str, words: str) -> None:
    assert found(content).get(words) == "AGE"


@pytest.mark.parametrize(
    ("content", "words", "kind"),
    [
        ("Tél. 01 23 45 67 89", "01 23 45 67 89", "TELEPHONE_NUMBER"),
        ("Joindre le poste 7741.", "7741", "TELEPHONE_NUMBER"),
        ("Cell 514-555-0162 le soir", "514-555-0162", "TELEPHONE_NUMBER"),
        ("Fax : 02 61 91 65 41", "02 61 91 65 41", "FAX_NUMBER"),
        ("IPP 8004417263", "8004417263", "MEDICAL_RECORD_NUMBER"),
        ("NDA 230918842", "230918842", "FIN"),
        ("NIR 2 69 05 49 588 157 80", "2 69 05 49 588 157 80", "SSN_OR_TAXPAYER"),
        ("NAM : TREM 5503 1218", "TREM 5503 1218", "HEALTH_PLAN_ID"),
        ("RPPS 10101884276", "10101884276", "LICENSE_NUMBER"),
        ("Habite 12 bis rue des Lilas, 75012 Paris CEDEX 12", "12 bis rue des Lilas, 75012 Paris CEDEX 12", "ADDRESS"),
        ("Domicile : Rue du Midi 14, 1000 Bruxelles", "Rue du Midi 14, 1000 Bruxelles", "ADDRESS"),
        ("Il est en chambre 318 ce jour.", "chambre 318", "ROOM"),
        ("Profession : chauffeur de bus", "chauffeur de bus", "OCCUPATION"),
        ("Il travaille comme soudeur.", "soudeur", "OCCUPATION"),
        ("Passeport n° BM0481265", "BM0481265", "PASSPORT_NUMBER_US"),
        ("Voiture immatriculée CK-418-ZW", "CK-418-ZW", "VEHICLE_LICENSE_PLATE_US"),
    ],
)
def test_numbers_addresses_rooms_and_occupations_are_found(content: str, words: str, kind: str) -> None:
    assert found(content).get(words) == kind


@pytest.mark.parametrize(
    "content",
    [
        "Doliprane 1 g x 3/j, Eliquis 5 mg 1-0-1, Lasilix 40 mg le matin.",
        "Signe de Babinski absent, Lasègue à 30°, Glasgow 15, score de Child A6.",
        "TA 138/78, FC 72, SpO2 98 %, EVA 3/10, MMS 28/30.",
        "Maladie de Crohn évoluant depuis 10 ans, traitement pendant 3 mois.",
        "Scanner thoracique : pas d'embolie pulmonaire. Créatinine 121 µmol/L.",
    ],
)
def test_drugs_eponyms_doses_and_scores_are_untouched(content: str) -> None:
    assert found(content) == {}


@pytest.mark.parametrize(
    ("name", "valid", "invalid"),
    [
        ("fr_nir", "2 69 05 49 588 157 80", "2 69 05 49 588 157 81"),
        ("fr_niss", "85.07.30-033 28", "85.07.30-033 29"),
        ("fr_avs", "756.9217.0769.85", "756.9217.0769.84"),
        ("fr_sin", "046 454 286", "046 454 287"),
        ("fr_ramq", "TREM 5503 1218", "TREM 5533 1218"),
        ("fr_date_fr", "31/12/2020", "32/13/2020"),
    ],
)
def test_check_digits_hold_for_valid_numbers_only(name: str, valid: str, invalid: str) -> None:
    check = language("fr").part("rules").VALIDATORS[name]
    assert check(valid) is True
    assert check(invalid) is False
    assert check("12") is not True or name == "fr_date_fr"


def test_the_key_of_a_corsican_nir_counts_2a_as_19() -> None:
    check = language("fr").part("rules").VALIDATORS["fr_nir"]
    key = 97 - int("2491019004033") % 97
    assert check(f"249102A004033{key:02}") is True
