"""/v1/review/ID/sound: the waveform of a recording in review, and parts of its original sound."""

from __future__ import annotations

import base64
import io
import wave
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from incognote.errors import RecordProblem, UnknownName, UsageError
from incognote.formats.audio.document import BODY, AudioDocument
from incognote.schemas.choices import Voice
from incognote.service.api.access import Context, Reviewer
from incognote.service.api.context import ApiContext
from incognote.service.api.problems import answers
from incognote.service.api.reviewmarks import document_of_id
from incognote.speech.files import SoundFile
from incognote.speech.nouns import RATE

routes = APIRouter(prefix="/v1", tags=["review"])
MOST_SECONDS = 60.0
"""The longest part of a recording that one request returns."""
PEAKS_A_SECOND, MOST_PEAKS = 50, 30_000
ItemId = Annotated[str, Path(pattern="^[0-9a-f]{16}$")]
_FULL = 32_767


class SoundShown(BaseModel):
    """A recording and its waveform. It contains PHI."""

    field: str = Field(description="the text with what is said")
    seconds: float = Field(description="its length")
    margin: float = Field(description="the seconds that are muted before and after words")
    voice: Voice = Field(description="what happens to voices. With `remove`, all sound is muted")
    peaks: list[int] = Field(description="the loudest sample of each of equal parts, from 0 to 100")
    pieces: list[tuple[int, int, float, float]] = Field(
        description="for stretches of the text: start and end in code points, and start and end in seconds"
    )


class SoundPart(BaseModel):
    """A part of the original sound. It contains PHI."""

    wav: str = Field(description="a WAV file in Base64: one channel, 16 kHz")
    start: float = Field(description="in seconds of the recording")
    end: float = Field(description="in seconds of the recording")


@routes.get("/review/{id}/sound", responses=answers(404))
def sound(id: ItemId, context: Context, caller: Reviewer) -> SoundShown:
    """Get the waveform of a recording, and the time of each word. The view is logged."""
    document = _recording(context, id)
    context.audit.append("text.viewed", item=id, by=caller.name)
    pieces = [(each.start, each.end, each.time.start, each.time.end) for each in document.transcript.pieces]
    return SoundShown(
        field=BODY, seconds=document.file.seconds, margin=document.how.margin, voice=document.how.voice,
        peaks=peaks(document.file), pieces=pieces,
    )  # fmt: skip


@routes.get("/review/{id}/sound/part", responses=answers(404))
def part(
    id: ItemId,
    context: Context,
    caller: Reviewer,
    start: Annotated[float, Query(ge=0, le=1e6, allow_inf_nan=False, description="In seconds.")],
    end: Annotated[float, Query(ge=0, le=1e6, allow_inf_nan=False, description="In seconds; up to 60 later.")],
) -> SoundPart:
    """Get a part of the original sound, all channels mixed. The view is logged."""
    if not start < end <= start + MOST_SECONDS:
        raise UsageError(f"start and end: name a part of up to {MOST_SECONDS:g} seconds")
    document = _recording(context, id)
    context.audit.append("text.viewed", item=id, by=caller.name)
    whole = document.file.seconds
    if start >= whole:
        raise UsageError("start: it is after the end of the recording")
    end = min(end, whole)
    return SoundPart(wav=base64.b64encode(excerpt(document.file, start, end)).decode(), start=start, end=end)


def peaks(file: SoundFile) -> list[int]:
    """Return the loudest sample of each of equal parts of a recording, as a share of full scale in percent."""
    import numpy as np

    size = max(RATE // PEAKS_A_SECOND, -(-round(file.seconds * RATE) // MOST_PEAKS))
    found: list[int] = []
    rest = np.zeros(0, np.int16)
    for block in file.blocks():
        rest = np.concatenate((rest, block))
        whole = len(rest) // size * size
        loudest = np.abs(rest[:whole].astype(np.int32)).reshape(-1, size).max(axis=1)
        found += (loudest * 100 // _FULL).tolist()
        rest = rest[whole:]
    if len(rest):
        found.append(int(np.abs(rest.astype(np.int32)).max()) * 100 // _FULL)
    return found


def excerpt(file: SoundFile, start: float, end: float) -> bytes:
    """Return a part of a recording as a WAV file with one channel at `RATE`.

    Args:
        start, end: in seconds.
    """
    first, last, at = round(start * RATE), round(end * RATE), 0
    out = io.BytesIO()
    with wave.open(out, "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(RATE)
        for block in file.blocks():
            if at >= last:
                break
            written.writeframes(block[max(0, first - at) : max(0, last - at)].astype("<i2").tobytes())
            at += len(block)
    return out.getvalue()


def _recording(context: ApiContext, id: str) -> AudioDocument:
    """Return the recording of a record.

    Raises:
        UnknownName: the record is no recording.
        UsageError: it can no longer be read.
    """
    document = document_of_id(context, id)
    if not isinstance(document, AudioDocument):
        raise UnknownName("sound", id)
    try:
        _ = document.file.seconds
    except RecordProblem:
        raise UsageError("this recording cannot be played") from None
    return document
