"""Reading one name from the words of a text: forward from a cue, or backward from a credential."""

from __future__ import annotations

import re
from typing import NamedTuple

from incognote.text.lexicon import (
    BRAND,
    EPONYM_NOUN,
    MEDICAL,
    ORGANIZATION,
    commonness,
    fold,
    given,
    surname,
)
from incognote_en.rules.gazetteer import words as place_words
from incognote_en.rules.names.words import WeighedWords, is_credential, vocabulary

_OPENING = {"(": ")", '"': '"', "“": "”", "‘": "’", "'": "'", "«": "»"}
_SENTENCE_GAP = re.compile(r"[ \u00a0]\Z")
_WRAP = re.compile(r"[ \t]*\r?\n[ \t>]*\Z")
_STREET = place_words("places.toml", "street")
_GLUED = 6  # the longest word that is no street name in one word, such as Hauptstraße
LONGEST = 7  # words in one name: "Khalid Sultan Saeed bin Huwaireb Al-Mazrouei"


class NamePhrase(NamedTuple):
    """A name: words first (inclusive) to last (exclusive), its offsets, and the nameness of its most name-like word."""

    first: int
    last: int
    start: int
    end: int
    weight: int


class FoundName(NamedTuple):
    """A name that a rule found."""

    phrase: NamePhrase
    type: str
    score: float
    rule: str


