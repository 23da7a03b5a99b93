"""Organisations: hospitals, pharmacies, laboratories, employers, schools, insurers, by the words of their names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from incognote.detectors.rules.view import Candidate, View, among
from incognote_en.rules.organizations.cues import Cues
from incognote_en.rules.organizations.heads import Heads
from incognote_en.rules.organizations.runs import (
    ACRONYM,
    FIRST_WORDS,
    HEAD_ENDS,
    LABELS,
    WORD,
    FoundOrganization,
    brands,
    telling,
)
from incognote_en.rules.walk import TokenWalk

_BESIDE = frozenset(("st", "saint", "rm", "room", "bed")) | ACRONYM["units"]


def find(view: View) -> Iterable[Candidate]:
    """Candidates of the types HOSPITAL, PHARMACY, DIAGNOSTIC_LABS and ORGANIZATION."""
    if not len(view):
        return
    walk = TokenWalk(view)
    found = list(Organizations(walk).find())
    for one in (*found, *aliases(walk, found)):
        yield Candidate(walk.starts[one.start], walk.ends[one.end - 1], one.type, one.score, one.rule)


class Organizations(Heads, Cues):
    """The organisations of one text."""

    def find(self) -> Iterator[FoundOrganization]:
        """All readings; overlapping ones are left to the merge."""
        w = self.walk
        triggers = _triggers()
        for i in among(w.lows, triggers):
            low = w.lows[i]
            if low in HEAD_ENDS and (found := self.headed(i)):
                yield found
                if town := self.town(found.end):
                    yield town
            if low in FIRST_WORDS and (found := self.led(i)):
                yield found
                if found.type == "HOSPITAL" and (town := self.town(found.end)):
                    yield town
            if low in self.brands.longest and (found := self.brand(i)):
                yield found
            if low in WORD["cue_words"] and (found := self.cued(i)):
                yield found
            if low in LABELS and (found := self.labelled(i)):
                yield found
            if low in ("rm", "room", "bed") and (found := self.numbered(i)):
                yield found
            if low in ACRONYM["units"] and (found := self.unit(i)):
                yield found
            if low in ("st", "saint") and (found := self.saint(i)):
                yield found


def aliases(walk: TokenWalk, found: list[FoundOrganization]) -> Iterator[FoundOrganization]:
    """The same institutions by shorter names: Harbor Pines, after Harbor Pines University Hospital; MVMC."""
    short: dict[tuple[str, ...], FoundOrganization] = {}
    for one in found:
        if one.core and one.score >= 0.6:
            for name in _shortened(walk, one):
                short.setdefault(name, one)
    if not short:
        return
    firsts = {name[0] for name in short}
    inside = {k for one in found for k in range(one.start, one.end)}
    for i in among(walk.lows, firsts):
        if i in inside:
            continue
        for size in range(4, 0, -1):
            same = short.get(tuple(walk.lows[i : i + size]))
            if same and (walk.words[i].isupper() if size == 1 else walk.words[i][0].isupper()):
                yield FoundOrganization(i, i + size, same.type, 0.6, "organizations.alias")
                break


def _shortened(walk: TokenWalk, one: FoundOrganization) -> Iterator[tuple[str, ...]]:
    """The words before the head, if two of them tell something; the initials of all; letters as they are."""
    if one.core == one.start:
        yield (walk.lows[one.start],)
        return
    lows = [low for low in walk.lows[one.start : one.core] if low != "the"]
    while lows and not telling(lows[-1]):
        lows.pop()
    if (
        sum(map(telling, lows)) > 1
        and len(lows) < 5
        and any(word[0].isupper() for word in walk.words[one.start : one.core])
    ):
        yield tuple(lows)
    letters = [low[0] for low in walk.lows[one.start : one.end] if low[0].isalpha() and low not in WORD["links"]]
    initials = "".join(letters)
    if 3 < len(initials) < 7 or (len(initials) == 3 and walk.low(one.end + 1) == initials):
        yield (initials,)


@cache
def _triggers() -> frozenset[str]:
    return (
        HEAD_ENDS
        | FIRST_WORDS
        | WORD["cue_words"]
        | frozenset(LABELS)
        | frozenset(brands().longest)
        | {"st", "saint", "rm", "room", "bed"}
        | ACRONYM["units"]
    )
