"""Two people whose names are alike stay two if the text says so. All types are a detector's."""

from __future__ import annotations

import pytest

from incognote.relex.cluster.strangers import contradict, facts_beside, is_stranger
from tests.relex.cluster.test_evidence import together

PATIENT = "Patient: [PATIENT Rosa Almeida]\n"


@pytest.mark.parametrize(
    "said",
    [
        "The nurse on call was also named [PATIENT Rosa Almeida].",
        "The bill was filed under another patient's name, [PATIENT Rosa Almeida].",
        'She was sent a stranger\'s lab report: "[PATIENT Rosa Almeida]".',
        "[PATIENT Rosa Almeida] (no relation) is in bed 4.",
        "A call came for [PATIENT Rosa Almeida], a different patient.",
        "Mail for [PATIENT Rosa Almeida] in the staff directory was returned.",
        "Her father's aunt (also [PATIENT Rosa Almeida]) had it too.",
        "Her mother, also [RELATIVE Rosa Almeida], is well.",
        "Pulled up [PATIENT Rosa Almeida], 31, i.e. the daughter, by mistake.",
    ],
)
def test_a_name_that_the_text_gives_to_somebody_else_is_not_the_patients(said: str) -> None:
    assert together(PATIENT + said) == [{"Rosa Almeida"}, {"Rosa Almeida"}]


@pytest.mark.parametrize(
    "said", ["[PATIENT Rosa Almeida] is not in pain.", "I saw [PATIENT Rosa Almeida] with another nurse."]
)
def test_a_name_beside_a_word_for_others_is_still_the_patients(said: str) -> None:
    assert together(PATIENT + said) == [{"Rosa Almeida"}]


def test_a_birth_date_record_number_or_age_that_differs_is_another_persons() -> None:
    head = "[PATIENT Rosa Almeida], DOB 3/4/1950, MRN 771204. "
    assert together(head + "Wrong sticker: [PATIENT Rosa Almeida], DOB 9/9/1971.") == [{"Rosa Almeida"}] * 2
    assert together(head + "Wrong sticker: [PATIENT Rosa Almeida], MRN 660019.") == [{"Rosa Almeida"}] * 2
    assert together(head + "Sticker: [PATIENT Rosa Almeida], DOB 3/4/1950.") == [{"Rosa Almeida"}]
    assert together(f"{head}Seen.", "[PATIENT Rosa Almeida], DOB 9/9/1971. Seen.") == [{"Rosa Almeida"}] * 2


def test_facts_beside_a_name_contradict_only_where_both_state_them() -> None:
    assert facts_beside(", 53, DOB 4/2/1971, MRN 00778209. Seen") == "age=53 born=1971-4-2 number=778209"
    assert facts_beside(" walked in. DOB 4/2/1971") == ""
    assert contradict("age=80", "age=53")
    assert not contradict("age=80", "age=81")
    assert not contradict("age=80 born=1944-3-3", "number=778209")
    assert not contradict("number=778209", "number=77820")
    assert not contradict("born=1944-3-3", "born=1945-3-3")


def test_a_nickname_after_a_quotation_belongs_to_the_grandson_and_not_to_the_son() -> None:
    assert together('Son [RELATIVE Anton] drove. His grandson "[RELATIVE Bertie]" ([RELATIVE Bertil Anton]) came.') == [
        {"Anton"},
        {"Bertie", "Bertil Anton"},
    ]


def test_a_son_and_a_brother_do_not_share_a_syllable_of_their_given_names() -> None:
    assert together("His brother [RELATIVE Kang Dong-hyun] died. His son [RELATIVE Seo-hyun] called.") == [
        {"Kang Dong-hyun"},
        {"Seo-hyun"},
    ]


def test_two_family_names_that_share_the_mothers_are_two_families() -> None:
    assert together("Seen: [PERSON Elena Prado Quispe]. Visitor: [PERSON Elena Rojas Quispe].") == [
        {"Elena Prado Quispe"},
        {"Elena Rojas Quispe"},
    ]


def test_a_married_title_is_not_a_child_and_a_newborns_surname_is_not_the_mother() -> None:
    assert together("Her daughter [RELATIVE Ida Prescott], 6, was there. Talked with Mrs [PERSON Prescott].") == [
        {"Ida Prescott"},
        {"Prescott"},
    ]
    assert together('Patient: [PATIENT Abena Mensah]\nDelivered a boy (band reads "BB [PATIENT Mensah]").') == [
        {"Abena Mensah"},
        {"Mensah"},
    ]


def test_a_junior_without_a_surname_is_not_the_husband_without_a_suffix() -> None:
    assert together("Husband [RELATIVE Tunde Bello] is well. [PATIENT Tunde Jr.], now 3, has a cold.") == [
        {"Tunde Bello"},
        {"Tunde Jr."},
    ]


def test_a_title_after_a_social_worker_of_that_surname_may_be_either_and_stays_apart() -> None:
    assert together(PATIENT + "Referred to [CLINICIAN Ines Almeida], LCSW. Ms. [PATIENT Almeida] agreed.") == [
        {"Almeida"},
        {"Ines Almeida"},
        {"Rosa Almeida"},
    ]


def test_a_nurse_with_the_patients_name_in_quotation_marks_is_staff() -> None:
    assert together(PATIENT + 'The nurse "[PATIENT Rosa Almeida]" signed.') == [{"Rosa Almeida"}] * 2


def test_words_for_somebody_else_are_read_on_both_sides_of_a_name() -> None:
    assert is_stranger('a letter for "', '", the other patient')
    assert is_stranger("the wrong patient (", ") was called")
    assert not is_stranger("the patient is ", " and she is well")
