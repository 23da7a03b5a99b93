"""The recalled mentions are sufficient: clustering them gives the same result as clustering everything."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from incognote.nouns import Span, Text
from incognote.relex.cluster import cluster, variant
from incognote.relex.memory import key_of, recalled, sightings
from incognote.relex.nouns import MentionVariant
from incognote.testing.memory_index import MemoryIndex

from .loop_worker import KEY, note

NOTES = Path(__file__).parents[1] / "data" / "longitudinal"


PERSONS = ("PATIENT", "RELATIVE", "CLINICIAN", "PERSON")


@pytest.fixture(scope="module", params=[("notes", False), ("blind", False), ("blind", True)])
def records(request: pytest.FixtureRequest) -> dict[str, list[MentionVariant]]:
    """The mentions of patients 1 to 5, by record: as annotated, or as detected, with a third of the types wrong."""
    name, guessed = request.param
    random = Random(1)
    found = {}
    for line in (NOTES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        text = Text(told["text"])
        if int(told["patient"][1:]) <= 5:
            spans = [Span(text, s["start"], s["end"], s["type"]) for s in told["spans"]]
            if guessed:
                spans = [replace(s, type=_noisy(s.type, random), sources=("encoder",)) for s in spans]
            found[told["id"]] = [variant(s, record=told["id"], patient=told["patient"], domain="d") for s in spans]
    return found


def _noisy(type: str, random: Random) -> str:
    return random.choice(PERSONS) if type in PERSONS and random.random() < 0.4 else type


async def test_clustering_what_is_recalled_is_clustering_everything(records: dict[str, list[MentionVariant]]) -> None:
    index = MemoryIndex(KEY)
    for own in records.values():
        await index.note(sightings(own))
    every = {frozenset(one.variants) for one in cluster(v for own in records.values() for v in own)}
    fewest = len(every)
    for own in records.values():
        seen = await recalled(index, own)
        fewest = min(fewest, len(seen))
        found = {frozenset(one.variants) for one in cluster(seen)}
        assert {one for one in found if one & set(own)} == {one for one in every if one & set(own)}
    assert fewest < sum(map(len, records.values())) / 2


async def test_a_mention_comes_back_as_it_was() -> None:
    index = MemoryIndex(KEY)
    own = note("1", "p1", "Ann's wife, [RELATIVE|Rosa Marin (née Duarte)], asked Dr. [PERSON|A. Wilson], MD.").variants
    await index.note(sightings(own))
    assert await recalled(index, own[:1]) >= {own[0]}
    assert await recalled(index, own) == set(own)


def test_keys_of_mentions_differ_by_owner_record_and_letter() -> None:
    one = note("a", "p1", "[PATIENT|Ann Marsh]").variants[0]
    others = [("A", "p1", "Ann Marsh"), ("a", "p2", "Ann Marsh"), ("a", "p1", "ann marsh")]
    keys = {key_of(note(r, p, f"[PATIENT|{w}]").variants[0]).lower() for r, p, w in others}
    assert len({key_of(one), *keys}) == 4
