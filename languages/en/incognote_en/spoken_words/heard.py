"""The words of a transcript as they are read, and the pieces of written text that come from them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from incognote.languages import language

PAUSE = 0.5
"""After a pause of this many seconds, an utterance ends."""
_LETTER = re.compile(r"\A([a-z])\.(?:'?s)?\Z")
_OPEN = frozenset(
    "a an the my your his her our their its and or but of to in at on for with from by is are was were am be i'm it's "
    "that's name's i doctor mister missus mrs mr ms nurse miss saint area code dash dot slash "
    "at underscore called named double triple oh room extension as like than because this very so".split()
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the written text, before it has an offset.

    Args:
        text: what is written.
        first, last: it comes from words `first` up to `last`.
        kind: `word`, `number`, `date`, `mail`, `label` (an abbreviation), `sign` (spoken punctuation), `spelled`
            (letters), or `code` (figures one by one, and identifiers).
    """

    text: str = field(repr=False)
    first: int
    last: int
    kind: str = "word"

    @property
    def is_word(self) -> bool:
        """Whether it is one word as it was heard."""
        return self.kind == "word"


class Heard:
    """Words in lower case, and where utterances end.

    Attributes:
        words: one for each word that was heard; a letter has no period.
        ends: whether an utterance ends after the word.
    """

    def __init__(self, words: Sequence[str], pauses: Sequence[float] | None) -> None:
        self.words = [_LETTER.sub(r"\1", word.lower().replace("\u2019", "'")) for word in words]
        self.ends = [False] * len(words)
        if pauses is not None:
            self.ends = [pause >= PAUSE and word not in _OPEN for word, pause in zip(self.words, pauses, strict=True)]
        if self.ends:
            self.ends[-1] = True

    def __len__(self) -> int:
        return len(self.words)

    def at(self, i: int) -> str:
        """The i-th word, "" outside the transcript."""
        return self.words[i] if 0 <= i < len(self.words) else ""

    def ended(self, first: int, last: int) -> bool:
        """Whether an utterance ends after any of the words `first` to `last - 1`."""
        return any(self.ends[max(first, 0) : max(last, 0)])

    def before(self, i: int, count: int) -> list[str]:
        """The words before the i-th one, at most `count`, over the ends of utterances."""
        return self.words[max(i - count, 0) : i]

    def says(self, i: int, phrase: Sequence[str]) -> bool:
        """Whether a phrase begins at the i-th word."""
        return self.words[i : i + len(phrase)] == list(phrase)


@cache
def lists() -> dict[str, frozenset[str]]:
    """The word lists of `spoken.toml`, by name."""
    table = language("en").table("spoken_words", "spoken.toml")
    return {name: frozenset(words.split()) for name, words in table["words"].items()}
