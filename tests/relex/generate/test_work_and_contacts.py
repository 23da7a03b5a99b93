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
        ("ICU nurse", "health"),
        ("attorney", "law"),
        ("dairy farmer", "land"),
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
    assert become([make("OTHER", "RACE", "Samoan")]) == ["[LABEL]"]
