"""Memory and time of large and hostile texts, before and after: the keys `memory.*` and `linear.*` of load.json.

    python benchmarks/scripts/text_load.py memory --before CHECKOUT --out docs/measured/load.json
    python benchmarks/scripts/text_load.py linear --part rules --before CHECKOUT --out docs/measured/load.json

CHECKOUT is a copy of the project at the commit to compare with. Each measurement runs in a process of its own, on one
thread, in processor time. Other keys of the file are kept. This is a benchmark, not a test: it asserts nothing.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import platform
import random
import signal
import subprocess
import sys
from itertools import cycle
from pathlib import Path
from time import process_time
from typing import Any

NOTES = "tests/data/notes.jsonl"
LIMIT = 120  # the maximum seconds for one text
DETECTORS = {"rules": ["rules"], "encoder": ["rules", "encoder"]}
PARTS = ("rules", "known", "sweep", "units", "machine")
REPEATED = {
    "General Hospital": "General Hospital ", "St. Mary's Hospital of": "St. Mary's Hospital of ",
    "University of": "University of ", "Dr. glued": "Dr. Dr. Dr.", "one letter, combining marks": "\u0301",
    "letters with a combining mark": "a\u0301", "letters with three marks": "e\u0301\u0302\u0303",
    "zero-width spaces": "\u200b", "letters and zero-width spaces": "a\u200b", "soft hyphens": "a\u00ad",
    "open brackets": "(", "digits": "7", "slashes": "/", "hyphens": "-", "underscores": "_", "commas": ",",
    "capitals": "A", "one word": "x", "digits and slashes": "1/", "digits and points": "1.", "A B": "A B ",
    "A1": "A1", "MRN:": "MRN: ", "John Smith": "John Smith ", "John Smith, by lines": "John Smith\n",
    "J.": "J. ", "nested quotes": "\"'", "cells": "a|b|", "unknown words": "Brzkowicz ", "dates": "03/16/2025 ",
    "phones": "617-555-1234 ", "streets": "12 Main Street ", "chat": "Ann: hi\n", "endings of lines": "ab-\n",
    "no white space": "Seen-by-Dr.Smith/at/General,Hospital;", "one line of words": "the patient was seen ",
    "entities": "&#52;", "emoji": "\U0001f600", "Chinese": "王",
}  # fmt: skip
_GIVEN = "James Mary Robert Patricia John Jennifer Michael Linda David Elizabeth".split()
_FAMILY = "Smith Johnson Williams Brown Jones Garcia Miller Davis Rodriguez Long Hill King Lee Young Baker".split()


def prose(path: str, size: int) -> str:
    """The texts of a JSONL file, repeated and cut to a size in characters."""
    rows = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    made: list[str] = []
    left = size
    for text in cycle(row["text"] if "text" in row else row["note"] for row in rows):
        made.append(text)
        left -= len(text) + 2
        if left <= 0:
            return "\n\n".join(made)[:size]
    raise SystemExit("no text to measure on")


def hostile(name: str, size: int) -> str:
    """One of the texts of `linear`, with a size in characters."""
    if name == "prose":
        return prose(NOTES, size)
    if name == "base64 wall":
        return base64.b64encode(random.Random(7).randbytes(size)).decode()[:size]  # noqa: S311 -- not for secrets
    made = (REPEATED[name] * (size // len(REPEATED[name]) + 1))[:size]
    return "a" + made[1:] if name == "one letter, combining marks" else made


def held(path: str, detectors: list[str], megabytes: float) -> dict[str, Any]:
    """The additional memory at the peak while one note is de-identified (Linux)."""
    from incognote import Deidentifier

    deid = Deidentifier(detectors=tuple(detectors), key="6b" * 32, max_characters=10**8)
    deid.deidentify(prose(path, 105_000))  # load all tables
    content = prose(path, int(megabytes * 1e6))
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # reset the peak
    clock = process_time()
    result = deid.deidentify(content)
    seconds = process_time() - clock
    size = len(content.encode())
    peak = _status("VmHWM")
    return {
        "bytes_of_note": size,
        "peak_mb": round((peak - before) / 2**20, 1),
        "bytes_a_byte": round((peak - before) / size, 1),
        "seconds": round(seconds, 1),
        "replaced": len(result.replacements),
    }


def _status(key: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{key}:"))


def taken(part: str, names: list[str], size: int) -> dict[str, Any]:
    """Seconds of processor time for each text, at a size and at twice the size; None for more than LIMIT."""
    work = _work(part)
    work(hostile("prose", 105_000))
    signal.signal(signal.SIGALRM, _late)
    return {name: [_seconds(work, hostile(name, n)) for n in (size, 2 * size)] for name in names}


def _late(*_: object) -> None:
    raise TimeoutError


def _seconds(work: Any, text: str) -> float | None:
    least = None
    for _ in range(2):  # the faster of two, because other work only adds time
        signal.alarm(LIMIT)
        clock = process_time()
        try:
            spent = work(text)
            spent = process_time() - clock if spent is None else spent
        except Exception as late:  # the pipeline turns the alarm into a verdict of its own
            if not isinstance(late, TimeoutError):
                raise
            return None
        finally:
            signal.alarm(0)
        if process_time() - clock > LIMIT - 1:
            return None
        least = spent if least is None else min(least, spent)
    return None if least is None else round(least, 3)


def _work(part: str) -> Any:
    """The timed function. It takes a text and returns the seconds to count, or None for all of them."""
    from incognote.agents.engine import Engine
    from incognote.detectors.known import KnownDetector
    from incognote.nouns import Known, Text
    from incognote.sdk import Deidentifier
    from incognote.settings import Settings

    if part == "machine":
        deid = Deidentifier(detectors=("rules",), key="6b" * 32)
        return lambda text: deid.deidentify(text) and None
    if part == "known":
        people = [
            Known(type_, value)
            for i in range(250)
            for type_, value in (
                ("PATIENT", f"{_GIVEN[i % 10]} {_FAMILY[i * 7 % 15]}{'x' * (i % 3)}"),
                ("MEDICAL_RECORD_NUMBER", str(4_000_000 + i * 7_919)),
                ("TELEPHONE_NUMBER", f"617-555-{1000 + i}"),
                ("BIRTH_DATE_TIME", f"19{30 + i % 60}-0{1 + i % 9}-1{i % 9}"),
            )
        ]
        known = KnownDetector(people)

        def seek(text: str) -> None:
            known.detect([Text(text)])
            known.leaks(text)

        return seek
    if part == "units":
        from incognote.detectors.encoder.bundle import load
        from incognote.detectors.encoder.units import Pieces

        bundle = load(None)
        pieces = Pieces(bundle.folder / "tokenizer.json", medical=bundle.medical)
        return lambda text: pieces(text) and None
    tools = Engine(Settings.load(policy="strict", detectors=("rules",)))
    if part == "rules":
        return lambda text: tools.detection.detect([Text(text)]) and None

    def settle(text: str) -> float:
        source = Text(text)
        raw = tools.detection.detect([source])[0]
        clock = process_time()
        tools.detection.settle(source, raw, tools.policy)
        return process_time() - clock

    return settle


def _child(checkout: Path | None, *asked: Any) -> dict[str, Any]:
    home = Path.cwd() if checkout is None else checkout.resolve()
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(  # noqa: S603 -- this file, with this interpreter
        [sys.executable, "-P", __file__, "--child", json.dumps(asked)],
        stdout=subprocess.PIPE, text=True, check=True,
        env={**os.environ, **one, "PYTHONPATH": f"{home}:{home}/languages/en"},
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _memory(given: argparse.Namespace) -> dict[str, Any]:
    rows: dict[str, Any] = {}
    for size in given.megabytes:
        both = {
            when: _child(home, "held", given.file, DETECTORS[given.detectors], size)
            for when, home in (("before", given.before), ("after", None))
            if when == "after" or home is not None
        }
        name = f"memory.{given.name}.{given.detectors}.{size:g}_mb"
        words = "rules and encoder" if given.detectors == "encoder" else "rules"
        rows[name] = {
            "what": f"One note of {size:g} million characters made of {given.name}; detectors: {words}.",
            **both,
        }
    return rows


def _linear(given: argparse.Namespace) -> dict[str, Any]:
    names = given.only or [*REPEATED, "base64 wall"]
    homes = {"before": given.before, "after": None}
    found = {
        when: _child(home, "taken", given.part, ["prose", *names], given.size)
        for when, home in homes.items()
        if when == "after" or home is not None
    }
    rows: dict[str, Any] = {}
    for name in ["prose", *names]:
        row: dict[str, Any] = {"what": f"{given.part}: {name}, {given.size} characters and twice as many; seconds."}
        for when, seconds in found.items():
            once, twice = seconds[name]
            base = seconds["prose"][1]
            row[when] = {
                "seconds": [once, twice],
                "ratio": round(twice / once, 2) if twice and once else None,
                "of_prose": round(twice / base, 2) if twice and base else None,
            }
        rows[f"linear.{given.part}.{name}"] = row
    return rows


def main() -> None:
    """Measure, print, and write."""
    if sys.argv[1:2] == ["--child"]:
        what, *asked = json.loads(sys.argv[2])
        print(json.dumps({"held": held, "taken": taken}[what](*asked)))  # noqa: T201 -- the parent reads it
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("memory", "linear"))
    parser.add_argument("--before", type=Path, help="a checkout to compare with")
    parser.add_argument("--out", type=Path, help="the file whose keys are set")
    parser.add_argument("--file", default=NOTES, help="memory: JSONL whose texts are joined")
    parser.add_argument("--name", default="notes", help="memory: the file's name in the keys")
    parser.add_argument("--detectors", choices=tuple(DETECTORS), default="rules")
    parser.add_argument("--megabytes", type=float, nargs="+", default=[1, 2, 5, 10])
    parser.add_argument("--part", choices=PARTS, default="rules", help="linear: the part to time")
    parser.add_argument("--size", type=int, default=100_000, help="linear: characters of the shorter text")
    parser.add_argument("--only", nargs="+", help="linear: only these texts")
    given = parser.parse_args()
    rows = (_memory if given.what == "memory" else _linear)(given)
    machine = {"python": platform.python_version(), "cores": os.cpu_count()}
    for name, row in rows.items():
        print(name, {key: value for key, value in row.items() if key != "what"})  # noqa: T201 -- a script's output
        row.update(machine)
    if given.out is not None:
        kept = json.loads(given.out.read_text(encoding="utf-8")) if given.out.exists() else {}
        given.out.write_text(json.dumps({**kept, **rows}, indent=2, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
