"""Forget a subject: every store deletes its data, is searched again, and reports what it found and cannot reach."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, NamedTuple

from incognote.files.quarantine import Held, Quarantine
from incognote.ledger import Ledger, LedgerEntry
from incognote.nouns import subject_form
from incognote.relex.index.forgetting import forget_patient
from incognote.runs.destination import TombstonePlace
from incognote.runs.shards import TOMBSTONES, tombstone_lines
from incognote.service.audit import AuditLog
from incognote.service.optouts import OptOuts

if TYPE_CHECKING:
    from incognote.llm.recording import Recording
    from incognote.relex.index.base import SurrogateIndex
    from incognote.service.api.jobs import Jobs
    from incognote.service.review import ReviewQueue

Store = Literal["opt-outs", "destination", "ledger", "review", "jobs", "quarantine", "index", "recording"]

_NO_DESTINATION = "outputs: no destination was given, so nothing was marked"
_NAME_DESTINATION = "run the command again with --destination, so that the outputs can be listed there for deletion"


@dataclass(frozen=True, slots=True)
class ForgetReceipt:
    """The result for one store.

    Args:
        found: the number of its entries that belong to the subject.
        deleted: the number of those that were deleted.
        after: the number that the same search finds afterwards. For the ledger these are records that may still be
            released, for the destination outputs that it was not asked to delete.
        left: what is not deleted, in words without PHI; "" if nothing is left.
        fault: why the subject is not forgotten here, without PHI; "" if it is.
    """

    store: Store
    found: int
    deleted: int
    after: int = 0
    left: str = ""
    fault: str = ""


def unknown(receipts: Sequence[ForgetReceipt]) -> bool:
    """Whether no store with data of subjects knew this subject."""
    return not any(one.found for one in receipts if one.store != "opt-outs")


class _Step(NamedTuple):
    """The step for one store: count the entries, delete them and return how many, and describe what is left.

    `again` is the later search, if it differs. `keeps` says that its rows are changed and not deleted. `remedy` is what
    to do if the later search still finds some, if it differs.
    """

    store: Store
    find: Callable[[], int]
    delete: Callable[[], int]
    left: Callable[[int], str]
    again: Callable[[], int] | None = None
    keeps: bool = False
    remedy: str = ""


@dataclass(frozen=True)
class Forgetter:
    """The stores of one service. A store that is None is skipped and gives no receipt.

    Args:
        domains: the domains of the surrogates to delete in the index; None for every domain in it.
    """

    audit: AuditLog
    optouts: OptOuts
    ledger: Ledger | None = None
    destination: TombstonePlace | None = None
    reviews: ReviewQueue | None = None
    jobs: Jobs | None = None
    quarantines: Sequence[Quarantine] = ()
    index: SurrogateIndex | None = None
    domains: Sequence[str] | None = None
    recording: Recording | None = None

    async def forget(self, patient: str, by: str, words: Sequence[str] = ()) -> list[ForgetReceipt]:
        """Delete all data about a subject. A second call deletes what the first one left.

        The subject is entered as an opt-out first, so that none of its records is claimed meanwhile or later. After all
        stores have deleted, each is searched again in the same way. If `fault` of a receipt is set, the subject is not
        forgotten there.

        Args:
            by: the staff member who does it.
            words: names and numbers of the subject. A model's recorded answer that contains one of them is deleted.

        Raises:
            IncognoteError: a store failed. The stores before it have deleted.
        """
        subject = self.optouts.key(patient)
        self.audit.append("forget.began", subject=subject, by=by)
        listed = len(self.optouts.refused([patient]))
        self.optouts.add(patient, by)
        steps = list(self._steps(patient, words))
        found = [step.find() for step in steps]  # all before any deletion, since some are found through other stores
        deleted = [step.delete() for step in steps]
        refused = len(self.optouts.refused([patient]))
        receipts = [
            ForgetReceipt(
                "opt-outs", listed, 0, refused, "the keyed hash of the subject, which is needed to refuse new records",
                "" if refused else "the subject is not on the list, so its records are not refused",
            ),
            *(_receipt(*told) for told in zip(steps, found, deleted, strict=True)),
        ]  # fmt: skip
        if self.index is not None:
            told = await forget_patient(self.index, patient, self.domains)
            left = "backups and snapshots of it" + (f"; domains: {', '.join(told.domains)}" if told.domains else "")
            receipts.append(ForgetReceipt("index", told.found, told.deleted, told.left, left, told.fault))
        for receipt in receipts:
            self.audit.append(
                "forget.store", subject=subject, store=receipt.store, found=receipt.found, deleted=receipt.deleted,
                count=receipt.after,
            )  # fmt: skip
        if not any(receipt.fault for receipt in receipts):
            self.audit.append("forget.ended", subject=subject, by=by)
        return receipts

    def _steps(self, patient: str, words: Sequence[str]) -> Iterator[_Step]:
        if self.ledger is not None:
            told: set[int] = set()
            yield self._destination(patient, self.ledger, told)
            yield self._ledger(patient, self.ledger, told)
        keys = self._keys(patient)
        if self.reviews is not None:
            yield self._reviews(patient, self.reviews, keys)
        if self.jobs is not None:
            jobs = self.jobs
            yield _Step("jobs", lambda: jobs.count(patient), lambda: jobs.forget(patient), lambda found: "")
        if self.quarantines:
            held = partial(self._held, patient, keys)
            yield _Step("quarantine", lambda: len(held()), lambda: _dropped(held()), lambda found: "")
        if self.recording is not None:
            recording, sought = self.recording, [word for word in [patient, *words] if len(subject_form(word)) > 2]
            yield _Step(
                "recording",
                lambda: recording.purge(sought, only_count=True),
                lambda: recording.purge(sought),
                lambda found: f"answers that contain none of the {len(sought)} words that you gave",
            )

    def _destination(self, patient: str, ledger: Ledger, told: set[int]) -> _Step:
        """Tell the destination which outputs to delete, since only it can delete them. `told` then holds their numbers.

        Outputs that were marked before are listed again, since the destination may have been another one. The name of
        the list is a hash of its content, so an existing list is not written again.
        """
        destination, name, before = self.destination, "", False

        def released() -> list[LedgerEntry]:
            return list(ledger.entries(subject=ledger.subject(patient), state="released"))

        def marked() -> list[LedgerEntry]:
            return [one for one in ledger.entries(subject=ledger.subject(patient), state="tombstoned") if one.shard]

        def tell() -> int:
            nonlocal name, before
            found = sorted([*released(), *marked()], key=lambda entry: entry.id)
            if destination is not None and found:
                places = "\n".join(f"{one.release} {one.key} {one.shard} {one.line}" for one in found)
                incident = sha256(places.encode()).hexdigest()[:16]
                name = f"{TOMBSTONES}/{incident}.jsonl"
                before = bool(destination.holds(name))
                if not before:
                    destination.put(name, tombstone_lines(found, incident, "forgotten"))
                told.update(entry.id for entry in found)
            return 0

        def left(found: int) -> str:
            if not found:
                return ""
            if destination is None:
                return _NO_DESTINATION
            return f"outputs, until the lines in {name} are deleted there" + "; the list existed already" * before

        return _Step(
            "destination",
            lambda: len(released()) + (len(marked()) if destination is not None else 0),
            tell,
            left,
            lambda: len(released()),
            keeps=True,
            remedy="" if destination is not None else _NAME_DESTINATION,
        )

    def _ledger(self, patient: str, ledger: Ledger, told: set[int]) -> _Step:
        """Mark the ledger's rows.

        An output that the destination was not told of stays released, or no later search would find it.
        """
        without_destination = self.destination is None

        def entries() -> list[LedgerEntry]:
            return list(ledger.entries(subject=ledger.subject(patient)))

        def released() -> bool:
            return any(entry.state == "released" for entry in entries())

        def mark() -> int:
            if without_destination and released():
                return 0
            releases = {one.name: one.id for one in ledger.releases()}
            may = [entry for entry in entries() if entry.state != "released" or entry.id in told]
            for name, number in releases.items():
                keys = [entry.key for entry in may if entry.release == name]
                ledger.mark(number, keys, "tombstoned", "forgotten", claimed=True)
            return 0

        def left(found: int) -> str:
            if without_destination and released():
                return "all rows: nothing was marked, because no destination was given"
            return "rows with keyed hashes, so that no release processes the records again" if found else ""

        return _Step(
            "ledger",
            lambda: len(entries()),
            mark,
            left,
            lambda: sum(entry.state != "tombstoned" for entry in entries()),
            keeps=True,
            remedy=_NAME_DESTINATION if without_destination and released() else "",
        )

    def _reviews(self, patient: str, reviews: ReviewQueue, keys: set[str]) -> _Step:
        """Find by the subject that was submitted, and by the ledger's keys if the record itself names the subject."""

        def found() -> set[str]:
            ids, after = set(reviews.of_subject(patient)), 0
            while page := reviews.list(None, after=after):
                ids |= {entry.id for entry in page if entry.key in keys}
                after = page[-1].number
            return ids

        return _Step(
            "review",
            lambda: len(found()),
            lambda: sum(map(reviews.drop, found())),
            lambda count: "exported decision files, which incognote cannot reach",
        )

    def _held(self, patient: str, keys: set[str]) -> list[tuple[Quarantine, Held]]:
        whose = subject_form(patient)
        return [
            (quarantine, held)
            for quarantine in self.quarantines
            for held in list(quarantine.items())
            if held.name in keys or subject_form(quarantine.open(held).words["patient"] or "") == whose
        ]

    def _keys(self, patient: str) -> set[str]:
        """Return the ledger's keys for the subject's records."""
        if self.ledger is None:
            return set()
        return {entry.key for entry in self.ledger.entries(subject=self.ledger.subject(patient))}


def _dropped(held: Sequence[tuple[Quarantine, Held]]) -> int:
    for quarantine, one in held:
        quarantine.drop(one)
    return len(held)


def _receipt(step: _Step, found: int, deleted: int) -> ForgetReceipt:
    """Make the receipt. The store is searched again here, after every store has deleted."""
    after = (step.again or step.find)()
    fault = ""
    if after:
        fault = (
            f"{after:,} entries are left after the deletion: "
            + (step.remedy or "stop the processes that write to it, and run the same command again")
        )
    elif found and not deleted and not step.keeps:
        fault = f"{found:,} entries were found, but none was deleted: run the same command again"
    return ForgetReceipt(step.store, found, deleted, after, step.left(found), fault)
