"""Run sentinel notes beside a batch, report their score, and stop a run that finds too little."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from incognote.errors import SentinelsMissed
from incognote.service.audit import AuditEntry, AuditLog
from incognote.service.sentinels.notes import SentinelScore, draw, score
from incognote.service.vocabulary import Fact

if TYPE_CHECKING:
    from incognote.sdk import Deidentifier
    from incognote.service.telemetry import Telemetry

_COUNTED = ("notes", "failed", "count", "found", "leaked")
DOMAIN = "sentinels"
"""The domain for the surrogates of their identities, separate from all patients'."""


class SentinelWatch:
    """Runs notes through the machine that serves the records. Their outputs are discarded.

    Args:
        deid: that machine.
        audit, telemetry: receive each score; None for neither.
        count: notes with each batch.
        floor: the minimum recall; None for no limit.
        least: the number of planted identifiers before the floor applies.
        chance: the random generator for notes; None for the system's randomness.
    """

    def __init__(
        self,
        deid: Deidentifier,
        audit: AuditLog | None,
        telemetry: Telemetry | None = None,
        *,
        count: int,
        floor: float | None = None,
        least: int = 50,
        chance: Random | None = None,
    ) -> None:
        self.total = SentinelScore()
        self._deid, self._audit, self._telemetry = deid, audit, telemetry
        self._count, self._floor, self._least, self._chance = count, floor, least, chance

    async def look(self, release: str) -> SentinelScore:
        """Run one batch's notes.

        Args:
            release: the name of the current release.

        Raises:
            SentinelsMissed: all batches together found less than the floor, and the worker stops.
        """
        if not self._count:
            return SentinelScore()
        drawn = draw(self._count, self._chance, self._deid.engine.reads)
        results = await asyncio.gather(
            *(self._deid.adeidentify(one.text, patient=one.id, domain=DOMAIN) for one in drawn)
        )
        scored = score(drawn, results, self._deid.engine.policy)
        self.total += scored
        facts: dict[str, Fact] = {
            "release": release,
            "notes": scored.notes,
            "failed": scored.failed,
            "count": scored.planted,
            "found": scored.found,
            "leaked": scored.leaked,
        }
        told: list[tuple[str, dict[str, Fact]]] = [("sentinels.scored", facts)]
        told += [
            ("sentinel.missed", {"release": release, "entity_type": kind, "missed": count})
            for kind, count in sorted(scored.missed.items())
        ]
        recall = self.total.recall.value
        failed = self._floor is not None and self.total.planted >= self._least and (recall or 0.0) < self._floor
        if failed:
            told.append(
                ("sentinels.failed", {"release": release, "recall": recall or 0.0, "lower": self._floor or 0.0})
            )
        if self._audit is not None:
            self._audit.append_all(told)
        if self._telemetry is not None:
            for event, more in told:
                self._telemetry.tell(event, **more)
        if failed:
            raise SentinelsMissed(
                f"Only {self.total.found} of {self.total.planted} identifiers in sentinel notes were found, less "
                "than sentinel_floor. The run was stopped. Check the models, policy, and packs."
            )
        return scored


def nightly(entries: Iterable[AuditEntry]) -> dict[str, SentinelScore]:
    """Return each day's score by its date (UTC), from an audit log."""
    days: dict[str, SentinelScore] = {}
    for entry in entries:
        day, facts = entry.at[:10], entry.facts
        if entry.event == "sentinels.scored":
            notes, failed, planted, found, leaked = (int(facts[name]) for name in _COUNTED)
            days[day] = days.get(day, SentinelScore()) + SentinelScore(notes, failed, planted, found, leaked)
        elif entry.event == "sentinel.missed":
            before = days.get(day, SentinelScore())
            kind = str(facts["entity_type"])
            days[day] = replace(
                before, missed={**before.missed, kind: before.missed.get(kind, 0) + int(facts["missed"])}
            )
    return days
