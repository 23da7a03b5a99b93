"""Organisations: hospitals, pharmacies, laboratories, employers, schools, insurers, by the words of their names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from incognote.detectors.rules.organization_cues import Cues
from incognote.detectors.rules.organization_heads import Heads
from incognote.detectors.rules.organization_runs import Found
from incognote.detectors.rules.organization_words import (
    ACRONYM,
    CUE_WORDS,
    FIRST_WORDS,
    HEAD_ENDS,
    LABELS,
    LINKS,
    brands,
    telling,
)
from incognote.detectors.rules.view import Candidate, View
from incognote.detectors.rules.walk import Walk

_BESIDE = frozenset(("st", "saint", "rm", "room", "bed")) | ACRONYM["units"]


def find(view: View) -> Iterable[Candidate]:
    """Candidates of the types HOSPITAL, PHARMACY, DIAGNOSTIC_LABS and ORGANIZATION."""
    if not len(view):
        return
    walk = Walk(view)
    found = list(Organizations(walk).find())
    for one in (*found, *aliases(walk, found)):
        yield Candidate(walk.starts[one.start], walk.ends[one.end - 1], one.type, one.score, one.rule)


class Organizations(Heads, Cues):
    """The organisations of one text."""

    def find(self) -> Iterator[Found]:
        """All readings; overlapping ones are left to the merge."""
        w = self.walk
        triggers = _triggers()
        for i in [i for i, low in enumerate(w.lows) if low in triggers]:
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
            if low in CUE_WORDS and (found := self.cued(i)):
                yield found
            if low in LABELS and (found := self.labelled(i)):
                yield found
            if low in ("rm", "room", "bed") and (found := self.numbered(i)):
                yield found
            if low in ACRONYM["units"] and (found := self.unit(i)):
                yield found
            if low in ("st", "saint") and (found := self.saint(i)):
                yield found


def aliases(walk: Walk, found: list[Found]) -> Iterator[Found]:
    """The same institutions by shorter names: Harbor Pines, after Harbor Pines University Hospital; MVMC."""
    short: dict[str, list[tuple[list[str], Found]]] = {}
    for one in found:
        if not one.core or one.score < 0.6:
            continue
        if one.core == one.start:  # letters alone stand for themselves
            short.setdefault(walk.lows[one.start], []).append(([walk.lows[one.start]], one))
            continue
        lows = [w for w in walk.lows[one.start : one.core] if w != "the"]
        while lows and not telling(lows[-1]):
            lows.pop()
        if (
            len([w for w in lows if telling(w)]) > 1
            and len(lows) < 5
            and any(walk.words[k][0].isupper() for k in range(one.start, one.core))
        ):
            short.setdefault(lows[0], []).append((lows, one))
        initials = "".join(
            walk.lows[k][0]
            for k in range(one.start, one.end)
            if walk.words[k][0].isalpha() and walk.lows[k] not in LINKS
        )
        if 2 < len(initials) < 7 and (len(initials) > 3 or walk.low(one.end + 1) == initials):
            short.setdefault(initials, []).append(([initials], one))
    if not short:
        return
    inside = {k for one in found for k in range(one.start, one.end)}
    for i, low in enumerate(walk.lows):
        if low not in short or i in inside:
            continue
        for lows, one in short[low]:
            capital = walk.words[i].isupper() if len(lows) == 1 else walk.words[i][0].isupper()
            if walk.lows[i : i + len(lows)] == lows and capital:
                yield Found(i, i + len(lows), one.type, 0.6, "organizations.alias")
                break


@cache
def _triggers() -> frozenset[str]:
    return (
        HEAD_ENDS
        | FIRST_WORDS
        | CUE_WORDS
        | frozenset(LABELS)
        | frozenset(brands().longest)
        | {"st", "saint", "rm", "room", "bed"}
        | ACRONYM["units"]
    )
