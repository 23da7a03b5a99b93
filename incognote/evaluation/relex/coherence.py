"""Contextual coherence (RedactOR §A.7): does a surrogate fit its sentence as naturally as the original did?

It is measured without a language model, by two checks. Does the surrogate agree with the words around it? Would a
reader who knows neither text take it, at its place, for the same kind of thing as the original?

Entity preservation rate (RedactOR §A.7): does a surrogate keep the role and the attributes of the original?
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from incognote.detectors.rules import RulesDetector
from incognote.evaluation.relex.kinds import (
    bearing,
    day_of,
    gender_of,
    institution,
    is_label,
    is_person,
    locale_of,
    shape,
    titles,
)
from incognote.evaluation.relex.pairs import MentionPair, NotePair
from incognote.nouns import Text
from incognote.relex.cluster import group_of
from incognote.relex.cluster.kinship import kin_gender
from incognote.relex.cluster.values import age_of, date_of
from incognote.relex.generate.values import class_of
from incognote.relex.names.parsed import key, words
from incognote.relex.pools import pools
from incognote.text.lexicon import fold

Verdicts = Mapping[str, bool]
Found = Sequence[tuple[int, int, str]]
"""Start, end, and group of everything that a reader takes for an identifier."""
Reader = Callable[[Sequence[str]], list[Found]]

_BEFORE = 40
_ARTICLE = re.compile(r"\b(an?)\s+\Z", re.IGNORECASE)
_LAST = re.compile(r"([^\W\d_]+)\.?\s+\Z")
_NEXT = re.compile(r"\s+([^\W\d_]+)")
_EDGES = re.compile(r"\A[^\W\d_]+|[^\W\d_]+\Z")
_KIN = re.compile(r"\b(?:his|her|the|patient's|pt's)\s+([\w-]+),?\s+\Z", re.IGNORECASE)
_WEEKDAY = re.compile(r"\b(mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s*\Z", re.IGNORECASE)
_WEEKDAY_IN = re.compile(r"\A(mon|tue|wed|thu|fri|sat|sun)[a-z]*\b", re.IGNORECASE)
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MUTE = re.compile(r"(?:hon|hour|heir)|(?:8|11(?!\d)|18(?!\d))|[aeiou](?!uro)", re.IGNORECASE)
_SPOKEN = re.compile(r"(?:uni(?!n)|use|eu|one|ut)|1(?!1\b|8\b)", re.IGNORECASE)


def rules_reader(texts: Sequence[str]) -> list[Found]:
    """The spans that the embedded rules find in each text."""
    detector = RulesDetector()
    return [[(s.start, s.end, group_of(s.type)) for s in found] for found in detector.detect([Text(t) for t in texts])]


def coherent(notes: Sequence[NotePair], reader: Reader = rules_reader) -> list[tuple[NotePair, MentionPair, Verdicts]]:
    """Every replaced mention with its verdicts. A check is made only if the original passes it.

    `reader`: the new note's mention is recognized as its kind (person, institution, place, number, day, …), as the
    original was in the old note. `gender`: it agrees with the title or kin word before it. `article`: "a" or "an"
    before it fits. `weekday`: the weekday next to a date is the date's. `whole`: it is not a label, no word is doubled,
    brackets are closed, and it has a capital if the original had one.
    """
    before, after = reader([n.before for n in notes]), reader([n.after for n in notes])
    return [
        (note, mention, _verdicts(note, mention, before[at], after[at]))
        for at, note in enumerate(notes)
        for mention in note.mentions
        if mention.surrogate is not None
    ]


def _verdicts(note: NotePair, mention: MentionPair, before: Found, after: Found) -> Verdicts:
    words, surrogate = mention.words, mention.surrogate or ""
    old, new = note.before[: mention.start], note.after[: mention.out_start]
    behind = note.after[mention.out_end :]
    found = {"whole": _whole(words, surrogate, new, behind, note.before[mention.end :], old)}
    if _taken(mention.start, mention.end, mention.group, before):
        found["reader"] = _taken(mention.out_start, mention.out_end, mention.group, after)
    if (article := _ARTICLE.search(old[-_BEFORE:])) and _fits(article.group(1), words):
        found["article"] = _fits(article.group(1), surrogate)
    if mention.group == "PERSON" and (expected := expected_gender(old[-_BEFORE:])) and _named(words) in ("", expected):
        found["gender"] = _named(surrogate) in ("", expected)
    if mention.group == "DATE" and weekday_holds(words, old):
        found["weekday"] = weekday_holds(surrogate, new) is not False
    return found


def _named(words: str) -> str:
    """The gender that a name shows; "" for a single word, which may be a surname (Mrs. Harrison)."""
    return gender_of(words) if len(words.split()) > 1 else ""


def _taken(start: int, end: int, group: str, found: Found) -> bool:
    """Return True if an identifier of the group covers at least half of the place."""
    return any(g == group and 2 * (min(e, end) - max(s, start)) >= end - start for s, e, g in found)


def _whole(words: str, surrogate: str, new: str, behind: str, old_behind: str, old: str) -> bool:
    capital = not words[:1].isupper() or not surrogate[:1].islower()
    closed = all(words.count(c) - words.count(d) == surrogate.count(c) - surrogate.count(d) for c, d in ("()", "[]"))
    doubled = _doubled(surrogate, new, behind) and not _doubled(words, old, old_behind)
    return not is_label(surrogate) and capital and closed and not doubled and bool(surrogate.strip())


def _doubled(words: str, before: str, behind: str) -> bool:
    """Return True if its first or last word is repeated next to it: Dr. Dr. Chang, Mercy Hospital Hospital."""
    edges = [fold(word) for word in _EDGES.findall(words)] or [""]
    last, following = _LAST.search(before[-_BEFORE:]), _NEXT.match(behind)
    if last is not None and "." in last.group() and key(last.group(1)) not in titles():
        last = None  # a sentence ends there
    return bool(edges[0]) and (
        (last is not None and fold(last.group(1)) == edges[0])
        or (following is not None and fold(following.group(1)) == edges[-1])
    )


def _fits(article: str, words: str) -> bool:
    spoken = words.strip().lower()
    vowel = bool(_MUTE.match(spoken)) and not _SPOKEN.match(spoken)
    return vowel == (article.lower() == "an")


def expected_gender(before: str) -> str:
    """The gender shown by the title or kin word right before, or ""."""
    if (match := _LAST.search(before)) and (word := key(match.group(1))) in titles():
        return "female" if word in words().female else "male" if word in words().male else ""
    match = _KIN.search(before)
    return kin_gender(key(match.group(1))) if match else ""


def weekday_holds(words: str, before: str) -> bool | None:
    """Whether the weekday in or before a full date is right; None if there is no weekday, or no full date."""
    match = _WEEKDAY_IN.match(words) or _WEEKDAY.search(before[-_BEFORE:])
    form = date_of(words)
    if match is None or form[0] != "day" or not form[1]:
        return None
    wanted = _DAYS.index(match.group(1).lower())
    days = (day_of(words, day_first) for day_first in (False, True))
    return any(day is not None and day.weekday() == wanted for day in days)


_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+\Z")
_ACRONYM = re.compile(r"(?:[A-Z]\.?){2,8}\Z")
_STREET = re.compile(r"\d+.*[^\W\d_]")
_BANDS = (1, 13, 18, 40, 65, 90)

"""By check; a check that does not apply is left out."""


def preserved(mention: MentionPair) -> Verdicts:
    """What a replaced mention keeps. `role`: it is still the same kind of thing, written the same way. `gender`, `name
    locale`: attributes shown by the words, checked if the original shows them.

    A mention that was not replaced, or whose surrogate is a label, does not keep its role.
    """
    if mention.surrogate is None or is_label(mention.surrogate):
        return {"role": False}
    found = {"role": _ROLES.get(mention.group, _same_shape)(mention.words, mention.surrogate)}
    if mention.group == "PERSON":
        for name, attribute in (("gender", gender_of), ("name locale", locale_of)):
            if before := attribute(mention.words):
                found[name] = attribute(mention.surrogate) in (before, "")
    return found


def _person(before: str, after: str) -> bool:
    return (is_person(after) or not is_person(before)) and bearing(before) == bearing(after)


def _organization(before: str, after: str) -> bool:
    if kind := institution(before):
        return institution(after) == kind
    return bool(_ACRONYM.match(before)) == bool(_ACRONYM.match(after)) and not institution(after)


def _occupation(before: str, after: str) -> bool:
    return class_of(before, pools()) == class_of(after, pools())


def _place(before: str, after: str) -> bool:
    """A street with its number stays one, a code keeps its shape, and a name in words stays words."""
    if not any(c.isalpha() for c in before):
        return shape(before) == shape(after)
    return bool(_STREET.search(before)) == bool(_STREET.search(after)) and any(c.isalpha() for c in after)


def _contact(before: str, after: str) -> bool:
    if "@" in before:
        return bool(_EMAIL.match(after))
    if any(c.isalpha() for c in before):
        return any(c.isalpha() for c in after) and (":" in before) == (":" in after)
    return re.sub(r"\d", "9", before) == re.sub(r"\d", "9", after)


def _date(before: str, after: str) -> bool:
    """The same format: digits, words, and separators in the same places. Days of one and two digits count as equal."""
    return _format(before) == _format(after)


def _format(words: str) -> str:
    return re.sub(r"[^\W\d_]+", "w", re.sub(r"(?<!\d)\d{1,2}(?!\d)", "9", re.sub(r"(?<!\d)\d{4}(?!\d)", "9999", words)))


def _age(before: str, after: str) -> bool:
    """The same unit and the same stage of life."""
    one, other = age_of(before), age_of(after)
    if "words" in (one[0], other[0]):
        return one[0] == other[0]
    if one[1] != other[1] or one[1] != "year":
        return one[1] == other[1]
    return _band(one[0]) == _band(other[0])


def _band(years: str) -> int:
    return sum(int(years) >= bound for bound in _BANDS) if years.isdecimal() else -1


def _same_shape(before: str, after: str) -> bool:
    return shape(before) == shape(after)


def _other(before: str, after: str) -> bool:
    return True


_ROLES: Mapping[str, Callable[[str, str], bool]] = {
    "PERSON": _person,
    "ORG": _organization,
    "OCCUPATION": _occupation,
    "PLACE": _place,
    "CONTACT": _contact,
    "ID": _same_shape,
    "DATE": _date,
    "AGE": _age,
    "OTHER": _other,
}


def judged(notes: list[NotePair]) -> list[tuple[NotePair, MentionPair, Verdicts]]:
    """Every mention with its verdicts from `preserved`."""
    return [(note, mention, preserved(mention)) for note in notes for mention in note.mentions]
