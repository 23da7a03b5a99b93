"""Names after a title, a role, or words such as "dictated by" (kinds `title`, `weak` and `by` of name_cues.toml)."""

from __future__ import annotations

from collections.abc import Iterator

from incognote.detectors.rules.lexicon import BRAND, EPONYM, MEDICAL, commonness, given, surname
from incognote_en.rules.names.announcer import Announcer
from incognote_en.rules.names.phrase import Found, Phrase
from incognote_en.rules.names.vocabulary import Cue, is_credential

_PLACEHOLDERS = frozenset("XYZABC")  # "Dr. X"
_ABBREVIATED = 5  # letters at most: "tell your doctor. Wear" ends a sentence
_IMAGED = frozenset(  # "MR BRAIN W WO CONTRAST"
    "brain neck spine cervical thoracic lumbar abdomen pelvis knee shoulder hip ankle wrist elbow orbits liver "
    "prostate breast cardiac pituitary enterography angiogram angiography arthrogram venogram urogram".split()
)


class Titles(Announcer):
    """The rules of titles and roles."""

    def title(self, i: int, after: int, type_: str) -> Iterator[Found]:
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
        if word.islower() and low not in self.known.plain_titles and not (dotted or words.is_capital(at)):
            return
        if word.isupper() and len(word) > 1 and style == "mixed":
            entry = words.weigh(words.word(at))
            if low in ("ms", "mr") and (
                words.nameness(words.word(at)) < (2 if words.word(at).isupper() else 5) or entry & EPONYM
            ):
                return  # magnetic resonance, mitral regurgitation, multiple sclerosis
            if low not in self.known.plain_titles and not dotted:
                return
        if (
            word.islower()
            and style == "lower"
            and words.low(i - 1) in ("the", "a", "your", "my", "their", "our", "another", "this", "any", "no", "every")
        ):
            return
        small = style == "mixed" and not words.is_capital(at) and words.low(at) not in self.known.particles
        small = small or (style == "mixed" and not words.is_capital(at) and word.islower())
        if small and not (
            low in self.known.plain_titles
            and words.nameness(words.word(at)) >= 5
            and not words.weigh(words.word(at)) & (MEDICAL | BRAND)
        ):
            return
        at = self.skip_titles(at)
        if small:
            yield Found(Phrase(at, at + 1, words.starts[at], words.end(at), 5), type_, 0.8, "names.title")
            return
        if self.never(i, at):
            return
        if at >= words.count:
            return
        if words.text[words.starts[at] : words.end(at)].lower() in self.known.stop - self.known.homographs:
            return  # "Dr. ABC's office", "Mr. ____"
        if words.text[words.starts[at] : words.end(at)] in _PLACEHOLDERS and not (
            (words.word(at + 1) == "." and words.is_capital(at + 2)) or words.nameness(words.word(at + 1) or "x") >= 4
        ):
            return  # "Dr. X"
        phrase = self.reader.read(
            at, lax=low in self.known.plain_titles or dotted or type_ == "PERSON", comma=False, wrap=True
        )
        if (
            phrase is None
            and words.is_initial(at)
            and len(words.gap(at + 1)) > 0
            and words.words[at] not in "IXYZABC"
            and style == "mixed"
        ):
            phrase = Phrase(at, at + 1, words.starts[at], words.ends[at], 0)
        if phrase is None:
            return
        phrase = self._given_after_comma(phrase)
        yield Found(phrase, type_, 0.95 if phrase.weight >= 2 else 0.8, "names.title")
        yield from self.chain(phrase, type_, 0.75, "names.title-list", 5)

    def _given_after_comma(self, phrase: Phrase) -> Phrase:
        """ "Dr Chua Wei Ling, Eunice": given names after the comma, where they end the phrase."""
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

    def weak(self, i: int, after: int, type_: str, cue: Cue) -> Iterator[Found]:
        words = self.words
        at = after + (words.word(after) == "." and not words.gap(after))
        named = words.is_capital(at + 1) and words.low(at + 1) not in self.known.determiners
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
        if style == "lower" and cue.phrase not in self.known.spoken:
            return
        at = self.past_acronym(self.skip_titles(at))
        if cue.phrase in ("pt", "patient") and style == "mixed" and self._initialled(at):
            yield self.alone(at, "PATIENT", 0.6, "names.initials")
            return
        spoken = style == "lower" and cue.phrase.endswith("name")
        phrase = self.reader.read(at, lax=spoken, comma=type_ == "CLINICIAN")
        if phrase is None or self.never(i, at):
            short = type_ == "CLINICIAN" and words.words[i] in self.known.credentials and words.word(at).isupper()
            if short and self.signature(at) and words.gap(at) == " " and "\n" in words.gap(at + 1):
                yield Found(Phrase(at, at + 1, words.starts[at], words.ends[at], 0), type_, 0.55, "names.initials")
            return
        if style == "lower" and not spoken and commonness(self.entry(phrase)) >= 2:
            return
        strong = cue.phrase.startswith(("name", "goes", "known", "née", "first", "last")) or spoken
        if not self.firm(phrase, style, strong or cue.phrase not in self.known.unsure):
            return
        yield Found(phrase, type_, 0.75, "names.role")
        yield from self.chain(phrase, type_, 0.6, "names.role-list", 5)

    def _initialled(self, at: int) -> bool:
        """Whether word `at` is a patient's two initials: "pt JW, MRN 601"."""
        words = self.words
        word = words.word(at)
        closes = words.low(at + 1) in (",", "(", "is", "was", "-", "in", "has")
        return len(word) == 2 and word.isupper() and closes and self.signature(at)

    def by(self, i: int, after: int, type_: str, cue: Cue) -> Iterator[Found]:
        words = self.words
        at = after
        style = words.style(i)
        if words.gap(at) not in (" ", "\n", " \n", "  "):
            return
        start = self.skip_titles(at)
        if start > at or self.never(i, at):
            return  # the title speaks for itself
        if cue.phrase == "by":
            if self.signature(at) and "\n" in words.gap(at + 1):
                yield Found(Phrase(at, at + 1, words.starts[at], words.ends[at], 0), type_, 0.6, "names.initials")
            return
        if words.is_capital(at) or style == "lower":
            at = self.past_acronym(at)
            phrase = self.reader.read(at, lax=False, comma=False)
            strong = cue.phrase in self.known.signing
            if phrase is not None and self.firm(phrase, style, strong) and not is_credential(words, at):
                yield Found(phrase, type_, 0.8 if strong else 0.7, "names.by")
                yield from self.chain(phrase, type_, 0.6, "names.by-list", 5)
                return
        if cue.phrase.endswith(" by") and self.signature(at):
            yield Found(Phrase(at, at + 1, words.starts[at], words.ends[at], 0), type_, 0.6, "names.initials")
