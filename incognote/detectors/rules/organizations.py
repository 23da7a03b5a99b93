"""Organisations: hospitals, practices, pharmacies, laboratories, employers, schools, insurers, by the words of their names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from incognote.detectors.rules.gazetteer import gazetteer
from incognote.detectors.rules.lexicon import EPONYM, PLACE, given, lexicon, surname
from incognote.detectors.rules.organization_words import CUE, FIRST, GENERIC, SACRED, Head, brands, fresh, heads, maker, telling
from incognote.detectors.rules.ordinary import ordinary
from incognote.detectors.rules.view import Candidate, View
from incognote.detectors.rules.walk import Walk

_AT = frozenset(("at", "from", "to", "into", "via", "by", "with", "for", "in", "near", "outside"))
_LINKS = frozenset("of and the de la le les du des del da do dos der das und y et for ki al & e".split())
_STOPS = frozenset("at from to into via by with in near outside on as is was are were per through than if when who which".split())
_SUFFIXES = frozenset("inc llc ltd llp pc pa plc gmbh pllc corp co pty".split())
_MORE = frozenset("system systems network group clinics clinic center centre associates campus foundation trust hospital hospitals school unit services".split())
_LOWER_NAMES = frozenset("st saint mount holy our lady of lutheran baptist methodist catholic presbyterian regional memorial community general county".split())
_DOERS = ("ist", "eer", "ant", "ian", "man", "ter", "yer", "per", "ver", "ler", "ger", "tor", "sor")
_JOINS = frozenset("left owns joined attends attended".split())
_SIDES = frozenset("north south east west central downtown main".split())
_NONE = frozenset("none n/a na unknown self same yes no denies declined medicare medicaid retired unemployed student disabled cash private commercial other see".split())
_FEASTS = frozenset("day eve weekend week parade wort fire dance cross".split())
_CUE_BACK = 6


class Found(NamedTuple):
    """Tokens start:end name an organisation; `core` ends the part of the name before its head."""

    start: int
    end: int
    type: str
    score: float
    rule: str
    core: int = 0


def find(view: View) -> Iterable[Candidate]:
    """Candidates of the types HOSPITAL, PHARMACY, DIAGNOSTIC_LABS and ORGANIZATION."""
    if not len(view):
        return
    walk = Walk(view)
    found = list(Organizations(walk).find())
    for one in (*found, *aliases(walk, found)):
        yield Candidate(walk.starts[one.start], walk.ends[one.end - 1], one.type, one.score, one.rule)


class Organizations:
    """The organisations of one text."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.heads = heads()
        self.brands = brands()
        self.triggers = _triggers()

    def find(self) -> Iterator[Found]:
        """All readings; overlapping ones are left to the merge."""
        w = self.walk
        triggers = self.triggers
        for i in [i for i, low in enumerate(w.lows) if low in triggers]:
            low = w.lows[i]
            if low in _HEAD_ENDS and (found := self.headed(i)):
                yield found
                if town := self.town(found.end):
                    yield town
            if low in _FIRST_WORDS and (found := self.led(i)):
                yield found
            if low in self.brands.longest and (found := self.brand(i)):
                yield found
            if low in _CUES and (found := self.cued(i)):
                yield found
            if low in _LABELS and (found := self.labelled(i)):
                yield found
            if low in ("st", "saint") and (found := self.saint(i)):
                yield found

    # -- NAME HEAD -----------------------------------------------------------------------------------------------

    def headed(self, i: int) -> Found | None:
        """Capitalised words before a head: Cedar Hollow Regional Medical Center."""
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
        if w.word(core - 1) == "," and w.lows[core] in _SUFFIXES and not w.newline(core):
            core -= 1
        follows = self.heads.get(w.low(i + 1))
        if follows and not w.breaks(i + 1) and w.titled(i + 1) and not w.shouting(i) and (follows.strong or not head.strong):
            return None  # the last head decides
        start = self.leftward(core)
        if start == core < i:
            core, start = i, self.leftward(i)  # District Hospital, with nothing before the phrase
        if start == core:
            return None
        loud = w.shouting(i) or all(w.words[k].isupper() for k in range(start, i + 1))
        lows = w.lows[start:core]
        tells = [k for k in range(start, core) if w.words[k][0].isalpha() and telling(w.lows[k])]
        new = any(fresh(w.lows[k], w.words[k]) for k in tells)
        if self.body(start, i) or (maker(lows[0]) and w.lows[i] in _SUFFIXES | {"systems", "pharmaceuticals", "laboratories", "medical", "technologies"}):
            return None
        end = self.rightward(i + 1)
        if any(low in GENERIC["terms"] for low in w.lows[start : end + (0 if w.breaks(end) else 1)]):
            return None
        cue = w.low(start - 1) in _AT
        treating = w.low(start - 1) in _JOINS or w.low(start - 1) in _LABELS or w.low(start - 1) in ("of", "with") and head.type == "HOSPITAL" or w.low(start - 2) in ("gp", "practice")
        alone = (w.newline(start) or w.word(start - 1) in "|>:") and (w.newline(end) or w.word(end) in ",(|-–—" or w.breaks(end))
        suffixed = end > i + 1
        if not tells:
            named = " ".join(w.lows[start : i + 1]) in GENERIC["named"]
            return Found(start, end, head.type, 0.55, "organizations.named") if named else None
        if w.lows[i] in _SURNAMES and core - start < 3 and given(lexicon().get(lows[0], 0)) and not cue:
            return None  # Kayla Ward
        if head.strong:
            if loud and not new and not (cue or suffixed or w.shouting(i) and (alone or len(tells) > 1)):
                return None
            return Found(start, end, head.type, 0.8 if new or cue else 0.65, "organizations.head", core)
        if w.lows[i] in _BARE and not (new or cue or treating):
            return None
        if new and (not loud or cue or treating or alone or suffixed or len(tells) > 1):
            return Found(start, end, head.type, 0.65, "organizations.weak-head", core)
        if cue and w.low(start - 1) in ("at", "from", "into", "via") or treating or suffixed or (alone or cue) and len(tells) > 1:
            return Found(start, end, head.type, 0.55, "organizations.weak-head", core)
        return None

    def leftward(self, i: int) -> int:
        """Back from a head over its name, then forward past what is no part of it."""
        w = self.walk
        j = i
        while j > 0 and i - j < 9:
            k = j - 1
            if w.newline(j) and not self.wraps(j) or len(w.gap(j)) > 2 and not w.newline(j):
                break
            word, low = w.words[k], w.lows[k]
            if word[0].isupper() and low not in _STOPS:
                j = k
            elif word == "." and (w.low(k - 1) in ("st", "mt", "ft", "ste") or len(w.word(k - 1)) == 1 and w.word(k - 1).isupper()) and not w.newline(k):
                j = k - 1
            elif (low in _LINKS or word in "&'’-") and k > 1 and (w.words[k - 1][0].isupper() or w.lows[k - 1] == "of" and w.words[k - 2][0].isupper()) and not w.newline(k) and w.lows[k - 1] not in GENERIC["trim"] - {"of"}:
                if low == "of" and given(lexicon().get(w.lows[k - 1], 0)) and fresh(w.lows[k - 1], w.words[k - 1]):
                    break  # Efua of Luz de Luna
                j = k
            else:
                break
        trim = GENERIC["trim"]
        for k in range(j, i):
            if w.lows[k] in _STOPS or w.lows[k] in ("dr", "mr", "mrs", "ms", "md", "rn"):
                j = k + 1
        while j < i and (w.lows[j] in trim or w.words[j].islower() or w.lows[j] in ("of", "and", "&") or not w.words[j][0].isalpha()):
            if w.lows[j] == "our" and w.low(j + 1) == "lady":
                break
            if w.lows[j] == "the" and j and not w.newline(j) and w.word(j - 1).islower() and w.words[j] != "THE":
                break
            j += 1
        return j

    def wraps(self, j: int) -> bool:
        """The name goes on over the end of a line of prose: from Saint Ludmila / Hospital."""
        w = self.walk
        return (
            w.text[w.ends[j - 1] : w.starts[j]].strip(" \t") in ("\n", "\r\n")
            and w.words[j - 1][0].isupper() and not w.words[j - 1].isupper()
            and any(w.word(k).islower() and not w.newline(k + 1) for k in range(max(0, j - 4), j - 1))
        )

    def rightward(self, j: int) -> int:
        """On over further heads, a legal form, a campus, `of Michigan`, `#12`."""
        w = self.walk
        while j < w.n and not w.breaks(j):
            low, word = w.lows[j], w.words[j]
            if word[0].isupper() and (low in _MORE or low in _SUFFIXES or low in self.heads) and low not in ("house", "path"):
                j += 1
            elif word in ",&" and w.low(j + 1) in _SUFFIXES and w.words[j + 1][0].isupper() and not w.newline(j + 1):
                j += 2
            elif word == "," and re.match(r"P\.? ?[CA]\.|L\.L\.[CP]\.|P\.L\.L\.C\.", w.text[w.starts[j] + 2 : w.starts[j] + 10]):
                j += 1
                while j < w.n and (len(w.words[j]) == 1 or w.words[j] in (".", "PA", "PC")) and not w.newline(j) and w.words[j] not in ",;":
                    j += 1
            elif word in "&" or low == "and":
                if w.low(j + 1) in _MORE and w.words[j + 1][0].isupper() and not w.newline(j + 1):
                    j += 2
                else:
                    break
            elif low in ("of", "for", "at") and low != "at" and j + 1 < w.n and self.proper(j + 1):
                j = self.run(j + 1)
            elif w.lows[j - 1] in ("hospital", "infirmary") and (at := gazetteer().at(w.lows, j)) and at[1].need < "n" and self.closes(at[0]):
                j = at[0]  # Queen Elizabeth Hospital Birmingham
            elif word in "-–" and w.low(j + 1) in _SIDES and not w.newline(j + 1):
                j += 2
            elif word == "#" and w.word(j + 1).isdigit():
                j += 2
            elif word == "." and w.lows[j - 1] in _SUFFIXES and w.joined(j) and not self.sentence(j + 1):
                j += 1
            else:
                break
        return j

    def closes(self, i: int) -> bool:
        w = self.walk
        return i >= w.n or w.breaks(i) or not w.titled(i)

    def sentence(self, i: int) -> bool:
        """A sentence may begin at token i, so that the full stop before it is the last one's."""
        w = self.walk
        return i >= w.n or w.titled(i)

    def proper(self, j: int) -> bool:
        """A capitalised word that may follow `of` in a name."""
        w = self.walk
        j = j + 1 if w.low(j) == "the" else j
        return j < w.n and w.words[j][0].isupper() and not w.newline(j) and (w.lows[j] in gazetteer().longest or fresh(w.lows[j], w.words[j]) or telling(w.lows[j]))

    def run(self, j: int) -> int:
        """The end of the capitalised words at j, links inside allowed."""
        w = self.walk
        k = j
        while k < w.n and k - j < 7 and not (k > j and w.breaks(k)):
            word = w.words[k]
            if word[0].isupper():
                if w.lows[k] in _STOPS:
                    break
            elif not (k + 1 < w.n and (w.lows[k] in _LINKS or word in "&'’-" or word == "." and (w.low(k - 1) in ("st", "mt"))) and w.words[k + 1][0].isupper() and not w.breaks(k + 1) and (k > j or word == "the")):
                break
            k += 1
        return k

    def body(self, start: int, i: int) -> bool:
        """A learned society, a guideline body, an authority everybody quotes."""
        w = self.walk
        inside = any(low in GENERIC["bodies_first"] for low in w.lows[max(0, start - 1) : min(start + 2, i)])
        return inside and any(low in GENERIC["bodies_head"] for low in w.lows[start : i + 1])

    def lower(self, core: int, i: int, head: Head) -> Found | None:
        """A head in lower case: Holy Rosary school, st. mary's hospital, fairmeadow urgent care."""
        w = self.walk
        if not head.strong or core == 0:
            return None
        if w.titled(core - 1) and not w.breaks(core) and not w.shouting(core - 1):
            start = self.leftward(core)
            words = [k for k in range(start, core) if telling(w.lows[k]) and w.words[k][0].isupper()]
            named = any(fresh(w.lows[k], w.words[k]) or w.lows[k] in SACRED for k in words)
            if not named or any(maker(w.lows[k]) and w.lows[k] not in SACRED for k in words) or self.body(start, i):
                return None
            return Found(start, i + 1, head.type, 0.6, "organizations.lower", core)
        plain = ordinary(True)
        j = core
        while j > 0 and core - j < 4 and not w.breaks(j) and (w.words[j - 1].islower() or w.words[j - 1] == "." and w.low(j - 2) in ("st", "mt")):
            low = w.lows[j - 1]
            saintly = w.lows[j - 2 if w.low(j - 2) != "." else j - 3] in ("st", "saint") if j > 2 else False
            if low != "." and low not in _LOWER_NAMES and not saintly and (not fresh(low, low) or low.removesuffix("'s") in plain):
                break
            j -= 1
        while j < core and (w.lows[j] in _LOWER_NAMES - SACRED or w.words[j] == "."):
            j += 1
        return Found(j, i + 1, head.type, 0.6, "organizations.lower", core) if j < core else None

    # -- HEAD NAME, brands, cues, labels -------------------------------------------------------------------------

    def led(self, i: int) -> Found | None:
        """The kind comes first: University of Turku, Hospital Universitario Virgen del Roble, Ward Seacole."""
        w = self.walk
        low = w.lows[i]
        if not w.titled(i) or i + 1 >= w.n or w.breaks(i + 1):
            return None
        if low in FIRST["of"] and w.low(i + 1) == "of" and i + 2 < w.n and self.proper(i + 2):
            end = self.run(i + 3 if w.low(i + 2) == "the" else i + 2)
            if w.low(end) == "at" and not w.newline(end) and gazetteer().longest.get(w.low(end + 1)) and w.titled(end + 1):
                end += 2  # University of Texas at Austin
            if any(low in GENERIC["terms"] for low in w.lows[i:end]):
                return None
            kind = "HOSPITAL" if low in ("hospital", "sisters") and low == "hospital" else "ORGANIZATION"
            return Found(i, end, kind, 0.75, "organizations.first") if not self.body(i, i) and low not in ("department", "state", "bureau") else None
        if low in ("hospital", "centro", "instituto") and w.lows[i + 1] not in FIRST["hospital_if"]:
            return None
        kind = "PHARMACY" if low in FIRST["pharmacy"] else "ORGANIZATION" if low in FIRST["organization"] else "HOSPITAL"
        if not (low in FIRST["hospital"] or low in FIRST["pharmacy"] or low in FIRST["organization"] or low == "hospital"):
            return None
        begin = i + 1
        while begin < w.n and w.lows[begin] in _LINKS and not w.breaks(begin):
            begin += 1
        end = self.run(begin) if begin < w.n and not w.breaks(begin) else i + 1
        if end <= begin or (low in ("ward", "association") and not fresh(w.lows[i + 1], w.words[i + 1])) or low == "ward" and end > i + 2:
            return None
        return Found(i, end, kind, 0.7, "organizations.first")

    def brand(self, i: int) -> Found | None:
        """An organisation known by name, with its heads and forms."""
        w = self.walk
        at = self.brands.at(w.lows, i)
        if at is None or (i and w.joined(i) and w.words[i - 1] in "-@./"):
            return None
        end, brand = at
        titled = w.titled(i)
        after = w.low(end)
        if w.text[w.ends[end - 1] : w.ends[end - 1] + 1] in ("-", "@") or maker(w.lows[i]) and after in ("criteria", "score", "stand", "clip", "scissors"):
            return None
        if w.words[end - 1].isupper() and re.match(r" ?[A-Z]?\d", w.text[w.ends[end - 1] : w.ends[end - 1] + 3]):
            return None  # the register numbers of physicians and insured persons
        alone = brand.need == "a" and not (end - i == 1 and lexicon().get(w.lows[i], 0) & EPONYM)
        if alone and (titled or end - i > 1 or brand.type == "PHARMACY" and len(w.words[i]) > 3):
            if after in GENERIC["terms"]:
                return None
            more = self.rightward(end) if titled else end
            return Found(i, more, brand.type, 0.75, "organizations.brand")
        cue = w.low(i - 1) in ("at", "for") and (w.low(i - 1) == "at" or self.near(i - 1, CUE["work"])) or self.near(i, CUE["work"]) and w.low(i - 1) in ("at", "for", "with", "from", "by")
        return Found(i, self.rightward(end), brand.type, 0.6, "organizations.brand") if titled and cue and not w.shouting(i) else None

    def near(self, i: int, cues: frozenset[str]) -> bool:
        """One of the cues stands shortly before token i, in the same sentence."""
        w = self.walk
        for k in range(i - 1, max(-1, i - 1 - _CUE_BACK), -1):
            if w.words[k] in ".;" and w.starts[k + 1] > w.ends[k]:
                return False
            if w.lows[k] in cues:
                return True
        return False

    def cued(self, i: int) -> Found | None:
        """Whatever capitalised words follow `works for`, `transferred from`, a bare `at`."""
        w = self.walk
        low, j = w.lows[i], i + 1
        if j < w.n and w.words[j] == "the":
            j += 1
        if j >= w.n or not w.words[j][0].isupper() or w.shouting(j) or (w.newline(j) and not w.word(i - 1).islower()):
            return None
        end = self.run(j)
        end = next((k for k in range(j, end) if w.lows[k] == "for"), end)
        while end > j and (w.lows[end - 1] in _LINKS or not w.words[end - 1][0].isalpha()):
            end -= 1
        real = [k for k in range(j, end) if w.words[k][0].isalpha() and w.lows[k] not in _LINKS]
        work, care = self.near(i + 1, CUE["work"]), self.near(i, CUE["care"])
        if not real or w.lows[j] in GENERIC["trim"] - {"the", "local"} or any(self.excluded(k, work) for k in real):
            return None
        if end < w.n and not w.breaks(end) and (w.words[end].isdigit() and w.word(end + 1) in ":/" or w.words[end].islower() and maker(w.lows[end - 1])):
            return None
        tells = [k for k in real if telling(w.lows[k])]
        new = any(fresh(w.lows[k], w.words[k]) for k in tells)
        kind = "HOSPITAL" if care and not work else "ORGANIZATION"
        names = lexicon()
        person = all((entry := names.get(w.lows[k].replace("'", ""), 0)) and (given(entry) or surname(entry)) or len(w.words[k]) < 3 for k in real)
        person = person and not all(w.lows[k] in ordinary() for k in real)
        if low == "at":
            if new and (len(real) > 1 or len(w.words[real[0]]) > 4 and not w.words[real[0]].isupper()):
                return Found(j, end, kind, 0.6, "organizations.at")
            if len(real) > 1 and len(tells) > 1 or tells and len(real) > 1 and (work or care):
                return Found(j, end, kind, 0.5, "organizations.at")
            return None
        if low in ("for", "with", "by", "from") and work and w.low(i - 1) in CUE["work"] | {"full-time", "part-time", "time"}:
            if tells and (new or low == "for") and not (person and low != "for"):
                return Found(j, end, "ORGANIZATION", 0.6, "organizations.work")
            return None
        if low == "from" and w.low(i - 1) in CUE["agent"] and len(real) > 1 and not person:
            return Found(j, end, "ORGANIZATION", 0.5, "organizations.agent")
        if low in ("for", "with") and new and not person and w.word(i - 1)[1:].islower() and w.words[i - 1].endswith(_DOERS) and self.stops(end):
            return Found(j, end, "ORGANIZATION", 0.5, "organizations.doer")
        if low not in ("to", "from", "into"):
            return None
        if care and len(tells) > 1 and not person and (not new or len(real) > 1) or care and new and not person and len(real) == 1 and len(w.words[j]) > 5 and self.stops(end):
            return Found(j, end, "HOSPITAL", 0.5, "organizations.care")
        return None

    def stops(self, i: int) -> bool:
        """A clause ends before token i."""
        w = self.walk
        return i >= w.n or w.breaks(i) or w.words[i] in ".,;)"

    def excluded(self, k: int, work: bool = False) -> bool:
        """A word that makes the run something else: a people, a month, a title, a town (places finds those)."""
        low = self.walk.lows[k]
        return bool(lexicon().get(low, 0) & (PLACE if work else PLACE | EPONYM)) and low not in self.heads or low in ("dr", "mr", "mrs", "ms", "miss", "time", "bedside", "baseline", "icu", "or", "ed", "er")

    def labelled(self, i: int) -> Found | None:
        """Employer: X; Payer      X; Hospital >> X."""
        w = self.walk
        j = i + 1
        while j < w.n and w.words[j] in ":=>.|/-" and not w.newline(j) and j < i + 12:
            j += 1
        marked = any(w.words[k] in ":=>|" for k in range(i + 1, j)) or j - i > 3
        wide = j == i + 1 and j < w.n and w.breaks(j) and w.breaks(i)
        if j >= w.n or w.newline(j) or not (marked or wide) or not w.words[j][0].isupper() or w.lows[j] in _NONE:
            return None
        if not (w.newline(i) or w.word(i - 1) in ".;,|/-–*]" or w.breaks(i) or w.titled(i) or w.newline(i - 1)):
            return None
        end = self.rightward(self.run(j))
        tells = [k for k in range(j, end) if w.words[k][0].isalpha() and telling(w.lows[k])]
        if not tells or w.lows[j] in GENERIC["trim"] or self.excluded(j):
            return None
        loud = w.shouting(i)
        if loud and end - j > 5:
            return None
        return Found(j, end, _LABELS[w.lows[i]], 0.65, "organizations.label")

    def saint(self, i: int) -> Found | None:
        """St Tysilio's, with no head: a church, a school or a hospital of that name."""
        w = self.walk
        j = i + 2 if w.word(i + 1) == "." else i + 1
        if j >= w.n or w.newline(j) or not w.titled(i) or not w.titled(j) or not w.lows[j].endswith("'s"):
            return None
        after = w.low(j + 1)
        placed = w.low(i - 1) in _AT | {"the", "attends", "of"}
        if after in _FEASTS or not placed or w.titled(min(j + 1, w.n - 1)) and not w.breaks(j + 1) and after in self.heads:
            return None
        return Found(i, j + 1, "ORGANIZATION", 0.6, "organizations.saint")

    def town(self, end: int) -> Found | None:
        """The town after a hospital's name and a comma, where the line or clause ends: …, Vitoria-Gasteiz."""
        w = self.walk
        if w.word(end) != "," or w.newline(end) or end + 1 >= w.n or w.newline(end + 1) or not w.words[end + 1][0].isupper():
            return None
        stop = self.run(end + 1)
        if stop - end > 4 or not (stop >= w.n or w.breaks(stop) or w.words[stop] in ".;)—–(") or w.shouting(end) and stop - end > 2:
            return None
        words = [k for k in range(end + 1, stop) if w.words[k][0].isalpha()]
        known = gazetteer().at(w.lows, end + 1)
        if known and known[0] == stop or all(fresh(w.lows[k], w.words[k]) and len(w.words[k]) > 3 for k in words):
            return Found(end + 1, stop, "CITY", 0.5, "organizations.town")
        return None


