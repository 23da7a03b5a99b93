"""Steps over the tokens of one text, shared by the finders of places and organizations."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection
from typing import NamedTuple

from incognote.detectors.rules.view import Candidate, View, capitals, cases
from incognote_en.rules.gazetteer import fold

_CAPS_SHARE = 0.7
_MARK = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0]")


class FoundTokens(NamedTuple):
    """Tokens start:end name a place or an organization; `core` is where an organization's head begins."""

    start: int
    end: int
    type: str
    score: float
    rule: str
    core: int = 0


class TokenWalk:
    """A View's tokens with folded words, and queries about them. Indices are those of tokens, as in the View."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.text = view.text
        self.words, self.starts, self.ends, self.gaps = view.words, view.starts, view.ends, view.gaps
        if self.text.isascii():
            self.lows = view.lowers
        elif _MARK.search(self.text):
            self._join_marks()
            self.lows = list(map(fold, self.words))
        else:
            self.lows = [low if low.isascii() else fold(low) for low in view.lowers]
        self.capitals = view.capitals if self.words is view.words else capitals(self.words)
        self.n = len(self.words)
        self._caps: dict[int, bool] = {}

    def _join_marks(self) -> None:
        """Join a word that a combining mark split in two (the accents of Yoruba or Vietnamese, decomposed text)."""
        view, begun = self.view, 0
        words: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        gaps: list[str] = []
        for i in range(1, len(view) + 1):
            if i < len(view) and self._continues(begun, i):
                continue
            starts.append(view.starts[begun])
            ends.append(view.ends[i - 1])
            words.append(view.words[begun] if i - begun == 1 else self.text[starts[-1] : ends[-1]])
            gaps.append(view.gaps[begun])
            begun = i
        self.words, self.starts, self.ends, self.gaps = words, starts, ends, gaps

    def _continues(self, begun: int, i: int) -> bool:
        """Whether token i continues the word that begins at token `begun`."""
        words = self.view.words
        return (
            not self.view.gaps[i]
            and words[begun][0].isalpha()
            and (_MARK.match(words[i]) or (_MARK.match(words[i - 1][-1]) and words[i][0].isalpha())) is not None
        )

    def candidate(self, tokens: FoundTokens) -> Candidate:
        """The candidate for these tokens, in offsets of the text."""
        return Candidate(self.starts[tokens.start], self.ends[tokens.end - 1], tokens.type, tokens.score, tokens.rule)

    def ends_before(self, i: int, marks: str) -> bool:
        """Whether the text, a line or a column ends before token i, or token i is one of the marks."""
        return i >= self.n or self.breaks(i) or self.words[i] in marks

    def at(self, offset: int) -> int:
        """The first token that begins at or after an offset."""
        return bisect_left(self.starts, offset)

    def gap(self, i: int) -> str:
        """The characters between token i-1 and token i."""
        return self.gaps[i] if 0 < i < self.n else ""

    def joined(self, i: int) -> bool:
        """Whether token i follows the previous one without a gap."""
        return 0 < i < self.n and not self.gaps[i]

    def breaks(self, i: int) -> bool:
        """Whether a new line or a wide column gap precedes token i (True for the first token and past the last)."""
        if not 0 < i < self.n:
            return True
        gap = self.gaps[i]
        return gap != " " and (len(gap) > 2 or "\n" in gap or "\r" in gap or "\t" in gap)

    def newline(self, i: int) -> bool:
        """Whether a line ends before token i (also True for the first token and past the last)."""
        if not 0 < i < self.n:
            return True
        gap = self.gaps[i]
        return gap != " " and ("\n" in gap or "\r" in gap)

    def tabbed(self, i: int) -> bool:
        """Whether a tab precedes token i. In a table, it is then in another cell than the token before it."""
        return "\t" in self.gap(i)

    def titled(self, i: int) -> bool:
        """Whether token i is a word that begins with a capital."""
        return self.words[i][0].isupper()

    def titled_before(self, end: int, stop: Collection[str]) -> int:
        """The start of up to four capitalized words before token `end`, none of them in `stop`."""
        j = end
        while (
            j > 0
            and end - j < 4
            and not self.breaks(j)
            and self.titled(j - 1)
            and self.words[j - 1][0].isalpha()
            and self.lows[j - 1] not in stop
        ):
            j -= 1
        return j

    def shouting(self, i: int) -> bool:
        """Whether token i's line is mostly in capitals, so that capitals are no evidence."""
        line = self.view.line_of(self.starts[i])
        known = self._caps.get(line)
        if known is None:
            begins = self.view.line_starts
            end = begins[line + 1] if line + 1 < len(begins) else len(self.text)
            written = self.text[begins[line] : min(end, begins[line] + 400)]
            upper, lower = cases(written)
            letters = upper + lower if written.isascii() else sum(map(str.isalpha, written))
            known = letters > 3 and upper > _CAPS_SHARE * letters
            self._caps[line] = known
        return known

    def low(self, i: int) -> str:
        """The folded word at i, "" outside the text."""
        return self.lows[i] if 0 <= i < self.n else ""

    def word(self, i: int) -> str:
        """The word at i as written, "" outside the text."""
        return self.words[i] if 0 <= i < self.n else ""

    def back(self, i: int, skip: str = ".") -> int:
        """The token before i, skipping periods (or the given marks) on the same line; -1 if there is none."""
        j = i - 1
        while j >= 0 and self.words[j] in skip and not self.newline(j + 1):
            j -= 1
        return j
