"""Finder of person names: announced ones, runs of name-like words, and names in the page's layout.

A name's words are weighed by the lexicon and by their shape; their context decides. A name found by a strong
cue lends its certainty to its parts elsewhere in the same text.
"""

from __future__ import annotations

from collections.abc import Iterable

from incognote.detectors.rules.lexicon import BRAND, EPONYM_NOUN, MEDICAL, ORGANIZATION, PLACE, commonness, given
from incognote.detectors.rules.view import Candidate, View, among
from incognote_en.rules.names.announced import AnnouncedNames
from incognote_en.rules.names.credentials import CredentialNames
from incognote_en.rules.names.layout import NameLayout
from incognote_en.rules.names.phrase import FoundName, NamePhrase, NameReader
from incognote_en.rules.names.runs import UnannouncedNames
from incognote_en.rules.names.words import WeighedWords, cues, kinship, vocabulary

_SURE = 0.6  # from here on a name lends its parts


def find(view: View) -> Iterable[Candidate]:
    """Candidates of type PERSON, PATIENT, CLINICIAN and RELATIVE, none overlapping; no titles, no credentials."""
    words = WeighedWords(view)
    if not words.count:
        return []
    reader = NameReader(words)
    runs = UnannouncedNames(words, reader)
    names = [
        *AnnouncedNames(words, reader).find(),
        *NameLayout(words, reader).find(),
        *CredentialNames(words, reader).find(),
    ]
    taken = {k for f in names for k in range(f.phrase.first, f.phrase.last)}
    names += runs.bare(taken)
    names += _recalled(words, names)
    return _settled(names, len(view.text))


def _recalled(words: WeighedWords, names: list[FoundName]) -> list[FoundName]:
    """Lone mentions of parts of a name found with a strong cue."""
    taken = {k for f in names if f.score >= 0.5 for k in range(f.phrase.first, f.phrase.last)}
    parts: dict[str, str] = {}
    for f in names:
        if f.score < _SURE:
            continue
        for k in range(f.phrase.first, f.phrase.last):
            word = words.words[k]
            if len(word) < 3 or (words.lowers[k] in cues() and given(words.weigh(word)) < 5):
                continue
            thing = words.weigh(word) & (MEDICAL | BRAND | ORGANIZATION)
            if words.is_word(k) and words.nameness(word) >= 1 and not thing:
                base = words.text[words.starts[k] : words.end(k)].lower()
                parts.setdefault(base, f.type)
                for piece in base.replace("‐", "-").split("-"):
                    if len(piece) > 3 and words.nameness(piece) >= 5:
                        parts.setdefault(piece, f.type)
    if not parts:
        return []
    recalled = []
    if "'" in words.text or "’" in words.text:
        near = [k for k, low in enumerate(words.lowers) if low in parts or "'" in low or "’" in low]
    else:
        near = [*among(words.lowers, parts)]
    for k in near:
        if k in taken:
            continue
        low = words.lowers[k]
        type_ = parts.get(low)
        if type_ is None and ("'" in low or "’" in low):
            type_ = parts.get(low[: words.end(k) - words.starts[k]])
        if type_ is None or not _mention(words, k):
            continue
        end = words.end(k)
        recalled.append(FoundName(NamePhrase(k, k + 1, words.starts[k], end, 0), type_, 0.7, "names.recalled"))
    return recalled


def _mention(words: WeighedWords, k: int) -> bool:
    """Whether word k, part of a known name, means the person here, rather than the plain word it may also be."""
    word = words.words[k]
    entry = words.weigh(word)
    style = words.style(k)
    if words.possessive(k) and words.low(k + 1) in kinship() and style != "lower":
        return True
    if words.weigh(words.low(k + 1)) & EPONYM_NOUN and words.gap(k + 1) in (" ", "-") and not words.possessive(k):
        return False
    if style == "mixed":
        if not words.is_capital(k) or (
            entry & PLACE and (words.low(k - 1) in vocabulary()["times"] or words.word(k + 1).isdigit())
        ):
            return False
        opens = k == 0 or words.words[k - 1] in ".!?:" or "\n" in words.gap(k)
        return not commonness(entry) or not opens or (commonness(entry) < 3 and given(entry) >= 4)
    return words.nameness(word) >= (4 if style == "caps" else 5) and not commonness(entry) > 1


def _settled(names: list[FoundName], length: int) -> list[Candidate]:
    """The best of overlapping readings, longest first among equals; a person who is a patient elsewhere is one here."""
    best: list[FoundName] = []
    taken = bytearray(length)
    for f in sorted(names, key=lambda f: (f.score < 0.5, -(f.phrase.end - f.phrase.start), -f.score, f.phrase.start)):
        start, end = f.phrase.start, f.phrase.end
        if taken.find(1, start, end) >= 0:
            continue
        taken[start:end] = b"\1" * (end - start)
        best.append(f)
    return [
        Candidate(f.phrase.start, f.phrase.end, f.type, f.score, f.rule)
        for f in sorted(best, key=lambda f: f.phrase.start)
    ]
