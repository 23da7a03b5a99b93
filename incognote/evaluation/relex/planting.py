"""Put original mentions back into the new notes, as if detection had overlooked them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

from incognote.evaluation.relex.pairs import MentionPair, NotePair

By = Literal["mention", "identity"]
"""The unit that is put back: one mention, or every mention of an identity in a note."""
GROUPS = ("PERSON", "ORG", "PLACE", "CONTACT", "ID", "DATE")
"""The groups that are put back. Ages and occupations are left out, because they do not point to one person."""


@dataclass(frozen=True, slots=True)
class PlantedNote:
    """A new note with some originals in it, its replaced mentions, and the start and end of each in its text."""

    note: NotePair = field(repr=False)
    text: str = field(repr=False)
    mentions: tuple[MentionPair, ...]
    places: tuple[tuple[int, int], ...]


def replaced(note: NotePair) -> list[MentionPair]:
    """The mentions whose surrogate is in the new note. If several share one place, only the first one counts."""
    places = {m.out_start: m for m in reversed(note.mentions) if m.surrogate is not None}
    return [places[start] for start in sorted(places)]


def plantable(note: NotePair) -> list[int]:
    """The replaced mentions that can be put back: their borders are exact, and the surrogate differs."""
    return [
        at for at, m in enumerate(replaced(note))
        if m.group in GROUPS and m.how == "exact" and m.surrogate != m.words
    ]  # fmt: skip


def units(note: NotePair, by: By) -> list[list[int]]:
    """The units of a note that can be put back: lists of indices of replaced mentions.

    An identity is left out if one of its mentions cannot be put back, because the note would still hide that mention.
    """
    mentions, can = replaced(note), plantable(note)
    if by == "mention":
        return [[at] for at in can]
    every: dict[str, list[int]] = {}
    for at, mention in enumerate(mentions):
        every.setdefault(mention.gold, []).append(at)
    return [own for own in every.values() if set(own) <= set(can)]


def plant(note: NotePair, back: Collection[int]) -> PlantedNote:
    """The new note with these replaced mentions put back."""
    text, done = "", 0
    places: list[tuple[int, int]] = []
    mentions = tuple(replaced(note))
    for at, mention in enumerate(mentions):
        text += note.after[done : mention.out_start]
        words = mention.words if at in back else note.after[mention.out_start : mention.out_end]
        places.append((len(text), len(text) + len(words)))
        text, done = text + words, mention.out_end
    return PlantedNote(note, text + note.after[done:], mentions, tuple(places))


def overlooked(note: NotePair) -> dict[str, list[str]]:
    """The identities that detection itself overlooked in the note, each with its words."""
    found: dict[str, list[str]] = {}
    for mention in note.mentions:
        if mention.how == "missed" and mention.group in GROUPS:
            found.setdefault(mention.gold, []).append(mention.words)
    return found


def visible(planted: PlantedNote, back: Sequence[int]) -> int:
    """How many different things a reader of the planted note can suspect."""
    seen = {(m.gold, at in back) for at, m in enumerate(planted.mentions) if m.group in GROUPS}
    return len(seen) + len(overlooked(planted.note))


def spread(notes: Sequence[NotePair]) -> list[NotePair]:
    """The notes in rounds of one note per patient. The first round has the first note of the first patient, the second
    note of the second patient, and so on.
    """
    own: dict[str, list[NotePair]] = {}
    for note in notes:
        own.setdefault(note.patient, []).append(note)
    turns = range(max(map(len, own.values()), default=0))
    patients = list(enumerate(own.values()))
    return [notes[(turn + at) % len(notes)] for turn in turns for at, notes in patients if turn < len(notes)]
