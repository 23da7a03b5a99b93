"""Scripts of recordings: who says what, with identifiers and clinical facts marked (`tests/data/speech/README.md`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from incognote.schemas.catalogue import catalogue

KINDS = ("dialogue", "dictation", "call")
_HEAD = re.compile(r"#\s*(kind|speakers)\s*:\s*(.+)")
_LINE = re.compile(r"([A-Z][A-Z0-9]*):\s*(\|?)\s*(.*)")
_PIECE = re.compile(r"\[\[([A-Z_]+)\|([^\[\]{}]+)\]\]|\{\{([^\[\]{}]+)\}\}|(\[noise\])|(\|)|([^\s\[\]{}|]+)")
_PLAIN = re.compile(r"[^\W_](?:[^\W_]|['\u2019])*|[^\W_]")


@dataclass(frozen=True, slots=True)
class ScriptWord:
    """A word as it is said.

    Args:
        text: letters, digits and apostrophes.
        phrase: the number of its identifier within the script, or None.
        type: the entity type of the identifier.
        fact: whether it belongs to a clinical fact.
        noisy: whether a noise comes before it.
        crossed: whether the next speaker starts at this word, where speakers overlap.
    """

    text: str
    phrase: int | None = None
    type: str = ""
    fact: bool = False
    noisy: bool = False
    crossed: bool = False


@dataclass(frozen=True, slots=True)
class Utterance:
    """What a speaker says at a time.

    Args:
        speaker: the short name, such as `D`.
        interrupts: whether it starts before the utterance before it ends, where speakers overlap.
    """

    speaker: str
    words: tuple[ScriptWord, ...]
    interrupts: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """The script of one recording.

    Args:
        kind: one of `KINDS`.
        speakers: the role of each speaker, by short name.
    """

    kind: str
    speakers: Mapping[str, str]
    utterances: tuple[Utterance, ...]

    @property
    def words(self) -> tuple[ScriptWord, ...]:
        """All words, in order."""
        return tuple(word for utterance in self.utterances for word in utterance.words)


def parsed(text: str) -> Script:
    """Return the script that a file holds.

    Raises:
        ValueError: a line does not fit the format. The message names its number.
    """
    heads: dict[str, str] = {}
    utterances: list[Utterance] = []
    phrases = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        if line.startswith("#"):
            if head := _HEAD.fullmatch(line.strip()):
                heads[head[1]] = head[2]
            continue
        if (match := _LINE.fullmatch(line.strip())) is None:
            raise ValueError(f"line {number}: an utterance begins with its speaker and a colon")
        try:
            words = tuple(_words(match[3], phrases))
        except ValueError as problem:
            raise ValueError(f"line {number}: {problem}") from None
        phrases = max([phrases, *(word.phrase + 1 for word in words if word.phrase is not None)])
        if words:
            utterances.append(Utterance(match[1], words, bool(match[2])))
    speakers = dict(_speaker(each) for each in heads.get("speakers", "").split(",") if each.strip())
    if heads.get("kind") not in KINDS or not speakers:
        raise ValueError(f"the first lines name the kind ({', '.join(KINDS)}) and the speakers")
    if unknown := {each.speaker for each in utterances} - speakers.keys():
        raise ValueError(f"speaker {min(unknown)} is not in the list of speakers")
    return Script(heads["kind"], speakers, tuple(utterances))


def _speaker(written: str) -> tuple[str, str]:
    name, _, role = written.partition("=")
    return name.strip(), role.strip()


def _words(line: str, phrases: int) -> Iterator[ScriptWord]:
    noisy = crossed = False
    at = 0
    for match in _PIECE.finditer(line):
        if line[at : match.start()].strip():
            raise ValueError("marks do not match")
        at = match.end()
        kind, identifier, fact, noise, bar, plain = match.groups()
        noisy, crossed = noisy or bool(noise), crossed or bool(bar)
        if kind is not None and kind not in catalogue():
            raise ValueError(f"there is no entity type {kind}")
        for text in _PLAIN.findall((identifier or fact or plain or "").lower().replace("\u2019", "'")):
            yield ScriptWord(text, phrases if kind else None, kind or "", bool(fact), noisy, crossed)
            noisy = crossed = False
        phrases += bool(kind)
    if line[at:].strip():
        raise ValueError("marks do not match")


_TITLES = {"mr": "mister", "mrs": "missus", "ms": "miz", "dr": "doctor", "st": "saint"}


def sayable(words: tuple[ScriptWord, ...]) -> list[str]:
    """Return the words as a synthesizer must read them: the letter A of a spelled word is no article."""
    said = [_TITLES.get(word.text, word.text) for word in words]
    single = [len(each) == 1 and each.isalpha() for each in said]
    spelled = [False] * len(said)
    for (i, one), (j, other) in pairwise(enumerate(single)):
        if one and other and not {said[i], said[j]} <= {"a", "i"}:
            spelled[i] = spelled[j] = True
    return ["ay" if each == "a" and letter else each for each, letter in zip(said, spelled, strict=True)]
