"""One reading of a text: what a reader sees, and the way back to every offset of the original.

Rules, encoder, known identifiers, sweep, relexicalization, models and audit all read this view, so what one of them
cannot miss none of them misses. The text itself never changes: spans found in the view cover, in the original, all that
the seen words came from.

The stages run in this order: escapes (up to three deep), characters, markup, words. Each leaves a `Shift`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from incognote.offsets import Shift
from incognote.text import characters, encoded, escapes, layout, markup
from incognote.text.escapes import Edit
from incognote.text.vocabulary import Vocabulary

_DEEP = 3
# Of ASCII, what may need more than a look: the signs of an escape, of a tag or of emphasis, and control characters.
_SIGNS = "&<%\\=*_+`~"
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x19\x1b-\x1f\x7f]")
_WORDS = re.compile("[\ufffd\ue000-\uf8ff]")


@dataclass(frozen=True, slots=True)
class Fragment:
    """A stretch that holds a text of its own: an encoded block, a tag's attributes, a comment.

    Attributes:
        start, end: code points of the original.
        words: the text; empty where nobody can read it.
        goes: the whole stretch is to be removed, whatever is found in the words.
    """

    start: int
    end: int
    words: str = field(repr=False)
    goes: bool


class Reading:
    """A text, what a reader sees of it, and the way back.

    Attributes:
        text: the original.
        seen: what a reader sees.
        fragments: stretches that are texts of their own.
        unsure: stretches (start, end) of the original that could not be folded with certainty.
    """

    __slots__ = ("_shifts", "fragments", "seen", "text", "unsure")

    def __init__(
        self, text: str, seen: str, shifts: tuple[Shift, ...] = (), fragments: tuple[Fragment, ...] = (),
        unsure: tuple[tuple[int, int], ...] = (),
    ) -> None:  # fmt: skip
        self.text, self.seen, self.fragments, self.unsure = text, seen, fragments, unsure
        self._shifts = shifts

    @property
    def plain(self) -> bool:
        """Whether a reader sees the text as it is, so that offsets need no way back."""
        return not self._shifts

    def back(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the original that a non-empty stretch of `seen` came from."""
        for shift in reversed(self._shifts):
            start, end = shift.back(start), shift.back(end, end=True)
        return start, max(end, start)

    def forward(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of `seen` that a stretch of the original became; empty where all of it is invisible."""
        for shift in self._shifts:
            start, end = shift.forward(start), shift.forward(end, end=True)
        return start, max(end, start)


def read(text: str, vocabulary: Vocabulary) -> Reading:
    """The reading of a text. Linear in its length; keeps nothing of it."""
    work = _Work(text)
    if _odd(text):
        _characters(work)
        _markup(work)
    _words(work, vocabulary)
    return Reading(text, work.text, tuple(work.shifts), tuple(work.fragments), tuple(work.unsure))


def seen(words: str) -> str:
    """A few words as a reader sees them, without what needs their surroundings or a vocabulary."""
    if not _odd(words):
        return words
    work = _Work(words)
    _characters(work)
    _markup(work)
    return work.text


def _odd(text: str) -> bool:
    return not text.isascii() or any(sign in text for sign in _SIGNS) or _CONTROLS.search(text) is not None


class _Work:
    """A text under way, with the shifts so far."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.shifts: list[Shift] = []
        self.fragments: list[Fragment] = []
        self.unsure: list[tuple[int, int]] = []

    def edit(self, edits: Iterable[Edit]) -> bool:
        """Apply edits; those that overlap an earlier one are left out."""
        pieces: list[str] = []
        moved: list[tuple[int, int, int, int]] = []
        at = out = 0
        for start, end, words in edits:
            if start < at:
                continue
            pieces += (self.text[at:start], words)
            out += start - at
            moved.append((start, end, out, out + len(words)))
            out += len(words)
            at = end
        if not moved:
            return False
        self.text = "".join([*pieces, self.text[at:]])
        self.shifts.append(Shift(moved))
        return True

    def original(self, start: int, end: int) -> tuple[int, int]:
        return Reading("", "", tuple(self.shifts)).back(start, end)


def _characters(work: _Work) -> None:
    for start, end, words in characters.hidden(work.text):
        work.fragments.append(Fragment(start, end, words or "", words is None))
    for _ in range(_DEEP):
        if not work.edit(escapes.decoded(work.text)):
            break
    work.edit(characters.folded(work.text))
    work.edit(characters.digits_above(work.text) if not work.text.isascii() else ())
    edits, unsure = characters.look_alikes(work.text)
    work.unsure += (work.original(*stretch) for stretch in (*unsure, *_unreadable(work.text)))
    work.edit(edits)


def _unreadable(text: str) -> Iterator[tuple[int, int]]:
    """Replacement characters and characters of private use inside words: a letter was there, and nobody knows which."""
    if text.isascii():
        return
    for match in _WORDS.finditer(text):
        start, end = match.span()
        before, after = text[start - 1 : start], text[end : end + 1]
        if (
            before.isalpha()
            and after.isalpha()
            and not re.match(r"(?:s|t|d|m|re|ve|ll)(?![^\W_])", text[end : end + 3])
        ):
            yield start, end


def _markup(work: _Work) -> None:
    for start, end, words in markup.hidden(work.text):
        work.fragments.append(Fragment(*work.original(start, end), words, False))
    work.edit(markup.unmarked(work.text))


def _words(work: _Work, vocabulary: Vocabulary) -> None:
    tokens = layout.odd_tokens(work.text)
    for block in encoded.blocks(work.text, tokens, vocabulary):
        goes = block.words is None or not encoded.ordinary(block.words, vocabulary)
        work.fragments.append(Fragment(*work.original(block.start, block.end), block.words or "", goes))
    changed = work.edit(layout.wraps(work.text, vocabulary))
    changed |= work.edit(layout.spaced(work.text, vocabulary))
    changed |= work.edit(sorted(layout.spoken(work.text)))
    work.edit(sorted(layout.glued(layout.odd_tokens(work.text) if changed else tokens, vocabulary)))
