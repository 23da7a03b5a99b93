"""The verdicts of a reply about gaps of a transcript."""

from __future__ import annotations

import json

import pytest

from incognote.prompts.verdicts import NON_PHI, UNKNOWN, gaps_prompt, messages, read, schema, united
from incognote.schemas.policy import load_policy

KEYS = ["00:02.85 - 00:02.95", "00:07.42 - 00:07.57"]
STRICT = load_policy("strict")


def test_a_verdict_is_a_type_non_phi_or_unknown() -> None:
    verdicts = read(json.dumps({KEYS[0]: "PERSON", KEYS[1]: "NON_PHI"}), KEYS, STRICT)
    assert verdicts.usable
    assert verdicts.by_key == {KEYS[0]: "PERSON", KEYS[1]: NON_PHI}


@pytest.mark.parametrize("value", ["MAYBE", "NON_PHI?x", "", None, 3, ["PERSON"], {"type": "PERSON"}])
def test_any_other_value_counts_as_unknown(value: object) -> None:
    assert read(json.dumps({KEYS[0]: value, KEYS[1]: "PERSON"}), KEYS, STRICT).by_key[KEYS[0]] == UNKNOWN


def test_a_missing_key_counts_as_unknown() -> None:
    assert read('{"00:02.85 - 00:02.95": "NON_PHI"}', KEYS, STRICT).by_key == {KEYS[0]: NON_PHI, KEYS[1]: UNKNOWN}


def test_two_answers_that_differ_about_one_time_count_as_unknown() -> None:
    reply = '{"00:02.85 - 00:02.95": "NON_PHI", "<human_timestamp_(00:02.85 - 00:02.95)>": "PERSON"}'
    assert read(reply, KEYS, STRICT).by_key[KEYS[0]] == UNKNOWN


@pytest.mark.parametrize(
    "written",
    [
        "<human_timestamp_(00:02.85 - 00:02.95)>",
        "human_timestamp_(00:02.85 \u2013 00:02.95)",
        '<doubted_timestamp_(00:02.85 - 00:02.95) heard "harbor">',
        "00:02.85-00:02.95",
    ],
)
def test_a_key_may_be_written_as_its_token(written: str) -> None:
    assert read(json.dumps({written: "non-phi"}), KEYS, STRICT).by_key[KEYS[0]] == NON_PHI


def test_a_type_that_the_policy_does_not_replace_counts_as_unknown() -> None:
    policy = load_policy("limited-data-set")
    kept = next(name for name in ("DATE", "CITY", "STATE") if not policy.replaces(name))
    assert read(json.dumps({KEYS[0]: kept}), KEYS, policy).by_key[KEYS[0]] == UNKNOWN


@pytest.mark.parametrize("reply", ["", "I can't tell.", '["PERSON"]', "null"])
def test_a_reply_without_an_object_is_not_usable_and_all_is_unknown(reply: str) -> None:
    verdicts = read(reply, KEYS, STRICT)
    assert not verdicts.usable
    assert set(verdicts.by_key.values()) == {UNKNOWN}


def test_the_schema_allows_the_types_non_phi_and_unknown_for_each_time() -> None:
    made = schema(KEYS, ["PERSON", "DATE"])
    assert made["required"] == KEYS
    assert made["properties"][KEYS[1]]["enum"] == ["PERSON", "DATE", NON_PHI, UNKNOWN]
    assert made["additionalProperties"] is False


def test_the_transcript_is_fenced_and_the_instructions_are_the_same_for_all_transcripts() -> None:
    types = {"PERSON": "a name", "DATE": ""}
    (system, user), (again, _) = messages("Mister Chang", KEYS, types), messages("Other", KEYS, types)
    assert system == again
    assert "- PERSON: a name\n- DATE" in system
    fence = user.splitlines()[1]
    assert user.split(f"{fence}\n")[1] == "Mister Chang\n"


def test_a_place_is_free_of_identifiers_only_if_all_votes_say_so() -> None:
    assert united([NON_PHI, NON_PHI]) == NON_PHI
    assert united([NON_PHI, UNKNOWN]) == UNKNOWN
    assert united([NON_PHI, "PERSON"]) == "PERSON"
    assert united([]) == UNKNOWN


def test_the_prompt_has_a_version() -> None:
    assert len(gaps_prompt().version) == 16
