"""What every rule of announced names needs: reading on past titles, joining names, and weighing what was read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from incognote.detectors.rules.lexicon import BRAND, EPONYM, EPONYM_NOUN, MEDICAL, commonness, given
from incognote_en.rules.names.phrase import Found, Phrase, Reader
from incognote_en.rules.names.vocabulary import cues, is_credential, lone_titles
from incognote_en.rules.names.words import Words

_LINE_LEFT = re.compile(r"(?:^|[\n\r|;\t]|\s{2}|\]|>|\d[.)]|[-•*] ?|, |\. )[ \t]*\Z")
_CHAIN = frozenset((",", "and", "&", "/", ";", "+", "or"))


class Announcer:
    """Reads names after the cues of one text; the base of the rules by kind of cue."""

    def __init__(self, words: Words, reader: Reader) -> None:
        self.words, self.reader, self.known = words, reader, reader.known

    def opens_line(self, i: int) -> bool:
        """Whether word i begins a line, a cell, a listed item or a sentence."""
        start = self.words.starts[i]
        return _LINE_LEFT.search(self.words.text[max(0, start - 8) : start]) is not None

    def alone(self, at: int, type_: str, score: float, rule: str) -> Found:
        """The one word `at` as a name."""
        words = self.words
        return Found(Phrase(at, at + 1, words.starts[at], words.end(at), 0), type_, score, rule)

    def skip_titles(self, at: int) -> int:
        """The index of the name itself, past titles and credentials that stand at word `at`."""
        words, titles = self.words, lone_titles()
        for _ in range(3):
            titled = words.low(at) in titles
            dotted = words.word(at + 1) == "." and not words.gap(at + 1)
            follows = at + 1 + dotted
            if (
                titled
                and words.is_capital(at)
                and not (words.is_capital(follows) or words.low(follows) in self.known.particles)
            ):
                return at  # "husband Pastor"
            if titled or (
                words.word(at) in self.known.credentials and words.gap(at + 1) == " " and words.is_capital(at + 1)
            ):
                at += 1
                if words.word(at) == ".":
                    at += 1
        return at

    def past_acronym(self, at: int) -> int:
        """Past a unit's or a service's abbreviation at word `at`: "D/w MICU Rashad"."""
        words = self.words
        word = words.word(at)
        short = word.isupper() and 1 < len(word) < 6 and words.nameness(word) < 6 and words.gap(at + 1) == " "
        return at + 1 if short and words.is_capital(at + 1) and not words.word(at + 1).isupper() else at

    def chain(self, found: Phrase, type_: str, score: float, rule: str, least: int = 4) -> Iterator[Found]:
        """Names that follow one already found, joined by commas, slashes or "and"."""
        words, last = self.words, found.last
        for _ in range(6):
            at = last
            if words.word(at) == "(":
                close = next((k for k in range(at + 1, min(at + 8, words.count)) if words.words[k] == ")"), 0)
                at = close + 1 if close else at
            credential = is_credential(words, at)
            at += credential
            if words.word(at) not in _CHAIN or "\n" in words.gap(at):
                return
            while words.word(at) in _CHAIN and "\n" not in words.gap(at):
                at += 1
            at += is_credential(words, at) if words.word(at) in _CHAIN else 0
            start = self.skip_titles(at)
            if words.gap(start) not in ("", " ") or is_credential(words, start):
                return
            phrase = self.reader.read(start, lax=start > at)
            if phrase is None or (start == at and phrase.weight < least) or not words.is_capital(start):
                return
            entry = words.weigh(words.words[start])
            if start == at and entry & (MEDICAL | BRAND | EPONYM) and given(entry) < 5:
                return
            yield Found(phrase, type_, score, rule)
            last = phrase.last

    def entry(self, phrase: Phrase) -> int:
        """The lexicon entry of a name's first full word."""
        words = self.words
        for k in range(phrase.first, phrase.last):
            if words.is_word(k) and not words.is_initial(k) and words.lowers[k] not in self.known.particles:
                return words.weigh(words.words[k])
        return words.weigh(words.words[phrase.first])

    def never(self, i: int, at: int) -> bool:
        """Whether a cue at word i and a name at word `at` make a brand or an eponym: "Dr Pepper"."""
        words, never = self.words, self.known.never
        name = words.text[words.starts[at] : words.end(at)].lower() if at < words.count else ""
        return f"{words.lowers[i]} {name}" in never or f"{name} {words.low(at + 1)}" in never

    def firm(self, phrase: Phrase, style: str, strong: bool = False) -> bool:
        """Whether a name read without strong context stands by its own words."""
        entry = self.entry(phrase)
        if style == "mixed":
            word = self.words.words[phrase.first]
            if word.isupper() and 1 < len(word) < 6 and phrase.last - phrase.first == 1 and phrase.weight < 8:
                return False
            if entry & EPONYM and phrase.last - phrase.first == 1 and given(entry) < 4:
                return strong and not self.words.weigh(self.words.low(phrase.last)) & EPONYM_NOUN
            return phrase.weight >= (2 if strong else 3) or (given(entry) >= 4 and phrase.weight >= 0)
        if entry & EPONYM and phrase.last - phrase.first == 1 and given(entry) < 4:
            return False
        if style == "caps":
            return phrase.weight >= 5
        return phrase.weight >= (3 if strong else 5)

    def signature(self, at: int) -> bool:
        """Whether word `at` may be somebody's initials: two to four letters that are no word."""
        word = self.words.word(at)
        if not 2 <= len(word) <= 4 or not word.isalpha() or not (word.isupper() or word.islower()):
            return False
        entry = self.words.weigh(word)
        if word.lower() in self.known.not_initials or word.lower() in cues():
            return False
        return commonness(entry) < 2 and not entry & (MEDICAL | BRAND) and not is_credential(self.words, at)