class NameReader:
    """Reads names from one text."""

    def __init__(self, words: WeighedWords) -> None:
        self.words = words
        self.known = vocabulary()

    def read(self, i: int, *, lax: bool = True, comma: bool = False, wrap: bool = False) -> NamePhrase | None:
        """The name that begins at word i, or None.

        Args:
            lax: a strong cue precedes it, so any capitalized word may be the name. Otherwise its words must look like a
                name.
            comma: the order may be surname, comma, given names.
            wrap: the name may contain a line break.
        """
        words = self.words
        if not words.is_word(i) or (self._is_street(i) and words.word(i - 1) == ","):
            return None
        style = words.style(i)
        at, parts, weight, opened = i, 0, -9, i
        inverted = False
        last = i
        while at < words.count and at - i < 2 * LONGEST:
            if at > i and not self.joined(at, wrap):
                break
            word = words.words[at]
            if word in _OPENING and at > i:
                after = self._nickname(at)
                if after is None:
                    break
                at = last = after
                continue
            if word == "," and comma and not inverted and parts:
                if not self._given_follows(at, style) or (parts > 1 and self._short_capitals(at + 1, style)):
                    break
                if self._is_street(at + 1):
                    break
                if words.is_initial(i) and words.word(i + 1) == ".":
                    break  # "S. Paterson, Duc": a list
                inverted = True
                at += 1
                continue
            if (word == "." and words.low(at - 1) in self.known["abbreviated"]) or (word == "ª" and not words.gap(at)):
                at += 1
                continue
            if not words.is_word(at):
                break
            step = self._part(at, i, parts, lax, style, inverted)
            if step == 0:
                break
            named = at + step - 1
            if words.is_word(named) and not words.is_initial(named) and not (step == 2 and words.word(named) == "."):
                parts += 1
                weight = max(weight, words.nameness(words.words[named]))
            last = at + step
            at = last
            if words.possessive(last - 1) or parts >= LONGEST:
                break
            if words.word(last - 1) == "." and not parts and "\n" in words.gap(last):
                break
        return self._close(i, last, parts, weight, lax, opened)

    def _close(self, i: int, last: int, parts: int, weight: int, lax: bool, opened: int) -> NamePhrase | None:
        words = self.words
        while last > i and words.low(last - 1) in self.known["particles"] and not self.namelike(last - 1):
            last -= 1  # a particle without a name after it
        if last <= i or (parts == 0 and not self._initials_only(i, last, lax)):
            return None
        start, end = words.starts[opened], words.end(last - 1)
        if words.word(last - 1) == "." and not words.is_initial(last - 2):
            end = words.end(last - 2)
        # Speech recognition or a scanner put a digit inside a word: the name continues to the word's end.
        text, stop = words.text, min(len(words.text), end + 16)
        if end == words.ends[last - 1] and parts and last < words.count and words.starts[last] == end:
            glued = end
            while glued < stop and text[glued].isalnum():
                glued += 1
            if glued > end and text[glued - 1].isalpha():
                end = glued
        return NamePhrase(i, last, start, end, weight)

    def joined(self, at: int, wrap: bool) -> bool:
        """Whether word `at` continues the phrase of the previous word: after a space, or on a wrapped line."""
        gap = self.words.gap(at)
        if not gap or _SENTENCE_GAP.match(gap) is not None:
            return True
        if not wrap or _WRAP.match(gap) is None:
            return False
        end = self.words.ends[at - 1]  # only prose wraps: a long line without columns
        near = max(0, end - 200)
        line = self.words.text[max(near, self.words.text.rfind("\n", near, end)) : end]
        if len(line) > 36:
            return "   " not in line.strip()
        # a short line continues if a name is followed by a lower-case word: "Dr. Emily / Carter called"
        follower = at + 2 if self.words.word(at + 1) == "," else at + 1
        return self.namelike(at) and self.words.gap(follower) == " " and self.words.word(follower).islower()

    def namelike(self, at: int) -> bool:
        """Whether word `at` is capitalized and a name by itself."""
        return self.words.nameness(self.words.words[at]) >= 5 and self.words.is_capital(at)

    def _initials_only(self, i: int, last: int, lax: bool) -> bool:
        letters = [self.words.words[k] for k in range(i, last) if self.words.is_word(k)]
        return lax and 2 <= len(letters) <= 4 and self.words.word(i + 1) == "."

    def _part(self, at: int, first: int, parts: int, lax: bool, style: str, inverted: bool) -> int:
        """The number of words from `at` that belong to the name as one part (0: it ends here)."""
        words, known = self.words, self.known
        word, low = words.words[at], words.lowers[at]
        following = words.word(at + 1)
        if words.is_initial(at):
            return self._initial(at, first, parts, style, inverted)
        if low in known["suffixes"]:
            return 1 if parts and words.is_capital(at) else 0
        if (
            is_credential(words, at)
            and (parts or words.gap(at + 1)[:1] in "\n")
            and not (words.nameness(word) >= 5 and not word.isupper())
        ):
            return 0
        if (
            low in known["particles"]
            and not (style == "lower" and len(low) < 3)
            and (at > first or lax or words.is_capital(at) or style == "lower")
            and not (parts == 0 and self.namelike(at))
        ):
            link = self._particle(at, style)
            if link:
                return link
        if parts and low in ("d", "s", "a") and following == "/" and words.word(at + 2).lower() in ("o", "l", "p"):
            return (
                3
                if not words.gap(at + 1) and not words.gap(at + 2) and word.islower() and words.is_capital(at + 3)
                else 0
            )
        if inverted and words.words[at - 1] == ",":
            return 1  # _given_follows has checked it
        if low in known["stop"] or (low.replace("'", "’") in known["stop"]):
            return 1 if self._stop_is_name(at, parts, lax, style) else 0
        if style != "lower" and not words.is_capital(at):
            return 0
        if len(word) == 1:
            return 0
        return 1 if (self._next if parts else self._first)(at, lax, style) else 0

    def _initial(self, at: int, first: int, parts: int, style: str, inverted: bool) -> int:
        """Like `_part`, for a single capital letter."""
        words = self.words
        word, follows, gap = words.words[at], words.word(at + 1), words.gap(at + 1)
        if follows == "." and not gap:
            return 2
        leads = words.is_capital(at + 1) and gap == " " and words.low(at + 1) not in self.known["stop"]
        if not parts:  # "S K Oyelaran"
            score = words.nameness(follows) if leads else -9
            placeholder = word in "IXYZ" and score < 4
            return (
                1 if leads and not placeholder and (len(follows) > 2 or words.is_initial(at + 1) or score >= 4) else 0
            )
        if word in "MF" and (follows[:1].isdigit() or follows in ("/", ",", "|", ";", "(")):
            return 0  # the sex
        if word == "I" and style != "caps":
            return 0
        if inverted:
            return 1
        if style == "caps":
            closes = not gap or "\n" in gap or len(gap) > 1 or follows in (",", "|", "^", ")", "-", "/")
            return 1 if closes or is_credential(words, at + 1) else 0
        return 1 if leads and words.nameness(follows) >= 2 else 0

    def _particle(self, at: int, style: str) -> int:
        words, step = self.words, 1
        while step < 4 and words.low(at + step) in self.known["particles"] and self.joined(at + step, False):
            step += 1
        if (
            words.low(at) == "v"
            and words.word(at + 1) == "."
            and words.low(at + 2) in ("d", "v")
            and words.word(at + 3) == "."
        ):
            return 5 if words.is_capital(at + 4) else 0
        if words.low(at) == "v":
            return 0  # versus
        if words.word(at + 1) == "." and step == 1:
            return 0
        follows = at + step
        if not self.joined(follows, False) or not words.is_word(follows) or words.low(follows) in self.known["stop"]:
            return 0
        if words.is_capital(follows) and (len(words.words[follows]) > 1):
            return step + 1 if style != "caps" or words.nameness(words.words[follows]) >= 1 else 0
        return step + 1 if style == "lower" and words.nameness(words.words[follows]) >= 3 else 0

    def _nickname(self, at: int) -> int | None:
        """The word after a quoted nickname that opens at word `at`, or None."""
        words = self.words
        closing = _OPENING[words.words[at]]
        for end in range(at + 2, min(at + 5, words.count)):
            if words.words[end] == closing:
                inside = range(at + 1, end)
                if words.words[at] == "(" and not (self._surname_after(end + 1) and len(inside) == 1):
                    return None  # only a nickname before the surname: "Efthimia (Effie) Karavas"
                if all(words.is_capital(k) and not words.gap(k).strip(" ") for k in inside):
                    return end + 1
                return None
        return None

    def _surname_after(self, at: int) -> bool:
        words = self.words
        plain = words.low(at) in self.known["stop"] or is_credential(words, at) > 0
        return words.gap(at) == " " and words.is_capital(at) and not plain and words.nameness(words.words[at]) >= 2

    def _given_follows(self, at: int, style: str) -> bool:
        """Whether given names follow the comma at word `at`."""
        words = self.words
        follows = at + 1
        if follows >= words.count or words.gap(follows) not in ("", " ", "  ") or not words.is_word(follows):
            return False
        if is_credential(words, follows) or (
            words.low(follows) in self.known["stop"] and words.low(follows) not in ("will", "may")
        ):
            return False
        word = words.words[follows]
        if words.is_initial(follows):
            if not words.gap(follows + 1) and words.word(follows + 1) not in (".", "|", "^", ")", ""):
                return False
            return (
                words.word(follows + 1) in (".", "")
                or "\n" in words.gap(follows + 1)
                or len(words.gap(follows + 1)) > 1
                or words.word(follows + 1) in ("|", "^", ")")
                or is_credential(words, follows + 1) > 0
            )
        if not words.is_capital(follows) and style != "lower":
            return False
        entry = words.weigh(word)
        if entry & (ORGANIZATION | MEDICAL | BRAND) and given(entry) < 5:
            return False
        score = words.nameness(word)
        return score >= 2 or given(entry) >= 3 or (word.isupper() == words.words[at - 1].isupper() and score >= 0)

    def _is_street(self, at: int) -> bool:
        """Whether an address begins at word `at`: "Carmen Rivera, Calle Marina 41", "Sophie Berger, Hauptstraße 4"."""
        low, number = fold(self.words.word(at)), self.words.word(at + 1)[:1].isdigit()
        return low in _STREET["prefix"] or (number and len(low) > _GLUED and low.endswith(tuple(_STREET["glued"])))

    def _short_capitals(self, at: int, style: str) -> bool:
        """Whether word `at` is an abbreviation after a full name: "Halima Yusuf, PO address"."""
        word = self.words.word(at)
        return style == "mixed" and 1 < len(word) < 4 and word.isupper()

    def _first(self, at: int, lax: bool, style: str) -> bool:
        words = self.words
        word = words.words[at]
        score, entry = words.nameness(word), words.weigh(word)
        if style == "mixed":
            if word.isupper() and len(word) < 6 and not self.words.is_capital(at + 1) and score < 3:
                return lax and len(word) > 3  # more likely an abbreviation than a name
            if words.word(at + 1) == ":" and not lax and score < 5:
                return False
            if lax:
                return not entry & (MEDICAL | BRAND) or max(given(entry), surname(entry)) >= 3
            if score >= 2 or (given(entry) >= 4 and not entry & (MEDICAL | BRAND)):
                return True
            leads = (
                given(entry) >= 2
                and words.is_capital(at + 1)
                and words.gap(at + 1) == " "
                and words.nameness(words.word(at + 1)) >= 5
            )
            return leads and not entry & (MEDICAL | BRAND | ORGANIZATION)
        if style == "caps":
            return score >= (0 if lax else 4) or (lax and max(given(entry), surname(entry)) >= 4)
        return score >= (1 if lax else 4)

    def _next(self, at: int, lax: bool, style: str) -> bool:
        words = self.words
        word = words.words[at]
        score, entry = words.nameness(word), words.weigh(word)
        if words.word(at + 1) == ":" and words.gap(at + 1) in ("", " ") and score < 5:
            return False  # the label of the next field
        if entry & ORGANIZATION and score < 4:  # in "Bruce Ward is a …", Ward is a name and not a ward
            follows = words.low(at + 1)
            named = (
                surname(entry) >= 5
                and words.nameness(words.words[at - 1]) >= 5
                and (follows in self.known["after"] or (follows == "," and words.word(at + 2).isdigit()))
            )
            return named and style == "mixed"
        if style == "mixed":
            if word.isupper() and len(word) <= 4 and not words.words[at - 1].isupper() and score < 5:
                return False
            if entry & (MEDICAL | BRAND):
                return score >= 3
            if score >= 2 or (lax and score >= 0 and not entry):
                return True
            return self._plain_words_end(at, lax)
        if style == "caps":
            known = lax and score >= 1 and max(given(entry), surname(entry)) >= 3 and not entry & (MEDICAL | BRAND)
            return commonness(entry) < 3 and (score >= 3 or known)
        return score >= 3 and (commonness(entry) < 2 or (surname(entry) >= 6 and score >= 4))

    def _plain_words_end(self, at: int, lax: bool) -> bool:
        """One or two capitalized ordinary words that end a name: "Walter Standing Elk", "Missy Two Bears, RN"."""
        words = self.words
        for k in range(at, at + 2):
            word, low = words.word(k), words.low(k)
            entry = words.weigh(word) if word else 0
            if (
                not words.is_capital(k)
                or word.isupper()
                or low in self.known["stop"]
                or entry & (ORGANIZATION | MEDICAL | BRAND | EPONYM_NOUN)
            ):
                return False
            following = words.word(k + 1)
            if is_credential(words, k + 1) or (following == "," and is_credential(words, k + 2)):
                return True
            if not following or following[0] in ",.;)(|–—/'\"" or following[0].islower() or "\n" in words.gap(k + 1):
                return (
                    lax
                    and commonness(entry) < 3
                    and (k > at or commonness(entry) < 2 or max(given(entry), surname(entry)) >= 1)
                )
        return False

    def _stop_is_name(self, at: int, parts: int, lax: bool, style: str) -> bool:
        """Whether an ordinary word is a name in this position: "Thaddeus Will", "Dr. May"."""
        words, low = self.words, self.words.lowers[at]
        if not (lax or parts):
            leads = words.is_capital(at + 1) and words.nameness(words.word(at + 1)) >= 4
            return low == "will" and style == "mixed" and leads
        if low not in self.known["homographs"]:
            return False
        if style == "mixed":
            return words.is_capital(at) and not words.words[at].isupper()
        if parts or low not in ("will", "may", "page", "day"):
            return False
        follower = words.low(at + 1)
        ends = not follower or not follower[0].isalpha() or "\n" in words.gap(at + 1)
        return style == "caps" or ends or follower in self.known["after"] or follower in ("who", "for", "to")
