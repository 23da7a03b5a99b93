"""Organizations: hospitals, pharmacies, laboratories, employers, schools, insurers, by the words of their names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from incognote.detectors.rules.view import Candidate, View, among
from incognote.text.lexicon import lexicon
from incognote_en.rules.gazetteer import gazetteer, ordinary
from incognote_en.rules.names.words import acronyms
from incognote_en.rules.organizations.cues import OrganizationCues
from incognote_en.rules.organizations.runs import (
    ACRONYM,
    FIRST_WORDS,
    GENERIC,
    HEAD_ENDS,
    LABELS,
    WORD,
    OrganizationHead,
    brands,
    is_distinctive,
    is_unusual,
    maker,
)
from incognote_en.rules.walk import FoundTokens, TokenWalk

_BESIDE = frozenset(("st", "saint", "rm", "room", "bed")) | ACRONYM["units"]


def find(view: View) -> Iterable[Candidate]:
    """Candidates of the types HOSPITAL, PHARMACY, DIAGNOSTIC_LABS and ORGANIZATION."""
    if not len(view):
        return
    walk = TokenWalk(view)
    organizations = list(Organizations(walk).find())
    for organization in (*organizations, *aliases(walk, organizations)):
        yield walk.candidate(organization)


class Organizations(OrganizationCues):
    """The organizations in one text."""

    def find(self) -> Iterator[FoundTokens]:
        """All readings. Overlapping ones are left to the merge."""
        w = self.walk
        triggers = _triggers()
        for i in among(w.lows, triggers):
            low = w.lows[i]
            if low in HEAD_ENDS and (organizations := self.headed(i)):
                yield organizations
                if town := self.town(organizations.end):
                    yield town
            if low in FIRST_WORDS and (organizations := self.led(i)):
                yield organizations
                if organizations.type == "HOSPITAL" and (town := self.town(organizations.end)):
                    yield town
            if low in self.brands.longest and (organizations := self.brand(i)):
                yield organizations
            if low in WORD["cue_words"] and (organizations := self.cued(i)):
                yield organizations
            if low in LABELS and (organizations := self.labelled(i)):
                yield organizations
            if low in ("rm", "room", "bed") and (organizations := self.numbered(i)):
                yield organizations
            if low in ACRONYM["units"] and (organizations := self.unit(i)):
                yield organizations
            if low in ("st", "saint") and (organizations := self.saint(i)):
                yield organizations

    def headed(self, i: int) -> FoundTokens | None:
        """Capitalized words before a head: Cedar Hollow Regional Medical Center."""
        w = self.walk
        head, core = self.heads.get(w.lows[i]), i
        for size in (2, 1):
            if i >= size and not w.newline(i) and (phrase := self.heads.get(" ".join(w.lows[i - size : i + 1]))):
                head, core = phrase, i - size
                break
        if head is None:
            return None
        if not w.titled(i):
            return self.lower(core, i, head)
        if w.word(core - 1) == "," and w.lows[core] in WORD["suffixes"] and not w.newline(core):
            core -= 1
        follows = self.heads.get(w.low(i + 1))
        if (
            follows
            and not w.breaks(i + 1)
            and w.titled(i + 1)
            and not w.shouting(i)
            and (follows.strong or not head.strong)
        ):
            return None  # the last head decides
        start = self.leftward(core)
        if start == core < i:
            core, start = i, self.leftward(i)  # District Hospital, with nothing before the phrase
        if start == core:
            return None
        loud = w.shouting(i) or all(w.words[k].isupper() for k in range(start, i + 1))
        lows = w.lows[start:core]
        distinctive = [k for k in range(start, core) if w.words[k][0].isalpha() and is_distinctive(w.lows[k])]
        distinctive = [k for k in distinctive if not (w.words[k].isupper() and w.lows[k] in acronyms())]
        new = any(is_unusual(w.lows[k], w.words[k]) for k in distinctive)
        if self.body(start, i) or (
            maker(lows[0])
            and w.lows[i]
            in WORD["suffixes"] | {"systems", "pharmaceuticals", "laboratories", "medical", "technologies"}
        ):
            return None
        end = self.rightward(i + 1)
        if any(low in GENERIC["terms"] for low in w.lows[start : end + (0 if w.breaks(end) else 1)]):
            return None
        prior = start - 2 if w.low(start - 1) == "the" else start - 1
        cue = w.low(prior) in WORD["at"]
        treating = (
            w.low(start - 1) in WORD["joins"]
            or w.low(start - 1) in LABELS
            or (w.low(start - 1) in ("of", "with") and head.type == "HOSPITAL")
            or w.low(start - 2) in ("gp", "practice")
        )
        alone = (w.newline(start) or w.word(start - 1) in "|>:") and (
            w.newline(end) or w.word(end) in ",(|-–—" or w.breaks(end)
        )
        suffixed = end > i + 1
        if not distinctive:
            named = " ".join(w.lows[start : i + 1]) in GENERIC["named"]
            return FoundTokens(start, end, head.type, 0.55, "organizations.named") if named else None
        if (
            w.lows[i] in WORD["surnames"]
            and core - start < 3
            and not cue
            and all(lexicon().get(x, 0) & 63 and x not in GENERIC["words"] for x in lows)
        ):
            return None  # Kayla Ward (63: the weights as given name and surname)
        if head.strong:
            if loud and not new and not (cue or suffixed or (w.shouting(i) and (alone or len(distinctive) > 1))):
                return None
            return FoundTokens(start, end, head.type, 0.8 if new or cue else 0.65, "organizations.head", core)
        if w.lows[i] in WORD["bare"] and not (new or cue or treating):
            return None
        if new and (not loud or cue or treating or alone or suffixed or len(distinctive) > 1):
            return FoundTokens(start, end, head.type, 0.65, "organizations.weak-head", core)
        if (
            (cue and w.low(prior) in ("at", "from", "into", "via"))
            or treating
            or suffixed
            or ((alone or cue) and len(distinctive) > 1)
        ):
            return FoundTokens(start, end, head.type, 0.55, "organizations.weak-head", core)
        return None

    def lower(self, core: int, i: int, head: OrganizationHead) -> FoundTokens | None:
        """A head in lower case: Holy Rosary school, st. mary's hospital, fairmeadow urgent care."""
        w = self.walk
        if not head.strong or core == 0:
            return None
        if w.titled(core - 1) and not w.breaks(core) and not w.shouting(core - 1):
            start = self.leftward(core)
            words = [k for k in range(start, core) if is_distinctive(w.lows[k]) and w.words[k][0].isupper()]
            named = any(is_unusual(w.lows[k], w.words[k]) or w.lows[k] in WORD["sacred"] for k in words)
            if (
                not named
                or any(maker(w.lows[k]) and w.lows[k] not in WORD["sacred"] for k in words)
                or self.body(start, i)
            ):
                return None
            return FoundTokens(start, i + 1, head.type, 0.6, "organizations.lower", core)
        plain = ordinary(True)
        j = core
        while (
            j > 0
            and core - j < 4
            and not w.breaks(j)
            and (w.words[j - 1].islower() or (w.words[j - 1] == "." and w.low(j - 2) in ("st", "mt")))
        ):
            low = w.lows[j - 1]
            saintly = w.lows[j - 2 if w.low(j - 2) != "." else j - 3] in ("st", "saint") if j > 2 else False
            if (
                low != "."
                and low not in WORD["lower_names"]
                and not saintly
                and (not is_unusual(low, low) or low.removesuffix("'s") in plain)
            ):
                break
            j -= 1
        while j < core and (w.lows[j] in WORD["lower_names"] - WORD["sacred"] or w.words[j] == "."):
            j += 1
        return FoundTokens(j, i + 1, head.type, 0.6, "organizations.lower", core) if j < core else None

    def town(self, end: int) -> FoundTokens | None:
        """The town after a hospital's name and a comma, if the line or clause ends there: …, Vitoria-Gasteiz."""
        w = self.walk
        if (
            w.word(end) != ","
            or w.newline(end)
            or end + 1 >= w.n
            or w.newline(end + 1)
            or not w.words[end + 1][0].isupper()
        ):
            return None
        stop = self.run(end + 1)
        if (
            stop - end > 4
            or not (stop >= w.n or w.breaks(stop) or w.words[stop] in ".;)—–(")
            or (w.shouting(end) and stop - end > 2)
        ):
            return None
        words = [k for k in range(end + 1, stop) if w.words[k][0].isalpha()]
        known = gazetteer().at(w.lows, end + 1)
        if (known and known[0] == stop) or all(
            is_unusual(w.lows[k], w.words[k]) and len(w.words[k]) > 3 for k in words
        ):
            return FoundTokens(end + 1, stop, "CITY", 0.5, "organizations.town")
        return None


