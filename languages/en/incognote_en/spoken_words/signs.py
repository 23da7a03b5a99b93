"""Punctuation that is spoken in a dictation: "comma", "period", "new paragraph"."""

from __future__ import annotations

from collections.abc import Iterator

from incognote_en.spoken_words.heard import Heard, Piece

_SIGNS = {
    "comma": ",",
    "period": ".",
    "colon": ":",
    "semicolon": ";",
    "full stop": ".",
    "question mark": "?",
    "new line": "\n",
    "newline": "\n",
    "next line": "\n",
    "new paragraph": "\n",
    "next paragraph": "\n",
    "open paren": "(",
    "close paren": ")",
    "open parenthesis": "(",
    "close parenthesis": ")",
}
_LEAST = 2
"""A transcript with this many of the words that are nothing else is a dictation."""
_SURE = ("comma", "semicolon", "full stop", "new line", "newline", "new paragraph", "next paragraph", "colon", "period")
_NOUNS = frozenset(
    "a the my her his your their this that last each every no menstrual monthly sigmoid descending ascending "
    "transverse distal proximal left right entire of heavy any some time".split()
)
_AFTER = frozenset("of cancer polyp polyps resection wall pain cramps cramping tumor carcinoma surgery lesion".split())


def signs(heard: Heard) -> dict[int, Piece]:
    """The spoken punctuation of a dictation by its first word; empty if the transcript is none."""
    found = {piece.first: piece for piece in _signs(heard)}
    said = sum(" ".join(heard.words[p.first : p.last]) in _SURE for p in found.values())
    return found if said >= _LEAST else {}


def _signs(heard: Heard) -> Iterator[Piece]:
    for i in range(len(heard)):
        for size in (2, 1):
            sign = _SIGNS.get(" ".join(heard.words[i : i + size]))
            noun = heard.at(i) in ("period", "colon", "comma") and (
                (heard.at(i - 1) in _NOUNS and not heard.ended(i - 1, i)) or heard.at(i + 1) in _AFTER
            )
            if sign and not noun and i + size <= len(heard):
                yield Piece(sign, i, i + size, "sign")
                break