def aliases(walk: Walk, found: list[Found]) -> Iterator[Found]:
    """The same institutions by shorter names: Harbor Pines, after Harbor Pines University Hospital; MVMC."""
    short: dict[str, list[tuple[list[str], Found]]] = {}
    for one in found:
        if not one.core or one.score < 0.6:
            continue
        lows = [w for w in walk.lows[one.start : one.core] if w != "the"]
        while lows and not telling(lows[-1]):
            lows.pop()
        if len([w for w in lows if telling(w)]) > 1 and len(lows) < 5 and any(walk.words[k][0].isupper() for k in range(one.start, one.core)):
            short.setdefault(lows[0], []).append((lows, one))
        initials = "".join(walk.lows[k][0] for k in range(one.start, one.end) if walk.words[k][0].isalpha() and walk.lows[k] not in _LINKS)
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


_LABELS = {
    **dict.fromkeys(CUE["label_organization"], "ORGANIZATION"),
    **dict.fromkeys(CUE["label_hospital"], "HOSPITAL"),
    **dict.fromkeys(CUE["label_pharmacy"], "PHARMACY"),
    **dict.fromkeys(CUE["label_lab"], "DIAGNOSTIC_LABS"),
}
_CUES = frozenset(("at", "for", "with", "by", "from", "to", "into"))
_FIRST_WORDS = FIRST["hospital"] | FIRST["organization"] | FIRST["pharmacy"] | FIRST["of"]
_HEAD_ENDS = frozenset(head.rsplit(" ", 1)[-1] for head in heads())
_SURNAMES = frozenset("ward house hall lane mills church temple chapel parish court mill farm garage station best shop prison bus grange royal drug chemist college".split())
_BARE = frozenset("surgery house court lodge home hall path rooms general medicine health reference".split())


def _triggers() -> frozenset[str]:
    return _HEAD_ENDS | _FIRST_WORDS | _CUES | frozenset(_LABELS) | frozenset(brands().longest) | {"st", "saint"}
