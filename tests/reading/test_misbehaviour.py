"""Misbehaving models, over HTTP: no record is lost or partially released, and the verdict states the cause."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from incognote.extraction.asking import MOST_CALLS
from incognote.llm.base import Request
from incognote.testing import MISBEHAVIOURS, Misbehaviour
from incognote_benchmarks.reading.misbehaving import cost

from .conftest import bundle

DOCS = Path(__file__).parents[2] / "docs"
UNAVAILABLE = {"rate_limit", "server_error", "hang", "slow_stream", "dropped_connection", "cut_body"}
DECLINED = {"refusal", "content_filter"}
CUT = {"truncated_json", "length_stop"}
UNUSABLE = {"wrong_shape", "empty", "not_json"}
DOUBTFUL = {"unknown_types", "hallucinated_phrases", "typos"}
MENDED = {
    "prose_around_json", "code_fence", "trailing_comma", "single_quotes", "duplicate_keys", "wrong_case",
    "wrong_whitespace", "echoed_instructions",
}  # fmt: skip
CODES = {
    "refusal_text": "model-declined",
    **dict.fromkeys(DECLINED, "model-declined"), **dict.fromkeys(CUT, "model-reply-cut"),
    **dict.fromkeys(UNUSABLE, "model-reply-unusable"),
}  # fmt: skip


def test_every_misbehaviour_has_its_place_here() -> None:
    assert set(MISBEHAVIOURS) == UNAVAILABLE | set(CODES) | DOUBTFUL | MENDED


@pytest.mark.parametrize("name", MISBEHAVIOURS)
def test_the_cost_of_each_misbehavior_in_calls_is_bounded_and_published(name: str) -> None:
    measured = cost(name)
    assert measured["calls"] <= MOST_CALLS
    assert measured == json.loads((DOCS / "measured" / "misbehaving.json").read_text(encoding="utf-8"))[name]
    row = rf"^\| .*`{name}`.* \| {measured['calls']} \| `{measured['outcome']}`"
    assert re.search(row, (DOCS / "models.md").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_rules_alone_do_not_find_what_is_planted(notes: Any, served: Any, asking: Any) -> None:
    """The control: without an answer, the planted words would remain."""
    known = notes(20)
    made = asking(served(known), detectors=("rules",))
    left = sum(
        any(w in made.deidentify(one.text).output(even_if_unreleased=True) for w in one.planted) for one in known
    )
    assert left > 15


@pytest.mark.parametrize("prompt", ["extract/v1", "extract/v2"])
@pytest.mark.parametrize("name", MISBEHAVIOURS)
def test_a_model_that_always_misbehaves(
    name: str, prompt: str, notes: Any, served: Any, asking: Any, sound: Any
) -> None:
    known = notes(6)
    server = served(known, misbehaviour=Misbehaviour(name, 1.0, retry_after=0.0))
    slow = name in ("hang", "slow_stream")
    made = asking(server, prompt=prompt, model_timeout=0.3 if slow else 20.0, model_attempts=1, chunk_words=32)
    results = list(made.batch(one.text for one in known))
    assert len(results) == len(known)
    for one, result in zip(known, results, strict=True):
        sound(one, result)
        outcome, codes = result.verdict.outcome, {reason.code for reason in result.verdict.reasons}
        counted = result.manifest["models"]["unanswered"]
        if name in UNAVAILABLE:
            assert (outcome, codes) == ("quarantine", {"model-unavailable"})
        elif name in CODES:
            assert outcome == "review"
            assert codes <= {CODES[name], "model-calls", "original-repeated"}
            assert counted[CODES[name]] >= 1
        elif name in MENDED:
            assert outcome == "release"
        assert outcome == "release" or name not in MENDED
    assert {call.misbehaviour for call in server.log} == {name}


@pytest.mark.parametrize("name", sorted(CODES))
def test_the_rules_stand_for_what_is_not_answered_where_the_policy_says_so(
    name: str, notes: Any, served: Any, asking: Any, embedded: Path
) -> None:
    known = notes(5)
    server = served(known, misbehaviour=Misbehaviour(name, 1.0))
    made = asking(server, embedded)
    for result in made.batch(one.text for one in known):
        assert {reason.code for reason in result.verdict.reasons} <= {"original-repeated"}
        assert result.manifest["models"]["unanswered"][CODES[name]] >= 1
    unavailable = asking(served(known, misbehaviour=Misbehaviour("server_error", 1.0)), embedded, model_attempts=1)
    assert unavailable.deidentify(known[0].text).verdict.outcome == "quarantine"  # an outage is not an answer


WAYS: dict[str, dict[str, Any]] = {
    "whole": {},
    "contract 1": {"prompt": "extract/v1"},
    "chunks": {"chunk_words": 16},
    "votes": {"votes": 3},
    "majority of votes, chunks": {"votes": 3, "vote_rule": "majority", "chunk_words": 32},
    "one pass": {"passes": 1},
    "two passes": {"passes": 2},
}


@pytest.mark.parametrize("way", WAYS)
def test_three_calls_in_ten_misbehave(way: str, notes: Any, served: Any, asking: Any, sound: Any) -> None:
    known = notes(40, seed=len(way))
    bad = Misbehaviour(MISBEHAVIOURS, 0.3, seed=7, hang=5.0, slow=5.0, retry_after=0.0)
    server = served(known, misbehaviour=bad)
    results = list(asking(server, **{"model_timeout": 1.5, "model_attempts": 4, **WAYS[way]}).batch(
        one.text for one in known
    ))  # fmt: skip
    assert len(results) == len(known)
    met: Counter[str | None] = Counter(call.misbehaviour for call in server.log)
    assert 0.15 < 1 - met[None] / len(server.log) < 0.5
    outcomes = Counter(result.verdict.outcome for result in results)
    assert outcomes["release"] >= 3
    assert outcomes["review"] >= 1
    for one, result in zip(known, results, strict=True):
        sound(one, result)
        if "chunk_words" in WAYS[way]:
            continue
        of_it = {call.misbehaviour for call in server.log if one.mark.encode() in call.body}
        if of_it & DECLINED and not (way == "votes" and of_it & CUT):  # halves that all votes answer are an answer
            assert not result.verdict.released
        if of_it <= {None, *MENDED}:
            assert result.verdict.released


def without_texts(record: dict[str, Any]) -> list[Any]:
    return [
        {key: value for key, value in entry["resource"].items() if key not in ("note", "id")}
        for entry in record["entry"]
    ]


@pytest.mark.parametrize("prompt", ["extract/v1", "extract/v2"])
def test_composite_requests_whose_answers_misbehave(prompt: str, notes: Any, served: Any, asking: Any) -> None:
    known = notes(60, sentences=1)
    records = [bundle(known[at : at + 5]) for at in range(0, 60, 5)]
    bad = Misbehaviour(MISBEHAVIOURS, 0.3, seed=3, hang=5.0, slow=5.0, retry_after=0.0)
    server = served(known, misbehaviour=bad)
    made = asking(server, prompt=prompt, passes=2, model_timeout=1.5, model_attempts=4)
    results = list(made.batch(records))
    assert len(results) == len(records)
    assert {result.verdict.outcome for result in results} >= {"release", "review"}
    for at, result in enumerate(results):
        assert bool(result.verdict.reasons) != result.verdict.released
        if result.verdict.outcome == "quarantine":
            continue
        told = json.loads(result.output(even_if_unreleased=True))
        assert without_texts(told) == without_texts(records[at])
        assert result.manifest["models"]["requests"] == 1
        for one, entry in zip(known[at * 5 : at * 5 + 5], told["entry"], strict=True):
            text = entry["resource"]["note"][0]["text"]
            assert one.mark in text
            if result.verdict.released:
                assert not [word for word in one.planted if word in text.split()]


class ToSeveral(Misbehaviour):
    """Misbehaves only for requests with several texts."""

    def choose(self, request: Request, attempt: int) -> str | None:
        return super().choose(request, attempt) if "Several texts" in request.messages[0].content else None


@pytest.mark.parametrize("name", [*sorted(DECLINED), *sorted(CUT), "not_json"])
def test_a_composite_request_that_gets_no_answer_is_asked_text_by_text(
    name: str, notes: Any, served: Any, asking: Any
) -> None:
    known = notes(5, sentences=1)
    server = served(known, misbehaviour=ToSeveral(name, 1.0))
    result = asking(server).deidentify(bundle(known))
    assert result.verdict.released  # each was answered alone
    assert not [word for one in known for word in one.planted if word in result.text]
    assert server.calls >= 6


def test_answers_that_are_cut_or_no_json_are_asked_for_again_then_in_halves(
    notes: Any, served: Any, asking: Any, sound: Any
) -> None:
    (one,) = notes(1, sentences=12)
    server = served([one], misbehaviour=Misbehaviour("not_json", 1.0, attempts=1))
    result = asking(server).deidentify(one.text)
    sound(one, result)
    assert (
        result.verdict.outcome == "review"
    )  # each new question starts at attempt one, until the pieces are too small to halve
    again = [call for call in server.log if b"That answer could not be used" in call.body]
    assert again
    assert server.calls > 2 * len(again) - 1
    assert result.manifest["models"]["unanswered"]["model-reply-unusable"] > 1
