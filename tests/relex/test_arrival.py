"""Notes processed one at a time, in any order, give the same partition as all at once, on whole corpora."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from itertools import permutations

import pytest

from incognote.relex import partition
from incognote.relex.agents.base import RelexNote
from incognote.relex.batch import Tools
from incognote.relex.cluster import cluster, group_of
from incognote.relex.graph import relexicalize
from incognote.relex.memory import outdated, remember_outputs
from incognote.relex.nouns import MentionVariant
from incognote.testing.memory_index import MemoryIndex
from incognote_benchmarks.relex_replies import read_corpus

from .loop_worker import KEY, note


async def ended(notes: Iterable[RelexNote], portions: Iterable[list[RelexNote]]) -> set[frozenset[MentionVariant]]:
    """Return the partition in a new index after the portions were processed in order."""
    index = MemoryIndex(KEY)
    tools = Tools(index, KEY)
    for portion in portions:
        await relexicalize(portion, tools)
    together = defaultdict(set)
    for one, found in (await partition.led(index, sorted(v for n in notes for v in n.variants))).items():
        if found:
            together[partition.latest(found).id].add(one)
    return {frozenset(one) for one in together.values()}


@pytest.mark.parametrize(("name", "seed"), [("notes", 1), ("blind", 2), ("blind2", 4)])
async def test_a_corpus_note_by_note_in_a_shuffled_order_is_partitioned_as_all_at_once(name: str, seed: int) -> None:
    corpus = read_corpus(name)
    patients = random.Random(seed).sample(corpus.patients, 5)
    notes = corpus.of(patients)
    mixed = random.Random(seed).sample(notes, len(notes))
    at_once = await ended(notes, [notes])
    assert await ended(notes, ([one] for one in mixed)) == at_once
    every = {frozenset(one.variants) for one in cluster(v for n in notes for v in n.variants)}
    assert at_once <= every
    assert all(v.type in ("COUNTRY", "STATE") for one in every - at_once for v in one if _indexed(v))  # they stay


def _indexed(variant: MentionVariant) -> bool:
    return group_of(variant.type) in partition.INDEXED


async def test_initials_of_all_surnames_find_their_bearer_whoever_comes_last() -> None:
    signed = note("1", "p1", "Seen and signed: [CLINICIAN|SRM].")
    whole = note("2", "p2", "Seen by Dr. [CLINICIAN|Sunita Rao-Mitchell].")
    wanted = {frozenset((*signed.variants, *whole.variants))}
    assert await ended([signed, whole], [[signed], [whole]]) == wanted
    assert await ended([signed, whole], [[whole], [signed]]) == wanted


@pytest.mark.parametrize("order", list(permutations(range(3))))
async def test_a_nurse_with_the_patients_name_shows_the_patients_surrogate_in_this_chart_in_any_order(
    order: tuple[int, ...],
) -> None:
    nurse = note("1", "p1", "Nurse [CLINICIAN|Ana Orsik], RN, is different.", ("rules",))
    chart = note("2", "p1", "Patient: [PATIENT|Ana Orsik]. She was admitted.", ("rules",))
    elsewhere = note("3", "p2", "Seen by [CLINICIAN|Ana Orsik], RN.", ("rules",))
    notes, tools = (nurse, chart, elsewhere), Tools(MemoryIndex(KEY), KEY)
    for at in order:
        await relexicalize([notes[at]], tools)
    outcomes = [await relexicalize([one], tools) for one in notes]
    shown = [words.text for one in outcomes for words in one.shown.values()]
    assert shown[0] == shown[1] != shown[2]


@pytest.mark.parametrize("turned", [False, True])
async def test_a_name_spelled_by_ear_finds_its_bearer_in_another_patients_notes_in_any_order(turned: bool) -> None:
    first = note("1", "p1", "Seen by Dr. [CLINICIAN|Piotr Tchaikovsky].")
    second = note("2", "p2", "Seen by Dr. [CLINICIAN|Pyotr Chaykovsky].")
    notes = [second, first] if turned else [first, second]
    assert await ended(notes, [[one] for one in notes]) == {frozenset((*first.variants, *second.variants))}


@pytest.mark.parametrize("name", ["notes", "blind"])
async def test_every_record_that_would_now_get_another_output_is_listed_as_outdated(name: str) -> None:
    corpus = read_corpus(name)
    notes = corpus.of(corpus.patients[:6])
    random.Random(5).shuffle(notes)
    tools = Tools(MemoryIndex(KEY), KEY)
    outputs: dict[str, list[str]] = {}
    listed: set[str] = set()
    for one in notes:
        outcome = await relexicalize([one], tools)
        outputs[one.record] = [outcome.shown[v].text for v in one.variants]
        listed |= set(outcome.report.outdated)
    final = await relexicalize(notes, tools)
    changed = {one.record for one in notes if [final.shown[v].text for v in one.variants] != outputs[one.record]}
    assert changed
    assert changed <= listed
    assert len(listed - changed) <= 3
    assert (await relexicalize(notes[:1], tools)).report.outdated == ()


async def test_only_a_record_whose_last_output_shows_something_else_is_outdated() -> None:
    index = MemoryIndex(KEY)
    mention, without_output = (note(name, "p1", "Seen by Dr. [CLINICIAN|Wilson].").variants[0] for name in ("1", "2"))
    await remember_outputs(index, {mention: "Magee"})
    assert await outdated(index, {mention: "Magee", without_output: "Magee"}) == set()
    assert await outdated(index, {mention: "Benjamin"}) == {"1"}
    await remember_outputs(index, {mention: "Benjamin"})
    assert await outdated(index, {mention: "Benjamin"}) == set()
    assert await outdated(index, {replace(mention, domain="another"): "Magee"}) == set()
    await index.forget(mention.domain, mention.owner)
    assert await outdated(index, {mention: "Magee"}) == set()
