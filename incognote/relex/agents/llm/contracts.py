"""The contracts of the agents' replies (RedactOR §B.2): parse a reply, and check it against the question.

JSON syntax is repaired as in extraction. Content never is: if a mention is in two groups, only the model knows which is
right. So the part without faults is accepted, and the rest is asked for again, with its faults.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from incognote.prompts import sendable
from incognote.prompts.mending import object_of

T = TypeVar("T")
QUERY_WORDS = 40
"""The longest query that is asked for. Queries up to 1.5 times as long are accepted."""
_NUMBER = re.compile(r"\s*#?(\d{1,9})\s*(?:[|:.)].*)?", re.DOTALL)
_YES = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}
_LISTED = 20  # numbers or names listed per fault


@dataclass(frozen=True, slots=True)
class ReadReply(Generic[T]):
    """The result of parsing a reply.

    Args:
        value: its content; None if it is unusable as a whole.
        faults: codes, without any words of the reply. `mended` alone is harmless.
        complaint: the faults in our words, for the model, with numbers and names like PERSON_1.
        good: of an unusable reply, the part without a fault; None if there is none.
    """

    value: T | None = field(repr=False)
    faults: frozenset[str] = frozenset()
    complaint: str = ""
    good: T | None = field(default=None, repr=False)


def groups(reply: str, numbers: Mapping[int, str]) -> ReadReply[list[list[int]]]:
    """Parse the groups of a clustering. Each number is in exactly one group, and no group mixes two headings.

    Args:
        numbers: the numbers of the question, each with its heading.
    """
    data, faults = _read(reply)
    if data is None:
        return _unusable(faults)
    parsed: list[list[int]] = []
    for group in _lists(data, faults):
        members = [number for value in group if (number := _number(value)) is not None]
        if len(members) < len(group):
            faults["shape"] = "a group is a list of numbers"
        if members:
            parsed.append(members)
    times = Counter(number for group in parsed for number in group)
    _tell(faults, "twice", [n for n, count in times.items() if count > 1 and n in numbers], "occur more than once")
    _tell(faults, "left-out", [n for n in numbers if n not in times], "are in no group")
    _tell(faults, "invented", [n for n in times if n not in numbers], "are not in the list")
    mixed = [group[0] for group in parsed if len({numbers.get(n, "") for n in group if n in numbers}) > 1]
    _tell(faults, "mixed", mixed, "share a group with mentions of another heading")
    good = [
        group
        for group in parsed
        if all(n in numbers and times[n] == 1 for n in group) and len({numbers[n] for n in group}) == 1
    ]
    return _said(parsed, faults, good)


def queries(reply: str, names: Mapping[str, str]) -> ReadReply[dict[str, str]]:
    """Parse one query for each name, under any heading.

    Args:
        names: the names of the question (PERSON_1), each with its heading.
    """
    data, faults = _read(reply)
    if data is None:
        return _unusable(faults)
    parsed: dict[str, str] = {}
    for key, value in data.items():
        for name, line in value.items() if isinstance(value, dict) else [(key, value)]:
            if not isinstance(line, str):
                faults["shape"] = "a query is a text"
            elif name in parsed:
                faults["twice"] = "an identity occurs more than once"
            else:
                parsed[name] = " ".join(sendable(line).split())
    _named(faults, names, parsed)
    _tell(faults, "empty", [name for name, line in parsed.items() if name in names and not line], "have an empty query")
    long = [n for n, line in parsed.items() if n in names and len(line.split()) > QUERY_WORDS * 3 // 2]
    _tell(faults, "long", long, f"have a query of more than {QUERY_WORDS} words")
    return _said(parsed, faults, {n: line for n, line in parsed.items() if n in names and line and n not in long})


def decisions(reply: str, counts: Mapping[str, int]) -> ReadReply[dict[str, list[bool]]]:
    """Parse one yes or no per hit of each question, in order.

    Args:
        counts: the questions (Q1), each with the number of its hits.
    """
    data, faults = _read(reply)
    if data is None:
        return _unusable(faults)
    parsed: dict[str, list[bool]] = {}
    short: list[str] = []
    for name, listed in data.items():
        answers = [_YES.get(str(value).strip().casefold()) for value in listed] if isinstance(listed, list) else [None]
        known = [answer for answer in answers if answer is not None]
        if len(known) < len(answers):
            faults["shape"] = 'each question has a list of "Y" and "N"'
        elif name in counts and len(known) != counts[name]:
            short.append(name)
        else:
            parsed[name] = known
    _tell(faults, "count", short, "have more or fewer answers than hits")
    _named(faults, counts, {**dict.fromkeys(short), **dict.fromkeys(data)})
    return _said(parsed, faults, {name: known for name, known in parsed.items() if name in counts})


def replacements(
    reply: str, names: Mapping[str, str], amiss: Callable[[Mapping[str, str]], Mapping[str, Sequence[str]]]
) -> ReadReply[dict[str, str]]:
    """Parse one substitute for each name, without repeats.

    Args:
        names: the names of the question (PERSON_1), each with its heading, which the reply repeats as `type`.
        amiss: finds the substitutes that cannot be used: code → names (`replacing.amiss`).
    """
    data, faults = _read(reply)
    if data is None:
        return _unusable(faults)
    parsed: dict[str, str] = {}
    strayed: list[str] = []
    for name, value in data.items():
        words = value.get("replacement") if isinstance(value, dict) else None
        if not isinstance(words, str) or not isinstance(value, dict):
            faults["shape"] = 'each value is an object with "replacement" and "type"'
            continue
        parsed[name] = " ".join(sendable(words).split())
        if name in names and str(value.get("type", "")).strip().upper() != names[name]:
            strayed.append(name)
    _named(faults, names, parsed)
    _tell(faults, "type", strayed, "have another type than the list says")
    _tell(faults, "empty", [name for name, words in parsed.items() if name in names and not words], "are empty")
    usable = {name: words for name, words in parsed.items() if name in names and words and name not in strayed}
    wrong = amiss(usable)
    for code, bad in wrong.items():
        _tell(faults, code, list(bad), _AMISS[code])
    bad_names = {name for bad in wrong.values() for name in bad}
    return _said(parsed, faults, {name: words for name, words in usable.items() if name not in bad_names})


_AMISS = {
    "repeats": "have a substitute that another identity has too, or that was given before",
    "original": "have a substitute that contains a word of an original name",
    "form": "have a substitute in another form than their kind needs",
    "kin": "share a surname, but their substitutes do not",
    "unrelated": "have different surnames and substitutes that share one",
}


def _read(reply: str) -> tuple[dict[str, Any] | None, dict[str, str]]:
    """The reply's object, and its faults with the complaint of each. `mended` has no complaint."""
    codes: set[str] = set()
    data = object_of(reply, codes, once=True)
    complaints = {"cut": "it ends in the middle", "repeated": "a key occurs twice, or there are two objects"}
    faults = {code: complaints.get(code, "") for code in codes}
    if data is None:
        faults["no-json"] = "it is not one JSON object"
    return data, faults


