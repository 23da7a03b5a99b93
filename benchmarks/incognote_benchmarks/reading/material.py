"""The data for the measurements: annotated notes, and a scripted model that answers from their gold.

The script knows the gold. So nothing here measures how well a model finds identifiers, only the cost of findings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from incognote.errors import UsageError
from incognote.evaluation.corpus import CorpusProblem, LabeledSpan, read_gold
from incognote.extraction.chunks import LIGHT
from incognote.llm.base import LanguageModel, Reply, Request
from incognote.nouns import Mention
from incognote.schemas.catalogue import catalogue
from incognote.schemas.policy import Policy
from incognote.text.container import of_text
from incognote_benchmarks.script import Finding, Script, as_asked

GROUPS = ("PERSON", "CONTACT", "PROFESSION", "AGE", "DATE", "ID", "LOCATION")
"""Most obvious first. In RedactOR (§4.7, Figure 2), PERSON, CONTACT and PROFESSION are found early, and DATE, ID and
LOCATION are missed most often in early passes."""
WORDS = 256
"""The chunk size before 23 November 2026, which makes the figures comparable with older ones."""
_HINT = 4  # maximum words on either side of an identifier
_NEXT = re.compile(r"[^\w\n]*\w+")


@dataclass(frozen=True, slots=True)
class Note:
    """A text and its gold: (start, end, type in the policy), in order."""

    id: str
    text: str = field(repr=False)
    gold: tuple[LabeledSpan, ...]

    @property
    def words(self) -> int:
        return len(self.text.split())


def notes(path: Path, policy: Policy) -> list[Note]:
    """Read annotated texts. Of their gold, keep what the policy replaces, under the types that it lists.

    Raises:
        UsageError: the file cannot be read, or one of its documents is not usable.
    """
    made = []
    for document in read_gold(path):
        if isinstance(document, CorpusProblem):
            raise UsageError(f"{path.name}, {document.id}: {document.what}")
        served = (LabeledSpan(label.start, label.end, policy.serves(label.type) or "") for label in document.labels)
        made.append(Note(document.id, document.text, tuple(label for label in served if label.type)))
    if not any(note.gold for note in made) or all(note.gold for note in made):
        raise UsageError(f"{path.name}: needs texts with annotations and texts without")
    return made


def group(type: str) -> str:
    """The evaluation group of a type."""
    return catalogue()[type].group


def light_texts(among: Iterable[Note], least: int = 8) -> list[Note]:
    """The lines of notes that are light texts with at least `least` words, as separate notes without duplicates."""
    made: dict[str, Note] = {}
    for note in among:
        at = 0
        for line in note.text.split("\n"):
            end = at + len(line)
            inside = tuple(
                LabeledSpan(x.start - at, x.end - at, x.type) for x in note.gold if at <= x.start and x.end <= end
            )
            cut = any(x.start < end and at < x.end for x in note.gold if not (at <= x.start and x.end <= end))
            if least <= len(line.split()) <= LIGHT and not cut:
                made.setdefault(line, Note(f"{note.id}:{at}", line, inside))
            at = end + 1
    return list(made.values())


def one_chunk(among: Iterable[Note]) -> list[Note]:
    """The notes that fit in one chunk of every version. A note that is an HL7 message is held, so it is left out."""
    return [note for note in among if note.words <= WORDS and of_text(note.text) is None]


def findings(note: Note) -> list[Finding]:
    """The identifiers that a good reply names, most obvious groups first, in the text's order within each.

    Each phrase has as many neighboring words as it needs to be unique in the note, as both prompts request. A name has
    none.
    """
    order = {name: at for at, name in enumerate(GROUPS)}
    ranked = sorted(note.gold, key=lambda x: (order.get(group(x.type), len(order)), x.start))
    return [(x.type, _phrase(note.text, x), x.start, x.end) for x in ranked]


def _phrase(text: str, label: LabeledSpan) -> str:
    start, end = label.start, label.end
    if group(label.type) == "PERSON":
        return text[start:end]
    for turn in range(2 * _HINT):
        if text.count(text[start:end]) < 2:
            break
        if turn % 2 == 0:
            end = _after(text, end)
        else:
            start = len(text) - _after(text[::-1], len(text) - start)
    return text[start:end]


def _after(text: str, at: int) -> int:
    """The end of the next word in the line, or of the rest of the word at this offset."""
    found = _NEXT.match(text, at)
    return found.end() if found else at


def names_once(mentions: Sequence[Mention], request: Request) -> str:
    """A reply in the request's contract that lists a repeated name once per form, as the prompt requests."""
    return as_asked(list(dict.fromkeys(mentions)), request)


def script(note: Note, at_most: int | None = None) -> Script:
    """A script that answers requests about one note."""
    return Script({note.text: findings(note)}, write=names_once, at_most=at_most)


class Heard:
    """A model that records its requests and replies.

    Attributes:
        said: each request with the text of its reply.
    """

    name = "scripted/model"

    def __init__(self, inner: LanguageModel) -> None:
        self._inner = inner
        self.said: list[tuple[Request, str]] = []

    async def complete(self, request: Request) -> Reply:
        reply = await self._inner.complete(request)
        self.said.append((request, reply.text))
        return reply

    async def aclose(self) -> None:
        await self._inner.aclose()
