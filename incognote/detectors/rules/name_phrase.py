"""Reading one name from the words of a text: forwards from a cue, or backwards from a credential."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from incognote.detectors.rules.lexicon import BRAND, EPONYM_NOUN, MEDICAL, ORGANIZATION, PLACE, commonness, fold, given, surname
from incognote.detectors.rules.name_words import Words, nameness, weigh

_OPENING = {'"': '"', "“": "”", "‘": "’", "'": "'", "«": "»"}
_SENTENCE_GAP = re.compile(r"[ \u00a0]\Z")
_WRAP = re.compile(r"[ \t]*\r?\n[ \t>]*\Z")
_ABBREVIATED = frozenset(("ma", "mohd", "muhd", "st", "ste", "jr", "sr", "wm", "geo", "chas", "thos", "jos", "abd", "sh", "th"))
_LONGEST = 7  # words in one name: "Khalid Sultan Saeed bin Huwaireb Al-Mazrouei"


class Phrase(NamedTuple):
    """A name: words first (inclusive) to last (exclusive), its offsets, and how name-like its words are in themselves."""

    first: int
    last: int
    start: int
    end: int
    weight: int


@dataclass(frozen=True)
class Vocabulary:
    """The closed word classes of name_cues.toml."""

    stop: frozenset[str]
    credentials: frozenset[str]
    suffixes: frozenset[str]
    particles: frozenset[str]
    after: frozenset[str]
    before: frozenset[str]
    never: frozenset[str]


@lru_cache(maxsize=1)
def cue_file() -> dict[str, Any]:
    """name_cues.toml, parsed once."""
    path = files("incognote.detectors").joinpath("rules", "lexicon", "name_cues.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def vocabulary() -> Vocabulary:
    """The word classes of name_cues.toml, read once."""
    words = cue_file()["words"]
    return Vocabulary(**{name: frozenset(words[name]) for name in Vocabulary.__dataclass_fields__})


def is_credential(words: Words, i: int) -> int:
    """How many words from i on make one credential ("MD" 1, "M.D." 4, "PA-C" 1), 0 for none."""
    known = vocabulary().credentials
    word = words.word(i)
    if not word or not word[0].isalpha():
        return 0
    if word in known and len(word) > 1:
        if words.word(i + 1) in ("-", "/") and not words.gap(i + 1) and words.word(i + 2).isdigit():
            return 0  # the beginning of a number
        return 2 if words.word(i + 1) == "." and not words.gap(i + 1) else 1
    joined, count = "", 0
    while count < 12 and words.is_word(i + count) and len(words.word(i + count)) <= 2 and words.word(i + count + 1) == ".":
        if count and words.gap(i + count).strip(" -"):
            break
        joined += words.word(i + count)
        count += 2
        if joined in known and words.gap(i + count) not in ("", "-"):
            return count
    if joined in known:
        return count
    if joined and words.is_word(i + count) and not words.gap(i + count) and joined + words.word(i + count) in known:
        return count + 1
    return 0


class Reader:
    """Reads names from one text."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.known = vocabulary()

    def read(self, i: int, *, lax: bool = True, comma: bool = False, wrap: bool = False) -> Phrase | None:
        """The name that begins at word i, or None.

        Args:
            lax: a strong cue stands before, so that any capitalised word may be the name; otherwise its words must
                themselves look like one.
            comma: the order may be surname, comma, given names.
            wrap: a line break may lie inside the name.
        """
        words = self.words
        if not words.is_word(i):
            return None
        style = words.style(i)
        at, parts, weight, opened = i, 0, -9, i
        inverted = False
        last = i
        while at < words.count and at - i < 2 * _LONGEST:
            if at > i and not self._joined(at, wrap):
                break
            word = words.words[at]
            if word in _OPENING and at > i:
                after = self._nickname(at)
                if after is None:
                    break
                at = last = after
                continue
            if word == "," and comma and not inverted and parts:
                if not self._given_follows(at, style):
                    break
                inverted = True
                at += 1
                continue
            if (word == "." and words.low(at - 1) in _ABBREVIATED) or (word == "ª" and not words.gap(at)):
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
                weight = max(weight, nameness(words.words[named]))
            last = at + step
            at = last
            if words.possessive(last - 1) or parts >= _LONGEST:
                break
            if words.word(last - 1) == "." and not parts and "\n" in words.gap(last):
                break
        return self._close(i, last, parts, weight, lax, opened)

    def _close(self, i: int, last: int, parts: int, weight: int, lax: bool, opened: int) -> Phrase | None:
        words = self.words
        while last > i and words.low(last - 1) in self.known.particles and not self._namelike(last - 1):
            last -= 1  # a particle leads nowhere
        if last <= i or (parts == 0 and not self._initials_only(i, last, lax)):
            return None
        start, end = words.starts[opened], words.end(last - 1)
        if words.word(last - 1) == "." and not words.is_initial(last - 2):
            end = words.end(last - 2)
        # A recogniser's or scanner's digit inside a word: the name goes on to the word's end.
        text, stop = words.text, min(len(words.text), end + 16)
        if end == words.ends[last - 1] and parts and last < words.count and words.starts[last] == end:
            glued = end
            while glued < stop and text[glued].isalnum():
                glued += 1
            if glued > end and text[glued - 1].isalpha():
                end = glued
        return Phrase(i, last, start, end, weight)

    def _joined(self, at: int, wrap: bool) -> bool:
        gap = self.words.gap(at)
        if not gap or _SENTENCE_GAP.match(gap) is not None:
            return True
        if not wrap or _WRAP.match(gap) is None:
            return False
        end = self.words.ends[at - 1]  # only prose wraps: a long line without columns
        line = self.words.text[max(0, self.words.text.rfind("\n", 0, end)) : end]
        return len(line) > 36 and "   " not in line.strip()

    def _namelike(self, at: int) -> bool:
        return nameness(self.words.words[at]) >= 5 and self.words.is_capital(at)

    def _initials_only(self, i: int, last: int, lax: bool) -> bool:
        letters = [self.words.words[k] for k in range(i, last) if self.words.is_word(k)]
        return lax and 2 <= len(letters) <= 4 and self.words.word(i + 1) == "."

    def _part(self, at: int, first: int, parts: int, lax: bool, style: str, inverted: bool) -> int:
        """How many words from `at` belong to the name as one part (0: it ends here)."""
        words, known = self.words, self.known
        word, low = words.words[at], words.lowers[at]
        following = words.word(at + 1)
        if words.is_initial(at):
            return self._initial(at, first, parts, style, inverted)
        if low in known.suffixes:
            return 1 if parts and words.is_capital(at) else 0
        if is_credential(words, at) and (parts or words.gap(at + 1)[:1] in "\n") and not (nameness(word) >= 5 and not word.isupper()):
            return 0
        if low in known.particles and not (style == "lower" and len(low) < 3) and (at > first or lax or words.is_capital(at) or style == "lower") and not (parts == 0 and self._namelike(at)):
            link = self._particle(at, style)
            if link:
                return link
        if parts and low in ("d", "s", "a", "w") and following == "/" and words.word(at + 2).lower() in ("o", "l", "p"):
            return 3 if not words.gap(at + 1) and not words.gap(at + 2) and word.islower() and words.is_capital(at + 3) else 0
        if inverted and words.words[at - 1] == ",":
            return 1  # _given_follows has judged it
        if low in known.stop or (low.replace("'", "’") in known.stop):
            return 1 if self._stop_is_name(at, parts, lax, style) else 0
        if style != "lower" and not words.is_capital(at):
            return 0
        if len(word) == 1:
            return 0
        return 1 if (self._next if parts else self._first)(at, lax, style) else 0

    def _initial(self, at: int, first: int, parts: int, style: str, inverted: bool) -> int:
        words = self.words
        word, gap = words.words[at], words.gap(at + 1)
        if words.word(at + 1) == "." and not gap:
            return 2
        if not parts:
            return 1 if words.is_capital(at + 1) and len(words.word(at + 1)) > 2 and gap == " " and word not in "IXYZ" and words.low(at + 1) not in self.known.stop else 0
        if word in "MF" and (words.word(at + 1)[:1].isdigit() or words.word(at + 1) in ("/", ",", "|", ";", "(")):
            return 0  # the sex
        if word == "I" and style != "caps":
            return 0
        if inverted or style == "caps":
            return 1 if not gap or "\n" in gap or len(gap) > 1 or words.word(at + 1) in (",", "|", "^", ")", "-", "/") or is_credential(words, at + 1) or inverted else 0
        return 1 if words.is_capital(at + 1) and gap == " " and nameness(words.word(at + 1)) >= 2 and words.low(at + 1) not in self.known.stop else 0

    def _particle(self, at: int, style: str) -> int:
        words, step = self.words, 1
        while step < 4 and words.low(at + step) in self.known.particles and self._joined(at + step, False):
            step += 1
        if words.low(at) == "v" and words.word(at + 1) == "." and words.low(at + 2) in ("d", "v") and words.word(at + 3) == ".":
            return 5 if words.is_capital(at + 4) else 0
        if words.word(at + 1) == "." and step == 1:
            return 0
        follows = at + step
        if not self._joined(follows, False) or not words.is_word(follows) or words.low(follows) in self.known.stop:
            return 0
        if words.is_capital(follows) and (len(words.words[follows]) > 1):
            ok = style != "caps" or nameness(words.words[follows]) >= 1
            return step + (1 if ok else 0) if ok else 0
        return step + 1 if style == "lower" and nameness(words.words[follows]) >= 3 else 0

    def _nickname(self, at: int) -> int | None:
        """The word after a quoted nickname that opens at word `at`, or None."""
        words = self.words
        closing = _OPENING[words.words[at]]
        for end in range(at + 2, min(at + 5, words.count)):
            if words.words[end] == closing:
                inside = range(at + 1, end)
                if all(words.is_capital(k) and not words.gap(k).strip(" ") for k in inside):
                    return end + 1
                return None
        return None

    def _given_follows(self, at: int, style: str) -> bool:
        """Whether the comma at word `at` leads on to given names."""
        words = self.words
        follows = at + 1
        if follows >= words.count or words.gap(follows) not in ("", " ", "  ") or not words.is_word(follows):
            return False
        if is_credential(words, follows) or words.low(follows) in self.known.stop and words.low(follows) not in ("will", "may"):
            return False
        word = words.words[follows]
        if words.is_initial(follows):
            if not words.gap(follows + 1) and words.word(follows + 1) not in (".", "|", "^", ")", ""):
                return False
            return words.word(follows + 1) in (".", "") or "\n" in words.gap(follows + 1) or len(words.gap(follows + 1)) > 1 or words.word(follows + 1) in ("|", "^", ")") or is_credential(words, follows + 1) > 0
        if not words.is_capital(follows) and style != "lower":
            return False
        entry = weigh(word)
        if entry & (ORGANIZATION | MEDICAL | BRAND) and given(entry) < 5:
            return False
        score = nameness(word)
        return score >= 2 or given(entry) >= 3 or (word.isupper() == words.words[at - 1].isupper() and score >= 0)

    def _first(self, at: int, lax: bool, style: str) -> bool:
        words = self.words
        word = words.words[at]
        score, entry = nameness(word), weigh(word)
        if style == "mixed":
            if word.isupper() and len(word) < 6 and not self.words.is_capital(at + 1) and score < 3:
                return lax and len(word) > 3  # an abbreviation more likely than a name
            if words.word(at + 1) == ":" and not lax and score < 5:
                return False
            if lax:
                return not entry & (MEDICAL | BRAND) or max(given(entry), surname(entry)) >= 3
            if score >= 2 or (given(entry) >= 4 and not entry & (MEDICAL | BRAND)):
                return True
            leads = given(entry) >= 2 and words.is_capital(at + 1) and words.gap(at + 1) == " " and nameness(words.word(at + 1)) >= 5
            return leads and not entry & (MEDICAL | BRAND | ORGANIZATION)
        if style == "caps":
            return score >= (0 if lax else 4) or (lax and max(given(entry), surname(entry)) >= 4)
        return score >= (1 if lax else 4)

    def _next(self, at: int, lax: bool, style: str) -> bool:
        words = self.words
        word = words.words[at]
        score, entry = nameness(word), weigh(word)
        if words.word(at + 1) == ":" and words.gap(at + 1) in ("", " "):
            return False  # the next field's key
        if entry & ORGANIZATION and score < 4:  # "Bruce Ward is a …" is no ward
            follows = words.low(at + 1)
            named = surname(entry) >= 5 and nameness(words.words[at - 1]) >= 5 and (follows in self.known.after or follows == "," and words.word(at + 2).isdigit())
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
        """One or two plain words in capitals that close a name: "Walter Standing Elk", "Missy Two Bears, RN"."""
        words = self.words
        for k in range(at, at + 2):
            word, low = words.word(k), words.low(k)
            entry = weigh(word) if word else 0
            if not words.is_capital(k) or word.isupper() or low in self.known.stop or entry & (ORGANIZATION | MEDICAL | BRAND | EPONYM_NOUN):
                return False
            following = words.word(k + 1)
            if is_credential(words, k + 1) or (following == "," and is_credential(words, k + 2)):
                return True
            if not following or following[0] in ",.;)(|–—/'\"" or following[0].islower() or "\n" in words.gap(k + 1):
                return lax and commonness(entry) < 3 and (k > at or commonness(entry) < 2 or max(given(entry), surname(entry)) >= 1)
        return False

    def _stop_is_name(self, at: int, parts: int, lax: bool, style: str) -> bool:
        """"Will" and "May" are names too, capitalised and in place: "Thaddeus Will", "Dr. May"."""
        words = self.words
        low = words.lowers[at]
        if low not in ("will", "may", "to", "so", "an", "he", "you", "do", "her", "hope", "son", "day", "hi", "see", "page", "first") or not (lax or parts):
            return low == "will" and not lax and not parts and style == "mixed" and nameness(words.word(at + 1)) >= 4 and words.is_capital(at + 1)
        if style == "mixed":
            if not words.is_capital(at) or words.words[at].isupper():
                return False
            return bool(parts) or low in ("will", "may", "to", "page", "day", "so", "an", "see", "do")
        if parts:
            return False
        follower = words.low(at + 1)
        plain = not follower or not follower[0].isalpha() or "\n" in words.gap(at + 1) or follower in self.known.after or follower in ("who", "for", "to")
        return low in ("will", "may", "page", "day") and (plain or style == "caps")

    def back(self, i: int, *, lax: bool = False) -> Phrase | None:
        """The name that ends just before word i (a credential): walked leftwards over name-like words and initials."""
        words, known = self.words, self.known
        at, first, parts, weight = i - 1, i, 0, -9
        if at < 0:
            return None
        style = words.style(at)
        while at >= 0 and i - at <= _LONGEST + 3:
            if at < i - 1 and not self._joined(at + 1, False):
                break
            word, low = words.words[at], words.lowers[at]
            if word == "." and (words.is_initial(at - 1) or words.low(at - 1) in ("jr", "sr", "v", "d")) and not words.gap(at):
                at -= 1
                if words.is_initial(at) or parts:
                    first = at if words.is_initial(at) else first
                at -= 1
                continue
            if not words.is_word(at):
                break
            if low in known.suffixes and not parts:
                at -= 1
                continue
            if low in known.particles and parts and not (self._namelike(at) and low not in ("de", "la", "van", "al")):
                first = at
                at -= 1
                continue
            if words.is_initial(at) and parts:
                first = at
                at -= 1
                continue
            if words.is_initial(at) or low in known.stop and not (low in ("will", "may") and words.is_capital(at) and not parts):
                break
            if not words.is_capital(at) or (parts and words.possessive(at)):
                break
            if style == "mixed" and word.isupper() and len(word) <= 4 and nameness(word) < 4:
                break
            score = nameness(word)
            if not parts:
                if score < (0 if lax else 2) and not (max(given(weigh(word)), surname(weigh(word))) >= 4 and not weigh(word) & ORGANIZATION):
                    break
            elif score < 3 and not (given(weigh(word)) >= 3 and commonness(weigh(word)) < 3 and not weigh(word) & ORGANIZATION):
                if score < 1 or commonness(weigh(word)):
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
        return Phrase(first, last, words.starts[first], words.end(last - 1), weight)


def is_place(word: str) -> bool:
    """Whether a word is first of all a place or a people's name."""
    return bool(weigh(word) & PLACE) and fold(word) not in ("april", "may", "june", "augusta", "virginia", "georgia")
