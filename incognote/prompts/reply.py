"""The contracts of an extraction reply: parse its text into mentions, and report its faults.

Contract 1 (RedactOR §B.1) is a JSON object with every type as key and a list of phrases each. In contract 2, types
without a finding are absent, and within a phrase the identifier is marked. Both are validated here, whatever the server
promised. Faults are repaired if possible. Every repair, omission and early end is reported by a code.

In an unmarked phrase the identifier is located by its type, as far as that is certain (`trimmed`), since a phrase of
contract 1 contains hint words ("Mr. John Smith, the patient"). Words that certainly do not belong to the identifier are
treated as hints. In doubt a word counts as part of the identifier. That may mask a clinical word, but never exposes a
patient.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from incognote.languages import language
from incognote.nouns import Mention
from incognote.prompts.loader import Contract
from incognote.prompts.mending import object_of
from incognote.schemas.catalogue import catalogue

_LETTERED = frozenset({"PERSON", "PROFESSION", "OTHER"})
_NAME = re.compile(r"[^A-Za-z0-9]+")
STRAY = "GUID"
"""The type for a phrase of an unknown type, so that a person decides."""
_MASK = re.compile(r"\[([A-Za-z][A-Za-z0-9_]*)\]")
_WORD = re.compile(r"\S+")
_LABEL = re.compile(r"\A[A-Za-z][A-Za-z .#/()'-]{0,40}[:#=]\s*(?=\S)")
_DIGIT = re.compile(r"\d")
_ADDRESS_LIKE = re.compile(r"[\w.+%-]+@[\w.-]+\w|\b(?:https?://|www\.)\S+[\w/]")
_EDGES = " \t\r\n,;:.()[]{}\"'\u2018\u2019\u201c\u201d"


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """The content of a reply.

    Args:
        mentions: mentions of types that were requested or that the catalogue contains.
        strays: mentions of an unknown type. They have the type STRAY, and are a reason for review wherever they are.
        faults: codes, without a word of the reply: `mended` (not valid JSON), `cut` (it ends early), `shape` (a value
            that is not a list of phrases), `unknown-type`, `marks` (unmarked or unbalanced under contract 2),
            `absent-types` (contract 1 lacks keys), `no-json`.
        usable: a JSON object could be read.
    """

    mentions: tuple[Mention, ...] = field(default=(), repr=False)
    strays: tuple[Mention, ...] = field(default=(), repr=False)
    faults: frozenset[str] = frozenset()
    usable: bool = True

    @property
    def cut(self) -> bool:
        """Whether the reply ends before its object does, so that the rest is unknown."""
        return "cut" in self.faults

    @property
    def worth_asking_again(self) -> bool:
        """Whether a second try may give a better reply."""
        return not self.usable or bool(self.faults & {"cut", "shape", "unknown-type", "absent-types"})


def read(reply: str, types: Mapping[str, str], contract: Contract, marks: tuple[str, str]) -> ParsedReply:
    """Return a reply's mentions.

    Args:
        types: the types that were requested.
        contract: how the reply is written.
        marks: those of the prompt (contract 2).
    """
    faults: set[str] = set()
    said = object_of(reply, faults)
    if said is None:
        return ParsedReply(faults=frozenset(faults | {"no-json"}), usable=False)
    return _reading(said, faults, types, contract, marks)


def read_several(
    reply: str, count: int, types: Mapping[str, str], contract: Contract, marks: tuple[str, str]
) -> list[ParsedReply]:
    """Return a composite reply's mentions, text by text (RedactOR §5).

    It is an object of objects, keyed by text number from 1. An unknown number, or a member that is not an object, makes
    the whole reply unusable, since its text is unknown.
    """
    faults: set[str] = set()
    said = object_of(reply, faults)
    members = {re.sub(r"\D", "", key): value for key, value in (said or {}).items()}
    numbers = [str(i + 1) for i in range(count)]
    spoilt = said is None or len(members) != len(said) or not members.keys() <= set(numbers)
    if spoilt or not all(isinstance(value, dict) for value in members.values()):
        return [ParsedReply(faults=frozenset(faults | {"no-json"}), usable=False)] * count
    return [_reading(members.get(number, {}), set(faults), types, contract, marks) for number in numbers]


def _reading(
    said: Mapping[str, Any], faults: set[str], types: Mapping[str, str], contract: Contract, marks: tuple[str, str]
) -> ParsedReply:
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
    return ParsedReply(tuple(mentions), tuple(strays), frozenset(faults))


def _listed(
    said: Mapping[str, Any], types: Mapping[str, str], faults: set[str]
) -> Iterator[tuple[str, list[str]]]:
    """Yield keys with their phrases.

    A single phrase or number counts as a list of one, but a bare number is not a name.
    """
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
    """Return the type of a key: requested, in the catalogue, or another system's name for one."""
    folded = _NAME.sub("_", key).strip("_").upper()
    if folded in types or folded in catalogue():
        return folded
    return _elsewhere().get(folded)


