"""Listen to recordings as the settings and the policy say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from incognote.schemas.choices import Voice
    from incognote.speech.asr.base import SpeechRecognizer
    from incognote.speech.nouns import Heard, Samples

MARGIN = 0.3
"""Seconds that are muted before and after an identifier (RedactOR, A.5.1)."""
_STRICTER: tuple[Voice, ...] = ("keep", "disguise", "remove")


@dataclass(frozen=True, slots=True)
class Hearing:
    """How recordings are heard and written.

    Args:
        recognizer: the speech recognizer, or the name of one of this machine.
        margin: the seconds that are muted before and after an identifier.
        voice: what happens to voices.
        seed: a secret. The disguise of a recording is derived from it and from the recording.
        language: of the recordings (ISO 639-1).
    """

    recognizer: str | SpeechRecognizer = "sphinx"
    margin: float = MARGIN
    voice: Voice = "keep"
    seed: bytes = field(default=b"", repr=False)
    language: str = "en"


_HEARING: ContextVar[Hearing] = ContextVar("how recordings are heard", default=Hearing())  # noqa: B039  # it is frozen


@contextmanager
def recordings_are_heard(hearing: Hearing) -> Iterator[None]:
    """Open recordings within the block so that they are heard and written in this way."""
    token = _HEARING.set(hearing)
    try:
        yield
    finally:
        _HEARING.reset(token)


def hearing() -> Hearing:
    """Return how recordings are heard and written."""
    return _HEARING.get()


def stricter(one: Voice, two: Voice) -> Voice:
    """Return what leaves less of a voice."""
    return max(one, two, key=_STRICTER.index)


def heard(blocks: Iterable[Samples], how: Hearing) -> Heard:
    """Return what is heard in a recording.

    Args:
        blocks: consecutive blocks at `RATE`.

    Raises:
        MissingExtra, SettingError, UnknownName, RecordProblem: as in `incognote.speech.listening.listen`.
    """
    from incognote.speech.asr.registry import recognizer_of
    from incognote.speech.listening import listen
    from incognote.speech.vad.registry import detector_of

    recognizer = recognizer_of(how.recognizer) if isinstance(how.recognizer, str) else how.recognizer
    return listen(blocks, recognizer, detector_of(), how.language)
