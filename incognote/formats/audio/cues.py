"""Words after or before which an identifier is said, such as "my name is"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from incognote.languages import language
from incognote.speech.nouns import HeardWord

_LONG_PAUSE = 1.5  # seconds after which a cue has no effect


@dataclass(frozen=True, slots=True)
class Cue:
    """Words that announce an identifier.

    Args:
        type: the entity type.
        seconds: how long the identifier may last.
        sure: whether an identifier nearly always follows.
    """

    type: str
    seconds: float
    sure: bool


class Cued(NamedTuple):
    """A cue, and the distance of a word from it: 0 for the word beside it."""

    cue: Cue
    away: int


@cache
def _cues(code: str, side: str) -> dict[tuple[str, ...], Cue]:
    """Return the cues of a language by their words."""
    table = language(code).table("speech", "cues.toml")
    return {
        tuple(words.split()): Cue(each["type"], each["seconds"], each["sure"])
        for each in table.get(side, ())
        for words in each["words"]
    }


@cache
def words_of(code: str, kind: str) -> frozenset[str]:
    """Return the words of a kind, as the language names them: `function`, `numbers`, `figures`, `months`, `units`, …

    Args:
        code: the language (ISO 639-1).
    """
    return frozenset(language(code).table("speech", "words.toml").get(kind, "").split())


def is_letter(word: str, code: str) -> bool:
    """Whether a letter is said by its name."""
    plain = word.lower().rstrip(".")
    return len(plain) == 1 and plain.isalpha() and plain not in words_of(code, "single")


def cued(words: Sequence[HeardWord], code: str) -> list[Cued | None]:
    """Return for each word the cue that announces it, or None. A sure cue comes before another, then a nearer one.

    Args:
        code: the language (ISO 639-1).
    """
    found: list[Cued | None] = [None] * len(words)
    said = _plain(words)
    for last, cue in _found(said, _cues(code, "after")):
        end = words[last].end
        for at in range(last + 1, len(words)):
            if words[at].start - end > cue.seconds or words[at].start - words[at - 1].end > _LONG_PAUSE:
                break
            found[at] = _better(found[at], Cued(cue, at - last - 1))
    for last, cue in _found(said, _cues(code, "before")):
        first = last
        while first and said[first : last + 1] and tuple(said[first : last + 1]) not in _cues(code, "before"):
            first -= 1
        for at in range(first - 1, -1, -1):
            if words[first].start - words[at].end > cue.seconds:
                break
            found[at] = _better(found[at], Cued(cue, first - 1 - at))
    return found


def asked(said: Sequence[str], code: str) -> frozenset[str]:
    """Return which kinds of identifiers some words ask for, as the language names them.

    Args:
        said: in lower case, without periods.
        code: the language (ISO 639-1).
    """
    text = f" {' '.join(said)} "
    table = language(code).table("speech", "cues.toml").get("asking", {})
    return frozenset(kind for kind, words in table.items() if any(f" {each} " in text for each in words))


def announcing(words: Sequence[HeardWord], code: str) -> dict[int, Cue]:
    """Return the cues before an identifier, by their last word."""
    return dict(_found(_plain(words), _cues(code, "after")))


def _plain(words: Sequence[HeardWord]) -> list[str]:
    return [word.text.lower().replace(".", "") for word in words]


def _found(said: Sequence[str], cues: dict[tuple[str, ...], Cue]) -> Iterator[tuple[int, Cue]]:
    """Yield the last word of each cue, and the cue. The longest one counts."""
    longest = max(map(len, cues), default=0)
    for last in range(len(said)):
        for length in range(min(longest, last + 1), 0, -1):
            cue = cues.get(tuple(said[last + 1 - length : last + 1]))
            if cue is not None:
                yield last, cue
                break


def _better(one: Cued | None, two: Cued) -> Cued:
    if one is None or (two.cue.sure, -two.away) > (one.cue.sure, -one.away):
        return two
    return one
