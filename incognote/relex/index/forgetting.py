"""Forget a patient in the index. Afterwards, query the index again in the same way as `reveal`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from incognote.nouns import patient_scope
from incognote.relex.index.base import SurrogateIndex
from incognote.relex.index.nouns import IMAGE, DeletionReceipt


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What the index held of a patient before and after; numbers only.

    Args:
        domains: the domains that held something of the patient.
        found, left: documents in the patient's scope, before and after.
        revealed_before, revealed_after: surrogates and images of the patient for which `reveal` has an answer.
        receipts: one for each domain.
    """

    domains: tuple[str, ...]
    found: int
    left: int
    revealed_before: int
    revealed_after: int
    receipts: tuple[DeletionReceipt, ...]

    @property
    def deleted(self) -> int:
        """The number of deleted documents."""
        return sum(
            one.identities + one.keys + one.reservations + one.usages + one.mentions + one.parts + one.originals
            for one in self.receipts
        )

    @property
    def fault(self) -> str:
        """Why the patient is not forgotten, free of PHI; "" if nothing is left."""
        if self.left or self.revealed_after:
            return (
                f"after the deletion the index still holds {self.left:,} documents of the patient and reveals "
                f"{self.revealed_after:,} surrogates and images. Stop all writers, then run the same command again"
            )
        if self.found and not self.deleted:
            return f"the index had {self.found:,} documents of the patient, but deleted none. Run the command again"
        return ""


async def forget_patient(index: SurrogateIndex, patient: str, domains: Sequence[str] | None = None) -> Forgotten:
    """Delete everything that the index holds of a patient.

    Args:
        patient: the name or id, in any spelling (`subject_form`).
        domains: only these; None for every domain of the index.

    Raises:
        IndexProblem: the index is not available; some documents may already be deleted.
    """
    scope = patient_scope(patient)
    before = {name: await index.of_scope(name, scope) for name in domains or await index.domains()}
    concerned = {name: found for name, found in before.items() if found[0]}
    images = {name: await index.blocks(name, scope, IMAGE) for name in concerned}
    revealed = await _revealed(index, scope, concerned, images)
    receipts = tuple([await index.forget(name, scope) for name in concerned])
    left = 0
    for name in concerned:
        left += (await index.of_scope(name, scope))[0]
    return Forgotten(
        tuple(concerned),
        sum(count for count, _ in concerned.values()),
        left,
        revealed,
        await _revealed(index, scope, concerned, images),
        receipts,
    )


async def _revealed(
    index: SurrogateIndex,
    scope: str,
    held: Mapping[str, tuple[int, tuple[str, ...]]],
    images: Mapping[str, tuple[str, ...]],
) -> int:
    answers = [await index.holder(name, scope, whole) for name, (_, wholes) in held.items() for whole in wholes]
    shown = [one for name, some in images.items() for one in await index.noted(name, some)]
    found = {(one.domain, one.block) for one in shown if one.scope == scope}
    return sum(answer is not None for answer in answers) + len(found)
