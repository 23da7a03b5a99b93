"""Places: towns, postal codes, and states that match, in their original shapes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from incognote.relex.addresses import pieces
from incognote.relex.generate import Choices
from incognote.relex.nouns import Identity
from incognote.relex.pools import pools
from incognote_en.places import homes_of, state_of

from .agreeing import agreements

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
        ("ul. Lipowa 12, 26-600 Radom, Poland", r"ul\. [\w ]+ \d\d, \d\d-\d{3} [\w ]+, Poland"),
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


def test_a_batch_may_name_every_state_and_an_unknown_region(make: Make, become: Become) -> None:
    names = sorted(region for country, region in pools().towns if country == "US")
    states = [make("PLACE", "STATE", name, scope=f"patient:{name}") for name in [*names, "Sector Seven"]]
    assert become(states)[-1] in names
    moved = become(states, Choices(places="country"))
    assert all(new not in ("[LABEL]", old) for new, old in zip(moved, names, strict=False))
    assert "[LABEL]" in become([replace(one, scope="patient:p") for one in states], Choices(places="country"))


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


def test_rooms_and_apartments_stay_on_their_floor(make: Make, become: Become) -> None:
    room, apartment = become(
        [make("PLACE", "ROOM", "rm 1218B"), make("PLACE", "ADDRESS", "31 Fern Street Apt 203, Dedham, MA 02026")]
    )
    assert re.fullmatch(r"rm 12\d\d[A-Z]", room)
    assert re.search(r"Apt 2\d\d,", apartment)


def test_a_country_stays(make: Make, become: Become) -> None:
    assert become([make("PLACE", "COUNTRY", "India")]) == ["India"]


Relexed = Callable[..., list[str]]


@pytest.mark.parametrize("policy", ["state", "country"])
@pytest.mark.parametrize(
    "note",
    [
        "Lives in [CITY|Kailua], [STATE|HI] [ZIP|96734], phone [TELEPHONE_NUMBER|808-555-0101]. Back to [CITY|Kailua].",
        "[STREET|44 Kekaha Way] | [CITY|Lihue] | [STATE|Hawaii] | [ZIP|96766-1234], [TELEPHONE_NUMBER|(808) 555-0134]",
        "City: [CITY|Bemidji]\nState: [STATE|Minn.]\nZip Code: [ZIP|56601] [TELEPHONE_NUMBER|218.555.0101]",
        "[ADDRESS|P.O. Box 114], [CITY|Sequim] [STATE|WA] [ZIP|98382]; fax [FAX_NUMBER|360 555 0101]",
        "[CITY|Tiny Hollow] ([STATE|W. Va.]) [ZIP|25043], now [CITY|Unheard Of], [TELEPHONE_NUMBER|304-555-0101]",
        "[ADDRESS|12 Elm St, Troy, Ohio 45373]; son in [CITY|Troy], [TELEPHONE_NUMBER|937-555-0101]",
    ],
)
def test_town_state_zip_and_area_code_in_separate_spans_agree(relexed: Relexed, note: str, policy: str) -> None:
    mentions = relexed(note, Choices(places=policy))
    facts = agreements(mentions)
    assert {what for what, _ in facts} >= {"town and state", "ZIP and state", "town and ZIP", "area and state"}
    assert all(agrees for _, agrees in facts)


def test_a_lone_town_is_the_town_of_the_address(relexed: Relexed) -> None:
    words = [m.words for m in relexed("[ADDRESS|118 Sisu Ln, Negaunee, MI 49866]. Home to [CITY|Negaunee].")]
    assert words[1] in words[0]


def test_an_unknown_town_is_in_the_state_of_the_other_places(relexed: Relexed) -> None:
    *_, town = relexed("[ADDRESS|12 Elm St, Troy, Ohio 45373]. Sister in [CITY|Upper Nowhere].")
    assert town.words in {t.name for t in pools().towns["US", "Ohio"]}


@pytest.mark.parametrize(
    ("note", "country"),
    [
        ("Born in [CITY|Chennai].", "IN"),
        ("Born in [CITY|Lagos], [COUNTRY|Nigeria].", "NG"),
        ("From [CITY|Wien].", "AT"),
        ("From [CITY|Ciudad Juárez], seen in [CITY|El Paso], [STATE|TX].", "MX"),
        ("Lives at [ADDRESS|7 Chapel Ope, Truro TR1 9XQ].", "GB"),
        ("Lives at [ADDRESS|6000 Kecskemét, Gyöngyvér u. 12.]", "HU"),
    ],
)
def test_a_town_abroad_stays_in_its_country(relexed: Relexed, note: str, country: str) -> None:
    words = relexed(note)[0].words
    names = {t.name for (home, _), towns in pools().towns.items() if home == country for t in towns}
    assert any(name in words for name in names)


@pytest.mark.parametrize(
    ("words", "shape"),
    [
        ("P.O. Box 114", r"P\.O\. Box [1-9]\d\d"),
        ("RR 2 Box 45", r"RR \d Box \d\d"),
        ("US Highway 93", r"US Highway \d\d"),
        ("mile marker 243", r"mile marker \d{3}"),
        ("4417 County Road 12", r"\d{4} County Road \d\d"),
        ("corner of 5th and Main", r"corner of \d+(?:st|nd|rd|th) and [A-Z]\w+"),
        ("Elm St. & Oak Ave.", r"[A-Z]\w+ St\. & [A-Z]\w+ Ave\."),
        ("Flat 4, 88 Roundhay Mews", r"Flat \d, \d\d [A-Z]\w+ Mews"),
        ("Hasenörlgasse 9/14, 1100 Wien", r"\S+ \d/\d\d, \d{4} \w+.*"),
        ("c/o Dunne, 390 Quince St", r"c/o [\w ]+, \d{3} [A-Z]\w+ St"),
    ],
)
def test_boxes_routes_and_crossings_keep_their_kind(make: Make, become: Become, words: str, shape: str) -> None:
    (address,) = become([make("PLACE", "ADDRESS", words, country="AT" if "Wien" in words else "US")])
    assert re.fullmatch(shape, address)
    assert address != words


def test_reservations_bases_and_counties_keep_their_words(make: Make, become: Become) -> None:
    reservation, base, county = become(
        [
            make("PLACE", "LOCATION", "Pine Ridge Reservation"),
            make("PLACE", "LOCATION", "Fort Hood"),
            make("PLACE", "LOCATION", "Mahoning County", country="US", region="Ohio"),
        ]
    )
    assert reservation.endswith(" Reservation")
    assert base.startswith("Fort ")
    assert county.removesuffix(" County") in {t.county for t in pools().towns["US", "Ohio"]}


@pytest.mark.parametrize(
    ("written", "moved"), [("Tex.", r"[A-Z][a-z.]+|[A-Z]{2}"), ("TX", "[A-Z]{2}"), ("Texas", r".{4,}")]
)
def test_a_state_that_moves_keeps_its_written_form(make: Make, become: Become, written: str, moved: str) -> None:
    (state,) = become([make("PLACE", "STATE", written)], Choices(places="country"))
    assert re.fullmatch(moved, state)
    assert pools().region(state) is not None


def test_a_country_in_a_mention_of_a_city_stays_and_an_institution_in_an_address_keeps_its_kind(
    relexed: Relexed,
) -> None:
    country, address = relexed(
        "From [CITY|Slovenia]. Go to [ADDRESS|Valle Verde Endoscopy Center, 410 W. Cactus Blvd, Mesa, AZ 85201]."
    )
    assert country.words == "Slovenia"
    assert re.match(r"[A-Z][\w ]+ Endoscopy Center, \d{3} W\. ", address.words)


@pytest.mark.parametrize(
    ("words", "home"),
    [
        ("14 Abovyan Street, Apt 9, Gyumri 3104, Armenia", "AM"),
        ("27 Calle Rizal, Brgy. 11, Laoag City, Ilocos Norte 2900", "PH"),
    ],
)
def test_an_address_abroad_stays_in_its_country(make: Make, become: Become, words: str, home: str) -> None:
    (address,) = become([make("PLACE", "ADDRESS", words)])
    found = {piece.role: piece.text for piece in pieces("ADDRESS", address, pools())}
    assert home in {one.rstrip("*") for one in homes_of(found["city"])}
    assert found["street"] in pools().data("streets")["abroad"][home.lower()].split()


def test_the_label_of_a_neighborhood_stays(make: Make, become: Become) -> None:
    (address,) = become([make("PLACE", "ADDRESS", "Calle Morelos 118, Col. Centro, 58600 Zacapu, Michoacán, Mexico")])
    assert re.fullmatch(r"Calle \w+ \d{3}, Col\. (?!Centro)[\w ]+, \d{5} [\w ]+, Michoacán, Mexico", address)


def test_a_county_is_that_of_the_surrogate_town(make: Make, become: Become) -> None:
    home = {"country": "US", "region": "California"}
    places = [make("PLACE", "CITY", "Irvine", **home), make("PLACE", "LOCATION", "Orange County", **home)]
    town, county = become(places)
    found = next(t for t in pools().towns["US", "California"] if t.name == town)
    assert county == f"{found.county} County"


def test_the_airport_of_a_town_is_that_of_its_surrogate(make: Make, become: Become) -> None:
    town, airport = become([make("PLACE", "CITY", "Yerevan"), make("PLACE", "LOCATION", "Yerevan airport")])
    assert airport == f"{town} airport"


def test_a_postal_code_behind_a_town_and_before_the_state_is_one(make: Make, become: Become) -> None:
    (address,) = become([make("PLACE", "ADDRESS", "14/2 Temple Pond Road, Kochi 682301, Kerala, India")])
    assert re.fullmatch(r"\d\d/\d [\w ]+ Road, [\w ]+ \d{6}, Kerala, India", address)


def test_a_school_in_an_address_stays_a_school(make: Make, become: Become) -> None:
    (address,) = become([make("PLACE", "ADDRESS", "Pelican Point Elementary, Lake Jackson, Texas 77566")])
    assert re.fullmatch(r"[\w ]+ Elementary, [\w ]+, Texas \d{5}", address)
    assert "Pelican" not in address


def test_a_short_form_does_not_make_the_surrogate_shout(make: Make, become: Become) -> None:
    (county,) = become([make("PLACE", "LOCATION", "LA County", country="US", region="California")])
    assert county.istitle()
