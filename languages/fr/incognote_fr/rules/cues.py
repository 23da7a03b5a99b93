"""Names that French notes announce by their form: initials, a profession after the name, and signatures."""

from __future__ import annotations

from collections.abc import Iterator

from incognote.detectors.rules.lexicon import commonness, fold, given, lexicon, surname
from incognote.detectors.rules.view import Candidate, View

_AFTER = frozenset(
    "ide idec iden idel iade ibode ash as aide-soignante infirmier infirmière sage-femme sf interne externe mkde kiné"
    " psychologue orthophoniste diététicienne ergothérapeute md r1 r2 r3 r4 r5 ffi ph pharm inf".split()
)
_STAPHYLOCOCCI = frozenset(
    "coli aureus difficile pylori cloacae pneumoniae influenzae falciparum vivax albicans faecalis".split()
)


def _unusual(word: str) -> bool:
    """Whether a capitalized word of at least three letters may be a name."""
    if len(word) < 3 or not word[0].isupper():
        return False
    entry = lexicon("fr").get(fold(word), 0)
    weight = max(given(entry), surname(entry))
    return fold(word) not in _STAPHYLOCOCCI and (weight > 0 or not (commonness(entry) or entry >> 8))


def find(view: View) -> Iterator[Candidate]:
    """Yield names with initials ("A. Boddaert", "Steinmetz M.") and names before a profession ("Maud IDE")."""
    words, starts, ends = view.words, view.starts, view.ends
    for i, word in enumerate(words):
        if len(word) == 1 and word.isupper() and i + 2 < len(words) and words[i + 1] == "." and not view.gap(i + 1):
            at = i + 2
            while at + 2 < len(words) and len(words[at]) == 1 and words[at].isupper() and words[at + 1] == ".":
                at += 2
            if words[at] in "-" and at + 1 < len(words):
                at += 1
            if view.gap(at) in ("", " ", "\u00a0") and _unusual(words[at]):
                yield Candidate(starts[i], ends[at], "PERSON", 0.75, "cues.initials")
        elif _unusual(word) and i + 1 < len(words) and view.gap(i + 1) in (" ", ", ", "  "):
            following = words[i + 1]
            initial = len(following) == 1 and following.isupper() and i + 2 < len(words) and words[i + 2] == "."
            entry = lexicon("fr").get(fold(word), 0)
            if initial and not view.gap(i + 2) and max(given(entry), surname(entry)) >= 1:
                yield Candidate(starts[i], ends[i + 2], "PERSON", 0.7, "cues.initial")
            elif fold(following) in _AFTER and following.lower() in _AFTER and view.gap(i) != "":
                yield Candidate(starts[i], ends[i], "CLINICIAN", 0.65, "cues.profession")
