"""A recorded run replays byte for byte without the server. Requests that were not recorded stay unanswered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from incognote import Deidentifier, Result
from incognote.errors import IncognoteError, KeyMissing
from incognote.testing import Misbehaviour

from .conftest import bundle

ANSWERED = [
    "code_fence",
    "typos",
    "refusal",
    "length_stop",
    "truncated_json",
    "not_json",
    "unknown_types",
    "wrong_case",
]

OWN = ("rules", "llm")  # the detectors of `asking`


@pytest.fixture
def given(tmp_path: Path) -> dict[str, Any]:
    """The settings that both runs share: a key and a recording."""
    key = tmp_path / "key"
    key.write_text("07" * 32, encoding="utf-8")
    return {"key_file": key, "recording": tmp_path / "recording"}


def told(results: list[Result]) -> list[tuple[Any, ...]]:
    shown = []
    for result in results:
        manifest = json.loads(json.dumps(dict(result.manifest)))
        manifest["models"].pop("usage")  # a replay costs nothing
        shown.append((result._output, result.verdict, result.replacements, manifest))
    return shown


def record(note: str) -> dict[str, Any]:
    return {"dataType": "note", "id": "n1", "text": note}


@pytest.mark.parametrize(
    "way",
    [{}, {"prompt": "extract/v1"}, {"votes": 3, "chunk_words": 32}, {"chunk_words": 16, "passes": 3}],
    ids=["whole", "contract 1", "votes", "chunks"],
)
def test_a_replay_is_byte_identical_without_a_server(
    way: dict[str, Any], notes: Any, served: Any, asking: Any, given: dict[str, Any]
) -> None:
    known = notes(12, seed=4)
    light = notes(8, sentences=1, seed=5)
    items = [*(one.text for one in known), record(known[0].text), bundle(light), bundle(light[:3]), "", "[PERSON]"]
    bad = Misbehaviour(ANSWERED, 0.4, seed=1)
    server = served([*known, *light], misbehaviour=bad)
    with asking(server, model_timeout=20.0, **given, **way) as made:
        recorded = list(made.batch(items))
    assert {result.verdict.outcome for result in recorded} == {"release", "review"}
    asked = server.calls
    server.close()
    with Deidentifier(model="openai/x", api_base=server.url, replay=True, detectors=OWN, **given, **way) as made:
        assert told(list(made.batch(items))) == told(recorded)
        assert told(list(reversed(list(made.batch(items[::-1]))))) == told(recorded)
        assert sum(r.manifest["models"]["usage"]["calls"] for r in made.batch(items)) == 0
    assert server.calls == asked


def test_a_request_the_endpoint_found_too_long_is_replayed_as_that(
    notes: Any, served: Any, asking: Any, given: dict[str, Any]
) -> None:
    (one,) = notes(1, sentences=14)
    server = served([one], context=1000)
    with asking(server, model_timeout=20.0, **given) as made:
        recorded = made.deidentify(one.text)
    assert recorded.manifest["models"]["usage"]["calls"] > 1
    server.close()
    with Deidentifier(model="openai/x", replay=True, detectors=OWN, **given) as made:
        assert told([made.deidentify(one.text)]) == told([recorded])


def test_what_was_recorded_is_not_asked_again(notes: Any, served: Any, asking: Any, given: dict[str, Any]) -> None:
    known = notes(4)
    server = served(known)
    for _ in range(2):
        with asking(server, **given) as made:
            assert all(result.verdict.released for result in made.batch(one.text for one in known))
    assert server.calls == 4


@pytest.mark.parametrize(
    "other",
    [
        {"prompt": "extract/v1"}, {"policy": "safe-harbor"}, {"temperature": 0.5}, {"votes": 2}, {"max_tokens": 100},
        {"model": "openai/y"}, {"note": "x"},
    ],
    ids=str,
)  # fmt: skip
def test_what_was_not_recorded_is_quarantined_and_never_asked(
    other: dict[str, Any], notes: Any, served: Any, asking: Any, given: dict[str, Any]
) -> None:
    (one,) = notes(1)
    server = served([one])
    with asking(server, **given) as made:
        assert made.deidentify(one.text).verdict.released
    asked = len(server.log)
    note = one.text + other.pop("note", "")
    words = {"model": "openai/x", "api_base": server.url, "replay": True, "detectors": OWN, **given, **other}
    with Deidentifier(**words) as made:
        result = made.deidentify(note)
    assert result.verdict.outcome == "quarantine"
    assert [reason.code for reason in result.verdict.reasons] == ["model-unavailable"]
    assert result._output is None
    assert len(server.log) == asked


def test_an_outage_is_not_recorded(notes: Any, served: Any, asking: Any, given: dict[str, Any]) -> None:
    known = notes(3)
    server = served(known, misbehaviour=Misbehaviour("server_error", 1.0, attempts=1))
    with asking(server, model_attempts=1, passes=2, **given) as made:
        assert {r.verdict.outcome for r in made.batch(one.text for one in known)} == {"quarantine"}
        for _ in range(3):  # the first attempt of each of two passes fails
            last = list(made.batch(one.text for one in known))
    assert {r.verdict.outcome for r in last} == {"release"}


def test_a_recording_needs_a_key_that_lasts_and_the_right_one(
    notes: Any, served: Any, asking: Any, given: dict[str, Any], tmp_path: Path
) -> None:
    (one,) = notes(1)
    server = served([one])
    with pytest.raises(KeyMissing):
        asking(server, recording=tmp_path / "other").deidentify(one.text)
    with asking(server, **given) as made:
        made.deidentify(one.text)
    other = tmp_path / "other-key"
    other.write_text("11" * 32, encoding="utf-8")
    with pytest.raises(IncognoteError):
        asking(server, **{**given, "key_file": other}).deidentify(one.text)
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert not [word for word in one.planted if word.encode() in stored]
