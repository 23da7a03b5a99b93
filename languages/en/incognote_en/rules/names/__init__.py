"""Finder of person names: announced names, runs of name-like words, and names in the page's layout.

A name's words are weighed by the lexicon and by their shape; their context decides. A name found by a strong cue makes
its parts elsewhere in the same text certain too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from incognote.detectors.rules.view import Candidate, View, among
from incognote.text.lexicon import (
    BRAND,
    EPONYM_NOUN,
    MEDICAL,
    ORGANIZATION,
    PLACE,
    commonness,
    given,
    surname,
)
from incognote_en.rules.names.announced import AnnouncedNames
from incognote_en.rules.names.announcer import NameRules
from incognote_en.rules.names.layout import NameLayout
from incognote_en.rules.names.phrase import LONGEST, FoundName, NamePhrase, NameReader
from incognote_en.rules.names.runs import UnannouncedNames
from incognote_en.rules.names.words import WeighedWords, cues, is_credential, kinship, vocabulary

_SURE = 0.6  # from this score on, a name makes its parts certain


def find(view: View) -> Iterable[Candidate]:
    """Candidates of type PERSON, PATIENT, CLINICIAN and RELATIVE.

    They do not overlap or include titles or credentials.
    """
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
    """Whether word k, part of a known name, means the person here and not the ordinary word it may also be."""
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
    """The best of overlapping readings, in text order. Longer ones win, and doubtful ones lose."""
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


class CredentialNames(NameRules):
    """The names in one text that are followed by a credential."""

    def find(self) -> Iterator[FoundName]:
        """Names before MD, RN, FRCS …"""
        words, known = self.words, self.known["credentials"]
        done = 1
        places = words.capitals
        if "physiologist" in words.text:
            places = sorted([*places, *(i for i, word in enumerate(words.words) if word == "physiologist")])
        for i in places:
            word = words.words[i]
            if i < done or (len(word) > 2 and word not in known):
                continue
            length = is_credential(words, i)
            if not length:
                continue
            before, gap = i - 1, words.gap(i)
            if self._credential_ends(before):
                done = i + length
                continue
            if words.words[before] == "," and "\n" not in gap:
                before -= 1
            elif words.words[before] == "(" or gap not in (" ", "  ", ""):
                continue
            commaed = before < i - 1
            while before > 0 and (words.words[before] == ")" or words.words[before] == "("):
                before -= 1
            done = i + length
            if before < 0 or (commaed and words.gap(before + 1) not in ("", " ")):
                continue
            phrase = self._back(before + 1, lax=commaed)
            if phrase is None:
                if commaed or gap == " ":
                    yield from self._initials(before, commaed)
                continue
            phrase = self._surname_first(phrase)
            style = words.style(phrase.first)
            entry = words.weigh(words.words[phrase.last - 1]) if words.is_word(phrase.last - 1) else 0
            if style == "caps" and phrase.weight < 4 and not commaed:
                continue
            if gap == "  " and not commaed and phrase.weight < 7:
                continue
            word = words.words[phrase.last - 1]
            if phrase.last - phrase.first == 1 and word.isupper() and len(word) < 5 and phrase.weight < 5:
                continue
            listed = words.word(phrase.first - 1) == "," and words.word(phrase.first - 2).isupper()
            if commaed and listed and word.isupper():
                continue  # a list of tests: "CBC, UA, PT, PTT"
            if phrase.last - phrase.first == 1 and (
                entry & (MEDICAL | BRAND | ORGANIZATION) or phrase.weight < (2 if commaed else 3)
            ):
                continue
            yield FoundName(phrase, "CLINICIAN", 0.9 if commaed or phrase.weight >= 5 else 0.75, "names.credential")

    def _credential_ends(self, at: int) -> bool:
        """Whether a credential, possibly with a comma or period after it, ends at word `at`."""
        words = self.words
        while at >= 0 and words.words[at] in (",", ".", ")", "(", "-"):
            at -= 1
        return (
            at >= 0
            and words.words[at] in self.known["credentials"]
            and words.words[at].isupper()
            and len(words.words[at]) > 1
        )

    def _surname_first(self, phrase: NamePhrase) -> NamePhrase:
        """ "Gray, Marisol, DO": the surname is before the comma."""
        words, at = self.words, phrase.first - 2
        if (
            words.word(phrase.first - 1) != ","
            or at < 0
            or words.gap(phrase.first) not in (" ", "")
            or words.gap(phrase.first - 1)
        ):
            return phrase
        alone = (
            at == 0
            or words.word(at - 1) in (":", "|", ";", ".", "-", "–", "=")
            or "\n" in words.gap(at)
            or len(words.gap(at)) > 1
        )
        if (
            alone
            and words.is_capital(at)
            and words.nameness(words.words[at]) >= 3
            and words.lowers[at] not in self.known["stop"]
        ):
            return phrase._replace(first=at, start=words.starts[at])
        return phrase

    def _initials(self, at: int, commaed: bool) -> Iterator[FoundName]:
        """ "dmv, RN": initials before a credential, with nothing else before them."""
        words = self.words
        word = words.word(at)
        if (
            word.lower() in self.known["stop"]
            or not 2 <= len(word) <= 4
            or not word.isalpha()
            or is_credential(words, at)
            or not (word.islower() or word.isupper())
        ):
            return
        entry = words.weigh(word)
        alone = (
            at == 0
            or "\n" in words.gap(at)
            or words.word(at - 1) in ("-", "–", "—", "/", "(")
            or len(words.gap(at)) > 2
        )
        if alone and commonness(entry) < 2 and not entry & (MEDICAL | BRAND) and "\n" not in words.gap(at + 1):
            yield self.alone(at, "CLINICIAN", 0.6, "names.initials")

    def _back(self, i: int, *, lax: bool = False) -> NamePhrase | None:
        """The name that ends directly before word i (a credential), found by moving left over names and initials."""
        words, known = self.words, self.known
        at, first, parts, weight = i - 1, i, 0, -9
        if at < 0:
            return None
        style = words.style(at)
        while at >= 0 and i - at <= LONGEST + 3:
            if at < i - 1 and not self.reader.joined(at + 1, False):
                break
            word, low = words.words[at], words.lowers[at]
            if (
                word == "."
                and (words.is_initial(at - 1) or words.low(at - 1) in ("jr", "sr", "v", "d"))
                and not words.gap(at)
            ):
                at -= 1
                if words.is_initial(at) or parts:
                    first = at if words.is_initial(at) else first
                at -= 1
                continue
            if not words.is_word(at):
                break
            if low in known["suffixes"] and not parts:
                at -= 1
                continue
            if (
                low in known["particles"]
                and parts
                and not (self.reader.namelike(at) and low not in ("de", "la", "van", "al"))
            ):
                first = at
                at -= 1
                continue
            if words.is_initial(at) and parts:
                first = at
                at -= 1
                continue
            if words.is_initial(at) or (
                low in known["stop"] and not (low in ("will", "may") and words.is_capital(at) and not parts)
            ):
                break
            if not words.is_capital(at) or (parts and words.possessive(at)):
                break
            if style == "mixed" and word.isupper() and len(word) <= 4 and words.nameness(word) < 4:
                break
            score = words.nameness(word)
            entry = words.weigh(word)
            if not parts:
                fits = max(given(entry), surname(entry)) >= 4 and not entry & ORGANIZATION
                if score < (0 if lax else 2) and not fits:
                    break
            else:
                fits = given(entry) >= 3 and commonness(entry) < 3 and not entry & ORGANIZATION
                if not fits and (score < 1 or (score < 3 and commonness(entry))):
                    break
            parts += 1
            weight = max(weight, score)
            first = at
            at -= 1
        if not parts:
            return None
        last = i
        while words.word(last - 1) in (".",) and not words.is_initial(last - 2):
            last -= 1
        return NamePhrase(first, last, words.starts[first], words.end(last - 1), weight)
