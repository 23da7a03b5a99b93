"""The words of an Arabic text with what the lexicon says about each, behind attached letters and before endings."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import NamedTuple

from incognote.detectors.rules.listed import Lists, lists
from incognote.detectors.rules.view import View
from incognote.languages import language
from incognote.text.lexicon import commonness, fold, given, lexicon, surname

_ARTICLES = (
    *("وبال", "وكال", "ولل", "وال", "بال", "فال", "كال", "عال", "هال", "لل", "ال", "وب", "ول", "فب", "فل", "وك", "وس"),
    *("و", "ف", "ب", "ل", "ك", "ه", "ع", "س", "م", "ت", "ما", ""),
)
_ENDINGS = (
    *("تهما", "هما", "اتها", "اته", "تهم", "تها", "تكم", "كما", "تين", "تان", "ناها", "ناه", "وها", "وه", "هم", "ها"),
    *("كم", "نا", "ات", "ين", "ون", "ان", "ته", "تي", "تك", "تو", "لها", "له", "لي", "لك", "ني", "وا", "ه", "ي"),
    *("ك", "ا", "ت", "و", "ش", "ج", ""),
)
_SHORT_ENDINGS = frozenset(("ه", "ها", "ي", "ك", "هم", "نا"))
_VERB_STARTS = ("", "و", "ف", "س", "ب", "ل", "ه", "ح", "م", "وب", "وس", "ك", "كا", "ما", "فس", "ع", "د")
_NISBA = re.compile(r"(?:ال|وال)?\w{3,}(?:ي|يان|اوي|اني|زاده)\Z")
_RTL = re.compile(r"[\u0590-\u08ff]")
_JOINED = re.compile(r"[ \t\u00a0]\Z")
_LINKED = re.compile(r"[ \t\u00a0]{0,3}\Z")


class Kind(NamedTuple):
    """What a word may be: its weight as a name, the attached letters before the name, and how common the word is."""

    weight: int
    attached: int
    common: int
    derived: bool = False
    """Whether only the endings show that the word is an ordinary one."""


@cache
def own() -> Lists:
    """Return the lists of the language."""
    return lists("ar")


@cache
def table(key: str) -> frozenset[str]:
    """Return a list of `rules/words.toml`, folded."""
    return frozenset(map(fold, language("ar").table("rules", "words.toml")[key]))


def kind(key: str) -> Kind:
    """Return what a folded word may be."""
    entries = lexicon("ar")
    entry = entries.get(key, 0)
    weight = max(given(entry), surname(entry))
    if entry:
        return Kind(weight, 0, commonness(entry) or (2 if entry >> 8 else 0))
    for inner, attached in _inner(key):
        entry = entries.get(inner, 0)
        weight = max(given(entry), surname(entry))
        if weight >= 3 and commonness(entry) < 2:
            return Kind(weight, attached, commonness(entry))
    return Kind(0, 0, 2, derived=True) if _derived(key) else Kind(0, 0, 0)


def named(key: str) -> int:
    """Return the weight of a folded word as a name."""
    entry = lexicon("ar").get(key, 0)
    return max(given(entry), surname(entry))


def _inner(key: str) -> list[tuple[str, int]]:
    """Return the words that remain without attached letters, and the number of these letters."""
    found = [("ال" + key[2:], 1)] if key.startswith("لل") and len(key) > 4 else []
    found += [("ال" + key[3:], 2)] if key.startswith(("ولل", "فلل")) and len(key) > 5 else []
    return found + [(key[len(c) :], len(c)) for c in own().clitics if key.startswith(c) and len(key) - len(c) > 2]


def _derived(key: str) -> bool:
    """Whether a word is a form of an ordinary word."""
    entries = lexicon("ar")
    for ending in _ENDINGS:
        if ending and not (key.endswith(ending) and len(key) - len(ending) > 2):
            continue
        stem = key[: len(key) - len(ending)]
        for start in _ARTICLES:
            if not stem.startswith(start):
                continue
            bare = stem[len(start) :]
            if len(bare) < 2 or (len(bare) == 2 and ending and start and ending not in _SHORT_ENDINGS):
                continue
            if any(commonness(entries.get(form, 0)) >= 2 for form in (bare, bare + "ه", "ال" + bare)):
                return True
        for start in _VERB_STARTS:
            if stem.startswith(start) and stem[len(start) : len(start) + 1] in ("ي", "ت", "ن", "ا"):
                bare = stem[len(start) + 1 :]
                if len(bare) > 1 and commonness(entries.get("ي" + bare, 0)) >= 2:
                    return True
    return False


class Words:
    """The tokens of a view, folded."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.keys = [fold(word) for word in view.words]
        self._kinds: dict[str, Kind] = {}  # of this text only: no word of a note outlives its view

    def __len__(self) -> int:
        return len(self.keys)

    def kind(self, i: int) -> Kind:
        """Return what token i may be. Latin words and signs have no weight and count as common."""
        if not _RTL.match(self.view.words[i]) or not self.view.words[i][0].isalpha():
            return Kind(0, 0, 3)
        if self.view.words[i].endswith("على"):  # "on", not the name علي
            return Kind(0, 0, 3)
        following = self.keys[i + 1] if i + 1 < len(self) and self.joined(i + 1) else ""
        if following in ("الدين", "السر") and self.keys[i] not in own().near:
            return Kind(5, 0, 0)
        if following == "الله" and self.keys[i] in table("theophoric"):
            return Kind(5, 0, 0)
        key = self.keys[i]
        if key not in self._kinds:
            self._kinds[key] = kind(key)
        return self._kinds[key]

    def joined(self, i: int) -> bool:
        """Whether exactly one space is between token i and the token before it."""
        return bool(_JOINED.match(self.view.gap(i)))

    def linked(self, i: int) -> bool:
        """Whether token i follows on the same line, at most three spaces away."""
        return bool(_LINKED.match(self.view.gap(i)))

    def ends(self, i: int) -> bool:
        """Whether a phrase ends before token i: at a sign, a number, a wide gap or a line break."""
        return i >= len(self) or not self.joined(i) or not self.view.words[i][0].isalpha()

    def letter(self, i: int) -> bool:
        """Whether token i is a single Arabic letter."""
        return len(self.keys[i]) == 1 and bool(_RTL.match(self.view.words[i])) and self.view.words[i][0].isalpha()

    def nisba(self, i: int) -> bool:
        """Whether token i has the form of a surname such as العتيبي."""
        return self.keys[i].startswith("ال") and bool(_NISBA.match(self.keys[i]))

    def start(self, i: int, attached: int) -> int:
        """Return the offset of the name in token i, after its attached letters and their marks."""
        word, at = self.view.words[i], 0
        while at < len(word) and (attached or unicodedata.combining(word[at]) or word[at] == "ـ"):
            if not (unicodedata.combining(word[at]) or word[at] == "ـ"):
                attached -= 1
            at += 1
        return self.view.starts[i] + (at if at < len(word) else 0)

    def phrase(self, i: int, known: dict[str, str]) -> tuple[str, int, int] | None:
        """Return the value of the longest phrase at token i, the number of its tokens and of its attached letters."""
        for n in (4, 3, 2, 1):
            if i + n > len(self) or any(not self.linked(i + k) for k in range(1, n)):
                continue
            rest = self.keys[i + 1 : i + n]
            for first, attached in ((self.keys[i], 0), *(_inner(self.keys[i]) if len(self.keys[i]) > 3 else ())):
                if found := known.get(" ".join([first, *rest])):
                    return found, n, attached
        return None
