"""User names and the names that they contain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.relex.names import parse, render
from incognote.relex.names.parsed import parse_user

CHIDI = parse("Okafor, Chidi N.")
CHANG = {"given": "Kevin", "middle": "Lee", "surname": "Chang"}


@pytest.mark.parametrize(
    ("user", "surrogate"),
    [
        ("cokafor", "kchang"),
        ("chidi.okafor", "kevin.chang"),
        ("Chidi_Okafor64", "Kevin_Chang64"),
        ("okaforc2", "changk2"),
        ("c.okafor", "k.chang"),
        ("okafor", "chang"),
    ],
)
def test_a_user_name_is_built_again_from_the_surrogate(user: str, surrogate: str) -> None:
    read = parse_user(user, [CHIDI])
    assert read is not None
    assert render(read, CHANG) == surrogate


@pytest.mark.parametrize("user", ["mokafor", "sunflower99", "c", "64", ""])
def test_what_holds_no_name_of_theirs_is_none(user: str) -> None:
    assert parse_user(user, [CHIDI]) is None


def test_a_nickname_in_an_address_is_the_persons() -> None:
    assert parse_user("bob.hargrove", [parse("Robert Hargrove")]) is not None


@given(st.text(max_size=20))
def test_no_character_of_a_user_name_is_lost(user: str) -> None:
    read = parse_user(user, [CHIDI])
    assert read is None or read.words == user
