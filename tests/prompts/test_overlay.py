"""Overlays: prompts defined by their changes to other prompts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote import Deidentifier
from incognote.align.mentions import place
from incognote.errors import SettingError
from incognote.llm.base import Request
from incognote.prompts.loader import SECTIONS, asked, load, shipped
from incognote.prompts.overlay import CHANGEABLE, Example
from incognote.prompts.reply import read
from incognote.schemas.policy import load_policy
from incognote.testing import ScriptedLLM

Write = Callable[..., str]
SHOT = "[[PERSON|Ines Abara]], aged [[AGE|76]], takes 76 mg; seen [[DATE|3/1]] and again [[DATE|3/1]]."


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write an overlay and return its path."""

    def written(body: str, name: str = "mine.toml", base: str = "extract/v2") -> str:
        path = tmp_path / name
        path.write_text(f'base = "{base}"\n{body}', encoding="utf-8")
        return str(path)

    return written


def system(name: str) -> str:
    return load(name).render(["x"], asked(load_policy("strict"))).system


def test_an_overlay_that_changes_nothing_is_its_base(write: Write) -> None:
    assert load(write("")).version == load("extract/v2").version
    assert system(write("")) == system("extract/v2")


@pytest.mark.parametrize("base", shipped())
@pytest.mark.parametrize("section", CHANGEABLE)
def test_a_section_is_put_in_its_place_or_after_the_bases(write: Write, base: str, section: str) -> None:
    put = system(write(f'[sections]\n{section} = "Wholly new. $types"', base=base))
    added = system(write(f'[append]\n{section} = "And this."', base=base))
    assert "\nWholly new. " in put
    heading = len(f"\n# {SECTIONS[section]}\n") if section not in load(base).sections else 0
    assert "\nAnd this." in added
    assert len(added) == len(system(base)) + len("\nAnd this.") + heading


def test_what_is_said_of_a_type_is_added_replaced_and_removed_again(write: Write) -> None:
    types = asked(load_policy("strict"))
    more = write('[entities.DATE]\nadd = "Also\\n bare years."', "more.toml")
    assert f"\n- DATE: {types['DATE']} Also bare years.\n" in system(more)
    other = write('[entities.DATE]\nreplace = "any day"', "other.toml", base="more.toml")
    assert "\n- DATE: any day\n" in system(other)
    gone = write("[entities.DATE]\nremove = true", "gone.toml", base="other.toml")
    assert load(gone).version == load("extract/v2").version


def test_every_change_changes_the_version_and_the_same_content_has_the_same(write: Write) -> None:
    bodies = [
        "",
        '[append]\nrole = "a"',
        '[append]\nguidelines = "a"',
        '[entities.DATE]\nadd = "a"',
        '[entities.DATE]\nreplace = "a"',
        '[entities.AGE]\nadd = "a"',
        '[[examples]]\ntext = "a"',
        '[[examples]]\ntext = "[[AGE|a]]"',
    ]
    versions = [load(write(body)).version for body in bodies]
    assert len(set(versions)) == len(bodies)
    assert load(write(bodies[1] + "\n", "again.toml")).version == versions[1]


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("colour = 1", "colour.*Allowed: base"),
        ('[sections]\nrule = "x"', r"sections\.rule: there is no such section\. An overlay can change role"),
        ('[sections]\noutput_format = "x"', r"sections\.output_format: only a complete prompt file can change"),
        ('[append]\ninput = "x"', r"append\.input: only a complete"),
        ('[append]\nseveral = "x"', r"append\.several: only a complete"),
        ('[sections]\ncontrols = "x"', r"controls must hold \$types"),
        ('[append]\nrole = "$$ and $text"', "role: allowed placeholders"),
        ("[append]\nrole = 3", "append.role must be a string"),
        ("sections = 3", r"\[sections\]"),
        ('[entities.DATES]\nadd = "x"', r"entities\.DATES: unknown entity type\. Use one of .*DATE,"),
        ('[entities.DATE]\nsay = "x"', "entities.DATE: allowed keys are replace, add, remove"),
        ("[entities.DATE]\nremove = true", "nothing to remove"),
        ('[entities.DATE]\nremove = true\nadd = "x"', "cannot be combined"),
        ('[entities.DATE]\nadd = " "', "entities.DATE.add must be a string"),
        ('[[examples]]\ntext = "[[DATES|x]]"', "no entity type DATES"),
        ('[[examples]]\ntext = "a [[b"', "TYPE|words"),
        ('[[examples]]\ntext = " "', "empty"),
        ('[[examples]]\nreply = "{}"', "each needs text"),
        ("drop_examples = 1", "true or false"),
        ("about = 1", "about"),
    ],
)
def test_what_there_is_not_is_refused_by_field_with_a_remedy(write: Write, body: str, what: str) -> None:
    with pytest.raises(SettingError, match=what):
        load(write(body))


