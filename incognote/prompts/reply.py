"""The contracts of an extraction reply: parse its text into mentions, and report its faults.

Contract 1 (RedactOR §B.1) is a JSON object with every type as key and a list of phrases each. In contract 2, types
without a finding are absent, and within a phrase the identifier is marked. Both are validated here, whatever the server
promised. Faults are repaired if possible. Every repair, omission and early end is reported by a code.

A phrase of contract 1 contains hint words ("Mr. John Smith, the patient"), and so may an unmarked phrase of contract 2.
Only words of the language's closed lists are cut from its ends (`trimmed`). Any other word counts as part of the
identifier. That may mask a clinical word, but never exposes a patient.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from incognote.languages import language
from incognote.nouns import Mention
from incognote.prompts.loader import Contract
from incognote.prompts.mending import object_of
from incognote.schemas.catalogue import catalogue

_LETTERED = frozenset({"PERSON", "PROFESSION", "OTHER"})
_NUMBERED = frozenset({"CONTACT", "ID"})
_NAME = re.compile(r"[^A-Za-z0-9]+")
STRAY = "GUID"
"""The type for a phrase of an unknown type, so that a person decides."""
_MASK = re.compile(r"\[([A-Za-z][A-Za-z0-9_]*)\]")
_TOKEN = re.compile(r"\[[A-Za-z][A-Za-z0-9_]*\]|(?:(?!\[[A-Za-z][A-Za-z0-9_]*\])\S)+")
_LABEL_END = re.compile(r"[:#=]")
_LABEL_WORDS = 6  # the maximum number of words of a label
_DIGIT = re.compile(r"\d")
_EDGES = " \t\r\n,;:.()[]{}\"'\u2018\u2019\u201c\u201d#="


def most_phrases(text: str) -> int:
    """Return the maximum number of phrases in a usable reply about a text. With more, the model repeats itself."""
    return 50 + len(text) // 2


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """The content of a reply.

    Args:
        mentions: mentions of types that were requested or that the catalogue contains.
        strays: mentions of an unknown type. They have the type STRAY, and are a reason for review wherever they are.
        faults: codes, without a word of the reply: `mended` (not valid JSON), `cut` (it ends early), `shape` (a value
            that is not a list of phrases), `unknown-type`, `marks` (unmarked or unbalanced under contract 2),
            `absent-types` (contract 1 lacks keys), `no-json`, `declined` (a refusal), `flood` (too many phrases).
        usable: a JSON object could be read.
        unmarked: the types of phrases without marks, or with unbalanced ones, under contract 2.
    """

    mentions: tuple[Mention, ...] = field(default=(), repr=False)
    strays: tuple[Mention, ...] = field(default=(), repr=False)
    faults: frozenset[str] = frozenset()
    usable: bool = True
    unmarked: tuple[str, ...] = ()

    @property
    def declined(self) -> bool:
        """Whether the reply is a refusal in words."""
        return "declined" in self.faults

    @property
    def cut(self) -> bool:
        """Whether the reply ends before its object does, so that the rest is unknown."""
        return "cut" in self.faults

    @property
    def worth_asking_again(self) -> bool:
        """Whether a second try may give a better reply."""
        return not self.usable or bool(self.faults & {"cut", "shape", "unknown-type", "absent-types", "marks"})


def read(reply: str, text: str, types: Mapping[str, str], contract: Contract, marks: tuple[str, str]) -> ParsedReply:
    """Return a reply's mentions.

    Args:
        text: the text that it is about.
        types: the types that were requested.
        contract: how the reply is written.
        marks: those of the prompt (contract 2).
    """
    faults: set[str] = set()
    said = object_of(reply, faults, longest=_longest(text))
    if said is None:
        return _unusable(faults, "no-json")
    return _reading(said, text, faults, types, contract, marks)


def _longest(text: str) -> int:
    return 100_000 + 50 * len(text)


def _unusable(faults: set[str], code: str) -> ParsedReply:
    return ParsedReply(faults=frozenset(faults | {code}), usable=False)


def read_several(
    reply: str, texts: Sequence[str], types: Mapping[str, str], contract: Contract, marks: tuple[str, str]
) -> list[ParsedReply]:
    """Return a composite reply's mentions, text by text (RedactOR §5).

    It is an object of objects, keyed by text number from 1. An unknown number, or a member that is not an object, makes
    the whole reply unusable, since its text is unknown.
    """
    faults: set[str] = set()
    said = object_of(reply, faults, longest=_longest("".join(texts)))
    members = {re.sub(r"\D", "", key): value for key, value in (said or {}).items()}
    numbers = [str(i + 1) for i in range(len(texts))]
    spoilt = said is None or len(members) != len(said) or not members.keys() <= set(numbers)
    if spoilt or not all(isinstance(value, dict) for value in members.values()):
        return [_unusable(faults, "no-json")] * len(texts)
    return [
        _reading(members.get(number, {}), text, {*faults, "shared"}, types, contract, marks)
        for number, text in zip(numbers, texts, strict=True)
    ]


def _reading(
    said: Mapping[str, Any], text: str, faults: set[str],
    types: Mapping[str, str], contract: Contract, marks: tuple[str, str],
) -> ParsedReply:  # fmt: skip
    mentions: list[Mention] = []
    strays: list[Mention] = []
    unmarked: list[str] = []
    listed = list(_listed(said, types, faults))
    if sum(len(phrases) for _, phrases in listed) > most_phrases(text):
        return _unusable(faults, "flood")
    for key, phrases in listed:
        known = _type(key, types)
        if known is None:
            faults.add("unknown-type" if phrases else "unknown-key")
        for phrase in phrases:
            whole, found, marked = _identifiers(phrase, known or STRAY, contract, marks)
            (mentions if known else strays).extend(Mention(known or STRAY, whole, *each) for each in found)
            if not marked:
                faults.add("marks")
                unmarked.append(known or STRAY)
    if contract == 1 and not types.keys() <= {_type(key, types) for key in said}:
        faults.add("absent-types")
    return ParsedReply(tuple(mentions), tuple(strays), frozenset(faults), unmarked=tuple(unmarked))


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
    phrase: str, type: str, contract: Contract, marks: tuple[str, str]
) -> tuple[str, list[tuple[int, int]], bool]:
    """Return a phrase without marks, the ranges of its identifiers, and whether they were marked properly."""
    if contract == 1:
        return phrase, [trimmed(type, phrase)], True
    opening, closing = marks
    clear: list[str] = []
    found: list[tuple[int, int]] = []
    length, begun, paired = 0, -1, True
    for piece in re.split(f"({re.escape(opening)}|{re.escape(closing)})", phrase):
        if piece == opening:
            paired = paired and begun < 0
            begun = length
        elif piece == closing:
            paired = paired and begun >= 0
            found.append((begun, length))
            begun = -1
        else:
            clear.append(piece)
            length += len(piece)
    text = "".join(clear)
    found = [(start, end) for start, end in found if text[max(start, 0) : end].strip()]
    if paired and begun < 0 and found:
        return text, found, True
    return text, [trimmed(type, text)] if text.strip() else [], False  # the identifier may be outside the marks


def trimmed(type: str, phrase: str) -> tuple[int, int]:
    """Return the range of a phrase without the hint words at its ends; the whole phrase if it has only such words.

    Only masks of an earlier pass, labels, titles, and function words of the closed lists are cut. Any other word may be
    the identifier or a part of it.
    """
    group = catalogue()[type].group if type in catalogue() else ""
    tokens = [m.span() for m in _TOKEN.finditer(phrase)]
    first, last = 0, len(tokens)
    numbers = (at for at in reversed(range(last)) if group in _NUMBERED and _DIGIT.search(phrase[slice(*tokens[at])]))
    number = next(numbers, 0)
    while first < last:
        begin = _after_hint(phrase, tokens[first : first + _LABEL_WORDS], group, numbered=first < number)
        if begin is None:
            break
        while first < last and tokens[first][1] <= begin:
            first += 1
        if first < last and tokens[first][0] < begin:
            tokens[first] = begin, tokens[first][1]
    while last > first and _is_hint(phrase[slice(*tokens[last - 1])], "trailing", group):
        last -= 1
    if first < last:
        start, end = _stripped(phrase, tokens[first][0], tokens[last - 1][1])
        if any(map(str.isalnum, phrase[start:end])):
            return start, end
    start, end = _stripped(phrase, 0, len(phrase))
    return (start, end) if start < end else (0, len(phrase))


def _after_hint(phrase: str, tokens: Sequence[tuple[int, int]], group: str, *, numbered: bool) -> int | None:
    """Return where the text after the hint at the start of these tokens begins; None if no hint is there.

    A label is one or more words of the closed list up to a colon, a number sign, or an equals sign ("Date of birth:").
    Before a number it needs no sign ("MRN 123").
    """
    words = _labels(group)
    for start, end in tokens:
        token = phrase[start:end]
        stop = _LABEL_END.search(token)
        label = token[: stop.start()] if stop else token
        if not (_plain(label) in words or (stop and not label and start > tokens[0][0])):
            break
        if stop:
            return start + stop.end()
    token = phrase[slice(*tokens[0])]
    labels = numbered and not _DIGIT.search(token) and _plain(token) in words
    return tokens[0][1] if labels or _is_hint(token, "leading", group) else None


def _is_hint(token: str, listed: Literal["leading", "trailing"], group: str) -> bool:
    """Whether a word at an end of a phrase cannot be part of an identifier.

    A capital distinguishes a surname (Dr. The, Mrs. An) from a function word, except for titles. In lower case, some
    function words are also names ("an nguyen").
    """
    word = token.strip(_EDGES)
    if not any(map(str.isalnum, token)):
        return True
    if (mask := _MASK.fullmatch(token)) and mask[1].upper() in catalogue():
        return True
    if group == "PERSON":
        if word.lower() in _words("titles"):
            return True
        return word in _words(listed) and word not in _words("also_names")
    return word in _words(listed)


def _plain(word: str) -> str:
    return word.strip(_EDGES).lower()


@cache
def _labels(group: str) -> frozenset[str]:
    """Return the words of labels before an identifier of a group. Some labels, such as "ward", are also surnames."""
    own = _words("labels_of_people") | _words("titles")
    return (own if group == "PERSON" else own | _words("labels")) | _words("leading") - _words("also_names")


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
