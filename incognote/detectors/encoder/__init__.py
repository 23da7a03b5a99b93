"""The embedded encoder: a small bidirectional transformer with a CRF, run by onnxruntime without torch."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from incognote.detectors.encoder.bundle import POINTS, load
from incognote.detectors.encoder.decoding import Cutting, EncoderReading, Finder, blocks_of, logits_of
from incognote.detectors.encoder.units import Pieces
from incognote.detectors.encoder.windows import Session
from incognote.errors import SettingError
from incognote.nouns import Span, Text
from incognote.text.parts import LARGE

Point = Literal["recall", "balanced", "precision"]


class EncoderDetector:
    """Finds identifiers by a learned model; implements `Detector`.

    Lazy: tokenizer and graphs are opened at the first text. Thread-safe: threads share one session of one thread each
    call; to use more cores, run several processes, each with its own.

    Args:
        folder: a bundle (`bundle.py`); the package's own when None.
        point: `recall` and `precision` move the line between found and passed over; scores move with it, so that a
            policy's thresholds mean the same at each.
        fast: leave by the early exit: fewer layers, less recall.

    Raises:
        SettingError: there are no weights, they do not fit this version, or they have no early exit.
    """

    name = "encoder"
    reads = frozenset({"en"})

    def __init__(self, folder: Path | None = None, *, point: Point = "balanced", fast: bool = False) -> None:
        self._bundle = load(folder)
        if point not in POINTS:
            raise SettingError(f"encoder: there is no operating point {point!r}; there are: {', '.join(POINTS)}")
        if fast and "fast" not in self._bundle.exits:
            raise SettingError(
                "encoder: these weights have no early exit; leave `fast` out, or train with `exit_layer`"
            )
        way = self._bundle.exits["fast" if fast else "full"]
        self._find = Finder(way, way.biases[point], f"{self.name}:{'fast' if fast else 'full'}")
        self._tags = len(way.transitions)
        self._fast = fast
        self._opened: tuple[Cutting, Session] | None = None
        self._lock = threading.Lock()
        self.version = self._bundle.version

    def detect(self, texts: Sequence[Text]) -> list[list[Span]]:
        """One list of spans per text, by offset, disjoint. CPU work, thread-safe; raises as `read` does."""
        return [reading.spans for reading in self.read(texts)]

    def read(self, texts: Sequence[Text]) -> list[EncoderReading]:
        """Spans, and how sure it is of any other stretch, per text.

        Raises:
            SettingError: a file of the bundle cannot be loaded.
        """
        cutting, session = self._open()
        small = [text for text in texts if len(text.content) < LARGE]
        read = iter(self._find(small, *logits_of([text.content for text in small], cutting, session, self._tags)))
        return [self._large(text, cutting, session) if len(text.content) >= LARGE else next(read) for text in texts]

    def _large(self, text: Text, cutting: Cutting, session: Session) -> EncoderReading:
        one = cutting.pieces(text.content)
        return self._find.large(text, one, blocks_of(one, cutting, session, self._tags))

    def _open(self) -> tuple[Cutting, Session]:
        with self._lock:
            if self._opened is None:
                bundle = self._bundle
                pieces = Pieces(bundle.folder / "tokenizer.json", medical=bundle.medical)
                cutting = Cutting(pieces, bundle.window, bundle.overlap)
                self._opened = cutting, Session(bundle.folder, fast=self._fast, leave=bundle.leave)
            return self._opened
