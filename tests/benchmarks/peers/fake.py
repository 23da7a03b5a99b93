"""A test peer for the worker process: it finds capital letters, prints its input, and fails on request."""

from __future__ import annotations

import re
import sys


class Fake:
    version, about = "7", "capitals"

    def __init__(self, settings: dict[str, str]) -> None:
        self._settings = settings

    def detect(self, texts: list[str]) -> list[list[tuple[int, int, str]]]:
        print(texts)
        if any("fail" in text for text in texts):
            raise RuntimeError(texts)
        if any("die" in text for text in texts):
            sys.exit(3)
        assert "incognote" not in sys.modules
        return [[(m.start(), m.end(), "US_SSN") for m in re.finditer("[A-Z]+", text)] for text in texts]


def load(settings: dict[str, str]) -> Fake:
    if "model" in settings:
        raise LookupError("no model")
    return Fake(settings)
