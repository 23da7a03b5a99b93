"""Places: towns, postal codes, and states that match, in their original shapes."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from incognote.relex.generate import Choices
from incognote.relex.generate.places import pieces
from incognote.relex.nouns import Identity
from incognote.relex.pools import pools
from incognote_en.places import state_of

Make = Callable[..., Identity]
Become = Callable[..., list[str]]

ADDRESSES = [
    "123 Main St, Palo Alto, CA 94301",
    "31 Fern Street Apt 2 Dedham MA 02026-1234",
    "4 N. Elm Ave., Unit 12B\nSpringfield, Illinois 62704",
    "12 Kings Road, Leeds LS1 4AB",
    "77 Queen St W, Toronto, ON M5H 2M9, Canada",
    "9 George Street, Dubbo NSW 2830",
    "PO box near Elm",
    "Fern Street",
    "Dedham, MA",
    "MA",
    "St. Louis",
]


@pytest.mark.parametrize("words", ADDRESSES)
def test_the_pieces_of_an_address_are_the_address(words: str) -> None:
    assert "".join(piece.text for piece in pieces("ADDRESS", words, pools())) == words


def test_an_address_agrees_with_itself_and_keeps_its_shape(make: Make, become: Become) -> None:
    (address,) = become([make("PLACE", "ADDRESS", ADDRESSES[0])])
    match = re.fullmatch(r"(\d{3}) ([\w ]+) St, ([\w ]+), CA (\d{5})", address)
    assert match
    town = next(t for t in pools().towns["US", "California"] if t.name == match[3])
    assert match[4] in town.zips
    assert match[1] != "123"
    assert match[2] != "Main"


@pytest.mark.parametrize(
    ("words", "shape"),
    [
        (ADDRESSES[1], r"\d\d [\w ]+ Street Apt \d [\w ]+ MA \d{5}-\d{4}"),
        (ADDRESSES[2], r"\d N\. [\w ]+ Ave\., Unit \d\d[A-Z]\n[\w ]+, Illinois \d{5}"),
        (ADDRESSES[3], r"\d\d [\w ]+ Road, [\w ]+ [A-Z]+\d+ \d[A-Z]{2}"),
        (ADDRESSES[4], r"\d\d [\w ]+ St W, [\w ]+, ON [A-Z]\d[A-Z] \d[A-Z]\d, Canada"),
        (ADDRESSES[5], r"\d [\w ]+ Street, [\w ]+ NSW \d{4}"),
        (ADDRESSES[7], r"[\w ]+ Street"),
        (ADDRESSES[8], r"[\w ]+, MA"),
    ],
)
def test_an_address_is_as_fine_as_it_was(make: Make, become: Become, words: str, shape: str) -> None:
    (address,) = become([make("PLACE", "ADDRESS", words)])
    assert re.fullmatch(shape, address)
    assert address != words


def test_a_british_postcode_is_of_its_town(make: Make, become: Become) -> None:
    (address,) = become([make("PLACE", "ADDRESS", ADDRESSES[3])])
    found = {piece.role: piece.text for piece in pieces("ADDRESS", address, pools())}
    town = next(t for (c, _), towns in pools().towns.items() if c == "GB" for t in towns if t.name == found["city"])
    assert found["zip"].split()[0] in {code.split()[0] for code in town.zips}


def test_a_town_a_code_and_a_street_are_the_same_alone_and_in_an_address(make: Make, become: Become) -> None:
    address, city, zip_code, longer, street = become(
        [
            make("PLACE", "ADDRESS", "31 Fern Street, Dedham, MA 02026"),
            make("PLACE", "CITY", "DEDHAM"),
            make("PLACE", "ZIP", "02026"),
            make("PLACE", "ZIP", "02026-1234"),
            make("PLACE", "STREET", "Fern Street"),
        ]
    )
    assert city.isupper()
    assert city.title() in address.title()
    assert address.endswith(zip_code)
    assert longer.startswith(f"{zip_code}-")
    assert street in address


def test_states_stay_or_move_as_the_policy_says(make: Make, become: Become) -> None:
    told = [make("PLACE", "ADDRESS", "Dedham, MA 02026"), make("PLACE", "STATE", "Massachusetts")]
    assert become(told)[1] == "Massachusetts"
    address, state = become(told, Choices(places="country"))
    assert state != "Massachusetts"
    moved = state_of(address[-5:])
    assert moved is not None
    assert moved.name == state
    assert f", {moved.code} " in address


def test_area_codes_agree_with_the_surrogate_town(make: Make, become: Become) -> None:
    address, phone = become(
        [
            make("PLACE", "ADDRESS", "31 Fern Street, Dedham, MA 02026"),
            make("CONTACT", "TELEPHONE_NUMBER", "(617) 432-1098"),
        ]
    )
    town = next(t for t in pools().towns["US", "Massachusetts"] if t.name in address)
    assert phone[1:4] in town.areas


def test_rooms_and_wards_keep_their_words(make: Make, become: Become) -> None:
    room, bay, ward, named, plain = become(
        [
            make("PLACE", "ROOM", "Room 412B"),
            make("PLACE", "ROOM", "Bay C"),
            make("PLACE", "DEPARTMENT", "4 West"),
            make("PLACE", "DEPARTMENT", "Harrison Ward"),
            make("PLACE", "DEPARTMENT", "Cardiology"),
        ]
    )
    assert re.fullmatch(r"Room [1-9]\d\d[A-Z]", room)
    assert re.fullmatch(r"Bay [A-Z]", bay)
    assert re.fullmatch(r"[1-9] West", ward)
    assert re.fullmatch(r"[A-Z][a-z]+ Ward", named)
    assert named != "Harrison Ward"
    assert plain == "Cardiology"


def test_a_country_stays(make: Make, become: Become) -> None:
    assert become([make("PLACE", "COUNTRY", "India")]) == ["India"]
