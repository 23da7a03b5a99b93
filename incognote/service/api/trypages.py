"""The limits of the try page, and the images, scans, and recordings that it reads."""

from __future__ import annotations

import base64
import binascii
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import BaseModel

from incognote.errors import IncognoteError, RecordProblem, UsageError
from incognote.formats.audio import SOUNDS
from incognote.formats.audio.document import AudioDocument
from incognote.formats.base import Document, texts_of
from incognote.formats.images import FORMATS
from incognote.formats.images.document import ImageDocument
from incognote.formats.pictures import PagedDocument, has_pixels
from incognote.formats.registry import name_of, of_content
from incognote.service.api.problems import Refused
from incognote.service.api.reviewmarks import output_page
from incognote.service.api.reviewsound import peaks
from incognote.speech.files import SoundFile

if TYPE_CHECKING:
    from incognote.agents.engine import Engine
    from incognote.agents.item import Item
    from incognote.nouns import Result

MOST_BYTES = 200_000
"""The limit of one request. The encoder reads about 7,000 characters per second on one core, and a person waits."""
MOST_PAGE_BYTES = 2_000_000
"""The same for an image, a PDF file, or a recording."""
MOST_PAGES = 3
"""Pages of an image or a scan. OCR takes seconds for each."""
MOST_SECONDS = 60
"""Seconds of a recording. Listening takes about as long as the recording."""
_PAGED = frozenset(("pdf", *(form.name for form in FORMATS), *SOUNDS))


class TriedInterval(BaseModel):
    """A part of a recording that is muted, in seconds."""

    start: float
    end: float
    type: str


class TriedSound(BaseModel):
    """The sound of a released recording. `peaks` are those of equal parts, from 0 to 100."""

    seconds: float
    peaks: list[int]
    muted: list[TriedInterval]


def bytes_of(text: str | None, file: str | None, suffix: str) -> bytes:
    """Return the note or file.

    Raises:
        UsageError: neither or both are given, or it is not base64.
        Refused: it is too large (413), or compressed (415).
    """
    if (text is None) == (file is None):
        raise UsageError("send either text or file")
    try:
        data = text.encode() if text is not None else base64.b64decode(file or "", validate=True)
    except UnicodeEncodeError:
        raise UsageError("text holds half of a character (a lone surrogate): copy the note again") from None
    except binascii.Error:
        raise UsageError("file must be base64") from None
    kind = name_of(suffix.lower()) if suffix else of_content(data[:8192]).name
    most = MOST_PAGE_BYTES if kind in _PAGED else MOST_BYTES
    if len(data) > most:
        raise Refused(413, f"this page reads up to {most:,} bytes: for larger files use `incognote deid FILE`")
    if suffix.lower().endswith(".gz"):
        raise Refused(415, "the file is compressed: decompress it, or use `incognote deid FILE`")
    return data


def with_pages(item: Item, engine: Engine) -> Item:
    """Return an item with its pages or sound read, if there are any. They are read only once.

    Raises:
        Refused: there are too many pages or seconds, or the text is too long (413).
    """
    if not isinstance(item.content, bytes) and not item.is_record:
        return item
    try:
        with engine.opening():
            _, document = item.open(lambda: engine.registry, engine.settings.data_type)
            pages = len(document.file) if isinstance(document, ImageDocument) else 0
            seconds = document.file.seconds if isinstance(document, AudioDocument) else 0.0
            fits = pages <= MOST_PAGES and seconds <= MOST_SECONDS
            size = sum(map(len, texts_of(document))) if document is not None and fits else 0
    except (IncognoteError, RecursionError):  # the machine gives the reason
        return item
    if pages > MOST_PAGES:
        raise Refused(413, f"this page reads up to {MOST_PAGES} pages of a scan: use `incognote deid FILE`")
    if seconds > MOST_SECONDS:
        raise Refused(413, f"this page reads up to {MOST_SECONDS} seconds of a recording: use `incognote deid FILE`")
    if size > MOST_BYTES:
        raise Refused(413, f"this page reads up to {MOST_BYTES:,} characters: use `incognote deid FILE`")
    read = document is not None and (isinstance(document, AudioDocument) or has_pixels(document))
    return replace(item, opened=document) if read else item


def released_pages(document: Document | None, output: str | bytes) -> list[str]:
    """Return the pages of a released document as PNG files in Base64. Of other documents there are none."""
    if not isinstance(document, PagedDocument) or not isinstance(output, bytes):
        return []
    try:
        return [output_page(document, output, n).png for n in range(1, min(len(document.pages), MOST_PAGES) + 1)]
    except (OSError, ValueError, subprocess.SubprocessError, RecordProblem):
        return []


def released_sound(document: Document | None, output: str | bytes, result: Result) -> TriedSound | None:
    """Return the waveform of a released recording, and what is muted in it. None for other documents."""
    if not isinstance(document, AudioDocument) or not isinstance(output, bytes):
        return None
    file = SoundFile(output)
    muted = [TriedInterval(start=each.start, end=each.end, type=each.type) for each in result.intervals]
    return TriedSound(seconds=file.seconds, peaks=peaks(file), muted=muted)
