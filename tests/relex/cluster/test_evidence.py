"""A detector's type is evidence. Names, labels, titles and kinship words can contradict it."""

from __future__ import annotations

import re

import pytest

from incognote.nouns import Span, Text
from incognote.relex.cluster import cluster, variant
from incognote.relex.cluster.mentions import is_staff, read
from incognote.relex.nouns import MentionVariant

_MARK = re.compile(r"\[([A-Z_]+) ([^\]]+)\]")


def mentions(note: str, record: str = "r1", patient: str = "p1", source: str = "encoder:full") -> list[MentionVariant]:
    """Return the variants of a note with mentions as `[TYPE words]`, as a detector finds them."""
    places = []
    plain, *marked = _MARK.split(note)
    text = plain
    for kind, words, after in zip(marked[::3], marked[1::3], marked[2::3], strict=True):
        places.append((len(text), len(text) + len(words), kind))
        text += words + after
    found = [Span(Text(text), start, end, kind, 0.99, (source,)) for start, end, kind in places]
    return [variant(span, record=record, patient=patient, domain="d") for span in found]


def together(*notes: str, source: str = "encoder:full") -> list[set[str]]:
    found = [one for at, note in enumerate(notes, 1) for one in mentions(note, f"r{at}", source=source)]
    return sorted(({v.words for v in one.variants} for one in cluster(found)), key=sorted)


def test_a_spouse_typed_as_the_patient_stays_a_person_of_her_own() -> None:
    groups = together("Patient: [PATIENT Aldo Ruiz]. His wife [PATIENT Carmen Ruiz] called. [PATIENT Carmen] agrees.")
    assert groups == [{"Aldo Ruiz"}, {"Carmen", "Carmen Ruiz"}]


def test_a_donor_with_another_name_is_not_the_recipient_whatever_the_type_says() -> None:
    assert together("RE: [PATIENT Nora Lindt]\nKidney from [PATIENT Tom Baker]. [PATIENT Lindt] is well.") == [
        {"Lindt", "Nora Lindt"},
        {"Tom Baker"},
    ]


def test_a_newborn_and_a_namesake_are_not_the_patient() -> None:
    assert together(
        "Name: [PATIENT Maria Sosa]\nHer grandson, [PATIENT Mario Sosa], was there. "
        "Another [PATIENT Maria Sosa] is on file."
    ) == [{"Maria Sosa"}, {"Maria Sosa"}, {"Mario Sosa"}]


def test_one_person_with_three_types_is_one_person() -> None:
    assert together(
        "Patient: [PATIENT Ngozi Okafor]. [RELATIVE Ngozi] sleeps badly. [PERSON Okafor, Ngozi] was seen on the ward."
    ) == [{"Ngozi", "Ngozi Okafor", "Okafor, Ngozi"}]


def test_a_title_with_the_patients_surname_and_type_is_the_patient_and_not_the_late_father() -> None:
    assert together(
        "Patient: [PATIENT Chidi Okafor]. His father [RELATIVE Nnamdi Okafor] died.", "Mr. [PATIENT Okafor] left."
    ) == [{"Chidi Okafor", "Okafor"}, {"Nnamdi Okafor"}]


def test_the_patient_under_a_new_surname_is_joined_by_the_label_of_another_record() -> None:
    assert together("Patient: [PATIENT Ana Prado]", "RE: [PATIENT Ana Reyes]. [PATIENT Reyes] is well.") == [
        {"Ana Prado", "Ana Reyes", "Reyes"}
    ]


@pytest.mark.parametrize("name", ["Abuela Lucía Ibarra", "Uncle Lucio Ibarra", "Old Lucia Ibarra"])
def test_a_kinship_word_within_the_span_is_read(name: str) -> None:
    groups = together(f"Patient: [PATIENT Lucia Moreno]. [PATIENT {name}] cried.")
    assert groups == sorted([{"Lucia Moreno"}, {name}], key=sorted)


@pytest.mark.parametrize(
    ("note", "staff"),
    [
        ("Dr. [PATIENT Ada Moss] saw him", True),
        ("by [RELATIVE Ada Moss], MD, today", True),
        ("Attending: [PERSON Ada Moss]", True),
        ("Electronically signed by [PATIENT Ada Moss]", True),
        ("midwife [PATIENT Moss]", True),
        ("her sister [CLINICIAN Moss] came", False),
        ("Emergency contact: [CLINICIAN Moss]", False),
        ("Patient: [CLINICIAN Ada Moss]", False),
        ("EMERGENCY CONTACT\nName: [CLINICIAN Ada Moss]", True),  # nothing but the type says who this is
        ("EMERGENCY CONTACT\nName: [CLINICIAN Moss]", False),  # a lone name, so its chart decides
    ],
)
def test_the_text_beside_a_name_beats_a_type(note: str, staff: bool) -> None:
    assert is_staff(read(mentions(note)[0])) is staff


def test_initials_do_not_match_initials_only() -> None:
    groups = together("Dr. [CLINICIAN C. Fenwick] and Dr. [CLINICIAN F. Castellano]")
    assert groups == [{"C. Fenwick"}, {"F. Castellano"}]


def test_an_annotated_type_stays_a_fact() -> None:
    groups = together("[PATIENT Guðrún Einarsdóttir] rested. [PATIENT Gunna] is tired.", source="given")
    assert groups == [{"Gunna", "Guðrún Einarsdóttir"}]


def test_a_suffix_that_the_labels_lack_marks_a_namesake() -> None:
    assert together("Patient: [PATIENT Jose Garza]", "Mixed up with [RELATIVE Jose Garza Jr.] twice.") == [
        {"Jose Garza"},
        {"Jose Garza Jr."},
    ]


def test_the_wife_of_the_son_is_not_the_wife_of_the_patient() -> None:
    groups = together(
        "Patient: [PATIENT Ravi Nair]. At home: wife [RELATIVE Saraswathi Nair], son [RELATIVE Suresh], "
        "his wife [RELATIVE Divya]."
    )
    assert groups == [{"Divya"}, {"Ravi Nair"}, {"Saraswathi Nair"}, {"Suresh"}]


def test_a_title_with_a_surname_of_the_patient_and_a_parent_stays_alone_without_the_patients_type() -> None:
    groups = together("Patient: [PATIENT Chidi Okafor]. His father [RELATIVE Nnamdi Okafor].", "Mr. [RELATIVE Okafor]")
    assert groups == [{"Chidi Okafor"}, {"Nnamdi Okafor"}, {"Okafor"}]
