"""What survives a kill: weights, optimiser, random state and the place in the data, written whole or not at all."""

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
    """How far training is: `epoch`s done, `batch`es of this one, `step`s in all, and the seconds they took."""

    epoch: int = 0
    batch: int = 0
    step: int = 0
    seconds: float = 0.0


def begin(folder: Path, config: Config) -> bool:
    """Open a folder for a run of this configuration; whether there is something to go on from.

    Raises:
        UsageError: the folder holds a run of another configuration.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / CONFIG
    if path.is_file():
        if json.loads(path.read_text(encoding="utf-8")).get("key") != config.key:
            raise UsageError(
                "this folder holds a training run of another configuration: name another folder, or delete it"
            )
    else:
        told = {"key": config.key, **config.model_dump(mode="json")}
        _replace(path, json.dumps(told, indent=1).encode())
    return (folder / STATE).is_file()


def configured(folder: Path) -> Config:
    """The configuration of a run.

    Raises:
        UsageError: the folder holds none.
    """
    try:
        told = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise UsageError("the folder holds no training run: name the one that `distill train` wrote") from None
    told.pop("key", None)
    return Config.model_validate(told)


def save(folder: Path, place: Place, parts: dict[str, Any]) -> None:
    """Write a checkpoint."""
    import torch

    path = folder / (STATE + ".new")
    torch.save({"place": asdict(place), "random": torch.get_rng_state(), **parts}, path)
    os.replace(path, folder / STATE)


def restore(folder: Path) -> tuple[Place, dict[str, Any]]:
    """The last checkpoint; the random state is set back to what it was.

    Raises:
        UsageError: there is none, or it cannot be read.
    """
    import torch

    try:
        read = torch.load(folder / STATE, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise UsageError("the folder holds no checkpoint: train first") from None
    except (RuntimeError, EOFError, OSError):
        raise UsageError("the checkpoint cannot be read: delete state.pt and train again") from None
    torch.set_rng_state(read.pop("random"))
    return Place(**read.pop("place")), read


def note(folder: Path, row: dict[str, Any]) -> None:
    """Add a row to the history: losses and scores, no text."""
    with (folder / HISTORY).open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(row) + "\n")


def history(folder: Path) -> list[dict[str, Any]]:
    """The rows of a history; those that a resumed run did again stand once, as they were last."""
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
