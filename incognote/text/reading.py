"""The reading of a text: the text as a reader sees it, with a mapping of its offsets to the original.

Rules, encoder, known identifiers, sweep, relexicalization and audit all use this view, so a disguise that it undoes is
undone for all of them. A language model gets the original text. The text itself never changes: a span found in the view
covers everything in the original that its words came from.

The stages run in this order: escapes (up to three deep), characters, markup, words. Each stage adds a `Shift`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate

from incognote.offsets import Shift
from incognote.text import (
    Vocabulary,
    breaks,
    characters,
    digits,
    encoded,
    escapes,
    gaps,
    labels,
    layout,
    markup,
    shape,
    speech,
)
from incognote.text.escapes import Edit
from incognote.text.parts import sections

Stretch = tuple[int, int]
_DEEP = 3
_TYPOGRAPHIC = frozenset("\u00adﬁﬂﬀﬃﬄ")
_GREEK = frozenset("αβγδεζηθικλμνξοπρστυφχψωΑΒΓΔΘΛΣΦΨΩ")
_TOKEN = re.compile(r"[^\W\d_]+|\d+")
# Characters that may need folding: non-ASCII, control characters, and the symbols of escapes, tags and emphasis.
_ODD = re.compile(r"[^\t\n\r\x1a -~]|[&<%\\=*_+`~\]}^\"]|'(?:'|\|\|)|har\(|h[rR]\(|H[AR]|ode\(")
_LOST = re.compile("[\ufffd\ue000-\uf8ff]")
_ARABIC, _LATIN, _NATIVE = re.compile("[\u0621-\u064a]{2,}"), re.compile("[A-Za-z]{2,}"), 3
_ARABIC_NUMBER = re.compile("[\u0660-\u0669\u06f0-\u06f9]+")


@dataclass(frozen=True, slots=True)
class Fragment:
    """A stretch that contains a separate text: an encoded block, the attributes of a tag, a comment.

    Attributes:
        start, end: code points of the original.
        words: the text; empty if it cannot be read.
        goes: the whole stretch must be removed, whatever is found in the words.
    """

    start: int
    end: int
    words: str = field(repr=False)
    goes: bool


class Reading:
    """A text, the text as a reader sees it, and the mapping between them.

    Attributes:
        text: the original text.
        seen: the text as a reader sees it.
        fragments: stretches that contain separate texts.
        unsure: stretches (start, end) of the original that could not be folded with certainty.
        disguised: stretches of `seen`: words and long numbers that were disguised in the original and are not ordinary.
            They are always removed.
    """

    __slots__ = ("_shifts", "disguised", "fragments", "seen", "text", "unsure")

    def __init__(
        self, text: str, seen: str, shifts: tuple[Shift, ...] = (), fragments: tuple[Fragment, ...] = (),
        unsure: tuple[Stretch, ...] = (), disguised: tuple[Stretch, ...] = (),
    ) -> None:  # fmt: skip
        self.text, self.seen, self.fragments, self.unsure, self.disguised = text, seen, fragments, unsure, disguised
        self._shifts = shifts

    @property
    def plain(self) -> bool:
        """Whether a reader sees the original text, so that offsets need no mapping."""
        return not self._shifts

    @property
    def as_written(self) -> bool:
        """Whether the text is plain and has no fragments or unsure stretches."""
        return not (self._shifts or self.fragments or self.unsure)

    def back(self, start: int, end: int) -> tuple[int, int]:
        """Return the stretch of the original that a nonempty stretch of `seen` came from."""
        for shift in reversed(self._shifts):
            start, end = shift.back(start), shift.back(end, end=True)
        return start, max(end, start)

    def forward(self, start: int, end: int) -> tuple[int, int]:
        """Return the stretch of `seen` for a stretch of the original. It is empty if all of it is invisible."""
        for shift in self._shifts:
            start, end = shift.forward(start), shift.forward(end, end=True)
        return start, max(end, start)


def read(text: str, vocabulary: Vocabulary) -> Reading:
    """Return the reading of a text. The time is linear in its length, and nothing is cached."""
    made = [_read(text[start:end], vocabulary) for start, end in sections(text)] or [Reading("", "")]
    return made[0] if len(made) == 1 else _joined(text, made)


def _read(text: str, vocabulary: Vocabulary, deep: int = 0) -> Reading:
    work = _Work(text)
    if _ODD.search(text):
        work.edit(gaps.folded(text))
        _characters(work, vocabulary.known)
        _markup(work)
    _words(work, vocabulary)
    fragments = tuple(one for each in work.fragments for one in _inner(each, vocabulary, deep))
    unsure, disguised = tuple(work.unsure), tuple(_disguised(work, vocabulary))
    return Reading(text, work.text, tuple(work.shifts), fragments, unsure, disguised)


def _inner(fragment: Fragment, vocabulary: Vocabulary, deep: int) -> Iterator[Fragment]:
    """Yield a fragment with the reading of its words, and the fragments in it."""
    if not fragment.words or deep >= _DEEP:
        yield fragment
        return
    made = _read(fragment.words, vocabulary, deep + 1)
    goes = fragment.goes or bool(made.disguised or made.unsure)
    yield replace(fragment, words=made.seen, goes=goes)
    for one in made.fragments:
        yield replace(fragment, words=one.words, goes=one.goes)


def _joined(text: str, made: Sequence[Reading]) -> Reading:
    """Combine the readings of the sections of a text."""
    sizes = [len(one.text) for one in made]
    first = starts = [0, *accumulate(sizes)]
    shifts: list[Shift] = []
    for stage in range(max(len(one._shifts) for one in made)):
        here = [one._shifts[stage] if stage < len(one._shifts) else Shift(()) for one in made]
        sizes = [size + shift.growth for size, shift in zip(sizes, here, strict=True)]
        new = [0, *accumulate(sizes)]
        shifts.append(Shift(moved for shift, *at in zip(here, starts, new, strict=False) for moved in shift.moved(*at)))
        starts = new
    return Reading(
        text,
        "".join(one.seen for one in made),
        tuple(shifts),
        tuple(
            replace(f, start=at + f.start, end=at + f.end)
            for one, at in zip(made, first, strict=False)
            for f in one.fragments
        ),
        tuple((at + a, at + b) for one, at in zip(made, first, strict=False) for a, b in one.unsure),
        tuple((at + a, at + b) for one, at in zip(made, starts, strict=False) for a, b in one.disguised),
    )


def seen(words: str) -> str:
    """Return a few words as a reader sees them, without the steps that need context or a vocabulary."""
    if not _ODD.search(words):
        return words
    work = _Work(words)
    _characters(work, lambda _: False)
    _markup(work)
    return work.text


class _Work:
    """A text during the stages, with the shifts so far."""

    def __init__(self, text: str) -> None:
        self._given = text
        self.text = text
        self.shifts: list[Shift] = []
        self.fragments: list[Fragment] = []
        self.unsure: list[Stretch] = []
        self.changed: list[tuple[int, int, int]] = []  # (stage, start, end): folded stretches, as after the stage
        self._kinds: bytes | None = None

    @property
    def kinds(self) -> bytes:
        """The shape of the current text."""
        if self._kinds is None:
            self._kinds = shape.shape(self.text)
        return self._kinds

    def tokens(self) -> list[tuple[int, str]]:
        return shape.odd_tokens(self.text, self.kinds)

    def edit(self, edits: Iterable[Edit], *, disguise: bool = False) -> bool:
        """Apply edits. An edit that overlaps an earlier one is skipped.

        Args:
            disguise: the edits undo disguises of words.
        """
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
        self.text, self._kinds = "".join([*pieces, self.text[at:]]), None
        self.shifts.append(Shift(moved))
        if disguise:
            self.changed += ((len(self.shifts), new_start, new_end) for _, _, new_start, new_end in moved)
        return True

    @cached_property
    def in_arabic(self) -> bool:
        """Whether the original has more Arabic words than others, so that Arabic digits are its own."""
        words = len(_ARABIC.findall(self._given))
        return words >= _NATIVE and words > len(_LATIN.findall(self._given))

    def original(self, start: int, end: int) -> tuple[int, int]:
        return Reading("", "", tuple(self.shifts)).back(start, end)

    def originally(self, start: int, end: int) -> str:
        start, end = self.original(start, end)
        return self._given[start:end]


def _characters(work: _Work, known: Callable[[str], bool]) -> None:
    strange = characters.strange(work.text)
    for start, end, words in characters.hidden(work.text) if strange else ():
        work.fragments.append(Fragment(start, end, words or "", words is None))
    for _ in range(_DEEP):
        if not work.edit(escapes.decoded(work.text), disguise=True):
            break
        strange = characters.strange(work.text)
    if strange:
        work.edit(sorted(characters.turned(work.text, known)), disguise=True)
    work.edit(characters.folded(work.text), disguise=True)
    if strange:
        work.edit(sorted(characters.digits_above(work.text)), disguise=True)
        work.edit(characters.symbols(work.text), disguise=True)
        edits, unsure = characters.look_alikes(work.text)
        work.unsure += (work.original(*stretch) for stretch in (*unsure, *_unreadable(work.text)))
        work.edit(edits, disguise=True)


def _unreadable(text: str) -> Iterator[tuple[int, int]]:
    """Yield replacement characters and private-use characters inside words: an unknown letter was there."""
    if text.isascii():
        return
    for match in _LOST.finditer(text):
        start, end = match.span()
        before, after = text[start - 1 : start], text[end : end + 1]
        if (
            before.isalpha()
            and after.isalpha()
            and not labels().SHORT_ENDS.match(text[end : end + 3])
        ):
            yield start, end


def _markup(work: _Work) -> None:
    for start, end, words in markup.hidden(work.text):
        work.fragments.append(Fragment(*work.original(start, end), words, False))
    work.edit(sorted(markup.unmarked(work.text)), disguise=True)


def _words(work: _Work, vocabulary: Vocabulary) -> None:
    tokens = work.tokens()
    if work.edit(sorted(digits.untwisted(tokens, vocabulary)), disguise=True):
        tokens = work.tokens()
    for block in encoded.blocks(work.text, work.kinds, tokens, vocabulary):
        goes = block.words is None or not encoded.ordinary(block.words, vocabulary)
        work.fragments.append(Fragment(*work.original(block.start, block.end), block.words or "", goes))
    changed = work.edit(breaks.wraps(work.text, vocabulary))
    changed |= work.edit(sorted(layout.spaced(work.text, work.kinds, vocabulary)), disguise=True)
    apart = (*layout.spread(work.text, work.kinds, vocabulary), *digits.parted(work.text, work.kinds))
    changed |= work.edit(sorted(apart))
    changed |= work.edit(breaks.cells(work.text, vocabulary) if "|" in work.text or "\t" in work.text else ())
    changed |= work.edit(sorted(breaks.together(work.text, work.kinds, vocabulary)), disguise=True)
    changed |= work.edit(sorted(speech().edits(work.text), key=lambda edit: (edit[0], -edit[1])), disguise=True)
    tokens = work.tokens() if changed else tokens
    if work.edit(digits.alike(work.text, tokens), disguise=True):
        tokens = work.tokens()
    work.edit(sorted((*digits.meant(tokens, vocabulary), *layout.glued(tokens, vocabulary))))


def _disguised(work: _Work, vocabulary: Vocabulary) -> Iterator[Stretch]:
    """Yield the tokens that were folded inside and are neither ordinary words nor short numbers."""
    done = 0
    places = []
    for stage, start, end in work.changed:
        for shift in work.shifts[stage:]:
            start, end = shift.forward(start), shift.forward(end, end=True)
        places.append((start, max(end, start)))
    for start, end in sorted(set(places)):
        if end <= done:  # in a word that was already checked
            continue
        first = start
        while first > done and work.text[first - 1].isalnum():
            first -= 1
        last = end
        while last < len(work.text) and work.text[last].isalnum():
            last += 1
        for match in _TOKEN.finditer(work.text, first, last):
            a, b = match.span()
            if not (a < end and start < b if end > start else a < start < b):
                continue
            done = b
            written = work.originally(a, b)
            native = _ARABIC_NUMBER.fullmatch(written) and work.in_arabic
            if not native and not _ordinary(match[0], written, vocabulary):
                yield a, b


def _ordinary(token: str, written: str, vocabulary: Vocabulary) -> bool:
    """Whether a token is harmless although it was not written plainly: a common word, or only typography."""
    if token.isdigit():
        return len(token) < 4
    word = characters.without_marks(token.lower())
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return True
    weight = vocabulary.name(word)
    if vocabulary.known(word):
        return weight < 2 or (vocabulary.usual(word) and (weight < 7 or token.islower()))
    if weight < 2 and "\x0c" in written:  # a page break between two words
        return all(map(vocabulary.usual, written.lower().split("\x0c")))
    strange = [c for c in written if not c.isascii()]
    return bool(strange) and (
        _TYPOGRAPHIC.issuperset(strange)
        or (len(strange) == 1 and strange[0] in _GREEK and strange[0] in written[:1] + written[-1:])
    )
