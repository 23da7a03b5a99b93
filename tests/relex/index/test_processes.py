"""Several processes, some of which are killed, and one surrogate for each identity."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from incognote.keys import Keyring
from incognote.relex.index.nouns import IdentityPlace, SurrogateProposal
from incognote.relex.index.opening import open_index

WORKER = Path(__file__).with_name("worker.py")
Make = Callable[..., Any]


def started(url: str, seed: int, count: int, batch: int = 10) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, WORKER, url, str(seed), str(count), str(batch)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def told(lines: Iterable[str]) -> dict[str, str]:
    """Return what a worker reported for each identity."""
    return dict(line.rstrip("\n").split("\t") for line in lines if "\t" in line)


@pytest.mark.parametrize("vendor", ["sqlite", "opensearch"])
async def test_eight_processes_give_each_of_500_identities_one_surrogate(make: Make, vendor: str) -> None:
    index = await make(vendor)
    workers = [started(index.url, seed, 500, 100) for seed in range(8)]
    answers = []
    for worker in workers:
        out, err = worker.communicate(timeout=300)
        assert out.endswith("done\n"), err
        answers.append(told(out.splitlines()))
    assert len(answers[0]) == 500
    assert all(answer == answers[0] for answer in answers)
    stats = await index.stats()
    assert (sum(stats.identities.values()), stats.pending, stats.keys) == (500, 0, 2000)
    assert stats.reservations == 500  # claims that gave way have released their reservations


async def test_a_process_killed_in_mid_write_loses_nothing_it_told(make: Make) -> None:
    index = await make("sqlite")
    seen: dict[str, str] = {}
    for seed in range(3):
        worker = started(index.url, seed, 400)
        assert worker.stdout
        lines = [worker.stdout.readline() for _ in range(60 + 50 * seed)]
        worker.kill()
        lines += worker.communicate(timeout=60)[0].splitlines()
        assert lines[-1] != "done"
        for name, whole in told(line for line in lines if line.count("\t") == 1).items():
            assert seen.setdefault(name, whole) == whole
    again = await open_index(index.url, index.sealer.keyring)
    async with again:
        for name, whole in seen.items():
            n = int(name.split()[0].removeprefix("Zebulon"))
            (identity,) = await again.lookup(IdentityPlace("clinic", f"patient {n % 7}", "PERSON"), [name])
            assert identity.whole == whole
        assert (await again.stats()).pending == 0
    assert len(seen) > 100


async def test_opensearch_stopped_in_mid_run_gives_a_clear_error_and_the_same_surrogates_afterwards(
    own_node: Any, key: Keyring, propose: Callable[..., SurrogateProposal]
) -> None:
    url = f"opensearch://{own_node.address}/t?tls=off&replicas=0&dimension=0&vectors=off&attempts=1&timeout=5"
    index = await open_index(url, key, create=True)
    await index.aclose()
    worker = started(url, 1, 4000)
    assert worker.stdout
    lines = [worker.stdout.readline() for _ in range(80)]
    own_node.kill()
    lines += worker.communicate(timeout=60)[0].splitlines()
    assert lines[-1].strip() == "unavailable"
    before = told(lines)
    own_node.start()
    async with await open_index(url, key) as again:
        for name, whole in before.items():
            n = int(name.split()[0].removeprefix("Zebulon"))
            place = IdentityPlace("clinic", f"patient {n % 7}", "PERSON")
            outcome = await again.claim(propose(name, f"the {name}", whole=f"retry {n}", place=place))
            assert outcome.identity.whole == whole
    assert len(before) >= 60
