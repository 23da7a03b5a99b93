"""DataFog with the engine of its bare package, which uses patterns. Its NLP engines are extras and download models."""

from __future__ import annotations

import importlib
import importlib.metadata
from typing import Any


class DataFog:
    """`scan(engine="regex")`."""

    def __init__(self) -> None:
        engine: Any = importlib.import_module("datafog.engine")
        self._scan = engine.scan
        self.version = importlib.metadata.version("datafog")
        self.about = 'engine "regex", which is the default and does not detect names'

    def detect(self, texts: list[str]) -> list[list[tuple[int, int, str]]]:
        """Return spans per text."""
        return [[(e.start, e.end, e.type) for e in self._scan(text, engine="regex").entities] for text in texts]


def load(settings: dict[str, str]) -> DataFog:
    """See `serve.py`."""
    return DataFog()
