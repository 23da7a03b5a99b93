"""Organizations found by what precedes their names (a kind, a cue, a label), and those known by name."""

from __future__ import annotations

import re

from incognote.text.lexicon import EPONYM, MEDICAL, PLACE, given, lexicon, surname
from incognote_en.rules.gazetteer import gazetteer, ordinary
from incognote_en.rules.organizations.runs import (
    ACRONYM,
    CUE,
    CUE_BACK,
    DOERS,
    FIRST,
    GENERIC,
    LABELS,
    WORD,
    OrganizationRuns,
    is_distinctive,
    is_unusual,
    maker,
)
from incognote_en.rules.walk import FoundTokens


class OrganizationCues(OrganizationRuns):
    """HEAD NAME, brands, cues and labels."""

    def led(self, i: int) -> FoundTokens | None:
        """A name that begins with its kind: University of Turku, Hospital Universitario Virgen del Roble."""
        w = self.walk
        low = w.lows[i]
        if not w.titled(i) or i + 1 >= w.n or w.breaks(i + 1):
            return None
        if low in FIRST["of"] and w.low(i + 1) == "of" and i + 2 < w.n and self.proper(i + 2):
            end = self.run(i + 3 if w.low(i + 2) == "the" else i + 2)
            if (
                w.low(end) == "at"
                and not w.newline(end)
                and gazetteer().longest.get(w.low(end + 1))
                and w.titled(end + 1)
            ):
                end += 2  # University of Texas at Austin
            if any(low in GENERIC["terms"] for low in w.lows[i:end]):
                return None
            kind = "HOSPITAL" if low in ("hospital", "sisters") and low == "hospital" else "ORGANIZATION"
            return (
                FoundTokens(i, end, kind, 0.75, "organizations.first")
                if not self.body(i, i) and low not in ("department", "state", "bureau")
                else None
            )
        if low in ("hospital", "centro", "instituto") and w.lows[i + 1] not in FIRST["hospital_if"]:
            return None
        kind = (
            "PHARMACY" if low in FIRST["pharmacy"] else "ORGANIZATION" if low in FIRST["organization"] else "HOSPITAL"
        )
        if not (
            low in FIRST["hospital"] or low in FIRST["pharmacy"] or low in FIRST["organization"] or low == "hospital"
        ):
            return None
        begin = i + 1
        while begin < w.n and w.lows[begin] in WORD["links"] and not w.breaks(begin):
            begin += 1
        end = self.run(begin) if begin < w.n and not w.breaks(begin) else i + 1
        if (
            end <= begin
            or (low in ("ward", "association") and not is_unusual(w.lows[i + 1], w.words[i + 1]))
            or (low == "ward" and end > i + 2)
        ):
            return None
        return FoundTokens(i, end, kind, 0.7, "organizations.first")

    def brand(self, i: int) -> FoundTokens | None:
        """An organization known by name, with its heads and legal forms."""
        w = self.walk
        at = self.brands.at(w.lows, i)
        if at is None or (i and w.joined(i) and w.words[i - 1] in "-@./"):
            return None
        end, brand = at
        titled = w.titled(i)
        after = w.low(end)
        if w.text[w.ends[end - 1] : w.ends[end - 1] + 1] in ("-", "@") or (
            maker(w.lows[i]) and after in ("criteria", "score", "stand", "clip", "scissors")
        ):
            return None
        if w.words[end - 1].isupper() and re.match(r" ?[A-Z]?\d", w.text[w.ends[end - 1] : w.ends[end - 1] + 3]):
            return None  # the registration numbers of physicians and insured persons
        alone = brand.need == "a" and not (end - i == 1 and lexicon().get(w.lows[i], 0) & EPONYM)
        if alone and (titled or end - i > 1 or (brand.type == "PHARMACY" and len(w.words[i]) > 3)):
            if after in GENERIC["terms"]:
                return None
            more = self.rightward(end) if titled else end
            return FoundTokens(i, more, brand.type, 0.75, "organizations.brand")
        cue = (w.low(i - 1) in ("at", "for") and (w.low(i - 1) == "at" or self.near(i - 1, CUE["work"]))) or (
            self.near(i, CUE["work"]) and w.low(i - 1) in ("at", "for", "with", "from", "by")
        )
        return (
            FoundTokens(i, self.rightward(end), brand.type, 0.6, "organizations.brand")
            if titled and cue and not w.shouting(i)
            else None
        )

    def near(self, i: int, cues: frozenset[str]) -> bool:
        """Whether one of the cues comes shortly before token i, in the same sentence."""
        w = self.walk
        for k in range(i - 1, max(-1, i - 1 - CUE_BACK), -1):
            if w.words[k] in ".;" and w.starts[k + 1] > w.ends[k]:
                return False
            if w.lows[k] in cues:
                return True
        return False

    def cued(self, i: int) -> FoundTokens | None:
        """Any capitalized words after `works for`, `transferred from`, or a bare `at`."""
        w = self.walk
        low, j = w.lows[i], i + 1
        if j < w.n and w.words[j] == "the":
            j += 1
        if j >= w.n or not w.words[j][0].isupper() or w.shouting(j) or (w.newline(j) and not w.word(i - 1).islower()):
            return None
        if short := self.acronym(i, j):
            return short
        end = self.run(j)
        end = next((k for k in range(j, end) if w.lows[k] == "for"), end)
        while end > j and (w.lows[end - 1] in WORD["links"] or not w.words[end - 1][0].isalpha()):
            end -= 1
        real = [k for k in range(j, end) if w.words[k][0].isalpha() and w.lows[k] not in WORD["links"]]
        work, care = self.near(i + 1, CUE["work"]), self.near(i, CUE["care"])
        if not real or w.lows[j] in GENERIC["trim"] - {"the", "local"} or any(self.excluded(k, work) for k in real):
            return None
        if self.goes_on(end):
            return None
        distinctive = [k for k in real if is_distinctive(w.lows[k])]
        new = [k for k in distinctive if is_unusual(w.lows[k], w.words[k]) and not w.words[k].isupper()]
        kind = "HOSPITAL" if care and not work else "ORGANIZATION"
        person = self.person(real)
        several = len(real) > 1
        prior = w.word(i - 1)
        if low == "at":
            if new and (several or len(w.words[real[0]]) > 4):
                return FoundTokens(j, end, kind, 0.6, "organizations.at")
            if several and (len(distinctive) > 1 or (distinctive and (work or care))):
                return FoundTokens(j, end, kind, 0.5, "organizations.at")
            return None
        if low not in ("to", "into") and work and w.low(i - 1) in CUE["work"] | {"full-time", "part-time", "time"}:
            if distinctive and (new or low == "for") and (low == "for" or not person):
                return FoundTokens(j, end, "ORGANIZATION", 0.6, "organizations.work")
            return None
        if low == "from" and w.low(i - 1) in CUE["agent"] and several and not person:
            return FoundTokens(j, end, "ORGANIZATION", 0.5, "organizations.agent")
        named = new or (several and len(distinctive) > 1)
        if low in ("for", "with") and named and not person and prior[1:].islower() and prior.endswith(DOERS):
            return (
                FoundTokens(j, end, "ORGANIZATION", 0.5, "organizations.doer") if w.ends_before(end, ".,;)") else None
            )
        if low not in ("to", "from", "into") or not care or person:
            return None
        if (len(distinctive) > 1 and (several or not new)) or (
            new and not several and len(w.words[j]) > 5 and w.ends_before(end, ".,;)")
        ):
            return FoundTokens(j, end, "HOSPITAL", 0.5, "organizations.care")
        return None

    def acronym(self, i: int, j: int) -> FoundTokens | None:
        """Letters with a typical ending of a hospital: at BRH, transferred from CGH, sent to the QVMC ED."""
        w = self.walk
        word, low = w.words[j], w.lows[j]
        if not (3 <= len(word) <= 5 and word.isupper() and word.isalpha()) or low in ACRONYM["other"]:
            return None
        if not low.endswith(tuple(ACRONYM["endings"])) or lexicon().get(low, 0) & MEDICAL or (self.joins(j + 1)):
            return None
        moved = w.lows[i] == "at" or self.near(i + 1, CUE["care"] | CUE["moved"])
        return FoundTokens(j, j + 1, "HOSPITAL", 0.6, "organizations.acronym", j) if moved else None

    def joins(self, i: int) -> bool:
        w = self.walk
        return w.joined(i) and w.words[i] in "-/_%="

    def goes_on(self, end: int) -> bool:
        """Whether the run is part of something else: the value of a label, or an eponymous sign."""
        w = self.walk
        if end >= w.n or w.breaks(end):
            return False
        clock = w.words[end].isdigit() and w.word(end + 1) in ":/"
        return bool(clock or (w.words[end].islower() and (maker(w.lows[end - 1]) or w.lows[end - 1].endswith("'s"))))

    def person(self, real: list[int]) -> bool:
        """Whether all words are given names or surnames, and not all are ordinary words."""
        w, names = self.walk, lexicon()
        entries = [names.get(w.lows[k].replace("'", ""), 0) for k in real]
        named = all(given(e) or surname(e) or len(w.words[k]) < 3 for e, k in zip(entries, real, strict=True))
        return named and not all(w.lows[k] in ordinary() for k in real)

    def numbered(self, i: int) -> FoundTokens | None:
        """A ward named for someone, before its room or bed: Lathrop 9 Bed 4B, Harwell 6, Rm 618."""
        w = self.walk
        j = i - 1
        while j > 0 and w.words[j] in ",-–" and not w.newline(j + 1):
            j -= 1
        if j < 1 or not w.words[j].isdigit() or len(w.words[j]) > 2 or w.newline(i) or w.newline(j):
            return None
        k = j - 1
        named = w.titled(k) and is_unusual(w.lows[k], w.words[k]) and not w.shouting(k) and len(w.words[k]) > 3
        return (
            FoundTokens(k, j + 1, "HOSPITAL", 0.55, "organizations.ward")
            if named and w.lows[k] not in WORD["months"]
            else None
        )

    def unit(self, i: int) -> FoundTokens | None:
        """A unit named for someone: Pruitt MICU."""
        w = self.walk
        k = i - 1
        if k < 1 or w.newline(i) or not w.titled(k) or not is_unusual(w.lows[k], w.words[k]) or w.words[k].isupper():
            return None
        named = w.low(w.back(k)) in WORD["at"] and len(w.words[k]) > 3
        return FoundTokens(k, i + 1, "HOSPITAL", 0.55, "organizations.unit") if named else None

    def excluded(self, k: int, work: bool = False) -> bool:
        """Whether a word makes the run something else: a people, a month, a title, a town (found by `places`)."""
        low = self.walk.lows[k]
        return (
            bool(lexicon().get(low, 0) & (PLACE if work else PLACE | EPONYM)) and low not in self.heads
        ) or low in WORD["excluded"]

    def labelled(self, i: int) -> FoundTokens | None:
        """Employer: X; Payer      X; Hospital >> X."""
        w = self.walk
        if w.words[i].islower() and (bare := self.spoken(i)):
            return bare
        j = i + 1
        while j < w.n and w.words[j] in ":=>.|/-" and not w.newline(j) and j < i + 12:
            j += 1
        marked = any(w.words[k] in ":=>|" for k in range(i + 1, j)) or j - i > 3
        wide = j == i + 1 and j < w.n and w.breaks(j) and w.breaks(i)
        if j >= w.n or w.newline(j) or not (marked or wide) or not w.words[j][0].isupper() or w.lows[j] in WORD["none"]:
            return None
        if not (w.newline(i) or w.word(i - 1) in ".;,|/-–*]" or w.breaks(i) or w.titled(i) or w.newline(i - 1)):
            return None
        end = self.rightward(self.run(j))
        distinctive = [k for k in range(j, end) if w.words[k][0].isalpha() and is_distinctive(w.lows[k])]
        if not distinctive or w.lows[j] in GENERIC["trim"] or self.excluded(j):
            return None
        loud = w.shouting(i)
        if loud and end - j > 5:
            return None
        return FoundTokens(j, end, LABELS[w.lows[i]], 0.65, "organizations.label")

    def spoken(self, i: int) -> FoundTokens | None:
        """A label in a sentence: her employer Tyson Foods, travel insurer Nordvik Assistance."""
        w = self.walk
        j = i + 2 if w.word(i + 1) == "," else i + 1
        if j >= w.n or w.newline(j) or not w.titled(j) or w.words[i] in WORD["loose"]:
            return None
        end = self.run(j)
        real = [k for k in range(j, end) if w.words[k][0].isalpha() and w.lows[k] not in WORD["links"]]
        new = any(is_unusual(w.lows[k], w.words[k]) and not w.words[k].isupper() for k in real)
        if not new or self.person(real) or any(self.excluded(k) for k in real) or w.lows[j] in GENERIC["trim"]:
            return None
        return FoundTokens(j, end, LABELS[w.lows[i]], 0.55, "organizations.spoken")

    def saint(self, i: int) -> FoundTokens | None:
        """St Tysilio's, without a head: a church, a school or a hospital with that name."""
        w = self.walk
        j = i + 2 if w.word(i + 1) == "." else i + 1
        if j >= w.n or w.newline(j) or not w.titled(i) or not w.titled(j) or not w.lows[j].endswith("'s"):
            return None
        after = w.low(j + 1)
        placed = w.low(i - 1) in WORD["at"] | {"the", "attends", "of"}
        if (
            after in WORD["feasts"]
            or not placed
            or (w.titled(min(j + 1, w.n - 1)) and not w.breaks(j + 1) and after in self.heads)
        ):
            return None
        return FoundTokens(i, j + 1, "ORGANIZATION", 0.6, "organizations.saint")
