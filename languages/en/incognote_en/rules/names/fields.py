"""Names after a field's key, in greetings and in sign-offs (kinds `label`, `greeting`, `signoff` of name_cues.toml)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from incognote.detectors.rules.lexicon import BRAND, MEDICAL, ORGANIZATION, commonness, given, surname
from incognote_en.rules.names.announcer import Announcer
from incognote_en.rules.names.phrase import Found, Phrase
from incognote_en.rules.names.vocabulary import Cue

_REST = re.compile(r"[ \t]*[,.!;:–—-]*[ \t]*\r?\n\s*")


class Fields(Announcer):
    """The rules of forms and letters."""

    def label(self, i: int, value: int, cue: Cue, type_: str, keyed: bool) -> Iterator[Found]:
        words = self.words
        head = words.words[i]
        if not keyed and not (head[0].isupper() and self.opens_line(i)):
            return
        if cue.phrase in self.known.line_keys and not (
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
                yield Found(Phrase(at, at + 1, words.starts[at], words.ends[at], 0), type_, 0.7, "names.label")
            elif (
                keyed
                and at == plain
                and self.signature(at)
                and type_ == "CLINICIAN"
                and (words.words[at].isupper() or "\n" in words.gap(at + 1))
            ):
                yield Found(Phrase(at, at + 1, words.starts[at], words.ends[at], 0), type_, 0.6, "names.initials")
            return
        entry = self.entry(phrase)
        single = phrase.last - phrase.first == 1
        named = bool(self.known.name_keys.intersection((*cue.rest, words.lowers[i]))) and type_ == "PATIENT"
        ends = words.word(phrase.last)
        if ends == ":" or (
            ends == "."
            and "\n" not in words.gap(phrase.last + 1)
            and single
            and not named
            and phrase.weight < 5
            and not words.is_initial(phrase.last - 1)
        ):
            return  # another key; a sentence
        if at == plain:
            best = max(given(entry), surname(entry))
            if entry & (MEDICAL | BRAND) and best < 4 and phrase.weight < 5:
                return
            short = len(words.words[phrase.first]) < 5 and not words.words[phrase.first].istitle()
            if single and not named and short and phrase.weight < 6:
                return  # "ANESTHESIA: LMA"
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
        yield Found(phrase, type_, 0.92 if phrase.weight >= 3 else 0.75, "names.label")
        yield from self.chain(phrase, type_, 0.7, "names.label-list", 4)

    def greeting(self, i: int, after: int) -> Iterator[Found]:
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
            yield Found(phrase, "PERSON", 0.85, "names.greeting")
            yield from self.chain(phrase, "PERSON", 0.7, "names.greeting-list")

    def signoff(self, i: int, after: int) -> Iterator[Found]:
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
                yield Found(Phrase(at, at + 1, words.starts[at], words.ends[at], 0), "CLINICIAN", 0.6, "names.initials")
            return
        if phrase.weight >= 2 or given(words.weigh(words.words[phrase.first])) >= 3:
            yield Found(phrase, "CLINICIAN", 0.85, "names.signoff")
