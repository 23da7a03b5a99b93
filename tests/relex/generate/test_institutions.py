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
    ],
)
def test_what_kind_it_is_stays(make: Make, become: Become, written: str, tail: str) -> None:
    (name,) = become([make("ORG", "ORGANIZATION", written, scope="")])
    assert name.endswith(tail)
    assert name.removesuffix(tail).isalpha()
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
    core = full.split()[0]
    assert full == f"{core} General Hospital"
    assert short == f"{core} General"
    assert letters == f"{core[0]}GH"
    assert dotted == f"{core[0]}.G.H."
    assert nick == f"the {core} General"


def test_institutions_of_one_name_keep_sharing_it(make: Make, become: Become) -> None:
    hospital, college = become(
        [
            make("ORG", "HOSPITAL", "Westfield Hospital", scope=""),
            make("ORG", "ORGANIZATION", "Westfield College", scope=""),
        ]
    )
    assert hospital.split()[0] == college.split()[0]


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
    assert re.fullmatch(r"\w+ Infirmary \(\w+ Wing\)", said.text)
    assert not set(said.text.split()) & {"Penhallow", "Cornwall"}
