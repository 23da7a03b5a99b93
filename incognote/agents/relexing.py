"""The connection between a record's machine and the relexicalization loop: mentions go in, surrogates come back."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict
from typing import TYPE_CHECKING

from incognote.agents.relexagents import RelexAgents, choices_of
from incognote.agents.stages import Opened, Surrogates
from incognote.errors import IndexUnavailable, KeyMissing, MalformedRecord, MissingExtra, SettingError
from incognote.keys import Keyring
from incognote.nouns import Span
from incognote.relex.agents.base import RelexNote
from incognote.relex.batch import BatchBarrier, BatchOutcome, BatchReport, ShownSurrogate, Tools
from incognote.relex.cluster.hints import variant
from incognote.relex.index.opening import check_address, password_of
from incognote.relex.nouns import MentionVariant
from incognote.schemas.policy import Policy
from incognote.settings import Settings
from incognote.text.escapes import LONE_SURROGATE

if TYPE_CHECKING:
    from incognote.agents.models import Models
    from incognote.embedding.base import Embedder
    from incognote.llm.recording import Recording

_KIND = "index"
BARRIER: ContextVar[BatchBarrier | None] = ContextVar("BARRIER", default=None)
"""The barrier at which the record of this task waits for the others of its batch; None for a single record."""


class Relexing:
    """Runs the loop for a Deidentifier's records, one loop at a time, since records mention the same people.

    Args:
        policy: a policy that uses surrogates for some of its types.
        models: for the agents that the settings assign to a model.
        recording: stores the answers about records. In a replay all answers come from it, and the index is not used.

    Raises:
        SettingError: no index is named, or the agents cannot run with these settings.
        KeyMissing: the key exists only in this process.
    """

    def __init__(
        self,
        settings: Settings,
        policy: Policy,
        keyring: Keyring,
        models: Models | None = None,
        recording: Recording | None = None,
    ) -> None:
        if settings.index is None and not settings.replay:
            raise SettingError(
                "index: surrogates need an index to stay the same in all notes. Run `incognote index create`, then "
                "set INCOGNOTE_INDEX."
            )
        if not keyring.persistent:
            raise KeyMissing(
                "Surrogates need a persistent key. Run `incognote key new`, or set key_file (INCOGNOTE_KEY_FILE)."
            )
        if settings.index is not None:
            check_address(settings.index, password_of(settings))  # a wrong one fails here, not in every record
        self._settings, self._policy, self._keyring = settings, policy, keyring
        self._answers = RecordedSurrogates(recording, settings.recorded_run or "") if recording is not None else None
        self.agents = RelexAgents(settings, policy, models, choices_of(policy))
        self._tools: Tools | None = None
        self._turn = asyncio.Lock()
        self.counts: Counter[str] = Counter()
        """Counts of all loops: mentions, new identities, accepted hits, draws that moved, rounds."""
        self.outdated: set[str] = set()
        """Records whose earlier outputs may show a surrogate of an outdated partition. The names may be PHI."""

    def barrier(self, records: int) -> BatchBarrier:
        """Return the barrier for the records of one batch. See `agents.batches`."""
        return BatchBarrier(records, self._loop)

    async def surrogates(self, record: str, opened: Opened, domain: str, spans: Sequence[Span]) -> Surrogates:
        """Return the surrogate of each span, in any field of the record.

        Args:
            record: its name (`steps.name_of`).

        Raises:
            MalformedRecord: a text or the patient has half a character. Nothing of it enters the index.
            IndexProblem, ModelProblem: no surrogate was returned, and the record waits.
        """
        patient = opened.patient or ""
        texts = {text.field: text.content for text in (*(span.source for span in spans), *opened.texts)}
        for field, words in {"patient": patient, "id": record, **texts}.items():
            if LONE_SURROGATE.search(words):
                raise MalformedRecord("half of a UTF-16 surrogate pair. Repair the encoding of the source", field=field)
        mentions = {span: variant(span, record=record, patient=patient, domain=domain) for span in spans}
        note = RelexNote(record, patient, domain, texts, tuple(sorted(mentions.values())))
        shown = await self._shown(note)
        return {span: (shown[mention].text, shown[mention].identity) for span, mention in mentions.items()}

    async def _shown(self, note: RelexNote) -> Mapping[MentionVariant, ShownSurrogate]:
        """Return surrogates from the loop and record them. In a replay, return them from the recording."""
        if self._answers is not None and self._settings.replay:
            return self._answers.kept(note)
        barrier = BARRIER.get()
        outcome = await (self._loop([note]) if barrier is None else barrier.outcome(note))
        if note.variants and (problem := outcome.failed.get((note.domain, note.variants[0].owner, note.record))):
            raise problem
        if self._answers is not None:
            self._answers.keep(note, outcome.shown)
        return outcome.shown

    async def _loop(self, notes: Sequence[RelexNote]) -> BatchOutcome:
        from incognote.relex.graph import relexicalize

        async with self._turn:
            outcome = await relexicalize(notes, await self._opened())
            self._count(outcome.report, {note.record for note in notes})
            return outcome

    def _count(self, report: BatchReport, served: set[str]) -> None:
        names = ("mentions", "new", "fitting", "moved", "rounds")
        self.counts.update({name: getattr(report, name) for name in names})
        self.outdated = (self.outdated - served) | set(report.outdated)

    async def _opened(self) -> Tools:
        if self._tools is None:
            from incognote.relex.index.opening import open_index, password_of

            settings = self._settings
            assert settings.index is not None  # checked in __init__
            index = await open_index(settings.index, self._keyring, password=password_of(settings))
            try:
                self._tools = Tools(
                    index,
                    self._keyring,
                    agents=self.agents.all,
                    choices=choices_of(self._policy),
                    random=self._policy.label == "safe-harbor",
                    embedder=_embedder() if index.dimension else None,
                    roster=_roster(settings),
                    reveal=self._policy.relex.reveal,
                )
            except BaseException:
                await index.aclose()
                raise
        return self._tools

    async def aclose(self) -> None:
        """Close the index."""
        if self._tools is not None:
            tools, self._tools = self._tools, None
            await tools.index.aclose()


class RecordedSurrogates:
    """A run's surrogates in a recording. With them, a replay needs neither index nor agents.

    An index that has met more people may answer the same note differently. So the answers are stored per run, and per
    repetition if a run asks the same question again.

    Args:
        recording: sealed; its owner closes it.
        run: the name of the run; "" if the recording has only one.
    """

    def __init__(self, recording: Recording, run: str) -> None:
        self._recording, self._run = recording, run
        self._times: Counter[str] = Counter()

    def keep(self, note: RelexNote, shown: Mapping[MentionVariant, ShownSurrogate]) -> None:
        """Store the surrogate of each mention, and the id of its identity."""
        written = [[shown[mention].text, shown[mention].identity] for mention in note.variants]
        self._recording.keep(_KIND, self._asked(note, self._time(note)), written)

    def kept(self, note: RelexNote) -> dict[MentionVariant, ShownSurrogate]:
        """Return what was stored when the note was asked about for the same time.

        Raises:
            IndexUnavailable: nothing was stored.
        """
        for time in range(self._time(note), -1, -1):  # if several processes served equal records, one answer was kept
            written = self._recording.kept(_KIND, self._asked(note, time))
            if written is not None:
                return {mention: ShownSurrogate(*each) for mention, each in zip(note.variants, written, strict=True)}
        raise IndexUnavailable(
            "The recording has no index answer for this record. The input, the patient, or the findings differ from "
            "the recorded run, or the index was not available then."
        )

    def _time(self, note: RelexNote) -> int:
        key = hashlib.sha256(self._asked(note, 0).encode()).hexdigest()
        self._times[key] += 1
        return self._times[key] - 1

    def _asked(self, note: RelexNote, time: int) -> str:
        mentions = [asdict(mention) for mention in note.variants]
        content = [self._run, time, note.record, note.patient, note.domain, sorted(note.texts.items()), mentions]
        return json.dumps(content, sort_keys=True)


def _roster(settings: Settings) -> list[str]:
    """Return the names on the roster, whole and word by word. No surrogate may equal any of them."""
    if settings.roster is None:
        return []
    from incognote.detectors.known import read_roster

    values = [known.value for known in read_roster(settings.roster)]
    return sorted({*values, *(word for value in values for word in value.split() if len(word) > 1)})


def _embedder() -> Embedder | None:
    """Return the embedded embedder; None if its extra is not installed. Then only exact keys find known identities."""
    from incognote.embedding import open_embedder

    try:
        return open_embedder()
    except MissingExtra:
        return None
