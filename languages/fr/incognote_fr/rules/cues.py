"""Names that French notes announce by their form: initials, a surname before a given name, and a profession after."""

from __future__ import annotations

import re
from collections.abc import Iterator

from incognote.detectors.rules.listed import lists
from incognote.detectors.rules.view import Candidate, View
from incognote.text.lexicon import commonness, fold, given, lexicon, surname

_AFTER = frozenset(
    "ide idec iden idel iade ibode ash as aide-soignante infirmier infirmière sage-femme sf interne externe mkde kiné"
    " psychologue orthophoniste diététicienne ergothérapeute md r1 r2 r3 r4 r5 ffi ph pharm inf".split()
)
_TITLES = frozenset("dr dre mme mr mlle pr docteur madame monsieur melle".split())
_SPECIES = frozenset(
    "coli aureus difficile pylori cloacae pneumoniae influenzae falciparum vivax albicans faecalis jirovecii".split()
)
_RAMQ = re.compile(r"(?<![^\W_])[A-Z]{4}[ ]?\d{4}[ ]?\d{4}(?![^\W_])")
_PARTS = frozenset("wa de le la ben el al ould aït ait da dos van".split())
_GRADES = frozenset("grade stade type classe côté vitamine hépatite groupe œil oeil".split())
_TO = frozenset("à vers".split())
_BREAK = re.compile(r"\n|\t|[ ]{2}|^$")


class _Names:
    """What the lexicon says about the words of a view."""

    def __init__(self, view: View) -> None:
        self.view, self.table = view, lexicon("fr")
        self.never, self.endings = lists("fr").never, lists("fr").endings

    def entry(self, i: int) -> int:
        return self.table.get(fold(self.view.words[i]), 0)

    def unusual(self, i: int) -> bool:
        """Whether a word of at least three letters may be a name: it is one, or no list has it."""
        word = self.view.words[i]
        if len(word) < 3 or not word[0].isalpha() or fold(word) in _SPECIES or fold(word) in self.never:
            return False
        entry = self.entry(i)
        weight = max(given(entry), surname(entry))
        if weight:
            return commonness(entry) < 2 or weight >= 3 * commonness(entry)
        return not (commonness(entry) or entry >> 8 or fold(word).endswith(self.endings))

    def capital(self, i: int) -> bool:
        return i < len(self.view) and self.view.words[i][0].isupper() and self.unusual(i)

    def given(self, i: int) -> int:
        """Return the weight of a capitalized word as a given name. A compound has that of its first part."""
        if i >= len(self.view) or not self.view.words[i][0].isupper():
            return 0
        entry = self.entry(i) or self.table.get(fold(self.view.words[i]).partition("-")[0], 0)
        return given(entry) if given(entry) > 2 * commonness(entry) else 0


def find(view: View) -> Iterator[Candidate]:
    """Yield names by their form, and Quebec insurance numbers by theirs."""
    for found in _RAMQ.finditer(view.text):
        yield Candidate(found.start(), found.end(), "HEALTH_PLAN_ID", 0.9, "cues.ramq")
    names = _Names(view)
    words, starts, ends = view.words, view.starts, view.ends
    own = lists("fr")
    for i, word in enumerate(words):
        small = word.lower()
        if small.endswith(("culteur", "cultrice")):
            yield Candidate(starts[i], ends[i], "OCCUPATION", 0.7, "cues.grower")
        if small in _TO and i + 1 < len(words) and view.gap(i + 1) == " ":
            yield from _at(names, i, own.towns)
        if own.heads.get(fold(word)) == "HOSPITAL" and words[i + 1 : i + 2] == ["de"]:
            yield from _small_institution(names, i, own.towns)
        if fold(word) in own.kin and i + 1 < len(words) and view.gap(i + 1) == " " and _small_name(names, i + 1):
            yield Candidate(starts[i + 1], ends[i + 1], "RELATIVE", 0.65, "cues.small")
        if small in _AFTER and i and view.gap(i) == " " and _small_name(names, i - 1):
            yield Candidate(starts[i - 1], ends[i - 1], "CLINICIAN", 0.65, "cues.small")
        if word[0].isupper() and (i == 0 or "\n" in view.gap(i)) and (end := _line(names, i)):
            yield Candidate(starts[i], ends[end - 1], "PERSON", 0.65, "cues.line")
        if len(word) == 1:
            end = _initials(names, i)
            if end:
                yield Candidate(starts[i], ends[end - 1], "PERSON", 0.75, "cues.initials")
        elif i + 1 < len(words) and word[0].isupper() and names.unusual(i):
            yield from _surname_first(names, i)
        elif word.lower() in _TITLES:
            at = i + 2 if words[i + 1 : i + 2] == ["."] else i + 1
            small_word = at < len(words) and words[at].islower() and len(words[at]) > 3 and view.gap(at) == " "
            if small_word and names.unusual(at) and not names.entry(at) >> 6:
                yield Candidate(starts[at], ends[at], "PERSON", 0.7, "cues.small")


def _small_name(names: _Names, i: int) -> bool:
    """Whether a word in small letters is a given name and no word."""
    word, entry = names.view.words[i], names.entry(i)
    return word.islower() and len(word) > 2 and given(entry) >= 3 and not commonness(entry)


