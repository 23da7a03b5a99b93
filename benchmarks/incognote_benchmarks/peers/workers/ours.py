"""incognote itself, measured like its peers: by default, with rules only, and with the encoder's early exit."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

_WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "incognote": ("rules and encoder", {}),
    "incognote-rules": ("rules only", {"detectors": ("rules",)}),
    "incognote-fast": ("rules and encoder, with the early exit in every window", {"encoder_fast": True}),
}


class Ours:
    """The default policy, without a language model."""

    def __init__(self, peer: str) -> None:
        from incognote import Deidentifier

        way, settings = _WAYS[peer]
        self.version, self.about = version("incognote"), f"{way}, policy strict, no language model"
        self._opened: Any = Deidentifier(policy="strict", **settings)

    def detect(self, texts: list[str]) -> list[list[tuple[int, int, str]]]:
        """Return spans per text."""
        return [[(span.start, span.end, span.type) for span in spans] for spans in self._opened.detect(texts)]


def load(settings: dict[str, str]) -> Ours:
    """See `serve.py`."""
    return Ours(settings["peer"])
