"""Names that something announces: a title, a role, kinship, a field's key, a greeting, a sign-off (name_cues.toml)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from incognote.detectors.rules.lexicon import BRAND, EPONYM, EPONYM_NOUN, MEDICAL, commonness, given, surname
from incognote.detectors.rules.name_phrase import Phrase, Reader, cue_file, is_credential
from incognote.detectors.rules.name_words import Words, nameness, weigh
from incognote.detectors.rules.view import TOKEN

_DELIMITER = re.compile(r"(?:[ \t]*\([^()\n]{1,24}\))?(?:[ \t]*(?:::?|=|~|>>|\|)[ \t>|]*|[ \t.]*\.{3,}[. \t]*|[ \t]*\t[ \t]*| {2,})")
_KEY_END = re.compile(r"(?:[ \t]*\([^()\n]{1,24}\))?[ \t]*(?::|=|\|)")
_LINE_LEFT = re.compile(r"(?:^|[\n\r|;\t]|\s{2}|\]|>|\d[.)]|[-•*] ?|, |\. )[ \t]*\Z")
_REST = re.compile(r"[ \t]*[,.!;:–—-]*[ \t]*\r?\n\s*")
# Titles that may be written small, or that in capitals still are titles.
_PLAIN = frozenset("dr drs dra doctor mr mrs ms miss mx mister missus prof professor mdm madam".split())
_NAME_KEYS = frozenset(("name", "patient", "surname", "last", "first", "forename", "forenames", "pt", "nom", "print", "m.i"))
_SPOKEN = frozenset(
    ("first name", "last name", "surname", "given name", "middle name", "name is", "my name is", "named", "this is", "it's", "its", "i'm", "i am", "goes by", "patient", "pt", "known as")
)
_FIELDS = frozenset("baby subject contact formerly called named caller late primary covering gi endo cards derm icu psych surg onc rheum neph urol student consultant sister anaes ot".split())
_SIGNING = frozenset(
    f"{verb} by" for verb in "dictated transcribed signed cosigned co-signed attested authenticated authored typed witnessed entered submitted accompanied".split()
)
_CHAIN = frozenset((",", "and", "&", "/", ";", "+", "or"))
_STOP_NAMES = frozenset("will may page day so an see do son first he you her name home hope".split())
_AUXILIARY = frozenset("will is was has had may can would".split())


class Cue(NamedTuple):
    """One phrase: the words after its first, and what it may be."""

    rest: tuple[str, ...]
    kinds: tuple[tuple[str, str], ...]
    phrase: str


class Found(NamedTuple):
    """A name and the cue it was announced by."""

    phrase: Phrase
    type: str
    score: float
    rule: str


@lru_cache(maxsize=1)
def kinship() -> frozenset[str]:
    """The kinship phrases of name_cues.toml."""
    return frozenset(phrase for entry in cue_file()["cue"] if entry["kind"] == "kin" for phrase in entry["words"])


@lru_cache(maxsize=1)
def cues() -> dict[str, tuple[Cue, ...]]:
    """First word of a phrase → the cues that begin with it, longest first."""
    kinds: dict[str, list[tuple[str, str]]] = {}
    for entry in cue_file()["cue"]:
        for phrase in entry["words"]:
            kinds.setdefault(phrase, []).append((entry["kind"], entry["type"]))
    table: dict[str, list[Cue]] = {}
    for phrase, found in kinds.items():
        first, *rest = TOKEN.findall(phrase)
        table.setdefault(first, []).append(Cue(tuple(rest), tuple(found), phrase))
    return {first: tuple(sorted(found, key=lambda c: -len(c.rest))) for first, found in table.items()}


class Announced:
    """Every announced name of one text."""

    def __init__(self, words: Words, reader: Reader) -> None:
        self.words, self.reader = words, reader

    def find(self) -> Iterator[Found]:
        table, lowers, count = cues(), self.words.lowers, self.words.count
        for i, low in enumerate(lowers):
            for cue in table.get(low, ()):
                after = i + 1 + len(cue.rest)
                if after <= count and tuple(lowers[i + 1 : after]) == cue.rest and self._whole(i, after):
                    found = list(self._follow(i, after, cue))
                    yield from found
                    if found:
                        break

    def _whole(self, i: int, after: int) -> bool:
        """A phrase's words stand on one line, and a phrase never continues a number ("5 Fr")."""
        words = self.words
        if any("\n" in words.gap(k) or len(words.gap(k)) > 2 for k in range(i + 1, after)):
            return False
        return not (i and words.words[i - 1].isdigit() and words.gap(i) in ("", " ") and len(words.words[i]) <= 3)

    def _follow(self, i: int, after: int, cue: Cue) -> Iterator[Found]:
        """The first reading of a cue that leads to a name wins; a key's delimiter settles what the cue is."""
        words = self.words
        if after >= words.count:
            return
        behind = words.ends[after - 1]
        delimiter = _DELIMITER.match(words.text, behind)
        for kind, type_ in cue.kinds:
            found: list[Found] = []
            if kind == "label":
                if delimiter:
                    found = list(self._label(i, delimiter.end(), cue, type_, _KEY_END.match(words.text, behind) is not None))
            elif kind == "signoff":
                found = list(self._signoff(i, after))
            elif delimiter and kind not in ("kin", "of") and delimiter.group().strip(" \t"):
                continue
            elif kind == "title":
                found = list(self._title(i, after, type_))
            elif kind == "weak":
                found = list(self._weak(i, after, type_, cue))
            elif kind == "by":
                found = list(self._by(i, after, type_, cue))
            elif kind == "greeting":
                found = list(self._greeting(i, after))
            elif kind == "of":
                found = list(self._of(i, after))
            elif kind == "kin":
                found = list(self._kin(i, after, cue))
            if found:
                yield from found
                return

    def skip_titles(self, at: int) -> int:
        words = self.words
        for _ in range(3):
            titled = any(kind == "title" for cue in cues().get(words.low(at), ()) if not cue.rest for kind, _ in cue.kinds)
            dotted = words.word(at + 1) == "." and not words.gap(at + 1)
            follows = at + 1 + dotted
            if titled and words.is_capital(at) and not (words.is_capital(follows) or words.low(follows) in self.reader.known.particles):
                return at  # "husband Pastor"
            if titled or (words.word(at) in self.reader.known.credentials and words.gap(at + 1) == " " and words.is_capital(at + 1)):
                at += 1
                if words.word(at) == ".":
                    at += 1
        return at

    def _chain(self, found: Phrase, type_: str, score: float, rule: str, least: int = 4) -> Iterator[Found]:
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
            if weigh(words.words[start]) & (MEDICAL | BRAND | EPONYM) and start == at:
                return
            yield Found(phrase, type_, score, rule)
            last = phrase.last

    def _title(self, i: int, after: int, type_: str) -> Iterator[Found]:
        words = self.words
        word, low = words.words[after - 1], words.lowers[after - 1]
        dotted = words.word(after) == "." and not words.gap(after)
        at = after + dotted
        style = words.style(i)
        if words.gap(at).count("\n") > 1 or len(words.gap(at)) > (2 if word.islower() or word.isupper() else 12) or (not words.gap(at) and not dotted):
            return
        if words.gap(at) == "  " and word.isupper() and style == "mixed":
            return
        if word.islower() and low not in _PLAIN and not (dotted or words.is_capital(at)):
            return
        if word.isupper() and len(word) > 1 and style == "mixed":
            entry = weigh(words.word(at))
            if low in ("ms", "mr") and (nameness(words.word(at)) < (2 if words.word(at).isupper() else 5) or entry & EPONYM):
                return  # magnetic resonance, mitral regurgitation, multiple sclerosis
            if low not in _PLAIN and not dotted:
                return
        if word.islower() and style == "lower" and words.low(i - 1) in ("the", "a", "your", "my", "their", "our", "another", "this", "any", "no", "every"):
            return
        small = style == "mixed" and not words.is_capital(at) and words.low(at) not in self.reader.known.particles
        small = small or (style == "mixed" and not words.is_capital(at) and word.islower())
        if small and not (low in _PLAIN and nameness(words.word(at)) >= 5 and not weigh(words.word(at)) & (MEDICAL | BRAND)):
            return
        at = self.skip_titles(at)
        if small:
            yield Found(Phrase(at, at + 1, words.starts[at], words.end(at), 5), type_, 0.8, "names.title")
            return
        if self._never(i, at):
            return
        if at >= words.count:
            return
        if words.text[words.starts[at] : words.end(at)].lower() in self.reader.known.stop - _STOP_NAMES:
            return  # "Dr. ABC's office", "Mr. ____"
        if words.text[words.starts[at] : words.end(at)] in ("X", "Y", "Z", "A", "B", "C") and not (words.word(at + 1) == "." and words.is_capital(at + 2)):
            return  # "Dr. X"
        phrase = self.reader.read(at, lax=low in _PLAIN or dotted or type_ == "PERSON", comma=False, wrap=True)
        if phrase is None and words.is_initial(at) and len(words.gap(at + 1)) > 0 and words.words[at] not in "IXYZABC" and style == "mixed":
            phrase = Phrase(at, at + 1, words.starts[at], words.ends[at], 0)
        if phrase is None:
            return
        phrase = self._given_after_comma(phrase)
        yield Found(phrase, type_, 0.95 if phrase.weight >= 2 else 0.8, "names.title")
        yield from self._chain(phrase, type_, 0.75, "names.title-list", 5)

    def _given_after_comma(self, phrase: Phrase) -> Phrase:
        """"Dr Chua Wei Ling, Eunice": given names after the comma, where they end the phrase."""
        words = self.words
        at = phrase.last + 1
        if words.word(phrase.last) != "," or words.gap(at) != " " or words.style(phrase.first) == "lower":
            return phrase
        word = words.word(at)
        entry = weigh(word) if words.is_capital(at) else 0
        closes = words.word(at + 1) in ("(", ",", "", ".") or "\n" in words.gap(at + 1)
        if closes and given(entry) >= 3 and not commonness(entry) and not entry & (MEDICAL | BRAND | EPONYM) and surname(entry) < given(entry):
            return phrase._replace(last=at + 1, end=words.end(at))
        return phrase

    def _weak(self, i: int, after: int, type_: str, cue: Cue) -> Iterator[Found]:
        words = self.words
        at = after + (words.word(after) == "." and not words.gap(after))
        if words.gap(at) not in (" ", "\n", " \n") and not (words.gap(at) == "" and words.word(at) in ('"', "“", "(")):
            return
        if words.word(at) in ('"', "“", "(", "‘", "'"):
            at += 1
        style = words.style(i)
        if cue.phrase in ("do", "ma", "co", "pi", "pa", "ot", "cm", "sw", "gi", "md", "pc", "np") and not words.words[i].isupper():
            return
        if cue.phrase in ("fr", "hr", "lt", "pn", "u", "hon", "don", "nana", "mama", "pak") and not words.words[i].istitle():
            return
        if cue.phrase == "name" and not (words.words[i].istitle() and _LINE_LEFT.search(words.text[max(0, words.starts[i] - 8) : words.starts[i]])):
            return
        if style == "lower" and cue.phrase not in _SPOKEN:
            return
        at = self.skip_titles(at)
        spoken = style == "lower" and cue.phrase.endswith("name")
        phrase = self.reader.read(at, lax=spoken, comma=type_ == "CLINICIAN")
        if phrase is None or self._never(i, at):
            short = type_ == "CLINICIAN" and words.words[i] in self.reader.known.credentials and words.word(at).isupper()
            if short and self.signature(at) and words.gap(at) == " " and "\n" in words.gap(at + 1):
                yield Found(Phrase(at, at + 1, words.starts[at], words.ends[at], 0), type_, 0.55, "names.initials")
            return
        if style == "lower" and not spoken and commonness(self.entry(phrase)) >= 2:
            return
        strong = cue.phrase.startswith(("name", "goes", "known", "prefers", "née", "first", "last")) or spoken
        if not self._firm(phrase, style, strong or cue.phrase not in _FIELDS):
            return
        yield Found(phrase, type_, 0.75, "names.role")
        yield from self._chain(phrase, type_, 0.6, "names.role-list", 5)

    def entry(self, phrase: Phrase) -> int:
        """The lexicon entry of a name's first full word."""
        words = self.words
        for k in range(phrase.first, phrase.last):
            if words.is_word(k) and not words.is_initial(k) and words.lowers[k] not in self.reader.known.particles:
                return weigh(words.words[k])
        return weigh(words.words[phrase.first])

    def _never(self, i: int, at: int) -> bool:
        """Whether a cue at word i and a name at word `at` make a brand or an eponym: "Dr Pepper", "Sister Mary Joseph"."""
        words, never = self.words, self.reader.known.never
        name = words.text[words.starts[at] : words.end(at)].lower() if at < words.count else ""
        return f"{words.lowers[i]} {name}" in never or f"{name} {words.low(at + 1)}" in never

    def _firm(self, phrase: Phrase, style: str, strong: bool = False) -> bool:
        """Whether a name read without strong context stands by its own words."""
        entry = self.entry(phrase)
        if style == "mixed":
            word = self.words.words[phrase.first]
            if word.isupper() and 1 < len(word) < 6 and phrase.last - phrase.first == 1 and phrase.weight < 8:
                return False
            if entry & EPONYM and phrase.last - phrase.first == 1 and given(entry) < 4:
                return strong and not weigh(self.words.low(phrase.last)) & EPONYM_NOUN
            return phrase.weight >= (2 if strong else 3) or (given(entry) >= 4 and phrase.weight >= 0)
        if entry & EPONYM and phrase.last - phrase.first == 1 and given(entry) < 4:
            return False
        if style == "caps":
            return phrase.weight >= 5
        return phrase.weight >= (3 if strong else 5)

    def _by(self, i: int, after: int, type_: str, cue: Cue) -> Iterator[Found]:
        words = self.words
        at = after
        style = words.style(i)
        if words.gap(at) not in (" ", "\n", " \n", "  "):
            return
        start = self.skip_titles(at)
        if start > at or self._never(i, at):
            return  # the title speaks for itself
        if cue.phrase == "by":
            if self.signature(at) and "\n" in words.gap(at + 1):
                yield Found(Phrase(at, at + 1, words.starts[at], words.ends[at], 0), type_, 0.6, "names.initials")
            return
        if words.is_capital(at) or style == "lower":
            phrase = self.reader.read(at, lax=False, comma=False)
            strong = cue.phrase in _SIGNING
            if phrase is not None and self._firm(phrase, style, strong) and not is_credential(words, at):
                yield Found(phrase, type_, 0.8 if strong else 0.7, "names.by")
                yield from self._chain(phrase, type_, 0.6, "names.by-list", 5)
                return
        if cue.phrase.endswith(" by") and self.signature(at):
            yield Found(Phrase(at, at + 1, words.starts[at], words.ends[at], 0), type_, 0.6, "names.initials")

    def signature(self, at: int) -> bool:
        """Whether word `at` may be somebody's initials: two to four letters that are no word."""
        word = self.words.word(at)
        if not 2 <= len(word) <= 4 or not word.isalpha() or not (word.isupper() or word.islower()):
            return False
        entry = weigh(word)
        return commonness(entry) < 2 and not entry & (MEDICAL | BRAND) and not is_credential(self.words, at)

    def _label(self, i: int, value: int, cue: Cue, type_: str, keyed: bool) -> Iterator[Found]:
        words = self.words
        head = words.words[i]
        if not keyed and not (head[0].isupper() and _LINE_LEFT.search(words.text[max(0, words.starts[i] - 8) : words.starts[i]])):
            return
        if cue.phrase in ("re", "to", "from", "subject", "first", "last", "contact", "team", "child", "baby", "source", "print", "ap", "pi", "req", "sig", "m.i", "sib", "hcp", "gp") and not (
            head[0].isupper() and _LINE_LEFT.search(words.text[max(0, words.starts[i] - 8) : words.starts[i]])
        ):
            if not (cue.phrase in ("re", "cc", "from", "to") and _LINE_LEFT.search(words.text[max(0, words.starts[i] - 8) : words.starts[i]])):
                return
        at = words.view.first_token_at(value) if words.starts is words.view.starts else self._token_at(value)
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
            elif keyed and at == plain and self.signature(at) and type_ == "CLINICIAN" and (words.words[at].isupper() or "\n" in words.gap(at + 1)):
                yield Found(Phrase(at, at + 1, words.starts[at], words.ends[at], 0), type_, 0.6, "names.initials")
            return
        entry = self.entry(phrase)
        single = phrase.last - phrase.first == 1
        named = bool(_NAME_KEYS.intersection((*cue.rest, words.lowers[i]))) and type_ == "PATIENT"
        ends = words.word(phrase.last)
        if ends == ":" or (ends == "." and "\n" not in words.gap(phrase.last + 1) and single and not named and not words.is_initial(phrase.last - 1)):
            return  # another key; a sentence
        if at == plain:
            best = max(given(entry), surname(entry))
            if entry & (MEDICAL | BRAND) and best < 4 and phrase.weight < 5:
                return
            short = len(words.words[phrase.first]) < 5 and not words.words[phrase.first].istitle()
            if single and not named and short and phrase.weight < 6:
                return  # "ANESTHESIA: LMA"
            if not named and phrase.weight < (3 if wrapped else 2) and not (max(given(entry), surname(entry)) >= 4 and not single):
                return
            if named and phrase.weight < (3 if wrapped or words.style(at) == "lower" else 0) and given(entry) < 4:
                return
            if not named and single and commonness(entry) >= 2 and best < 5:
                return
        yield Found(phrase, type_, 0.92 if phrase.weight >= 3 else 0.75, "names.label")
        yield from self._chain(phrase, type_, 0.7, "names.label-list", 4)

    def _token_at(self, offset: int) -> int:
        from bisect import bisect_left

        return bisect_left(self.words.starts, offset)

    def _greeting(self, i: int, after: int) -> Iterator[Found]:
        words = self.words
        low = words.lowers[i]
        at = self.skip_titles(after)
        if at > after or words.gap(at) not in (" ", "\n", "  "):
            return
        style = words.style(i)
        if low not in ("dear", "hi", "hello", "hey", "hiya") and i and not _LINE_LEFT.search(words.text[max(0, words.starts[i] - 8) : words.starts[i]]) and style != "lower":
            return
        phrase = self.reader.read(at, lax=style == "mixed")
        if phrase is None or (style != "mixed" and phrase.weight < 4):
            return
        follows = words.word(phrase.last)
        closed = not follows or follows in (",", ":", "!", ".", "-", "–", "—", ";", "/", "&", "and") or "\n" in words.gap(phrase.last)
        entry = weigh(words.words[phrase.first])
        if closed and (phrase.weight >= 2 or (low == "dear" and not commonness(entry) >= 3) or given(entry) >= 3):
            yield Found(phrase, "PERSON", 0.85, "names.greeting")
            yield from self._chain(phrase, "PERSON", 0.7, "names.greeting-list")

    def _signoff(self, i: int, after: int) -> Iterator[Found]:
        words = self.words
        begins = i == 0 or "\n" in words.gap(i) or words.word(i - 1) in (".", "!", ",", "With", "with", "Yours", "Many", "And", "and")
        rest = _REST.match(words.text, words.ends[after - 1])
        if not begins:
            return
        if rest:
            at = self._token_at(rest.end())
        elif words.word(after) in (",", "-", "–", "—") and words.is_capital(after + 1):
            at = after + 1
        else:
            return
        at = self.skip_titles(at)
        while words.word(at) in ("-", "–", "—", "/", "~"):
            at += 1
        phrase = self.reader.read(at, lax=True, comma=True)
        if phrase is not None and rest is None and not (words.word(phrase.last) in ("", ".") or "\n" in words.gap(phrase.last)):
            return
        if phrase is None:
            if words.word(at).isupper() and self.signature(at) or (words.is_initial(at) and "\n" in words.gap(at + 1) and words.word(at) != "I"):
                yield Found(Phrase(at, at + 1, words.starts[at], words.ends[at], 0), "CLINICIAN", 0.6, "names.initials")
            return
        if phrase.weight >= 2 or given(weigh(words.words[phrase.first])) >= 3:
            yield Found(phrase, "CLINICIAN", 0.85, "names.signoff")

    def _of(self, i: int, after: int) -> Iterator[Found]:
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
        if phrase is not None and (start > at or self._firm(phrase, words.style(i))):
            yield Found(phrase, "RELATIVE", 0.85, "names.kin")

    def _kin(self, i: int, after: int, cue: Cue) -> Iterator[Found]:
        words = self.words
        style, at, loose = words.style(i), after, True
        low = words.low(at)
        if cue.phrase in ("ma", "mo", "fa", "mil", "fil", "ex", "gf", "bf", "bro", "nan", "gran") and words.words[i].isupper() and style == "mixed":
            return
        if low in ("named", "called", "name", "is", "are", "was", "whose") and words.gap(at) == " ":
            at += 1
            loose = low in ("named", "called", "name")
            while words.low(at) in ("is", "name", "named", "called"):
                at += 1
                loose = True
        elif cue.phrase == "sister" and self._never(i, at):
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
            found = self._small_kin(start)
            if found is not None:
                yield Found(found, "RELATIVE", 0.75, "names.kin")
            return
        if not words.is_capital(start) or start >= words.count:
            return
        phrase = self.reader.read(start, lax=start > at, wrap=True)
        if phrase is None:
            return
        entry = weigh(words.words[phrase.first])
        single = phrase.last - phrase.first == 1
        plain = words.gap(phrase.last) == " " and (words.word(phrase.last)[:1].islower() or style == "caps")
        if entry & EPONYM and single and given(entry) < 4 and plain and low in (":", "-", "("):
            return
        wanted = 3 if (loose or low == "(") and style == "mixed" else 4
        if phrase.weight < wanted and not (style == "mixed" and loose and given(entry) >= 4) and not (style == "caps" and given(entry) >= 5 and low in (",", "(")):
            return
        yield Found(phrase, "RELATIVE", 0.85, "names.kin")
        yield from self._chain(phrase, "RELATIVE", 0.7, "names.kin-list", 4)

    def _small_kin(self, at: int) -> Phrase | None:
        """A name in small letters after a kinship word, in text that writes no capitals: "her son mark rang"."""
        words = self.words
        if not words.is_word(at) or len(words.words[at]) < 3:
            return None
        entry = weigh(words.words[at])
        if words.lowers[at] in ("will", "may"):
            sure = words.low(at + 1) in _AUXILIARY and words.low(at + 1) != "may"
            return Phrase(at, at + 1, words.starts[at], words.end(at), 1) if sure else None
        phrase = self.reader.read(at, lax=False)
        if phrase is not None:
            return phrase
        if given(entry) >= 5 and nameness(words.words[at]) >= 2 and not entry & (MEDICAL | BRAND):
            return Phrase(at, at + 1, words.starts[at], words.end(at), 2)
        return None
