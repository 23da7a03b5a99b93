"""Persons: gender, locale, relatives, and initials; staff are separate."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from incognote.keys import Keyring
from incognote.relex.generate import Generators, KeyedDraw, UsedSurrogates
from incognote.relex.generate.cultures import culture, neighbors
from incognote.relex.names import parse
from incognote.relex.nouns import Identity
from incognote.relex.pools import pools
from incognote.text.lexicon import fold

Make = Callable[..., Identity]
Become = Callable[..., list[str]]


@pytest.mark.parametrize("gender", ["female", "male"])
@pytest.mark.parametrize(
    ("surname", "home"),
    {"Hernandez": "es", "Patel": "in", "Okafor": "ig", "Wang": "zh", "Haddad": "ar", "Kowalczyk": "pl"}.items(),
)
def test_gender_and_culture_are_kept(make: Make, keyring: Keyring, gender: str, surname: str, home: str) -> None:
    one = make("PERSON", "PATIENT", f"Qx {surname}", gender=gender)
    parts = Generators().generate_all([one], KeyedDraw(keyring), UsedSurrogates())[one.id].parts
    assert parts["given"] in pools().people[home].names(gender)
    assert parts["surname"] in (*pools().people[home].surname, *pools().people[home].more)


def test_a_surname_tells_its_own_locale(make: Make, keyring: Keyring) -> None:
    one = make("PERSON", "PATIENT", "Amy Okonkwo", gender="female", locale="en")
    parts = Generators().generate_all([one], KeyedDraw(keyring), UsedSurrogates())[one.id].parts
    assert parts["surname"] in pools().people["ig"].surname
    assert parts["given"] in pools().people["en"].names("female")


def test_the_given_name_decides_between_the_cultures_that_have_the_surname(make: Make, keyring: Keyring) -> None:
    one = make("PERSON", "PATIENT", "Rosa Marin", gender="female", locale="es")
    parts = Generators().generate_all([one], KeyedDraw(keyring), UsedSurrogates())[one.id].parts
    assert parts["surname"] in pools().people["es"].surname


def test_an_unknown_gender_gets_a_name_that_both_bear(make: Make, keyring: Keyring) -> None:
    one = make("PERSON", "PERSON", "Wilson")
    parts = Generators().generate_all([one], KeyedDraw(keyring), UsedSurrogates())[one.id].parts
    assert parts["given"] in pools().people["en"].given["both"]


ENDINGS = {
    ("Jón Pálsson", "male"): r"\w+ \w+son",
    ("Guðrún Pálsdóttir", "female"): r"\w+ \w+dóttir",
    ("Natalia Sokolova", "female"): r"\w+ \w+(?:ova|eva|ina)",
    ("Nagy Lászlóné", "female"): r"\w+ \w+né",
    ("Willem van der Meer", "male"): r"\w+ van der \w+",
    ("Ahmed bin Khalid Al-Mansouri", "male"): r"\w+ bin \w+ Al-\w+",
    ("Min-Jun Kim", "male"): r"[A-Z]\w+-[A-Z]\w+ \w+",
    ("Minjun Kim", "male"): r"[A-Z][a-z]+ \w+",
    ("Nguyen Thi Lan", "female"): r"\w+ Thi \w+",
    ("Aleksandr Ivanovich Sokolov", "male"): r"\w+ \w+(?:ov|ev)ich \w+",
    ("María Fuentes Ortega", "female"): r"\w+ \w+ \w+",
    ("R. Meenakshi", "female"): r"[A-Z]\. \w+",
}


@pytest.mark.parametrize(("name", "gender"), ENDINGS)
def test_a_name_keeps_the_form_of_its_culture(make: Make, become: Become, name: str, gender: str) -> None:
    (surrogate,) = become([make("PERSON", "PATIENT", name, gender=gender)])
    assert re.fullmatch(ENDINGS[name, gender], surrogate)


def test_a_name_without_diacritics_gets_one_without(make: Make, become: Become) -> None:
    assert all(name.isascii() for name in become([make("PERSON", "PATIENT", "Gudrun Einarsdottir", gender="female")]))


@pytest.mark.parametrize("name", ["John Doe", "Jane Roe", "Robert Hargrove"])
def test_an_english_name_becomes_a_common_english_name(make: Make, keyring: Keyring, name: str) -> None:
    english = pools().people["en"]
    people = [make("PERSON", "PATIENT", name, scope=f"patient:{n}") for n in range(40)]
    drawn = Generators().generate_all(people, KeyedDraw(keyring), UsedSurrogates())
    assert {s.parts["given"] for s in drawn.values()} <= {n for names in english.given.values() for n in names}
    assert sum(s.parts["surname"] in english.surname for s in drawn.values()) > 25


def test_a_lone_given_name_of_a_relative_is_of_the_patients_culture(make: Make, become: Become) -> None:
    _, daughter, son = become(
        [
            make("PERSON", "PATIENT", "Suharti Santoso", gender="female"),
            make("PERSON", "RELATIVE", "Xarini", gender="female"),
            make("PERSON", "RELATIVE", "Kevin", gender="male"),
        ]
    )
    assert daughter in pools().people["id"].names("female")
    assert son in pools().people["en"].names("male")


def test_one_given_name_of_two_clinicians_becomes_two(make: Make, keyring: Keyring) -> None:
    staff = [
        make("PERSON", "CLINICIAN", f"Adam {family}", scope="", gender="male")
        for family in "Wilson Harper Fowler Dyer Easton Ingram Joiner Keeler".split()
    ]
    drawn = Generators().generate_all(staff, KeyedDraw(keyring), UsedSurrogates())
    assert len({s.parts["given"] for s in drawn.values()}) > 4


def test_a_title_and_surname_before_the_whole_name_is_called_the_same(make: Make, keyring: Keyring) -> None:
    lone = make("PERSON", "CLINICIAN", "Haddad", scope="", title="dr")
    whole = make("PERSON", "CLINICIAN", "Samir Haddad", scope="", gender="male")
    first = Generators().generate_all([lone], KeyedDraw(keyring), UsedSurrogates())[lone.id]
    assert Generators().generate_all([whole], KeyedDraw(keyring), UsedSurrogates())[whole.id].parts["surname"] == (
        first.parts["surname"]
    )


def test_father_and_son_of_one_name_share_the_surrogate_and_keep_their_suffixes(make: Make, become: Become) -> None:
    father, son = become(
        [
            make("PERSON", "RELATIVE", "Robert Hargrove Sr.", gender="male"),
            make("PERSON", "PATIENT", "Robert Hargrove Jr.", gender="male"),
        ]
    )
    assert father.removesuffix(" Sr.") == son.removesuffix(" Jr.") != "Robert Hargrove"


def test_initials_of_nobody_else_stay_as_many_initials(make: Make, become: Become) -> None:
    low, high = become([make("PERSON", "CLINICIAN", "jt", scope=""), make("PERSON", "CLINICIAN", "QXZ", scope="")])
    assert low.islower()
    assert high.isupper()
    assert (len(low), len(high)) == (2, 3)
    assert low != "jt"


def test_an_account_of_nobody_else_keeps_its_pattern_and_the_familys_surname(make: Make, become: Become) -> None:
    name, account, other = become(
        [
            make("PERSON", "PATIENT", "Robert Hargrove", gender="male"),
            make("CONTACT", "USERNAME", "xhargrove49"),
            make("CONTACT", "EMAIL", "dana.quell@mail.example"),
        ]
    )
    surname = name.split()[1].lower()
    assert re.fullmatch(rf"[a-z]{surname}\d\d", account)
    assert re.fullmatch(r"[a-z]+\.[a-z]+@.+", other)


def test_an_alias_in_another_language_becomes_a_name_of_its_own(make: Make, become: Become) -> None:
    name, alias = become([make("PERSON", "RELATIVE", "Liu Xiuying", "Cindy Liu", gender="female")])
    assert alias.split()[0] in pools().people["en"].names("female")
    assert alias.split()[1] == name.split()[0]


def test_an_old_and_a_young_given_name_stay_old_and_young(make: Make, become: Become) -> None:
    people = [make("PERSON", "RELATIVE", name, gender="female") for name in ("Mildred Wilson", "Madison Wilson")]
    old, young = (name.split()[0] for name in become(people))
    assert old in pools().people["en"].given["female_older"]
    assert young in pools().people["en"].given["female_younger"]


def test_a_lone_surname_is_called_as_the_whole_name_is(make: Make, become: Become) -> None:
    lone, whole = become([make("PERSON", "PERSON", "Wilson"), make("PERSON", "PATIENT", "Adam Wilson", gender="male")])
    assert parse(whole).surname == (lone,)


def test_one_identity_in_every_way_of_writing(make: Make, become: Become) -> None:
    full, inverted, capitals, initials, owned, nick, spelt = become(
        [
            make(
                "PERSON", "PATIENT", "Robert Allen Whitfield", "Whitfield, Robert A.", "WHITFIELD", "R.A.W.",
                "Whitfield's", "Bob", "Whitfeild", gender="male", locale="en",
            )
        ]
    )  # fmt: skip
    given, middle, surname = full.split()
    assert inverted == f"{surname}, {given} {middle[0]}."
    assert capitals == surname.upper()
    assert initials == f"{given[0]}.{middle[0]}.{surname[0]}."
    assert owned == f"{surname}'s"
    assert nick != given
    assert nick[0] == given[0] or nick in pools().people["en"].nicknames[given]
    assert spelt == surname


def test_kin_share_the_surname_and_not_the_given_name(make: Make, become: Become) -> None:
    patient, wife, mother = become(
        [
            make("PERSON", "PATIENT", "Adam Wilson", gender="male"),
            make("PERSON", "RELATIVE", "Jane Wilson", gender="female"),
            make("PERSON", "RELATIVE", "Ruth Carver", gender="female"),
        ]
    )
    assert patient.split()[1] == wife.split()[1] != mother.split()[1]
    assert len({name.split()[0] for name in (patient, wife, mother)}) == 3


def test_a_name_of_birth_is_that_of_the_family_that_bears_it(make: Make, become: Become) -> None:
    now, before, mother = become(
        [
            make("PERSON", "PATIENT", "Jane Wilson", "Carver", gender="female"),
            make("PERSON", "RELATIVE", "Ruth Carver", gender="female"),
        ]
    )
    assert now.split()[1] != before == mother.split()[1]


def test_a_double_surname_stays_double(make: Make, become: Become) -> None:
    patient, double = become(
        [
            make("PERSON", "PATIENT", "Adam Wilson", gender="male"),
            make("PERSON", "RELATIVE", "Beth Wilson-Okafor", gender="female"),
        ]
    )
    first, second = double.split()[1].split("-")
    assert first == patient.split()[1] != second


def test_staff_and_patients_draw_from_surnames_that_never_meet(make: Make, keyring: Keyring) -> None:
    staff = [
        make("PERSON", "CLINICIAN", f"Amy Wexl{a}{b}r", scope="", gender="female") for a in "aeiou" for b in "bdfglm"
    ]
    patients = [
        make("PERSON", "PATIENT", f"Amy Wexl{a}{b}r", scope=f"patient:{a}{b}", gender="female")
        for a in "aeiou"
        for b in "bdfglm"
    ]
    drawn = Generators().generate_all([*staff, *patients], KeyedDraw(keyring), UsedSurrogates())
    assert not {drawn[s.id].parts["surname"] for s in staff} & {drawn[p.id].parts["surname"] for p in patients}


def test_two_of_one_name_in_a_scope_get_two_names(make: Make, keyring: Keyring) -> None:
    father = make("PERSON", "PATIENT", "John Wilson", normal="john wilson", gender="male")
    son = make("PERSON", "PERSON", "John Wilson", normal="john wilson jr", gender="male")
    drawn = Generators().generate_all([father, son], KeyedDraw(keyring), UsedSurrogates())
    assert drawn[father.id].parts["surname"] == drawn[son.id].parts["surname"]
    assert drawn[father.id].parts["given"] != drawn[son.id].parts["given"]


def test_a_relative_with_the_patients_name_keeps_sharing_it(make: Make, keyring: Keyring) -> None:
    patient = make("PERSON", "PATIENT", "John Wilson", normal="john wilson", gender="male")
    relative = make("PERSON", "RELATIVE", "John Wilson", normal="john wilson roommate", gender="male")
    drawn = Generators().generate_all([patient, relative], KeyedDraw(keyring), UsedSurrogates())
    shown = [(drawn[one.id].parts["given"], drawn[one.id].parts["surname"]) for one in (patient, relative)]
    assert shown[0] == shown[1]


def test_more_namesakes_than_given_names_get_as_many_names(make: Make, keyring: Keyring) -> None:
    namesakes = [
        replace(make("PERSON", "PERSON", "John Smith", normal=f"john smith {n}", gender="male"), id=str(n))
        for n in range(400)
    ]
    drawn = Generators().generate_all(namesakes, KeyedDraw(keyring), UsedSurrogates())
    assert len({(drawn[one.id].parts["given"], drawn[one.id].parts["surname"]) for one in namesakes}) == 400


def test_words_that_show_no_name_are_left_to_a_label(make: Make, become: Become) -> None:
    assert become([make("PERSON", "PERSON", "...")]) == ["[LABEL]"]


def test_a_word_is_called_the_same_whichever_way_round_the_name_is_written(make: Make, become: Become) -> None:
    ways = ("SUBRAMANIAN, MURUGESAN", "Subramanian Murugesan", "Murugesan", "Subramanian")
    inverted, whole, last, first = become([make("PERSON", "PATIENT", *ways, gender="male")])
    assert whole == f"{first} {last}"
    assert inverted == f"{first}, {last}".upper()


def test_the_initial_of_a_surname_is_of_the_one_that_begins_so(make: Make, become: Become) -> None:
    ways = ("Margaret Sullivan", "Margaret Donohue", "Peg D.", "Peg S.")
    married, born, d, s = become([make("PERSON", "PATIENT", *ways, gender="female")])
    assert (d[-2], s[-2]) == (born.split()[1][0], married.split()[1][0])


def test_a_surname_cut_short_is_that_surname(make: Make, become: Become) -> None:
    whole, short = become([make("PERSON", "PATIENT", "Guðrún Einarsdóttir", "Guðrún Einarsd.", gender="female")])
    assert short == f"{whole}."


@pytest.mark.parametrize(
    ("written", "home"),
    [
        ("Dana Kaneshiro", "jp"),
        ("Joy Tabios", "ph"),
        ("Yesenia Umaña", "es"),
        ("Domingo Pascua", "ph"),
        ("Moussa Youssef", "ar"),
        ("Robert Tillman", "en"),
    ],
)
def test_a_surname_keeps_its_culture_by_its_form_or_its_given_name(
    make: Make, become: Become, written: str, home: str
) -> None:
    (name,) = become([make("PERSON", "PATIENT", written)])
    surnames = {fold(word) for one in (home, *neighbors(home)) for word in (*culture(one).surname, *culture(one).more)}
    assert fold(name.split(maxsplit=1)[1]) in surnames


def test_a_given_name_of_one_gender_outweighs_the_kinship_word_of_somebody_else(make: Make, become: Become) -> None:
    (name,) = become([make("PERSON", "RELATIVE", "Sergei Volkov", name="Sergei Volkov", gender="female")])
    assert name.split()[0] in culture("ru").given["male"]
    (name,) = become([make("PERSON", "RELATIVE", "Shadi Daneshvar", name="Shadi Daneshvar", gender="female")])
    assert name.split()[0] in (*culture("ir").given["female"], *culture("ar").given["female"])  # a man's in one country


def test_a_somali_child_has_the_given_name_of_the_father(make: Make, become: Become) -> None:
    father, son = become(
        [make("PERSON", "RELATIVE", "Abdi Nur Farah", gender="male"), make("PERSON", "PATIENT", "Hodan Abdi Nur")]
    )
    assert son.split()[1:] == father.split()[:2]


def test_the_second_name_of_a_hmong_given_name_stays_a_given_name(make: Make, become: Become) -> None:
    (name,) = become([make("PERSON", "PATIENT", "Mai See Xiong", gender="female")])
    assert name.split()[1] in (*culture("hm").given["female"], *culture("hm").given["both"])


def test_a_misspelled_surname_is_drawn_by_the_usual_form(make: Make, become: Become) -> None:
    patient, _, misspelled, daughter = become(
        [
            make("PERSON", "PATIENT", "Rogelio Agbayani Sr", "Rogelio Agbayani", "Rogelio Aghbayani"),
            make("PERSON", "RELATIVE", "Marites Agbayani"),
        ]
    )
    assert patient.split()[1] == misspelled.split()[1] == daughter.split()[1]


@pytest.mark.parametrize(("written", "gender"), [("Armine Hakobyan", "female"), ("Magdy Girgis", "male")])
def test_the_gender_of_a_given_name_of_no_pool_is_known(
    make: Make, keyring: Keyring, written: str, gender: str
) -> None:
    one = make("PERSON", "CLINICIAN", written, scope="")
    parts = Generators().generate_all([one], KeyedDraw(keyring), UsedSurrogates())[one.id].parts
    homes = ("am", *neighbors("ar"))
    assert parts["given"] in {name for home in homes for name in culture(home).given[gender]}
