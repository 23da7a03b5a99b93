"""A batch gets the same strings in any order, no duplicates within a scope, and never an original."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import UsageError
from incognote.keys import Keyring
from incognote.relex.generate import Choices, Component, Generators, KeyedDraw, RandomDraw, UsedSurrogates
from incognote.relex.nouns import Identity
from incognote.relex.pools import VERSION

NAMES = "Adam Beth Carl Dora Erik Fay Gus Hana Igor Jane".split()
SURNAMES = "Wilson Okafor Nowak Smith Garcia Chen Doe Baker Lund Rossi".split()

PEOPLE = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(SURNAMES), st.booleans()), min_size=1, max_size=12, unique=True
)


Make = Callable[..., Identity]
Person = tuple[str, str, bool]


def batch(identity: Make, people: list[Person]) -> list[Identity]:
    found = [
        identity(
            "PERSON",
            "CLINICIAN" if staff else "RELATIVE",
            f"{a} {b}",
            scope="" if staff else "patient:p",
            gender="female",
        )
        for a, b, staff in people
    ]
    found.append(identity("PLACE", "ADDRESS", "31 Fern Street, Dedham, MA 02026"))
    found.append(identity("PLACE", "CITY", "Dedham"))
    found.append(identity("CONTACT", "TELEPHONE_NUMBER", "617 432 1098"))
    found.append(identity("CONTACT", "EMAIL", "a@b.org", person=found[0].id))
    found.append(identity("ORG", "HOSPITAL", "Westfield Hospital", scope=""))
    return found


@given(people=PEOPLE, shuffle=st.randoms(use_true_random=False))
def test_the_order_of_a_batch_changes_no_string(
    make: Make, keyring: Keyring, people: list[Person], shuffle: random.Random
) -> None:
    here, there = batch(make, people), batch(make, people)
    shuffle.shuffle(there)
    first = Generators().generate_all(here, KeyedDraw(keyring), UsedSurrogates())
    assert Generators().generate_all(there, KeyedDraw(keyring), UsedSurrogates()) == first


@given(people=PEOPLE)
def test_components_are_told_apart_in_their_scope_and_shared_where_they_are_one(
    make: Make, keyring: Keyring, people: list[Person]
) -> None:
    identities = batch(make, people)
    surrogates = Generators().generate_all(identities, KeyedDraw(keyring), UsedSurrogates())
    called = {}
    for (_, surname, staff), one in zip(people, identities, strict=False):
        called.setdefault((surname, staff), set()).add(surrogates[one.id].parts["surname"])
    assert all(len(names) == 1 for names in called.values())
    assert len(set.union(*called.values())) == len(called)
    wholes = [Generators().whole(one, surrogates[one.id]) for one in identities]
    assert len(set(wholes)) == len(wholes)


@given(people=PEOPLE)
def test_no_surrogate_is_a_name_of_the_batch(make: Make, keyring: Keyring, people: list[Person]) -> None:
    identities = batch(make, people)
    surrogates = Generators().generate_all(identities, KeyedDraw(keyring), UsedSurrogates())
    drawn = {surrogates[one.id].parts[part] for one in identities[: len(people)] for part in ("given", "surname")}
    assert not drawn & {word for a, b, _ in people for word in (a, b)}


def test_the_same_key_gives_the_same_answer_and_another_key_another(make: Make, keyring: Keyring) -> None:
    identities = batch(make, [("Adam", "Wilson", False)])
    one, two = (Generators().generate_all(identities, KeyedDraw(keyring), UsedSurrogates()) for _ in range(2))
    assert one == two
    other = Generators().generate_all(identities, KeyedDraw(Keyring(bytes(32))), UsedSurrogates())
    assert other[identities[0].id] != one[identities[0].id]


def test_other_domains_and_patients_draw_other_names(make: Make, keyring: Keyring) -> None:
    found = [make("PERSON", "PATIENT", "Adam Wilson", scope=f"patient:{n}", domain=f"d{n % 2}") for n in range(20)]
    surrogates = Generators().generate_all(found, KeyedDraw(keyring), UsedSurrogates())
    assert len({s.parts["surname"] for s in surrogates.values()}) > 15


def test_random_draws_are_remembered_and_come_of_no_key(make: Make) -> None:
    identities = batch(make, [("Adam", "Wilson", False), ("Beth", "Wilson", False)])
    draw, taken = RandomDraw(), UsedSurrogates()
    once = Generators().generate_all(identities, draw, taken)
    assert Generators().generate_all(identities, draw, taken) == once
    assert once[identities[0].id].parts["surname"] == once[identities[1].id].parts["surname"]
    assert draw.offset("d", "patient:p", 365) == draw.offset("d", "patient:p", 365) != 0
    tried = {RandomDraw().place(Component("d", "", "surname", "wilson")) for _ in range(20)}
    assert len(tried) == 20


def test_draws_that_hit_what_is_taken_move_on_and_are_counted(make: Make, keyring: Keyring) -> None:
    one = make("PERSON", "PATIENT", "Adam Wilson", gender="male")
    free = Generators().generate_all([one], KeyedDraw(keyring), UsedSurrogates())[one.id].parts
    taken = UsedSurrogates([free["surname"], free["given"]])
    moved = Generators().generate_all([one], KeyedDraw(keyring), taken)[one.id].parts
    assert taken.moved == 2
    assert moved["surname"] != free["surname"]
    assert moved["given"] != free["given"]


def test_a_refused_surrogate_is_drawn_anew(make: Make, keyring: Keyring) -> None:
    generators, draw = Generators(), KeyedDraw(keyring)
    identities = batch(make, [("Adam", "Wilson", True)])
    assert len(identities) > 4
    for one in identities:
        taken = UsedSurrogates()
        first = generators.generate_all([one], draw, taken)[one.id]
        whole = generators.whole(one, first)
        taken.refuse(one.domain, one.scope, whole)
        again = generators.whole(one, generators.generate(one, draw, taken))
        assert again != whole


def test_a_later_batch_keeps_what_an_earlier_one_gave(make: Make, keyring: Keyring) -> None:
    first, taken = batch(make, [("Adam", "Wilson", False)]), UsedSurrogates()
    given_then = Generators().generate_all(first, KeyedDraw(keyring), taken)
    later = UsedSurrogates(held=taken.held)
    both = batch(make, [("Carl", "Nowak", False), ("Adam", "Wilson", False)])
    given_now = Generators().generate_all(both, KeyedDraw(keyring), later)
    assert given_now[first[0].id] == given_then[first[0].id]


def test_more_staff_than_names_still_are_told_apart(make: Make, keyring: Keyring) -> None:
    letters = "bcdfghklmnprstvz"
    names = [f"{a}o{b}e{c}u".title() for a in letters for b in letters for c in letters[:6]]
    found = [make("PERSON", "CLINICIAN", f"Jane {n}", scope="", gender="female") for n in names]
    surrogates = Generators().generate_all(found, KeyedDraw(keyring), UsedSurrogates())
    assert len({s.parts["surname"] for s in surrogates.values()}) == len(names)


def test_every_surrogate_bears_the_version_of_its_pool(make: Make, keyring: Keyring) -> None:
    identities = batch(make, [("Adam", "Wilson", False)])
    assert {s.pool for s in Generators().generate_all(identities, KeyedDraw(keyring), UsedSurrogates()).values()} == {
        VERSION
    }


def test_choices_out_of_range_are_refused() -> None:
    for choices in (Choices(band=0), Choices(band=6), Choices(days=0), Choices(days=4000)):
        with pytest.raises(UsageError, match="band"):
            Generators(choices)


def test_nothing_of_a_note_shows_in_a_repr() -> None:
    component = Component("d", "patient:Wilson", "surname", "wilson")
    assert "ilson" not in repr(component)


def test_what_an_index_remembers_is_shared_by_those_who_come_later(make: Make) -> None:
    first = [
        make("PERSON", "PATIENT", "Adam Wilson", gender="male"),
        make("PLACE", "ADDRESS", "31 Fern Street, Dedham, MA 02026"),
        make("ORG", "HOSPITAL", "Westfield Hospital", scope=""),
        make("CONTACT", "TELEPHONE_NUMBER", "617 432 1098"),
        make("CONTACT", "EMAIL", "a@b.org"),
        make("DATE", "DATE", "2024-03-05"),
        make("AGE", "AGE", "45", bearer="patient"),
        make("ID", "GUID", "A-12345"),
        make("OCCUPATION", "OCCUPATION", "baker"),
    ]
    generators = Generators()
    then = generators.generate_all(first, RandomDraw(), UsedSurrogates())
    later, draw = UsedSurrogates(), RandomDraw()
    for one in first:
        generators.recall(one, then[one.id], later)
    kin = [
        make("PERSON", "RELATIVE", "Jane Wilson", gender="female"),
        make("PLACE", "CITY", "Dedham"),
        make("ORG", "ORGANIZATION", "Westfield College", scope=""),
        make("CONTACT", "TELEPHONE_NUMBER", "617 432 1099"),
        make("CONTACT", "EMAIL", "c@b.org"),
        make("DATE", "DATE", "2024-04-05"),
        make("AGE", "AGE", "46", bearer="patient"),
    ]
    now = generators.generate_all([*kin, *first], draw, later)
    assert {one.id: now[one.id] for one in first} == then
    shared = ["surname", "city", "core", "", "host", "days", "move"]
    for old, new, part in zip(first, kin, shared, strict=False):
        if part:
            assert now[new.id].parts[part] == then[old.id].parts[part]
    assert now[kin[3].id].parts["number"][:3] == then[first[3].id].parts["number"][:3]


def test_no_surrogate_holds_a_word_of_its_original(make: Make, keyring: Keyring) -> None:
    found = [*batch(make, [("Adam", "Wilson", False)]), make("AGE", "AGE", "45 years"), make("AGE", "AGE", "61")]
    for choices in (Choices(places="country"), Choices(places="country", ages="decade")):
        drawn = Generators(choices).generate_all(found, KeyedDraw(keyring), UsedSurrogates())
        for one in found:
            words = {w.lower() for v in one.variants for w in v.words.replace(",", " ").split() if len(w) > 1}
            assert not words & {part.lower() for part in drawn[one.id].parts.values()}
