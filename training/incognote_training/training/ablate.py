"""Train with each idea turned off in turn, with equal budgets and several seeds.

Each variant is compared with the whole by McNemar's test, with Bonferroni. An ablation can be resumed: a finished run
stores its findings and is not repeated.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from incognote.errors import SettingError, UsageError
from incognote.evaluation.corpus import CorpusProblem, pairs
from incognote.evaluation.counts import Scheme
from incognote.evaluation.metrics.paired import McNemar, bonferroni, mcnemar
from incognote.evaluation.metrics.redactor import hits
from incognote_training.training import config as configuration
from incognote_training.training.judge import plain, ratios
from incognote_training.training.loop import pieces_of, train

Watch = Callable[[str, float, dict[str, float]], None]
WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class Row:
    """One variant over all seeds.

    Attributes:
        recall, precision: per seed, by character, type-blind.
        steps: per seed.
        test: whether the whole and this variant found each gold span, over all seeds; None for the whole.
        adjusted: its p times the number of variants compared.
    """

    name: str
    recall: tuple[float, ...]
    precision: tuple[float, ...]
    steps: tuple[int, ...]
    test: McNemar | None
    adjusted: float | None


def variants(names: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """The shipped variants, or the named ones. The whole is always the first.

    Raises:
        SettingError: there is no variant with a given name.
    """
    table = tomllib.loads(files("incognote_training.training").joinpath("ablations.toml").read_text(encoding="utf-8"))
    unknown = sorted(set(names) - set(table))
    if unknown:
        raise SettingError(f"there is no variant {unknown[0]!r}. Choose from: {', '.join(table)}")
    return {name: table[name] for name in table if name == WHOLE or not names or name in names}


def ablate(
    path: Path,
    folder: Path,
    *,
    names: Sequence[str] = (),
    seeds: Sequence[int] = (0, 1, 2),
    budget: Mapping[str, Any],
    watch: Watch | None = None,
) -> list[Row]:
    """Train and score every variant with every seed.

    Args:
        path: the configuration of the whole; variants are scored on its development file.
        folder: for the runs and their findings.
        names: of variants; all if empty.
        budget: `run.minutes`, `run.steps` or `run.epochs`, the same for every run; it replaces the file's.

    Raises:
        SettingError, UsageError: as for `train`; or the configuration names no development file.
    """
    chosen = variants(names)
    limits = {"run.minutes": None, "run.steps": None, "run.epochs": None, "run.evaluate_minutes": 0, **budget}
    found: dict[str, list[Path]] = {}
    for name, changes in chosen.items():
        for seed in seeds:
            changed = configuration.read(path, {**limits, **changes, "run.seed": seed})
            found.setdefault(name, []).append(_run(changed, folder / f"{name}-{seed}", name, watch))
    return _table(found)


def _run(config: configuration.Config, folder: Path, name: str, watch: Watch | None) -> Path:
    done = folder / "findings.json"
    if done.is_file():
        return done
    if config.data.development is None:
        raise UsageError("data.development: an ablation needs a file to score on")
    quiet = config.model_copy(update={"data": config.data.model_copy(update={"development": None})})
    made = train(
        quiet, folder, watch=None if watch is None else lambda s, share, told: watch(f"{name}: {s}", share, told)
    )
    seen = [
        pair
        for pair in pairs(config.data.development, detect=plain(made.student, config, pieces_of(config)))
        if not isinstance(pair, CorpusProblem)
    ]
    scheme = Scheme.of(seen)
    recall, precision = ratios(seen)
    scored = {
        "recall": recall, "precision": precision, "steps": made.steps, "seconds": made.seconds, "bf16": made.bf16,
        "hits": [hit for pair in seen for hit in hits(pair, scheme)],
    }  # fmt: skip
    new = done.with_suffix(".new")
    new.write_text(json.dumps(scored), encoding="utf-8")
    new.replace(done)
    (folder / "state.pt").unlink(missing_ok=True)
    return done


def _table(found: Mapping[str, Sequence[Path]]) -> list[Row]:
    read = {name: [json.loads(path.read_text(encoding="utf-8")) for path in paths] for name, paths in found.items()}
    whole = [hit for run in read[WHOLE] for hit in run["hits"]]
    rows = []
    for name, runs in read.items():
        test = None if name == WHOLE else mcnemar(whole, [hit for run in runs for hit in run["hits"]])
        rows.append(
            Row(
                name,
                tuple(run["recall"] for run in runs),
                tuple(run["precision"] for run in runs),
                tuple(run["steps"] for run in runs),
                test,
                None if test is None else bonferroni(test.p, len(read) - 1),
            )
        )
    return rows


def as_dicts(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the rows as JSON-serializable dicts."""
    return [asdict(row) for row in rows]
