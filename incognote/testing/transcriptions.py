"""The APIs of transcriptions of OpenAI and whisper.cpp, in front of a function."""

from __future__ import annotations

import io
import wave
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from incognote.speech.nouns import RATE, HeardWord
from incognote.testing.responses import Broken, as_json, body_of, error_of
from incognote.testing.store import parts
from incognote.testing.trouble import Trouble
from incognote.testing.wire import ApiError, Json

if TYPE_CHECKING:
    from incognote.speech.nouns import Samples

Transcribing = Callable[["Samples", str], Sequence[HeardWord] | Trouble]
"""From the sound and the language of a request to its words, or to the trouble that comes instead."""


def transcription_routes(
    transcribe: Transcribing | None, refused: Callable[[HttpRequest, Exception], Response]
) -> list[Route]:
    """Return OpenAI's route for transcriptions, and that of whisper.cpp.

    Args:
        transcribe: None refuses every request (404).
        refused: makes an error a response.
    """

    def endpoint(reply: Callable[[Sequence[HeardWord], dict[str, str], float], Json]) -> Any:
        async def answered(asked: HttpRequest) -> Response:
            try:
                sound, fields = _asked(body_of(asked), asked.headers.get("content-type", ""))
                if transcribe is None:
                    raise ApiError(404, "The model does not exist or you do not have access to it.", "model_not_found")
                words = transcribe(sound, fields.get("language", ""))
                if isinstance(words, Trouble):
                    if words.kind == "status":
                        raise error_of(words)
                    return Broken(reply([], fields, len(sound) / RATE), words)
            except ApiError as error:
                return refused(asked, error)
            return as_json(reply(words, fields, len(sound) / RATE))

        return answered

    return [
        Route("/v1/audio/transcriptions", endpoint(_openai), methods=["POST"]),
        Route("/v1/inference", endpoint(_whisper_cpp), methods=["POST"]),
    ]


def _asked(body: bytes, content_type: str) -> tuple[Samples, dict[str, str]]:
    """Return the sound of a request, and its other fields.

    Raises:
        ApiError: 400: no form, no 16-bit WAV file with one channel at 16 kHz, or another response format.
    """
    import numpy as np

    form = parts(body, content_type)
    fields = {name: value.decode("utf-8", "replace") for name, (_, value) in form.items() if name != "file"}
    if fields.get("response_format") != "verbose_json":
        raise ApiError(400, "response_format: this server writes verbose_json", param="response_format")
    try:
        with wave.open(io.BytesIO(form["file"][1])) as file:
            if (file.getnchannels(), file.getsampwidth(), file.getframerate()) != (1, 2, RATE):
                raise ValueError("another form of sound")
            return np.frombuffer(file.readframes(file.getnframes()), dtype="<i2"), fields
    except (KeyError, ValueError, EOFError, wave.Error):
        raise ApiError(400, "file: a WAV file of 16 bits with one channel at 16 kHz is needed", param="file") from None


def _openai(words: Sequence[HeardWord], fields: dict[str, str], seconds: float) -> Json:
    """Return OpenAI's reply: words without probabilities, beside one segment."""
    reply = _whole(words, fields, seconds)
    if "word" in fields.get("timestamp_granularities[]", ""):
        reply["words"] = [{"word": word.text, "start": word.start, "end": word.end} for word in words]
    return reply


def _whisper_cpp(words: Sequence[HeardWord], fields: dict[str, str], seconds: float) -> Json:
    """Return the reply of whisper.cpp: parts of words within the segment, whose first begins with a space."""
    reply = _whole(words, fields, seconds)
    reply["segments"][0]["words"] = [
        {"word": text, "start": start, "end": end, "t_dtw": -1, "probability": word.confidence}
        for word in words
        for text, start, end in _halves(word)
    ]
    return reply


def _whole(words: Sequence[HeardWord], fields: dict[str, str], seconds: float) -> Json:
    text = " ".join(word.text for word in words)
    segment = {"id": 0, "start": 0.0, "end": seconds, "text": text, "avg_logprob": -0.2, "no_speech_prob": 0.01}
    known = {"task": "transcribe", "language": fields.get("language"), "duration": seconds}
    return {**known, "text": text, "segments": [segment]}


def _halves(word: HeardWord) -> list[tuple[str, float, float]]:
    """Return the two parts of a word of four letters or more."""
    middle = len(word.text) // 2
    if middle < 2:
        return [(f" {word.text}", word.start, word.end)]
    time = (word.start + word.end) / 2
    return [(f" {word.text[:middle]}", word.start, time), (word.text[middle:], time, word.end)]
