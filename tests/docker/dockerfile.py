"""Reads docker/Dockerfile: its instructions in order, so that no test repeats them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text()


def instructions() -> list[tuple[str, str]]:
    """The name and the rest of each instruction; continued lines are joined, comments left out."""
    lines = "\n".join(line for line in DOCKERFILE.splitlines() if not line.startswith("#"))
    joined = re.sub(r"\\\n", " ", lines).splitlines()
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in joined if line.strip())]
