"""The recorded replies to the relexicalizing agents, replayed: the recorded content satisfies its contracts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from incognote.errors import ModelUnavailable
from incognote.llm.base import Reply, Request
from incognote.prompts.loader import AGENTS, relex_prompt, relex_prompts
from incognote.relex.agents.llm.clustering import HEADINGS
from incognote.relex.cluster import group_of
from incognote.testing.scripted import ScriptedLLM
from incognote_benchmarks.relex_replies import (
    CORPORA,
    Answers,
    Case,
    Corpus,
    ask_all,
    meant,
    read_cases,
    read_corpus,
    replayed,
    scores,
)

DATA = Path(__file__).parents[1] / "data"
RECORDED = DATA / "replies" / "relex-v2.jsonl"
BAR = 0.95


@pytest.fixture(scope="module")
def corpora() -> dict[str, Corpus]:
    return {name: read_corpus(name, DATA / "longitudinal") for name in CORPORA}


@pytest.fixture(scope="module")
def cases(corpora: dict[str, Corpus]) -> list[Case]:
    return read_cases(DATA / "replies" / "relex-cases-v1.jsonl", corpora)


@pytest.fixture(scope="module")
def recorded() -> tuple[dict[str, Corpus], list[Case], Answers]:
    return replayed(DATA / "replies", DATA / "longitudinal")


def test_every_recorded_partition_holds_each_mention_once(
    recorded: tuple[dict[str, Corpus], list[Case], Answers],
) -> None:
    corpora, _, said = recorded
    assert said.partitions
    for name, found in said.partitions.items():
        met = [v for one in found for v in one.variants]
        answered = {v.patient for v in met}
        assert len(met) == len(set(met))
        assert set(met) == {v for v in corpora[name].gold if v.patient in answered}


def test_recorded_clusters_of_names_reach_the_bar(recorded: tuple[dict[str, Corpus], list[Case], Answers]) -> None:
    made = scores(*recorded, resamples=10)["clusters"]
    assert made
    for name, figures in made.items():
        assert figures["language model, names"]["f1"]["value"] >= BAR, f"{name}: a total, no single error"


def test_recorded_replies_are_addressed_by_the_prompts_that_are_shipped() -> None:
    rows = [json.loads(line) for line in RECORDED.read_text(encoding="utf-8").splitlines()]
    assert len({row["address"] for row in rows}) == len(rows)
    assert {row["prompt"] for row in rows} <= set(relex_prompts())


def test_the_cases_have_a_right_answer_each(corpora: dict[str, Corpus], cases: list[Case]) -> None:
    asked = [case for case in cases if case.agent == "decision"]
    right = [
        meant(corpora[case.corpus], hit) == meant(corpora[case.corpus], case.identities[0])
        for case in asked
        for hit in case.hits
    ]
    assert 0 < sum(right) < len(right)
    assert {case.agent for case in cases} == {"query", "decision", "replacement"}


async def test_no_request_holds_a_gold_identity(corpora: dict[str, Corpus], cases: list[Case]) -> None:
    model = ScriptedLLM(_unanswered)
    await ask_all(_Silent(model), corpora, cases)
    telling = {one for corpus in corpora.values() for one in corpus.gold.values() if "-" in one and one[-1].isalpha()}
    assert len(telling) > 100
    for request in model.requests:
        text = "\n".join(message.content for message in request.messages)
        assert not [one for one in telling if one in text]
    assert len(model.requests) == 104


async def test_a_perfect_partition_scores_one_and_everything_in_one_group_less(corpora: dict[str, Corpus]) -> None:
    some = {"notes": _only(corpora["notes"], "p01")}
    perfect = await ask_all(ScriptedLLM(_by(some["notes"], lambda gold: gold)), some, [])
    lumped = await ask_all(ScriptedLLM(_by(some["notes"], lambda gold: "one")), some, [])
    whole = scores(some, [], perfect, resamples=10)["clusters"]["notes"]
    assert whole["language model, all types"]["f1"]["value"] == 1.0
    assert scores(some, [], lumped, resamples=10)["clusters"]["notes"]["language model, names"]["f1"]["value"] < 0.7


async def test_right_and_wrong_decisions_are_counted(corpora: dict[str, Corpus], cases: list[Case]) -> None:
    asked = [case for case in cases if case.agent == "decision"]
    bare = {name: Corpus(name, (), {}) for name in corpora}
    never = await ask_all(ScriptedLLM(_all_no), bare, asked)
    counts = scores(corpora, asked, never, resamples=10)["decisions"]
    assert counts["cases"] == len(asked)
    assert counts["right yes"] == counts["wrong yes"] == 0
    assert counts["right no"] > counts["wrong no"] > 0


def _all_no(request: Request) -> str:
    return json.dumps({"Q1": ["N"] * len(re.findall(r"^  \d+ ", request.messages[1].content, re.MULTILINE))})


def _unanswered(request: Request) -> str:
    return ""


class _Silent:
    """Passes on each request but never answers."""

    def __init__(self, model: ScriptedLLM) -> None:
        self.name, self._model = model.name, model

    async def complete(self, request: Request) -> Reply:
        await self._model.complete(request)
        raise ModelUnavailable("nothing is recorded")

    async def aclose(self) -> None:
        """Nothing to close."""


def _only(corpus: Corpus, patient: str) -> Corpus:
    gold = {v: one for v, one in corpus.gold.items() if v.patient == patient}
    return Corpus(corpus.name, tuple(corpus.of([patient])), gold)


def _by(corpus: Corpus, label: Callable[[str], str]) -> Callable[[Request], str]:
    """Group a request's mentions by label. They are identified by heading, position, and words."""
    ordered = sorted(corpus.gold, key=lambda v: (HEADINGS.index(group_of(v.type)), v.record, v.field, v.start))

    def answer(request: Request) -> str:
        said: dict[str, dict[str, list[int]]] = {}
        for number, variant in enumerate(ordered, 1):
            said.setdefault(group_of(variant.type), {}).setdefault(label(corpus.gold[variant]), []).append(number)
        return json.dumps(said)

    return answer


def test_the_prompts_have_versions() -> None:
    names = relex_prompts()
    assert {name.split("/")[1] for name in names} == set(AGENTS)
    assert all(len(relex_prompt(name).version) == 16 for name in names)
