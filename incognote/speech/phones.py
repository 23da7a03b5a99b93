"""Match known names with the phones that were heard, since a recognizer writes a name that it does not know as another.

Phones are in ARPAbet without stress, as in the CMU Pronouncing Dictionary.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

from incognote.speech.letters import sounded

Phones = tuple[str, ...]

VOWELS = frozenset("AA AE AH AO AW AY EH ER EY IH IY OW OY UH UW".split())

_ALIKE = [
    frozenset(group.split())
    for group in (
        "AA AO AH", "AA AE AH", "AE EH", "AH EH IH", "IH IY", "AE EH EY", "EY IY", "AA AY", "AY OY", "AO OY",
        "AA AE AW", "AW OW", "AO OW", "AH OW UH", "UH UW", "OW UW", "AH ER UH", "ER R", "IY Y", "UW W", "L OW", "AO L",
        "B P", "D T", "G K", "K P T", "B D G", "F V", "S Z", "SH ZH", "CH JH", "DH TH", "F S TH", "DH V Z", "CH SH",
        "JH ZH", "S SH", "Z ZH", "M N NG", "L R W", "B V W", "D DH", "T TH", "F P", "F HH TH", "CH T", "D JH",
    )
]  # fmt: skip
"""Phones that sound alike: vowels of near places, consonants that differ in voice, or in little else."""
_WEAK = frozenset({"AH", "HH", "IH", "T", "D", "R", "L", "N", "Y", "W"})
"""Phones that are often heard where there are none, or missed."""


@cache
def exchange(heard: str, meant: str) -> float:
    """Return the cost of one phone heard as another, from 0 to 1: less for phones that sound alike."""
    if heard == meant:
        return 0.0
    if any(heard in group and meant in group for group in _ALIKE):
        return 0.35
    return 0.7 if (heard in VOWELS) == (meant in VOWELS) else 1.0


def lone(phone: str) -> float:
    """Return the cost of a phone that was heard and not meant, or meant and not heard."""
    return 0.5 if phone in _WEAK else 0.8


def distance(heard: Sequence[str], meant: Sequence[str]) -> float:
    """Return the weighted edit distance of two sequences of phones."""
    row = [0.0]
    for phone in meant:
        row.append(row[-1] + lone(phone))
    for each in heard:
        above, row = row, [row[0] + lone(each)]
        for place, phone in enumerate(meant, 1):
            row.append(
                min(above[place] + lone(each), row[-1] + lone(phone), above[place - 1] + exchange(each, phone))
            )
    return row[-1]


@dataclass(frozen=True, slots=True)
class Match:
    """A name in a stretch of phones.

    Args:
        name: as it is known.
        first, end: the first of its phones in the stretch, and the one after its last.
        distance: from its own phones, per phone of these: 0 if they are the same.
    """

    name: str = field(repr=False)
    first: int
    end: int
    distance: float


class SoundingNames:
    """Known names and their pronunciations.

    Args:
        names: of one or more words each. They are kept as long as this object.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._spoken = [(name, spoken) for name in dict.fromkeys(names) for spoken in pronunciations(name)]

    def __repr__(self) -> str:
        return f"SoundingNames({len(self._spoken)} pronunciations)"

    def nearest(self, phones: Sequence[str]) -> tuple[str, float] | None:
        """Return the name whose phones are nearest to all of these, and its distance per phone; None without names.

        The distance is from 0 to about 1. Names of few phones are near to much.
        """
        near = [(distance(phones, spoken) / len(spoken), name) for name, spoken in self._spoken]
        if not near:
            return None
        least, name = min(near)
        return name, least

    def within(self, phones: Sequence[str], most: float) -> list[Match]:
        """Return the names within a stretch of phones, the nearest first. Each name is found once, where it is nearest.

        Args:
            phones: of any number of words.
            most: the largest distance per phone.
        """
        best: dict[str, Match] = {}
        for name, spoken in self._spoken:
            match = _placed(phones, name, spoken)
            if match.distance <= most and (name not in best or match.distance < best[name].distance):
                best[name] = match
        return sorted(best.values(), key=lambda each: (each.distance, each.first))


def pronunciations(name: str) -> list[Phones]:
    """Return how a name may be said: as PocketSphinx's dictionary has its words, or by the rules of English spelling.

    Each word has its first entry of the dictionary and its sounds by the rules. A name without a letter has none.
    """
    words = [word for word in name.lower().replace("-", " ").split() if any(map(str.isalpha, word))]
    if not words:
        return []
    book = _dictionary()
    by_rule = tuple(phone for word in words for phone in sounded(word))
    listed = tuple(phone for word in words for phone in book.get(word) or sounded(word))
    return [each for each in dict.fromkeys((listed, by_rule)) if each]


@cache
def _dictionary() -> dict[str, Phones]:
    """Return the first pronunciation of each word; nothing if PocketSphinx is not installed."""
    try:
        from pocketsphinx import get_model_path
    except ImportError:
        return {}
    found: dict[str, Phones] = {}
    with open(get_model_path("en-us/cmudict-en-us.dict"), encoding="utf-8") as lines:
        for line in lines:
            word, *phones = line.split()
            found.setdefault(word, tuple(phones))
    return found


def _placed(phones: Sequence[str], name: str, spoken: Phones) -> Match:
    """Return where a name is nearest: an alignment with free ends of the stretch."""
    row = [(0.0, 0)]  # cost, and the first phone of the stretch that is used
    for phone in spoken:
        row.append((row[-1][0] + lone(phone), 0))
    best, end = row[-1], 0
    for at, each in enumerate(phones, 1):
        above, row = row, [(0.0, at)]
        extra = lone(each)
        for place, phone in enumerate(spoken, 1):
            up, left, across = above[place], row[-1], above[place - 1]
            row.append(
                min(
                    (across[0] + exchange(each, phone), across[1]),
                    (up[0] + extra, up[1]),
                    (left[0] + lone(phone), left[1]),
                )
            )
        if row[-1][0] < best[0]:
            best, end = row[-1], at
    return Match(name, best[1], end, best[0] / len(spoken))
