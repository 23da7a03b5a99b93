"""The real commands as processes of their own, and what the system says of them while they run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Self

from incognote.keys import Keyring

NOTES = Path(__file__).parents[1] / "data" / "notes.jsonl"
QUICK = {"rest_seconds": 0.0, "poll_seconds": 0.2}


def spelled(number: int) -> str:
    """A number in letters, which no rule takes for anybody's."""
    return "x" + "".join("abcdefghij"[int(digit)] for digit in str(number))


@dataclass(frozen=True)
class Ended:
    """What a process took: processor seconds; the most memory it ever held, in MB (2**20 bytes)."""

    code: int
    data: dict[str, Any]
    seconds: float
    cpu_seconds: float
    peak_mb: int


class Running:
    """One command of incognote's, from its start to its end.

    Args:
        home: where its key lies, and what it says: one file for each stream.
    """

    def __init__(self, home: Path, *words: object, service: dict[str, Any] | None = None) -> None:
        home.mkdir(exist_ok=True)
        if not (home / "master.key").exists():
            Keyring.write_new(home / "master.key")
        name = f"{words[0]}-{time.monotonic_ns()}"
        self._out, self.log = home / f"{name}.out", home / f"{name}.log"
        environment = {key: value for key, value in os.environ.items() if not key.startswith("INCOGNOTE_")}
        told = {"INCOGNOTE_HOME": str(home), "INCOGNOTE_SERVICE": json.dumps(service or {})}
        self._began, self._peak = time.monotonic(), 0.0
        self._ended: Ended | None = None
        with self._out.open("wb") as out, self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "incognote", *map(str, words)],
                stdout=out, stderr=log, env={**environment, **told},
            )  # fmt: skip

    @property
    def lives(self) -> bool:
        """Whether it runs; asked again and again, it knows its peak."""
        if self._ended is not None:
            return False
        self._peak = max(self._peak, self._status("VmHWM"))
        done, status, used = os.wait4(self._process.pid, os.WNOHANG)
        if not done:
            return True
        code = self._process.returncode = os.waitstatus_to_exitcode(status)
        said = self._out.read_text(encoding="utf-8").strip()
        data = json.loads(said)["data"] if said and code in (0, 3) else {}
        self._ended = Ended(
            code, data, round(time.monotonic() - self._began, 1), round(used.ru_utime + used.ru_stime, 1),
            round(self._peak),
        )  # fmt: skip
        return False

    def ends(self) -> Ended:
        """Wait for its end; it must be a good one."""
        while self.lives:
            time.sleep(0.05)
        assert self._ended is not None
        assert self._ended.code in (0, 3), self.log.read_text(encoding="utf-8")[-2000:]
        return self._ended

    def stop(self) -> Ended:
        """Ask it to end."""
        if self.lives:
            os.kill(self._process.pid, signal.SIGTERM)
        return self.ends()

    @property
    def resident_mb(self) -> float:
        """Memory that it holds now."""
        return self._status("VmRSS")

    @property
    def descriptors(self) -> int:
        """Files and sockets that it has open."""
        return len(os.listdir(f"/proc/{self._process.pid}/fd"))

    def _status(self, name: str) -> float:
        with open(f"/proc/{self._process.pid}/status", encoding="ascii", errors="replace") as lines:
            return next((int(line.split()[1]) / 2**10 for line in lines if line.startswith(name)), 0.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.lives:  # a test failed
            os.kill(self._process.pid, signal.SIGKILL)
            while self.lives:
                time.sleep(0.01)


def worker(root: Path, ledger: str, *more: object, **service: Any) -> Running:
    """`incognote worker` on `sink` in a folder; its lab and quarantine lie there, too."""
    return Running(
        root / "home", "worker", root / "sink", "--lab", root / "lab", "--quarantine", root / "held",
        "--ledger", ledger, "--release", "soak", "--json", *more, service={**QUICK, **service},
    )  # fmt: skip


class Flat:
    """Samples of one process, and whether they rise: the first third is its warm-up."""

    def __init__(self) -> None:
        self.samples: list[tuple[float, float, int]] = []

    def take(self, one: Running) -> None:
        """One now: seconds, MB, descriptors."""
        self.samples.append((time.monotonic(), one.resident_mb, one.descriptors))

    def told(self) -> dict[str, Any]:
        """Medians of the middle and the last third, and the slope by Theil and Sen over both, in MB an hour."""
        third = len(self.samples) // 3
        middle, last = self.samples[third : 2 * third], self.samples[2 * third :]
        both = (middle + last)[:: max(1, 2 * third // 300)]
        slopes = [(b[1] - a[1]) / (b[0] - a[0]) for n, a in enumerate(both) for b in both[n + 1 :]]
        return {
            "samples": len(self.samples),
            "mb_first": round(self.samples[0][1], 1),
            "mb_middle": round(median(one[1] for one in middle), 1),
            "mb_last": round(median(one[1] for one in last), 1),
            "mb_an_hour": round(3600 * median(slopes), 2),
            "descriptors_middle": max(one[2] for one in middle),
            "descriptors_last": max(one[2] for one in last),
        }
