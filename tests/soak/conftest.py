"""Soaks run at a tenth with the other tests; `make soak` runs them at full size and commits their figures as JSON."""

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
    """Whether this is the full size."""
    return os.environ.get("INCOGNOTE_SOAK") == "full"


@pytest.fixture(scope="session")
def figures(full: bool) -> Iterator[dict[str, Any]]:
    """What each soak measured, written at the end; what others measured at the same size stays."""
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
