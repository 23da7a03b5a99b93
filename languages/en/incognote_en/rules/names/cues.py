"""Names that something announces: finds the cues of name_cues.toml and asks the rules of their kind."""

from __future__ import annotations

import re
from collections.abc import Iterator

from incognote.detectors.rules.view import among
from incognote_en.rules.names.fields import Fields
from incognote_en.rules.names.kin import Kin
from incognote_en.rules.names.phrase import Found, Reader
from incognote_en.rules.names.titles import Titles
from incognote_en.rules.names.vocabulary import Cue, cues
from incognote_en.rules.names.words import Words

_DELIMITER = re.compile(
    r"(?:[ \t]*\([^()\n]{1,24}\))?(?:[ \t]*(?:::?|=|~|>>|\|)[ \t>|]*|[ \t.]*\.{3,}[. \t]*|[ \t]*\t[ \t]*| {2,})"
)
_KEY_END = re.compile(r"(?:[ \t]*\([^()\n]{1,24}\))?[ \t]*(?::|=|\|)")


class Announced:
    """Every announced name of one text."""

    def __init__(self, words: Words, reader: Reader) -> None:
        self.words = words
        self.titles, self.kin, self.fields = Titles(words, reader), Kin(words, reader), Fields(words, reader)

    def find(self) -> Iterator[Found]:
        """Cue by cue; of several cues that begin at one word the longest that leads to a name."""
        table, lowers, count = cues(), self.words.lowers, self.words.count
        for i in among(lowers, table):
            for cue in table[lowers[i]]:
                after = i + 1 + len(cue.rest)
                if after <= count and tuple(lowers[i + 1 : after]) == cue.rest and self._whole(i, after):
                    found = list(self._follow(i, after, cue))
                    yield from found
                    if found:
                        break

    def _whole(self, i: int, after: int) -> bool:
        """A phrase's words stand on one line, and a phrase never continues a number ("5 Fr")."""
        words = self.words
        for k in range(i + 1, after):
            gap = words.gap(k)
            if "\n" in gap or len(gap) > 2:
                return False
        return not (i and words.words[i - 1].isdigit() and words.gap(i) in ("", " ") and len(words.words[i]) <= 3)

    def _follow(self, i: int, after: int, cue: Cue) -> Iterator[Found]:
        """The first reading of a cue that leads to a name wins; a key's delimiter settles what the cue is."""
        if after >= self.words.count:
            return
        behind = self.words.ends[after - 1]
        delimiter = _DELIMITER.match(self.words.text, behind)
        for kind, type_ in cue.kinds:
            found: list[Found] = []
            if kind == "label":
                if delimiter:
                    keyed = _KEY_END.match(self.words.text, behind) is not None
                    found = list(self.fields.label(i, delimiter.end(), cue, type_, keyed))
            elif kind == "signoff":
                found = list(self.fields.signoff(i, after))
            elif kind == "of":
                found = list(self.kin.of(i, after))
            elif kind == "kin":
                found = list(self.kin.kin(i, after, cue))
            elif delimiter and delimiter.group().strip(" \t"):
                if kind == "by" and _KEY_END.match(self.words.text, behind):
                    found = list(self.fields.label(i, delimiter.end(), cue, type_, keyed=True))
            elif kind == "title":
                found = list(self.titles.title(i, after, type_))
            elif kind == "weak":
                found = list(self.titles.weak(i, after, type_, cue))
            elif kind == "by":
                found = list(self.titles.by(i, after, type_, cue))
            elif kind == "greeting":
                found = list(self.fields.greeting(i, after))
            if found:
                yield from found
                return
