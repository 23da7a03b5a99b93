"""A speech recognizer that knows the words of a recording: the most that recognition can do."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from incognote.speech.nouns import RATE, HeardWord

if TYPE_CHECKING:
    from incognote.speech.nouns import Samples


class KnownTranscript:
    """A recognizer that knows the words of one recording. It is asked for its stretches in order, once each.

    Args:
        words: with times from the start of the recording.
        languages: those that it claims to support.
    """

    name = "known"

    def __init__(self, words: Iterable[HeardWord], languages: frozenset[str] = frozenset({"en"})) -> None:
        self._words = sorted(words, key=lambda word: word.start)
        self.languages = languages
        self._samples = 0
        self._turn = threading.Lock()

    def hear(self, sound: Samples, language: str) -> list[HeardWord]:
        """Return the words whose middle is in the next stretch, cut to it."""
        with self._turn:
            start = self._samples / RATE
            self._samples += len(sound)
            end = self._samples / RATE
        return [
            replace(word, start=max(word.start, start) - start, end=min(word.end, end) - start)
            for word in self._words
            if start <= (word.start + word.end) / 2 < end
        ]
