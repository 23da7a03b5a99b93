"""Check digits, ranges, and calendars: valid numbers pass, numbers off by one digit fail, and neither is a veto."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.detectors.rules.patterns import PatternFinder
from incognote.detectors.rules.patterns.rule import PatternRule
from incognote.detectors.rules.view import View
from incognote.nouns import Text
from incognote_en.rules import validators as v


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (v.luhn, "4111 1111 1111 1111", "4111 1111 1111 1112"),
        (v.luhn, "378282246310005", "378282246310015"),
        (v.npi, "1234567893", "1234567894"),
        (v.ssn, "123-45-6789", "987-65-4321"),
        (v.ssn, "123456789", "666-45-6789"),
        (v.ssn, "899-01-0001", "123-00-6789"),
        (v.aba, "021000021", "021000022"),
        (v.dea, "FP2290411", "FP2290417"),
        (v.nhs, "943 476 5919", "943 476 5918"),
        (v.vin, "1M8GDM9AXKP042788", "1M8GDM9A1KP042788"),
        (v.iban, "GB82 WEST 1234 5698 7654 32", "GB82 WEST 1234 5698 7654 33"),
        (v.iban, "DE89370400440532013000", "DE88370400440532013000"),
        (v.calendar, "02/29/2024", "02/29/2023"),
        (v.calendar, "31/12/1999", "31/11/1999"),
        (v.calendar, "2024-02-29", "2023-02-29"),
        (v.calendar, "3/14", "13/14"),
        (v.calendar, "12 Mar 2024", "31 Feb 2024"),
        (v.phone, "+1 212 736 5000", "+1 212"),
    ],
)
def test_a_check_holds_for_the_right_number_and_fails_for_a_wrong_one(check, good, bad):
    assert check(good) is True
    assert check(bad) is False


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (v.luhn, "4111"),
        (v.npi, "12"),
        (v.ssn, "1"),
        (v.aba, "12"),
        (v.dea, "FP1"),
        (v.nhs, "9"),
        (v.vin, "ABC"),
        (v.iban, "GB8"),
        (v.calendar, "7"),
    ],
)
def test_a_check_abstains_where_it_cannot_tell(check, text):
    assert check(text) is None


def test_a_possible_number_of_a_reserved_range_is_not_called_impossible():
    assert v.phone("(555) 555-0170") is None


@given(st.text(max_size=40), st.sampled_from(sorted(v.VALIDATORS)))
def test_a_validator_answers_for_any_text(text, name):
    assert v.VALIDATORS[name](text) in (True, False, None)


@given(st.integers(0, 10**9 - 1))
def test_the_luhn_digit_catches_every_single_wrong_digit(number):
    body = f"40000{number:09d}"
    check = next(d for d in range(10) if v.luhn(f"{body}{d}"))
    assert not any(v.luhn(f"{body}{d}") for d in range(10) if d != check)


def rule(**more):
    return PatternRule.from_dict(
        {"id": "x", "type": "SSN_OR_TAXPAYER", "pattern": r"\d{9}", "validators": ["ssn"], **more}
    )


def scores(rule, text):
    return [c.score for c in PatternFinder([rule]).find(View(Text(text)))]


def test_a_failed_check_lowers_the_score_of_a_bare_number_until_it_is_gone():
    bare = rule(digits=[9], score=0.6)
    assert scores(bare, "sent 123456789 today") == [0.75]
    assert scores(bare, "sent 987654321 today") == []


def test_a_failed_check_never_takes_a_labelled_number_away():
    labelled = rule(labels=["ssn"], score=0.9)
    assert scores(labelled, "SSN: 987654321")[0] >= 0.5