def _small_institution(names: _Names, i: int, towns: dict[str, str]) -> Iterator[Candidate]:
    """Yield an institution that is named after a town and is in small letters ("csréf de koulikoro")."""
    view, at = names.view, i + 2
    if (
        at < len(view)
        and view.words[at].islower()
        and not commonness(names.entry(at))
        and fold(view.words[at]) in towns
    ):
        yield Candidate(view.starts[i], view.ends[at], "HOSPITAL", 0.7, "cues.small")


def _line(names: _Names, i: int) -> int:
    """Return the index after one to three names that stand alone on a line, as a signature does; 0 if none."""
    view, at = names.view, i
    while at < len(view) and at < i + 3 and (at == i or "\n" not in view.gap(at)) and names.capital(at):
        at += 1
    alone = at > i and (at == len(view) or "\n" in view.gap(at))
    return at if alone and names.given(i) >= 3 and not word_caps(view.words[i]) else 0


def _at(names: _Names, i: int, towns: dict[str, str]) -> Iterator[Candidate]:
    """Yield the place after "à": a town in small letters, or a capitalized word that no list has."""
    view, at = names.view, i + 1
    word, entry = view.words[at], names.entry(at)
    if word.islower() and len(word) > 4 and not commonness(entry) and fold(word) in towns:
        yield Candidate(view.starts[at], view.ends[at], "CITY", 0.6, "cues.town")
    elif word[0].isupper() and word[1:].islower() and not entry and names.capital(at) and len(word) > 3:
        yield Candidate(view.starts[at], view.ends[at], "CITY", 0.55, "cues.at")


def _initials(names: _Names, i: int) -> int:
    """Return the index after "A. Boddaert", "M.-C. Jacquinot" or "c.marchetti"; 0 if there is no name."""
    view, words = names.view, names.view.words
    if not ("a" <= words[i].lower() <= "z") or i + 2 >= len(words) or (i and words[i - 1].lower() in _GRADES):
        return 0
    small, at = words[i].islower(), i
    while at + 2 < len(words) and len(words[at]) == 1 and words[at + 1] == "." and not view.gap(at + 1):
        at += 2
        if words[at] == "-" and at + 1 < len(words):
            at += 1
    if at == i or view.gap(at) not in ("", " ", "\u00a0") or (small and view.gap(at)):
        return 0
    if small:
        return at + 1 if words[at].islower() and len(words[at]) > 3 and names.unusual(at) else 0
    if words[at].lower() in ("le", "la", "de", "van", "el", "ben", "di", "da", "von") and names.capital(at + 1):
        return at + 2 if words[at][0].isupper() or names.capital(at + 1) else 0
    if not names.capital(at):
        return 0
    return at + 3 if words[at + 1 : at + 2] == ["-"] and names.capital(at + 2) else at + 1


def _surname_first(names: _Names, i: int) -> Iterator[Candidate]:
    """Yield "Cloutier, Denis", "Chikaoui Nadège", "Steinmetz M." and "Maud IDE"."""
    view, words, starts, ends = names.view, names.view.words, names.view.starts, names.view.ends
    begins = i == 0 or bool(_BREAK.search(view.gap(i))) or words[i - 1] in "|;:-–"
    following, gap = words[i + 1], view.gap(i + 1)
    entry = names.entry(i)
    if following == "," and begins and not gap and names.given(i + 2) >= 2 and view.gap(i + 2) == " ":
        yield Candidate(starts[i], ends[i + 2], "PATIENT", 0.75, "cues.comma")
    elif gap == " " and names.given(i + 1) >= 4 and not entry and words[i][1:].islower() == following[1:].islower():
        yield Candidate(starts[i], ends[i + 1], "PERSON", 0.6, "cues.unknown")
    elif word_caps(words[i]) and (end := _capitals(names, i)):
        yield Candidate(starts[i], ends[end - 1], "PERSON", 0.75, "cues.capitals")
    elif gap in (" ", ", ") and following.isupper() and len(following) == 1 and words[i + 2 : i + 3] == ["."]:
        if (entry or begins) and not view.gap(i + 2):
            yield Candidate(starts[i], ends[i + 2], "PERSON", 0.7, "cues.initial")
    elif (following == "," and not gap and words[i + 2 : i + 3] and words[i + 2].lower() in _AFTER and entry) or (
        gap in (" ", ", ") and following.lower() in _AFTER and i and (entry or words[i - 1] in "/,:-–(")
    ):
        yield Candidate(starts[i], ends[i], "CLINICIAN", 0.65, "cues.profession")


def _capitals(names: _Names, i: int) -> int:
    """Return the index after a surname in capitals and a given name that is not, as in "MBA OBAME Juste"; 0 if none."""
    view, words, at = names.view, names.view.words, i + 1
    while at < min(i + 4, len(words)) and view.gap(at) == " " and (word_caps(words[at]) or fold(words[at]) in _PARTS):
        if not (names.unusual(at) or fold(words[at]) in _PARTS):
            return 0
        at += 1
    if at >= len(words) or view.gap(at) != " " or not words[at][0].isupper() or word_caps(words[at]):
        return 0
    rare = not names.entry(i) and names.capital(at) and not names.entry(at) and len(words[i]) > 4
    if not (names.given(at) >= 2 or rare):
        return 0
    return at + 2 if at + 1 < len(words) and view.gap(at + 1) == " " and names.given(at + 1) >= 3 else at + 1


def word_caps(word: str) -> bool:
    """Whether a word of at least three letters is in capitals ("DUPONT", "LE-GOFF")."""
    return len(word) > 2 and word.isupper()
