"""German: each family of rules finds its identifiers and leaves clinical words alone."""

from __future__ import annotations

import pytest

from incognote.detectors.rules import RulesDetector
from incognote.nouns import Text

pytest.importorskip("incognote_de")
RULES = RulesDetector(languages=("de",))


def found(text: str) -> set[tuple[str, str]]:
    """Return type and words of every finding with a usual score."""
    return {(span.type, text[span.start : span.end]) for span in RULES.detect([Text(text)])[0] if span.score >= 0.5}


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("Aufnahme am 03.04.2019 mit Fieber.", "DATE", "03.04.2019"),
        ("Termin am Mi 17. April, 9 Uhr 30.", "DATE_TIME", "Mi 17. April, 9 Uhr 30"),
        ("Seit Anfang März Husten.", "DATE", "Anfang März"),
        ("Kontrolle in KW 12/2021.", "DATE", "KW 12/2021"),
        ("Erster Anfall an Silvester 2020.", "DATE", "Silvester 2020"),
        ("Hinterwandinfarkt 2009, damals behandelt.", "DATE", "2009"),
        ("Frau Huber, geb. am 12.03.1941, kommt.", "BIRTH_DATE_TIME", "12.03.1941"),
        ("gestorben 26. Jänner 2008, 05.40 Uhr", "DEATH_DATE_TIME", "26. Jänner 2008, 05.40 Uhr"),
        ("Der 73-jährige Mann klagt.", "AGE", "73-jährige"),
        ("Die neunundsiebzigjährige Dame.", "AGE", "neunundsiebzigjährige"),
        ("Alter: 82", "AGE", "82"),
        ("Tel. 07633/402-4317", "TELEPHONE_NUMBER", "07633/402-4317"),
        ("Natel +41 78 690 14 27", "TELEPHONE_NUMBER", "+41 78 690 14 27"),
        ("Fax 031 552 70 19", "FAX_NUMBER", "031 552 70 19"),
        ("wohnhaft Lindenstr. 14, 50674 Köln", "ADDRESS", "Lindenstr. 14, 50674 Köln"),
        ("Unterweißenbach 47, 8330 Feldbach", "ADDRESS", "Unterweißenbach 47, 8330 Feldbach"),
        ("Pat. liegt in Zimmer 12", "ROOM", "Zimmer 12"),
        ("AHV-Nr. 756.1234.5678.97", "SSN_OR_TAXPAYER", "756.1234.5678.97"),
        ("KVNR: A123456780", "HEALTH_PLAN_ID", "A123456780"),
        ("LANR 123456601", "LICENSE_NUMBER", "123456601"),
        ("Fallnummer: 80217745", "FIN", "80217745"),
        ("IBAN DE89 3704 0044 0532 0130 00", "BANK_ACCOUNT_NUMBER", "DE89 3704 0044 0532 0130 00"),
        ("Herr Trautwein war mobil.", "PATIENT", "Trautwein"),
        ("Besprochen mit Dr. med. Eberhard Schwörer.", "CLINICIAN", "Eberhard Schwörer"),
        ("Die Tochter Angelika rief an.", "RELATIVE", "Angelika"),
        ("Verlegung ins Klinikum Emden.", "HOSPITAL", "Klinikum Emden"),
        ("Er lag im Marienkrankenhaus.", "HOSPITAL", "Marienkrankenhaus"),
        ("Kasse: AOK Nordost", "ORGANIZATION", "AOK Nordost"),
        ("Sie arbeitet als Polsterin.", "OCCUPATION", "Polsterin"),
        ("Sein Bruder ist Kranführer.", "OCCUPATION", "Kranführer"),
        ("Sie kommt aus Osnabrück.", "CITY", "Osnabrück"),
    ],
)
def test_an_identifier_is_found_with_its_type(text: str, kind: str, words: str) -> None:
    assert (kind, words) in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "Ramipril 5 mg 1-0-1, Marcumar nach INR, Novalgin 20 Tropfen bei Bedarf.",
        "Babinski beidseits negativ, Lasègue positiv, kein Morbus Bechterew.",
        "NYHA III, CHA2DS2-VASc 4, Child-Pugh B, GCS 15, ICD F20.0.",
        "Seit drei Wochen Husten, Kontrolle in 7 Tagen.",
        "Die Patientin wurde über die Behandlung aufgeklärt und war einverstanden.",
    ],
)
def test_clinical_words_are_untouched(text: str) -> None:
    assert found(text) == set()


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("kvnr", "A123456780", "A123456781"),
        ("ahv", "756.1234.5678.97", "756.1234.5678.98"),
        ("rvnr", "15 070649 C 103", "15 070649 C 104"),
        ("steuer_id", "86095742719", "86095742710"),
        ("svnr", "1237 010180", "1238 010180"),
        ("lanr", "123456601", "123456701"),
        ("ik", "109905003", "109905004"),
    ],
)
def test_a_check_digit_tells_right_from_wrong(name: str, right: str, wrong: str) -> None:
    from incognote_de.rules.validators import VALIDATORS

    assert VALIDATORS[name](right) is True
    assert VALIDATORS[name](wrong) is False
    assert VALIDATORS[name]("12") is None
