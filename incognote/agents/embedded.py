"""The detectors that need no language model: rules, encoder, site packs, roster, what a record makes known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from incognote.detectors.agreement import agreed, named, supported
from incognote.detectors.base import Detector
from incognote.detectors.known import KnownDetector, read_roster
from incognote.detectors.packs import Pack, load_pack
from incognote.detectors.rules import RulesDetector
from incognote.errors import SettingError, UnknownName
from incognote.nouns import PACK, Known, Span, Text
from incognote.plugins import installed, load

if TYPE_CHECKING:
    from incognote.detectors.encoder import EncoderDetector, Point

LLM = "llm"
"""The name among detectors of what is none of these."""
NAMES = ("rules", "encoder")


class Embedded:
    """Thread-safe after construction.

    Args:
        names: which detectors, ours and those of installed packages; `llm` among them is passed over.
        packs: folders of site packs.
        roster: a file of identifiers known for every record.
        point, fast: of the encoder.
        objects: further detectors.

    Raises:
        UnknownName, SettingError: an unknown name, a name given twice, a pack or a roster that cannot be read.
    """

    def __init__(
        self,
        names: Sequence[str],
        packs: Sequence[Path] = (),
        roster: Path | None = None,
        *,
        point: Point = "balanced",
        fast: bool = False,
        objects: Sequence[Detector] = (),
    ) -> None:
        self.packs: tuple[Pack, ...] = tuple(load_pack(folder) for folder in packs)
        others = installed("incognote.detectors")
        unknown = [name for name in names if name not in (*NAMES, LLM, *others)]
        if unknown:
            raise UnknownName("detector", unknown[0], {*NAMES, LLM, *others})
        added = [load("incognote.detectors", name)() for name in names if name not in (*NAMES, LLM)]
        self._others: tuple[Detector, ...] = (*added, *objects)
        for detector in self._others:
            if lacking := [part for part in ("name", "version", "reads", "detect") if not hasattr(detector, part)]:
                raise SettingError(f"detectors: {type(detector).__name__} has no {lacking[0]}")
        bearers = [*NAMES, LLM, "known", *(d.name for d in self._others)]
        if twice := {name for name in bearers if bearers.count(name) > 1}:
            raise SettingError(f"detectors: {min(twice)}: another detector has that name")
        self._rules = RulesDetector(self.packs) if "rules" in names else None
        self._encoder = _encoder(point, fast=fast) if "encoder" in names else None
        ours = tuple(d for d in (self._rules, self._encoder) if d is not None)
        self.detectors: tuple[Detector, ...] = (*ours, *self._others)
        self.reads = frozenset[str]().union(*(d.reads for d in self.detectors))
        """The languages that any of the detectors was made for."""
        listed: list[Known] = [k for pack in self.packs for k in pack.known]
        self._listed = KnownDetector(listed) if listed else None
        if roster is not None:
            listed = [*listed, *read_roster(roster)]
        self.standing = KnownDetector(listed)
        """The identifiers known for every record: the roster and the packs' deny and staff lists."""

    def detect(self, texts: Sequence[Text], known: Sequence[Known] = ()) -> list[list[Span]]:
        """What every detector says, per text, overlapping and unmerged; rules and encoder as they agree."""
        found: list[list[Span]] = self._rules.detect(texts) if self._rules else [[] for _ in texts]
        if self._encoder:
            for spans, reading in zip(found, self._encoder.read(texts), strict=True):
                said = list(agreed(spans, reading))
                learned = [s for s in supported(reading.spans, said) if not self._allowed(s.text)]
                doubts = (s for s in reading.doubts if not self._allowed(s.text))
                spans[:] = [*named(said, learned), *doubts]
        seekers: list[Detector] = [self.standing, *([KnownDetector(known)] if known else []), *self._others]
        for seeker in seekers:
            for spans, more in zip(found, seeker.detect(texts), strict=True):
                spans.extend(more)
        if self._listed:
            for spans, more in zip(found, self._listed.detect(texts), strict=True):
                spans.extend(replace(s, sources=(f"{PACK}lists", *s.sources)) for s in more)
        return found

    def _allowed(self, words: str) -> bool:
        return any(pack.allow(words.lower()) for pack in self.packs)


def _encoder(point: Point, *, fast: bool) -> EncoderDetector:
    from incognote.detectors.encoder import EncoderDetector

    return EncoderDetector(point=point, fast=fast)
