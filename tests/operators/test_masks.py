"""The operators for labels, masks, hashes, and keeping."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.keys import Keyring
from incognote.operators.hash import pseudonym
from incognote.schemas.policy import load_policy

WORDS = st.text(st.characters(), min_size=1, max_size=40)  # includes lone surrogates, NUL, and combining marks


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("PATIENT", "[PERSON]"),
        ("HOSPITAL", "[HOSPITAL]"),
        ("BIRTH_DATE_TIME", "[DATE]"),
        ("BANK_SWIFT", "[ACCOUNT_NUMBER]"),
        ("PASSPORT_NUMBER_US", "[PASSPORT_NUMBER_US]"),
        ("ROOM", "[LOCATION]"),
        ("STREET", "[ADDRESS]"),
    ],
)
def test_a_label_names_the_type_the_policy_serves(play: Callable[..., Any], kind: str, shown: str) -> None:
    assert play("a ⟦word⟧ b", load_policy("strict"), kind).out == f"a {shown} b"


def test_a_label_can_bear_another_word(serve: Callable[..., str]) -> None:
    assert serve("555-0142", "FAX_NUMBER", "label", name="TELEPHONE_NUMBER") == "[TELEPHONE_NUMBER]"


@given(WORDS)
def test_a_same_length_mask_is_as_long_as_the_words_and_keeps_the_lines(serve: Callable[..., str], words: str) -> None:
    masked = serve(words, "PERSON", "same-length")
    assert len(masked) == len(words)
    assert [len(line) for line in masked.splitlines()] == [len(line) for line in words.splitlines()]
    assert set("".join(masked.splitlines())) <= {"*"}


def test_a_same_length_mask_hides_spaces(serve: Callable[..., str]) -> None:
    assert serve("Ann\r\nLee Poe", "PERSON", "same-length", character="█") == "███\r\n███████"


@given(WORDS, st.integers(1, 64))
def test_a_fixed_length_mask_does_not_tell_the_length(serve: Callable[..., str], words: str, length: int) -> None:
    assert serve(words, "PERSON", "fixed-length", length=length, character="x") == "x" * length


@given(WORDS)
def test_a_hash_is_hexadecimal_and_needs_the_key(serve: Callable[..., str], words: str) -> None:
    code = serve(words, "GUID", "hash")
    assert re.fullmatch(r"[0-9a-f]{16}", code)
    assert code not in hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()
    assert pseudonym(words, Keyring(bytes(32)), "clinic") != code


def test_equal_identifiers_share_a_hash_within_a_domain_and_not_beyond() -> None:
    ring = Keyring(bytes(32))
    assert (
        pseudonym("A987 654", ring, "clinic")
        == pseudonym(" A987\n654", ring, "clinic")
        == pseudonym("Ａ987 654", ring, "clinic")
        == pseudonym("A9\u00ad8\u200b7\ufe0f\x00 \u3164654\ufeff", ring, "clinic")
    )
    assert pseudonym("A987654", ring, "clinic") != pseudonym("A987654", ring, "study")
    assert pseudonym("a1", ring, "clinic") != pseudonym("A1", ring, "clinic")


def test_the_hash_of_a_value_that_is_written_plainly_stays_what_it_was() -> None:
    ring = Keyring(bytes(32))
    plain = {
        "A987 654": "0cb177f7d3096367",
        "Zoë-Ann O’Dowd_7 <x> 50%41": "1495faebb0e068bd",
        "٤٨ Ѕmith ﬁ": "7d6cf8d8e0c5623e",
    }
    assert {value: pseudonym(value, ring, "clinic") for value in plain} == plain


def test_a_longer_hash_begins_as_the_shorter(serve: Callable[..., str]) -> None:
    assert serve("00412873", "GUID", "hash", length=64).startswith(serve("00412873", "GUID", "hash"))


def test_what_is_kept_stands_and_is_listed(play: Callable[..., Any]) -> None:
    stage = play("moved from ⟦Ohio⟧ to ⟦Boston⟧", load_policy("limited-data-set"), "STATE", "CITY")
    assert stage.out == "moved from Ohio to Boston"
    assert [span.text for span in stage.kept] == ["Ohio", "Boston"]
    assert stage.replacements == ()
