"""Forgetting a patient in the index, and asking the index again afterwards as `reveal` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from incognote.nouns import patient_scope
from incognote.relex.index.base import SurrogateIndex
from incognote.relex.index.nouns import DeletionReceipt


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What the index held of a patient before and after; numbers only.

    Args:
        domains: those that held something of the patient.
        found, left: documents in the patient's scope, before and after.
        revealed_before, revealed_after: surrogates of the patient's scope for which `reveal` has an answer.
        receipts: one for each of the domains.
    """

    domains: tuple[str, ...]
    found: int
    left: int
    revealed_before: int
    revealed_after: int
    receipts: tuple[DeletionReceipt, ...]

    @property
    def deleted(self) -> int:
        """Documents that the deletions counted."""
        return sum(
            one.identities + one.keys + one.reservations + one.usages + one.mentions + one.parts + one.originals
            for one in self.receipts
        )

    @property
    def fault(self) -> str:
        """Why the patient is not forgotten, free of PHI; "" where nothing is left."""
        if self.left or self.revealed_after:
            return (
                f"after the deletion the index still holds {self.left:,} documents of the patient and reveals "
                f"{self.revealed_after:,} surrogates: stop those who write to it, then run the same command again"
            )
        if self.found and not self.deleted:
            return f"the index knew the patient ({self.found:,} documents), but nothing was deleted: run it again"
        return ""


async def forget_patient(index: SurrogateIndex, patient: str, domains: Sequence[str] | None = None) -> Forgotten:
    """Delete all that the index holds of a patient.

    Args:
        patient: the name or id, as anybody writes it (`subject_form`).
        domains: only these; None for every domain of the index.

    Raises:
        IndexProblem: the index does not serve; some of it may be deleted.
    """
    scope = patient_scope(patient)
    before = {name: await index.of_scope(name, scope) for name in domains or await index.domains()}
    concerned = {name: found for name, found in before.items() if found[0]}
    revealed = await _revealed(index, scope, concerned)
    receipts = tuple([await index.forget(name, scope) for name in concerned])
    left = 0
    for name in concerned:
        left += (await index.of_scope(name, scope))[0]
    return Forgotten(
        tuple(concerned),
        sum(count for count, _ in concerned.values()),
        left,
        revealed,
        await _revealed(index, scope, concerned),
        receipts,
    )


async def _revealed(index: SurrogateIndex, scope: str, held: dict[str, tuple[int, tuple[str, ...]]]) -> int:
    answers = [await index.holder(name, scope, whole) for name, (_, wholes) in held.items() for whole in wholes]
    return sum(answer is not None for answer in answers)
