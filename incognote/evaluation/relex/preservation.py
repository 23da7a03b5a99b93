"""Entity preservation rate (RedactOR §A.7): does a surrogate keep the role and the attributes of what it stands for?"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from incognote.evaluation.relex.kinds import (
    bearing,
    gender_of,
    institution,
    is_label,
    is_person,
    locale_of,
    shape,
)
from incognote.evaluation.relex.pairs import Mention, Note
from incognote.relex.cluster.values import age_of
from incognote.relex.generate.values import class_of
from incognote.relex.pools import pools

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+\Z")
_ACRONYM = re.compile(r"(?:[A-Z]\.?){2,8}\Z")
_STREET = re.compile(r"\d+.*[^\W\d_]")
_BANDS = (1, 13, 18, 40, 65, 90)

Verdicts = Mapping[str, bool]
"""By check; a check that does not apply is left out."""


def preserved(mention: Mention) -> Verdicts:
    """What a replaced mention keeps. `role`: it is still the same sort of thing, written the same way. `gender`, `name
    locale`: attributes that the words tell, where the original's do.

    A mention that was not replaced, or whose surrogate is a label, keeps no role.
    """
    if mention.surrogate is None or is_label(mention.surrogate):
        return {"role": False}
    found = {"role": _ROLES.get(mention.group, _same_shape)(mention.words, mention.surrogate)}
    if mention.group == "PERSON":
        for name, told in (("gender", gender_of), ("name locale", locale_of)):
            if before := told(mention.words):
                found[name] = told(mention.surrogate) in (before, "")
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
    """A street with its number stays one; a code keeps its shape; a name in words stays words, and names no person."""
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
    """The same format: digits, words and separators where they stood, a day of one digit like one of two."""
    return _format(before) == _format(after)


def _format(words: str) -> str:
    return re.sub(r"[^\W\d_]+", "w", re.sub(r"(?<!\d)\d{1,2}(?!\d)", "9", re.sub(r"(?<!\d)\d{4}(?!\d)", "9999", words)))


def _age(before: str, after: str) -> bool:
    """The same unit, and the same stage of life."""
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


def judged(notes: list[Note]) -> list[tuple[Note, Mention, Verdicts]]:
    """Every mention with its verdicts."""
    return [(note, mention, preserved(mention)) for note in notes for mention in note.mentions]
