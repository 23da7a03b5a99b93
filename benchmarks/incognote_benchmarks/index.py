"""Measure the response times and the needs of an index: `python -m incognote_benchmarks.index --help`."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import secrets
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from incognote.errors import IndexProblem
from incognote.keys import Keyring
from incognote.relex.index.base import SurrogateIndex
from incognote.relex.index.nouns import IdentityPlace, Query, SurrogateProposal
from incognote.relex.index.opening import open_index
from incognote.relex.index.sealing import DIMENSION

_TYPES = ("PATIENT", "CLINICIAN", "RELATIVE", "PERSON")
_SCOPES = 1000
_BATCH, _SIDE = 500, 4  # claims per batch, batches in parallel
_SEED = 7


def identities(first: int, count: int) -> list[SurrogateProposal]:
    """Made-up people: two variants each, a random vector, one of four types, and one of a thousand scopes."""
    vectors = np.random.default_rng([_SEED, first]).normal(size=(count, DIMENSION))
    made = []
    for n, vector in zip(range(first, first + count), vectors, strict=True):
        place = IdentityPlace("bench", f"scope {n % _SCOPES}", "PERSON")
        variants, whole = (f"name {n}", f"dr. name {n}"), f"surrogate {n}"
        made.append(SurrogateProposal(place, _TYPES[n % 4], variants, {"full": whole}, whole, vector=vector))
    return made


async def measure(index: SurrogateIndex, count: int, asked: int) -> dict[str, Any]:
    """Fill an index and query it."""
    from rich.console import Console
    from rich.progress import Progress

    began = time.perf_counter()
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(f"filling {index.store.vendor}", total=count)
        for first in range(0, count, _BATCH * _SIDE):
            sizes = {n: min(_BATCH, count - n) for n in range(first, min(first + _BATCH * _SIDE, count), _BATCH)}
            await asyncio.gather(*(index.claim_all(identities(n, size)) for n, size in sizes.items()))
            progress.advance(task, sum(sizes.values()))
    filled = time.perf_counter() - began
    await index.refresh()
    before = resident(os.getpid())
    draw = np.random.default_rng(_SEED)
    numbers = draw.integers(0, count, asked).tolist()
    vectors = draw.normal(size=(asked, DIMENSION))
    began = time.perf_counter()
    await index.nearest(vectors[0], Query("bench", "PERSON"), 5)
    first_query = time.perf_counter() - began

    def lookup(n: int) -> Awaitable[Any]:
        place = IdentityPlace("bench", f"scope {numbers[n] % _SCOPES}", "PERSON")
        return index.lookup(place, [f"dr. name {numbers[n]}"])

    def nearest(n: int) -> Awaitable[Any]:
        return index.nearest(vectors[n], Query("bench", "PERSON", type=_TYPES[n % 4]), 5)

    def in_scope(n: int) -> Awaitable[Any]:
        return index.nearest(vectors[n], Query("bench", "PERSON", f"scope {numbers[n] % _SCOPES}"), 5)

    def hit(n: int) -> Awaitable[Any]:
        return index.claim(identities(numbers[n] // _BATCH * _BATCH, 1)[0])

    result = {
        "fill_seconds": round(filled, 1),
        "identities_per_second": round(count / filled),
        "first_vector_query_ms": round(1000 * first_query, 1),
        "exact_lookup_ms": await timed(lookup, asked, 1),
        "vector_by_type_ms": await timed(nearest, asked, 5),
        "vector_in_scope_ms": await timed(in_scope, asked, min(5, count // _SCOPES)),
        "claim_of_a_known_identity_ms": await timed(hit, min(asked, 200), None),
    }
    return result | {"client_mb_before_queries": before, "client_mb": resident(os.getpid())}


async def timed(ask: Callable[[int], Awaitable[Any]], count: int, expected: int | None) -> dict[str, float]:
    """Milliseconds of single queries, one after the other: median and 99th percentile.

    Raises:
        RuntimeError: an answer has the wrong number of rows, because a fast but wrong answer must not be measured.
    """
    took = []
    for n in range(count):
        began = time.perf_counter()
        answer = await ask(n)
        took.append(1000 * (time.perf_counter() - began))
        if expected is not None and len(answer) != expected:
            raise RuntimeError(f"{len(answer)} rows instead of {expected}")
    return {"n": count, "p50": round(statistics.median(took), 2), "p99": round(float(np.percentile(took, 99)), 2)}


def resident(pid: int) -> int | None:
    """The memory of a process on this machine, in MB, or None."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return None
    return int(status.partition("VmRSS:")[2].split()[0]) // 1024


