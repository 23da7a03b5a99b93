"""Soaks run at a tenth of full size with the other tests. `make soak` runs them fully and commits the JSON figures."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def full() -> bool:
    """Whether to run at full size."""
    return os.environ.get("INCOGNOTE_SOAK") == "full"


@pytest.fixture(scope="session")
def figures(full: bool) -> Iterator[dict[str, Any]]:
    """Collect each soak's figures and write them at the end. Figures of other soaks at the same size are kept."""
    measured: dict[str, Any] = {}
    yield measured
    target = Path(os.environ.get("INCOGNOTE_SOAK_JSON", ""))
    if target.name:
        head = {"size": "full" if full else "a tenth", "python": platform.python_version(), "cores": os.cpu_count()}
        before = json.loads(target.read_text(encoding="utf-8")) if target.exists() else {}
        if before.get("size") != head["size"]:
            before = {}
        target.parent.mkdir(parents=True, exist_ok=True)
        told = {**before, **head, **measured}
        target.write_text(json.dumps(told, indent=2, sort_keys=True) + "\n", encoding="utf-8")
