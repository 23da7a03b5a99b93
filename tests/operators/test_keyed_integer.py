"""Hashed integers: one to one, with the sign and the size of the original, and different under another key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.keys import Keyring
from incognote.operators.hash import keyed_integer

KEY, OTHER = Keyring(b"k" * 32), Keyring(b"o" * 32)


@given(st.integers(-(2**63), 2**63 - 1))
def test_the_size_and_the_sign_stay(value: int) -> None:
    made = keyed_integer(value, KEY, "d")
    assert (-(2**31) <= made < 2**31, made < 0) == (-(2**31) <= value < 2**31, value < 0)
    assert -(2**63) <= made < 2**63


def test_no_two_integers_share_one() -> None:
    values = [*range(3000), *range(2**31 - 50, 2**31 + 50), *range(-50, 0)]
    assert len({keyed_integer(value, KEY, "d") for value in values}) == len(values)


def test_it_depends_on_the_key_and_the_domain() -> None:
    made = {keyed_integer(7, keyring, domain) for keyring in (KEY, OTHER) for domain in ("a", "b")}
    assert len(made) == 4


def test_more_than_63_bits_are_refused() -> None:
    with pytest.raises(ValueError, match="63 bits"):
        keyed_integer(2**63, KEY, "d")
