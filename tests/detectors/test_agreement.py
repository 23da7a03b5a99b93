"""Rules beside the encoder."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from incognote.detectors.agreement import DENIED, agreed, named, weak
from incognote.nouns import Span, Text

TEXT = Text("Wren was seen at Rosewood by Dr. Hale in 2019")


class Sure:
    """An opinion that is the same of every stretch."""

    def __init__(self, chance: float) -> None:
        self.chance = chance

    def sure(self, start: int, end: int) -> float:
        return self.chance


def span(start: int, end: int, *sources: str) -> Span:
    return Span(TEXT, start, end, "PERSON", 0.8, sources)


GUESS = span(0, 4, "rules:residue.unexplained")
CERTAIN = span(33, 37, "rules:names.role")


def test_what_only_a_weak_rule_says_is_a_faint_doubt_where_the_encoder_denies_it() -> None:
    guess, certain = agreed([GUESS, CERTAIN], Sure(DENIED / 2))
    assert (guess.start, guess.end, guess.score) == (GUESS.start, GUESS.end, DENIED / 2)
    assert certain == CERTAIN


def test_a_weak_rule_stands_where_the_encoder_gives_it_a_chance() -> None:
    assert list(agreed([GUESS, CERTAIN], Sure(DENIED))) == [GUESS, CERTAIN]


def test_a_span_with_one_source_that_is_not_weak_keeps_its_word() -> None:
    both = span(0, 4, "pack:staff", "rules:residue.unexplained")
    assert list(agreed([both], Sure(0.0))) == [both]


def learned(start: int, end: int, type_: str) -> Span:
    return Span(TEXT, start, end, type_, 0.9, ("encoder:full",))


def test_a_weak_rule_takes_the_encoders_name_and_a_strong_one_keeps_its_own() -> None:
    town, person = learned(17, 25, "CITY"), learned(33, 37, "CITY")
    guess = span(17, 25, "rules:residue.unexplained")
    assert [s.type for s in named([guess, CERTAIN], [town, person])] == ["CITY", "PERSON", "CITY", "CITY"]


def test_of_one_group_the_finer_name_of_a_weak_rule_stands() -> None:
    assert next(named([GUESS], [learned(0, 4, "PATIENT")])) == GUESS


def test_a_label_tells_what_number_it_is() -> None:
    ssn = Span(TEXT, 41, 45, "SSN_OR_TAXPAYER", 0.8, ("rules:ssn.labelled",))
    some = Span(TEXT, 41, 45, "GUID", 0.8, ("rules:other_ids.shape",))
    plan, day = learned(41, 45, "HEALTH_PLAN_ID"), learned(41, 45, "DATE")
    assert [s.type for s in named([ssn], [plan])] == ["SSN_OR_TAXPAYER", "SSN_OR_TAXPAYER"]
    assert [s.type for s in named([some], [plan])] == ["GUID", "HEALTH_PLAN_ID"]
    assert [s.type for s in named([ssn], [day])] == ["SSN_OR_TAXPAYER", "DATE"]


def test_every_rule_in_the_table_is_one_of_the_rules() -> None:
    shipped = files("incognote.detectors").joinpath("rules")
    words = "".join(p.read_text(encoding="utf-8") for p in _below(shipped) if p.name.endswith((".py", ".toml")))
    places = words + " ".join(p.name for p in _below(shipped))
    for source in weak():
        family, _, name = source.removeprefix("rules:").partition(".")
        assert name in words, source
        assert family in places, source


def test_the_table_is_what_the_rules_are_measured_at() -> None:
    script = Path(__file__).parents[2] / "scripts" / "weak_rules.py"
    shipped = files("incognote.detectors").joinpath("weak.toml").read_text(encoding="utf-8")
    assert runpy.run_path(str(script))["written"]() == shipped, "look at the difference, then print it anew"


def _below(folder: Traversable) -> Iterator[Traversable]:
    for entry in folder.iterdir():
        yield from _below(entry) if entry.is_dir() else (entry,)