def test_a_base_must_be_there_and_not_stand_on_itself(write: Write) -> None:
    with pytest.raises(SettingError, match="base"):
        load(write("", base="nowhere.toml"))
    write("", "a.toml", base="b.toml")
    with pytest.raises(SettingError, match="refer to each other"):
        load(write("", "b.toml", base="a.toml"))


@pytest.mark.parametrize("base", shipped())
def test_an_example_is_answered_as_the_contract_wants_and_is_before_the_last_section(write: Write, base: str) -> None:
    path = write(f'[[examples]]\ntext = "{SHOT}"', base=base)
    types = asked(load_policy("strict"))
    prompt = load(path)
    rendered = prompt.render(["x"], types)
    head, examples, rest = rendered.system.partition("# Examples")
    assert head
    shown, last = rest.split("\n\n# ")
    assert last.startswith("Checklist" if "self_checklist" in prompt.sections else "Output")
    reply = shown.splitlines()[-1]
    reading = read(reply, "x", types, prompt.contract, rendered.marks)
    assert not reading.faults
    text = prompt.examples[0].text
    found = {(text[a:b], m.type) for m in reading.mentions for a, b in place(text, [m])[0].stretches}
    assert ("76", "AGE") in found
    assert {words for words, type_ in found if type_ == "PERSON"} == {"Ines Abara"}
    assert "76 mg" not in {words for words, _ in found}
    assert examples


def test_examples_join_those_of_the_base_or_take_their_place(write: Write) -> None:
    write('[[examples]]\ntext = "one"', "one.toml")
    both = load(write('[[examples]]\ntext = "two"', "two.toml", base="one.toml"))
    assert [e.text for e in both.examples] == ["one", "two"]
    only = load(write('drop_examples = true\n[[examples]]\ntext = "two"', "only.toml", base="one.toml"))
    assert [e.text for e in only.examples] == ["two"]


def test_marks_stand_in_no_example(write: Write) -> None:
    prompt = load(write('[[examples]]\ntext = "BP <<120>> seen by [[PERSON|Abara]]"'))
    opening, _ = prompt.render(["x"], asked(load_policy("strict"))).marks
    assert opening not in prompt.examples[0].text


_WORDS = st.text(st.characters(exclude_characters="[]|\x00", exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(st.lists(st.tuples(_WORDS, st.sampled_from([None, "PERSON", "DATE"])), min_size=1, max_size=8))
def test_a_marked_text_is_read_back_as_it_was_written(parts: list[tuple[str, str | None]]) -> None:
    marked = "".join(words if type_ is None or not words.strip() else f"[[{type_}|{words}]]" for words, type_ in parts)
    clear = "".join(words for words, _ in parts)
    if not clear.strip():
        return
    one = Example.of(marked)
    assert one.text == clear
    assert one.marked == marked
    assert all(0 <= a < b <= len(clear) for a, b, _ in one.found)


def test_a_deidentifier_asks_with_an_overlay_and_names_it_in_its_manifest(write: Write) -> None:
    path = write(f'[append]\nrole = "Mind the gap."\n[[examples]]\ntext = "{SHOT}"')
    seen: list[Request] = []

    def answer(request: Request) -> str:
        seen.append(request)
        return json.dumps({"PERSON": ["<<Zuleika>>"]})

    with Deidentifier(model=ScriptedLLM(answer), prompt=path, passes=1, detectors=("llm",)) as deid:
        result = deid.deidentify("Zuleika brought the keys.")
    assert result.text == "[PERSON] brought the keys."
    assert "Mind the gap." in seen[0].messages[0].content
    told = result.manifest["models"]["prompt"]
    assert (told["name"], told["version"]) == ("mine", load(path).version)
