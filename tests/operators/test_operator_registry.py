"""The operators and the policies' data about them agree."""

from __future__ import annotations

import pickle

import pytest

from incognote.operators.registry import operators
from incognote.schemas.operatorfacts import operator_facts


def test_every_operator_a_policy_may_name_exists_and_no_other() -> None:
    assert list(operators()) == list(operator_facts())


@pytest.mark.parametrize("name", operator_facts())
def test_an_operator_tells_its_key_as_the_facts_do(name: str) -> None:
    operator = operators()[name]
    assert (operator.name, operator.keyed_by, operator.derived) == (
        name,
        operator_facts()[name].keyed_by,
        operator_facts()[name].derived,
    )


def test_only_keyed_operators_derive_a_value_from_the_individual() -> None:
    assert (
        {name for name, facts in operator_facts().items() if facts.derived}
        == {name for name, facts in operator_facts().items() if facts.keyed_by != "none"}
        == {"hash", "date-shift", "surrogate"}
    )


def test_a_surrogate_alone_can_be_drawn_at_random_instead() -> None:
    facts = operator_facts().values()
    assert {one.name for one in facts if one.derived and not one.always_derived} == {"surrogate"}


@pytest.mark.parametrize("name", operator_facts())
def test_defaults_are_values_the_parameter_accepts(name: str) -> None:
    assert all(param.accepts(param.default) for param in operator_facts()[name].params.values())


def test_operators_can_be_sent_to_a_worker() -> None:
    assert [pickle.loads(pickle.dumps(operator)).name for operator in operators().values()] == list(operators())
