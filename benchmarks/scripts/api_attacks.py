"""Measure the effect of attacks on `incognote serve` over the loopback: seconds, memory, and whether /livez responds.

    python benchmarks/scripts/api_attacks.py --as after --out docs/measured/load.json
    python benchmarks/scripts/api_attacks.py --as before --tree CHECKOUT --out docs/measured/load.json

Each attack gets a server of its own, with the rules alone. All loops are bounded. The keys in the JSON begin with
`api.`. Other keys in the file are kept.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx

from incognote_benchmarks.processes import Running

PATIENCE = 60.0
TEXT = "Seen by the nurse in zip 02139 today."
HALF_OPEN, TRIES = 300, 20
Told = dict[str, Any]


def recognizer(**words: Any) -> Told:
    """A request for /analyze with one ad hoc recognizer."""
    return {"text": TEXT, "language": "en", "ad_hoc_recognizers": [{"supported_entity": "X", **words}]}


def pattern(regex: str) -> Told:
    return recognizer(patterns=[{"regex": regex, "score": 1}])


def asked(client: httpx.Client, bodies: Iterator[Told] | list[Told]) -> Told:
    """Statuses and seconds of several analyses, one after the other."""
    statuses: Counter[str] = Counter()
    began = time.monotonic()
    for body in bodies:
        try:
            statuses[str(client.post("/analyze", json=body).status_code)] += 1
        except httpx.HTTPError as error:
            statuses[type(error).__name__] += 1
    return {"statuses": dict(statuses), "seconds": round(time.monotonic() - began, 2)}


def leading_zeros(client: httpx.Client, port: int, key: str) -> Told:
    """One pattern of 32 characters; it repeats four million times."""
    return asked(client, [pattern("x{00000000000000000000004000000}")])


def patterns_that_stay(client: httpx.Client, port: int, key: str) -> Told:
    """Twenty patterns, each within the bound."""
    return asked(client, [pattern(f"{chr(97 + n)}{{40000}}") for n in range(20)])


def deny_list(client: httpx.Client, port: int, key: str) -> Told:
    """10,000 entries of 100 characters."""
    return asked(client, [recognizer(deny_list=[f"w{n} " + "x" * 94 for n in range(10_000)])])


def short_deny_list(client: httpx.Client, port: int, key: str) -> Told:
    """10,000 entries of 20 characters at most: within the budget."""
    return asked(client, [recognizer(deny_list=[f"word {n} of a list" for n in range(10_000)])])


def half_open(client: httpx.Client, port: int, key: str) -> Told:
    """300 connections that begin a request and say no more."""
    return held(client, port, b"GET /v1/types HTTP/1.1\r\nHost: ")


def dripping(client: httpx.Client, port: int, key: str) -> Told:
    """300 requests with a valid key whose bodies do not come."""
    head = f"POST /v1/deidentify HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {key}\r\n"
    return held(client, port, f"{head}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{{".encode())


def held(client: httpx.Client, port: int, begun: bytes) -> Told:
    """The answers of /livez meanwhile, each on a connection of its own."""
    with ExitStack() as stack:
        for _ in range(HALF_OPEN):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))
            one.sendall(begun)
        statuses: Counter[str] = Counter()
        seconds = []
        for _ in range(TRIES):
            began = time.monotonic()
            try:
                statuses[str(httpx.get(f"http://127.0.0.1:{port}/livez", timeout=10).status_code)] += 1
            except httpx.HTTPError as error:
                statuses[type(error).__name__] += 1
            seconds.append(time.monotonic() - began)
    return {"livez": dict(statuses), "livez_slowest_ms": round(1000 * max(seconds), 1)}


def default_nginx(client: httpx.Client, port: int, key: str) -> Told:
    """A stranger through `proxy_pass`, byte for byte, to a server without keys."""
    told: Told = {}
    for path in ("/v1/me", "/v1/review", "/v1/gold"):
        head = f"GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as one:
            one.sendall(head.encode())
            answer = b"".join(iter(lambda one=one: one.recv(65536), b"")).decode()  # type: ignore[misc]  # a default in a lambda
        told[path] = int(answer.split()[1])
        if path == "/v1/me":
            told["roles"] = json.loads(answer.partition("\r\n\r\n")[2])["roles"]
    return told


def nothing(client: httpx.Client, port: int, key: str) -> Told:
    """One ordinary analysis: what the memory of the others is compared with."""
    return asked(client, [pattern(r"\b\d{5}\b")])


ATTACKS: dict[str, Callable[[httpx.Client, int, str], Told]] = {
    "api.none": nothing,
    "api.pattern.leading_zeros": leading_zeros,
    "api.pattern.twenty_within_the_bound": patterns_that_stay,
    "api.deny_list.1_million_characters": deny_list,
    "api.deny_list.10000_short_entries": short_deny_list,
    "api.connections.300_half_open": half_open,
    "api.connections.300_dripping_bodies": dripping,
    "api.keyless.default_nginx": default_nginx,
}


@contextmanager
def serving(home: Path) -> Iterator[tuple[Running, int]]:
    """Run a server on a free port."""
    with Running(home, "serve", "--port", 0, "--detectors", "rules", service={"api_rate": 10**7}) as server:
        while not (found := re.search(r"^Open \S+:(\d+) with", server.log.read_text(encoding="utf-8"), re.MULTILINE)):
            if not server.lives:
                raise AssertionError(server.ends())
            time.sleep(0.1)
        time.sleep(1)  # older versions say so before they listen
        yield server, int(found[1])


def new_key(home: Path) -> str:
    """Make an API key for the server."""
    done = subprocess.run(
        [sys.executable, "-m", "incognote", "key", "api", "new", "attacker", "--role", "submit", "--json"],
        env={**os.environ, "INCOGNOTE_HOME": str(home)}, capture_output=True, check=True, text=True,
    )  # fmt: skip
    key: str = json.loads(done.stdout)["data"]["key"]
    return key


def measure(name: str, attack: Callable[[httpx.Client, int, str], Told]) -> Told:
    """Run one attack on one server."""
    with tempfile.TemporaryDirectory(prefix="incognote-attack-") as folder:
        home = Path(folder)
        with serving(home) as (server, port):
            key = "" if name.startswith("api.keyless") else new_key(home)
            headers = {"Authorization": f"Bearer {key}"}
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=PATIENCE) as client:
                told = attack(client, port, key)
            return {**told, "peak_mb": server.stop().peak_mb}


def main() -> None:
    """Run every attack in turn, and add the results to the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--as", dest="when", choices=("before", "after"), required=True)
    parser.add_argument("--tree", type=Path, default=Path.cwd(), help="the checkout whose server is attacked")
    parser.add_argument("--only", nargs="+", choices=tuple(ATTACKS), default=list(ATTACKS))
    parser.add_argument("--out", type=Path, required=True, help="the JSON file to add to")
    words = parser.parse_args()
    out: Path = words.out.resolve()
    os.chdir(words.tree)  # `python -m` looks here first
    os.environ["PYTHONPATH"] = f"{words.tree}:{words.tree}/languages/en"
    for name in words.only:
        told = measure(name, ATTACKS[name])
        whole = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
        own = whole.setdefault(name, {"what": (ATTACKS[name].__doc__ or "").splitlines()[0]})
        own[words.when] = {**told, "cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1),
                           "python": platform.python_version()}  # fmt: skip
        out.write_text(json.dumps(whole, indent=2, sort_keys=True) + "\n", encoding="utf-8")
        sys.stdout.write(f"{words.when} {name} {json.dumps(told)}\n")


if __name__ == "__main__":
    main()
