"""The embedded encoders: small models with a CRF. They run in onnxruntime and need no torch.

English has a bidirectional transformer over WordPieces, the other languages share a BiLSTM over words.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from incognote.detectors.encoder.bundle import POINTS, WORDS, load
from incognote.detectors.encoder.decoding import Cutting, EncoderReading, Finder, blocks_of, logits_of
from incognote.detectors.encoder.units import Numbering, Pieces
from incognote.detectors.encoder.windows import Session
from incognote.detectors.encoder.words import WordRows
from incognote.errors import SettingError
from incognote.nouns import Span, Text
from incognote.plugins import installed
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

    def __init__(self, folder: Path | None = None, *, point: Point = "balanced", fast: bool = False) -> None:
        self._bundle = load(folder)
        if point not in POINTS:
            raise SettingError(f"encoder_point: {point!r} is not one of {', '.join(POINTS)}.")
        if fast and "fast" not in self._bundle.exits:
            raise SettingError("encoder_fast: this encoder has no early exit. Remove encoder_fast.")
        way = self._bundle.exits["fast" if fast else "full"]
        model = "words" if (self._bundle.folder / WORDS).is_file() else "fast" if fast else "full"
        self._find = Finder(way, way.biases[point], f"encoder:{model}")
        self._tags = len(way.transitions)
        self._fast = fast
        self._session: Session | None = None
        self._cuttings: dict[frozenset[str], Cutting] = {}
        self._lock = threading.Lock()
        self.reads = self._bundle.languages
        self.name = "encoder" if self.reads == {"en"} else "-".join(("encoder", *sorted(self.reads)))
        self.version = self._bundle.version

    def detect(self, texts: Sequence[Text]) -> list[list[Span]]:
        """Return one list of disjoint spans per text, by offset. CPU-bound and thread-safe. Raises like `read`."""
        return [reading.spans for reading in self.read(texts)]

    def read(self, texts: Sequence[Text], spoken: Sequence[frozenset[str]] | None = None) -> list[EncoderReading]:
        """Return the spans of each text, and the probability of an identifier at every other place.

        Args:
            spoken: the languages of each text. A model of several languages looks words up in their lexicons.

        Raises:
            SettingError: a file of the bundle cannot be loaded.
        """
        known = self.reads.intersection(installed("incognote.languages"))
        asked = [known if spoken is None else known.intersection(spoken[i]) for i in range(len(texts))]
        found: list[EncoderReading | None] = [None] * len(texts)
        for languages in sorted(set(asked), key=sorted):
            cutting, session = self._open(languages)
            own = [i for i, each in enumerate(asked) if each == languages]
            small = [i for i in own if len(texts[i].content) < LARGE]
            logits = logits_of([texts[i].content for i in small], cutting, session, self._tags)
            for i, reading in zip(small, self._find([texts[i] for i in small], *logits), strict=True):
                found[i] = reading
            for i in set(own).difference(small):
                one = cutting.pieces(texts[i].content)
                found[i] = self._find.large(texts[i], one, blocks_of(one, cutting, session, self._tags))
        return [reading for reading in found if reading is not None]

    def _open(self, languages: frozenset[str]) -> tuple[Cutting, Session]:
        with self._lock:
            bundle = self._bundle
            if self._session is None:
                self._session = Session(bundle.folder, fast=self._fast, leave=bundle.leave)
            if languages not in self._cuttings:
                vocabulary = bundle.folder / WORDS
                pieces: Numbering
                if vocabulary.is_file():
                    pieces = WordRows(vocabulary, languages)
                else:
                    pieces = Pieces(bundle.folder / "tokenizer.json", medical=bundle.medical)
                self._cuttings[languages] = Cutting(pieces, bundle.window, bundle.overlap)
            return self._cuttings[languages], self._session
