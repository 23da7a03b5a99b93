"""scrubadub with its default detectors."""

from __future__ import annotations

import importlib
from typing import Any


class Scrubadub:
    """The default scrubber, locale en_US."""

    def __init__(self) -> None:
        package: Any = importlib.import_module("scrubadub")
        self._scrubber = package.Scrubber(locale="en_US")
        self.version = str(package.__version__)
        self.about = (
            f"the default detectors ({', '.join(sorted(self._scrubber._detectors))}), none of which detects names"
        )

    def detect(self, texts: list[str]) -> list[list[tuple[int, int, str]]]:
        """Return spans per text."""
        return [[(f.beg, f.end, f.type) for f in self._scrubber.iter_filth(text)] for text in texts]


def load(settings: dict[str, str]) -> Scrubadub:
    """See `serve.py`."""
    return Scrubadub()
