"""Names without an announcement: runs of capitalized name-like words, names before a credential or an age."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from incognote.text.lexicon import (
    BRAND,
    EPONYM,
    EPONYM_NOUN,
    MEDICAL,
    ORGANIZATION,
    PLACE,
    commonness,
    given,
    surname,
    titles,
)
from incognote_en.rules.names.announcer import NameRules
from incognote_en.rules.names.phrase import FoundName, NamePhrase
from incognote_en.rules.names.words import kinship, lone_cues

# An age or a sex and an age after a name: ", 79", " (56)", " 34F", ", F, 60", " is a 50-year-old".
_AGE_AFTER = re.compile(
    r"[ \t]*(?:\||/|[,;:(–—-])?[ \t]*(?:"
    r"age[d]?\b|\(?\d{1,3}[ \t]*-?[ \t]*(?:y/?o|yr|year|y\b|[mfMF]\b|wk|week|mo\b|month|day|d\b)|"
    r"[MF](?:[/,;]|emale|ale|\b)|(?:girl|boy|female|male)\b|(?:(?<=[,(])|(?<=[,(] ))\d{1,3}[,)]|"
    r"(?:is|was) an?\b[^.\n]{0,30}?\b"
    r"(?:(?:year|month|week|day)|(?:y/?o|man|woman|male|female|gentleman|lady|boy|girl|patient)\b))"
)
_SON_OF = re.compile(r"[ \t]+[SDWHsdwh]/[OoFf]\b")
_NAME_THEN_AGE = re.compile(r"[ \t]*(?:[,;:(|/–—-][ \t]*)?\(?\d{1,3}[ \t]*-?[ \t]*(?:y/?o|yr|year|y\b|[mfMF]\b)")
_IN_BED = re.compile(r"[ \t]+(?:in|from) (?:bed|room|rm|bay|chair)\b", re.I)
_DASHES = frozenset("-•*–—~")


class UnannouncedNames(NameRules):
    """The names in one text that nothing announces."""

    def bare(self, taken: set[int]) -> Iterator[FoundName]:
        """Runs of name-like words that no cue announced; `taken` contains the words that already belong to a name."""
        words, stop, before = self.words, self.known["stop"], titles()
        small = words.document == "lower"
        done = 0
        for i in range(words.count) if small else words.capitals:
            if i < done or i in taken:
                continue
            word = words.words[i]
            if small and word.islower() and words.nameness(word) >= 6 and given(words.weigh(word)) >= 4:
                yield from self._small(i, taken)
            if not word[0].isupper() or words.lowers[i] in stop or words.lowers[i] in before or not self._may_begin(i):
                continue
            phrase = self.reader.read(i, lax=False, wrap=True)
            if phrase is None or not taken.isdisjoint(range(phrase.first, phrase.last)):
                continue
            name = self._judge(phrase)
            if name is not None:
                yield name
                if name.rule == "names.apart":
                    yield from self.chain(name.phrase, "PERSON", 0.55, "names.apart-list", 5)
                done = name.phrase.last
            elif phrase.last - phrase.first == 1:
                done = phrase.last

    def _small(self, i: int, taken: set[int]) -> Iterator[FoundName]:
        """A given name and a surname in a text without capitals: "hassan el-khoury"."""
        words = self.words
        entry = words.weigh(words.words[i])
        phrase = self.reader.read(i, lax=False)
        if (
            entry & (MEDICAL | BRAND | PLACE)
            or phrase is None
            or phrase.last - i < 2
            or phrase.last - 1 in taken
            or words.style(i) != "lower"
        ):
            return
        family = words.weigh(words.words[phrase.last - 1])
        if (
            surname(family) >= 3
            and not family & (MEDICAL | BRAND | PLACE)
            and (not commonness(family) or _AGE_AFTER.match(words.text, phrase.end))
        ):
            yield FoundName(phrase, "PERSON", 0.65, "names.run")

    def _may_begin(self, i: int) -> bool:
        words = self.words
        word = words.words[i]
        if len(word) == 1:
            return (
                words.word(i + 1) == "."
                and not words.gap(i + 1)
                and words.gap(i + 2) in ("", " ")
                and words.is_capital(i + 2)
            )
        score = words.nameness(word)
        if score < 1:
            return False
        if given(words.weigh(word)) < 5 and words.lowers[i] in lone_cues():
            return False  # "Judge Whitaker": a title, a role
        if score == 2 and not words.weigh(word):  # an unknown word in a position for names, or before another one
            pair = words.gap(i + 1) == " " and words.is_capital(i + 1) and not words.word(i + 1).isupper()
            return words.low(i - 1) in self.known["before"] or (pair and words.nameness(words.word(i + 1)) >= 2)
        return score >= 3 or (score >= 1 and given(words.weigh(word)) >= 3)

    def _judge(self, phrase: NamePhrase) -> FoundName | None:
        words = self.words
        first, last = phrase.first, phrase.last
        parts = [
            k
            for k in range(first, last)
            if words.is_word(k)
            and not words.is_initial(k)
            and words.lowers[k] not in self.known["particles"]
            and words.lowers[k] not in self.known["suffixes"]
        ]
        initials = any(words.is_initial(k) for k in range(first, last))
        if not parts or self._thing(phrase, parts):
            return None
        scores = [words.nameness(words.words[k]) for k in parts]
        entries = [words.weigh(words.words[k]) for k in parts]
        style = words.style(first)
        if words.low(first - 1) in self.known["determiners"] and words.gap(first) == " ":
            return None
        if (
            initials
            and len(parts) == 1
            and "\n" in words.gap(first)
            and words.is_initial(first)
            and given(entries[0]) > surname(entries[0])
        ):
            phrase = phrase._replace(first=parts[0], start=words.starts[parts[0]])  # the letter of a list item
            first, initials = parts[0], False
        age = _AGE_AFTER.match(words.text, phrase.end)
        if len(parts) >= 2:
            score = self._several(phrase, scores, entries, style)
            if _SON_OF.match(words.text, phrase.end) and max(scores) >= 2:
                score = max(score, 0.8)
            if score and age:
                score = min(0.9, score + 0.15)
            return (
                FoundName(
                    phrase,
                    "PATIENT" if age and _NAME_THEN_AGE.match(words.text, phrase.end) else "PERSON",
                    score,
                    "names.run",
                )
                if score
                else None
            )
        if initials and words.is_initial(first):
            listed = "\n" in words.gap(first)  # "B. Esophagus" in a list
            if words.word(first - 1) in ("=", ">", "<"):
                return None
            sure = (
                scores[0] >= 4
                and surname(entries[0]) >= 2
                and not entries[0] & (EPONYM | PLACE)
                and commonness(entries[0]) < 2 - listed
            )
            return (
                FoundName(phrase, "PERSON", 0.65 if sure else 0.4, "names.initial-surname")
                if sure or (scores[0] >= 2 and style == "mixed" and not entries[0] & (PLACE | EPONYM))
                else None
            )
        if style == "mixed":
            return self._single(phrase, scores[0], entries[0], bool(age), initials)
        known = (
            scores[0] >= 4
            and surname(entries[0]) >= 2
            and not commonness(entries[0])
            and not entries[0] & (EPONYM | PLACE)
        )
        if known and self._done_by(first, phrase.last):
            return FoundName(phrase, "PERSON", 0.55, "names.done-by")
        return None

    def _done_by(self, first: int, last: int) -> bool:
        """Whether someone did something or was seen: "ERCP by Malhotra on", "she saw Lieberthal at"."""
        words = self.words
        capital = words.is_capital(last) and words.style(first) == "mixed" and words.gap(last) == " "
        return words.low(first - 1) in ("by", "saw") and words.gap(first) in (" ", "\n") and not capital

    def _several(self, phrase: NamePhrase, scores: list[int], entries: list[int], style: str) -> float:
        words = self.words
        firm = given(entries[0]) >= 3 and scores[0] >= 3
        top, total = max(scores), sum(scores)
        if style == "caps":
            return (
                0.65
                if firm
                and min(scores) >= 5
                and given(entries[0]) >= 4
                and max(map(surname, entries[1:])) >= 3
                and not any(e & (MEDICAL | BRAND | ORGANIZATION) for e in entries)
                else 0.0
            )
        if all(e & PLACE for e in entries) or (entries[0] & PLACE and given(entries[0]) < 5):
            return 0.0
        if len(set(words.lowers[phrase.first : phrase.last])) < phrase.last - phrase.first:
            return 0.0  # "Moya Moya"
        if all(e & EPONYM for e in entries) and not firm:
            return 0.0
        if self._title_case(phrase) and (min(scores) < 4 or top < 6):
            return 0.0
        if firm and max(scores[1:]) >= 3:
            return 0.8
        if (
            firm
            and (scores[1] >= 1 or surname(entries[1]) >= 4)
            and given(entries[0]) >= 4
            and not commonness(entries[0])
        ):
            return 0.7
        if top >= 5 and sum(s >= 4 for s in scores) >= 2:
            return 0.7
        if top >= 6 and total >= 8:
            return 0.6
        if given(entries[0]) >= 5 and surname(entries[1]) >= 5 and self._inside_sentence(phrase.first):
            return 0.55  # two words that are also common names: "by Grace Long"
        flags = MEDICAL | BRAND | ORGANIZATION | PLACE | EPONYM
        acronym = any(words.words[k].isupper() and len(words.words[k]) > 1 for k in range(phrase.first, phrase.last))
        if min(scores) >= 2 and not acronym and not any(commonness(e) or e & flags for e in entries):
            # No list of words or drugs has these capitalized words. So they are a proper name, and a person's if
            # someone acts.
            acts = words.possessive(phrase.last - 1) or words.low(phrase.last) in self.known["after"]
            return 0.55 if total >= 5 or acts else 0.42
        return 0.4 if top >= 4 and total >= 6 else 0.0

    def _title_case(self, phrase: NamePhrase) -> bool:
        """Whether the whole line is in title case, as headings are."""
        words = self.words
        line = words.view.line_of(phrase.start)
        k, small, large = phrase.first, 0, 0
        while k > 0 and words.view.line_of(words.starts[k - 1]) == line and phrase.first - k < 12:
            k -= 1
        while k < words.count and words.view.line_of(words.starts[k]) == line and small + large < 24:
            if len(words.words[k]) > 2 and words.is_word(k):
                small += words.words[k][0].islower()
                large += words.words[k][0].isupper()
            k += 1
        return small == 0 and large >= 3

    def _thing(self, phrase: NamePhrase, parts: list[int]) -> bool:
        """Whether the run names an institution, a place, an eponym or a heading instead of a person."""
        words, last = self.words, phrase.last
        follows = words.low(last)
        spoken = [words.low(phrase.first - 1), *(words.lowers[k] for k in parts), follows]
        if any(f"{a} {b}" in self.known["never"] for a, b in pairwise(spoken)):
            return True
        if words.low(phrase.first - 1) in self.known["saints"] or (
            words.word(phrase.first - 1) == "."
            and words.low(phrase.first - 2) in self.known["saints"]
            and len(words.low(phrase.first - 2)) < 4
        ):
            return True
        if words.gap(last) in (" ", "-", "\n") and follows:
            entry = words.weigh(follows)
            if entry & EPONYM_NOUN and not words.possessive(last - 1):
                return True
            if entry & ORGANIZATION and words.is_capital(last):
                return True
            if (
                words.possessive(last - 1)
                and (entry & (EPONYM_NOUN | MEDICAL))
                and any(words.weigh(words.words[k]) & EPONYM for k in parts)
            ):
                return True
        if (
            follows in ("-", "–", "/")
            and words.gap(last) == ""
            and words.is_capital(last + 1)
            and any(words.weigh(words.words[k]) & EPONYM for k in parts)
        ):
            return True
        if (
            follows == "&"
            or words.word(phrase.first - 1) == "&"
            or (words.word(phrase.first - 1) in ("#", "@", "_", "\\", "^"))
        ):
            return follows == "&" or words.word(phrase.first - 1) != "@"
        written = [words.words[k] for k in parts]
        return any(words.weigh(word) & (MEDICAL | BRAND) and words.nameness(word) < 4 for word in written)

    def _single(self, phrase: NamePhrase, score: int, entry: int, age: bool, initials: bool) -> FoundName | None:
        """A lone capitalized word.

        It is found only in a context for persons, and marked doubtful if that is uncertain.
        """
        words, known = self.words, self.known
        at = phrase.last - 1 if not initials else phrase.first
        word = words.words[phrase.first]
        before, after = words.low(phrase.first - 1), words.low(phrase.last)
        if (
            words.possessive(at)
            and after in known["belongings"]
            and score >= 2
            and not entry & (PLACE | MEDICAL | BRAND)
        ):
            return FoundName(phrase, "PERSON", 0.65, "names.possessive")
        if entry & (EPONYM | PLACE | ORGANIZATION | MEDICAL | BRAND | EPONYM_NOUN) and not (
            given(entry) >= 5 and not entry & (PLACE | MEDICAL | BRAND | ORGANIZATION)
        ):
            return None
        if word.isupper() and len(word) < 7:
            return None
        inside = self._inside_sentence(phrase.first)
        spoken = (
            after in known["after"]
            and words.gap(phrase.last) == " "
            and (
                after not in self.known["weak_verbs"] or not inside or before in known["before"] or before in (",", "(")
            )
        )
        introduced = before in known["before"] and words.gap(phrase.first) == " " and inside
        if (
            after == "of"
            and score >= 4
            and words.low(phrase.last + 1).endswith(("ology", "surgery", "medicine", "iatry"))
        ):
            return FoundName(phrase, "CLINICIAN", 0.6, "names.single")
        person = given(entry) >= 4 or (surname(entry) >= 3 and not commonness(entry))
        if score >= 5 and person and _IN_BED.match(words.text, phrase.end):
            return FoundName(phrase, "PATIENT", 0.65, "names.in-bed")
        if initials and score >= 4 and given(entry) >= 3:
            return FoundName(phrase, "PERSON", 0.65, "names.given-initial")
        if _kin_after().match(words.text, phrase.end) and score >= 2:
            return FoundName(phrase, "RELATIVE", 0.75, "names.kin-after")
        if age and score >= 4 and (given(entry) >= 3 or _NAME_THEN_AGE.match(words.text, phrase.end)):
            return FoundName(phrase, "PERSON", 0.7, "names.age-after")
        if score >= 5 and person and (spoken or (introduced and given(entry) >= 3)) and not entry & EPONYM:
            return FoundName(phrase, "PERSON", 0.65, "names.single")
        named = score >= 4 and (surname(entry) >= 2 or not entry)
        if (named or (score == 2 and before == "saw")) and self._done_by(phrase.first, phrase.last):
            return FoundName(phrase, "PERSON", 0.55, "names.done-by")
        usual = commonness(entry) == 0 or (commonness(entry) == 1 and given(entry) >= 5)
        if usual and score >= 5 and person and not entry & EPONYM and self._set_apart(phrase):
            return FoundName(phrase, "PERSON", 0.6, "names.apart")
        if score >= 7 and given(entry) >= 5 and not entry & EPONYM and (inside or spoken) and "-" not in word:
            return FoundName(phrase, "PERSON", 0.55, "names.single")
        if words.possessive(at) and not entry & EPONYM:
            if after in kinship() and (given(entry) >= 3 or (inside and score >= 2)):
                return FoundName(phrase, "PERSON", 0.7, "names.single")
            if score >= 6 and given(entry) >= 4:
                return FoundName(phrase, "PERSON", 0.55, "names.single")
        if score >= 2 and inside and not commonness(entry) and (introduced or spoken) and len(word) > 3:
            return FoundName(phrase, "PERSON", 0.46 if score >= 4 and introduced else 0.4, "names.doubt")
        return None

    def _set_apart(self, phrase: NamePhrase) -> bool:
        """Whether it is in quotation marks or parentheses, or begins a list item: "NICU (Bui)", "- Nuala"."""
        words = self.words
        before, after = words.word(phrase.first - 1), words.word(phrase.last)
        if before in ('"', "“", "‘", "'") and after in ('"', "”", "’", "'"):
            return True
        if before == "(" and after in (")", "?", ",", "or", "and", "/", "&") and words.is_word(phrase.first - 2):
            return True
        if before in _DASHES or (before in (".", ")") and len(words.word(phrase.first - 2)) <= 2):
            mark = phrase.first - (1 if before in _DASHES else 2)
            while before in _DASHES and words.word(mark - 1) == before:
                mark -= 1
            return "\n" in words.gap(mark) and (
                after in (",", "-", "–", "—", ":", "(") or "\n" in words.gap(phrase.last)
            )
        return False

    def _inside_sentence(self, i: int) -> bool:
        words = self.words
        if i == 0 or "\n\n" in words.gap(i):
            return False
        before = words.words[i - 1]
        if before.lower() in self.known["before"] and words.gap(i) == " " and len(before) > 3:
            return True
        return (
            (before[0].islower() and len(before) > 1)
            or before in (",", "(", '"', "“", "/", "&", "–", "—")
            or before.lower() in ("w",)
        )


@lru_cache(maxsize=1)
def _kin_after() -> re.Pattern[str]:
    """A kinship word after a name: " (wife", ", her eldest daughter"."""
    phrases = "|".join(sorted(map(re.escape, kinship()), key=lambda p: (-len(p), p)))
    whose = "her|his|pt's|patient's|the|my|maternal|paternal|ex|late|older|younger|eldest|youngest"
    return re.compile(rf"[ \t]*[(,][ \t]*(?:(?:{whose})[ -])*(?:{phrases})\b", re.I)