def aliases(walk: TokenWalk, organizations: list[FoundTokens]) -> Iterator[FoundTokens]:
    """The same institutions by shorter names: Harbor Pines, after Harbor Pines University Hospital; MVMC."""
    short: dict[tuple[str, ...], FoundTokens] = {}
    for organization in organizations:
        if organization.core and organization.score >= 0.6:
            for name in _shortened(walk, organization):
                short.setdefault(name, organization)
    if not short:
        return
    firsts = {name[0] for name in short}
    inside = {k for organization in organizations for k in range(organization.start, organization.end)}
    for i in among(walk.lows, firsts):
        if i in inside:
            continue
        for size in range(min(4, len(walk.lows) - i), 0, -1):
            same = short.get(tuple(walk.lows[i : i + size]))
            if same and (walk.words[i].isupper() if size == 1 else walk.words[i][0].isupper()):
                yield FoundTokens(i, i + size, same.type, 0.6, "organizations.alias")
                break


def _shortened(walk: TokenWalk, organization: FoundTokens) -> Iterator[tuple[str, ...]]:
    """The words before the head, if two of them are distinctive; the initials of all words; an acronym unchanged."""
    if organization.core == organization.start:
        yield (walk.lows[organization.start],)
        return
    lows = [low for low in walk.lows[organization.start : organization.core] if low != "the"]
    while lows and not is_distinctive(lows[-1]):
        lows.pop()
    if (
        sum(map(is_distinctive, lows)) > 1
        and len(lows) < 5
        and any(word[0].isupper() for word in walk.words[organization.start : organization.core])
    ):
        yield tuple(lows)
    letters = [
        low[0]
        for low in walk.lows[organization.start : organization.end]
        if low[0].isalpha() and low not in WORD["links"]
    ]
    initials = "".join(letters)
    if 3 < len(initials) < 7 or (len(initials) == 3 and walk.low(organization.end + 1) == initials):
        yield (initials,)


@cache
def _triggers() -> frozenset[str]:
    return HEAD_ENDS | FIRST_WORDS | WORD["cue_words"] | frozenset(LABELS) | frozenset(brands().longest) | _BESIDE
