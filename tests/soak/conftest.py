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
    """What each soak measured, written at the end."""
    measured: dict[str, Any] = {}
    yield measured
    target = os.environ.get("INCOGNOTE_SOAK_JSON")
    if target:
        head = {"size": "full" if full else "a tenth", "python": platform.python_version(), "cores": os.cpu_count()}
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        Path(target).write_text(json.dumps({**head, **measured}, indent=2, sort_keys=True) + "\n", encoding="utf-8")
