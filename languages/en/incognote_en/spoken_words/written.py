"""The written form of spoken English: figures, dates, spelled words, addresses, upper case, and periods."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from incognote.languages import Written, WrittenStretch
from incognote.text.lexicon import MEDICAL, given, lexicon, surname
from incognote_en.spoken_words.cases import Words, capital, raise_names, written_word
from incognote_en.spoken_words.codes import alike, code
from incognote_en.spoken_words.dates import date
from incognote_en.spoken_words.heard import PAUSE, Heard, Piece
from incognote_en.spoken_words.mails import mails
from incognote_en.spoken_words.signs import signs

_MARKED = re.compile(r"[^\W_][.,?!;:]\Z|[A-Z]")
_LETTER = re.compile(r"[A-Za-z]\.|I(?:'\w+)?\Z")
_LEAST = 20
"""Words are already written if one in this many has a capital letter or ends in punctuation."""
_NEAR = 6
"""A part of an address is spelled at most this many words after it."""
_SENTENCE = re.compile(r"[.?!][\"')\]]?\Z")


def written(words: Sequence[str], pauses: Sequence[float] | None = None) -> Written:
    """Return the written form of words as a recognizer heard them.

    Words that are already written, with capitals and punctuation, stay as they are.

    Args:
        words: without spaces around them, and not empty.
        pauses: the silence after each word, in seconds. None if it is not known; then the text is one line.

    Raises:
        ValueError: words and pauses differ in number.
    """
    if pauses is not None and len(words) != len(pauses):
        raise ValueError("there must be a pause for each word")
    if is_written(words):
        return _joined([Piece(word, i, i + 1) for i, word in enumerate(words)], _as_written(words, pauses))
    of = read(words, pauses)
    texts = [written_word(of, k) for k in range(len(of.pieces))]
    for k, piece in enumerate(of.pieces):
        if piece.is_word and (not of.follows(k) or texts[k - 1] in (".", "?", ":", "\n")):
            texts[k] = capital(texts[k])
    gaps = [_gap(of, k, texts) for k in range(len(texts))]
    pieces = [Piece(text, p.first, p.last, p.kind) for text, p in zip(texts, of.pieces, strict=True)]
    return _joined(pieces, gaps)


def read(words: Sequence[str], pauses: Sequence[float] | None = None) -> Words:
    """Return the pieces of the written form, and which of them are names."""
    heard = Heard(words, pauses)
    of = Words(heard, _with_spelled(heard, _pieces(heard)))
    raise_names(of)
    return of


def _gap(of: Words, k: int, texts: Sequence[str]) -> str:
    """What is written after the k-th piece: the end of a line, or a comma between two numbers or places, or a blank."""
    after = of.pieces[k + 1] if k + 1 < len(texts) else None
    if texts[k] == "\n" or (after is not None and after.kind == "sign" and after.text != "("):
        return ""
    if of.ends[k]:
        return "\n" if texts[k][-1:] in ".:;,?" else ".\n"
    figures = [0 <= j < len(texts) and texts[j][-1:].isdigit() for j in (k, k + 1)]
    return ", " if all(figures) or k in of.towns else " " if texts[k] != "(" else ""


def is_written(words: Sequence[str]) -> bool:
    """Whether words have the capitals and the punctuation of written text."""
    marked = sum(1 for word in words if _MARKED.search(word) and not _LETTER.fullmatch(word))
    return marked > 0 and marked * _LEAST >= len(words)


def _as_written(words: Sequence[str], pauses: Sequence[float] | None) -> list[str]:
    """What follows each word of written text: a line ends where a sentence ends before a pause."""
    times = pauses or [0.0] * len(words)
    ends = [pause >= PAUSE and _SENTENCE.search(word) for word, pause in zip(words, times, strict=True)]
    return ["\n" if end else " " for end in ends]


def _pieces(heard: Heard) -> list[Piece]:
    pieces: list[Piece] = []
    sure = {piece.first: piece for piece in mails(heard)} | signs(heard)
    firsts = [*sorted(sure), len(heard)]
    i = 0
    while i < len(heard):
        if i in sure:
            found = [sure[i]]
        else:
            stop = firsts[bisect_right(firsts, i)]
            found = _found(heard, i, stop) or [Piece(heard.at(i), i, i + 1)]
        pieces += found
        i = found[-1].last
    return pieces


def _found(heard: Heard, i: int, stop: int) -> list[Piece]:
    """The pieces of a date or a number that begins at a word and ends before `stop`; empty if there is none."""
    day = date(heard, i)
    if day is not None and day.last <= stop:
        return [day]
    found = code(heard, i)
    return found if found and found[-1].last <= stop else []


def _with_spelled(heard: Heard, pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces with each spelled word joined to the word before it that it spells."""
    joined: list[Piece] = []
    for piece in pieces:
        before = joined[-1] if joined else None
        if piece.kind == "spelled" and before is not None and len(piece.text) > 2:
            adjacent = (before.is_word or before.kind == "spelled") and not heard.ended(before.first, piece.first)
            if adjacent and len(before.text) > 1 and alike(before.text, piece.text):
                medicine = lexicon().get(before.text, 0) & MEDICAL
                text, kind = (before.text, "label") if medicine else (piece.text, "spelled")
                joined[-1] = Piece(text, before.first, piece.last, kind)
                continue
        if piece.kind == "spelled" and (address := _spelled_address(joined, piece)) >= 0:
            joined[address:] = [Piece(joined[address].text, joined[address].first, piece.last, "mail")]
            continue
        joined.append(piece)
    return joined


def _spelled_address(pieces: Sequence[Piece], spelled: Piece) -> int:
    """Which piece is an address that ends shortly before a spelled word and contains it; -1 if none."""
    for k in range(len(pieces) - 1, max(len(pieces) - _NEAR - 2, -1), -1):
        if pieces[k].kind == "mail":
            near = spelled.first - pieces[k].last <= _NEAR and len(spelled.text) > 2
            entry = lexicon().get(spelled.text.lower(), 0)
            near &= max(given(entry), surname(entry)) < 4
            return k if near and spelled.text.lower() in pieces[k].text else -1
    return -1


def _joined(pieces: Sequence[Piece], after: Sequence[str]) -> Written:
    text: list[str] = []
    stretches: list[WrittenStretch] = []
    at = 0
    for piece, gap in zip(pieces, after, strict=True):
        spelled = piece.kind in ("spelled", "code")
        stretches.append(WrittenStretch(at, at + len(piece.text), piece.first, piece.last, spelled))
        text.append(piece.text + gap)
        at += len(piece.text) + len(gap)
    return Written("".join(text).removesuffix(" "), tuple(stretches))