def _unusable(faults: Mapping[str, str]) -> ReadReply[Any]:
    return ReadReply(None, frozenset(faults), "; ".join(what for what in faults.values() if what))


def _said(value: T, faults: Mapping[str, str], good: T) -> ReadReply[T]:
    """The reply: usable as a whole, or only its good part. A reply that ends early or repeats a key has none."""
    if not faults.keys() - {"mended"}:
        return ReadReply(value, frozenset(faults))
    kept = good if good and not faults.keys() & {"cut", "repeated"} else None
    return replace(_unusable(faults), good=kept)


def _lists(data: Mapping[str, Any], faults: dict[str, str]) -> Iterator[list[Any]]:
    """The groups, with or without headings."""
    for value in data.values():
        for group in value.values() if isinstance(value, dict) else [value]:
            if isinstance(group, list):
                yield group
            else:
                faults["shape"] = "each heading has groups, and each group is a list of numbers"


def _number(value: Any) -> int | None:
    """A number, also if written as in the notes (`7|Wilson`)."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    match = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    return int(match.group(1)) if match else None


def _named(faults: dict[str, str], names: Mapping[str, object], found: Mapping[str, object]) -> None:
    _tell(faults, "left-out", [name for name in names if name not in found], "are missing")
    if set(found) - set(names):  # not listed by name: these are the model's own words
        faults["invented"] = "there are identities that are not in the list"


def _tell(faults: dict[str, str], code: str, which: Sequence[int | str], what: str) -> None:
    if which:
        shown = ", ".join(map(str, list(which)[:_LISTED])) + (" and others" if len(which) > _LISTED else "")
        faults[code] = f"{shown} {what}"
