"""Helpers for soaks of whole commands: the worker command, notes to feed it, and a check for rising memory."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median
from typing import Any

from incognote_benchmarks.processes import Running

NOTES = Path(__file__).parents[1] / "data" / "notes.jsonl"
QUICK = {"rest_seconds": 0.0, "poll_seconds": 0.2}


def spelled(number: int) -> str:
    """A number spelled in letters, which no rule takes for an identifier."""
    return "x" + "".join("abcdefghij"[int(digit)] for digit in str(number))


def worker(root: Path, ledger: str, *more: object, **service: Any) -> Running:
    """`incognote worker` on `source` in a folder that also contains its destination and quarantine."""
    return Running(
        root / "home", "worker", root / "source", "--destination", root / "destination", "--quarantine", root / "held",
        "--ledger", ledger, "--release", "soak", "--json", *more, service={**QUICK, **service},
    )  # fmt: skip


class Flat:
    """Samples of one process and whether they rise. The first third is its warm-up."""

    def __init__(self) -> None:
        self.samples: list[tuple[float, float, int, int]] = []

    def take(self, one: Running) -> None:
        """Take a sample now: seconds, MB, files, sockets."""
        self.samples.append((time.monotonic(), one.resident_mb, *one.descriptors))

    def told(self) -> dict[str, Any]:
        """Medians of the middle and the last third, and the Theil-Sen slope over both, in MB per hour.

        For files and sockets: the maximum, which depends on what happens to be open when sampled, and the minimum,
        which a single leak already raises.
        """
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
            "files_middle": max(one[2] for one in middle),
            "files_last": max(one[2] for one in last),
            "files_kept_middle": min(one[2] for one in middle),
            "files_kept_last": min(one[2] for one in last),
            "sockets_kept_middle": min(one[3] for one in middle),
            "sockets_kept_last": min(one[3] for one in last),
        }
