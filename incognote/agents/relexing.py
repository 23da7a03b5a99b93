"""Between the machine of a record and the loop of relexicalization: a record's mentions there, surrogates back."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from incognote.agents.keeping import Answers
from incognote.agents.playing import Players
from incognote.errors import KeyMissing, MissingExtra, SettingError
from incognote.keys import Keyring
from incognote.nouns import Span
from incognote.relex.agents.base import Note
from incognote.relex.batch import BatchBarrier, Outcome, Report, Shown, Tools
from incognote.relex.cluster.hints import variant
from incognote.relex.generate import Choices
from incognote.relex.nouns import Variant
from incognote.schemas.policy import Policy
from incognote.settings import Settings

if TYPE_CHECKING:
    from incognote.agents.case import Case
    from incognote.agents.models import Models
    from incognote.embedding.base import Embedder
    from incognote.llm.recording import Recording

Surrogates = Mapping[Span, tuple[str, str]]
"""Of a span, what stands for it and the id of its identity."""
BARRIER: ContextVar[BatchBarrier | None] = ContextVar("BARRIER", default=None)
"""Where the record of this task waits for the others of its batch; None for a record that goes alone."""


class Relexing:
    """What asks the loop for a Deidentifier's records; one loop at a time, since records speak of the same people.

    Args:
        policy: some of its types are served by surrogates.
        models: who plays the agents that the settings name.
        recording: keeps what is answered about records; in a replay all comes from it, and no index is asked.

    Raises:
        SettingError: no index is named, or the agents cannot be played as the settings say.
        KeyMissing: the key dies with this process.
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
                "index: surrogates need one, to be the same in the next note: make it with `incognote index create` "
                "and name it by INCOGNOTE_INDEX or --index"
            )
        if not keyring.persistent:
            raise KeyMissing(
                "surrogates need a persistent key: set key_file (INCOGNOTE_KEY_FILE); make one with `incognote key new`"
            )
        self._settings, self._policy, self._keyring = settings, policy, keyring
        self._answers = Answers(recording, settings.recorded_run or "") if recording is not None else None
        self.players = Players(settings, policy, models, choices_of(policy))
        self._tools: Tools | None = None
        self._turn = asyncio.Lock()
        self.told: Counter[str] = Counter()
        """Counts of all loops: mentions, new identities, accepted hits, draws that moved, rounds."""
        self.outdated: set[str] = set()
        """Records of which outputs may have been given that show a surrogate of an earlier partition; may be PHI."""

    def barrier(self, records: int) -> BatchBarrier:
        """What the records of one batch wait for each other at; see `agents.batches`."""
        return BatchBarrier(records, self._loop)

    async def surrogates(self, case: Case, spans: Sequence[Span]) -> dict[Span, tuple[str, str]]:
        """Of each span, in whatever field of the record, what stands for it.

        Raises:
            IndexProblem, ModelProblem: nothing was handed out; the record waits.
        """
        record = _record(case)
        own = {span: variant(span, record=record, patient=case.patient or "", domain=case.domain) for span in spans}
        texts = {span.field: span.source.content for span in spans} | {text.field: text.content for text in case.texts}
        note = Note(record, case.patient or "", case.domain, texts, tuple(sorted(own.values())))
        shown = await self._shown(note)
        return {span: (shown[one].text, shown[one].identity) for span, one in own.items()}

    async def _shown(self, note: Note) -> Mapping[Variant, Shown]:
        """From the loop, and into the recording; of a replay from the recording."""
        if self._answers is not None and self._settings.replay:
            return self._answers.kept(note)
        barrier = BARRIER.get()
        outcome = await (self._loop([note]) if barrier is None else barrier.outcome(note))
        if self._answers is not None:
            self._answers.keep(note, outcome.shown)
        return outcome.shown

    async def _loop(self, notes: Sequence[Note]) -> Outcome:
        from incognote.relex.graph import relexicalize

        async with self._turn:
            outcome = await relexicalize(notes, await self._opened())
            self._count(outcome.report, {note.record for note in notes})
            return outcome

    def _count(self, report: Report, served: set[str]) -> None:
        names = ("mentions", "new", "fitting", "moved", "rounds")
        self.told.update({name: getattr(report, name) for name in names})
        self.outdated = (self.outdated - served) | set(report.outdated)

    async def _opened(self) -> Tools:
        if self._tools is None:
            from incognote.relex.index.opening import open_index, password_of

            settings = self._settings
            assert settings.index is not None  # __init__ asked
            index = await open_index(settings.index, self._keyring, password=password_of(settings))
            try:
                self._tools = Tools(
                    index,
                    self._keyring,
                    agents=self.players.agents,
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
        """Give the index back."""
        if self._tools is not None:
            tools, self._tools = self._tools, None
            await tools.index.aclose()


def choices_of(policy: Policy) -> Choices:
    """What the policy says of surrogates: of places by CITY, of ages by AGE, of dates by DATE, or what serves them."""
    params = {name: _params(policy, kind) for name, kind in (("place", "CITY"), ("age", "AGE"), ("date", "DATE"))}
    default = Choices()
    return Choices(
        places=params["place"].get("places", default.places),
        ages=params["age"].get("ages", default.ages),
        band=params["age"].get("band", default.band),
        days=params["date"].get("days", default.days),
    )


def _params(policy: Policy, kind: str) -> Mapping[str, Any]:
    choice = policy.choice(kind)
    return choice.params if choice is not None and choice.operator == "surrogate" else {}


def _roster(settings: Settings) -> list[str]:
    """What the roster names, whole and word by word: no surrogate is any of it."""
    if settings.roster is None:
        return []
    from incognote.detectors.known import read_roster

    values = [known.value for known in read_roster(settings.roster)]
    return sorted({*values, *(word for value in values for word in value.split() if len(word) > 1)})


def _embedder() -> Embedder | None:
    """The embedded one; None where its extra is not installed: then exact keys alone find who was met before."""
    from incognote.embedding import open_embedder

    try:
        return open_embedder()
    except MissingExtra:
        return None


def _record(case: Case) -> str:
    """What the record is called: its own id, the caller's, else a hash of what it says."""
    own = (case.record.id if case.record is not None else None) or case.item.id
    return own or "sha256:" + hashlib.sha256(case.item.content.encode("utf-8", "surrogatepass")).hexdigest()
