"""Institutions keep their kind but not their name, and acronyms match."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from incognote.keys import Keyring
from incognote.relex.generate import Generators
from incognote.relex.generate.base import KeyedDraw, UsedSurrogates
from incognote.relex.nouns import Identity
from incognote.relex.pools import pools

Make = Callable[..., Identity]
Become = Callable[..., list[str]]


@pytest.mark.parametrize(
    ("written", "tail"),
    [
        ("Stanford Medical Center", " Medical Center"),
        ("Valley Health Clinic", " Health Clinic"),
        ("Quest Diagnostics Laboratory", " Diagnostics Laboratory"),
        ("Corner Drug Store", " Drug Store"),
        ("Lincoln High School", " High School"),
        ("TechNova Corp", " Corp"),
        ("Tekmor Inc.", " Inc."),
        ("Grace Baptist Church", " Baptist Church"),
        ("Kalihi Samoan Congregational Church", " Samoan Congregational Church"),
        ("Hudson EMS", " EMS"),
        ("Rice Street Clinic", " Clinic"),
        ("University Avenue Drug", " Drug"),
    ],
)
def test_what_kind_it_is_stays(make: Make, become: Become, written: str, tail: str) -> None:
    (name,) = become([make("ORG", "ORGANIZATION", written, scope="")])
    assert name.endswith(tail)
    assert re.fullmatch(r"[A-Z][a-z]+(?: [A-Z][a-z]+){0,2}", name.removesuffix(tail))
    assert written.split()[0] not in name


@pytest.mark.parametrize("written", ["St. Mary's Hospital", "Saint Brigid Medical Center", "ST. LUKE'S HOSPITAL"])
def test_a_saint_stays_a_saint(make: Make, become: Become, written: str) -> None:
    (name,) = become([make("ORG", "HOSPITAL", written, scope="")])
    saints = {saint.lower() for saint in pools().words("institutions", "saint", "names")}
    head, saint = name.split()[:2]
    assert head == written.split()[0]
    assert saint.lower().removesuffix("'s") in saints
    assert ("'S" in name.upper()) == ("'S" in written.upper())
    assert name.isupper() == written.isupper()


def test_every_form_of_one_institution_agrees(make: Make, become: Become) -> None:
    full, short, letters, dotted, nick = become(
        [
            make(
                "ORG",
                "HOSPITAL",
                "Westfield General Hospital",
                "Westfield General",
                "WGH",
                "W.G.H.",
                "the General",
                scope="",
            )
        ]
    )
    core = full.removesuffix(" General Hospital")
    assert core != full
    assert short == f"{core} General"
    initials = "".join(word[0] for word in full.split())
    assert letters == initials
    assert dotted == "".join(f"{letter}." for letter in initials)
    assert nick == f"the {core} General"


def test_institutions_of_one_name_keep_sharing_it(make: Make, become: Become) -> None:
    hospital, college = become(
        [
            make("ORG", "HOSPITAL", "Westfield Hospital", scope=""),
            make("ORG", "ORGANIZATION", "Westfield College", scope=""),
        ]
    )
    assert hospital.removesuffix(" Hospital") == college.removesuffix(" College")


def test_an_acronym_alone_becomes_another_of_its_length(make: Make, become: Become) -> None:
    (name,) = become([make("ORG", "HOSPITAL", "UCSF", scope="")])
    assert len(name) == 4
    assert name.isupper()
    assert name != "UCSF"


def test_a_name_of_common_words_alone_gets_one_that_tells(make: Make, become: Become) -> None:
    (name,) = become([make("ORG", "HOSPITAL", "University Hospital", scope="")])
    assert name.endswith(" University Hospital")


def test_a_site_in_brackets_is_replaced_on_its_own_and_the_bracket_closes(make: Make, keyring: Keyring) -> None:
    one = make("ORG", "HOSPITAL", "Royal Penhallow Infirmary (West Cornwall Wing)", scope="")
    surrogate = Generators().generate_all([one], KeyedDraw(keyring), UsedSurrogates())[one.id]
    said = Generators().render(one.variants[0], one, surrogate)
    assert said is not None
    assert re.fullmatch(r"[\w ]+ Infirmary \([\w ]+ Wing\)", said.text)
    assert not set(said.text.split()) & {"Penhallow", "Cornwall"}


@pytest.mark.parametrize(
    ("written", "kind", "faith"),
    [
        ("Masjid Al-Noor", "Masjid {}", "mosque"),
        ("Temple Beth Israel", "Temple {}", "synagogue"),
        ("Gurdwara Sahib", "Gurdwara {}", "gurdwara"),
        ("Grace Lutheran Church", "{} Lutheran Church", "church"),
    ],
)
def test_a_house_of_worship_keeps_its_faith(make: Make, become: Become, written: str, kind: str, faith: str) -> None:
    (name,) = become([make("ORG", "ORGANIZATION", written, scope="")])
    names = pools().data("institutions")["faith"][faith]["names"].split(";")
    assert name in {kind.format(other) for other in names}


@pytest.mark.parametrize(
    ("written", "tail", "state"),
    [("Duluth General", " General", "Minnesota"), ("Texas Children's Hospital", " Children's Hospital", "Texas")],
)
def test_a_town_or_state_in_a_name_becomes_a_town_of_that_state(
    make: Make, become: Become, written: str, tail: str, state: str
) -> None:
    (name,) = become([make("ORG", "HOSPITAL", written, scope="")])
    assert name.removesuffix(tail) in {town.name for town in pools().towns["US", state]}


@pytest.mark.parametrize("written", ["THORACIC SURGERY CLINIC", "university", "General Internal Medicine Clinic"])
def test_a_department_without_a_name_stays(make: Make, become: Become, written: str) -> None:
    assert become([make("ORG", "HOSPITAL", written, scope="")]) == [written]


def test_a_part_of_an_institution_keeps_its_words(make: Make, become: Become) -> None:
    long, short, part = become(
        [make("ORG", "HOSPITAL", "Burn Center at Harborview", "Harborview", "the burn center", scope="")]
    )
    assert long == f"Burn Center at {short}"
    assert part == "the burn center"


def test_a_name_in_another_language_becomes_one_of_that_language(make: Make, become: Become) -> None:
    (name,) = become([make("ORG", "HOSPITAL", "Boldog Apor Kórház", scope="")])
    towns = {town.name for (home, _), found in pools().towns.items() if home == "HU" for town in found}
    assert name.removesuffix(" Kórház") in towns | set(pools().data("people")["hu"]["surname"].split())


def test_the_host_of_an_address_follows_its_institution(relexed: Become) -> None:
    hospital, address = relexed("[HOSPITAL|Stony Ridge Hospital], [EMAIL|records@stonyridge.example]")
    label = hospital.words.removesuffix(" Hospital").replace(" ", "").lower()
    assert address.words.split("@")[1].startswith(f"{label}.example.")


def test_the_possessive_of_a_name_in_s_fits_the_new_name(make: Make, become: Become) -> None:
    (name,) = become([make("ORG", "HOSPITAL", "St. James' Hospital", scope="")])
    assert re.fullmatch(r"St\. [A-Z][a-z]+(?:s'|[a-rt-z]'s) Hospital", name)


def test_an_acronym_agrees_with_the_whole_name_also_within_a_name_and_in_another_identity(
    make: Make, become: Become
) -> None:
    full, sited, letters, imaging = become(
        [
            make("ORG", "HOSPITAL", "Kaimana Medical Center", "Kaimana Medical Center Imaging", "KMC", scope=""),
            make("ORG", "HOSPITAL", "KMC Imaging", scope=""),
        ]
    )
    initials = "".join(word[0] for word in full.split())
    assert sited == f"{full} Imaging"
    assert letters == initials
    assert imaging == f"{initials} Imaging"


def test_a_name_like_a_town_in_a_far_country_or_like_a_word_does_not_become_a_town(make: Make, become: Become) -> None:
    names = become([make("ORG", "HOSPITAL", w, scope="") for w in ("Pali Rehabilitation Hospital", "Clover Drugs")])
    towns = {town.name for found in pools().towns.values() for town in found}
    assert not towns & {name.removesuffix(" Rehabilitation Hospital").removesuffix(" Drugs") for name in names}
