"""Speech recognizers of this machine by name. `incognote.llm.opening.open_recognizer` opens one behind a server."""

from __future__ import annotations

from functools import cache

from incognote.errors import UnknownName
from incognote.speech.asr.base import SpeechRecognizer
from incognote.speech.asr.sphinx import Sphinx
from incognote.speech.asr.whisper import Whisper

DEFAULT = Sphinx.name
WHISPER = f"{Whisper.name}:"
"""Begins the name of a Whisper model. The rest is its folder."""


@cache
def recognizer_of(name: str = DEFAULT) -> SpeechRecognizer:
    """Return a speech recognizer: `sphinx`, or `whisper:FOLDER`. It is the same one for each call.

    Raises:
        UnknownName: no recognizer has this name.
    """
    if name == Sphinx.name:
        return Sphinx()
    if name.startswith(WHISPER) and name != WHISPER:
        return Whisper(name.removeprefix(WHISPER))
    raise UnknownName("speech recognizer", name, [Sphinx.name, f"{WHISPER}FOLDER"])
