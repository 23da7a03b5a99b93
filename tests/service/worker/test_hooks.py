"""Model costs, whichever part called the model."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from incognote.llm.base import Usage
from incognote.sdk import Deidentifier
from incognote.service.worker.hooks import ModelCosts


def made(spent: Usage) -> Any:
    """A deidentifier whose models are only used by agents and do not read notes."""
    models = SimpleNamespace(budget=SimpleNamespace(spent=spent))
    return cast(Deidentifier, SimpleNamespace(engine=SimpleNamespace(reader=None, models=models)))


def test_models_that_only_play_agents_are_on_the_bill_once() -> None:
    machine = made(Usage(input=5, usd=1.0))
    bill = ModelCosts(machine)
    machine.engine.models.budget.spent = Usage(input=35, output=10, usd=1.5)
    assert bill.since() == {"tokens": 40, "usd": 0.5}
    assert bill.since() == {"tokens": 0, "usd": 0.0}


def test_an_unknown_price_is_not_told_as_none() -> None:
    machine = made(Usage(usd=None))
    bill = ModelCosts(machine)
    machine.engine.models.budget.spent = Usage(input=7, usd=None)
    assert bill.since() == {"tokens": 7}