async def sqlite(count: int, asked: int, keyring: Keyring) -> dict[str, Any]:
    """Measure the embedded index, in a file that is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        async with await open_index(f"sqlite:///{folder}/index.db", keyring, create=True) as index:
            result = await measure(index, count, asked)
            size = sum(file.stat().st_size for file in Path(folder).iterdir())  # noqa: ASYNC240 -- nothing else runs
        return result | {"disk_mb": size >> 20}


async def opensearch(count: int, asked: int, keyring: Keyring, address: str) -> dict[str, Any]:
    """Measure OpenSearch on this machine, in an index that is removed afterwards."""
    from incognote.relex.index.vendors.opensearch import OpenSearchStore

    prefix = f"bench-{secrets.token_hex(4)}"
    url = f"opensearch://{address}/{prefix}?tls=off&replicas=0&timeout=120"
    async with await open_index(url, keyring, create=True) as index:
        store = index.store
        assert isinstance(store, OpenSearchStore)
        result = await measure(index, count, asked)
        result |= await weight(address, prefix)
        result["server_mb"] = resident(result.pop("pid"))
        with suppress(IndexProblem):  # the figures matter more than a clean test node
            await store.drop()
    return result


async def weight(address: str, prefix: str) -> dict[str, int]:
    """The needs of a single node: `disk_mb` of the index, `heap_mb` of the node, and its process id `pid`."""
    from opensearchpy import AsyncOpenSearch

    async with AsyncOpenSearch(f"http://{address}") as client:
        store_stats = await client.indices.stats(index=prefix, metric="store")
        stats = await client.nodes.stats(metric="jvm")
        info = await client.nodes.info(metric="process")
    (node,), (process,) = stats["nodes"].values(), info["nodes"].values()
    disk = store_stats["_all"]["primaries"]["store"]["size_in_bytes"]
    heap = node["jvm"]["mem"]["heap_used_in_bytes"]
    return {"disk_mb": disk >> 20, "heap_mb": heap >> 20, "pid": process["process"]["id"]}


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m incognote_benchmarks.index", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="identities")
    parser.add_argument("--queries", type=int, default=1000, help="queries of each kind")
    parser.add_argument("--opensearch", metavar="HOST:PORT", help="also measure a node on this machine, without TLS")
    parser.add_argument("--out", type=Path, help="a file for the figures; default: standard output")
    asked = parser.parse_args(argv)
    keyring = Keyring(secrets.token_bytes(32))
    result: dict[str, Any] = {
        "corpus": "made-up names, random vectors",
        "synthetic": True,
        "identities": asked.count,
        "keys": 2 * asked.count,
        "dimension": DIMENSION,
        "machine": {"cores": os.cpu_count(), "load": os.getloadavg()[0], "python": platform.python_version()},
        "sqlite": asyncio.run(sqlite(asked.count, asked.queries, keyring)),
    }
    if asked.opensearch:
        result["opensearch"] = asyncio.run(opensearch(asked.count, asked.queries, keyring, asked.opensearch))
    text = json.dumps(result, indent=2) + "\n"
    if asked.out:
        asked.out.write_text(text, encoding="utf-8")
    else:
        print(text, end="")  # noqa: T201 -- its output


if __name__ == "__main__":
    main()
