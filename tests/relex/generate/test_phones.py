"""Phones keep their format and country, and the numbers are unassigned."""

from __future__ import annotations

import re
from collections.abc import Callable

import phonenumbers
import pytest

from incognote.keys import Keyring
from incognote.relex.generate import Generators, KeyedDraw, UsedSurrogates
from incognote.relex.generate.phones import read_number
from incognote.relex.nouns import Identity
from incognote.relex.pools import pools

Make = Callable[..., Identity]
Become = Callable[..., list[str]]


@pytest.mark.parametrize(
    "written", ["(413) 432-1098", "413.432.1098", "413-432-1098", "+1 413 432 1098", "1-413-432-1098", "4134321098"]
)
def test_a_us_number_is_one_for_fiction_in_its_format(make: Make, become: Become, written: str) -> None:
    (phone,) = become([make("CONTACT", "TELEPHONE_NUMBER", written)])
    assert re.sub(r"\d", "#", phone) == re.sub(r"\d", "#", written)
    digits = re.sub(r"\D", "", phone)[-10:]
    assert digits[3:8] == "55501"
    assert pools().home_of_area[digits[:3]] == ("US", "Massachusetts")


def test_one_number_in_every_format_is_one_surrogate(make: Make, become: Become) -> None:
    full, bare, short, extended = become(
        [make("CONTACT", "TELEPHONE_NUMBER", "(413) 432-1098", "+1 4134321098", "432-1098", "413 432 1098 ext. 22")]
    )
    digits = re.sub(r"\D", "", full)
    assert bare == f"+1 {digits}"
    assert short.replace("-", "") == digits[3:]
    head, extension = extended.split(" ext. ")
    assert head.replace(" ", "") == digits
    assert re.fullmatch(r"\d\d", extension)
    assert extension != "22"


def test_numbers_of_one_area_stay_in_one_area(make: Make, become: Become) -> None:
    home, work, fax = become(
        [
            make("CONTACT", "TELEPHONE_NUMBER", "(650) 432-1234"),
            make("CONTACT", "TELEPHONE_NUMBER", "(650) 432-5678"),
            make("CONTACT", "FAX_NUMBER", "(650) 432-9999"),
        ]
    )
    assert home[:5] == work[:5] == fax[:5]
    assert len({home, work, fax}) == 3


def test_toll_free_stays_toll_free(make: Make, become: Become) -> None:
    assert become([make("CONTACT", "TELEPHONE_NUMBER", "1-800-432-7777")])[0].startswith("1-800-555-01")


@pytest.mark.parametrize(
    ("written", "reserved"),
    [
        ("020 7123 4567", r"020 7946 0\d{3}"),
        ("+44 7911 123456", r"\+44 7700 900\d{3}"),
        ("01865 270000", r"01632 960\d{3}"),
        ("0412 345 678", r"049\d \d{3} \d{3}"),
        ("+61 3 9123 4567", r"\+61 3 5550 \d{4}"),
        ("+33 1 44 55 66 77", r"\+33 \d \d\d \d\d \d\d \d\d"),
        ("+49 30 12345678", r"\+49 .*"),
    ],
)
def test_numbers_of_other_countries_are_their_numbers_for_drama(
    make: Make, become: Become, written: str, reserved: str
) -> None:
    (phone,) = become([make("CONTACT", "TELEPHONE_NUMBER", written)])
    assert re.fullmatch(reserved, phone)
    assert re.sub(r"\d", "#", phone) == re.sub(r"\d", "#", written)
    assert phone != written


@pytest.mark.parametrize("written", ["+91 98765 43210", "+27 82 123 4567", "+64 21 123 456", "+39 06 698 12345"])
def test_where_none_are_reserved_the_number_is_not_assigned(make: Make, become: Become, written: str) -> None:
    (phone,) = become([make("CONTACT", "TELEPHONE_NUMBER", written)])
    assert not phonenumbers.is_valid_number(phonenumbers.parse(phone))
    assert re.sub(r"\d", "#", phone) == re.sub(r"\d", "#", written)
    assert phone.split()[0] == written.split()[0]


def test_a_patient_of_more_than_a_hundred_numbers_still_has_no_two_alike(make: Make, keyring: Keyring) -> None:
    found = [make("CONTACT", "TELEPHONE_NUMBER", f"413 432 {n:04d}") for n in range(130)]
    drawn = Generators().generate_all(found, KeyedDraw(keyring), UsedSurrogates())
    numbers = {s.parts["number"] for s in drawn.values()}
    assert len(numbers) == 130
    assert all(n[3] in "15" and (n[3:8] == "55501" or n[3] == "1") for n in numbers)


def test_a_number_is_read_with_its_country() -> None:
    assert read_number("(413) 432-1098").region == "US"
    assert read_number("020 7123 4567").region == "GB"
    assert read_number("+44 7911 123456").mobile
    assert read_number("1-800-FLOWERS").national == "8003569377"


def test_words_without_a_number_are_left_to_a_label(make: Make, become: Become) -> None:
    assert become([make("CONTACT", "TELEPHONE_NUMBER", "#"), make("CONTACT", "URL", "/x")]) == ["[LABEL]"] * 2


def test_letters_are_dialled_only_where_digits_are_too_few(make: Make, become: Become) -> None:
    vanity, told = become(
        [
            make("CONTACT", "TELEPHONE_NUMBER", "1-800-FLOWERS"),
            make("CONTACT", "TELEPHONE_NUMBER", "413-432-1098 (cell)"),
        ]
    )
    assert re.fullmatch(r"1-800-55501\d\d", vanity)
    assert re.fullmatch(r"\d{3}-555-01\d\d \(cell\)", told)
