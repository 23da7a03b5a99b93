"""Occupations of the same class, accounts built from their owner's surrogate, and words for relatives."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from incognote.relex.generate.values import class_of
from incognote.relex.nouns import Identity
from incognote.relex.pools import pools

Make = Callable[..., Identity]
Become = Callable[..., list[str]]


@pytest.mark.parametrize(
    ("written", "field"),
    [
        ("software engineer", "software"),
        ("civil engineer", "engineering"),
        ("third-grade teacher", "teaching"),
        ("pipefitter", "building"),
        ("long-haul truck driver", "driving"),
        ("ICU nurse", "nursing"),
        ("brass band director", "music_teaching"),
        ("nurse aide", "care"),
        ("adjunct professor", "college"),
        ("tile press operator", "operating"),
        ("attorney", "law"),
        ("dairy farmer", "farming"),
        ("band director", "music_teaching"),
        ("graphic designer", "design"),
        ("sanitation lead", "industry"),
        ("parish nun", "nuns"),
        ("911 dispatcher", "office"),
    ],
)
def test_an_occupation_stays_in_its_class(make: Make, become: Become, written: str, field: str) -> None:
    assert class_of(written, pools()) == field
    (job,) = become([make("OCCUPATION", "OCCUPATION", written)])
    assert job.lower() in pools().data("occupations")[field]["jobs"].lower().split(";")
    assert job != written


def test_what_is_said_around_the_job_stays(make: Make, become: Become) -> None:
    retired, former, plural, capital, title = become(
        [
            make("OCCUPATION", "OCCUPATION", "retired pipefitter", "former pipefitter"),
            make("OCCUPATION", "OCCUPATION", "schoolteachers"),
            make("OCCUPATION", "OCCUPATION", "Carpenter"),
            make("OCCUPATION", "OCCUPATION", "Software Engineer"),
        ]
    )
    assert retired.removeprefix("retired ") == former.removeprefix("former ")
    assert plural.endswith("s")
    assert capital[0].isupper()
    assert title.istitle()


@pytest.mark.parametrize(
    ("written", "neutral"),
    [("snowplow hand", "worker"), ("upcycler", "employee"), ("retired kiter", "retired worker"), ("pie shop", "shop")],
)
def test_an_occupation_of_no_class_becomes_a_neutral_word(
    make: Make, become: Become, written: str, neutral: str
) -> None:
    assert become([make("OCCUPATION", "OCCUPATION", written)]) == [neutral]


@pytest.mark.parametrize("state", ["Retired", "college student", "disabled veteran", "stay-at-home dad", "unemployed"])
def test_a_state_that_identifies_nobody_stays(make: Make, become: Become, state: str) -> None:
    assert become([make("OCCUPATION", "OCCUPATION", state)]) == [state]


def test_the_article_before_a_job_stays_right(make: Make, become: Become) -> None:
    accountant, carpenter = become([make("OCCUPATION", "OCCUPATION", w) for w in ("accountant", "carpenter")])
    assert accountant[0] in "aeio"
    assert carpenter[0] not in "aeio"


def test_an_account_is_built_of_the_bearers_surrogate(make: Make, become: Become) -> None:
    person = make("PERSON", "PATIENT", "Chidi Okafor", gender="male")
    name, mail, user = become(
        [
            person,
            make("CONTACT", "EMAIL", "cokafor75@uni.edu", person=person.id),
            make("CONTACT", "USERNAME", "chidi.okafor", person=person.id),
        ]
    )
    given, surname = name.lower().split()
    front, host = mail.split("@")
    assert re.fullmatch(rf"{given[0]}{surname}\d\d", front)
    assert "75" not in front
    assert user == f"{given}.{surname}"
    assert host.endswith((".example.com", ".example.org", ".example.net"))


def test_an_account_keeps_suffixes_and_degrees_and_changes_other_words(make: Make, become: Become) -> None:
    person = make("PERSON", "PATIENT", "Barnaby Thistlewood", gender="male")
    name, junior, nurse, other = become(
        [
            person,
            make("CONTACT", "USERNAME", "bthistlewood_jr71", person=person.id),
            make("CONTACT", "USERNAME", "thistlewood.rn", person=person.id),
            make("CONTACT", "EMAIL", "bthistlewood.tuba@uni.edu", person=person.id),
        ]
    )
    given, surname = name.lower().split()
    assert re.fullmatch(rf"{given[0]}{surname}_jr\d\d", junior)
    assert nurse == f"{surname}.rn"
    assert re.fullmatch(rf"{given[0]}{surname}\.\d\d", other.split("@")[0])


def test_a_ward_named_by_a_side_keeps_it(make: Make, become: Become) -> None:
    assert [words.split()[-1] for words in become([make("PLACE", "LOCATION", w) for w in ("5 West", "3 Green")])] == [
        "West",
        "Green",
    ]


def test_accounts_without_a_bearer_tell_nothing(make: Make, become: Become) -> None:
    mail, capital, user = become(
        [make("CONTACT", "EMAIL", "sunny@home.org", "SUNNY@HOME.ORG"), make("CONTACT", "USERNAME", "xk42")]
    )
    assert capital == mail.upper()
    assert "sunny" not in mail
    assert "home" not in mail
    assert "xk42" not in user


def test_a_host_is_the_same_in_mail_and_web(make: Make, become: Become) -> None:
    one, other, web, elsewhere = become(
        [
            make("CONTACT", "EMAIL", "a.b@clinic.org"),
            make("CONTACT", "EMAIL", "c.d@clinic.org"),
            make("CONTACT", "URL", "https://www.clinic.org/staff/c-d?x=1"),
            make("CONTACT", "URL", "other.net"),
        ]
    )
    host = one.split("@")[1]
    assert other.split("@")[1] == host
    assert re.fullmatch(rf"https://www\.{re.escape(host)}/[a-z]+/[a-z]+", web)
    assert elsewhere.count(".") == 2
    assert host not in elsewhere


def test_words_of_family_become_neutral_and_others_a_label(make: Make, become: Become) -> None:
    assert become([make("OTHER", "MARITAL_STATUS", "wife"), make("OTHER", "MARITAL_STATUS", "HUSBAND")]) == [
        "spouse",
        "SPOUSE",
    ]
    assert become([make("OTHER", "MARITAL_STATUS", "Husband")]) == ["Spouse"]
    assert become([make("OTHER", "MARITAL_STATUS", "Late husband"), make("OTHER", "MARITAL_STATUS", "ex-wife")]) == [
        "Late spouse",
        "ex-spouse",
    ]
    assert become([make("OTHER", "RACE", "Samoan")]) == ["[LABEL]"]
    assert become([make("OTHER", "MARITAL_STATUS", "wife Anna")]) == ["[LABEL]"]


@pytest.mark.parametrize("status", ["widow", "Widowed", "married", "divorced", "Single", "partner"])
def test_a_marital_status_stays(make: Make, become: Become, status: str) -> None:
    assert become([make("OTHER", "MARITAL_STATUS", status)]) == [status]
