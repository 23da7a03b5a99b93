"""Names after a title, a role, or words like "dictated by", and the base of all rules for announced names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from incognote.text.lexicon import BRAND, EPONYM, EPONYM_NOUN, MEDICAL, commonness, given, surname
from incognote_en.rules.names.phrase import FoundName, NamePhrase, NameReader
from incognote_en.rules.names.words import Cue, WeighedWords, acronyms, cues, is_credential, lone_titles

_LINE_LEFT = re.compile(r"(?:^|[\n\r|;\t]|\s{2}|\]|>|\d[.)]|[-•*] ?|, |\. )[ \t]*\Z")
_CHAIN = frozenset((",", "and", "&", "/", ";", "+", "or"))


class NameRules:
    """The base of the rules for names in one text."""

    def __init__(self, words: WeighedWords, reader: NameReader) -> None:
        self.words, self.reader, self.known = words, reader, reader.known

    def opens_line(self, i: int) -> bool:
        """Whether word i begins a line, a cell, a list item or a sentence."""
        start = self.words.starts[i]
        return _LINE_LEFT.search(self.words.text[max(0, start - 8) : start]) is not None

    def alone(self, at: int, type_: str, score: float, rule: str) -> FoundName:
        """The single word `at` as a name."""
        words = self.words
        return FoundName(NamePhrase(at, at + 1, words.starts[at], words.end(at), 0), type_, score, rule)

    def skip_titles(self, at: int) -> int:
        """The index of the name itself, after titles and credentials at word `at`."""
        words, titles = self.words, lone_titles()
        for _ in range(3):
            titled = words.low(at) in titles
            dotted = words.word(at + 1) == "." and not words.gap(at + 1)
            follows = at + 1 + dotted
            if (
                titled
                and words.is_capital(at)
                and not (words.is_capital(follows) or words.low(follows) in self.known["particles"])
            ):
                return at  # "husband Pastor"
            if titled or (
                words.word(at) in self.known["credentials"] and words.gap(at + 1) == " " and words.is_capital(at + 1)
            ):
                at += 1
                if words.word(at) == ".":
                    at += 1
        return at

    def past_acronym(self, at: int) -> int:
        """Skip the abbreviation of a unit or a service at word `at`: "D/w MICU Rashad"."""
        words = self.words
        word = words.word(at)
        short = word.isupper() and 1 < len(word) < 6 and words.nameness(word) < 6 and words.gap(at + 1) == " "
        return at + 1 if short and words.is_capital(at + 1) and not words.word(at + 1).isupper() else at

    def chain(self, first: NamePhrase, type_: str, score: float, rule: str, least: int = 4) -> Iterator[FoundName]:
        """Names that follow one already found, joined by commas, slashes or "and"."""
        words, last = self.words, first.last
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
            if words.words[start].isupper() and words.lowers[start] in acronyms() and words.style(start) == "mixed":
                return  # "Dr Vikram Rao, ASA 2"
            yield FoundName(phrase, type_, score, rule)
            last = phrase.last

    def entry(self, phrase: NamePhrase) -> int:
        """The lexicon entry of a name's first full word."""
        words = self.words
        for k in range(phrase.first, phrase.last):
            if words.is_word(k) and not words.is_initial(k) and words.lowers[k] not in self.known["particles"]:
                return words.weigh(words.words[k])
        return words.weigh(words.words[phrase.first])

    def never(self, i: int, at: int) -> bool:
        """Whether a cue at word i and a name at word `at` form a brand or an eponym: "Dr Pepper"."""
        words, never = self.words, self.known["never"]
        name = words.text[words.starts[at] : words.end(at)].lower() if at < words.count else ""
        return f"{words.lowers[i]} {name}" in never or f"{name} {words.low(at + 1)}" in never

    def firm(self, phrase: NamePhrase, style: str, strong: bool = False) -> bool:
        """Whether a name that was read without strong context is a name by its own words."""
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
        """Whether word `at` may be a person's initials: two to four letters that are not a word."""
        word = self.words.word(at)
        if not 2 <= len(word) <= 4 or not word.isalpha() or not (word.isupper() or word.islower()):
            return False
        entry = self.words.weigh(word)
        if word.lower() in self.known["not_initials"] or word.lower() in cues():
            return False
        return commonness(entry) < 2 and not entry & (MEDICAL | BRAND) and not is_credential(self.words, at)


