"""Spanish: each family of rules finds its identifiers and leaves clinical words alone."""

from __future__ import annotations

import pytest

from incognote.detectors.rules import RulesDetector
from incognote.nouns import Text

pytest.importorskip("incognote_es")
RULES = RulesDetector(languages=("es",))


def found(text: str) -> set[tuple[str, str]]:
    """Return type and words of every finding with a usual score."""
    return {(span.type, text[span.start : span.end]) for span in RULES.detect([Text(text)])[0] if span.score >= 0.5}


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("Ingresó el 03/04/2019 con fiebre.", "DATE", "03/04/2019"),
        ("La operaron el 15-III-2020 de la rodilla.", "DATE", "15-III-2020"),
        ("Vuelve el martes 3 a la consulta.", "DATE", "martes 3"),
        ("Control a finales de mayo en la consulta.", "DATE", "finales de mayo"),
        ("Fue operado el tres de mayo de dos mil veinte.", "DATE", "tres de mayo de dos mil veinte"),
        ("Colecistectomía en 1998 sin incidencias.", "DATE", "1998"),
        ("Desde la Semana Santa tiene tos.", "DATE", "Semana Santa"),
        ("Llegada el 18/08/2021 03:42 en ambulancia.", "DATE_TIME", "18/08/2021 03:42"),
        ("Fecha de nacimiento: 09/02/1941. Sin alergias.", "BIRTH_DATE_TIME", "09/02/1941"),
        ("El padre falleció el 2 de noviembre de 2010 de un infarto.", "DEATH_DATE_TIME", "2 de noviembre de 2010"),
    ],
)
def test_dates_in_every_form_are_found(text: str, kind: str, words: str) -> None:
    assert (kind, words) in found(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Varón de 67 años con disnea.", "67 años"),
        ("Niña de 3 años y medio con tos.", "3 años y medio"),
        ("Paciente de 67 a, con disnea.", "67 a"),
        ("Lactante de 4 m con fiebre y tos.", "4 m"),
        ("Mujer de veintinueve años, soltera.", "veintinueve años"),
        ("Edad: 58. Sin alergias conocidas.", "58"),
        ("Fuma desde los 13, un paquete al día.", "13"),
    ],
)
def test_ages_are_found(text: str, words: str) -> None:
    assert ("AGE", words) in found(text)


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("Tfno: 917 38 40 52 de la hija.", "TELEPHONE_NUMBER", "917 38 40 52"),
        ("Llamar al celular 55 3917 4086 de la hija.", "TELEPHONE_NUMBER", "55 3917 4086"),
        ("La hija está en el +34 654 20 91 37 por la tarde.", "TELEPHONE_NUMBER", "+34 654 20 91 37"),
        ("Fax: 967 596 685 de la consulta.", "FAX_NUMBER", "967 596 685"),
        ("NHC: 2094417. El paciente está estable.", "MEDICAL_RECORD_NUMBER", "2094417"),
        ("NASS: 26 63514095 12. El paciente está estable.", "HEALTH_PLAN_ID", "26 63514095 12"),
        ("Dra. Marta Leal, nº col. 282856114, en la consulta.", "LICENSE_NUMBER", "282856114"),
        ("El paciente está en la cama 217 de la planta.", "ROOM", "cama 217"),
        ("Ambulancia con placas: ABC-123-D en la puerta.", "VEHICLE_LICENSE_PLATE_US", "ABC-123-D"),
        ("Ocupación: albañil. El paciente fuma.", "OCCUPATION", "albañil"),
        ("El padre trabaja de molinero de nixtamal.", "OCCUPATION", "molinero de nixtamal"),
    ],
)
def test_numbers_with_their_label_are_found(text: str, kind: str, words: str) -> None:
    assert (kind, words) in found(text)


@pytest.mark.parametrize(
    "words",
    [
        "C/ Mayor 14, 3ºB, 28013 Madrid",
        "Cra 15 # 45-23",
        "Calle 5 #123, Col. Roma, C.P. 06700",
        "200 m norte de la iglesia",
        "Col. Kennedy, bloque 12, casa 3415",
    ],
)
def test_an_address_is_one_span(words: str) -> None:
    assert ("ADDRESS", words) in found(f"El paciente vive en {words}.")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Vista por la Dra. Carmen Ruiz Molina en la consulta.", "Carmen Ruiz Molina"),
        ("Apellidos: CALVO IGLESIAS. El paciente está estable.", "CALVO IGLESIAS"),
        ("Vive con su hermana Consuelo en el pueblo.", "Consuelo"),
        ("El marido, Quim, es el cuidador principal.", "Quim"),
        ("Acude doña María de la Cruz Pérez por tos.", "María de la Cruz Pérez"),
        ("Informado por N. Boluda, residente de la unidad.", "N. Boluda"),
    ],
)
def test_names_with_two_surnames_and_particles_are_found(text: str, words: str) -> None:
    assert words in {value for _, value in found(text)}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Ingresado en el Hospital Universitario La Paz por disnea.", "Hospital Universitario La Paz"),
        ("Seguimiento en el Centro de Salud Barrio del Pilar por tos.", "Centro de Salud Barrio del Pilar"),
        ("Fue enviada desde la UMF 46 con disnea y fiebre.", "UMF 46"),
        ("HOSPITAL UNIVERSITARIO LA PAZ\nEl paciente está estable.", "HOSPITAL UNIVERSITARIO LA PAZ"),
    ],
)
def test_institutions_are_found(text: str, words: str) -> None:
    assert ("HOSPITAL", words) in found(text)


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        ("dni", "12345678Z", "12345678A"),
        ("dni", "X1234567L", "X1234567A"),
        ("rut", "12.345.678-5", "12.345.678-4"),
        ("cuil", "20-12345678-6", "20-12345678-5"),
        ("curp", "HEGG560427MVZRRL04", "HEGG560427MVZRRL05"),
        ("naf", "28 12345678 40", "28 12345678 41"),
        ("cedula_uruguay", "1.234.567-2", "1.234.567-3"),
        ("cedula_ecuador", "1710034065", "1710034066"),
    ],
)
def test_check_digits_tell_a_number_from_a_near_miss(check: str, good: str, bad: str) -> None:
    from incognote_es.rules.validators import VALIDATORS

    assert VALIDATORS[check](good) is True
    assert VALIDATORS[check](bad) is False
    assert VALIDATORS[check]("12") is None


@pytest.mark.parametrize(
    "text",
    [
        "Tratamiento con Sintrom, Nolotil 575 mg y Adiro 100 cada 24 horas.",
        "Enfermedad de Crohn y signo de Murphy negativo, sin otros hallazgos.",
        "TA 120/80, FC 72 lpm, Glasgow 15, Apgar 9/10, EVA 3/10 en la exploración.",
        "Diabetes de 18 años de evolución, hace 3 años con insulina.",
        "Diagnóstico: neumonía (J18.9), CURB-65 de 2 puntos, saturación 94%.",
        "Anticoagulado con acenocumarol; INR 2,8 en el último control.",
    ],
)
def test_clinical_words_are_left_alone(text: str) -> None:
    assert found(text) == set()
