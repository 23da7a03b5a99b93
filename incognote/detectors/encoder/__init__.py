"""The embedded encoder: a small bidirectional transformer with a CRF, run by onnxruntime without torch."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from incognote.detectors.encoder.bundle import POINTS, load
from incognote.detectors.encoder.pieces import Encoded, Pieces
from incognote.detectors.encoder.session import Session
from incognote.detectors.encoder.spans import Floats, read_off
from incognote.detectors.encoder.viterbi import Decoder
from incognote.detectors.encoder.windows import Stitches, batches, cut
from incognote.errors import SettingError
from incognote.nouns import Span, Text

Point = Literal["recall", "balanced", "precision"]
BATCH_PIECES = 2048
"""Places in a batch; larger ones are slower (they leave the cache)."""


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

    def __init__(self, folder: Path | None = None, *, point: Point = "balanced", fast: bool = False) -> None:
        self._bundle = load(folder)
        if point not in POINTS:
            raise SettingError(f"encoder: there is no operating point {point!r}; there are: {', '.join(POINTS)}")
        if fast and "fast" not in self._bundle.exits:
            raise SettingError(
                "encoder: these weights have no early exit; leave `fast` out, or train with `exit_layer`"
            )
        self._exit = self._bundle.exits["fast" if fast else "full"]
        self._bias = self._exit.biases[point]
        self._fast = fast
        self._source = f"{self.name}:{'fast' if fast else 'full'}"
        self._decode = Decoder(self._exit.transitions)
        self._opened: tuple[Pieces, Session] | None = None
        self._lock = threading.Lock()
        self.version = self._bundle.version

    def detect(self, texts: Sequence[Text]) -> list[list[Span]]:
        """One list of spans per text, by offset, disjoint. CPU work, thread-safe.

        Raises:
            MissingExtra: the extra `embed` is not installed.
            SettingError: a file of the bundle cannot be loaded.
        """
        encoded, logits = self.read([text.content for text in texts])
        paths = self._decode(logits)
        return [
            read_off(text, one.units, path, emissions, self._exit.temperatures, self._source)
            for text, one, path, emissions in zip(texts, encoded, paths, logits, strict=True)
        ]

    def read(self, texts: Sequence[str]) -> tuple[list[Encoded], list[Floats]]:
        """The pieces of each text and the logits of its units (units × tags), moved to the operating point."""
        pieces, session = self._open()
        encoded = [pieces(text) for text in texts]
        windows = [
            window for i, one in enumerate(encoded) for window in cut(i, one, self._bundle.window, self._bundle.overlap)
        ]
        stitches = Stitches(encoded, len(self._exit.transitions))
        for batch in batches(encoded, windows, BATCH_PIECES, pieces.special):
            stitches.add(batch, session(batch.ids, batch.features))
        logits = stitches.texts()
        for each in logits:
            each[:, 0] += self._bias
        return encoded, logits

    def _open(self) -> tuple[Pieces, Session]:
        with self._lock:
            if self._opened is None:
                folder = self._bundle.folder
                pieces = Pieces(folder / "tokenizer.json", medical=self._bundle.medical)
                self._opened = pieces, Session(folder, fast=self._fast)
            return self._opened
