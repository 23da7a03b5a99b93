"""What is known of each word that a recognizer heard, to judge how likely it stands for an identifier.

A recognizer writes a name that it does not know as words that sound alike. Such words have a low posterior, and so have
their neighbors; the phones that were heard are not theirs; and they seldom follow each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from math import log
from typing import NamedTuple

from incognote.formats.audio.cues import Cued, asked, cued, is_letter, words_of
from incognote.formats.audio.transcript import Transcript
from incognote.speech.nouns import HeardWord
from incognote.speech.phones import distance, pronunciations
from incognote.speech.surprise import likelihoods
from incognote.text.lexicon import (
    BRAND,
    EPONYM,
    MEDICAL,
    ORGANIZATION,
    PLACE,
    commonness,
    fold,
    given,
    lexicon,
    surname,
)

Evidence = dict[str, float]
"""Facts of a word by name. What is not named is 0."""
_TURN = 0.22  # seconds of a pause after which another utterance starts
_USUAL = 0.8  # the confidence of the words before the first and after the last
_USUAL_APART = 0.2  # the distance of phones, if a recognizer hears none
_ASKED = 12  # words at the end of an utterance that may ask for an identifier
_NEAR_GAP = 0.3  # seconds between a gap and a word beside it
_NO_WORD = "^"


class _Words:
    """The words of a recording, and what is known of them one by one."""

    def __init__(self, words: Sequence[HeardWord], language: str) -> None:
        self.words = words
        self.said = [word.text.lower().replace(".", "") for word in words]
        self.entries = [lexicon(language).get(fold(each), 0) for each in self.said]
        self.common = [commonness(entry) for entry in self.entries]
        self.functions = [each in words_of(language, "function") for each in self.said]
        self.numbers = [each in words_of(language, "numbers") for each in self.said]
        self.letters = [is_letter(each, language) for each in self.said]
        self.seconds = [word.end - word.start for word in words]
        self.phones = [_apart(word) for word in words]
        self.likely = likelihoods(self.said)
        total = max(sum(self.seconds), 1e-6)
        weighed = zip(self.seconds, words, self.phones, strict=True)
        sums = [(length * word.confidence, length * apart) for length, word, apart in weighed]
        self.confidence, self.apart = (sum(column) / total for column in zip(*sums, strict=True))

    def doubt(self, at: int, reach: int = 0) -> float:
        """Return the mean doubt of a word and those up to `reach` beside it."""
        near = range(at - reach, at + reach + 1)
        return 1 - sum(self.sure(each) for each in near) / len(near)

    def sure(self, at: int) -> float:
        return self.words[at].confidence if 0 <= at < len(self.words) else _USUAL

    def word(self, at: int) -> str:
        return self.said[at] if 0 <= at < len(self.said) else _NO_WORD

    def after(self, at: int) -> float:
        """Return how likely the word follows those before it."""
        return self.likely[at][1] / 10 if 0 <= at < len(self.likely) else -0.5


class _Turn(NamedTuple):
    """An utterance: its words, and what the one before it, and the one before that, asked for."""

    words: range
    asks: frozenset[str]
    earlier: frozenset[str]


def evidence(transcript: Transcript, language: str) -> list[Evidence]:
    """Return what is known of each word of a recording.

    Args:
        language: ISO 639-1.
    """
    heard = transcript.heard
    if not heard.words:
        return []
    written = _written(transcript)
    words = _Words(heard.words, language)
    cues = cued(heard.words, language)
    runs = _lengths([a or b for a, b in zip(words.numbers, words.letters, strict=True)])
    found: list[Evidence] = []
    for turn in _turns(words, language):
        for at in turn.words:
            facts: Evidence = {}
            facts.update(_sound(words, at))
            facts.update(_kind(words, at, language))
            facts.update(_announced(words, at, cues[at]))
            facts.update(_counted(words, at, runs[at], language))
            facts.update(_placed(words, at, turn))
            facts.update(written.get(at, {}))
            facts["gap"] = max((min(1.0, gap.end - gap.start) for gap in heard.gaps
                                if max(words.words[at].start - gap.end, gap.start - words.words[at].end) < _NEAR_GAP),
                               default=0.0)  # fmt: skip
            found.append({name: float(value) for name, value in facts.items() if value})
    return found


def _sound(words: _Words, at: int) -> Evidence:
    """How well it was heard: posteriors, alternatives, phones, length, and how likely it follows the words before."""
    word, doubt, length = words.words[at], words.doubt(at), words.seconds[at]
    shares = [share for _, share in word.alternatives]
    near = [words.phones[each] for each in range(max(0, at - 1), min(len(words.said), at + 2))]
    far = [words.phones[each] for each in range(max(0, at - 2), min(len(words.said), at + 3))]
    alone, after = words.likely[at]
    three = words.after(at - 1) + words.after(at) + words.after(at + 1)
    return {
        "doubt": doubt, "doubt of recording": 1 - words.confidence,
        "doubt beyond recording": max(-0.5, words.confidence - words.sure(at)),
        **{f"doubt{away:+}": words.doubt(at + away) for away in (-2, -1, 1, 2)},
        **{f"doubt within {reach}": words.doubt(at, reach) for reach in (1, 3, 6)},
        "doubted within 3": sum(words.sure(at + away) < 0.3 for away in range(-3, 4)) / 7,
        "alternatives": len(shares) / 8, "entropy": -sum(share * log(share) for share in shares if share > 0),
        "phones": min(1.5, words.phones[at]), "phones of doubt": doubt * words.phones[at],
        "phones within 1": sum(near) / len(near) - words.apart, "phones within 2": sum(far) / len(far) - words.apart,
        "number of phones": len(word.phones) / 8,
        "length": min(1.0, length), "length of doubt": length * doubt,
        "slow": 5 * min(0.3, length / max(1, len(word.text))),
        "alone": alone / 10, "after": after / 10, "after+1": words.after(at + 1), "after-1": words.after(at - 1),
        "after within 1": three, "after of doubt": three * doubt,
    }  # fmt: skip


def _kind(words: _Words, at: int, language: str) -> Evidence:
    """What it is: how common, a name, a place, a medical term, a function word, and the words around it."""
    entry, common, doubt = words.entries[at], words.common[at], words.doubt(at)
    name = max(given(entry), surname(entry)) / 7
    term = bool(entry & (MEDICAL | BRAND | EPONYM))
    others = sum(share for other, share in words.words[at].alternatives if _is_name(other, language))
    return {
        f"common {common}": 1, "rare doubt": (common <= 1) * doubt,
        "name": name, "name, not usual": name * (common < 3), "name only": name * (common < 2),
        "given name": given(entry) / 7 * (common < 3), "other names": others,
        "term": term, "term doubt": term * doubt, "place": bool(entry & PLACE) and common < 3,
        "organization": bool(entry & ORGANIZATION),
        "function": words.functions[at], "function doubt": words.functions[at] * doubt,
        **{f"{away:+} {words.word(at + away)}": 1 for away in range(-2, 3)},
    }  # fmt: skip


def _announced(words: _Words, at: int, cued: Cued | None) -> Evidence:
    """Which cue announces it, and from where."""
    if cued is None:
        return {}
    kind, doubt = "sure" if cued.cue.sure else "unsure", words.doubt(at)
    single = words.numbers[at] or words.letters[at]
    return {
        f"{kind} cue {min(cued.away, 3)}": 1, f"{kind} cue doubt": doubt, f"{kind} cue function": words.functions[at],
        f"{kind} cue common": words.common[at] >= 2, f"{kind} cue number": words.numbers[at],
        f"{kind} cue 0 function": cued.away == 0 and words.functions[at],
        f"cue {cued.cue.type}": 1, f"cue {cued.cue.type} single": single, f"cue {cued.cue.type} doubt": doubt,
    }  # fmt: skip


def _counted(words: _Words, at: int, run: int, language: str) -> Evidence:
    """What kind of number or date it belongs to."""
    said, is_number = words.said[at], words.numbers[at]
    months, units = words_of(language, "months"), words_of(language, "units")
    before, after = [words.word(at - away) for away in range(1, 6)], [words.word(at + away) for away in range(1, 6)]
    end, first = at, at
    while end < len(words.said) and words.numbers[end]:
        end += 1
    while first >= 0 and words.numbers[first]:
        first -= 1
    years = words_of(language, "years")
    return {
        "number": is_number, "letter": words.letters[at], "number doubt": is_number * words.doubt(at),
        f"run of {min(run, 7)}": run > 0, "run of 3 or 4": run in (3, 4), "run of 5 or more": run >= 5,
        "number of units": is_number and words.word(end) in units,
        "after units": is_number and words.word(first) in units,
        "number of month": is_number and words.word(first) in months, "month": said in months,
        "near month": any(each in months for each in (*after[:2], *before[:4])),
        "day": said in words_of(language, "days"), "age": is_number and any(each == "old" for each in after[:4]),
        "year": is_number and any(each in years for each in (said, *after[:2], *before[:2])),
        "street": any(each in words_of(language, "streets") for each in after[:3]),
    }  # fmt: skip


def _placed(words: _Words, at: int, turn: _Turn) -> Evidence:
    """Where in its utterance it is, and what was asked before."""
    place, size = at - turn.words.start, len(turn.words)
    single = words.numbers[at] or words.letters[at]
    facts: Evidence = {
        "first": place == 0, "second": place == 1, "late": place > 5, "last": place == size - 1, "short": size <= 3,
        "size": min(size, 20) / 20,
    }  # fmt: skip
    for kind in sorted(turn.asks):
        facts |= {f"asked {kind}": 1, f"asked {kind} early": place < 4, f"asked {kind} doubt": words.doubt(at),
                  f"asked {kind} single": single}  # fmt: skip
    return facts | {f"asked {kind} earlier": 1 for kind in sorted(turn.earlier)}


def _written(transcript: Transcript) -> dict[int, Evidence]:
    """Return how words are written that are written together, such as "six point one" and "t s h"."""
    found: dict[int, Evidence] = {}
    for piece in transcript.pieces:
        if len(piece.words) > 1:
            text = transcript.text[piece.start : piece.end]
            figures, letters = sum(map(str.isdigit, text)), sum(map(str.isalpha, text))
            kind = "spelled" if piece.spelled else "letters" if not figures else "both" if letters else "figures"
            facts: Evidence = {
                f"written {kind}": 1, f"written {kind} of {min(figures, 5)}": 1, "written point": "." in text,
                "written slash": "/" in text,
            }  # fmt: skip
            found |= dict.fromkeys(piece.words, facts)
    return found


def _turns(words: _Words, language: str) -> Iterator[_Turn]:
    starts = [0, *(at for at, (one, two) in enumerate(pairwise(words.words), 1) if two.start - one.end >= _TURN)]
    asks = earlier = frozenset[str]()
    for start, end in pairwise([*starts, len(words.words)]):
        yield _Turn(range(start, end), asks, earlier)
        asks, earlier = asked(words.said[start:end][-_ASKED:], language), asks


def _lengths(flags: Sequence[bool]) -> list[int]:
    """Return for each flag the length of its run; 0 if it is not set."""
    found: list[int] = []
    for flag, group in groupby(flags):
        length = len(list(group))
        found += [length * flag] * length
    return found


def _is_name(word: str, language: str) -> bool:
    entry = lexicon(language).get(fold(word.rstrip(".")), 0)
    return max(given(entry), surname(entry)) >= 3 and commonness(entry) < 3


def _apart(word: HeardWord) -> float:
    """Return how far the phones that were heard are from the word's own, per phone."""
    own = pronunciations(word.text.rstrip("."))
    if not own or not word.phones:
        return _USUAL_APART
    return min(distance(word.phones, each) / len(each) for each in own)
