"""Figures of all kinds: amounts, ages, dates, times, telephone numbers, identifiers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from incognote.languages import Written

Write = Callable[..., Written]

AMOUNTS = [
    ("take five milligrams", "Take 5 milligrams."),
    ("one twenty over eighty", "120/80."),
    ("a hundred and thirty over eighty five", "130/85."),
    ("one ninety six over one oh two", "196/102."),
    ("ninety eight point six", "98.6."),
    ("sat is eighty eight percent", "Sat is 88 percent."),
    ("metformin one thousand twice a day", "Metformin 1000 twice a day."),
    ("her a one c is seven point two", "Her A1C is 7.2."),
    ("rate one oh four b p one forty six over eighty eight", "Rate 104 BP 146/88."),
    ("she's eighty-nine", "She's 89."),
    ("a forty two year old man", "A 42 year old man."),
    ("i have two daughters and one son", "I have two daughters and one son."),
    ("two or three times", "Two or three times."),
    ("no one told me", "No one told me."),
    ("eighteen hundred", "1800."),
]
DATES = [
    ("march third nineteen sixty two", "March 3, 1962."),
    ("march three nineteen sixty two", "March 3, 1962."),
    ("the third of march sixty two", "the 3rd of March '62."),
    ("twenty first june nineteen thirty nine", "21st June 1939."),
    ("june twenty nineteen sixty two", "June 20, 1962."),
    ("june twenty twenty four", "June 2024."),
    ("may nineteenth of twenty twenty", "May 19, 2020."),
    ("born oh three twelve sixty two", "Born 03/12/62."),
    ("eleven slash fourteen slash twenty six", "11/14/26."),
    ("three slash twelve", "3/12."),
    ("two thousand and eleven", "2011."),
    ("twenty oh four", "2004."),
    ("in nineteen oh five", "In 1905."),
    ("come back on the fifth", "Come back on the 5th."),
    ("monday the eighth of february", "Monday the 8th of February."),
    ("on the third toe", "On the third toe."),
    ("we march in place and may stop", "We march in place and may stop."),
    ("since march", "Since March."),
]
TIMES = [
    ("at ten thirty a m", "At 10:30 am."),
    ("seven pm", "7 pm."),
    ("at two o'clock", "At 2 o'clock."),
    ("see you at ten fifteen", "See you at 10:15."),
]
CODES = [
    ("five five five one two one two", "555-1212."),
    ("area code four one five five five five one two one two", "Area code 415-555-1212."),
    ("five five five twelve twelve", "555-1212."),
    ("one eight hundred five five five one two one two", "1-800-555-1212."),
    ("five five five one two one two extension four two", "555-1212 extension 42."),
    ("oh one four two two four nine six oh five eight", "01422 496058."),
    ("my social is one two three four five six seven eight nine", "My social is 123-45-6789."),
    ("m r n four four seven oh double one", "MRN 447011."),
    ("zip oh two one three nine", "Zip 02139."),
    ("room three twelve", "Room 312."),
    ("a as in apple seven three b for boy", "A73B."),
    ("kilo seven bravo four", "K7B4."),
    ("policy d four four one dash seven seven", "Policy D441-77."),
    ("november twelve", "November 12."),
]


@pytest.mark.parametrize(("said", "text"), AMOUNTS)
def test_amounts_stay_clinical(write: Write, said: str, text: str) -> None:
    assert write(said).text == text + "\n"


@pytest.mark.parametrize(("said", "text"), DATES)
def test_dates_in_all_spoken_forms(write: Write, said: str, text: str) -> None:
    assert write(said).text == text + "\n"


@pytest.mark.parametrize(("said", "text"), TIMES)
def test_times(write: Write, said: str, text: str) -> None:
    assert write(said).text == text + "\n"


@pytest.mark.parametrize(("said", "text"), CODES)
def test_numbers_that_identify(write: Write, said: str, text: str) -> None:
    assert write(said).text == text + "\n"


def test_a_number_is_joined_over_pauses_and_interruptions(write: Write) -> None:
    said = write("it's eight three two", "okay", "five five five", "mhm", "oh one nine six")
    assert said.text == "It's 832-555-0196.\n"


def test_a_group_that_is_read_back_is_written_once(write: Write) -> None:
    said = write("it's eight three two", "eight three two okay", "five five five oh one nine six")
    assert said.text == "It's 832-555-0196.\n"


def test_a_corrected_group_replaces_the_first(write: Write) -> None:
    said = write("eight three two", "five five five oh one sorry oh one nine six")
    assert said.text == "832-555-0196.\n"


def test_an_identifier_of_letters_and_figures_is_joined_over_a_reply(write: Write) -> None:
    said = write("the number it is x q n", "x q n", "four four seven oh then one eight two three six")
    assert said.text == "The number it is XQN447018236.\n"


def test_the_halves_of_a_british_postcode_are_apart(write: Write) -> None:
    assert "M23 9PL" in write("postcode m twenty three", "and then nine p l").text


def test_two_whole_telephone_numbers_are_two(write: Write) -> None:
    said = write("five five five one two one two", "nine one eight five five five four four oh one")
    assert said.text == "555-1212.\n918-555-4401.\n"


def test_what_was_said_figure_by_figure_is_spelled(write: Write) -> None:
    said = write("it's x q n four four seven and her pressure is one twenty over eighty")
    assert [said.text[s.start : s.end] for s in said.stretches if s.spelled] == ["XQN447"]
