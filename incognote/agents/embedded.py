"""The detectors that need no language model, side by side: rules, site packs, roster, what a record makes known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from incognote.detectors.base import Detector
from incognote.detectors.known import KnownDetector, read_roster
from incognote.detectors.packs import Pack, load_pack
from incognote.detectors.rules import RulesDetector
from incognote.errors import UnknownName
from incognote.nouns import Known, Span, Text

LLM = "llm"
"""The name among detectors of what is none of these."""

_DETECTORS: dict[str, Callable[[Sequence[Pack]], Detector]] = {"rules": RulesDetector}


class Embedded:
    """Thread-safe after construction.

    Args:
        names: which detectors; `llm` among them is passed over.
        packs: folders of site packs.
        roster: a file of identifiers known for every record.

    Raises:
        UnknownName, SettingError: a name nothing bears, a pack or a roster that cannot be read.
    """

    def __init__(self, names: Sequence[str], packs: Sequence[Path] = (), roster: Path | None = None) -> None:
        self.packs: tuple[Pack, ...] = tuple(load_pack(folder) for folder in packs)
        unknown = [name for name in names if name not in _DETECTORS and name != LLM]
        if unknown:
            raise UnknownName("detector", unknown[0], {*_DETECTORS, LLM})
        self.detectors: tuple[Detector, ...] = tuple(_DETECTORS[name](self.packs) for name in names if name != LLM)
        listed: list[Known] = [k for pack in self.packs for k in pack.known]
        if roster is not None:
            listed.extend(read_roster(roster))
        self.standing = KnownDetector(listed)
        """The identifiers known for every record: the roster and the packs' deny and staff lists."""

    def detect(self, texts: Sequence[Text], known: Sequence[Known] = ()) -> list[list[Span]]:
        """What every detector says, per text, overlapping and unmerged."""
        found: list[list[Span]] = [[] for _ in texts]
        seekers: list[Detector] = [*self.detectors, self.standing, *([KnownDetector(known)] if known else [])]
        for seeker in seekers:
            for spans, more in zip(found, seeker.detect(texts), strict=True):
                spans.extend(more)
        return found
