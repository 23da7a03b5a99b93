"""A rejection in unknown words may be about the length of a request, until shorter ones are rejected alike."""

from __future__ import annotations

from incognote.errors import ModelRejected, ModelUnavailable
from incognote.extraction.lengths import FEWEST, Lengths


def problem(kind: type[ModelRejected] | type[ModelUnavailable] = ModelRejected) -> ModelRejected | ModelUnavailable:
    made = kind("status 400")
    made.unclear = True
    return made


def test_a_long_request_and_its_half_are_suspected_and_a_third_refutes_it() -> None:
    lengths = Lengths()
    assert lengths.suspicious(600, problem())
    assert lengths.suspicious(330, problem())
    assert not lengths.suspicious(180, problem())
    assert not lengths.suspicious(600, problem()), "remembered for the next records"
    lengths.fit(20)
    assert lengths.suspicious(600, problem()), "after an answer, there is hope again"


def test_a_short_request_or_a_problem_in_known_words_is_not_suspected() -> None:
    assert not Lengths().suspicious(FEWEST, problem())
    known = Lengths()
    assert not known.suspicious(600, ModelRejected("status 401"))
    assert known.suspicious(600, problem()), "a known problem says nothing about the length"


def test_after_an_answer_only_longer_requests_are_suspected() -> None:
    lengths = Lengths()
    lengths.fit(600)
    assert not lengths.suspicious(300, problem())
    assert lengths.suspicious(400, problem()), "a dense text has more tokens"
    assert not lengths.suspicious(600, problem(ModelUnavailable)), "a status 500 is an outage"
    assert not lengths.refuted
    assert lengths.suspicious(700, problem(ModelUnavailable))
