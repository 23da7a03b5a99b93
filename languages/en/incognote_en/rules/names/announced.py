"""Names announced by a cue from name_cues.toml: cues, kinship, field labels, greetings, sign-offs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from incognote.detectors.rules.view import among
from incognote.text.lexicon import BRAND, EPONYM, MEDICAL, ORGANIZATION, commonness, given, surname
from incognote_en.rules.names.announcer import TitleRules
from incognote_en.rules.names.phrase import FoundName, NamePhrase
from incognote_en.rules.names.words import Cue, cues

_REST = re.compile(r"[ \t]*[,.!;:–—-]*[ \t]*\r?\n\s*")
_DELIMITER = re.compile(
    r"(?:[ \t]*\([^()\n]{1,24}\))?(?:[ \t]*(?:::?|=|~|>>|\|)[ \t>|]*|[ \t.]*\.{3,}[. \t]*|[ \t]*\t[ \t]*| {2,})"
)
_KEY_END = re.compile(r"(?:[ \t]*\([^()\n]{1,24}\))?[ \t]*(?::|=|\|)")


class AnnouncedNames(TitleRules):
    """Every announced name of one text."""

    def find(self) -> Iterator[FoundName]:
        """Follow each cue. If several cues begin at one word, the longest that leads to a name wins."""
        table, lowers, count = cues(), self.words.lowers, self.words.count
        for i in among(lowers, table):
            for cue in table[lowers[i]]:
                after = i + 1 + len(cue.rest)
                if after <= count and tuple(lowers[i + 1 : after]) == cue.rest and self._whole(i, after):
                    names = list(self._follow(i, after, cue))
                    yield from names
                    if names:
                        break

    def _whole(self, i: int, after: int) -> bool:
        """Whether the words of a phrase are on one line and do not continue a number ("5 Fr")."""
        words = self.words
        for k in range(i + 1, after):
            gap = words.gap(k)
            if "\n" in gap or len(gap) > 2:
                return False
        return not (i and words.words[i - 1].isdigit() and words.gap(i) in ("", " ") and len(words.words[i]) <= 3)

    def _follow(self, i: int, after: int, cue: Cue) -> Iterator[FoundName]:
        """The first reading of a cue that leads to a name wins. A delimiter after a label decides what the cue is."""
        if after >= self.words.count:
            return
        behind = self.words.ends[after - 1]
        delimiter = _DELIMITER.match(self.words.text, behind)
        for kind, type_ in cue.kinds:
            names: list[FoundName] = []
            if kind == "label":
                if delimiter:
                    keyed = _KEY_END.match(self.words.text, behind) is not None
                    names = list(self.label(i, delimiter.end(), cue, type_, keyed))
            elif kind == "signoff":
                names = list(self.signoff(i, after))
            elif kind == "of":
                names = list(self.of(i, after))
            elif kind == "kin":
                names = list(self.kin(i, after, cue))
            elif delimiter and delimiter.group().strip(" \t"):
                if kind == "by" and _KEY_END.match(self.words.text, behind):
                    names = list(self.label(i, delimiter.end(), cue, type_, keyed=True))
            elif kind == "title":
                names = list(self.title(i, after, type_))
            elif kind == "weak":
                names = list(self.weak(i, after, type_, cue))
            elif kind == "by":
                names = list(self.by(i, after, type_, cue))
            elif kind == "greeting":
                names = list(self.greeting(i, after))
            if names:
                yield from names
                return

    def kin(self, i: int, after: int, cue: Cue) -> Iterator[FoundName]:
        words = self.words
        style, at, loose = words.style(i), after, True
        low = words.low(at)
        if (
            cue.phrase in ("ma", "mo", "fa", "mil", "fil", "ex", "gf", "bf", "bro", "nan", "gran")
            and words.words[i].isupper()
            and style == "mixed"
        ):
            return
        if low in ("named", "called", "name", "is", "are", "was", "whose") and words.gap(at) == " ":
            at += 1
            loose = low in ("named", "called", "name")
            while words.low(at) in ("is", "name", "named", "called"):
                at += 1
                loose = True
        elif cue.phrase == "sister" and self.never(i, at):
            return
        elif low in (",", ":", "(", "-", "–", "—", "=", "/", '"', "“", ".") and len(words.gap(at)) <= 1:
            at += 1
            loose = low == ":"
            if low == "." and words.is_capital(at) and not words.words[i].islower():
                return
            if low == "." and len(cue.phrase) > 4:
                return
        start = self.skip_titles(at)
        if words.word(start) in ('"', "“", "(", "‘"):
            start += 1
        if words.gap(start) not in ("", " ", "\n", " \n") and not (start == at and words.gap(start) == "  "):
            return
        if style == "lower":
            name = self._small_kin(start)
            if name is not None:
                yield FoundName(name, "RELATIVE", 0.75, "names.kin")
            return
        if not words.is_capital(start) or start >= words.count:
            return
        phrase = self.reader.read(start, lax=start > at, wrap=True)
        if phrase is None:
            return
        entry = words.weigh(words.words[phrase.first])
        single = phrase.last - phrase.first == 1
        plain = words.gap(phrase.last) == " " and (words.word(phrase.last)[:1].islower() or style == "caps")
        if entry & EPONYM and single and given(entry) < 4 and plain and low in (":", "-", "("):
            return
        word = words.words[phrase.first]
        if single and style == "mixed" and word.isupper() and len(word) < 5 and phrase.weight < 6 and given(entry) < 4:
            return  # "ex ICU"
        wanted = 3 if (loose or low == "(") and style == "mixed" else 4
        if start == after and not entry and style == "mixed" and words.words[after - 1].islower():
            wanted = 2  # "sister Ufuoma": a word that no list has
        if (
            phrase.weight < wanted
            and not (style == "mixed" and loose and given(entry) >= 4)
            and not (style == "caps" and given(entry) >= 5 and low in (",", "("))
        ):
            return
        yield FoundName(phrase, "RELATIVE", 0.85, "names.kin")
        yield from self.chain(phrase, "RELATIVE", 0.7, "names.kin-list", 4)

    def _small_kin(self, at: int) -> NamePhrase | None:
        """A name in lower case after a kinship word, in text without capitals: "her son mark rang"."""
        words = self.words
        if not words.is_word(at) or len(words.words[at]) < 3:
            return None
        entry = words.weigh(words.words[at])
        if words.lowers[at] in ("will", "may"):
            sure = words.low(at + 1) in self.known["auxiliary"] and words.low(at + 1) != "may"
            return NamePhrase(at, at + 1, words.starts[at], words.end(at), 1) if sure else None
        phrase = self.reader.read(at, lax=False)
        if phrase is not None:
            return phrase
        if given(entry) >= 5 and words.nameness(words.words[at]) >= 2 and not entry & (MEDICAL | BRAND):
            return NamePhrase(at, at + 1, words.starts[at], words.end(at), 2)
        return None

    def of(self, i: int, after: int) -> Iterator[FoundName]:
        words = self.words
        if words.gap(after) not in (" ", "  ") and words.word(after) not in (":", "."):
            return
        at = after + (words.word(after) in (":", "."))
        if words.word(at).lower() == "late":
            at += 1
        start = self.skip_titles(at)
        if not words.is_capital(start):
            return
        phrase = self.reader.read(start, lax=start > at)
        if phrase is not None and (start > at or self.firm(phrase, words.style(i))):
            yield FoundName(phrase, "RELATIVE", 0.85, "names.kin")

    def label(self, i: int, value: int, cue: Cue, type_: str, keyed: bool) -> Iterator[FoundName]:
        words = self.words
        head = words.words[i]
        if not keyed and not (head[0].isupper() and self.opens_line(i)):
            return
        if cue.phrase in self.known["line_keys"] and not (
            (head[0].isupper() or cue.phrase in ("re", "from", "to")) and self.opens_line(i)
        ):
            return
        at = words.at(value)
        gap = words.gap(at)
        if at >= words.count or ("\n" in words.text[value : words.starts[at]] and (gap.count("\n") > 1 or not keyed)):
            return
        if words.word(at) in ('"', "“", "(", "‘", "'"):
            at += 1
        wrapped = "\n" in gap
        plain = at
        at = self.skip_titles(at)
        phrase = self.reader.read(at, lax=True, comma=True)
        if phrase is None:
            if words.is_initial(at) and cue.phrase in ("m.i", "mi", "middle name", "middle initial"):
                yield self.alone(at, type_, 0.7, "names.label")
            elif (
                keyed
                and at == plain
                and self.signature(at)
                and type_ == "CLINICIAN"
                and (words.words[at].isupper() or "\n" in words.gap(at + 1))
            ):
                yield self.alone(at, type_, 0.6, "names.initials")
            return
        if cue.phrase in ("cc", "c.c") and at == plain and not words.is_capital(at) and self._complaint(phrase):
            return
        entry = self.entry(phrase)
        single = phrase.last - phrase.first == 1
        named = bool(self.known["name_keys"].intersection((*cue.rest, words.lowers[i]))) and type_ == "PATIENT"
        ends = words.word(phrase.last)
        if ends == ":" or (
            ends == "."
            and "\n" not in words.gap(phrase.last + 1)
            and single
            and not named
            and phrase.weight < 5
            and not words.is_initial(phrase.last - 1)
        ):
            return  # another label; a sentence
        if at == plain:
            best = max(given(entry), surname(entry))
            if entry & (MEDICAL | BRAND) and ((best < 4 and phrase.weight < 5) or (single and ends[:1].isdigit())):
                return  # the second: "transcribed: Allegra 180 qam"
            short = len(words.words[phrase.first]) < 5 and not words.words[phrase.first].istitle()
            if single and not named and short and (phrase.weight < 6 or ends[:1].isdigit()):
                return  # "ANESTHESIA: LMA", "ANESTHESIA: ASA 3E"
            if (
                not named
                and phrase.weight < (3 if wrapped else 2)
                and not (max(given(entry), surname(entry)) >= 4 and not single)
            ):
                return
            if named and phrase.weight < (3 if wrapped or words.style(at) == "lower" else 0) and given(entry) < 4:
                return
            if not named and single and commonness(entry) >= 2 and best < 5:
                return
            if entry & ORGANIZATION and best < 5:
                return
        yield FoundName(phrase, type_, 0.92 if phrase.weight >= 3 else 0.75, "names.label")
        yield from self.chain(phrase, type_, 0.7, "names.label-list", 4)

    def _complaint(self, phrase: NamePhrase) -> bool:
        """Whether the words after "cc:" are a chief complaint, not the recipient of a copy: "cc: fall, head strike"."""
        words = filter(str.isalpha, self.words.words[phrase.first : phrase.last])
        entries = list(map(self.words.weigh, words))
        ordinary = all(commonness(entry) >= 2 or entry & MEDICAL for entry in entries)
        return ordinary and all(given(entry) < 4 and surname(entry) < 6 for entry in entries)

    def greeting(self, i: int, after: int) -> Iterator[FoundName]:
        words = self.words
        low = words.lowers[i]
        at = self.skip_titles(after)
        if at > after or words.gap(at) not in (" ", "\n", "  "):
            return
        style = words.style(i)
        if low not in ("dear", "hi", "hello", "hey", "hiya") and i and not self.opens_line(i) and style != "lower":
            return
        phrase = self.reader.read(at, lax=style == "mixed")
        if phrase is None or (style != "mixed" and phrase.weight < 4):
            return
        follows = words.word(phrase.last)
        closed = (
            not follows
            or follows in (",", ":", "!", ".", "-", "–", "—", ";", "/", "&", "and")
            or "\n" in words.gap(phrase.last)
        )
        entry = words.weigh(words.words[phrase.first])
        if closed and (phrase.weight >= 2 or (low == "dear" and not commonness(entry) >= 3) or given(entry) >= 3):
            yield FoundName(phrase, "PERSON", 0.85, "names.greeting")
            yield from self.chain(phrase, "PERSON", 0.7, "names.greeting-list")

    def signoff(self, i: int, after: int) -> Iterator[FoundName]:
        words = self.words
        begins = (
            i == 0
            or "\n" in words.gap(i)
            or words.word(i - 1) in (".", "!", ",", "With", "with", "Yours", "Many", "And", "and")
        )
        rest = _REST.match(words.text, words.ends[after - 1])
        if not begins:
            return
        if rest:
            at = words.at(rest.end())
        elif words.word(after) in (",", "-", "–", "—") and words.is_capital(after + 1):
            at = after + 1
        else:
            return
        at = self.skip_titles(at)
        while words.word(at) in ("-", "–", "—", "/", "~"):
            at += 1
        phrase = self.reader.read(at, lax=True, comma=True)
        if (
            phrase is not None
            and rest is None
            and not (words.word(phrase.last) in ("", ".") or "\n" in words.gap(phrase.last))
        ):
            return
        if phrase is None:
            if (words.word(at).isupper() and self.signature(at)) or (
                words.is_initial(at) and "\n" in words.gap(at + 1) and words.word(at) != "I"
            ):
                yield self.alone(at, "CLINICIAN", 0.6, "names.initials")
            return
        if phrase.weight >= 2 or given(words.weigh(words.words[phrase.first])) >= 3:
            yield FoundName(phrase, "CLINICIAN", 0.85, "names.signoff")
