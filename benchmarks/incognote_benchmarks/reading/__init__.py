"""Measure the cost of reading with a language model: tokens, composite requests, schedule, processor time, passes.

    python -m incognote_benchmarks.reading [--notes NOTES.jsonl] [--out READING.json] [--small]

All replies are scripted from the notes' gold. So this measures the cost of the way to a model and back, and says
nothing about how well a model finds anything. This is a benchmark, not a test: it asserts nothing.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

NOTES = Path("tests/data/notes.jsonl")


def measure(path: Path = NOTES, *, synthetic: bool | None = None, small: bool = False) -> dict[str, Any]:
    """Run all measurements.

    Args:
        path: annotated texts, as `incognote.evaluation.corpus` describes them, some of them without annotations.
        synthetic: whether they are made up; None if that is not stated.
        small: use a sixth of the notes and short waits, to check that it works.

    Returns:
        The environment (python, machine, cores, corpus), and the figures of `tokens`, `composites`, `schedule`, `cpu`,
        `passes` and `by_need`, as their modules describe them.

    Raises:
        UsageError: the notes cannot be read or are not suitable.
    """
    from incognote.schemas.policy import load_policy
    from incognote_benchmarks.reading.composites import SIZES, composites
    from incognote_benchmarks.reading.counting import counter
    from incognote_benchmarks.reading.cpu import cpu
    from incognote_benchmarks.reading.material import Note, light_texts, notes, one_chunk
    from incognote_benchmarks.reading.passes import AT_MOST, by_need, passes
    from incognote_benchmarks.reading.schedule import RUNS, Run, schedule
    from incognote_benchmarks.reading.tokens import tokens

    policy, count = load_policy("strict"), counter()
    every = notes(path, policy)
    material: Sequence[Note] = every[::6] if small else every
    single = one_chunk(material)
    runs = [Run(run.detectors, 0.02, run.http) for run in RUNS[:3]] if small else RUNS
    return {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "corpus": {
            "file": path.name,
            "synthetic": synthetic,
            "notes": len(material),
            "with_phi": sum(bool(note.gold) for note in material),
            "identifiers": sum(len(note.gold) for note in material),
        },
        "tokens": tokens(material, policy, count),
        "composites": composites(light_texts(material), count, *((SIZES[:1], 2) if small else ())),
        "passes": passes(material, policy),
        "by_need": by_need(material, *(((AT_MOST,),) if small else ())),
        "cpu": cpu(single, 1 if small else 3),
        "schedule": schedule(single, 8, runs, 1) if small else schedule(single, 320, runs, 2),
    }
