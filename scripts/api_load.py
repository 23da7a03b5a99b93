"""How long `incognote serve` takes to answer over the loopback, under so many clients at once.

python scripts/api_load.py CORPUS.jsonl --requests 1000 --clients 8      # prints one line of JSON
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import httpx


async def load(url: str, texts: list[str], requests: int, clients: int) -> dict[str, object]:
    """Ask for `requests` de-identifications, `clients` of them at a time."""
    seconds: list[float] = []
    verdicts: Counter[str] = Counter()
    left = iter(range(requests))
    limits = httpx.Limits(max_connections=clients)
    async with httpx.AsyncClient(base_url=url, limits=limits, timeout=120) as client:
        for text in texts[:20]:
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


def main() -> None:
    """Start a server on a home of its own, ask it, end it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--clients", type=int, default=8)
    asked = parser.parse_args()
    texts = [json.loads(line)["text"] for line in asked.corpus.read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as home:
        service = json.dumps({"api_rate": 10**7})
        environment = {**os.environ, "INCOGNOTE_HOME": home, "INCOGNOTE_SERVICE": service}
        command = [sys.executable, "-m", "incognote", "serve", "--port", "0"]
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as server:  # noqa: S603 -- our own
            assert server.stderr is not None
            found = next(filter(None, (re.search(r"serves on (\S+)", line) for line in server.stderr)))
            told = asyncio.run(load(found[1], texts, asked.requests, asked.clients))
            server.terminate()
    characters = round(sum(map(len, texts)) / len(texts))
    machine = {"cores": os.cpu_count(), "load": os.getloadavg()[0], "python": platform.python_version()}
    print(  # noqa: T201 -- what it is for
        json.dumps({"corpus": asked.corpus.name, "notes": len(texts), "characters": characters, **told, **machine})
    )


if __name__ == "__main__":
    main()
