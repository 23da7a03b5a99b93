"""A recording as a document: its text is what was said, and each stretch of it has a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO

from incognote.errors import AccountingError, MalformedRecord, UnsupportedFormat
from incognote.formats.audio.checking import verify
from incognote.formats.audio.hearing import heard, hearing
from incognote.formats.audio.judge import findings
from incognote.formats.audio.quality import is_poor
from incognote.formats.audio.transcript import Transcript, transcript
from incognote.formats.base import (
    Change,
    Document,
    Edit,
    Finding,
    Place,
    Pointer,
    SeenLine,
    account,
    splice,
    split_edits,
)
from incognote.formats.regions import marked
from incognote.nouns import Known, MutedInterval, Reason, Region, Text
from incognote.schemas.catalogue import catalogue
from incognote.speech.files import SUFFIXES, SoundFile
from incognote.speech.intervals import seconds, subtraction, union, widened
from incognote.speech.nouns import Heard, Interval

if TYPE_CHECKING:
    from pydantic import TypeAdapter

BODY = "body"
BLOCK = 10.0
"""Seconds of sound that are read at once."""
_ROUNDED = 0.001  # seconds by which a region may end after the recording


@dataclass(frozen=True, slots=True)
class Accounted:
    """Where the seconds of a recording went: `total` = `kept` + `muted` + `held`.

    Args:
        kept, muted: seconds of a released recording. held: all seconds of one that is not released.
    """

    total: float
    kept: float
    muted: float
    held: float


class AudioDocument(Document):
    """A recording. It is heard when its texts are needed.

    Attributes:
        file: its sound.
        how: how it is heard and written.
        regions: more parts that are muted, without margins. Each is a character of `body`, after what is said.
    """

    regions: Sequence[MutedInterval] = ()

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.file = SoundFile(data)
        if self.file.suffix != SUFFIXES.get(self.file.container):
            raise UnsupportedFormat("a recording whose codec cannot be written in its container. Convert it to FLAC")
        self.how = hearing()
        self._again: tuple[list[Interval], Transcript] | None = None

    @cached_property
    def transcript(self) -> Transcript:
        """What was said."""
        return transcript(heard(self.file.blocks(BLOCK), self.how), self.how.language)

    @cached_property
    def texts(self) -> tuple[Text, ...]:  # type: ignore[override]  # read-only
        text = marked(self.transcript.text, self.regions)[0]
        return (Text(text, BODY, self.how.language),) if text else ()

    @property
    def marks(self) -> Sequence[tuple[int, int, str]]:
        """The start, end, and type of the character of each of `regions`."""
        return marked(self.transcript.text, self.regions)[1] if self.regions else []

    def with_regions(self, regions: Sequence[Region]) -> AudioDocument:
        """Return the recording with more parts that are muted.

        Raises:
            MalformedRecord: one is no time, is not within the recording, is empty, or has an unknown type.
        """
        times: list[MutedInterval] = []
        for each in regions:
            if not isinstance(each, MutedInterval):
                raise MalformedRecord("regions: one is on a page, and this record is a recording")
            if not 0 <= each.start < each.end <= self.file.seconds + _ROUNDED:
                raise MalformedRecord("regions: one is not within the recording, or is empty")
            if each.type not in catalogue():
                raise MalformedRecord("regions: one has an unknown type")
            times.append(each)
        made = copy(self)
        made.__dict__.pop("texts", None)
        made.regions = (*self.regions, *times)
        return made

    def readings(self) -> str:
        """Return what was heard, as JSON. It quotes the recording."""
        return _adapter().dump_json(self.transcript.heard).decode()

    def with_readings(self, readings: str) -> AudioDocument:
        """Return the recording with what was heard in it before, from `readings`."""
        made = copy(self)
        for name in ("texts", "remarks"):
            made.__dict__.pop(name, None)
        made.__dict__["transcript"] = transcript(_adapter().validate_json(readings), self.how.language)
        return made

    @property
    def findings(self) -> Sequence[Finding]:  # type: ignore[override]  # read-only
        return self.findings_with(())

    def findings_with(self, known: Sequence[Known]) -> Sequence[Finding]:
        found = [Finding(BODY, *each) for each in findings(self.transcript, known, self.how.language)]
        return [*found, *(Finding(BODY, start, end, kind, 1.0, "person") for start, end, kind in self.marks)]

    @cached_property
    def remarks(self) -> Sequence[Reason]:  # type: ignore[override]  # read-only
        return [Reason("poor-hearing", BODY)] if is_poor(self.transcript.heard) else []

    def times_of(self, field: str, start: int, end: int) -> Sequence[Interval]:
        """Return the parts of the recording that an edit of a stretch mutes, with margins."""
        if field != BODY:
            return []
        time, total = self.transcript.time(start, end), self.file.seconds
        said = [] if time is None else widened([time], self.how.margin, self.how.margin, total)
        own = (
            Interval(each.start, min(each.end, total))
            for each, mark in zip(self.regions, self.marks, strict=True) if start < mark[1] and mark[0] < end
        )  # fmt: skip
        return union(said, own)

    def muted(self, changes: Mapping[str, Sequence[Change]]) -> list[Interval]:
        """Return the parts that are muted, in order. They do not overlap."""
        if self.how.voice == "remove":
            return [Interval(0.0, self.file.seconds)]
        own = ((BODY, start, end) for start, end, _ in changes.get(BODY, ()))
        return union(each for stretch in own for each in self.times_of(*stretch))

    def accounted(self, changes: Mapping[str, Sequence[Change]], *, released: bool) -> Accounted:
        """Return where the seconds of the recording went."""
        total = self.file.seconds
        muted = seconds(self.muted(changes)) if released else 0.0
        return Accounted(total, total - muted if released else 0.0, muted, 0.0 if released else total)

    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        changes, values = split_edits(edits)
        account(self, changes, values)
        self.file.written(self.muted(changes), out, disguise=self._seed)

    @property
    def _seed(self) -> bytes | None:
        """The seed of the disguise of the voices, or None if they are not disguised."""
        if self.how.voice != "disguise":
            return None
        return blake2b(self.data, key=self.how.seed[: blake2b.MAX_KEY_SIZE]).digest()

    def reopened(self, output: bytes, changes: Mapping[str, Sequence[Change]]) -> Document | None:
        """Return an output with the texts that it must have, if its sound is the original's outside of the muted parts.

        Raises:
            MalformedRecord: it is not, or the muted parts are not silent.
        """
        verify(self.file, SoundFile(output), self.muted(changes), disguised=self._seed is not None)
        again = _Output(output)
        again.texts = tuple(
            Text(splice(text.content, changes.get(text.field, ())), text.field) for text in self.texts
        )
        return again

    def second(self, output: bytes, changes: Mapping[str, Sequence[Change]]) -> Iterable[str]:
        """See `Document.second`. Of a recording with disguised voices, it hears the same mutes with the real voices."""
        from incognote.formats.audio.second import heard_again, unheard

        if self.how.voice == "remove":
            return
        muted = self.muted(changes)
        if self._again is None or subtraction(self._again[0], muted):  # else only more was muted since it was heard
            if self._seed is not None:
                plain = BytesIO()
                self.file.written(muted, plain)
                output = plain.getvalue()
            self._again = muted, heard_again(SoundFile(output), self.how)
        for words, parts in unheard(self._again[1], self.transcript, muted):
            yield SeenLine.of(words, [(a, b, own and (BODY, *own)) for a, b, own in parts])

    def places(self, field: str, start: int, end: int) -> tuple[Place, ...]:
        return (Pointer(field),)


@lru_cache
def _adapter() -> TypeAdapter[Heard]:
    from pydantic import TypeAdapter

    return TypeAdapter(Heard)


class _Output(Document):
    """An output whose sound was checked."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        raise AccountingError("an output is not edited")

    def places(self, field: str, start: int, end: int) -> tuple[Place, ...]:
        return (Pointer(field),)
