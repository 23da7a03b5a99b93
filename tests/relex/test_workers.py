"""Several processes on one index: one partition and one surrogate per identity, even if some are killed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import IndexUnavailable
from incognote.relex import partition
from incognote.relex.batch import Tools
from incognote.relex.cluster import cluster
from incognote.relex.graph import relexicalize
from incognote.relex.index.base import SurrogateIndex
from incognote.relex.index.opening import open_index
from incognote.relex.nouns import MentionVariant

from .loop_worker import KEY, MOVING, STEADY, note

WORKER = Path(__file__).with_name("loop_worker.py")
NOTES = [note(*told) for told in (*STEADY, *MOVING)]
Opened = Callable[[str], Awaitable[SurrogateIndex]]


@pytest.fixture
async def opened(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Opened]:
    """A new index of a vendor, with its address as `url`. Closed at the end, and dropped if in OpenSearch."""
    made: list[SurrogateIndex] = []

    async def one(vendor: str) -> SurrogateIndex:
        url = f"sqlite:///{tmp_path / 'index.db'}?vectors=off"
        if vendor == "opensearch":
            url = f"opensearch://{request.getfixturevalue('opensearch')}/loop-{tmp_path.name[-8:].strip('_')}"
            url = url.lower() + "?tls=off&replicas=0&vectors=off"
        index = await open_index(url, KEY, create=True)
        index.url = url  # type: ignore[attr-defined]  # the workers need it
        made.append(index)
        return index

    yield one
    for index in made:
        if hasattr(index.store, "drop"):
            await index.store.drop()
        await index.aclose()


def started(url: str, seed: int) -> subprocess.Popen[str]:
    command = [sys.executable, WORKER, url, str(seed)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def told(lines: list[str]) -> dict[str, list[str]]:
    """Return what a worker reported for each note."""
    return {name: json.loads(texts) for name, _, texts in (line.partition("\t") for line in lines) if texts}


async def standing(index: SurrogateIndex) -> set[frozenset[MentionVariant]]:
    """Return the current partition of the index."""
    together = defaultdict(set)
    for one, found in (await partition.led(index, sorted(v for n in NOTES for v in n.variants))).items():
        if found:
            together[partition.latest(found).id].add(one)
    return {frozenset(one) for one in together.values()}


@pytest.mark.parametrize("vendor", ["sqlite", "opensearch"])
async def test_eight_processes_end_in_one_partition_and_give_everybody_one_surrogate(
    opened: Opened, vendor: str
) -> None:
    index: Any = await opened(vendor)
    workers = [started(index.url, seed) for seed in range(8)]
    answers = []
    for worker in workers:
        out, err = worker.communicate(timeout=500)
        assert worker.returncode == 0, err
        answers.append(told(out.splitlines()))
    steady = [{name: answer[name] for name, *_ in STEADY} for answer in answers]
    assert all(answer == steady[0] for answer in steady)
    identities = [one for one in cluster(v for n in NOTES for v in n.variants) if one.group in partition.INDEXED]
    assert await standing(index) == {frozenset(one.variants) for one in identities}
    first = await relexicalize(NOTES, Tools(index, KEY))
    assert (first.report.new, first.report.outdated) == (0, ())
    called = defaultdict(set)
    for one, shown in first.shown.items():
        if one.type in ("PATIENT", "CLINICIAN", "PERSON"):
            called[shown.identity].add(shown.text.split()[-1])
    assert all(len(surnames) == 1 for surnames in called.values())


async def test_a_process_killed_in_mid_run_loses_nothing_it_told(opened: Opened) -> None:
    index: Any = await opened("sqlite")
    worker = started(index.url, 1)
    assert worker.stdout
    lines = [worker.stdout.readline().strip() for _ in range(4)]
    worker.kill()
    worker.communicate(timeout=60)
    before = told(lines)
    assert len(before) == 3
    tools = Tools(index, KEY)
    for one in NOTES:
        shown = (await relexicalize([one], tools)).shown
        texts = [shown[v].text for v in sorted(one.variants, key=lambda v: v.start)]
        assert one.record not in before or one.record.startswith("m") or before[one.record] == texts


async def test_opensearch_stopped_in_mid_run_hands_out_nothing_and_later_the_same(own_node: Any) -> None:
    url = f"opensearch://{own_node.address}/t?tls=off&replicas=0&vectors=off&attempts=1&timeout=5"
    async with await open_index(url, KEY, create=True) as index:
        tools = Tools(index, KEY)
        first = await relexicalize(NOTES[:1], tools)
        own_node.kill()
        with pytest.raises(IndexUnavailable, match="does not answer"):
            await relexicalize(NOTES[1:2], tools)
    own_node.start()
    async with await open_index(url, KEY) as index:
        tools = Tools(index, KEY)
        assert (await relexicalize(NOTES[:1], tools)).shown == first.shown
        second = await relexicalize(NOTES[1:2], tools)
        assert (await relexicalize(NOTES[1:2], tools)).shown == second.shown
