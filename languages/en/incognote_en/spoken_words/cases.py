"""Upper case for names, places, streets, and institutions in a transcript: by lists and by the words around."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from incognote.text.lexicon import (
    BRAND,
    MEDICAL,
    commonness,
    fold,
    given,
    lexicon,
    surname,
)
from incognote_en.rules.gazetteer import gazetteer, words
from incognote_en.spoken_words.codes import alike
from incognote_en.spoken_words.dates import WEEKDAYS
from incognote_en.spoken_words.heard import Heard, Piece, lists

_TITLES = {"doctor": "Dr.", "dr": "Dr.", "mister": "Mr.", "mr": "Mr.", "missus": "Mrs.", "mrs": "Mrs.", "ms": "Ms."}
_TITLES |= {"miss": "Miss", "miz": "Ms."}
_I = frozenset(("i", "i'm", "i've", "i'll", "i'd"))
_AUXILIARY = frozenset("will may can has is was had did does said says".split())
_VOWEL = re.compile("[aeiouy]")
_NAME, _MAYBE, _HARDLY, _NOT = range(4)


class Words:
    """The pieces of a transcript, and which of them are in upper case.

    Attributes:
        pieces: in order.
        lows: their words in lower case, "" for a piece that is no word.
        raised: the pieces that begin with a capital letter.
    """

    def __init__(self, heard: Heard, pieces: Sequence[Piece]) -> None:
        self.heard, self.pieces = heard, pieces
        self.lows = [piece.text if piece.is_word else "" for piece in pieces]
        self.ends = [heard.ends[piece.last - 1] for piece in pieces]
        self.raised: set[int] = set()
        self.named: set[int] = set()
        self.titles: set[int] = set()
        self.towns: set[int] = set()
        self.capitals: set[int] = set()
        self._kinds = [_NOT if not low else _kind(low.removesuffix("'s")) for low in self.lows]

    def low(self, k: int) -> str:
        """The k-th word in lower case, "" outside the transcript and for other pieces."""
        return self.lows[k] if 0 <= k < len(self.lows) else ""

    def kind(self, k: int) -> int:
        """How likely the k-th piece is a name by itself."""
        return self._kinds[k] if 0 <= k < len(self.lows) else _NOT

    def follows(self, k: int) -> bool:
        """Whether the k-th piece is in the same utterance as the one before."""
        return 0 < k < len(self.pieces) and not self.ends[k - 1]

    def says(self, k: int, phrase: Sequence[str]) -> bool:
        """Whether a phrase ends before the k-th piece."""
        return k >= len(phrase) and self.lows[k - len(phrase) : k] == list(phrase)

    def run(self, k: int, most: int, stops: frozenset[str]) -> int:
        """The first of at most `most` words before the k-th that may be parts of its name."""
        first = k
        while k - first < most and self.follows(first) and self.low(first - 1):
            if self.low(first - 1) in lists()["function"] | stops:
                break
            first -= 1
        return first

    def name(self, span: Iterable[int]) -> None:
        """Note that pieces are a name."""
        self.raised.update(span)
        self.named.update(span)


@cache
def _kind(word: str) -> int:
    """How likely a word is a name: by itself, beside a cue, after a title, or never."""
    if word in lists()["function"] or word in lists()["fillers"]:
        return _HARDLY if word in ("will", "may", "so", "an", "see", "say") else _NOT
    entry = lexicon().get(fold(word))
    if entry is None:
        parts = word.split("-")
        if len(parts) > 1 and all(_kind(part) == _NAME for part in parts):
            return _NAME
        return _MAYBE if word.isalpha() and len(word) > 2 else _NOT
    common, first, last = commonness(entry), given(entry), surname(entry)
    if entry & (MEDICAL | BRAND):
        return _MAYBE if max(first, last) > 4 else _NOT
    if not max(first, last):
        return _NOT
    if common == 0:
        return _NAME
    if common == 1:
        return _NAME if first > 5 else _MAYBE
    if common == 2:
        return _MAYBE if max(first, last) > 3 else _HARDLY
    return _HARDLY if max(first, last) > 4 else _NOT


def raise_names(of: Words) -> None:
    """Find what a transcript writes in upper case."""
    _streets(of)
    _places(of)
    _institutions(of)
    for k, low in enumerate(of.lows):
        if low in _I or low in WEEKDAYS:
            of.raised.add(k)
        elif low in lists()["titles"]:
            _titled(of, k)
        elif low and of.kind(k) == _NAME and k not in of.raised:
            of.name(range(k, k + 1))
    for k in range(len(of.lows)):
        _cued(of, k)
    for k in range(len(of.lows)):
        _beside(of, k)
    _again(of)


def _titled(of: Words, k: int) -> None:
    """A name after a title: "doctor may said", "mister brown"."""
    at = k + 1
    if not of.follows(at) or (of.kind(at) == _NOT and of.pieces[at].kind != "spelled"):
        return
    strong = of.low(k) in _TITLES
    if of.kind(at) == _HARDLY:
        after = of.low(at + 1)
        if not strong or (of.low(at) in _AUXILIARY and of.follows(at + 1) and after not in _AUXILIARY):
            return
    if of.kind(at) == _MAYBE and not strong and _is_plain(of.low(at)):
        return
    if of.low(k) == "miss" and of.kind(at) == _MAYBE and _is_plain(of.low(at)):
        return
    of.name((at,))
    of.raised.add(k)
    if strong:
        of.titles.add(k)
    if of.follows(at + 1) and of.kind(at + 1) in (_NAME, _MAYBE) and not _is_plain(of.low(at + 1)):
        of.name((at + 1,))


@cache
def _is_plain(word: str) -> bool:
    """Whether a word is more often no name."""
    entry = lexicon().get(fold(word.removesuffix("'s")))
    if entry is None:
        return False
    return commonness(entry) > 1 or bool(entry & MEDICAL)


def _cued(of: Words, k: int) -> None:
    """A name after "my name is", "this is", "daughter"."""
    if of.low(k) in ("will", "may") and of.follows(k) and of.low(k - 1) in ("with", "by", "from", "for", "to"):
        of.name((k,))
        return
    kin = of.low(k - 1) in lists()["kin"] and of.low(k - 2) in ("my", "his", "her", "our", "your", "their")
    if of.kind(k) == _HARDLY and kin and of.follows(k) and (not of.follows(k + 1) or of.low(k + 1) in _I | _AUXILIARY):
        of.name((k,))
        return
    cue = next((c for c in _cues() if of.says(k, c)), None)
    if cue is None or not of.follows(k) or k in of.raised or not of.low(k):
        return
    low, after = of.low(k), of.low(k + 1)
    if cue[0] in ("called", "named", "nicknamed") and len(cue) > 1 and not of.follows(k + 1) and not _is_plain(low):
        of.name((k,))
    if of.kind(k) not in (_NAME, _MAYBE):
        return
    sure = cue[-1] in ("name", "named", "called", "surname") or "name" in cue
    entry = lexicon().get(fold(low.removesuffix("'s")))
    if entry is None:
        known = sure
    else:
        weight = max(given(entry), surname(entry))
        ends = not of.follows(k + 1)
        named = (k + 1) in of.named or (of.follows(k + 1) and of.kind(k + 1) == _NAME)
        known = weight > 3 and (commonness(entry) < 2 or sure or ends or named or given(entry) > 5)
    if known and after not in ("of", "that's"):
        of.name((k,))


@cache
def _cues() -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(cue.split("_")) for cue in sorted(lists()["cues"], key=lambda cue: -cue.count("_")))


def _beside(of: Words, k: int) -> None:
    """The other part of a name: "john brown", "grace okafor"."""
    if k not in of.named or of.pieces[k].text.endswith("'s"):
        return
    at = k + 1
    listed = at < len(of.pieces) and of.pieces[at].text == "," and of.kind(at + 1) in (_NAME, _MAYBE)
    if listed and given(lexicon().get(fold(of.low(at + 1)), 0)) > 4:
        of.name((at + 1,))
    open_ = of.follows(at) and at not in of.raised and of.kind(at) in (_MAYBE, _HARDLY)
    if open_ and of.low(k - 1) not in lists()["at"]:
        entry = lexicon().get(fold(of.low(at).removesuffix("'s")))
        mine = lexicon().get(fold(of.low(k)), 0)
        if entry is None:
            if given(mine) > 2 and not _looks_english(of.low(at)):
                of.name((at,))
        elif given(mine) > 3 and surname(entry) > 3 and commonness(entry) < 3 and of.low(at) not in _AUXILIARY:
            ends = not of.follows(at + 1) or of.low(at + 1) in lists()["function"]
            if commonness(entry) < 2 or ends:
                of.name((at,))
    if of.follows(k + 1) and of.follows(k + 2) and k + 2 in of.named and of.kind(k + 1) == _HARDLY:
        of.name((k + 1,))
    at = k - 1
    if of.follows(k) and at >= 0 and at not in of.raised and of.kind(at) == _MAYBE:
        entry = lexicon().get(fold(of.low(at)))
        mine = lexicon().get(fold(of.low(k)), 0)
        if entry is not None and given(entry) > 4 and surname(mine) > 2 and (commonness(entry) < 2 or given(entry) > 5):
            of.name((at,))


def _looks_english(word: str) -> bool:
    """Whether an unlisted word has an ending of English words."""
    return word.endswith(("ing", "ed", "ly", "s", "ness", "tion", "able", "ful", "less", "'s"))


def _again(of: Words) -> None:
    """Words that are names elsewhere in the transcript, if they are hardly words."""
    sure = {of.low(k).removesuffix("'s") for k in of.named if of.low(k)}
    sure |= {of.pieces[k].text.lower() for k in range(len(of.lows)) if of.pieces[k].kind == "spelled"}
    for k, low in enumerate(of.lows):
        bare = low.removesuffix("'s")
        if k not in of.raised and bare in sure and not _is_plain(bare):
            of.name((k,))
        if k not in of.raised and of.pieces[k].is_word and of.kind(k) == _MAYBE and low:
            after = of.pieces[k + 1] if k + 1 < len(of.pieces) else None
            if after is not None and after.kind == "spelled" and alike(low, after.text):
                of.name((k,))


def _streets(of: Words) -> None:
    """ "42 maple street", "on bellaire boulevard" """
    firm, soft = lists()["streets"], lists()["ways"]
    for k, low in enumerate(of.lows):
        if low not in firm and low not in soft:
            continue
        first = of.run(k, 3, lists()["street_stops"])
        numbered = first > 0 and of.follows(first) and of.pieces[first - 1].kind in ("number", "code")
        ordinal = first == k and numbered and of.pieces[k - 1].text[-2:] in ("st", "nd", "rd", "th")
        cued = low in firm and of.low(first - 1) in ("on", "at", "off", "along", "and", "of", "to", "near")
        if (first < k and (numbered or cued)) or ordinal:
            of.raised.update(range(first, k + 1))
        way = low in ("north", "south", "east", "west") and of.follows(k + 1) and of.kind(k + 1) in (_NAME, _MAYBE)
        if way and of.follows(k) and of.pieces[k - 1].kind in ("number", "code"):
            of.name((k, k + 1))


def _places(of: Words) -> None:
    """Towns, states and countries."""
    known, k = gazetteer(), 0
    lows = [low or "." for low in of.lows]
    while k < len(lows):
        found = known.at(lows, k) if lows[k] != "." else None
        if found is None or any(of.ends[j] for j in range(k, found[0] - 1)):
            k += 1
            continue
        end, place = found
        count = end - k
        stop = all(low in lists()["function"] or commonness(lexicon().get(fold(low), 0)) == 3 for low in lows[k:end])
        rare = any(commonness(lexicon().get(fold(low), 0)) < 2 for low in lows[k:end])
        cued = of.low(k - 1) in lists()["at"] and of.follows(k)
        lives = cued and (of.low(k - 2) in lists()["lives"] or place.type != "CITY")
        if place.need == "a":
            take = count > 1 or rare or cued
        elif place.need == "b":
            answer = not of.follows(k) and count > 1 and rare
            take = (cued and (rare or count > 1)) or (lives and not stop) or answer
        else:
            take = (lives and not stop and (rare or of.kind(k) != _NOT)) or (cued and count > 1 and not stop)
        last = end == len(lows) or of.ends[end - 1]
        take = take or (of.low(k - 1) == "from" and cued and last and not stop)
        if place.type != "CITY" and place.need == "n":
            take = cued and not stop
        state = known.at(lows, end) if end < len(lows) and lows[end] != "." and of.follows(end) else None
        if state and state[1].type != "CITY" and not stop:
            take = take or (state[1].need == "a" and (rare or cued))
        if take and not (stop and count == 1):
            if state and state[1].type != "CITY":
                of.towns.add(end - 1)
            of.raised.update(range(k, end))
            k = end
        else:
            k += 1


def _institutions(of: Words) -> None:
    """ "saint mary's hospital", "dunmore brothers", "walgreens" """
    heads, generic = _heads(), words("organizations.toml", "generic")["words"]
    for k, low in enumerate(of.lows):
        if low in ("saint", "st") and of.follows(k + 1) and of.low(k + 1):
            last = k + 2 if low == "saint" and of.low(k + 2) in ("mary's", "mary") and of.follows(k + 2) else k + 1
            of.raised.update(range(k, last + 1))
        head = max((n for n in (1, 2, 3) if " ".join(of.lows[k : k + n]) in heads), default=0)
        if not head or any(of.ends[j] for j in range(k, k + head - 1)):
            continue
        first = of.run(k, 4, lists()["head_stops"])
        if any(of.low(j) not in generic for j in range(first, k)):
            of.raised.update(range(first, k + head))
    for k, low in enumerate(of.lows):
        if low in lists()["weak"] and k not in of.raised:
            _weak_head(of, k)
    for k, low in enumerate(of.lows):
        entry = lexicon().get(fold(low), 0)
        alone = not of.follows(k + 1) or of.low(k + 1) in ("with", "by", "on", "for", "and", "in")
        known = low in lists()["function"] or commonness(entry) > 1 or entry & MEDICAL or len(low) < 5
        if of.low(k - 1) == "at" and of.follows(k) and alone and not known:
            of.raised.add(k)
    for k in range(len(of.lows)):
        for n in (4, 3, 2, 1):
            phrase = " ".join(of.lows[k : k + n])
            if phrase in _brands() or phrase in _holy() or (phrase in _bound() and of.low(k - 1) in lists()["at"]):
                of.raised.update(range(k, k + n))
                of.capitals.update(j for j in range(k, k + n) if not _VOWEL.search(of.low(j)))


def _weak_head(of: Words, k: int) -> None:
    """ "at valley children's", "for midwest freight": an institution by its kind and the words before it."""
    generic = words("organizations.toml", "generic")["words"]
    first = of.run(k, 3, lists()["head_stops"] | lists()["at"])
    span = range(first, k)
    if all(of.low(j) in generic or of.low(j) in lists()["weak"] for j in span):
        return
    cued = of.follows(first) and of.low(first - 1) in ("at", "from", "to", "for", "with", "in", "by")
    odd = any(of.kind(j) == _NAME or lexicon().get(fold(of.low(j))) is None or j in of.raised for j in span)
    if cued or odd:
        last = k + 1
        while of.follows(last) and of.low(last) in lists()["weak"]:
            last += 1
        of.raised.update(range(first, last))


@cache
def _heads() -> frozenset[str]:
    head = words("organizations.toml", "head")
    names = ("hospital", "pharmacy", "organization", "phrases")
    return frozenset().union(*(head[name] for name in names if name in head)) - lists()["no_heads"]


@cache
def _holy() -> frozenset[str]:
    return frozenset(phrase.replace("_", " ") for phrase in lists()["holy"])


@cache
def _brands() -> frozenset[str]:
    brand = words("organizations.toml", "brand")
    return frozenset().union(*(names for key, names in brand.items() if key != "bound"))


@cache
def _bound() -> frozenset[str]:
    return frozenset(words("organizations.toml", "brand")["bound"])


def written_word(of: Words, k: int) -> str:
    """The k-th piece as it is written."""
    piece = of.pieces[k]
    if k in of.titles:
        return _TITLES[of.low(k)]
    if k in of.capitals:
        return piece.text.upper()
    if k in of.raised and piece.text:
        return capital(piece.text)
    return piece.text


def capital(word: str) -> str:
    """A word with its first letter, and those after hyphens, in upper case: "o'neil" → "O'Neil"."""
    if word.startswith(("o'", "d'")) and len(word) > 3:
        return word[0].upper() + "'" + capital(word[2:])
    if word.startswith("mc") and len(word) > 4:
        return "Mc" + word[2:].capitalize()
    return "-".join(part[:1].upper() + part[1:] for part in word.split("-"))
