"""Replies keep their contract, are repaired, or are reported as invalid. A bad reply never becomes a partition."""

from __future__ import annotations

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.relex.agents.llm.contracts import ReadReply, decisions, groups, queries, replacements

NUMBERS = {1: "PERSON", 2: "PERSON", 3: "PERSON", 4: "DATE"}
GOOD = '{"PERSON": {"PERSON_1": [1, 3], "PERSON_2": [2]}, "DATE": {"DATE_1": [4]}}'
NAMES = {"PERSON_1": "PERSON", "PERSON_2": "PERSON", "ORG_1": "ORG"}
REFUSAL = "I'm sorry, but I can't help with requests that involve personal health information."


def of(reply: str) -> ReadReply[list[list[int]]]:
    return groups(reply, NUMBERS)


@pytest.mark.parametrize(
    "reply",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here are the groups:\n{GOOD}\nAnything else?",
        GOOD.replace("[2]", "[2,]"),
        GOOD.replace('"', "'"),
        GOOD.replace("[1, 3]", '["1", "3|Wilson"]'),
        '{"PERSON": {"PERSON_1": [1, 3], "PERSON_2": [2]}, "DATE_1": [4]}',
    ],
)
def test_each_number_in_one_group_is_a_partition_however_it_is_wrapped(reply: str) -> None:
    said = of(reply)
    assert said.value == [[1, 3], [2], [4]]
    assert said.faults <= {"mended"}


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        (GOOD.replace("[2]", "[2, 3]"), "twice"),
        (GOOD.replace("[2]", "[2, 2]"), "twice"),
        (GOOD.replace("[1, 3]", "[1]"), "left-out"),
        ("{}", "left-out"),
        (GOOD.replace("[2]", "[2, 7]"), "invented"),
        ('{"PERSON": {"PERSON_1": [1, 4], "PERSON_2": [2, 3]}}', "mixed"),
        (GOOD.replace("[2]", '["two"]'), "shape"),
        (GOOD.replace("[2]", "2"), "shape"),
        (GOOD.replace("[2]", "[true]"), "shape"),
        (GOOD.replace("PERSON_2", "PERSON_1"), "repeated"),
        (f"{GOOD}\nOn second thought:\n{GOOD}", "repeated"),
        (GOOD[:-14], "cut"),
        (REFUSAL, "no-json"),
        ("", "no-json"),
        ("[[1, 3], [2], [4]]", "no-json"),
    ],
)
def test_a_partition_that_is_none_is_never_taken(reply: str, fault: str) -> None:
    said = of(reply)
    assert said.value is None
    assert fault in said.faults
    assert said.complaint


def test_the_complaint_tells_numbers_and_no_word_of_the_reply() -> None:
    said = of(GOOD.replace("[2]", '["Wilson", 9]'))
    assert "2 are in no group" in said.complaint
    assert "9 are not in the list" in said.complaint
    assert "Wilson" not in said.complaint


@given(st.integers(1, 40), st.integers(0, 10**6))
def test_any_partition_is_read_back(count: int, seed: int) -> None:
    random = Random(seed)
    numbers = dict.fromkeys(range(1, count + 1), "PERSON")
    blocks: dict[str, list[int]] = {}
    for number in random.sample(list(numbers), count):
        blocks.setdefault(f"PERSON_{random.randint(1, count)}", []).append(number)
    said = groups(json.dumps({"PERSON": blocks}), numbers)
    assert said.value == list(blocks.values())


