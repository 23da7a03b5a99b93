"""The contracts of an extraction reply: its text in, mentions out, and what was wrong with it.

Contract 1 (RedactOR §B.1): a JSON object with every type as key and a list of phrases each. Contract 2: types without a
finding are absent, and within a phrase the identifier stands between marks. Either is validated here, whatever the
server promised; what can be mended is mended, and whatever was mended, left out or cut short is told by code.

In an unmarked phrase the identifier is sought by its type, as far as that is certain (`trimmed`): a phrase of contract
1 carries hint words ("Mr. John Smith, the patient"). What surely is none of the identifier is left to the hint; in
doubt a word is taken for the identifier, which costs a clinical word and never a patient.
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
"""The type under which a phrase of an unknown type is sought, so that a person decides."""
_MASK = re.compile(r"\[([A-Za-z][A-Za-z0-9_]*)\]")
_WORD = re.compile(r"\S+")
_LABEL = re.compile(r"\A[A-Za-z][A-Za-z .#/()'-]{0,40}[:#=]\s*(?=\S)")
_DIGIT = re.compile(r"\d")
_ADDRESS_LIKE = re.compile(r"[\w.+%-]+@[\w.-]+\w|\b(?:https?://|www\.)\S+[\w/]")
_EDGES = " \t\r\n,;:.()[]{}\"'\u2018\u2019\u201c\u201d"


@dataclass(frozen=True, slots=True)
class ParsedReply:
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


def read(reply: str, types: Mapping[str, str], contract: Contract, marks: tuple[str, str]) -> ParsedReply:
    """A reply's mentions.

    Args:
        types: what was asked for.
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
    """A composite reply's mentions, text by text (RedactOR §5): an object of objects, under the texts' numbers from 1.

    A number that no text has, or a member that is no object, spoils the whole: nobody knows which text it is about.
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


def trimmed(type: str, phrase: str) -> tuple[int, int]:
    """The identifier's stretch within a phrase; the whole phrase where nothing of it surely is hint."""
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
    """From the first to the last word that has a digit, with what is written in capitals before it ("KDX 688Z").

    All of it where no word has a digit.
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
    """The longest stretch of a phrase between masks of an earlier pass: a mask is hint, never identifier.

    Models quote masks in whatever case they like.
    """
    masks = (m for m in _MASK.finditer(phrase) if m[0].isupper() or m[1].upper() in catalogue())
    edges = [0, *(edge for mask in masks for edge in mask.span()), len(phrase)]
    stretches = zip(edges[::2], edges[1::2], strict=True)
    return max(stretches, key=lambda s: sum(map(str.isalnum, phrase[slice(*s)])))


def _worded(phrase: str, start: int, end: int, *, titles: bool) -> tuple[int, int]:
    """Without the function words and titles at both ends, so long as something stays."""
    words = [m.span() for m in _WORD.finditer(phrase, start, end)]

    def loose(at: int, listed: frozenset[str]) -> bool:
        word = phrase[slice(*words[at])].strip(_EDGES)
        # a capital tells a surname (Dr. The, Mrs. An) from a function word, but for titles
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
    """A list of `words/phrases.toml` of the language."""
    return frozenset(language().table("words", "phrases.toml")[name].split())
