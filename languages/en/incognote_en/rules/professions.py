"""Finder of OCCUPATION: the jobs of patients and their relatives, not the roles of treating staff.

A job is found if the text states that someone has it: a label in a form, "works as a", "retired", "by trade", an age or
a relative before it. Job titles come from lexicon/occupations.toml.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import lru_cache

from incognote.detectors.rules.view import Candidate, View, among
from incognote.languages import language

_TYPE = "OCCUPATION"
_MOST = 4  # words before a title's head: "high-school varsity football coach"

_KEY_DELIMITER = re.compile(
    r"(?:[ \t]*\([^()\n]{1,20}\))?[ \t]*(?:(?:status|title|history|type|held)[ \t]*)?"
    r"(?:[:=]+|\.(?=[ \t])|\.{3,}|[ \t]{2,}|\|)[ \t]*",
    re.I,
)
_VALUE = re.compile(r"[^\W\d_](?:[^\n,;|()\[\]:.]|\.(?=\w)|\([^()\n]{1,24}\))*")
_NO_VALUE = re.compile(
    r"(?:(?:un|dis|self[- ]?)?(?:employed|able[d]?)|retired|none|n/?a|unknown|not|nil|no|see|full[- ]time|part[- ]time|"
    r"on|yes|light|currently|presently|of|history|status|up|out|related|as|the|she|he|patient|pt|has|is|works?|phone|tel|"
    r"in|with|at|from)\b",
    re.I,
)


_BESIDE = frozenset((",", "(", ";", "/", "=", "–", "—", "-"))
_TRIGGERS = frozenset(("job", "as", "then", "now", "trade", "profession", "occupation"))


@lru_cache(maxsize=1)
def vocabulary() -> Mapping[str, frozenset[str]]:
    """The word classes of lexicon/occupations.toml by name, read once.

    A rule is tried at each of the `triggers`. A listed title can end with the words in `last`.
    """
    written = language("en").table("lexicon", "occupations.toml")
    words = {name: frozenset(text.split()) for name, text in {**written["titles"], **written["context"]}.items()}
    triggers = words["key"] | words["retired"] | words["being"] | words["people"] | _BESIDE | _TRIGGERS
    singular = words["alone"] | words["head"] | {"carrier"}
    last = singular | {f"{title}s" for title in singular}
    return {**words, "subject": words["subject"] | words["kin"], "triggers": triggers, "last": last}


def find(view: View) -> Iterator[Candidate]:
    """Candidates of type OCCUPATION; spans of different rules may overlap."""
    jobs, known = _Jobs(view), vocabulary()
    lowers, words = view.lowers, view.words
    for i in sorted({*among(lowers, known["triggers"])}.union(i for i in jobs.near_ends() if words[i][0].isupper())):
        low = lowers[i]
        if low in known["key"] or low == "job":
            yield from jobs.keyed(i)
        if low == "as":
            yield from jobs.working_as(i)
        elif low in known["retired"] or low in ("then", "now"):
            yield from jobs.retired(i)
        elif low in known["being"]:
            yield from jobs.being(i)
        elif low in known["people"]:
            yield from jobs.aged(i)
        elif low in ("trade", "profession", "occupation") and i and lowers[i - 1] == "by":
            yield from jobs.by_trade(i)
        elif low in _BESIDE and i + 1 < len(lowers):
            if lowers[i + 1][0].isalpha() and (view.gap(i + 1) or low not in (",", ";", "-")):
                yield from jobs.beside(i)
        elif words[i][0].isupper() and (i == 0 or lowers[i - 1] in (".", ")", ";") or "\n" in view.gap(i)):
            yield from jobs.opening(i)


class _Jobs:
    """The rules for one text. Each method takes the index of its trigger."""

    def __init__(self, view: View) -> None:
        self.view, self.lowers, self.known = view, view.lowers, vocabulary()
        last = self.known["last"]
        self.ends = [
            i for i, low in enumerate(self.lowers) if low in last or ("-" in low and low.rpartition("-")[2] in last)
        ]
        """Words with which a listed title can end. Without one nearby there is no title."""

    def near_ends(self) -> set[int]:
        """Words at which a listed title could begin."""
        return {i for end in self.ends for i in range(max(0, end - _MOST), end + 1)}

    def _candidate(self, first: int, last: int, score: float, rule: str) -> Candidate:
        view = self.view
        return Candidate(view.starts[first], view.ends[last - 1], _TYPE, score, f"professions.{rule}")

    def _low(self, i: int) -> str:
        return self.lowers[i] if 0 <= i < len(self.lowers) else ""

    def _title(self, i: int, listed: bool = True) -> int:
        """The index after the job title that begins at word i, 0 for none.

        With listed=False, any short noun phrase is accepted, because the context shows that it is a job.
        """
        view, lowers, jobs = self.view, self.lowers, self.known
        if not 0 <= i < len(lowers):
            return 0
        if listed:
            nearest = bisect_left(self.ends, i)
            if nearest == len(self.ends) or self.ends[nearest] > i + _MOST:
                return 0
        best, k = 0, i
        while k < len(lowers) and k - i <= _MOST:
            low, gap = lowers[k], view.gap(k)
            if k > i and (
                gap not in (" ", "", "\n") or ("\n" in gap and best) or (gap == "" and lowers[k - 1] not in ("/", "'"))
            ):
                break
            if (not low[0].isalpha() and not (low.isdigit() and k > i and gap == " ")) or low in jobs["breaks"]:
                break
            if low in jobs["retired"]:
                break
            carried = low == "carrier" and lowers[k - 1] in ("letter", "mail", "newspaper")
            if (low in jobs["never"] and not carried) or (low in jobs["poor"] and k == i):
                return best
            if (
                (low in ("lady", "hand") and k == i)
                or (low == "lady" and lowers[k - 1] in jobs["adjectives"])
                or low in ("right-hand", "left-hand")
            ):
                return best
            end = low.rsplit("-", 1)[-1]
            plural = low[:-1] if low.endswith("s") and len(low) > 4 else low
            if (
                low in jobs["alone"]
                or (plural in jobs["alone"] and k > i)
                or (k > i and (end in jobs["head"] or plural in jobs["head"]))
                or ("-" in low and end in jobs["head"] | jobs["alone"])
                or carried
            ):
                best = k + 1
            k += 1
        if best or listed:
            return best
        k = i
        while (
            k < len(lowers)
            and k - i < 3
            and lowers[k][0].isalpha()
            and lowers[k] not in jobs["breaks"]
            and lowers[k] not in jobs["never"]
            and (k == i or view.gap(k) == " ")
        ):
            k += 1
        return k if k > i and k < len(lowers) else 0

    def _article(self, i: int) -> int:
        """Skip an article and "retired" or "part-time" at word i."""
        i += self._low(i) in ("a", "an", "the") and self.view.gap(i) in (" ", "\n")
        while self._low(i) in self.known["retired"] or self._low(i) in ("full-time", "part-time", "right-handed"):
            i += 1
        return i

    def _subject(self, i: int, back: int = 8) -> bool:
        """Whether a patient or a relative comes a few words before word i, in the same sentence."""
        for k in range(i - 1, max(-1, i - back - 1), -1):
            low = self.lowers[k]
            if low in (".", ";", "!", "?") and self.view.gap(k + 1) != "":
                return False
            if low in self.known["subject"]:
                return True
        return False

    def _staff(self, first: int, last: int) -> bool:
        """Whether treating staff also have this title."""
        return self.lowers[last - 1].rstrip("s") in self.known["clinical"]

    def keyed(self, i: int) -> Iterator[Candidate]:
        """ "Occupation: court stenographer"."""
        view, text = self.view, self.view.text
        low = self.lowers[i]
        if low in ("occ", "job") and not view.words[i][0].isupper() and self._low(i + 1) not in (":", "="):
            return
        if (
            low in ("role", "work", "position", "trade", "job", "employment")
            and i
            and "\n" not in view.gap(i)
            and len(view.gap(i)) < 2
            and self._low(i - 1) not in ("/", "|", "]", "current", "her", "his", ";")
        ):
            return
        match = _KEY_DELIMITER.match(text, view.ends[i])
        if not match:
            spaced = (
                low in self.known["spaced_key"]
                and view.words[i][0].isupper()
                and text[view.ends[i] : view.ends[i] + 1] == " "
                and self._low(i - 1) in ("]", "|", "")
            )
            spaced = spaced or (
                low in ("occupation", "work")
                and view.words[i][0].isupper()
                and self._title(i + 1) > 0
                and self._known_only(i + 1)
            )
            if not spaced:
                return
        begin = match.end() if match else view.ends[i] + 1
        value = _VALUE.match(text, begin)
        if not value or _NO_VALUE.match(value.group()) or value.group().lower().startswith(("retired", "former")):
            return
        words = re.split(r" {2,}|\t| [-–—] | w/| at | with | for |/", value.group(), maxsplit=1)[0].rstrip()
        if not words or words.count(" ") > 4:
            return
        first = view.first_token_at(begin)
        known = self._title(first) > 0
        explicit = low.startswith(("occ", "prof")) or (low == "job" and bool(match))
        if known or explicit:
            yield Candidate(begin, begin + len(words), _TYPE, 0.85 if known else 0.7, "professions.key")

    def _known_only(self, first: int) -> bool:
        return self._title(first) > 0 and self._low(first) not in self.known["breaks"]

    def working_as(self, i: int) -> Iterator[Candidate]:
        """ "works as a …", "employed part-time as …", "back at work as a …"."""
        first = self._article(i + 1)
        if self._low(first - 1) == "the":
            return
        for k in range(i - 1, max(-1, i - 10), -1):
            if self.lowers[k] in self.known["working"]:
                if self.lowers[k].startswith("serv") and not self._subject(k, 4):
                    return  # "the sheath served as a conductor"
                break
            if self.lowers[k] in (".", ";"):
                return
        else:
            return
        last = self._title(first, listed=first == i + 1)
        if last:
            yield self._candidate(first, last, 0.85, "works-as")

    def retired(self, i: int) -> Iterator[Candidate]:
        """ "a retired pipefitter", "ex gold miner", "and then a school bus driver"."""
        first = i + 1
        low = self.lowers[i]
        if self._low(first) == "-" and self.view.gap(first) == "":
            first += 1
        if low in ("previously", "now", "unemployed", "then"):
            if low == "then" and self._low(first) != "a":
                return
            first = self._article(first)
        if low in ("ex", "ret") and self._low(first) == ".":
            first += 1
        last = self._title(first)
        if last and not (low in ("then", "now", "previously") and self._staff(first, last)):
            yield self._candidate(
                first, last, 0.85 if low != "former" or not self._staff(first, last) else 0.55, "retired"
            )

    def being(self, i: int) -> Iterator[Candidate]:
        """ "She was a manicurist there", "dad is a rideshare driver"."""
        first = self._article(i + 1)
        if (first == i + 1 or (self._low(i + 1) == "the" and self._low(i - 1) == "you")) and self.lowers[i] not in (
            "became",
            "become",
        ):
            return
        last = self._title(first)
        if not last or (self._low(last) == "of" and self._staff(first, last)):
            return
        own = self.lowers[i] in ("he's", "she's", "i'm", "shes", "hes")
        if (
            not own
            and not self._subject(i, 7)
            and not (self.view.words[i - 1][:1].isupper() and i and not self._staff(first, last))
        ):
            return
        if self._low(last - 1) == "driver" and last - first == 1 and self._low(last) in ("in", "of", "when", "who"):
            return
        if self._doctor_before(i) and self._staff(first, last):
            return
        yield self._candidate(first, last, 0.8 if not self._staff(first, last) else 0.6, "is-a")

    def _doctor_before(self, i: int) -> bool:
        return any(low in ("dr", "doctor", "md") for low in self.lowers[max(0, i - 5) : i])

    def aged(self, i: int) -> Iterator[Candidate]:
        """ "a 72-year-old civil engineer", "45 yr old ringer", "M/59, minibus driver"."""
        before = self.lowers[max(0, i - 6) : i]
        if not any(low.isdigit() or low in ("year", "yr", "years") for low in before[-4:]) and self.lowers[i] not in (
            "handed",
            "right-handed",
            "left-handed",
        ):
            return
        first = i + 1
        while self._low(first) in self.known["people"] or self._low(first) in self.known["between"]:
            first += 1
            if first - i > 6:
                return
        last = self._title(first)
        plain = last - first == 1 and self.lowers[first] in self.known["weak_head"]
        role = self._staff(first, last) and (last - first < 3 or self._low(i + 1) != ",") if last else False
        if last and not plain and not role:
            yield self._candidate(first, last, 0.75, "aged")

    def by_trade(self, i: int) -> Iterator[Candidate]:
        """ "a carpenter by trade"."""
        for first in range(max(0, i - 4), i - 1):
            if self._title(first) == i - 1 and self.lowers[first] not in self.known["breaks"]:
                yield self._candidate(first, i - 1, 0.85, "by-trade")
                return

    def beside(self, i: int) -> Iterator[Candidate]:
        """ "Husband Declan, a longshoreman,", "son Callum (solicitor)", "Maeve (56), dental hygienist,"."""
        first = self._article(i + 1)
        last = self._title(first)
        if not last or (self.view.gap(i + 1) == "" and self.lowers[i] in (",", ";", "-")):
            return
        single = last - first == 1
        closing = self._low(last)
        ends = (
            closing in (",", ")", ";", ".", "", "|", "(", "]")
            or "\n" in self.view.gap(last)
            or closing in ("at", "for", "with", "in", "on", "since", "who", "w", "by")
        )
        if (
            not ends
            or (single and self.lowers[first] in self.known["weak_head"] and first == i + 1)
            or (self._low(first - 1) == "the" and single and not self._subject(i, 6))
        ):
            return
        bracketed = self.lowers[i] == "(" and not single and closing in (")", ",", ";") and self.view.gap(i) == " "
        if not self._relative_before(i) and not (bracketed and not self._staff(first, last)):
            return
        if (self._staff(first, last) and not (first > i + 1 or self.lowers[i] == "(" or not single)) or (
            self._doctor_before(i) and self._staff(first, last) and first == i + 1
        ):
            return
        yield self._candidate(first, last, 0.7, "beside")

    def _relative_before(self, i: int) -> bool:
        """Whether a relative, or a person's name with an age, comes before the comma or parenthesis at word i."""
        line = 0
        for k in range(i - 1, max(-1, i - 10), -1):
            low = self.lowers[k]
            if "\n" in self.view.gap(k + 1):
                line += 1
                if line > 1:
                    return False
            if low in (".", "!", "?") and self.view.gap(k + 1) != "" and len(self._low(k - 1)) > 3:
                return False
            if low in self.known["kin"] or low in ("he", "she", "employer", "shift"):
                return True
            if low.isdigit() and 0 < len(low) < 3 and self._low(k - 1) in ("(", ",", "/") and i - k <= 3:
                return True
        return False

    def opening(self, i: int) -> Iterator[Candidate]:
        """A sentence or line that begins with a job: "Cabinetmaker at Ludlow Custom Millwork"."""
        last = self._title(i)
        if (
            last
            and self._low(last) in ("at", "for", "w", "with", "by")
            and self.view.words[i].istitle()
            and not self._staff(i, last)
            and self.lowers[i] not in self.known["weak_head"]
        ):
            follows = last + (2 if self._low(last) == "w" else 1)
            if follows < len(self.lowers) and (self.view.words[follows][0].isupper() or self._low(last) == "by"):
                yield self._candidate(i, last, 0.65, "opening")
