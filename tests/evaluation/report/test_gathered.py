"""Short names of cells."""

from __future__ import annotations

from typing import Any

from incognote.evaluation.experiments.results import CellHead
from incognote.evaluation.report.gathered import axes, short


def head(
    system: str, *, key: str = "a", model: str | None = None, prompt: str = "extract/v2", **other: int
) -> CellHead:
    asked = {"chunk_words": 256, "passes": 1, "votes": 1, "seed": 0, **other}
    facts: dict[str, Any] = {}
    label = f"notes:{system}"
    if model is not None:
        facts = {"model": model, "seed": asked.pop("seed"), "asking": asked}
        label += f":{model}:{prompt}:w{asked['chunk_words']}:p{asked['passes']}:v{asked['votes']}:s{facts['seed']}"
    return CellHead(key * 16, label, "spec", {"name": "notes"}, facts, {}, {}, 0)


def test_a_name_holds_only_what_is_not_the_same_for_all() -> None:
    heads = [head("rules"), *(head("both", model="openai/tiny", passes=n) for n in (1, 2))]
    assert short(heads) == ["rules", "both · 1 pass", "both · 2 passes"]
    heads = [head("both", model="openai/tiny", passes=n) for n in ("need", 1)]
    assert short(heads) == ["both · passes by need", "both · 1 pass"]
    other = [head("both", model=name, votes=n, seed=n) for name, n in (("ollama/llama3:8b", 1), ("openai/tiny", 3))]
    assert short(other) == ["both · llama3:8b · 1 vote · seed 1", "both · tiny · 3 votes · seed 3"]


def test_cells_that_differ_in_nothing_but_code_are_told_apart_by_their_keys() -> None:
    assert short([head("rules", key="a"), head("rules", key="b")]) == ["rules (aaaaaa)", "rules (bbbbbb)"]


def test_colons_in_names_do_not_shift_the_axes() -> None:
    made = axes(head("a:b", model="ollama/llama3:8b", prompt="c:/mine.toml", passes=3))
    assert made[:5] == ("a:b", "ollama/llama3:8b", "c:/mine.toml", 256, 3)
