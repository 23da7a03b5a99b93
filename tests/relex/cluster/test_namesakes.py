"""Different people with the same name, and one person with two names."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Together = Callable[..., list[set[str]]]


def test_a_suffix_tells_father_from_son(together: Together) -> None:
    assert together(
        "his father is [RELATIVE Tom Reed Sr.], his son [RELATIVE Tom Reed III]",
        "[RELATIVE Tom III] and [RELATIVE Tom Sr.]",
    ) == [{"Tom III", "Tom Reed III"}, {"Tom Reed Sr.", "Tom Sr."}]


def test_junior_is_junior_in_every_tongue(together: Together) -> None:
    assert together(
        "son [RELATIVE ifj. Kiss Zoltán]", "husband [RELATIVE Kiss Zoltán]", "son [RELATIVE Kiss Zoltán jr.]"
    ) == [
        {"Kiss Zoltán"},
        {"Kiss Zoltán jr.", "ifj. Kiss Zoltán"},
    ]


def test_a_grandson_is_not_the_grandfather_he_is_named_for(together: Together) -> None:
    found = together(
        "husband [RELATIVE Ivo Marić]", "the grandson, also [RELATIVE Ivo Marić], visits", "husband [RELATIVE Ivo]"
    )
    assert sorted(map(sorted, found)) == [["Ivo", "Ivo Marić"], ["Ivo Marić"]]


def test_the_same_name_without_a_kin_word_goes_with_the_only_bearer(together: Together) -> None:
    assert together("husband [RELATIVE Ivo Marić]", "[RELATIVE Ivo Marić] called") == [{"Ivo Marić"}]


def test_who_is_named_for_somebody_is_somebody_else(together: Together) -> None:
    found = together("son [RELATIVE Einar Holm], named after her father [RELATIVE Einar]. [RELATIVE Holm] called")
    assert found == [{"Einar"}, {"Einar Holm", "Holm"}]


@pytest.mark.parametrize("said", ["a second", "another", "not to be confused with the"])
def test_another_of_the_name_is_neither_the_patient_nor_a_relative(together: Together, said: str) -> None:
    found = together(f"[PATIENT Margaret Dunne], {said} [PERSON Margaret Dunne] and daughter [RELATIVE Margaret Dunne]")
    assert len(found) == 3


def test_the_other_daughter_is_no_namesake(together: Together) -> None:
    assert together("daughter [RELATIVE Ana Ruiz]; the other daughter [RELATIVE Eva] and [RELATIVE Eva Ruiz]") == [
        {"Ana Ruiz"},
        {"Eva", "Eva Ruiz"},
    ]


def test_a_relative_is_never_the_patient(together: Together) -> None:
    assert len(together("[PATIENT Margaret Dunne]. Daughter Maggie ([RELATIVE Margaret Dunne], 26)")) == 2


@pytest.mark.parametrize(
    "first",
    [
        'daughter [RELATIVE Liu Xin] ("[RELATIVE Cindy]")',
        "daughter [RELATIVE Liu Xin] ([RELATIVE Cindy])",
        "daughter [RELATIVE Cindy] (that is [RELATIVE Liu Xin])",
        "daughter [RELATIVE Liu Xin], called [RELATIVE Cindy]",
        "daughter [RELATIVE Liu Xin], a.k.a. [RELATIVE Cindy Hart]",
    ],
)
def test_an_alias_beside_a_name_is_the_same_person(together: Together, first: str) -> None:
    assert len(together(first, "[RELATIVE Cindy] came")) == 1


def test_an_alias_brings_the_kin_word_and_the_surname(together: Together) -> None:
    found = together(
        'daughter [RELATIVE Liu Xin] ("[RELATIVE Cindy]")',
        "daughter Ms. [RELATIVE Liu], son [RELATIVE Liu Bo]",
        "[RELATIVE Cindy Liu]",
    )
    assert found == [{"Cindy", "Cindy Liu", "Liu", "Liu Xin"}, {"Liu Bo"}]


def test_two_doctors_in_brackets_are_two(together: Together) -> None:
    assert len(together("Dr. [CLINICIAN Anna Reed] ([CLINICIAN Patel])")) == 2


def test_a_bracket_holds_no_alias_of_the_other_gender(together: Together) -> None:
    assert len(together("[RELATIVE Maria Rossi] ([RELATIVE Pietro])")) == 2


def test_a_daughter_keeps_her_identity_under_a_new_surname(together: Together) -> None:
    assert (
        len(
            together("daughter [RELATIVE Zara Cole]", "daughter [RELATIVE Zara Whitby]", "her daughter [RELATIVE Zara]")
        )
        == 1
    )
    assert len(together("cousin [RELATIVE Zara Cole]", "cousin [RELATIVE Zara Whitby]")) == 2


def test_another_persons_son_is_of_no_generation_of_the_patients(together: Together) -> None:
    assert len(together("Anna's son [RELATIVE Piet Visser]", "grandson [RELATIVE Piet Visser]")) == 1


def test_a_surname_put_behind_the_old_one_is_the_same_woman(together: Together) -> None:
    assert (
        len(together("[RELATIVE Sigrún Jónsdóttir]", "[RELATIVE Sigrún Jónsdóttir Haugen]", "[RELATIVE Sigrún]")) == 1
    )


def test_two_given_names_without_surname_are_a_given_name(together: Together) -> None:
    assert len(together("[RELATIVE Chen Weiming]", "husband [RELATIVE Wei Ming] came")) == 1


def test_a_pronoun_in_brackets_tells_two_doctors_apart(together: Together) -> None:
    found = together("[CLINICIAN Anita Patel] and [CLINICIAN Suresh Patel]", "Dr. [CLINICIAN Patel] (he did the stent)")
    assert found == [{"Anita Patel"}, {"Patel", "Suresh Patel"}]


def test_one_note_calls_one_person_by_a_word(together: Together) -> None:
    found = together(
        "daughter [RELATIVE Ida Berg], niece [RELATIVE Ida Lund]", "Daughter [RELATIVE Ida] came. [RELATIVE Ida] left"
    )
    assert found == [{"Ida", "Ida Berg"}, {"Ida Lund"}]


@pytest.mark.parametrize(
    ("full", "short"),
    [
        ("Szabó Gábor", "Sz. G."),
        ("Nguyen Quoc Bao", "Q. B. Nguyen"),
        ("Peg Donnelly", "M. Donnelly"),
        ("Tran Van Long", "Long Tran"),
        ("Anita R. Patel", "ARP"),
        ("Lucía Ibarra de Quiroga", "Ibarra"),
    ],
)
def test_short_ways_of_writing_join_their_only_bearer(together: Together, full: str, short: str) -> None:
    assert together(f"[CLINICIAN {full}] wrote", f"[CLINICIAN {short}]") == [{full, short}]


def test_s_o_names_the_father(together: Together) -> None:
    found = together(
        "S/o (late) [RELATIVE Subramanian], son [RELATIVE Subramanian]", "son [RELATIVE Subramanian Murugan]"
    )
    assert sorted(map(sorted, found)) == [["Subramanian"], ["Subramanian", "Subramanian Murugan"]]


def test_a_name_spelled_by_ear_in_another_note_is_one_person(together: Together) -> None:
    assert len(together(("p1", "[CLINICIAN Catherine Meyer]"), ("p2", "[CLINICIAN Kathryn Maier]"))) == 1
    assert len(together("[RELATIVE Fatima Hussein]", "[RELATIVE Fatimah Hussain]")) == 1
    assert len(together("[CLINICIAN Sean Reid]", "Dr. [CLINICIAN Reed]")) == 1


def test_two_names_that_sound_alike_in_one_note_are_two_people_also_if_a_third_spelling_is_near_both(
    together: Together,
) -> None:
    both = "[CLINICIAN Catherine Meyer] and [CLINICIAN Kathryn Maier]"
    assert len(together(both)) == 2
    assert len(together(both, "[CLINICIAN Katherine Mayer]")) >= 2


@pytest.mark.parametrize("called", ['He goes by "Arnold".', "He goes by Arnold."])
def test_a_nickname_of_another_root_is_the_persons_in_later_sentences_too(together: Together, called: str) -> None:
    note = f"[PATIENT Philip Delaney] walked. {called} Arnold ate.".replace("Arnold", "[PATIENT Arnold]")
    assert together(f"{note} [PERSON Arnold] slept.") == [{"Philip Delaney", "Arnold"}]
