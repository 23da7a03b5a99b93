"""The embedded encoder: a small bidirectional transformer with a CRF. It runs in onnxruntime and needs no torch."""

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
    """Finds identifiers with a learned model. Implements `Detector`.

    The tokenizer and the graphs are loaded at the first text. The detector is thread-safe: all threads share one
    session, and each call uses one thread. To use more cores, run several processes, each with its own detector.

    Args:
        folder: the folder of a bundle (`bundle.py`); the bundle of the package if None.
        point: `recall` and `precision` move the threshold between accepted and rejected words. Scores move with it,
            so a policy's thresholds mean the same at every operating point.
        fast: use the early exit: fewer layers and lower recall.

    Raises:
        SettingError: there are no weights, they do not fit this version, or they have no early exit.
    """

    name = "encoder"
    reads = frozenset({"en"})

    def __init__(self, folder: Path | None = None, *, point: Point = "balanced", fast: bool = False) -> None:
        self._bundle = load(folder)
        if point not in POINTS:
            raise SettingError(f"encoder_point: {point!r} is not one of {', '.join(POINTS)}.")
        if fast and "fast" not in self._bundle.exits:
            raise SettingError(
                "encoder_fast: this encoder has no early exit. Remove encoder_fast."
            )
        way = self._bundle.exits["fast" if fast else "full"]
        self._find = Finder(way, way.biases[point], f"{self.name}:{'fast' if fast else 'full'}")
        self._tags = len(way.transitions)
        self._fast = fast
        self._opened: tuple[Cutting, Session] | None = None
        self._lock = threading.Lock()
        self.version = self._bundle.version

    def detect(self, texts: Sequence[Text]) -> list[list[Span]]:
        """Return one list of disjoint spans per text, by offset. CPU-bound and thread-safe. Raises like `read`."""
        return [reading.spans for reading in self.read(texts)]

    def read(self, texts: Sequence[Text]) -> list[EncoderReading]:
        """Return the spans of each text, and the probability of an identifier at every other place.

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