ANY_JSON = st.recursive(st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@given(st.text() | ANY_JSON.map(json.dumps))
def test_whatever_comes_a_value_is_a_partition(reply: str) -> None:
    said = of(reply)
    assert said.value is None or sorted(n for group in said.value for n in group) == sorted(NUMBERS)


@pytest.mark.parametrize(
    "reply",
    [
        '{"Q1": ["Y", "N"], "Q2": ["N"]}',
        '```json\n{"Q1": ["yes", "No"], "Q2": ["n"]}\n```',
        '{"Q1": [true, false], "Q2": [false]}',
    ],
)
def test_one_yes_or_no_per_hit(reply: str) -> None:
    assert decisions(reply, {"Q1": 2, "Q2": 1}).value == {"Q1": [True, False], "Q2": [False]}


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ('{"Q1": ["Y"], "Q2": ["N"]}', "count"),
        ('{"Q1": ["Y", "N", "N"], "Q2": ["N"]}', "count"),
        ('{"Q1": ["Y", "maybe"], "Q2": ["N"]}', "shape"),
        ('{"Q1": "YN", "Q2": ["N"]}', "shape"),
        ('{"Q1": ["Y", "N"]}', "left-out"),
        ('{"Q1": ["Y", "N"], "Q2": ["N"], "why": ["Y"]}', "invented"),
        ('{"Q1": ["Y", ', "cut"),
        ('{"Q1": ["Y", "N"], "Q2": ["N"]} {"Q1": ["N", "N"]}', "repeated"),
        (REFUSAL, "no-json"),
    ],
)
def test_another_count_or_word_decides_nothing(reply: str, fault: str) -> None:
    said = decisions(reply, {"Q1": 2, "Q2": 1})
    assert said.value is None
    assert fault in said.faults


def test_the_good_part_of_a_reply_is_what_has_no_fault() -> None:
    assert decisions('{"Q1": ["Y"], "Q2": ["N"]}', {"Q1": 2, "Q2": 1}).good == {"Q2": [False]}
    assert of(GOOD.replace("[2]", "[2, 9]")).good == [[1, 3], [4]]
    assert of(GOOD.replace("[2]", "[2, 3]")).good == [[4]]
    assert queries(json.dumps(QUERIES | {"ORG": {"ORG_1": " "}}), NAMES).good == {
        "PERSON_1": "Ines Abara, RN",
        "PERSON_2": "Bo Abara, son",
    }
    assert of(GOOD[:-14]).good is None, "a reply that ends early"


QUERIES = {"PERSON": {"PERSON_1": "Ines  Abara, RN", "PERSON_2": "Bo Abara, son"}, "ORG": {"ORG_1": "Larkspur Clinic"}}


def test_a_query_for_each_identity_on_one_line() -> None:
    said = queries(json.dumps(QUERIES), NAMES)
    assert said.value == {"PERSON_1": "Ines Abara, RN", "PERSON_2": "Bo Abara, son", "ORG_1": "Larkspur Clinic"}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"PERSON": {"PERSON_1": "a"}}, "left-out"),
        ({"PERSON": {**QUERIES["PERSON"], "PERSON_9": "x"}}, "invented"),
        ({"PERSON": {**QUERIES["PERSON"], "PERSON_2": " "}}, "empty"),
        ({"PERSON": {**QUERIES["PERSON"], "PERSON_2": ["a"]}}, "shape"),
        ({"PERSON": {**QUERIES["PERSON"], "PERSON_2": "a " * 61}}, "long"),
    ],
)
def test_queries_that_lack_or_invent_an_identity_are_refused(change: dict[str, object], fault: str) -> None:
    said = queries(json.dumps(QUERIES | change), NAMES)
    assert said.value is None
    assert fault in said.faults


def substitutes(changed: dict[str, object]) -> ReadReply[dict[str, str]]:
    good = {name: {"replacement": f"Kind {name}", "type": kind} for name, kind in NAMES.items()}
    return replacements(json.dumps(good | changed), NAMES, lambda found: {})


def test_a_substitute_for_each_identity() -> None:
    assert substitutes({}).value == {name: f"Kind {name}" for name in NAMES}


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"PERSON_7": {"replacement": "A B", "type": "PERSON"}}, "invented"),
        ({"PERSON_1": {"replacement": "A B", "type": "ORG"}}, "type"),
        ({"PERSON_1": {"replacement": " ", "type": "PERSON"}}, "empty"),
        ({"PERSON_1": "Kevin Chang"}, "shape"),
        ({"PERSON_1": {"type": "PERSON"}}, "shape"),
    ],
)
def test_substitutes_of_another_shape_are_refused(changed: dict[str, object], fault: str) -> None:
    said = substitutes(changed)
    assert said.value is None
    assert fault in said.faults


def test_what_is_found_amiss_with_substitutes_is_told_by_name() -> None:
    good = {name: {"replacement": "x y", "type": kind} for name, kind in NAMES.items()}
    said = replacements(json.dumps(good), NAMES, lambda found: {"original": ["PERSON_2"], "repeats": ["ORG_1"]})
    assert said.value is None
    assert {"original", "repeats"} <= said.faults
    assert "PERSON_2" in said.complaint
