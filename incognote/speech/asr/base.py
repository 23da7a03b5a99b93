"""The protocol of a speech recognizer."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from incognote.errors import SettingError
from incognote.speech.nouns import HeardWord

if TYPE_CHECKING:
    from incognote.speech.nouns import Samples


@runtime_checkable
class SpeechRecognizer(Protocol):
    """A speech recognizer. Threads may use it at the same time.

    Attributes:
        name: its name in settings and figures.
        languages: ISO 639-1 codes of the languages that it supports.
    """

    name: str
    languages: frozenset[str]

    def hear(self, sound: Samples, language: str) -> list[HeardWord]:
        """Return the words of a stretch of speech, in order.

        Args:
            sound: at most 60 seconds.
            language: ISO 639-1.

        Returns:
            Words with times from the start of `sound`, within it. They do not overlap. An empty list for a stretch
            without speech. Fillers and noises are no words.

        Raises:
            MissingExtra, SettingError: the recognizer or its model is not installed or not configured, or it does not
                support the language.
            RecordProblem: the recognizer failed on the sound.
            ModelProblem: its server did not answer, or refused.
        """
        ...


def check_language(recognizer: SpeechRecognizer, language: str) -> None:
    """Check that a recognizer supports a language.

    Raises:
        SettingError: it does not. Words of another language would be read as noise.
    """
    if language not in recognizer.languages:
        known = ", ".join(sorted(recognizer.languages))
        raise SettingError(f"the recognizer {recognizer.name} does not support the language {language!r}: {known}")


def tidied(words: Iterable[tuple[str, float, float, float]], seconds: float) -> list[HeardWord]:
    """Return a recognizer's words in order, within the sound, and without overlaps.

    Args:
        words: text, start, end and confidence of each. Words without a letter or digit are dropped.
        seconds: the length of the sound.

    Raises:
        ValueError: a time or a confidence is no finite number.
    """
    found: list[HeardWord] = []
    at = 0.0
    for text, start, end, confidence in sorted(words, key=lambda each: each[1]):
        if not all(map(math.isfinite, (start, end, confidence))):
            raise ValueError("a word without a time")
        start = min(max(at, start), seconds)
        at = min(max(start, end), seconds)
        if any(map(str.isalnum, text)):
            found.append(HeardWord(text.strip(), start, at, min(max(confidence, 0.0), 1.0)))
    return found