@cache
def _elsewhere() -> dict[str, str]:
    """Return other systems' names with their types.

    If several types have a name, the first in the catalogue wins, which is the general one.
    """
    names: dict[str, str] = {}
    for name, entity in catalogue().items():
        for other in (entity.i2b2, entity.presidio, entity.aws, entity.azure):
            names.setdefault(_NAME.sub("_", other).upper(), name)
    names.pop("", None)
    return names


def _identifiers(
    phrase: str, type: str, contract: Contract, marks: tuple[str, str], faults: set[str]
) -> Iterator[tuple[int, int, str]]:
    """Yield each identifier of a phrase: start, end, and the phrase without marks."""
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


def trimmed(type: str, phrase: str) -> tuple[int, int]:
    """Return the identifier's range within a phrase; the whole phrase if no part of it is certainly a hint."""
    group = catalogue()[type].group if type in catalogue() else ""
    whole = _stripped(phrase, *_unmasked(phrase))
    if group in ("CONTACT", "ID") and (found := _ADDRESS_LIKE.search(phrase)):
        return found.span()
    start, end = whole
    if label := _LABEL.match(phrase[start:end]):
        start += label.end()
    if group in ("CONTACT", "ID"):
        start, end = _numbered(phrase, start, end)
    else:
        comma = re.search(r",\s+(?=[a-z])", phrase[start:end])
        # a type's name before the comma is a mask that was quoted badly
        if group == "PERSON" and comma and phrase[start:][: comma.start()].strip(_EDGES).upper() not in catalogue():
            end = start + comma.start()
        start, end = _worded(phrase, start, end, titles=group == "PERSON")
    start, end = _stripped(phrase, start, end)
    return (start, end) if start < end else whole if whole[0] < whole[1] else (0, len(phrase))


def _numbered(phrase: str, start: int, end: int) -> tuple[int, int]:
    """Return the range from the first to the last word with a digit, with capitals before it ("KDX 688Z").

    Return the whole range if no word has a digit.
    """
    words = list(_WORD.finditer(phrase, start, end))
    numbered = [at for at, word in enumerate(words) if _DIGIT.search(word.group())]
    if not numbered:
        return start, end
    first, labels = numbered[0], _words("labels")
    while first and (before := words[first - 1].group()).isupper() and before.strip(_EDGES).lower() not in labels:
        first -= 1
    return words[first].start(), words[numbered[-1]].end()


def _unmasked(phrase: str) -> tuple[int, int]:
    """Return the longest range of a phrase between masks of an earlier pass. A mask is a hint, never an identifier.

    Models quote masks in any letter case.
    """
    masks = (m for m in _MASK.finditer(phrase) if m[0].isupper() or m[1].upper() in catalogue())
    edges = [0, *(edge for mask in masks for edge in mask.span()), len(phrase)]
    stretches = zip(edges[::2], edges[1::2], strict=True)
    return max(stretches, key=lambda s: sum(map(str.isalnum, phrase[slice(*s)])))


def _worded(phrase: str, start: int, end: int, *, titles: bool) -> tuple[int, int]:
    """Return the range without function words and titles at both ends, as long as a word remains."""
    words = [m.span() for m in _WORD.finditer(phrase, start, end)]

    def loose(at: int, listed: frozenset[str]) -> bool:
        word = phrase[slice(*words[at])].strip(_EDGES)
        # a capital distinguishes a surname (Dr. The, Mrs. An) from a function word, except for titles
        return word in listed or (titles and word.lower() in _words("titles"))

    first, last = 0, len(words)
    while first < last - 1 and loose(first, _words("leading")):
        first += 1
    while first < last - 1 and loose(last - 1, _words("trailing")):
        last -= 1
    return (words[first][0], words[last - 1][1]) if words else (start, end)


def _stripped(phrase: str, start: int, end: int) -> tuple[int, int]:
    while start < end and phrase[start] in " \t\r\n,;:":
        start += 1
    while end > start and phrase[end - 1] in " \t\r\n,;:":
        end -= 1
    return start, end


@cache
def _words(name: str) -> frozenset[str]:
    """Return a list of `words/phrases.toml` of the language."""
    return frozenset(language().table("words", "phrases.toml")[name].split())
