"""Values of another language for the identifiers of an English document.

Names come from the lists of the language package, other values from the marks of the texts in that language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from random import Random

from incognote.schemas.catalogue import catalogue
from incognote.text import lexicon
from incognote_training.corpus.document import Document
from incognote_training.corpus.variants import NAMES, handwritten, name_lists

_PHONES = frozenset({"TELEPHONE_NUMBER", "FAX_NUMBER"})
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*[.,]?")
_PARTICLES = frozenset("al bin da de del den der di dos du el ibn la le ten van von".split())
_SUFFIXES = frozenset("jr sr ii iii iv md".split())
_TRIES = 8  # to find a value that the document does not have yet

Entity = tuple[str, str]
"""A type of ours and the words of a mark."""


def native_values(document: Document, code: str, seed: int) -> dict[Entity, str]:
    """Return a value for each identifier of a document. The same seed gives the same values.

    Within the document, the same word of a name gets the same word, and other values stay the same, too. An identifier
    is left out if nothing is known to take its place.

    Raises:
        UsageError: there are no marked texts in the language.
    """
    entities = {(kind, document.text[start:end]) for start, end, kind in document.spans}
    draw = _Draw(code, Random(f"{seed}:{code}:{document.id}"))  # noqa: S311 -- the same seed must give the same values
    made = {one: draw(*one) for one in sorted(entities, key=lambda one: (-len(one[1]), one))}  # whole names first
    return {one: value for one, value in made.items() if value is not None}


class _Draw:
    """Draws the values of one document."""

    def __init__(self, code: str, random: Random) -> None:
        self._code, self._random = code, random
        self._pools = _marks(code)
        self._given, self._surnames = name_lists(code)
        self._again: dict[Entity, str | None] = {}
        self._words: dict[str, str] = {}
        self._used: set[str] = set()

    def __call__(self, kind: str, words: str) -> str | None:
        if kind in NAMES:
            return self._name(words)
        key = (kind, words.casefold())
        if key not in self._again:
            self._again[key] = self._other(kind, words)
        return self._again[key]

    def _other(self, kind: str, words: str) -> str | None:
        numbered = catalogue()[kind].group == "ID" or kind in _PHONES
        if kind == "ZIP":
            return self._digits("00000", 5)
        steps = [step for step in catalogue().lineage(kind) if step != "LOCATION" or kind == step]
        pool = next((self._pools[step] for step in steps if step in self._pools), ())
        if not pool:
            return self._digits(words, len(words)) if catalogue()[kind].group in ("ID", "CONTACT") else None
        value = self._fresh([one for one in pool if _shape(one) == _shape(words)] or pool)
        return self._digits(value, 4) if numbered else value

    def _name(self, value: str) -> str:
        words: list[str] = _WORD.findall(value)
        kept = [w for w in words if w not in _PARTICLES and w.rstrip(".,").lower() not in _SUFFIXES] or ["X"]
        inverted = kept[0].endswith(",")
        return " ".join(self._word(w, i == (0 if inverted else len(kept) - 1), len(kept)) for i, w in enumerate(kept))

    def _word(self, word: str, last: bool, of: int) -> str:
        """Return the word for a word of a name. `last`: it is in the place of the surname."""
        core, sign = word.rstrip(".,"), word[len(word.rstrip(".,")) :]
        key = lexicon.fold(core) or core
        if key not in self._words:
            entry = lexicon.lexicon().get(key, 0)
            surname = last and (of > 1 or lexicon.given(entry) <= lexicon.surname(entry))
            drawn = self._fresh(self._surnames if surname else self._given)
            self._words[key] = drawn[0] if len(core) == 1 else drawn
            self._words.setdefault(key[0], drawn[0])  # an initial of the same person
        made = self._words[key]
        cased = made.upper() if core.isupper() else made.lower() if core.islower() else made[0].upper() + made[1:]
        return cased + (sign.replace(",", "،") if self._code == "ar" else sign)

    def _fresh(self, pool: Sequence[str]) -> str:
        for _ in range(_TRIES):
            value = self._random.choice(pool)
            if value not in self._used:
                break
        self._used.add(value)
        return value

    def _digits(self, value: str, count: int) -> str:
        """Draw the last digits of a value again, each in its own script."""
        signs = list(value)
        for i in [i for i, sign in enumerate(signs) if sign.isdecimal()][-count:]:
            signs[i] = chr(ord(signs[i]) - int(signs[i]) + self._random.randrange(10))
        return "".join(signs)


def _shape(value: str) -> tuple[bool, bool, bool]:
    """Digits, letters, and a number of four digits: a year, or a whole date."""
    return any(map(str.isdecimal, value)), any(map(str.isalpha, value)), re.search(r"\d{4}", value) is not None


@cache
def _marks(code: str) -> Mapping[str, Sequence[str]]:
    """Return the marked words by type, without the texts that are held back for calibration."""
    pools: dict[str, list[str]] = {}
    for document in handwritten([code]).training:
        for start, end, kind in document.spans:
            if "\n" not in document.text[start:end]:
                pools.setdefault(kind, []).append(document.text[start:end])
    return pools
