"""What is derived from a muted recording: its transcript as text, subtitles (SRT, WebVTT), and JSON with times.

All of it consists of the words that stay and of those that replace others. Speech without words that stays is left out.
Formats: WebVTT, W3C; SubRip has no standard.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from incognote.formats.audio.document import BODY, AudioDocument
from incognote.formats.audio.transcript import Transcript
from incognote.formats.base import Change, Document
from incognote.nouns import DerivedKind
from incognote.speech.nouns import Interval


@dataclass(frozen=True, slots=True)
class Said:
    """A stretch of a muted transcript.

    Args:
        words: what is written for it.
        time: in seconds of the recording.
        replaced: whether the words replace others, whose time is muted.
    """

    words: str = field(repr=False)
    time: Interval
    replaced: bool


@dataclass(frozen=True, slots=True)
class MutedTranscript:
    """A muted transcript, line by line, and the parts of the recording that are muted."""

    lines: tuple[tuple[Said, ...], ...] = field(repr=False)
    muted: tuple[Interval, ...]
    seconds: float

    @property
    def kinds(self) -> tuple[DerivedKind, ...]:
        return ("text", "srt", "vtt", "json")

    def derived(self, kind: DerivedKind, output: bytes) -> str | bytes:
        if kind == "json":
            return self._json()
        if kind == "srt":
            cues = enumerate(self._cues(","), 1)
            return "\n".join(f"{number}\n{when}\n{words}\n" for number, (when, words) in cues)
        if kind == "vtt":
            return "WEBVTT\n" + "".join(
                f"\n{when}\n{escape(words, quote=False)}\n" for when, words in self._cues(".")
            )
        return "".join(f"{_joined(line)}\n" for line in self.lines)

    def _cues(self, point: str) -> Iterator[tuple[str, str]]:
        for line in self.lines:
            start, end = line[0].time.start, max(each.time.end for each in line)
            yield f"{_clock(start, point)} --> {_clock(end, point)}", _joined(line)

    def _json(self) -> str:
        lines = [
            [
                {"start": round(said.time.start, 3), "end": round(said.time.end, 3), "text": said.words,
                 "replaced": said.replaced}
                for said in line
            ]
            for line in self.lines
        ]  # fmt: skip
        muted = [[round(each.start, 3), round(each.end, 3)] for each in self.muted]
        return json.dumps({"seconds": round(self.seconds, 3), "muted": muted, "lines": lines}, ensure_ascii=False)


def muted_transcript(document: Document | None, changes: Mapping[str, Sequence[Change]]) -> MutedTranscript | None:
    """Return the transcript of a muted recording, or None if the document is no recording.

    Args:
        changes: of the texts of the document, by field.
    """
    if not isinstance(document, AudioDocument):
        return None
    own = sorted(changes.get(BODY, ()))
    regions = [
        (Interval(each.start, each.end), new)
        for each, mark in zip(document.regions, document.marks, strict=True)
        for first, last, new in own if first < mark[1] and mark[0] < last
    ]
    lines = tuple(line for line in _lines(document.transcript, own, regions) if line)
    return MutedTranscript(lines, tuple(document.muted(changes)), document.file.seconds)


def _lines(
    transcript: Transcript, changes: Sequence[Change], regions: Sequence[tuple[Interval, str]]
) -> Iterator[tuple[Said, ...]]:
    """Yield the stretches of each line. A piece that is changed in part is left out, except for the new words.

    Args:
        regions: parts without words, and the new words for them. What is said in them is left out, too.
    """
    waiting = deque(sorted((Said(" ".join(new.split()), time, replaced=True) for time, new in regions), key=_start))
    line: list[Said] = []
    written: set[Change] = set()
    before = 0
    for piece in transcript.pieces:
        if "\n" in transcript.text[before : piece.start]:
            yield tuple(line)
            line = []
        before = piece.end
        while waiting and waiting[0].time.start <= piece.time.start:
            line.append(waiting.popleft())
        touching = [each for each in changes if each[0] < piece.end and piece.start < each[1]]
        for change in touching:
            time = transcript.time(change[0], change[1])
            if change not in written and change[2].strip() and time is not None:
                line.append(Said(" ".join(change[2].split()), time, replaced=True))
            written.add(change)
        cut = any(time.start < piece.time.end and piece.time.start < time.end for time, _ in regions)
        if not touching and not cut and piece.words:
            line.append(Said(transcript.text[piece.start : piece.end], piece.time, replaced=False))
    yield (*line, *waiting)


def _start(said: Said) -> float:
    return said.time.start


def _joined(line: Sequence[Said]) -> str:
    return " ".join(said.words for said in line)


def _clock(seconds: float, point: str) -> str:
    milliseconds = round(seconds * 1000)
    minutes, rest = divmod(milliseconds, 60_000)
    return f"{minutes // 60:02}:{minutes % 60:02}:{rest // 1000:02}{point}{rest % 1000:03}"
