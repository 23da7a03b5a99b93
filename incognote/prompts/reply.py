"""The contracts of an extraction reply: its text in, mentions out, and what was wrong with it.

Contract 1 (RedactOR §B.1): a JSON object with every type as key and a list of phrases each. Contract 2: types without a
finding are absent, and within a phrase the identifier stands between marks. Either is validated here, whatever the
server promised; what can be mended is mended, and whatever was mended, left out or cut short is told by code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from incognote.errors import MissingExtra
from incognote.nouns import Mention
from incognote.prompts.loader import Contract
from incognote.prompts.trim import trimmed
from incognote.schemas.catalogue import catalogue

# An object without a phrase beside such words is a refusal, not the answer that there is nothing.
_DECLINED = re.compile(
    r"\bsorry\b|\bapologi[sz]e|"
    r"(?:\bcan(?:['\u2019]?t| ?not)|\bwon['\u2019]?t|\b(?:unable|not (?:able|allowed|permitted|comfortable)) to)"
    r"\s+(?:\w+\s+){0,2}(?:help|assist|process|comply|provide|share|extract|answer|fulfil|handle|continue|do)\b",
    re.IGNORECASE,
)
_DEEPEST = 16  # levels of a reply; the contracts need three
_LETTERED = frozenset({"PERSON", "PROFESSION", "OTHER"})
_NAME = re.compile(r"[^A-Za-z0-9]+")
STRAY = "GUID"
"""The type under which a phrase of an unknown type is sought, so that a person decides."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply amounts to.

    Args:
        mentions: found, of types that were asked for or that the catalogue knows.
        strays: found under a type nobody knows; typed STRAY, and a reason for review wherever they stand.
        faults: codes, without a word of the reply: `mended` (not JSON as it came), `cut` (it ends in the middle),
            `shape` (a value that is no list of phrases), `unknown-type`, `marks` (unmarked or unbalanced under
            contract 2), `absent-types` (contract 1 lacks keys), `no-json`.
        usable: a JSON object could be read at all.
    """

    mentions: tuple[Mention, ...] = field(default=(), repr=False)
    strays: tuple[Mention, ...] = field(default=(), repr=False)
    faults: frozenset[str] = frozenset()
    usable: bool = True

    @property
    def cut(self) -> bool:
        """The reply ends before its object does: what was to come is unknown."""
        return "cut" in self.faults

    @property
    def worth_asking_again(self) -> bool:
        """A second try may say more than this one does."""
        return not self.usable or bool(self.faults & {"cut", "shape", "unknown-type", "absent-types"})


def read(reply: str, types: Mapping[str, str], contract: Contract, marks: tuple[str, str]) -> Reading:
    """A reply's mentions.

    Args:
        types: what was asked for.
        contract: how the reply is written.
        marks: those of the prompt (contract 2).
    """
    faults: set[str] = set()
    said = _object(reply, faults)
    if said is None:
        return Reading(faults=frozenset(faults | {"no-json"}), usable=False)
    return _reading(said, faults, types, contract, marks)


def read_several(
    reply: str, count: int, types: Mapping[str, str], contract: Contract, marks: tuple[str, str]
) -> list[Reading]:
    """A composite reply's mentions, text by text (RedactOR §5): an object of objects, under the texts' numbers from 1.

    A number that no text has, or a member that is no object, spoils the whole: nobody knows which text it is about.
    """
    faults: set[str] = set()
    said = _object(reply, faults)
    members = {re.sub(r"\D", "", key): value for key, value in (said or {}).items()}
    numbers = [str(i + 1) for i in range(count)]
    spoilt = said is None or len(members) != len(said) or not members.keys() <= set(numbers)
    if spoilt or not all(isinstance(value, dict) for value in members.values()):
        return [Reading(faults=frozenset(faults | {"no-json"}), usable=False)] * count
    return [_reading(members.get(number, {}), set(faults), types, contract, marks) for number in numbers]


def _reading(
    said: Mapping[str, Any], faults: set[str], types: Mapping[str, str], contract: Contract, marks: tuple[str, str]
) -> Reading:
    mentions: list[Mention] = []
    strays: list[Mention] = []
    for key, phrases in _listed(said, types, faults):
        known = _type(key, types)
        if known is None and phrases:
            faults.add("unknown-type")
        for phrase in phrases:
            for start, end, text in _identifiers(phrase, known or STRAY, contract, marks, faults):
                (mentions if known else strays).append(Mention(known or STRAY, text, start, end))
    if contract == 1 and not types.keys() <= {_type(key, types) for key in said}:
        faults.add("absent-types")
    return Reading(tuple(mentions), tuple(strays), frozenset(faults))


def _object(reply: str, faults: set[str]) -> dict[str, Any] | None:
    """The JSON object of a reply: as it is, out of its fence or prose, or mended; of several, what all of them say.

    A first object may be an example or a draft (`{}` among echoed instructions), so none speaks for the others.
    """
    try:
        said = json.loads(reply, object_pairs_hook=_merged)
        return said if isinstance(said, dict) else None
    except (ValueError, RecursionError):
        faults.add("mended")
    found: list[dict[str, Any]] = []
    prose: list[str] = []
    at = 0
    while (begin := reply.find("{", at)) >= 0:
        prose.append(reply[at:begin])
        one, at = _next(reply, begin, faults)
        if one is not None:
            found.append(one)
    prose.append(reply[at:])
    if not any(value for one in found for value in one.values()) and _DECLINED.search(" ".join(prose)):
        return None
    return _merged([pair for one in found for pair in one.items()]) if found else None


def _next(reply: str, begin: int, faults: set[str]) -> tuple[dict[str, Any] | None, int]:
    """What the brace at `begin` opens, if that is an object, and where it ends."""
    try:
        one, end = _DECODER.raw_decode(reply, begin)
        return (one if isinstance(one, dict) else None), end
    except (ValueError, RecursionError):
        pass  # not JSON as it stands: it is mended below
    closed, deepest = _closed(reply, begin)
    end = len(reply) if closed is None else closed
    if closed is None:
        faults.add("cut")
    if deepest > _DEEPEST:  # a model that runs wild; to mend it takes seconds and gives nothing
        return None, end
    try:
        from json_repair import loads
    except ImportError:
        raise MissingExtra("llm", "mending a model's reply") from None
    try:
        one = loads(reply[begin:end].removesuffix("```"), skip_json_loads=True)
    except (ValueError, RecursionError):
        return None, end
    return (one if isinstance(one, dict) and all(isinstance(key, str) for key in one) else None), end


def _merged(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose repeated keys keep what all their values say."""
    made: dict[str, Any] = {}
    for key, value in pairs:
        made[key] = _both(made[key], value) if key in made else value
    return made


