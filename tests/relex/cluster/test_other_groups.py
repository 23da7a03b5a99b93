"""Institutions, places, phones, identifiers, dates, ages, occupations, and accounts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from incognote.relex.cluster import cluster
from incognote.relex.cluster.institutions import form_of
from incognote.relex.cluster.places import Address, address_of
from incognote.relex.cluster.values import age_of, date_of, phone_of
from incognote.relex.nouns import MentionVariant

Together = Callable[..., list[set[str]]]
Marked = Callable[..., list[MentionVariant]]


@pytest.mark.parametrize(
    "names",
    [
        ("Brookline Memorial Hospital", "BMH", "Brookline Memorial", "BROOKLINE MEMORIAL HOSP."),
        ("St. Brigid's Medical Center", "Saint Brigid's", "SBMC", "St Brigids Med Ctr"),
        ("Harbor View Hospital", "Harborview Hospital"),
        ("Westfield General Hospital", "Westfield General"),
        ("The Cleveland Library", "Cleveland Library"),
        ("Karunya Mission Hospital", "Karunya Mision Hospital"),
        ("RS Kebun Raya", "Kebun Raya Hospital", "Kebun Raya"),
        ("Westfield General Hospital", "General"),
        ("Massachusetts General Hospital", "MGH", "Mass General", "the General"),
    ],
)
def test_ways_to_write_an_institution(together: Together, names: tuple[str, ...]) -> None:
    assert together(" and ".join(f"[HOSPITAL {name}]" for name in names)) == [set(names)]


@pytest.mark.parametrize(
    "names",
    [
        ("Elmhurst Women's Clinic", "Elmhurst Community Hospital"),
        ("Mercy Clinic 4 Downtown", "Mercy Clinic 5 Downtown"),
        ("Brookline Memorial Hospital", "BCH"),
        ("St. Mary's Hospital", "St. Mark's Hospital"),
        ("Mercy Heart Clinic", "Mercy Heath Clinic"),
        ("St. Mary's Hospital", "St. Mary's Clinic", "St. Mary's"),
        ("Brookline Memorial Hospital", "Bedford Methodist Hospital", "BMH"),
    ],
)
def test_institutions_that_are_several(together: Together, names: tuple[str, ...]) -> None:
    assert len(together(" and ".join(f"[HOSPITAL {name}]" for name in names))) == len(names)


def test_an_institution_in_full_words() -> None:
    assert form_of("St. Brigid's Med Ctr") == ("saint", "brigid", "medical", "center")
    assert form_of("B.M.H.") == form_of("BMH") == ("=bmh",)


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("(617) 555-0143", ("6175550143", "")),
        ("617.555.0143", ("6175550143", "")),
        ("+1 617 555 0143", ("6175550143", "")),
        ("(413) 555-0109 ext. 22", ("4135550109", "22")),
        ("413-555-0109 x22", ("4135550109", "22")),
        ("4-1234", ("41234", "")),
    ],
)
def test_a_telephone_in_its_normal_form(written: str, form: tuple[str, str]) -> None:
    assert phone_of(written) == form


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("+971 50 555 0147", "050 555 0147", True),
        ("+44 (0)20 7946 0018", "020 7946 0018", True),
        ("617-555-0143", "555-0143", True),
        ("617-555-0143", "508-555-0143", False),
        ("413-555-0109 x22", "413-555-0109 x23", False),
        ("413-555-0109 x22", "413-555-0109", True),
    ],
)
def test_telephones(together: Together, a: str, b: str, same: bool) -> None:
    assert len(together(f"[TELEPHONE_NUMBER {a}] or [TELEPHONE_NUMBER {b}]")) == (1 if same else 2)


def test_a_local_number_that_fits_two_stands_alone(together: Together) -> None:
    assert (
        len(together("[TELEPHONE_NUMBER 617-555-0143], [FAX_NUMBER 508-555-0143]", "[TELEPHONE_NUMBER 555-0143]")) == 3
    )


def test_identifiers_by_letters_and_digits(together: Together) -> None:
    assert (
        len(
            together(
                "[MEDICAL_RECORD_NUMBER SB-0093127] [GUID SB0093127] [MEDICAL_RECORD_NUMBER 00718823] [FIN 718823]"
            )
        )
        == 2
    )
    assert len(together("[MEDICAL_RECORD_NUMBER 412] [FIN 412]")) == 2


def test_an_address_in_parts() -> None:
    assert address_of("31 Fern St Apt 2B, Dedham, MA 02026-1234") == Address(
        "31", "fern street", "2b", "dedham", "massachusetts", "02026"
    )
    assert address_of("Havenstraat 61, 3024 TB Rotterdam") == Address(
        "61", "havenstraat", "", "rotterdam", "", "3024tb"
    )


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("ADDRESS 31 Fern Street, Dedham, MA 02026", "ADDRESS 31 Fern St, Dedham MA 02026", True),
        ("ADDRESS 31 Fern Street, Dedham, MA 02026", "STREET 31 Fern St", True),
        ("ADDRESS 31 Fern Street, Dedham, MA 02026", "ADDRESS 33 Fern Street, Dedham, MA 02026", False),
        ("ADDRESS 31 Fern Street, Dedham, MA 02026", "ADDRESS 31 Fern Street, Salem, MA 01970", False),
        ("CITY St. Louis", "CITY Saint Louis", True),
        ("STATE MA", "STATE Massachusetts", True),
        ("ROOM Rm 412", "ROOM 412", True),
        ("COUNTRY USA", "COUNTRY United States", True),
        ("ZIP 02026-1234", "ZIP 02026", True),
        ("CITY Dedham", "ADDRESS 31 Fern Street, Dedham, MA 02026", False),
    ],
)
def test_places(together: Together, a: str, b: str, same: bool) -> None:
    assert len(together(f"[{a}] and [{b}]")) == (1 if same else 2)


def test_a_city_is_the_city_within_the_address(marked: Marked) -> None:
    (city,) = cluster(marked("[CITY Dedham]"))
    assert city.attributes["normal"].split("\0")[1] == address_of("31 Fern Street, Dedham, MA 02026").city


@pytest.mark.parametrize(
    ("written", "day_first", "form"),
    [
        ("03/14/2023", False, ("day", "2023", "3", "14")),
        ("March 14, 2023", False, ("day", "2023", "3", "14")),
        ("14 Mar 23", False, ("day", "2023", "3", "14")),
        ("2023-03-14", False, ("day", "2023", "3", "14")),
        ("Tuesday 3/14", False, ("day", "", "3", "14")),
        ("02/08/2023", False, ("day", "2023", "2", "8")),
        ("02/08/2023", True, ("day", "2023", "8", "2")),
        ("6/12/48", False, ("day", "1948", "6", "12")),
        ("August", False, ("words", "august")),
        ("2016", False, ("words", "2016")),
    ],
)
def test_a_date_is_the_day_it_means(written: str, day_first: bool, form: tuple[str, ...]) -> None:
    assert date_of(written, day_first) == form


def test_other_dates_of_the_patient_tell_what_stands_first(together: Together) -> None:
    assert {"02/08/2023", "2 Aug 2023"} in together("[DATE 19/12/2022]", "[DATE 02/08/2023] is [DATE 2 Aug 2023]")
    assert {"02/08/2023", "2 Aug 2023"} not in together("[DATE 12/19/2022]", "[DATE 02/08/2023], [DATE 2 Aug 2023]")


def test_a_date_without_year_is_the_one_of_its_record(together: Together) -> None:
    found = together("[DATE 3/14/2023] and [DATE 3/14]", "[DATE 3/14/2024] and [DATE March 14]")
    assert found == [{"3/14", "3/14/2023"}, {"3/14/2024", "March 14"}]


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("74-year-old", ("74", "year")),
        ("74M", ("74", "year")),
        ("seventy-four", ("74", "year")),
        ("2 mo", ("2", "month")),
        ("80s", ("80", "decade")),
    ],
)
def test_an_age_is_a_number_and_a_unit(written: str, form: tuple[str, ...]) -> None:
    assert age_of(written) == form


def test_work_is_the_same_when_it_is_over(together: Together) -> None:
    assert together("[OCCUPATION Retired machinist], a [OCCUPATION machinist]") == [{"Retired machinist", "machinist"}]
    assert together("a [OCCUPATION net-maker], [OCCUPATION netmaker]") == [{"net-maker", "netmaker"}]


def test_an_account_that_fits_father_and_son_is_the_patients(marked: Marked) -> None:
    note = "[PATIENT Barnaby Thistle Jr.] [RELATIVE Barnaby Thistle Sr.] [USERNAME bthistle_jr71] [USERNAME thistle]"
    found = cluster(marked(note))
    ids = {v.words: one.id for one in found for v in one.variants}
    owners = {v.words: one.attributes.get("person") for one in found for v in one.variants if one.group == "CONTACT"}
    assert owners == {"bthistle_jr71": ids["Barnaby Thistle Jr."], "thistle": None}


def test_an_account_is_tied_to_the_person_whose_name_it_holds(marked: Marked) -> None:
    note = (
        "[PATIENT Chidi Okafor] [RELATIVE Amara Okafor] [EMAIL chidi.okafor@mail.example] "
        "[CLINICIAN Samir Haddad] [USERNAME shaddad] [EMAIL okafor@mail.example]"
    )
    found = cluster(marked(note))
    ids = {v.words: one.id for one in found for v in one.variants}
    owners = {v.words: one.attributes.get("person") for one in found for v in one.variants if one.group == "CONTACT"}
    assert owners["chidi.okafor@mail.example"] == ids["Chidi Okafor"]
    assert owners["shaddad"] == ids["Samir Haddad"]
    assert owners["okafor@mail.example"] is None


def test_what_has_no_group_of_its_own_goes_by_its_words(together: Together) -> None:
    assert together("[URL http://A.example] [URL http://a.example] [RACE Klingon]") == [
        {"Klingon"},
        {"http://A.example", "http://a.example"},
    ]
