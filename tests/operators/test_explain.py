"""A policy's effect, type by type."""

from __future__ import annotations

import pytest

from incognote.operators.explain import explain
from incognote.schemas.catalogue import catalogue
from incognote.schemas.policy import Choice, Policy, load_policy, shipped_policies


@pytest.mark.parametrize("name", shipped_policies())
def test_every_type_has_a_row_and_an_example(name: str) -> None:
    rows = explain(load_policy(name))
    assert [row.type for row in rows] == list(catalogue())
    assert all(row.hipaa == catalogue()[row.type].hipaa for row in rows)
    assert all(row.example for row in rows)


def test_a_row_shows_what_comes_of_an_invented_value() -> None:
    rows = {row.type: row for row in explain(load_policy("safe-harbor"))}
    assert rows["ZIP"].result == "ZIP 021"
    assert rows["AGE"].result == "90+-year-old man"
    assert rows["DATE"].result == "admitted on 2024"
    assert (rows["PATIENT"].served_as, rows["PATIENT"].operator, rows["PATIENT"].hipaa) == ("PERSON", "label", "A")
    assert (rows["RACE"].operator, rows["RACE"].result) == (None, "a white man")


def test_under_strict_no_example_keeps_its_value_but_the_untouched() -> None:
    kept = [row.type for row in explain(load_policy("strict")) if row.result == row.example]
    assert kept == ["RACE", "ETHNICITY", "MARITAL_STATUS", "PARENTHOOD", "REGION"]


def test_keyed_examples_are_the_same_each_time() -> None:
    policy = Policy("keyed", "", None, 0.4, 0.5, "hold", {"DATE": Choice("date-shift"), "GUID": Choice("hash")})
    assert explain(policy) == explain(policy)
    assert all(row.result != row.example for row in explain(policy) if row.operator)