def _both(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, dict) and isinstance(other, dict):
        return _merged([*one.items(), *other.items()])
    return [*(one if isinstance(one, list) else [one]), *(other if isinstance(other, list) else [other])]


_DECODER = json.JSONDecoder(object_pairs_hook=_merged)


def _closed(text: str, begin: int) -> tuple[int | None, int]:
    """Where the object that begins there ends, by its braces outside strings, None where not; and how deep it is."""
    depth, deepest, quoted, escaped = 0, 0, False, False
    for at in range(begin, len(text)):
        char = text[at]
        if quoted:
            quoted = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            quoted = True
        elif char in "{[":
            depth += 1
            deepest = max(depth, deepest)
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return at + 1, deepest
    return None, deepest


def _listed(
    said: Mapping[str, Any], types: Mapping[str, str], faults: set[str]
) -> Iterator[tuple[str, list[str]]]:
    """Keys with their phrases; a lone phrase or number counts as a list of one, but no bare number is a name."""
    for key, value in said.items():
        values = value if isinstance(value, list) else [] if value is None else [value]
        type_ = _type(key, types)
        named = type_ is not None and type_ in catalogue() and catalogue()[type_].group in _LETTERED
        shapes = str if named else (str, int, float)
        phrases = [str(v) for v in values if isinstance(v, shapes) and not isinstance(v, bool)]
        if len(phrases) != len(values):
            faults.add("shape")
        yield key, [phrase for phrase in phrases if phrase.strip()]


def _type(key: str, types: Mapping[str, str]) -> str | None:
    """The type a key means: asked for, in the catalogue, or another system's name for one."""
    folded = _NAME.sub("_", key).strip("_").upper()
    if folded in types or folded in catalogue():
        return folded
    return _elsewhere().get(folded)


@cache
def _elsewhere() -> dict[str, str]:
    """Other systems' names and the type each means: of several the catalogue's first, the general before the fine."""
    names: dict[str, str] = {}
    for name, entity in catalogue().items():
        for other in (entity.i2b2, entity.presidio, entity.aws, entity.azure):
            names.setdefault(_NAME.sub("_", other).upper(), name)
    names.pop("", None)
    return names


def _identifiers(
    phrase: str, type: str, contract: Contract, marks: tuple[str, str], faults: set[str]
) -> Iterator[tuple[int, int, str]]:
    """Each identifier of a phrase: start, end, and the phrase without marks."""
    if contract == 1:
        yield (*trimmed(type, phrase), phrase)
        return
    opening, closing = marks
    clear: list[str] = []
    found: list[tuple[int, int]] = []
    length, begun = 0, -1
    for piece in re.split(f"({re.escape(opening)}|{re.escape(closing)})", phrase):
        if piece == opening:
            begun = length
        elif piece == closing:
            if begun >= 0:
                found.append((begun, length))
            begun = -1
        else:
            clear.append(piece)
            length += len(piece)
    text = "".join(clear)
    found = [(start, end) for start, end in found if text[start:end].strip()]
    if begun >= 0 or not found:
        faults.add("marks")
    if text.strip() and not found:
        found = [trimmed(type, text)]
    for start, end in found:
        yield start, end, text
