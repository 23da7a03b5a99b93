"""A rejection in unknown words may be about the length of a request, until shorter ones are rejected alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from incognote import Deidentifier
from incognote.errors import ContextTooLong, ModelProblem, ModelRejected, ModelUnavailable
from incognote.llm.base import Message, Request
from incognote.llm.lengths import FEWEST, Lengths
from incognote.testing import LocalServer


def ask(words: int) -> Request:
    return Request((Message("system", "Find names. " * 500), Message("user", "word " * words)))


def suspicious(lengths: Lengths, words: int, problem: ModelProblem | None = None, *, unclear: bool = True) -> bool:
    problem = problem or ModelRejected("status 400")
    problem.unclear = unclear
    return isinstance(lengths.judged(ask(words), problem), ContextTooLong)


def test_a_long_request_and_its_half_are_suspected_and_a_quarter_refutes_it() -> None:
    lengths = Lengths()
    assert suspicious(lengths, 600)
    assert suspicious(lengths, 330)
    assert not suspicious(lengths, 180)
    assert not suspicious(lengths, 600), "remembered for the next records"
    lengths.fit(ask(20))
    assert suspicious(lengths, 600), "after an answer, there is hope again"


def test_a_short_request_or_a_problem_in_known_words_is_not_suspected() -> None:
    assert not suspicious(Lengths(), FEWEST)
    known = Lengths()
    assert not suspicious(known, 600, unclear=False)
    assert suspicious(known, 600), "a known problem says nothing about the length"


def test_after_an_answer_only_longer_requests_are_suspected() -> None:
    lengths = Lengths()
    lengths.fit(ask(600))
    assert not suspicious(lengths, 300)
    assert suspicious(lengths, 400), "a dense text has more tokens"
    assert not suspicious(lengths, 600, ModelUnavailable("status 500")), "an outage"
    assert not lengths.refuted
    assert suspicious(lengths, 700, ModelUnavailable("status 500"))


@pytest.mark.parametrize("dialect", ["unknown-400", "unknown-500"])
def test_a_replay_tries_the_same_smaller_chunks(dialect: str, tmp_path: Path) -> None:
    pytest.importorskip("openai")
    note = "Seen by Dr. Abara. " + "The wound is clean and dry. " * 60
    common: dict[str, Any] = {
        "key": "6b" * 32, "recording": tmp_path / "recording", "passes": 1, "detectors": ("rules", "llm"),
        "model": "openai/m",
    }  # fmt: skip
    with (
        LocalServer(lambda _: "{}", dialect=dialect, context=1250) as server,
        Deidentifier(**common, api_base=server.url, api_key=server.api_key, model_attempts=1) as deid,
    ):
        result = deid.deidentify(note)
    with Deidentifier(**common, replay=True) as deid:
        assert deid.deidentify(note).text == result.text
    assert result.verdict.outcome == "release"
