"""Measure which texts a router completes for which share of a language model's tokens.

    python -m incognote_benchmarks.routing [--notes FOLDER] [--test FILE ...] [--out ROUTING.json]

The router's weights are fitted on development texts. Their figures come from cross-validation: each text is scored
with weights that were fitted without it. Further texts, which were not used for fitting, are scored with the weights in
use. The benchmark also measures whether scores can be read as probabilities. docs/routing.md explains the figures. No
model is asked.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

DATA = Path("tests/data")
FITTED = ("notes.jsonl", "dev_e.jsonl", "dev_f.jsonl", "dev_g.jsonl", "dev_h.jsonl")
TESTS = ("dev_i.jsonl", "dev_long.jsonl")
REPLIES = "replies/extract-v3.jsonl"


def measure(
    data: Path = DATA, tests: Sequence[Path] | None = None, *, resamples: int = 1000, files: Sequence[str] = FITTED
) -> dict[str, Any]:
    """Run all measurements.

    Args:
        data: a folder with `files` and a plain recording of replies to `extract/v3`.
        tests: files of texts that are not used for fitting. By default, `TESTS` in the folder.
        resamples: for every bootstrap.

    Returns:
        python, counted_with, detectors (their content hashes), `fit` (see `fitting.fitted`), `sets` (by title, see
        `runs.measured`), and `reliability` (see there).

    Raises:
        UsageError: a file cannot be read.
        SettingError: there is no such recording.
    """
    from incognote.sdk import Deidentifier
    from incognote_benchmarks.reading.counting import counter
    from incognote_benchmarks.routing.curves import Outcomes
    from incognote_benchmarks.routing.fitting import fitted, out_of_fold, targets
    from incognote_benchmarks.routing.material import Reading, gold_of, questions
    from incognote_benchmarks.routing.reliability import reliability
    from incognote_benchmarks.routing.runs import measured, sets

    count = counter()
    paths = [data / name for name in TESTS] if tests is None else tests
    with Deidentifier(detectors=("rules", "encoder")) as opened:
        reading = Reading(opened, count, data / REPLIES)
        by_file = {name: reading.reads(gold_of(data / name)) for name in files}
        reads = [read for each in by_file.values() for read in each]
        others = {path.stem: reading.reads(gold_of(path)) for path in paths}
        asked = questions(data / name for name in files)
        outcomes = Outcomes(reading)
        target = targets(outcomes, reads)
        weights = {read.gold.id: each for read, each in zip(reads, out_of_fold(reads, target), strict=True)}
        corpora = {
            "dev_e (not used for calibration)": by_file["dev_e.jsonl"],
            "notes (used for calibration)": by_file["notes.jsonl"],
        }
        return {
            "python": platform.python_version(),
            "counted_with": count.name,
            "detectors": dict(opened.engine.versions),
            "fit": fitted(reads, target, resamples),
            "sets": {
                title: measured(outcomes, chosen, weights, resamples)
                for title, chosen in sets(outcomes, reads, others, asked).items()
            },
            "reliability": {"corpora": reliability(reading, corpora, resamples)},
        }
