"""Recall against the number of training documents: one run per size, with an equal budget of steps or minutes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from incognote.errors import UsageError
from incognote_training.training import config as configuration
from incognote_training.training.loop import Watch, train


def by_size(
    path: Path, folder: Path, sizes: Sequence[int], *, budget: Mapping[str, Any], watch: Watch | None = None
) -> list[tuple[int, float, float]]:
    """Train on each number of documents. This can be resumed: a finished size is not repeated.

    Args:
        budget: as for `ablate`.

    Returns:
        Documents, character recall, character precision.

    Raises:
        SettingError, UsageError: as for `train`; or the configuration names no development file.
    """
    points = []
    for size in sizes:
        done = folder / f"size-{size}" / "score.json"
        if not done.is_file():
            limits = {"run.minutes": None, "run.steps": None, "run.epochs": None, "run.evaluate_minutes": 0, **budget}
            config = configuration.read(path, {**limits, "data.total": size})
            if config.data.development is None:
                raise UsageError("data.development: a curve needs a file to score on")
            made = train(config, done.parent, watch=watch)
            done.write_text(json.dumps(made.score), encoding="utf-8")
            (done.parent / "state.pt").unlink(missing_ok=True)
        score = json.loads(done.read_text(encoding="utf-8"))
        points.append((size, float(score["recall"]), float(score["precision"])))
    return points
