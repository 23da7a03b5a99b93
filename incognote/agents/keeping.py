"""What the loop of relexicalization answered about records, kept in a recording: a replay needs neither index nor
agents."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from incognote.errors import IndexUnavailable
from incognote.relex.agents.base import Note
from incognote.relex.batch import Shown
from incognote.relex.nouns import Variant

if TYPE_CHECKING:
    from incognote.llm.recording import Recording

_KIND = "index"


class Answers:
    """The answers of one run. An index that has met more people may answer the same note otherwise, so those of each
    run stand by themselves, and so do those of each time that a run asks the same.

    Args:
        recording: sealed; its owner closes it.
        run: which run's; "" for all of one recording.
    """

    def __init__(self, recording: Recording, run: str) -> None:
        self._recording, self._run = recording, run
        self._times: Counter[str] = Counter()

    def keep(self, note: Note, shown: Mapping[Variant, Shown]) -> None:
        """Keep what stands in place of each mention, and the id of its identity."""
        told = [[shown[one].text, shown[one].identity] for one in note.variants]
        self._recording.keep(_KIND, self._asked(note, self._time(note)), told)

    def kept(self, note: Note) -> dict[Variant, Shown]:
        """What was kept when the note was asked about as often as now.

        Raises:
            IndexUnavailable: nothing was.
        """
        for time in range(self._time(note), -1, -1):  # of equal records that several processes served, one was kept
            told = self._recording.kept(_KIND, self._asked(note, time))
            if told is not None:
                return {one: Shown(*each) for one, each in zip(note.variants, told, strict=True)}
        raise IndexUnavailable(
            "the recording has no answer of the index about this record: input, subject or what was found in it differ "
            "from the recorded run, or the index did not serve then"
        )

    def _time(self, note: Note) -> int:
        key = hashlib.sha256(self._asked(note, 0).encode()).hexdigest()
        self._times[key] += 1
        return self._times[key] - 1

    def _asked(self, note: Note, time: int) -> str:
        mentions = [asdict(one) for one in note.variants]
        told = [self._run, time, note.record, note.patient, note.domain, sorted(note.texts.items()), mentions]
        return json.dumps(told, sort_keys=True)
