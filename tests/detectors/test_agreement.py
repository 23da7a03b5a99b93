"""Rules beside the encoder."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from incognote.detectors.agreement import DENIED, agreed, weak
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
