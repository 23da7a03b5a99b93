"""A step cannot reach what it must not touch: values are frozen, and its signature names everything it receives."""

from __future__ import annotations

import inspect
from dataclasses import FrozenInstanceError, fields, is_dataclass

import pytest

from incognote.agents import audit, nodes, stages, steps

STAGES = [kind for kind in vars(stages).values() if is_dataclass(kind) and kind.__module__ == stages.__name__]
STEPS = {
    f.__name__: inspect.signature(f).parameters
    for module in (steps, audit)
    for f in vars(module).values()
    if inspect.isfunction(f) and f.__module__ == module.__name__ and not f.__name__.startswith("_")
}


def test_stages_can_neither_be_changed_nor_seen() -> None:
    assert len(STAGES) == 7
    for kind in STAGES:
        value = kind()
        for each in fields(kind):
            with pytest.raises(FrozenInstanceError):
                setattr(value, each.name, None)
        assert repr(value).startswith("<incognote.agents.stages.")


def test_only_the_steps_that_write_are_given_a_key() -> None:
    assert set(nodes.Progress.__dataclass_fields__) > {"engine", "item"}
    assert {name for name, given in STEPS.items() if "keyring" in given} == {"fields", "replace"}


def test_no_step_is_given_the_engine_or_what_holds_the_other_stages() -> None:
    annotations = {name: {str(p.annotation) for p in given.values()} for name, given in STEPS.items()}
    assert annotations["plan"] == {"Opened", "Detected", "NoteReader | None", "Policy"}
    assert not [name for name, kinds in annotations.items() if kinds & {"Engine", "Progress", "Settings"}]
    assert [name for name, kinds in annotations.items() if "Item" in kinds] == ["identify", "name_of"]
