"""Names after words of kinship (kinds `kin` and `of` of name_cues.toml)."""

from __future__ import annotations

from collections.abc import Iterator

from incognote.detectors.rules.lexicon import BRAND, EPONYM, MEDICAL, given
from incognote_en.rules.names.announcer import Announcer
from incognote_en.rules.names.phrase import Found, Phrase
from incognote_en.rules.names.vocabulary import Cue


class Kin(Announcer):
    """The rules of kinship."""

    def kin(self, i: int, after: int, cue: Cue) -> Iterator[Found]:
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
            found = self._small_kin(start)
            if found is not None:
                yield Found(found, "RELATIVE", 0.75, "names.kin")
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
            wanted = 2  # "sister Ufuoma": a word no list knows
        if (
            phrase.weight < wanted
            and not (style == "mixed" and loose and given(entry) >= 4)
            and not (style == "caps" and given(entry) >= 5 and low in (",", "("))
        ):
            return
        yield Found(phrase, "RELATIVE", 0.85, "names.kin")
        yield from self.chain(phrase, "RELATIVE", 0.7, "names.kin-list", 4)

    def _small_kin(self, at: int) -> Phrase | None:
        """A name in small letters after a kinship word, in text that writes no capitals: "her son mark rang"."""
        words = self.words
        if not words.is_word(at) or len(words.words[at]) < 3:
            return None
        entry = words.weigh(words.words[at])
        if words.lowers[at] in ("will", "may"):
            sure = words.low(at + 1) in self.known.auxiliary and words.low(at + 1) != "may"
            return Phrase(at, at + 1, words.starts[at], words.end(at), 1) if sure else None
        phrase = self.reader.read(at, lax=False)
        if phrase is not None:
            return phrase
        if given(entry) >= 5 and words.nameness(words.words[at]) >= 2 and not entry & (MEDICAL | BRAND):
            return Phrase(at, at + 1, words.starts[at], words.end(at), 2)
        return None

    def of(self, i: int, after: int) -> Iterator[Found]:
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
            yield Found(phrase, "RELATIVE", 0.85, "names.kin")
