"""Checkpoints: weights, optimizer, random state, and the place in the data, written completely or not at all."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from incognote.errors import UsageError
from incognote_training.training.config import Config

STATE, CONFIG, HISTORY = "state.pt", "config.json", "history.jsonl"


@dataclass(slots=True)
class Place:
    """Training progress: `epoch`s done, `batch`es of the current one, `step`s in all, and the seconds they took."""

    epoch: int = 0
    batch: int = 0
    step: int = 0
    seconds: float = 0.0


def begin(folder: Path, config: Config) -> bool:
    """Open a folder for a run with this configuration. Returns True if there is a checkpoint to resume from.

    Raises:
        UsageError: the folder holds a run with another configuration.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / CONFIG
    if path.is_file():
        if json.loads(path.read_text(encoding="utf-8")).get("key") != config.key:
            raise UsageError(
                "this folder holds a training run with another configuration. Name another folder, or delete it"
            )
    else:
        content = {"key": config.key, **config.model_dump(mode="json")}
        _replace(path, json.dumps(content, indent=1).encode())
    return (folder / STATE).is_file()


def configured(folder: Path) -> Config:
    """Read the configuration of a run.

    Raises:
        UsageError: the folder has none.
    """
    try:
        content = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise UsageError("the folder holds no training run. Name the one that `distill train` wrote") from None
    content.pop("key", None)
    return Config.model_validate(content)


def save(folder: Path, place: Place, parts: dict[str, Any]) -> None:
    """Write a checkpoint."""
    import torch

    path = folder / (STATE + ".new")
    torch.save({"place": asdict(place), "random": torch.get_rng_state(), **parts}, path)
    os.replace(path, folder / STATE)


def restore(folder: Path) -> tuple[Place, dict[str, Any]]:
    """Read the last checkpoint and restore its random state.

    Raises:
        UsageError: there is none, or it cannot be read.
    """
    import torch

    try:
        read = torch.load(folder / STATE, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise UsageError("the folder holds no checkpoint. Train first") from None
    except (RuntimeError, EOFError, OSError):
        raise UsageError("the checkpoint cannot be read. Delete state.pt and train again") from None
    torch.set_rng_state(read.pop("random"))
    return Place(**read.pop("place")), read


def note(folder: Path, row: dict[str, Any]) -> None:
    """Add a row to the history: losses and scores, but no text."""
    with (folder / HISTORY).open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(row) + "\n")


def history(folder: Path) -> list[dict[str, Any]]:
    """The rows of a history. If a resumed run repeated a row, only the last one is kept."""
    path = folder / HISTORY
    if not path.is_file():
        return []
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        rows[row["kind"], row["step"]] = row
    return sorted(rows.values(), key=lambda row: int(row["step"]))


def _replace(path: Path, data: bytes) -> None:
    new = path.with_name(path.name + ".new")
    new.write_bytes(data)
    os.replace(new, path)
