"""Known names are found by their sound: distances of phones, pronunciations, and places within a stretch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.speech.letters import sounded
from incognote.speech.phones import SoundingNames, distance, exchange, lone, pronunciations

PHONES = st.lists(st.sampled_from("AA AE B CH D ER F HH IY K L M N P R S T UW V Z".split()), max_size=8)
ROSTER = ["Harper", "Carter", "Wilson", "Oyelowo", "Mary Kowalczyk"]


def test_phones_that_sound_alike_cost_less_than_others_and_the_same_nothing() -> None:
    assert exchange("P", "P") == 0
    assert 0 < exchange("P", "B") < exchange("P", "M") < exchange("P", "IY") <= 1
    assert 0 < exchange("IH", "IY") < exchange("IY", "AO")


@given(PHONES, PHONES, PHONES)
def test_the_distance_is_symmetric_and_at_most_that_of_leaving_everything_out(
    first: list[str], second: list[str], third: list[str]
) -> None:
    assert distance(first, first) == 0
    assert distance(first, second) == pytest.approx(distance(second, first))
    assert distance(first, second) <= sum(map(lone, first)) + sum(map(lone, second)) + 1e-9
    assert distance([*third, *first], [*third, *second]) <= distance(first, second) + 1e-9


@pytest.mark.parametrize(
    ("name", "phones"),
    [
        ("Oyelowo", "OY EH L OW W OW"),
        ("Yılmaz", "Y IH L M AE Z"),
        ("Benali", "B EH N AA L IY"),
        ("Schneider", "SH N EY D ER"),
        ("Wright", "R AY T"),
        ("Brandvold", "B R AE N D V AA L D"),
        ("Łukasz", "L UW K AE SH"),
        ("阿部", ""),
    ],
)
def test_a_name_outside_the_dictionary_has_the_sounds_of_its_letters(name: str, phones: str) -> None:
    assert " ".join(sounded(name)) == phones


@given(st.text(max_size=30))
def test_every_text_has_phones_of_the_alphabet_or_none(text: str) -> None:
    found = pronunciations(text)
    assert all(found), "none is empty"
    assert all(phone.isalpha() and phone.isupper() for spoken in found for phone in spoken)


def test_a_name_of_the_dictionary_has_its_pronunciation_there_first() -> None:
    pytest.importorskip("pocketsphinx", reason="the extra `audio` is not installed")

    assert pronunciations("Harper")[0] == ("HH", "AA", "R", "P", "ER")
    assert pronunciations("Mary Harper")[0][:4] == ("M", "EH", "R", "IY")


def test_the_nearest_name_is_found_although_a_phone_was_misheard() -> None:
    assert SoundingNames(ROSTER).nearest("F AA R P ER".split()) == ("Harper", pytest.approx(0.07))
    assert SoundingNames(ROSTER).nearest("OY L OW W OW".split())[0] == "Oyelowo"  # type: ignore[index]  # there are names
    assert SoundingNames([]).nearest(["F"]) is None


def test_a_name_is_found_within_a_stretch_with_its_place() -> None:
    heard = "M AY N EY M IH Z K AA R P ER AE N D W IH L S AH N".split()

    found = {match.name: match for match in SoundingNames(ROSTER).within(heard, most=0.2)}

    assert set(found) == {"Harper", "Wilson", "Carter"} or set(found) == {"Harper", "Wilson"}
    assert heard[found["Wilson"].first : found["Wilson"].end] == "W IH L S AH N".split()
    assert found["Wilson"].distance == 0
    assert heard[found["Harper"].first : found["Harper"].end][-4:] == "AA R P ER".split()


@given(PHONES, PHONES)
def test_a_name_is_found_without_distance_wherever_it_stands(before: list[str], after: list[str]) -> None:
    spoken = pronunciations("Wilson")[0]

    [match] = SoundingNames(["Wilson"]).within([*before, *spoken, *after], most=0.0)

    assert match.distance == 0
    assert match.end - match.first == len(spoken)


def test_names_are_in_no_representation() -> None:
    names = SoundingNames(["Harper"])

    assert "arper" not in repr(names) + repr(names.within("HH AA R P ER".split(), most=1))
