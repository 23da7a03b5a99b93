"""Spelled words, addresses, upper case, punctuation."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from incognote.languages import Written

Write = Callable[..., Written]

SPELLED = [
    ("h a r p e r", "HARPER."),
    ("john harper h a r p e r", "John HARPER."),
    ("john harbor h a r p e r", "John HARPER."),
    ("that's h a r double p e r", "That's HARPPER."),
    ("s as in sam m i t h", "SMITH."),
    ("sierra mike india tango hotel", "SMITH."),
    ("capital o apostrophe neil", "O'Neil."),
    ("last name harper h a r p e r m r n four four seven oh double one", "Last name HARPER MRN 447011."),
    ("i need an m r i", "I need an MRI."),
    ("that was a t i a a warning", "That was a TIA a warning."),
    ("h. a. r. p. e. r.", "HARPER."),
]
ADDRESSES = [
    ("call me at j harper at gmail dot com", "Call me at jharper@gmail.com."),
    ("j dot harper nineteen sixty at saint dot org", "j.harper1960@saint.org."),
    ("daniela underscore v i l l a c i s at yahoo dot com", "daniela_villacis@yahoo.com."),
    ("mary smith at gmail dot com", "marysmith@gmail.com."),
    ("yes at www dot brookfield billing dot com", "Yes at www.brookfieldbilling.com."),
    ("go to my chart dot com slash login", "Go to my chart.com/login."),
]
CASES = [
    ("my name is john harper", "My name is John Harper."),
    ("this is mark rose", "This is Mark Rose."),
    ("doctor may said so", "Dr. May said so."),
    ("the doctor will see you", "The doctor will see you."),
    ("mister brown is here", "Mr. Brown is here."),
    ("my daughter rose brought me", "My daughter Rose brought me."),
    ("i promised my son will i'd call", "I promised my son Will I'd call."),
    ("the wound on the left will heal", "The wound on the left will heal."),
    ("i hope it may pass", "I hope it may pass."),
    ("i rose at six and pat it dry", "I rose at six and pat it dry."),
    ("i live at forty two maple street", "I live at 42 Maple Street."),
    ("on forty second street", "On 42nd Street."),
    ("across the street", "Across the street."),
    ("in springfield ohio", "In Springfield, Ohio."),
    ("she moved to new york", "She moved to New York."),
    ("at saint mary's hospital on tuesday", "At Saint Mary's Hospital on Tuesday."),
    ("in the hospital", "In the hospital."),
    ("at the c v s", "At the CVS."),
    ("the walgreens on main street", "The Walgreens on Main Street."),
    ("he drives for midland trucking", "He drives for Midland Trucking."),
    ("everybody called her pudge", "Everybody called her Pudge."),
]


@pytest.mark.parametrize(("said", "text"), SPELLED)
def test_spelled_words(write: Write, said: str, text: str) -> None:
    assert write(said).text == text + "\n"


@pytest.mark.parametrize(("said", "text"), ADDRESSES)
def test_e_mail_and_web_addresses(write: Write, said: str, text: str) -> None:
    assert write(said).text == text + "\n"


@pytest.mark.parametrize(("said", "text"), CASES)
def test_upper_case(write: Write, said: str, text: str) -> None:
    assert write(said).text == text + "\n"


def test_an_address_goes_on_after_an_interruption(write: Write) -> None:
    said = write("daniela underscore v i l l a c i s", "slow down slow down underscore", "at yahoo dot com")
    assert said.text == "daniela_villacis_@yahoo.com.\n"


def test_a_part_of_an_address_that_is_spelled_after_it_belongs_to_it(write: Write) -> None:
    said = write("records at bayfront rheum dot org r h e u m")
    assert [(s.first, s.last) for s in said.stretches] == [(0, 11)]


def test_an_utterance_ends_in_a_period_and_a_line_end(write: Write) -> None:
    assert write("i feel fine", "good").text == "I feel fine.\nGood.\n"


def test_no_utterance_ends_after_a_word_that_expects_another(write: Write) -> None:
    assert write("my name is", "john harper").text == "My name is John Harper.\n"


def test_spoken_punctuation_of_a_dictation_is_written(write: Write) -> None:
    said = write("patient name delgado comma maria period new paragraph she has a period of rest period")
    assert said.text == "Patient name Delgado, Maria.\nShe has a period of rest.\n"


def test_without_spoken_punctuation_a_period_is_a_word(write: Write) -> None:
    assert write("her last period was late").text == "Her last period was late.\n"


def test_a_spelled_medicine_identifies_nobody(write: Write) -> None:
    assert not any(stretch.spelled for stretch in write("it's entresto e n t r e s t o").stretches)


def test_a_spelled_medicine_is_in_lower_case(write: Write) -> None:
    assert write("it's entresto e n t r e s t o").text == "It's entresto.\n"
