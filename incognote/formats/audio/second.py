"""Listen to a muted recording again: to a slower copy, and with another recognizer where one is configured.

A word counts if the first reading has no word at its time, or another one with less confidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from incognote.formats.audio.hearing import Hearing, heard, hearing
from incognote.formats.audio.transcript import TimedPiece, Transcript, transcript
from incognote.speech.files import SoundFile
from incognote.speech.intervals import intersection, seconds
from incognote.speech.nouns import RATE, Heard, Interval

if TYPE_CHECKING:
    from incognote.speech.nouns import Samples

BLOCK = 10.0
_SLOWER = 1.06
_SURE = 0.6  # the least confidence of a word that counts
_SAME = 0.5  # the share of a piece that another one shares if both are the same speech


def texts(data: bytes) -> Iterator[str]:
    """Yield what is said in a recording, line by line."""
    how = hearing()
    yield from transcript(heard(SoundFile(data).blocks(BLOCK), how), how.language).text.splitlines()


def heard_again(file: SoundFile, how: Hearing) -> Transcript:
    """Return what is heard in a slower copy of an output, with the times of the output."""
    slow = heard(_slower(file.blocks(BLOCK)), how)
    return transcript(_faster(slow, file.seconds), how.language)


def unheard(
    again: Transcript, first: Transcript, muted: Sequence[Interval]
) -> Iterator[tuple[str, list[tuple[int, int, tuple[int, int] | None]]]]:
    """Yield the lines of an output with words that the first reading does not have.

    Args:
        again: from `heard_again`. first: what was heard in the original. muted: the muted parts.

    Returns:
        Each line, and its words that count: their stretch of the line, and the stretch of the first text at the same
        time, or None if there is none.
    """
    start = 0
    for line in again.text.split("\n"):
        end = start + len(line)
        own = [each for each in again.pieces if start <= each.start < end and each.words]
        parts = [
            (each.start - start, each.end - start, first.at(_middle(each.time)))
            for each in own if _counts(each, again, first, muted)
        ]  # fmt: skip
        if parts:
            yield line, parts
        start = end + 1


def _counts(piece: TimedPiece, again: Transcript, first: Transcript, muted: Sequence[Interval]) -> bool:
    """Whether a piece of the second reading is audible and is not what the first one read."""
    length = piece.time.end - piece.time.start
    if seconds(intersection([piece.time], muted)) > _SAME * length:
        return False
    words = [again.heard.words[number] for number in piece.words]
    sure = min(word.confidence for word in words)
    if sure < _SURE:
        return False
    stretch = first.at(_middle(piece.time))
    if stretch is None:
        return True
    under = [first.heard.words[n] for each in first.touched(*stretch) for n in each.words]
    said = " ".join(word.text.casefold() for word in under)
    new = [word.text.casefold() for word in words if word.text.casefold() not in said]
    return bool(new) and sure > max((word.confidence for word in under), default=0.0)


def _middle(time: Interval) -> Interval:
    """Return the middle half of a time."""
    quarter = (time.end - time.start) / 4
    return Interval(time.start + quarter, time.end - quarter)


def _slower(blocks: Iterable[Samples]) -> Iterator[Samples]:
    import numpy as np

    from incognote.speech.resampling import resampled

    floats = (block.astype(np.float32) for block in blocks)
    for block in resampled(floats, RATE, round(RATE * _SLOWER)):
        yield np.clip(block, -32768, 32767).astype(np.int16)


def _faster(slow: Heard, length: float) -> Heard:
    """Return what was heard in a slower copy with the times of the recording."""

    def of(time: Interval) -> Interval:
        return Interval(min(time.start / _SLOWER, length), min(time.end / _SLOWER, length))

    words = (replace(word, start=of(word.interval).start, end=of(word.interval).end) for word in slow.words)
    return Heard(tuple(words), tuple(map(of, slow.voiced)), tuple(map(of, slow.gaps)), length)
