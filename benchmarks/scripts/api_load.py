"""Measure the response time of `incognote serve` over the loopback, with many clients at once.

    python benchmarks/scripts/api_load.py tests/data/notes.jsonl --out docs/measured/api.json

It measures once with the rules alone, and once with the default detectors. Without --out it prints one line of JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import httpx

from incognote.cli.tables import print_table
from incognote_benchmarks.detection import texts_of
from incognote_benchmarks.processes import Running

WARM = 20  # requests before the measurement starts


async def load(url: str, token: str, texts: list[str], requests: int, clients: int) -> dict[str, object]:
    """Send `requests` requests for de-identification, `clients` of them at a time."""
    seconds: list[float] = []
    verdicts: Counter[str] = Counter()
    left = iter(range(requests))
    limits = httpx.Limits(max_connections=clients)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, limits=limits, timeout=120) as client:
        for text in texts[:WARM]:
            await client.post("/v1/deidentify", json={"text": text})

        async def one() -> None:
            for number in left:
                started = time.perf_counter()
                answer = await client.post("/v1/deidentify", json={"text": texts[number % len(texts)]})
                seconds.append(time.perf_counter() - started)
                verdicts[answer.json()["verdict"] if answer.status_code == 200 else str(answer.status_code)] += 1

        began = time.perf_counter()
        await asyncio.gather(*(one() for _ in range(clients)))
        whole = time.perf_counter() - began
    seconds.sort()
    return {
        "requests": requests,
        "clients": clients,
        "p50_ms": round(1000 * seconds[len(seconds) // 2], 1),
        "p99_ms": round(1000 * seconds[len(seconds) * 99 // 100], 1),
        "per_second": round(requests / whole, 1),
        "verdicts": dict(verdicts),
    }


def measure(texts: list[str], detectors: str, requests: int, clients: int) -> dict[str, object]:
    """Start a server in a home of its own, send the requests, and stop it."""
    with tempfile.TemporaryDirectory(prefix="incognote-load-") as home:
        words = ("serve", "--port", 0, "--detectors", detectors)
        with Running(Path(home), *words, service={"api_rate": 10**7}) as server:
            while not (found := re.search(r"^Open (\S+) with", server.log.read_text(encoding="utf-8"), re.MULTILINE)):
                if not server.lives:
                    raise AssertionError(server.ends())
                time.sleep(0.1)
            before = server.cpu_seconds
            figures = asyncio.run(load(found[1], server.token, texts, requests, clients))
            took = server.cpu_seconds - before
            ended = server.stop()
    cost = {"cpu_ms_a_request": round(1000 * took / (requests + min(WARM, len(texts)))), "peak_mb": ended.peak_mb}
    return {"detectors": detectors.split(","), **figures, **cost}


def main() -> None:
    """Measure each kind of server in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, help="JSONL with the member `text` or `note`, or a text")
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--clients", type=int, default=8, help="simultaneous clients")
    parser.add_argument("--detectors", nargs="+", default=["rules", "rules,encoder"])
    parser.add_argument("--out", type=Path, help="the JSON file")
    asked = parser.parse_args()
    texts = list(texts_of(asked.corpus))
    measured = [measure(texts, detectors, asked.requests, asked.clients) for detectors in asked.detectors]
    characters = round(sum(map(len, texts)) / len(texts))
    machine = {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1), "python": platform.python_version()}
    whole = {"corpus": asked.corpus.name, "notes": len(texts), "characters": characters, **machine,
             "measured": measured}  # fmt: skip
    if asked.out is None:
        sys.stdout.write(json.dumps(whole) + "\n")
        return
    asked.out.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
    names = ("clients", "requests", "p50_ms", "p99_ms", "per_second", "cpu_ms_a_request", "peak_mb")
    rows = [("+".join(detectors.split(",")), *(f"{one[name]}" for name in names))
            for detectors, one in zip(asked.detectors, measured, strict=True)]  # fmt: skip
    print_table(("detectors", *(name.replace("_", " ") for name in names)), rows)


if __name__ == "__main__":
    main()
