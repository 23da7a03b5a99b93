"""Recordings: dictations, dialogues, and calls as files of sound. A file with a picture track is refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from incognote.formats.base import Document, Format, Unreadable
from incognote.formats.text import read_bytes

_MOST = 2**31
"""The most bytes of a recording: three hours of two channels at 48,000 samples a second."""
_KINDS = (
    ("wav", ("audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave"), (".wav", ".wave"), ("WAV audio",)),
    ("flac", ("audio/flac", "audio/x-flac"), (".flac",), ("FLAC audio",)),
    ("mp3", ("audio/mpeg", "audio/mp3", "audio/mpeg3", "audio/x-mp3"), (".mp3",), ("MP3 audio",)),
    ("m4a", ("audio/mp4", "audio/x-m4a", "audio/m4a"), (".m4a",), ("M4A audio", "MP4 video")),
    ("ogg", ("audio/ogg", "audio/vorbis"), (".ogg", ".oga"), ("Ogg audio",)),
    ("opus", ("audio/opus",), (".opus",), ()),
    ("webm", ("audio/webm",), (".weba", ".webm"), ("WebM", "Matroska video")),
)


def _read(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
    from incognote.formats.audio.document import AudioDocument

    return read_bytes(stream, AudioDocument, most=_MOST)


def _second(data: bytes) -> Iterable[str]:
    from incognote.formats.audio.second import texts

    return texts(data)


SOUNDS = frozenset(name for name, *_ in _KINDS)
"""The names of the formats of recordings."""
FORMATS = tuple(
    Format(name, media_types, suffixes, _read, contents=contents, second=_second, packed=True, most=_MOST)
    for name, media_types, suffixes, contents in _KINDS
)
