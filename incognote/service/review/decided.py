"""Review decisions as figures for the dashboard, and as gold data for `incognote evaluate`."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from incognote.service.audit import AuditEntry
from incognote.service.review.queue import ReviewQueue
from incognote.service.sentinels.watch import nightly
from incognote.service.vocabulary import Fact

OUTCOMES = ("released", "review", "quarantined", "refused")
_DAYS = 30
_SUMS = (*OUTCOMES, "tokens")


def dashboard(entries: Iterable[AuditEntry], queue: ReviewQueue) -> dict[str, Any]:
    """Return all figures, ready for JSON.

    Args:
        entries: of the audit log, read once.
    """
    days: dict[str, Counter[str]] = defaultdict(Counter)
    releases: dict[str, Counter[str]] = defaultdict(Counter)
    money: dict[str, float | None] = defaultdict(float)
    alarms: list[dict[str, Any]] = []
    kept: list[AuditEntry] = []
    for entry in entries:
        facts = entry.facts
        if entry.event == "records.committed":
            release = str(facts.get("release", ""))
            more = {name: int(facts[name]) for name in _SUMS if name in facts}
            days[entry.at[:10]].update(more)
            releases[release].update(more)
            money[release] = _sum(money[release], facts)
        elif entry.event in ("drift.alarm", "worker.ceiling", "sentinels.failed", "recall.began"):
            alarms.append({"at": entry.at, "event": entry.event, "release": str(facts.get("release", ""))})
        elif entry.event.startswith("sentinel"):
            kept.append(entry)
    return {
        "days": [{"day": day, **_sums(days[day])} for day in sorted(days)[-_DAYS:]],
        "releases": [
            {"release": name, **_sums(releases[name]), "usd": money[name]} for name in sorted(releases)
        ],
        "sentinels": _sentinels(kept),
        "alarms": alarms[-20:],
        "review": _review(queue),
    }


def _sum(stands: float | None, facts: Mapping[str, Fact]) -> float | None:
    """Return the dollars including one more settlement; None if tokens were used at an unknown price."""
    if stands is None or (facts.get("tokens") and "usd" not in facts):
        return None
    return round(stands + float(facts.get("usd", 0)), 6)


def _sums(counts: Counter[str]) -> dict[str, int]:
    return {name: counts[name] for name in _SUMS}


def _sentinels(entries: Iterable[AuditEntry]) -> list[dict[str, Any]]:
    told = []
    for day, score in sorted(nightly(entries).items())[-_DAYS:]:
        recall = score.recall
        told.append({
            "day": day, "notes": score.notes, "planted": score.planted, "found": score.found, "leaked": score.leaked,
            "failed": score.failed, "recall": recall.value, "low": recall.low, "high": recall.high,
        })  # fmt: skip
    return told


def _review(queue: ReviewQueue) -> dict[str, Any]:
    """Return what waits, why, and what persons changed. A span that they added is a leak that was caught."""
    reasons: Counter[str] = Counter()
    changes: Counter[str] = Counter(kept=0, moved=0, retyped=0, added=0, dropped=0)
    after, corrected = 0, 0
    while page := queue.list(None, after=after, limit=200):
        after = page[-1].number
        for entry in page:
            if entry.state == "waiting":
                reasons.update({reason.code for reason in entry.reasons})
            elif entry.changes is not None and entry.state == "approved":
                told = {name: getattr(entry.changes, name) for name in changes}
                changes.update(told)
                corrected += any(told[name] for name in ("moved", "retyped", "added", "dropped"))
    return {"counts": queue.counts(), "reasons": dict(reasons), "changes": dict(changes), "corrected": corrected}


def gold(queue: ReviewQueue, release: str | None = None) -> Iterator[str]:
    """Yield one JSON line for each text of each approved record. The lines quote the texts: PHI.

    Args:
        release: only this release.

    Yields:
        `{"id", "text", "style", "spans": [{"start", "end", "type"}]}` and a line end. The ids are the queue's own.
    """
    for settled in queue.settled(delivered=True, release=release):
        if settled.entry.state != "approved":
            continue
        for number, text in enumerate(settled.case.texts):
            if not text.content:  # of pages without words
                continue
            spans = [{"start": s.start, "end": s.end, "type": s.type} for s in settled.spans if s.field == text.field]
            told = {
                "id": f"{settled.entry.id}-{number}",
                "text": text.content,
                "style": settled.case.data_type or "note",
                "spans": spans,
            }
            yield json.dumps(told, ensure_ascii=False) + "\n"
