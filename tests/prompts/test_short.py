"""Prompts with shorter lines for types, with a generic schema, and for policies that treat all numbers alike."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from incognote.errors import SettingError
from incognote.prompts.loader import asked, load, shipped
from incognote.schemas.catalogue import catalogue
from incognote.schemas.policy import load_policy

POLICY = load_policy("strict")
V3 = Path(__file__).parents[2] / "incognote" / "prompts" / "extract" / "v3.toml"


def test_prompt_3_has_a_line_for_each_type_that_the_strict_policy_asks_for() -> None:
    prompt = load("extract/v3")
    wanted = {name for name, each in catalogue().items() if POLICY.serves(name) is not None and not each.pixels}
    assert wanted <= prompt.short.keys()
    assert prompt.types(POLICY).keys() == asked(POLICY).keys()


def test_prompt_3_lists_each_type_once_and_those_without_a_line_together() -> None:
    prompt = load("extract/v3")
    types = prompt.types(POLICY)
    listed = prompt.render(["x"], types).system.split("# What to extract\n")[1].split("\n\n")[0]
    *lines, last = listed.splitlines()
    assert last == "- " + ", ".join(name for name, line in types.items() if not line)
    assert lines == [f"- {name}: {line}" for name, line in types.items() if line]


def test_prompt_3_is_at_most_60_percent_as_long_as_prompt_2() -> None:
    lengths = {
        name: sum(map(len, (rendered.system, rendered.user)))
        for name in ("extract/v2", "extract/v3")
        for rendered in [load(name).render([""], load(name).types(POLICY))]
    }
    assert lengths["extract/v3"] <= 0.6 * lengths["extract/v2"]


@pytest.mark.parametrize("name", shipped())
def test_a_generic_schema_names_no_type_and_takes_few_tokens(name: str) -> None:
    prompt = load(name)
    generic = replace(prompt, generic=True)
    types = prompt.types(POLICY)
    for texts in (["a"], ["a", "b"]):
        rendered, full = generic.render(texts, types), prompt.render(texts, types)
        assert len(json.dumps(rendered.schema)) < 0.2 * len(json.dumps(full.schema))
        assert not any(type_ in json.dumps(rendered.schema) for type_ in types)
        assert (rendered.system, rendered.user, rendered.strict) == (full.system, full.user, False)
    assert generic.version != prompt.version


def test_numbers_are_asked_for_as_one_type_if_the_output_is_the_same_for_all(tmp_path: Path) -> None:
    numbers = [name for name in POLICY.types if catalogue()[name].group == "ID"]
    one_label = "".join(f'[types.{name}]\noperator = "label"\nname = "NUMBER"\n' for name in numbers)
    path = tmp_path / "one.toml"
    path.write_text(f'name = "one"\nextends = "strict"\n{one_label}')
    types = asked(load_policy(str(path)))
    assert [name for name in types if catalogue()[name].group == "ID"] == ["GUID"]
    for name in numbers:
        assert catalogue()[name].about in types["GUID"]
    assert set(numbers) <= asked(POLICY).keys()  # the label shows the type


@pytest.mark.parametrize(
    ("table", "why"),
    [("[short]\nAGE = 7", "short: write it as a table"), ('[short]\nNOSUCH = "x"', "no entity type NOSUCH")],
)
def test_a_malformed_table_of_lines_is_refused(table: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    written = V3.read_text(encoding="utf-8").split("[short]")[0]
    path.write_text(f"{written}\n{table}\n")
    with pytest.raises(SettingError, match=why):
        load(str(path))