_PLACEHOLDERS = frozenset("XYZABC")  # "Dr. X"
_ABBREVIATED = 5  # the most letters: "tell your doctor. Wear" ends a sentence
_IMAGED = frozenset(  # "MR BRAIN W WO CONTRAST"
    "brain neck spine cervical thoracic lumbar abdomen pelvis knee shoulder hip ankle wrist elbow orbits liver "
    "prostate breast cardiac pituitary enterography angiogram angiography arthrogram venogram urogram".split()
)


class TitleRules(NameRules):
    """The rules for titles and roles."""

    def title(self, i: int, after: int, type_: str) -> Iterator[FoundName]:
        words = self.words
        word, low = words.words[after - 1], words.lowers[after - 1]
        dotted = words.word(after) == "." and not words.gap(after)
        at = after + dotted
        style = words.style(i)
        if (
            words.gap(at).count("\n") > 1
            or len(words.gap(at)) > (2 if word.islower() or word.isupper() else 12)
            or (not words.gap(at) and not dotted)
        ):
            return
        if (dotted and len(word) > _ABBREVIATED and word.islower()) or (word == "MR" and words.low(at) in _IMAGED):
            return
        if words.gap(at) == "  " and word.isupper() and style == "mixed":
            return
        if word.islower() and low not in self.known["plain_titles"] and not (dotted or words.is_capital(at)):
            return
        if word.isupper() and len(word) > 1 and style == "mixed":
            entry = words.weigh(words.word(at))
            if low in ("ms", "mr") and (
                words.nameness(words.word(at)) < (2 if words.word(at).isupper() else 5) or entry & EPONYM
            ):
                return  # magnetic resonance, mitral regurgitation, multiple sclerosis
            if low not in self.known["plain_titles"] and not dotted:
                return
        if (
            word.islower()
            and style == "lower"
            and words.low(i - 1) in ("the", "a", "your", "my", "their", "our", "another", "this", "any", "no", "every")
        ):
            return
        small = style == "mixed" and not words.is_capital(at) and words.low(at) not in self.known["particles"]
        small = small or (style == "mixed" and not words.is_capital(at) and word.islower())
        if small and not (
            low in self.known["plain_titles"]
            and words.nameness(words.word(at)) >= 5
            and not words.weigh(words.word(at)) & (MEDICAL | BRAND)
        ):
            return
        at = self.skip_titles(at)
        if small:
            yield FoundName(NamePhrase(at, at + 1, words.starts[at], words.end(at), 5), type_, 0.8, "names.title")
            return
        if self.never(i, at):
            return
        if at >= words.count:
            return
        if words.text[words.starts[at] : words.end(at)].lower() in self.known["stop"] - self.known["homographs"]:
            return  # "Dr. ABC's office", "Mr. ____"
        if words.text[words.starts[at] : words.end(at)] in _PLACEHOLDERS and not (
            (words.word(at + 1) == "." and words.is_capital(at + 2)) or words.nameness(words.word(at + 1) or "x") >= 4
        ):
            return  # "Dr. X"
        phrase = self.reader.read(
            at, lax=low in self.known["plain_titles"] or dotted or type_ == "PERSON", comma=False, wrap=True
        )
        if (
            phrase is None
            and words.is_initial(at)
            and len(words.gap(at + 1)) > 0
            and words.words[at] not in "IXYZABC"
            and style == "mixed"
        ):
            phrase = NamePhrase(at, at + 1, words.starts[at], words.ends[at], 0)
        if phrase is None:
            return
        phrase = self._given_after_comma(phrase)
        yield FoundName(phrase, type_, 0.95 if phrase.weight >= 2 else 0.8, "names.title")
        yield from self.chain(phrase, type_, 0.75, "names.title-list", 5)

    def _given_after_comma(self, phrase: NamePhrase) -> NamePhrase:
        """Add given names after a comma if they end the phrase: "Dr Chua Wei Ling, Eunice"."""
        words = self.words
        at = phrase.last + 1
        if words.word(phrase.last) != "," or words.gap(at) != " " or words.style(phrase.first) == "lower":
            return phrase
        word = words.word(at)
        entry = words.weigh(word) if words.is_capital(at) else 0
        closes = words.word(at + 1) in ("(", ",", "", ".") or "\n" in words.gap(at + 1)
        if (
            closes
            and given(entry) >= 3
            and not commonness(entry)
            and not entry & (MEDICAL | BRAND | EPONYM)
            and surname(entry) < given(entry)
        ):
            return phrase._replace(last=at + 1, end=words.end(at))
        return phrase

    def weak(self, i: int, after: int, type_: str, cue: Cue) -> Iterator[FoundName]:
        words = self.words
        at = after + (words.word(after) == "." and not words.gap(after))
        named = words.is_capital(at + 1) and words.low(at + 1) not in self.known["determiners"]
        if words.low(at) in ("is", "was") and words.gap(at) == " " and named:
            at += 1  # "HCP is Tuan"
        if words.gap(at) not in (" ", "\n", " \n") and not (words.gap(at) == "" and words.word(at) in ('"', "“", "(")):
            return
        if words.word(at) in ('"', "“", "(", "‘", "'"):
            at += 1
        style = words.style(i)
        if (
            cue.phrase in ("do", "ma", "co", "pi", "pa", "ot", "cm", "sw", "gi", "md", "pc", "np")
            and not words.words[i].isupper()
        ):
            return
        if (
            cue.phrase in ("fr", "hr", "lt", "pn", "u", "hon", "don", "nana", "mama", "pak")
            and not words.words[i].istitle()
        ):
            return
        if cue.phrase == "name" and not (words.words[i].istitle() and self.opens_line(i)):
            return
        if style == "lower" and cue.phrase not in self.known["spoken"]:
            return
        at = self.past_acronym(self.skip_titles(at))
        if cue.phrase in ("pt", "patient") and style == "mixed" and self._initialled(at):
            yield self.alone(at, "PATIENT", 0.6, "names.initials")
            return
        spoken = style == "lower" and cue.phrase.endswith("name")
        phrase = self.reader.read(at, lax=spoken, comma=type_ == "CLINICIAN")
        if phrase is None or self.never(i, at):
            short = type_ == "CLINICIAN" and words.words[i] in self.known["credentials"] and words.word(at).isupper()
            if short and self.signature(at) and words.gap(at) == " " and "\n" in words.gap(at + 1):
                yield self.alone(at, type_, 0.55, "names.initials")
            return
        if style == "lower" and not spoken and commonness(self.entry(phrase)) >= 2:
            return
        strong = cue.phrase.startswith(("name", "goes", "known", "née", "first", "last")) or spoken
        if not self.firm(phrase, style, strong or cue.phrase not in self.known["unsure"]):
            return
        yield FoundName(phrase, type_, 0.75, "names.role")
        yield from self.chain(phrase, type_, 0.6, "names.role-list", 5)

    def _initialled(self, at: int) -> bool:
        """Whether word `at` is a patient's two initials: "pt JW, MRN 601"."""
        words = self.words
        word = words.word(at)
        closes = words.low(at + 1) in (",", "(", "is", "was", "-", "in", "has")
        return len(word) == 2 and word.isupper() and closes and self.signature(at)

    def by(self, i: int, after: int, type_: str, cue: Cue) -> Iterator[FoundName]:
        words = self.words
        at = after
        style = words.style(i)
        if words.gap(at) not in (" ", "\n", " \n", "  "):
            return
        start = self.skip_titles(at)
        if start > at or self.never(i, at):
            return  # the title is a cue of its own
        if cue.phrase == "by":
            if self.signature(at) and "\n" in words.gap(at + 1):
                yield self.alone(at, type_, 0.6, "names.initials")
            return
        if words.is_capital(at) or style == "lower":
            at = self.past_acronym(at)
            phrase = self.reader.read(at, lax=False, comma=False)
            strong = cue.phrase in self.known["signing"]
            if phrase is not None and self.firm(phrase, style, strong) and not is_credential(words, at):
                yield FoundName(phrase, type_, 0.8 if strong else 0.7, "names.by")
                yield from self.chain(phrase, type_, 0.6, "names.by-list", 5)
                return
        if cue.phrase.endswith(" by") and self.signature(at):
            yield self.alone(at, type_, 0.6, "names.initials")
