"""Reads the instructions of docker/Dockerfile in order, so that no test duplicates them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text()


def instructions() -> list[tuple[str, str]]:
    """Each instruction's name and arguments. Continued lines are joined, and comments are omitted."""
    lines = "\n".join(line for line in DOCKERFILE.splitlines() if not line.startswith("#"))
    joined = re.sub(r"\\\n", " ", lines).splitlines()
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in joined if line.strip())]
