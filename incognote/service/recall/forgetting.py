"""Forgetting a subject: every store deletes what it holds of them and says how much, and how much it cannot reach."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from incognote.files.quarantine import Quarantine
from incognote.ledger import Ledger
from incognote.service.audit import AuditLog
from incognote.service.optouts import OptOuts
from incognote.service.recall.recalling import TOMBSTONES, tombstone_lines
from incognote.service.sinks.lab import Lab

if TYPE_CHECKING:
    from incognote.llm.recording import Recording
    from incognote.relex.index.base import SurrogateIndex
    from incognote.service.api.jobs import Jobs
    from incognote.service.review import ReviewQueue

Store = Literal["opt-outs", "lab", "ledger", "review", "jobs", "quarantine", "index", "recording"]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What one store did.

    Args:
        found, deleted: how many of its things were the subject's, and how many of those are gone.
        left: what is not gone, in words that hold no PHI; "" where nothing is.
    """

    store: Store
    found: int
    deleted: int
    left: str = ""


@dataclass(frozen=True)
class Forgetter:
    """The stores of one service. What is None is not asked and gives no receipt.

    Args:
        domain: whose surrogates are meant in the index.
    """

    audit: AuditLog
    optouts: OptOuts
    ledger: Ledger | None = None
    lab: Lab | None = None
    reviews: ReviewQueue | None = None
    jobs: Jobs | None = None
    quarantines: Sequence[Quarantine] = ()
    index: SurrogateIndex | None = None
    domain: str = "default"
    recording: Recording | None = None

    async def forget(self, patient: str, by: str, words: Sequence[str] = ()) -> list[Receipt]:
        """Delete all that is held of a subject; asked again, it deletes what a first try left.

        The subject is entered as an opt-out first, so that nothing of it is claimed meanwhile or later.

        Args:
            by: who of the staff does it.
            words: names and numbers of the subject; a recorded answer of a model that holds one of them is deleted.

        Raises:
            IncognoteError: a store does not serve; those before it have deleted.
        """
        subject = self.optouts.key(patient)
        self.audit.append("forget.began", subject=subject, by=by)
        receipts = [Receipt("opt-outs", 1, 0, "the subject's keyed hash, by which its records are refused")]
        self.optouts.add(patient, by)
        for step in self._steps(patient, words):
            receipts.append(step())
        if self.index is not None:
            told = await self.index.forget(self.domain, patient)
            gone = sum(value for value in asdict(told).values() if isinstance(value, int))
            receipts.append(Receipt("index", gone, gone, "backups and snapshots of it"))
        for receipt in receipts:
            self.audit.append(
                "forget.store", subject=subject, store=receipt.store, found=receipt.found, deleted=receipt.deleted
            )
        self.audit.append("forget.ended", subject=subject, by=by)
        return receipts

    def _steps(self, patient: str, words: Sequence[str]) -> Iterator[Callable[[], Receipt]]:
        if self.ledger is not None:
            yield lambda: self._lab(patient)
            yield lambda: self._ledger(patient)
        if self.reviews is not None:
            yield lambda: self._reviews(patient)
        if self.jobs is not None:
            yield lambda: self._jobs(patient)
        if self.quarantines:
            yield lambda: self._quarantines(patient)
        if self.recording is not None:
            yield lambda: self._recording([patient, *words])

    def _lab(self, patient: str) -> Receipt:
        """Outputs are the lab's to delete: it is told which."""
        assert self.ledger is not None
        found = list(self.ledger.entries(subject=self.ledger.subject(patient), state="released"))
        if not found:
            return Receipt("lab", 0, 0)
        if self.lab is None:
            return Receipt("lab", len(found), 0, "outputs: no lab is named, so it was not told")
        incident = secrets.token_hex(8)
        self.lab.put(f"{TOMBSTONES}/{incident}.jsonl", tombstone_lines(found, incident, "forgotten"))
        return Receipt("lab", len(found), 0, f"outputs, until the lab deletes what {TOMBSTONES}/{incident}.jsonl names")

    def _ledger(self, patient: str) -> Receipt:
        assert self.ledger is not None
        entries = list(self.ledger.entries(subject=self.ledger.subject(patient)))
        releases = {one.name: one.id for one in self.ledger.releases()}
        marked = 0
        for name, number in releases.items():
            keys = [entry.key for entry in entries if entry.release == name]
            marked += self.ledger.mark(number, keys, "tombstoned", "forgotten", claimed=True)
        left = "rows of keyed hashes, so that no release claims the records again" if entries else ""
        return Receipt("ledger", len(entries), 0, left)

    def _reviews(self, patient: str) -> Receipt:
        """By the subject it was handed in with, and by the ledger's keys where the record itself names the subject."""
        assert self.reviews is not None
        gone, keys, after = self.reviews.forget(patient), self._keys(patient), 0
        while page := self.reviews.list(None, after=after):
            gone += sum(self.reviews.drop(entry.id) for entry in page if entry.key in keys)
            after = page[-1].number
        return Receipt("review", gone, gone, "files that decisions were exported to: they are whoever's has them")

    def _jobs(self, patient: str) -> Receipt:
        assert self.jobs is not None
        gone = self.jobs.forget(patient)
        return Receipt("jobs", gone, gone)

    def _quarantines(self, patient: str) -> Receipt:
        gone, keys = 0, self._keys(patient)
        for quarantine in self.quarantines:
            for held in list(quarantine.items()):
                if held.name in keys or (quarantine.open(held).words["patient"] or "").strip() == patient.strip():
                    quarantine.drop(held)
                    gone += 1
        return Receipt("quarantine", gone, gone)

    def _keys(self, patient: str) -> set[str]:
        """What the ledger knows the subject's records by."""
        if self.ledger is None:
            return set()
        return {entry.key for entry in self.ledger.entries(subject=self.ledger.subject(patient))}

    def _recording(self, words: Sequence[str]) -> Receipt:
        assert self.recording is not None
        sought = [word.strip() for word in words if len(word.strip()) > 2]
        gone = self.recording.purge(sought)
        left = f"answers that hold none of the {len(sought)} words that were given: they say of nobody whose they are"
        return Receipt("recording", gone, gone, left)
