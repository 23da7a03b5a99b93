"""Votes as a distribution, soft labels without a model, and annotation that resumes after a kill."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from incognote.errors import ModelUnavailable
from incognote.evaluation.formats.document import LabeledSpan
from incognote.extraction.asking import Budget
from incognote.llm.base import Reply, Request, Usage
from incognote.llm.prices import FREE
from incognote.llm.recording import Recorded, Recording
from incognote.prompts.loader import asked as types_asked
from incognote.schemas.policy import load_policy
from incognote.testing import ScriptedLLM, text_of
from incognote_training.annotate import Annotators, annotate, cost, distribution, likeliest, softened, with_rules
from incognote_training.corpus.document import Document
from incognote_training.tokens import tokenize

POLICY = load_policy("strict")
NOTHING: dict[str, list[str]] = {kind: [] for kind in types_asked(POLICY)}
NOTES = [
    Document("a", "Seen: Mary Abara, well.", (LabeledSpan(6, 16, "CLINICIAN"),)),
    Document("b", "Knee stable.", ()),
]


def asked(answer: Callable[[Request], str | Reply], **words: object) -> Annotators:
    return Annotators(ScriptedLLM(answer), "extract/v1", POLICY, **words)  # type: ignore[arg-type]  # set by each test


def by_sample(request: Request) -> str:
    """Six of eight annotators mark the whole name, one the surname, one nothing."""
    names = {6: ["Abara"], 7: []}.get(request.sample, ["Mary Abara"]) if "Abara" in text_of(request) else []
    return json.dumps({**NOTHING, "PERSON": names})


def test_the_share_of_annotators_is_the_label() -> None:
    tokens = tokenize("Mary Abara")
    votes = [[(0, 10, "PERSON")]] * 6 + [[(5, 10, "PERSON")], []]
    assert distribution(tokens, votes) == [
        {"B-PERSON": 0.75, "O": 0.25},
        {"I-PERSON": 0.75, "B-PERSON": 0.125, "O": 0.125},
    ]
    assert likeliest(tokens, distribution(tokens, votes)) == [(0, 10, "PERSON")]


def test_gold_keeps_the_most_and_others_their_weight() -> None:
    shares = softened("Mary left", [(0, 4, "PATIENT")], [[(0, 4, "PERSON")], []], 0.2)
    assert shares[0] == pytest.approx({"B-PATIENT": 0.8, "B-PERSON": 0.1, "O": 0.1})
    assert shares[1] == pytest.approx({"O": 1.0})


def test_lines_tell_the_words_that_annotators_differ_on() -> None:
    (line,) = with_rules([Document("a", "Dr. Mary Abara left.", (LabeledSpan(4, 14, "PATIENT"),))], 0.2)
    read = json.loads(line)
    assert read["spans"] == [{"start": 4, "end": 14, "type": "PATIENT"}]
    assert read["soft"] == [
        {"start": 4, "end": 8, "votes": {"B-CLINICIAN": 0.2, "B-PATIENT": 0.8}},
        {"start": 9, "end": 14, "votes": {"I-CLINICIAN": 0.2, "I-PATIENT": 0.8}},
    ]


def test_eight_annotators_make_a_distribution(tmp_path: Path) -> None:
    annotators = asked(by_sample)
    counts = asyncio.run(annotate(NOTES, tmp_path / "out.jsonl", annotators))
    first, second = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
    assert counts["documents"] == 2
    assert first["soft"][0]["votes"] == {"B-PERSON": 0.75, "O": 0.25}
    assert first["spans"] == [{"start": 6, "end": 16, "type": "PERSON"}]
    assert second["soft"] == second["spans"] == []
    assert not (tmp_path / "out.jsonl.part").exists()


def test_every_annotator_is_asked_with_its_own_sample_and_some_temperature(tmp_path: Path) -> None:
    model = ScriptedLLM(by_sample)
    asyncio.run(annotate(NOTES[:1], tmp_path / "out.jsonl", Annotators(model, "extract/v1", POLICY, 3)))
    assert {request.sample for request in model.requests} == {0, 1, 2}
    assert {request.temperature for request in model.requests} == {0.7}


def test_after_a_failure_it_goes_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    def failing(request: Request) -> str:
        if "Knee" in text_of(request):
            raise ModelUnavailable("down")
        return by_sample(request)

    out = tmp_path / "out.jsonl"
    with pytest.raises(ModelUnavailable):
        asyncio.run(annotate(NOTES, out, asked(failing, k=2), concurrency=1))
    assert not out.exists()
    model = ScriptedLLM(by_sample)
    asyncio.run(annotate(NOTES, out, Annotators(model, "extract/v1", POLICY, 2), concurrency=1))
    assert not any("Abara" in text_of(request) for request in model.requests)
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == ["a", "b"]


def test_a_line_cut_short_by_a_kill_is_annotated_again(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    (tmp_path / "out.jsonl.part").write_text('{"id": "a", "li', encoding="utf-8")
    asyncio.run(annotate(NOTES, out, asked(by_sample, k=2)))
    assert len(out.read_text().splitlines()) == 2


def test_a_document_that_most_did_not_answer_for_is_left_out(tmp_path: Path) -> None:
    def silent(request: Request) -> str:
        return "I cannot say." if "Abara" in text_of(request) else json.dumps(NOTHING)

    counts = asyncio.run(annotate(NOTES, tmp_path / "out.jsonl", asked(silent, k=2)))
    assert counts["left out"] == 1
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 1


def test_a_spent_budget_stops_and_says_how_to_go_on(tmp_path: Path) -> None:
    def costly(request: Request) -> Reply:
        return Reply(json.dumps(NOTHING), usage=Usage(1000, 1000, calls=1, usd=1.0))

    with pytest.raises(ModelUnavailable, match="nothing is paid for twice"):
        asyncio.run(annotate(NOTES, tmp_path / "out.jsonl", asked(costly, k=4, budget=Budget(usd=1.5))))


def test_a_recording_keeps_the_annotators_apart(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "replies.jsonl", plain=True)
    model = ScriptedLLM(by_sample)
    for name in ("one", "two"):
        annotators = Annotators(Recorded(model, recording), "extract/v1", POLICY)
        asyncio.run(annotate(NOTES[:1], tmp_path / name, annotators))
    recording.close()
    assert model.calls == 8
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_the_cost_is_known_before() -> None:
    guess = cost(NOTES, "extract/v1", POLICY, 8, FREE)
    assert guess.calls == 16
    assert guess.usd == 0.0
    assert guess.tokens_in > cost(NOTES, "extract/v1", POLICY, 4, FREE).tokens_in
    assert cost(NOTES, "extract/v1", POLICY, 8, None).usd is None
