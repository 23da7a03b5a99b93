"""The contracts of the agents' replies (RedactOR §B.2): read and checked against what was asked, or told what is amiss.

JSON is mended as an extraction's is; what is said in it never: of a mention in two groups nobody but the model knows
which is right. So a reply is taken whole or asked for again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from incognote.prompts import sendable
from incognote.prompts.mending import object_of

T = TypeVar("T")
QUERY_WORDS = 40
"""The longest query that is asked for; half as much again is taken."""
_NUMBER = re.compile(r"\s*#?(\d{1,9})\s*(?:[|:.)].*)?", re.DOTALL)
_YES = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}
_TOLD = 20  # numbers or names told of one fault


@dataclass(frozen=True, slots=True)
class ReadReply(Generic[T]):
    """What a reply amounts to.

    Args:
        value: what it says; None where it cannot be used.
        faults: codes, without a word of the reply: `mended` alone does no harm.
        complaint: what is amiss, told to the model in our words, by numbers and by names such as PERSON_1.
    """

    value: T | None = field(repr=False)
    faults: frozenset[str] = frozenset()
    complaint: str = ""


def groups(reply: str, numbers: Mapping[int, str]) -> ReadReply[list[list[int]]]:
    """The groups of a clustering: each number in exactly one, and no group with numbers of two headings.

    Args:
        numbers: what was asked about, each with its heading.
    """
    said, faults = _read(reply)
    if said is None:
        return _unusable(faults)
    found: list[list[int]] = []
    for group in _lists(said, faults):
        members = [number for value in group if (number := _number(value)) is not None]
        if len(members) < len(group):
            faults["shape"] = "a group is a list of numbers"
        if members:
            found.append(members)
    times = Counter(number for group in found for number in group)
    _tell(faults, "twice", [n for n, count in times.items() if count > 1 and n in numbers], "stand more than once")
    _tell(faults, "left-out", [n for n in numbers if n not in times], "stand in no group")
    _tell(faults, "invented", [n for n in times if n not in numbers], "are not in the list")
    mixed = [group[0] for group in found if len({numbers.get(n, "") for n in group if n in numbers}) > 1]
    _tell(faults, "mixed", mixed, "share a group with mentions of another heading")
    return _said(found, faults)


def queries(reply: str, names: Mapping[str, str]) -> ReadReply[dict[str, str]]:
    """A query for each name, whatever heading it stands under.

    Args:
        names: what was asked about (PERSON_1), each with its heading.
    """
    said, faults = _read(reply)
    if said is None:
        return _unusable(faults)
    found: dict[str, str] = {}
    for key, value in said.items():
        for name, line in value.items() if isinstance(value, dict) else [(key, value)]:
            if not isinstance(line, str):
                faults["shape"] = "a query is a text"
            elif name in found:
                faults["twice"] = "an identity stands more than once"
            else:
                found[name] = " ".join(sendable(line).split())
    _named(faults, names, found)
    _tell(faults, "empty", [name for name, line in found.items() if name in names and not line], "have an empty query")
    long = [n for n, line in found.items() if n in names and len(line.split()) > QUERY_WORDS * 3 // 2]
    _tell(faults, "long", long, f"have a query of more than {QUERY_WORDS} words")
    return _said(found, faults)


def decisions(reply: str, count: int) -> ReadReply[list[bool]]:
    """One yes or no per hit, in their order."""
    said, faults = _read(reply)
    if said is None:
        return _unusable(faults)
    listed = said.get("result")
    if set(said) != {"result"} or not isinstance(listed, list):
        faults["shape"] = 'the object has one key, "result", with a list'
        return _said([], faults)
    answers = [_YES.get(str(value).strip().casefold()) for value in listed if isinstance(value, str | bool)]
    made = [answer for answer in answers if answer is not None]
    if len(made) < len(listed):
        faults["shape"] = 'each answer is "Y" or "N"'
    if len(listed) != count:
        faults["count"] = f"there are {count} hits and {len(listed)} answers"
    return _said(made, faults)


def replacements(
    reply: str, names: Mapping[str, str], amiss: Callable[[Mapping[str, str]], Mapping[str, Sequence[str]]]
) -> ReadReply[dict[str, str]]:
    """A substitute for each name, none of them twice.

    Args:
        names: what was asked about (PERSON_1), each with its heading, which the reply repeats as `type`.
        amiss: which substitutes cannot be used: code → names (`replacing.amiss`).
    """
    said, faults = _read(reply)
    if said is None:
        return _unusable(faults)
    found: dict[str, str] = {}
    strayed: list[str] = []
    for name, value in said.items():
        words = value.get("replacement") if isinstance(value, dict) else None
        if not isinstance(words, str) or not isinstance(value, dict):
            faults["shape"] = 'each value is an object with "replacement" and "type"'
            continue
        found[name] = " ".join(sendable(words).split())
        if name in names and str(value.get("type", "")).strip().upper() != names[name]:
            strayed.append(name)
    _named(faults, names, found)
    _tell(faults, "type", strayed, "have another type than the list says")
    _tell(faults, "empty", [name for name, words in found.items() if name in names and not words], "are empty")
    for code, bad in amiss({name: words for name, words in found.items() if name in names and words}).items():
        _tell(faults, code, list(bad), _AMISS[code])
    return _said(found, faults)


_AMISS = {
    "repeats": "have a substitute that another one has too, or that was given before",
    "original": "have a substitute with a word of an original name in it",
    "form": "have a substitute that is not written as was asked for their kind",
    "kin": "share a surname and have substitutes that do not",
    "unrelated": "have different surnames and substitutes that share one",
}


def _read(reply: str) -> tuple[dict[str, Any] | None, dict[str, str]]:
    """The reply's object, and its faults with what is told of them; `mended` is told to nobody."""
    codes: set[str] = set()
    said = object_of(reply, codes, once=True)
    told = {"cut": "it ends in the middle", "repeated": "a key stands twice, or there are two objects"}
    faults = {code: told.get(code, "") for code in codes}
    if said is None:
        faults["no-json"] = "it is not one JSON object"
    return said, faults


def _unusable(faults: Mapping[str, str]) -> ReadReply[Any]:
    return ReadReply(None, frozenset(faults), "; ".join(what for what in faults.values() if what))


def _said(value: T, faults: Mapping[str, str]) -> ReadReply[T]:
    if not faults.keys() - {"mended"}:
        return ReadReply(value, frozenset(faults))
    return _unusable(faults)


def _lists(said: Mapping[str, Any], faults: dict[str, str]) -> Iterator[list[Any]]:
    """The groups, under their headings or without."""
    for value in said.values():
        for group in value.values() if isinstance(value, dict) else [value]:
            if isinstance(group, list):
                yield group
            else:
                faults["shape"] = "under a heading stand groups, and each is a list of numbers"


def _number(value: Any) -> int | None:
    """A number, also where it was written as in the notes (`7|Wilson`)."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    match = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    return int(match.group(1)) if match else None


def _named(faults: dict[str, str], names: Mapping[str, str], found: Mapping[str, str]) -> None:
    _tell(faults, "left-out", [name for name in names if name not in found], "are missing")
    if set(found) - set(names):  # not told by name: it is the model's own words
        faults["invented"] = "there are identities that are not in the list"


def _tell(faults: dict[str, str], code: str, which: Sequence[int | str], what: str) -> None:
    if which:
        shown = ", ".join(map(str, list(which)[:_TOLD])) + (" and others" if len(which) > _TOLD else "")
        faults[code] = f"{shown} {what}"
