"""How likely a word of a recognizer stands for an identifier that it does not know.

A recognizer writes a name that it does not know as words that sound alike. Such words have a low posterior, and so have
their neighbors. A logistic regression weighs this with the words around them. Its weights were fitted to synthetic
dialogues, dictations, and calls of four voices of flite, heard by PocketSphinx.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from incognote.formats.audio.cues import Cued, cued, is_letter, words_of
from incognote.speech.nouns import HeardWord
from incognote.text.lexicon import commonness, fold, given, lexicon, surname

_CERTAIN = 0.5  # the least confidence of a word that was heard well
_USUAL = 0.8  # the confidence of the words before the first and after the last
WEIGHTS: tuple[float, ...] = (
    0.55, 0.44, 0.48, 0.96, 0.02, 0.07, 1.06, 0.71, 2.51, 1.51, 0.78, 0.84, 1.35, 0.71, 0.44, 0.76, 0.65, 0.34, 0.16,
    0.36, -0.37, 0.74, 1.38, 0.62, -0.36,
)  # fmt: skip
"""In the order of `facts`."""
BIAS = -3.26


def is_certain(word: HeardWord, language: str) -> bool:
    """Whether a word is surely not a part of a name: a function word, or a number, that was heard well."""
    plain = word.text.lower().rstrip(".")
    usual = plain in words_of(language, "function") or plain in words_of(language, "numbers")
    return word.confidence >= _CERTAIN and usual


def doubts(words: Sequence[HeardWord], language: str) -> list[float]:
    """Return for each word how likely it is part of an identifier, from 0 to 1."""
    cues = cued(words, language)
    found = []
    for at in range(len(words)):
        weighed = BIAS + sum(w * fact for w, fact in zip(WEIGHTS, facts(words, at, cues[at], language), strict=True))
        found.append(1 / (1 + exp(-weighed)))
    return found


def facts(words: Sequence[HeardWord], at: int, cue: Cued | None, language: str) -> tuple[float, ...]:
    """Return what is known of a word: its and its neighbors' confidence, its kind, its length, and its cue."""
    word = words[at]
    plain = word.text.lower().rstrip(".")
    entry = lexicon(language).get(fold(plain), 0)
    common, name = commonness(entry), max(given(entry), surname(entry)) / 7
    doubt, length = 1 - word.confidence, word.end - word.start
    near, far = (
        1 - sum(words[i].confidence if 0 <= i < len(words) else _USUAL for i in (at - away, at + away)) / 2
        for away in (1, 2)
    )
    is_function, is_number = plain in words_of(language, "function"), plain in words_of(language, "numbers")
    sure, unsure = cue is not None and cue.cue.sure, cue is not None and not cue.cue.sure
    away = cue.away if cue is not None else 0
    return (
        doubt, near, far,
        common <= 1, common == 2, is_function, name * (common < 3), name * (common < 2), is_number,
        is_letter(plain, language),
        bool(entry >> 8),
        sure and away == 0, sure and away == 1, sure and away > 1,
        unsure and away == 0, unsure and away == 1, unsure and away > 1,
        doubt * sure, doubt * unsure, sure and is_function, unsure and is_function, sure and is_number,
        min(length, 1.0), doubt * length, doubt * (common <= 1),
    )  # fmt: skip
