"""Measure how much of a language model's recall is kept if only doubtful chunks are sent to it, and the tokens used.

    python -m incognote_benchmarks.routing [--notes FOLDER] [--out ROUTING.json]

The router's constants are fitted on texts without a recorded reply, for which a scripted model answers from the gold.
They are measured on texts with recorded replies, which are replayed. The benchmark also measures whether scores can be
read as probabilities. docs/routing.md explains the figures. It asserts nothing, and no model is asked.
"""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

DATA = Path("tests/data")
FILES = ("notes.jsonl", "dev_e.jsonl")
REPLIES = "replies/extract-{}.jsonl"


def measure(data: Path = DATA, *, resamples: int = 1000) -> dict[str, Any]:
    """Run all measurements.

    Args:
        data: a folder with the files of `FILES` and, under `replies`, plain recordings of both prompts.
        resamples: for every bootstrap.

    Returns:
        python, counted_with, bar, detectors (their content hashes), default (the threshold in use), `choosing` (fitted
        weights and those in use, and the threshold chosen by the rule of `fitting`), `halves` and `runs` (see
        `runs.Runs`), and `reliability` (see there).

    Raises:
        UsageError: a file cannot be read, or there is no reply to any of its texts.
        SettingError: there is no such recording.
    """
    from incognote.errors import UsageError
    from incognote.extraction.routing import WORTH
    from incognote.schemas.choices import ModelTerms
    from incognote.sdk import Deidentifier
    from incognote_benchmarks.reading.counting import counter
    from incognote_benchmarks.routing.curves import Curve
    from incognote_benchmarks.routing.fitting import BAR, SHARE, fitted, threshold
    from incognote_benchmarks.routing.material import Reading, gold_of
    from incognote_benchmarks.routing.reliability import reliability
    from incognote_benchmarks.routing.runs import Runs

    count, default = counter(), ModelTerms().missed
    notes, others = (gold_of(data / name) for name in FILES)
    with Deidentifier(detectors=("rules", "encoder")) as opened:
        reading = Reading(opened, count)
        answered = reading.recorded(notes, data / REPLIES.format("v2"))
        if not answered:
            raise UsageError("no note has a recorded reply to every request. Record some (tests/data/replies/make.py)")
        known = {read.gold.id for read in answered}
        scripted = reading.scripted([gold for gold in (*notes, *others) if gold.id not in known])
        twice = [read for read in answered if read.passes == 2]
        again = {read.gold.id for read in twice}
        once = reading.recorded([gold for gold in notes if gold.id in again], data / REPLIES.format("v2"), (1,))
        corpora = {"dev_e (not used for calibration)": others, "notes (used for calibration)": notes}
        of_others = {gold.id for gold in others}

        bearing = [read for read in scripted if read.gold.labels]
        runs = Runs(reading, default, resamples)
        measured = {
            "recorded": runs.swept("recorded replies", answered),
            "recorded_twice": runs.run("recorded replies, two passes", twice),
            "recorded_v1": runs.run("recorded replies, prompt 1", reading.recorded(notes, data / REPLIES.format("v1"))),
            "recorded_once_of_twice": runs.run("one pass over sent chunks, in a run of two passes", once, twice),
            "scripted": runs.swept("scripted replies", scripted),
            "scripted_dev_e": runs.swept("scripted replies, dev_e", [r for r in scripted if r.gold.id in of_others]),
        }
        return {
            "python": platform.python_version(),
            "counted_with": count.name,
            "bar": BAR,
            "detectors": dict(opened.engine.versions),
            "default": default,
            "choosing": {
                "weights": fitted(reading, scripted, resamples),
                "in_force": dict(WORTH),
                "share": SHARE,
                "threshold": threshold(Curve(reading, bearing)),
                "threshold_over_all_texts": threshold(Curve(reading, scripted)),
            },
            "halves": list(runs.halves(answered)),
            "runs": measured,
            "reliability": {"corpora": reliability(reading, corpora, resamples)},
        }
