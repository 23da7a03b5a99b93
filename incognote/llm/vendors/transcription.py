"""Speech recognizers behind a server: OpenAI's API of transcriptions, and the server of whisper.cpp."""

from __future__ import annotations

import asyncio
import io
import json
import math
import wave
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from incognote.errors import EgressRefused, MissingExtra, ModelRejected, ModelUnavailable
from incognote.llm.egress import Egress, silence_loggers
from incognote.llm.retry import on_own_thread, retried
from incognote.llm.vendors import faults
from incognote.speech.asr.base import check_language, tidied
from incognote.speech.asr.whisper import LANGUAGES
from incognote.speech.nouns import RATE, HeardWord

if TYPE_CHECKING:
    from incognote.speech.nouns import Samples

PATHS = {"openai": "/audio/transcriptions", "whispercpp": "/inference"}
"""What follows api_base, by vendor."""

_COVERED = 0.9  # of the letters of a transcript, in words with times; servers write numbers in either form


class TranscriptionServer:
    """A speech recognizer that gets each stretch as a WAV file in memory. It has no alternatives and no phones.

    A word's confidence is its probability. Where the server gives none, it is that of the segment, or 1.

    Args:
        name: `openai/NAME`, or `whispercpp/NAME`.
        api_base: its address, with the path that precedes `/audio/transcriptions` or `/inference`.
        api_key: sent as bearer token.
        timeout: for the complete reply, in seconds.
        attempts: the total number of tries while the server is unavailable.
        egress: where its requests may go.
        permit: called before each request is sent. An error that it raises stops the request.

    Raises:
        MissingExtra: the extra `llm` is not installed.
    """

    languages = LANGUAGES

    def __init__(
        self,
        name: str,
        *,
        api_base: str,
        api_key: str,
        timeout: float,
        attempts: int,
        egress: Egress,
        permit: Callable[[], None] | None = None,
    ) -> None:
        try:
            from incognote.llm.vendors.wire import Guarded, client
        except ImportError:
            raise MissingExtra("llm", "asking a server for a transcription") from None
        vendor, _, self._model = name.partition("/")
        self.name = name
        self._url = api_base.rstrip("/") + PATHS[vendor]
        self._timeout, self._attempts, self._permit = timeout, attempts, permit
        self._transport = Guarded(egress)
        self._http = client(self._transport, timeout)
        self._headers = {"Authorization": f"Bearer {api_key}"}

    def __repr__(self) -> str:
        return f"TranscriptionServer({self.name!r})"

    def hear(self, sound: Samples, language: str) -> list[HeardWord]:
        """See `SpeechRecognizer.hear`.

        Raises:
            ModelUnavailable, ModelRejected, EgressRefused: the status and a remedy. Also for words without times.
        """
        check_language(self, language)
        if not len(sound):
            return []
        form = {
            "model": self._model,
            "language": language,
            "response_format": "verbose_json",
            "timestamp_granularities[]": ["segment", "word"],
            "temperature": "0",
        }
        seconds, file = len(sound) / RATE, _wav(sound)

        async def ask() -> list[HeardWord]:
            return await self._ask(form, file, seconds)

        async def heard() -> list[HeardWord]:
            try:
                return await retried(ask, self._attempts)
            finally:
                await self._transport.shut()  # a recognizer has no end at which to close connections

        return on_own_thread(heard()).result()

    async def _ask(self, form: dict[str, Any], file: bytes, seconds: float) -> list[HeardWord]:
        """Send one request, and return its words."""
        silence_loggers()
        if self._permit is not None:
            self._permit()
        content = None
        with faults.exchange() as noted:
            try:
                async with asyncio.timeout(self._timeout):
                    files = {"file": ("sound.wav", file, "audio/wav")}  # the name of a recording may hold a person's
                    answer = await self._http.post(self._url, data=form, files=files, headers=self._headers)
                content = answer.content if answer.status_code == 200 else None
            except TimeoutError:
                noted.status, noted.failure = None, f"no complete reply within {self._timeout:g} s"
            except EgressRefused:
                pass  # noted
            except Exception:  # noqa: S110 -- of any kind, from the client; it may quote the reply, and it is noted
                pass
        if content is None:
            raise noted.problem(self.name) from None
        try:
            return words_of(json.loads(content), seconds)
        except ModelRejected as error:
            raise ModelRejected(f"{self.name}: {error}") from None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise ModelUnavailable(
                f"{self.name}: status 200, but no transcription. Check that api_base is the URL of its API"
            ) from None


def words_of(reply: dict[str, Any], seconds: float) -> list[HeardWord]:
    """Return the words of a reply in the form `verbose_json`.

    OpenAI has them beside the segments. whisper.cpp has parts of words within each segment.

    Raises:
        ModelRejected: it holds words without times, so they could not be muted.
        ValueError, TypeError, KeyError, AttributeError: it is no such reply.
    """
    segments = reply.get("segments") or []
    if reply.get("words"):
        words = [(w["word"], w["start"], w["end"], _probability(w, segments)) for w in reply["words"]]
    else:
        words = [word for segment in segments for word in _joined(segment)]
    found = tidied([(str(text), float(start), float(end), float(p)) for text, start, end, p in words], seconds)
    if _letters(" ".join(word.text for word in found)) < _COVERED * _letters(reply["text"]):
        raise ModelRejected(
            "the transcription has words without times, which could not be muted. Use a model and a server that "
            "support timestamp_granularities (OpenAI: whisper-1)"
        )
    return found


def _joined(segment: dict[str, Any]) -> Iterator[tuple[str, float, float, float]]:
    """Yield the words of a segment. If some of its parts begin with a space, each of these begins a word."""
    parts = segment.get("words") or []
    spaced = any(part["word"].startswith(" ") for part in parts)
    held: tuple[str, float, float, float] | None = None
    for part in parts:
        text, end, sure = part["word"], part["end"], _probability(part, [segment])
        if held is not None and spaced and not text.startswith(" "):
            held = held[0] + text, held[1], end, min(held[3], sure)
            continue
        if held is not None:
            yield held
        held = text, part["start"], end, sure
    if held is not None:
        yield held


def _probability(word: dict[str, Any], segments: list[dict[str, Any]]) -> float:
    """Return a word's probability, or that of the segment in which its middle is."""
    if "probability" in word:
        return float(word["probability"])
    middle = (word["start"] + word["end"]) / 2
    for segment in segments:
        if "avg_logprob" in segment and segment["start"] <= middle <= segment["end"]:
            return math.exp(min(0.0, segment["avg_logprob"]))
    return 1.0


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _wav(sound: Samples) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(sound.astype("<i2").tobytes())
    return file.getvalue()
