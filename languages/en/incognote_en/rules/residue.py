"""Names that no other rule finds: a capitalized word inside a sentence that is not in any lexicon.

Clinical prose capitalizes little except names, brands and eponyms. Brands and eponyms are in the lexicon or come before
the thing they name ("Veress needle"). On 586 notes of open clinical prose, a first, wider version proposed 0.26 a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from incognote.detectors.rules.view import Candidate, View
from incognote.languages import language
from incognote.text.lexicon import (
    BRAND,
    EPONYM,
    EPONYM_NOUN,
    MEDICAL,
    PLACE,
    commonness,
    fold,
    given,
    lexicon,
    surname,
    titles,
)
from incognote_en.rules.names.words import acronyms, vocabulary

_THINGS = MEDICAL | BRAND | EPONYM | EPONYM_NOUN
# Mixed capitals belong to brands (VersaStep), except for the beginnings of surnames.
_ONE_CAPITAL = re.compile(r"(?:Mc|Mac|O['’]|D['’]|De|Di|Du|La|Le|Van|Von|Fitz)?[^\W\d_](?:[^\W\d_A-Z]|['’])+\Z")
_PLACE = re.compile(r"[A-Z]{2,4}(?:MC|GH|CH|MH|VH|RH|UH|HC|H)\Z")
_BLANK = re.compile(r"[ \t]+\Z")
_SCORE, _KNOWN_NAME, _ABBREVIATION = 0.5, 0.55, 0.6
_LONGEST_NAME = 4
_USUAL_NAME = 3  # the lexicon's weight of a frequent name


@cache
def _words(section: str) -> frozenset[str]:
    return frozenset(language("en").table("lexicon", "residue.toml")[section].split())


@cache
def _never() -> frozenset[str]:
    return _words("never") | titles()


@cache
def _endings() -> tuple[str, ...]:
    return tuple(_words("endings"))


def find(view: View) -> Iterator[Candidate]:
    """Runs of unexplained capitalized words, and abbreviations in places where a hospital would be named."""
    done = 0
    shouting: bool | None = None  # computed once, and only if needed: it checks every word
    for i in view.capitals:
        word = view.words[i]
        if i < done or len(word) < 3:
            continue
        if word.isupper():
            if hospital := _hospital(view, i):
                shouting = _shouting(view) if shouting is None else shouting
                if not shouting:
                    yield hospital
            continue
        if not _unexplained(word):
            continue
        last = i
        while (
            last + 1 < len(view)
            and last - i + 1 < _LONGEST_NAME
            and view.gap(last + 1) == " "
            and _unexplained(view.words[last + 1])
        ):
            last += 1
        pair = " ".join(map(fold, view.words[i : last + 1]))
        if _inside(view, i) and not _thing(view, i, last) and pair not in vocabulary()["never"]:
            weight = max(_weight(view.words[k]) for k in range(i, last + 1))
            end = view.ends[last] - (2 if view.words[last].endswith(("'s", "’s")) else 0)
            yield Candidate(view.starts[i], end, "PERSON", _KNOWN_NAME if weight else _SCORE, "residue.unexplained")
        done = last + 1


def _unexplained(word: str) -> bool:
    """A capitalized word that is neither English nor medical nor a brand, as a whole or by its parts."""
    if len(word) < 3 or not word[0].isupper() or word.isupper():
        return False
    base = word[:-2] if word.endswith(("'s", "’s")) else word
    whole = lexicon().get(fold(base), 0)
    if commonness(whole) or whole & (_THINGS | PLACE) or word.lower() in _never():
        return False
    if "-" in base or "‐" in base:  # Steri-Strips, K-wire; two names may be joined
        entries = [lexicon().get(fold(part), 0) for part in re.split("[-‐]", base)]
        return all((given(e) or surname(e)) and not commonness(e) and not e & (_THINGS | PLACE) for e in entries)
    if not _ONE_CAPITAL.match(base):
        return False
    return bool(_weight(base)) or not fold(base).endswith(_endings())


def _weight(word: str) -> int:
    entry = lexicon().get(fold(word), 0)
    return max(given(entry), surname(entry))


def _inside(view: View, i: int) -> bool:
    """Whether a word is inside a sentence, where only a name is capitalized."""
    if i == 0 or "\n" in view.gap(i):
        return False
    before = view.words[i - 1]
    if before.islower():
        return _BLANK.match(view.gap(i)) is not None
    return before in (",", "(", "&") and _weight(view.words[i]) >= _USUAL_NAME


def _thing(view: View, first: int, last: int) -> bool:
    """Whether the next word, or an article before, shows the name of a thing: "Veress needle", "a Gomco clamp"."""
    after = view.lowers[last + 1] if last + 1 < len(view) and view.gap(last + 1) in ("", " ") else ""
    if after.isdigit() or after in ("[", "-", "x") or not _words("eponyms").isdisjoint(view.lowers[first : last + 1]):
        return True  # Deauville 4, Hickman lumen
    if (
        after
        and view.words[last + 1].islower()
        and (lexicon().get(fold(after), 0) & (EPONYM_NOUN | MEDICAL) or after in _words("things"))
    ):
        return True
    before = view.lowers[first - 1] if first else ""
    known = max(_weight(view.words[k]) for k in range(first, last + 1))
    return before in _words("articles") or (not known and before in _words("handling"))


def _hospital(view: View, i: int) -> Candidate | None:
    word = view.words[i]
    low = view.lowers[i]
    if not 3 <= len(word) <= 6 or not word.isalpha() or low in _words("abbreviations") or low in acronyms():
        return None
    if lexicon().get(view.lowers[i], 0) & (MEDICAL | BRAND):
        return None
    before = view.lowers[i - 1] if i else ""
    if before == "the" and i > 1:
        before = view.lowers[i - 2]
    if before in _words("toward") and (
        _PLACE.match(word) or (before in _words("at") and not commonness(lexicon().get(view.lowers[i], 0)))
    ):
        return Candidate(
            view.starts[i],
            view.ends[i],
            "HOSPITAL",
            _ABBREVIATION if _PLACE.match(word) else _SCORE,
            "residue.abbreviation",
        )
    return None


def _shouting(view: View) -> bool:
    """Whether the text is written in capitals, which are then no evidence."""
    words = [w for w in view.words if len(w) > 2 and w.isalpha()]
    return sum(w.isupper() for w in words) * 2 > len(words)
