"""Replacement consistency: the paper's examples, merges, splits, collisions, and intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from incognote.evaluation.relex.consistency import consistency, one_thing
from incognote.evaluation.relex.pairs import NotePair

Pair = Callable[..., NotePair]
FIRST = "[CLINICIAN Dr. Emily Carter|Dr. Kevin Chang] attended the surgery"


def test_a_conflicting_replacement_in_another_note_is_told_from_a_uniform_one(pair: Pair) -> None:
    """RedactOR §A.7: Dr. Emily Carter becomes Dr. Kevin Chang in one note and Dr. Jennifer Smith in another."""
    first = pair(FIRST, gold=["c"], given=["1"])
    same = pair("[CLINICIAN Carter|Chang] is a cardiologist", note=1, gold=["c"], given=["1"])
    other = pair("[CLINICIAN Dr. Emily Carter|Dr. Jennifer Smith] is a cardiologist", note=1, gold=["c"], given=["2"])
    good, bad = consistency([first, same], 20), consistency([first, other], 20)
    assert (good.names.f1.value, good.agreement.value) == (1, 1)
    assert bad.names.recall.value == 0.5
    assert bad.names.precision.value == 1
    assert bad.agreement.value == 0


def test_a_nurse_who_is_also_a_patient_may_have_two_surrogates_but_only_one_in_each_role(pair: Pair) -> None:
    staff = pair("[CLINICIAN Ann Reed|Eve Stone] [CLINICIAN Reed|Stone]", gold="aa", given="11")
    patient = pair("[PATIENT Ann Reed|Ida Hill] [PATIENT Reed|Hill]", "q", 1, "aa", "22")
    other = pair("[CLINICIAN Ann Reed|May Lund] [CLINICIAN Reed|Lund]", "r", 2, "aa", "33")
    assert consistency([staff, patient], 20).names.f1.value == 1
    assert consistency([staff, other], 20).names.recall.value == 0.5


def test_words_that_disagree_under_one_identity_show_in_the_agreement_alone(pair: Pair) -> None:
    told = consistency([pair("[PATIENT Ann Reed|Eve Stone], Mrs. [PATIENT Reed|Hill]", gold="aa", given="11")], 20)
    assert told.names.f1.value == 1
    assert told.agreement.value == 0


def test_two_people_under_one_surrogate_are_merged(pair: Pair) -> None:
    marked = "[RELATIVE Ann Reed|Eve Stone] [RELATIVE Ann Reed|Eve Stone] [RELATIVE Ida Reed|Eve Stone]"
    told = consistency([pair(marked, gold="aab", given="111")], 20)
    assert told.names.precision.value == pytest.approx(2 / 3)
    assert told.merged.value == 1
    assert told.collisions.value == 0


def test_two_identities_with_one_surrogate_collide_within_a_patient_and_not_across(pair: Pair) -> None:
    marked = "[RELATIVE Ann Reed|Eve Stone]"
    within = [pair(marked + " [RELATIVE Ida Hill|STONE, EVE]", gold="ab", given="12")]
    across = [pair(marked, "p", 0, "a", "1"), pair("[RELATIVE Ida Hill|Eve Stone]", "q", 1, "b", "2")]
    first, second = (words.replace("RELATIVE", "CLINICIAN") for words in (marked, "[RELATIVE Ida Hill|Eve Stone]"))
    staff = [pair(first, "p", 0, "a", "1"), pair(second, "q", 1, "b", "2")]
    assert consistency(within, 20).collisions.value == 1
    assert consistency(across, 20).collisions.value == 0
    assert consistency(staff, 20).collisions.value == 1


def test_namesakes_may_share_a_surrogate(pair: Pair) -> None:
    father_and_son = "[PATIENT Bo Reed|Al Stone] and his son [RELATIVE Bo Reed Jr.|Al Stone Jr.]"
    assert consistency([pair(father_and_son, gold="ab", given="12")], 20).collisions.value == 0


def test_a_surrogate_that_is_somebodys_original_is_counted(pair: Pair) -> None:
    told = consistency([pair("[RELATIVE Ann Reed|Ida Hill] [RELATIVE Ida Hill|Eve Stone]")], 20)
    assert told.originals.value == 0.5


def test_people_joined_under_one_identity_are_counted_with_the_patients_concerned(pair: Pair) -> None:
    alone = pair("[PATIENT Ann Reed|Eve Stone] and [RELATIVE Ida Reed|Mia Stone]", gold="ab", given="12")
    joined = pair("[PATIENT Bo Hill|Al Wood], wife [RELATIVE Ida Hill|Al Wood]", "q", 1, gold="cd", given="33")
    told = consistency([alone, joined], 20)
    assert (told.joined.value, told.joined.of) == (pytest.approx(1 / 3), 3)
    assert (told.patients_joined.value, told.patients_joined.of) == (0.5, 2)


def test_a_missed_mention_is_an_identity_of_its_own(pair: Pair) -> None:
    note = pair("[PATIENT Ann Reed|Eve Stone] and Mrs. [PATIENT Reed|Stone]", gold="aa", given="11")
    missed = replace(note.mentions[1], given="", surrogate=None, how="missed")
    told = consistency([replace(note, mentions=(note.mentions[0], missed))], 20)
    assert (told.names.recall.value, told.names.precision.value) == (0.5, 1)


@pytest.mark.parametrize(
    ("a", "b"), [("Dr. Kevin Chang", "Chang"), ("CHANG, KEVIN L.", "K. Chang"), ("KC", "Kevin Chang")]
)
def test_ways_to_write_one_name_are_one_thing(a: str, b: str) -> None:
    assert one_thing("PERSON", a, b)
    assert one_thing("PERSON", b, a)
    assert not one_thing("ORG", a, b)


def test_days_agree_by_the_day_within_a_patient_and_are_not_compared_across_patients(pair: Pair) -> None:
    same = pair("On [DATE 12 May 1949|6 December 1949], [DATE 12-May-1949|06-Dec-1949].", gold=("d", "d"))
    other = pair("On [DATE 12 May 1949|8 June 1950].", patient="q", note=1, gold=("d",))
    assert consistency([same, other], resamples=20).agreement.value == 1
    moved = pair("On [DATE 12 May 1949|6 December 1949], [DATE 12-May-1949|07-Dec-1949].", gold=("d", "d"))
    assert consistency([moved], resamples=20).agreement.value == 0


def test_a_day_or_town_of_two_patients_is_two_things_and_a_hospital_is_one(pair: Pair) -> None:
    marked = "[DATE 12 May 2020|6 June 2021], [DATE 5/12/20|6/6/21]; [CITY Salem|Juneau], [CITY Salem|Juneau]; "
    hospital = "[HOSPITAL Lakeside|Hilltop]"
    first = pair(marked + hospital, "p", 0, gold=("d", "d", "t", "t", "h"), given=("1", "1", "2", "2", "5"))
    other = pair(marked + hospital, "q", 1, gold=("d", "d", "t", "t", "h"), given=("3", "3", "4", "4", "6"))
    told = consistency([first, other], 20)
    assert (told.all.f1.of, told.all.precision.value) == (10, 1)
    assert told.all.recall.value == pytest.approx(0.9)
