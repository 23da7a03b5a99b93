"""Names before a credential: "Gray, Marisol, DO", "K. Mbeki RN", "dmv, RN"."""

from __future__ import annotations

from collections.abc import Iterator

from incognote.detectors.rules.lexicon import BRAND, MEDICAL, ORGANIZATION, commonness, given, surname
from incognote_en.rules.names.announcer import NameRules
from incognote_en.rules.names.phrase import LONGEST, FoundName, NamePhrase
from incognote_en.rules.names.words import is_credential


class CredentialNames(NameRules):
    """The names of one text that a credential follows."""

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
            if phrase.last - phrase.first == 1 and (
                entry & (MEDICAL | BRAND | ORGANIZATION) or phrase.weight < (2 if commaed else 3)
            ):
                continue
            yield FoundName(phrase, "CLINICIAN", 0.9 if commaed or phrase.weight >= 5 else 0.75, "names.credential")

    def _credential_ends(self, at: int) -> bool:
        """Whether a credential, with or without a comma or full stop after it, ends at word `at`."""
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
        """The name that ends just before word i (a credential): walked leftwards over name-like words and initials."""
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
