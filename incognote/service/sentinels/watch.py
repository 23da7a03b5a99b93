"""Running sentinel notes beside a batch, telling what came of it, and stopping a run that finds too little."""

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
"""Where surrogates of their identities are kept, apart from all patients'."""


class SentinelWatch:
    """Runs notes through the machine that serves the records. Their outputs end here.

    Args:
        deid: that machine.
        audit, telemetry: are told each score.
        count: notes with each batch.
        floor: the least recall; None for no such limit.
        least: planted identifiers before the floor counts.
        chance: what notes are drawn with; None for the system's randomness.
    """

    def __init__(
        self,
        deid: Deidentifier,
        audit: AuditLog,
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
            release: the name of the release that is being made.

        Raises:
            SentinelsMissed: all batches together found less than the floor; the worker stops.
        """
        if not self._count:
            return SentinelScore()
        drawn = draw(self._count, self._chance)
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
    """Each day's score, by its date (UTC), out of an audit log."""
    days: dict[str, SentinelScore] = {}
    for entry in entries:
        day, facts = entry.at[:10], entry.facts
        if entry.event == "sentinels.scored":
            notes, failed, planted, found, leaked = (int(facts[name]) for name in _COUNTED)
            days[day] = days.get(day, SentinelScore()) + SentinelScore(notes, failed, planted, found, leaked)
        elif entry.event == "sentinel.missed":
            stands = days.get(day, SentinelScore())
            kind = str(facts["entity_type"])
            days[day] = replace(
                stands, missed={**stands.missed, kind: stands.missed.get(kind, 0) + int(facts["missed"])}
            )
    return days
