"""Gender from the record, nicknames, newborns, and given names of several words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from incognote.keys import Keyring
from incognote.relex.cluster.hints import sex_said
from incognote.relex.generate import Generators, KeyedDraw, UsedSurrogates
from incognote.relex.generate.cultures import HOME, homes_of_given
from incognote.relex.names import key
from incognote.relex.nouns import Hints, Identity, MentionVariant
from incognote.relex.pools import pools


def person(*written: str, type: str = "PATIENT", hints: Hints | None = None, **attributes: str) -> Identity:
    spans = [
        MentionVariant(type, words, "ward", "p", "r", None, 100 * at, 100 * at + len(words), hints or Hints())
        for at, words in enumerate(written)
    ]
    known = {"type": type, "normal": written[0].lower(), "name": written[0], **attributes}
    return Identity(written[0], "PERSON", "ward", "patient:p", tuple(spans), known)


def surrogates(keyring: Keyring, *people: Identity) -> list[list[str]]:
    generators, taken = Generators(), UsedSurrogates()
    drawn = generators.generate_all(people, KeyedDraw(keyring), taken)
    shown = [[generators.render(v, one, drawn[one.id]) for v in one.variants] for one in people]
    return [[text.text for text in texts if text is not None] for texts in shown]


@pytest.mark.parametrize(
    ("text", "sex"),
    [
        ("Brightwell, Arden   81 M   seen today", "male"),
        ("Arden is a 9 y/o girl with asthma", "female"),
        ("BRIGHTWELL, ARDEN   F   04/11/1971", "female"),
        ("Age/Sex: 44/M", "male"),
        ("Sex: F", "female"),
        ("Arden says she fell. Her hip hurts and she cannot stand.", "female"),
        ("Arden says he fell.", ""),
        ("metoprolol 25 mg, he took his pill, she called her son", ""),
    ],
)
def test_a_record_says_the_sex_of_its_patient(text: str, sex: str) -> None:
    assert sex_said(text) == sex


@pytest.mark.parametrize("sex", ["male", "female"])
def test_a_patient_whose_name_shows_no_gender_has_that_of_the_record(keyring: Keyring, sex: str) -> None:
    one = person("Zubbin Quarlesby", hints=Hints(sex=sex))
    given = surrogates(keyring, one)[0][0].split()[0]
    english = pools().people["en"]
    assert given in {name for kind, names in english.given.items() if kind.startswith(sex) for name in names}
    relative = replace(one, attributes={**one.attributes, "kin": "cousin"})
    assert Generators().generate(relative, KeyedDraw(keyring), UsedSurrogates()).parts["given"]


@pytest.mark.parametrize("name", ["Rick Thornbury", "Peggy Alderton", "Bill Thornbury", "Sully Marchbank"])
def test_a_nickname_is_a_listed_one_or_a_full_name(keyring: Keyring, name: str) -> None:
    (shown,) = surrogates(keyring, person(name))
    english = pools().people["en"]
    full = {given for names in english.given.values() for given in names}
    assert shown[0].split()[0] in full | {nick for forms in english.nicknames.values() for nick in forms}


def test_a_nickname_of_initials_has_the_surrogates_initials(keyring: Keyring) -> None:
    (shown,) = surrogates(keyring, person("Wesley Paul Garrity", 'Wesley "WP" Garrity', "WP"))
    given, middle, _ = shown[0].split()
    assert shown[1].split('"')[1] == shown[2] == given[0] + middle[0]


@pytest.mark.parametrize("words", ["Baby Boy {}", "BB {}", "Boy {}", "{}, Baby Girl"])
def test_an_unnamed_newborn_gets_a_surname_only(keyring: Keyring, words: str) -> None:
    (shown,) = surrogates(keyring, person(words.format("Lindgrave")))
    before, after = words.split("{}")
    assert shown[0].startswith(before)
    assert shown[0].endswith(after)
    assert " " not in shown[0].removeprefix(before).removesuffix(after)


@pytest.mark.parametrize("words", ["Baby Girl A", "Junior", "Jr."])
def test_words_that_name_nobody_stay(keyring: Keyring, words: str) -> None:
    assert surrogates(keyring, person(words)) == [[words]]


def test_a_given_name_of_two_words_is_no_given_name_and_surname(keyring: Keyring) -> None:
    (shown,) = surrogates(keyring, person("Mee Kou", type="RELATIVE"))
    hmong = pools().people["hm"]
    assert not set(shown[0].split()) & set(hmong.surname)


def test_the_names_behind_a_somali_given_name_are_those_of_men(keyring: Keyring) -> None:
    (shown,) = surrogates(keyring, person("Sagal Nur Warsame", type="RELATIVE", gender="female"))
    assert shown[0].split()[1] in pools().people["so"].names("male")


def test_namesakes_of_one_family_share_the_given_name(keyring: Keyring) -> None:
    (elder,), (younger,) = surrogates(keyring, person("Odessa Pritchard"), person("Odessa Wynne", type="RELATIVE"))
    assert elder.split()[0] == younger.split()[0]
    assert elder.split()[1] != younger.split()[1]


def test_what_stands_before_a_name_in_its_span_stays(keyring: Keyring) -> None:
    ((shown,),) = surrogates(keyring, person("little Odessa", type="RELATIVE", hints=Hints(guessed=True)))
    assert shown.startswith("little ")
    assert len(shown.split()) == 2


def test_a_namesake_whom_the_text_sets_apart_has_the_same_surrogate_name_and_stays_another_identity(
    keyring: Keyring,
) -> None:
    (patient,), (nurse,), (other,) = surrogates(
        keyring,
        person("Odessa Pritchard"),
        replace(person("Odessa Pritchard", type="CLINICIAN", normal="nurse"), id="nurse"),
        replace(person("Odessa Pritchard", hints=Hints(another=True), normal="other"), id="other"),
    )
    assert patient == nurse == other


def test_a_common_nickname_of_another_root_stays_a_common_english_name(keyring: Keyring) -> None:
    ((_, shown),) = surrogates(keyring, person("Philip Delaney", "Arnold"))
    assert HOME in homes_of_given(key(shown))
