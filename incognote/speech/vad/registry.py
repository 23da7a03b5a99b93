"""Voice activity detectors by name."""

from __future__ import annotations

from functools import cache

from incognote.errors import UnknownName
from incognote.speech.vad.base import VoiceDetector
from incognote.speech.vad.silero import Silero
from incognote.speech.vad.webrtc import WebRtc

DETECTORS = {detector.name: detector for detector in (Silero, WebRtc)}
DEFAULT = Silero.name


def detector_of(name: str = DEFAULT) -> VoiceDetector:
    """Return a voice activity detector. It is the same one for each call.

    Raises:
        UnknownName: no detector has this name.
    """
    if name not in DETECTORS:
        raise UnknownName("voice activity detector", name, DETECTORS)
    return _opened(name)


@cache
def _opened(name: str) -> VoiceDetector:
    return DETECTORS[name]()
