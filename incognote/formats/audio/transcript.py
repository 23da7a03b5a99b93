"""The text of a recording: a line for each utterance, and the time of each stretch.

Speech without words is a token in the text, as in RedactOR, A.5.1.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from incognote.speech.nouns import Heard, HeardWord, Interval
from incognote.text.gaps import token


class TimedPiece(NamedTuple):
    """A stretch of a transcript.

    Args:
        start, end: in code points of the text.
        words: the range of the words that were heard; empty for speech without words.
        time: in seconds of the recording.
        spelled: whether it was said letter by letter or figure by figure.
    """

    start: int
    end: int
    words: range
    time: Interval
    spelled: bool = False


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said in a recording.

    Args:
        text: a line for each utterance.
        pieces: the stretches of the text, in order. They do not overlap.
        heard: the words and gaps.
    """

    text: str = field(repr=False)
    pieces: tuple[TimedPiece, ...] = field(repr=False)
    heard: Heard = field(repr=False)

    def touched(self, start: int, end: int) -> list[TimedPiece]:
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


def pauses_of(words: Sequence[HeardWord]) -> list[float]:
    """Return the silence after each word, in seconds."""
    return [max(0.0, b.start - a.end) for a, b in pairwise(words)] + [0.0] * bool(words)


def transcript(heard: Heard, language: str) -> Transcript:
    """Return the written form of what was heard. A gap within a number or a spelled word follows it.

    Args:
        language: ISO 639-1. Its bundle writes numbers, spelled words, and names, if it can.
    """
    from incognote.languages import written

    words = heard.words
    made = written([word.text for word in words], pauses_of(words), language)
    gaps = deque(heard.gaps)
    text: list[str] = []
    pieces: list[TimedPiece] = []
    at = 0

    def add(new: str, said: range | None = None, time: Interval | None = None, *, spelled: bool = False) -> None:
        nonlocal at
        text.append(new)
        if said is not None and time is not None:
            pieces.append(TimedPiece(at, at + len(new), said, time, spelled))
        at += len(new)

    before = 0.0
    done = 0
    for stretch in made.stretches:
        said = range(stretch.first, stretch.last)
        time = Interval(words[said.start].start, words[said.stop - 1].end)
        near = []
        while gaps and gaps[0].start < time.start:
            gap = gaps.popleft()
            if done and gap.start - before <= time.start - gap.end:
                add(" ")
                add(token(gap.start, gap.end), range(0), gap)
            else:
                near.append(gap)
        add(made.text[done : stretch.start])
        for gap in near:
            add(token(gap.start, gap.end), range(0), gap)
            add(" ")
        add(made.text[stretch.start : stretch.end], said, time, spelled=stretch.spelled)
        before, done = time.end, stretch.end
    add(made.text[done:])
    for gap in gaps:
        if at:
            add(" ")
        add(token(gap.start, gap.end), range(0), gap)
    return Transcript("".join(text), tuple(pieces), heard)
