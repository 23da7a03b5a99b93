"""Compare two commits on the development notes, in one run: findings, held documents, and processor time.

    python benchmarks/scripts/side_by_side.py --before CHECKOUT --out docs/measured/side_by_side.json

CHECKOUT is a copy of the project at the commit to compare with. Two processes, one per checkout, take the texts
alternately in blocks. Of several rounds, the least time of a text counts. Characters are letters and digits,
type-blind. Intervals are 95% bootstrap intervals over documents, paired for differences. All texts are synthetic.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from time import process_time
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

DATA = Path(__file__).parents[2] / "tests" / "data"
CORPORA = ("notes", "dev_e", "dev_f", "dev_g", "dev_h")
WAYS = {"rules": (["rules"], 5), "encoder": (["rules", "encoder"], 1)}  # detectors and rounds
BLOCK, RESAMPLES = 40, 2_000
Array = NDArray[np.float64]


def child(detectors: list[str]) -> None:
    """De-identify each line of stdin, and write seconds and outcome. For a line that begins with D, write the spans."""
    from incognote import Deidentifier

    with Deidentifier(detectors=tuple(detectors), key="6b" * 32) as deid:
        for line in sys.stdin:
            if line.startswith("D"):
                (found,) = deid.detect([json.loads(line[1:])])
                _write([(span.start, span.end) for span in found], sys.stdout)
                continue
            clock = process_time()
            result = deid.deidentify(json.loads(line))
            seconds = process_time() - clock
            _write([seconds, result.verdict.outcome], sys.stdout)


def _write(what: Any, to: IO[str]) -> None:
    to.write(json.dumps(what) + "\n")
    to.flush()


class Checkout:
    """A process that runs one checkout."""

    def __init__(self, home: Path, detectors: list[str]) -> None:
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self._process = subprocess.Popen(  # noqa: S603 -- this file, with this interpreter
            [sys.executable, "-P", str(Path(__file__).absolute()), "--child", json.dumps(detectors)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=home,
            env={**os.environ, **one, "PYTHONPATH": f"{home.absolute()}:{home.absolute()}/languages/en"},
        )  # fmt: skip

    def ask(self, text: str, what: str = "") -> Any:
        """Seconds and outcome of one text, or with `D` the detected spans."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(what)
        _write(text, self._process.stdin)
        return json.loads(self._process.stdout.readline())


def row(document: dict[str, Any], outcome: str, spans: list[list[int]]) -> list[int]:
    """Characters found and wanted, found, and wanted, and whether the document is not released."""
    text = document["text"]
    wanted = {i for s in document["spans"] for i in range(s["start"], s["end"]) if text[i].isalnum()}
    found = {i for start, end in spans for i in range(start, end) if text[i].isalnum()}
    return [len(wanted & found), len(found), len(wanted), outcome != "release"]


def figures(before: Array, after: Array, seconds: Array) -> dict[str, Any]:
    """Each figure of both sides and their difference (for times, the ratio), with intervals."""
    n = len(before)
    weights = np.random.default_rng(15).multinomial(n, np.full(n, 1 / n), size=RESAMPLES).astype(float)
    weights = np.vstack([np.ones(n), weights])
    made: dict[str, Any] = {"n": n}
    for name, over, under in (("recall", 0, 2), ("precision", 0, 1), ("not_released", 3, None)):
        both = [
            (weights @ side[:, over]) / (weights.sum(1) if under is None else weights @ side[:, under])
            for side in (before, after)
        ]
        made[name] = {"before": _shown(both[0]), "after": _shown(both[1]), "difference": _shown(both[1] - both[0])}
    total = weights @ seconds
    made["seconds"] = {
        "before": round(float(total[0, 0]), 2), "after": round(float(total[0, 1]), 2),
        "ratio": _shown(total[:, 1] / total[:, 0]),
    }  # fmt: skip
    return made


def _shown(values: Array) -> list[float]:
    low, high = np.quantile(values[1:], (0.025, 0.975))
    return [round(float(value), 4) for value in (values[0], low, high)]


def measured(documents: list[dict[str, Any]], before: Path, detectors: list[str], rounds: int) -> dict[str, Any]:
    """The figures of one detector configuration over all documents."""
    sides = [Checkout(home, detectors) for home in (before, Path(__file__).parents[2])]
    for document in documents[:20]:
        for side in sides:
            side.ask(document["text"])
    outcomes: list[dict[int, str]] = [{}, {}]
    seconds = np.full((rounds, len(documents), 2), np.inf)
    for turn in range(rounds):
        for begin in range(0, len(documents), BLOCK):
            for which in ((0, 1), (1, 0))[(turn + begin // BLOCK) % 2]:
                for i in range(begin, min(begin + BLOCK, len(documents))):
                    seconds[turn, i, which], outcomes[which][i] = sides[which].ask(documents[i]["text"])
        sys.stderr.write(f"{' and '.join(detectors)}: round {turn + 1} of {rounds}\n")
    rows = [
        [row(document, seen[i], side.ask(document["text"], "D")) for i, document in enumerate(documents)]
        for side, seen in zip(sides, outcomes, strict=True)
    ]
    return figures(np.array(rows[0], float), np.array(rows[1], float), seconds.min(axis=0))


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--child", type=json.loads, help=argparse.SUPPRESS)
    asked.add_argument("--before", type=Path)
    asked.add_argument("--out", type=Path)
    asked.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    given = asked.parse_args()
    if given.child:
        child(given.child)
        return
    documents = [
        json.loads(line)
        for name in CORPORA
        for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    said = json.loads(given.out.read_text(encoding="utf-8")) if given.out.exists() else {}
    for way in given.ways:
        said[way] = measured(documents, given.before, *WAYS[way])
        _write({way: said[way]}, sys.stderr)
    said["corpora"] = list(CORPORA)
    said["what"] = "development notes, synthetic; policy strict; characters, type-blind; 95% bootstrap intervals"
    given.out.write_text(json.dumps(said, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
