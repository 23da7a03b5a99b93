"""The text of a recording: a line for each utterance, and the time of each stretch.

Speech without words is a token in the text, as in RedactOR, A.5.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from incognote.speech.nouns import Heard, HeardWord, Interval
from incognote.text.gaps import token

LONG_PAUSE = 0.7
"""A pause of this many seconds ends an utterance."""


class Piece(NamedTuple):
    """A stretch of a transcript.

    Args:
        start, end: in code points of the text.
        words: the range of the words that were heard; empty for speech without words.
        time: in seconds of the recording.
    """

    start: int
    end: int
    words: range
    time: Interval


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said in a recording.

    Args:
        text: a line for each utterance.
        pieces: the stretches of the text, in order. They do not overlap.
        heard: the words and gaps.
    """

    text: str = field(repr=False)
    pieces: tuple[Piece, ...] = field(repr=False)
    heard: Heard = field(repr=False)

    def touched(self, start: int, end: int) -> list[Piece]:
        """Return the pieces of a stretch of the text."""
        return [each for each in self.pieces if each.start < end and start < each.end]

    def time(self, start: int, end: int) -> Interval | None:
        """Return the time of a stretch of the text, from its first to its last piece. None if it has none."""
        pieces = self.touched(start, end)
        if not pieces:
            return None
        return Interval(min(each.time.start for each in pieces), max(each.time.end for each in pieces))

    def stretch(self, words: range) -> tuple[int, int] | None:
        """Return the stretch of the text with some of the words."""
        own = [each for each in self.pieces if each.words.start < words.stop and words.start < each.words.stop]
        return (own[0].start, own[-1].end) if own else None

    def at(self, time: Interval) -> tuple[int, int] | None:
        """Return the stretch of the text with a time. None if there is none."""
        own = [each for each in self.pieces if each.time.start < time.end and time.start < each.time.end]
        return (own[0].start, own[-1].end) if own else None


def transcript(heard: Heard, language: str) -> Transcript:
    """Return the written form of what was heard.

    Args:
        language: ISO 639-1. Its bundle writes numbers, spelled words, and names, if it can.
    """
    text: list[str] = []
    pieces: list[Piece] = []
    at = 0
    for line in utterances(heard):
        if text:
            text.append("\n")
            at += 1
        for number, (said, words, time) in enumerate(_line(heard, line, language)):
            if number:
                text.append(" ")
                at += 1
            text.append(said)
            pieces.append(Piece(at, at + len(said), words, time))
            at += len(said)
    return Transcript("".join(text), tuple(pieces), heard)


def utterances(heard: Heard) -> Iterator[list[int | Interval]]:
    """Yield the words (by number) and gaps of each utterance. A long pause without a voice ends it."""
    items: list[tuple[Interval, int | Interval]] = [(word.interval, n) for n, word in enumerate(heard.words)]
    items += [(gap, gap) for gap in heard.gaps]
    line: list[int | Interval] = []
    before = 0.0
    for time, item in sorted(items, key=lambda each: (each[0].start, each[0].end)):
        if line and time.start - before > LONG_PAUSE:
            yield line
            line = []
        line.append(item)
        before = max(before, time.end)
    if line:
        yield line


def _line(
    heard: Heard, line: Sequence[int | Interval], language: str
) -> Iterator[tuple[str, range, Interval]]:
    """Yield the words of each stretch of an utterance, the range of what was heard, and the time.

    A gap within a number or a spelled word follows it.
    """
    numbers = [item for item in line if isinstance(item, int)]
    gaps = [item for item in line if isinstance(item, Interval)]
    if numbers:
        first = numbers[0]
        words = heard.words[first : numbers[-1] + 1]
        for said, own in _written(words, language):
            mine = range(first + own.start, first + own.stop)
            time = Interval(heard.words[mine.start].start, heard.words[mine.stop - 1].end)
            while gaps and gaps[0].start < time.start:
                yield _token(gaps.pop(0))
            yield said, mine, time
    for gap in gaps:
        yield _token(gap)


def _token(gap: Interval) -> tuple[str, range, Interval]:
    return token(gap.start, gap.end), range(0), gap


def _written(words: Sequence[HeardWord], language: str) -> Iterable[tuple[str, range]]:
    """Yield the written form of words, stretch by stretch, with the range of words of each."""
    for number, word in enumerate(words):
        yield word.text, range(number, number + 1)
