"""Loading prompts from their files."""

from __future__ import annotations

from pathlib import Path

import pytest

from incognote.errors import SettingError, UnknownName
from incognote.prompts.loader import asked, load, shipped
from incognote.schemas.catalogue import catalogue
from incognote.schemas.policy import everything, load_policy, shipped_policies

V2 = Path(__file__).parents[2] / "incognote" / "prompts" / "extract" / "v2.toml"


@pytest.mark.parametrize("name", shipped())
def test_a_shipped_prompt_lists_every_type_once_and_fences_the_text(name: str) -> None:
    types = asked(load_policy("strict"))
    rendered = load(name).render(["Seen by Dr. Abara."], types)
    for type_, about in types.items():
        assert rendered.system.count(f"- {type_}: {about}") == 1
    fence = rendered.user.split("\nSeen by Dr. Abara.\n")[0].splitlines()[-1]
    assert rendered.user.count(f"\n{fence}\nSeen by Dr. Abara.\n{fence}") == 1
    assert set(rendered.schema["properties"]) == set(types)


def test_instructions_do_not_depend_on_the_text() -> None:
    types = asked(load_policy("strict"))
    assert load("extract/v2").render(["a"], types).system == load("extract/v2").render(["b"], types).system


def test_only_contract_1_requires_every_type() -> None:
    types = asked(load_policy("strict"))
    assert load("extract/v1").render(["a"], types).schema["required"] == list(types)
    assert load("extract/v2").render(["a"], types).schema["required"] == []


@pytest.mark.parametrize("policy", shipped_policies())
def test_every_type_a_policy_replaces_is_asked_for_under_a_name_it_lists(policy: str) -> None:
    made = load_policy(policy)
    types = asked(made)
    assert types
    for name, entity in catalogue().items():
        if made.replaces(name) and not entity.pixels:
            assert made.serves(name) in types
            assert catalogue()[name].about in types[made.serves(name) or ""]
        elif not entity.pixels:
            assert name not in types


def test_all_types_are_asked_for_one_by_one_where_all_are_wanted() -> None:
    worded = {name for name, each in catalogue().items() if not each.pixels}
    assert set(asked(everything(load_policy("strict")))) == worded


def test_a_prompt_file_of_ones_own_is_read_and_a_changed_byte_changes_its_version(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(V2.read_text(encoding="utf-8"), encoding="utf-8")
    same = load(str(mine)).version
    assert same == load("extract/v2").version
    mine.write_text(V2.read_text(encoding="utf-8").replace("exact second", "exact next"), encoding="utf-8")
    assert load(str(mine)).version != same


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("contract = 2", "contract = 3", "contract"),
        ("role = ", "rule = ", "role"),
        ("$fence\n$text\n$fence", "$text", "input"),
        ("$types", "$typos", "placeholders"),
        ("contract = 2", "contract = ", "TOML"),
    ],
)
def test_a_prompt_file_that_lacks_something_is_refused_by_name(tmp_path: Path, old: str, new: str, what: str) -> None:
    mine = tmp_path / "mine.toml"
    written = V2.read_text(encoding="utf-8")
    assert old in written
    mine.write_text(written.replace(old, new), encoding="utf-8")
    with pytest.raises(SettingError, match=what):
        load(str(mine))


def test_an_unknown_prompt_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(UnknownName, match="extract/v1"):
        load("extract/v9")


def test_no_prompt_quotes_a_note_it_is_measured_on() -> None:
    data = Path(__file__).parents[1] / "data"
    notes = (data / "notes.jsonl").read_text(encoding="utf-8")
    for example in ("Halvorsen-Mbeki", "rtw"):
        assert example in V2.read_text(encoding="utf-8")
        assert example not in notes


@pytest.mark.parametrize("code", ["ar", "de", "es", "fr"])
def test_the_additions_of_a_language_hold_an_example_and_leave_the_contract_alone(code: str) -> None:
    made, types = load("extract/v3"), asked(load_policy("strict"))
    there = made.localized(frozenset({code}))
    assert made.localized(frozenset({code})) is there
    assert (there.contract, len(there.examples), there.languages) == (made.contract, 1, made.languages)
    assert there.version != made.version
    assert "# Examples" in there.render(["x"], types).system
    assert there.render(["x"], types).schema == made.render(["x"], types).schema


def test_a_prompt_without_another_language_is_as_before() -> None:
    made = load("extract/v3")
    assert made.localized(frozenset()) is made
    assert made.localized(frozenset({"en"})).version == made.version
