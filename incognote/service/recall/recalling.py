"""A recall: tombstones for the lab first, then the ledger, then the report. Broken off, it is simply done again."""

from __future__ import annotations

import json
import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from incognote.ledger import Entry, Ledger
from incognote.service.audit import AuditLog
from incognote.service.recall.incident import How, Incident
from incognote.service.sinks.lab import Lab

TOMBSTONES = "tombstones"
_PAGE = 500


def tombstone_lines(entries: Iterable[Entry], incident: str, why: str) -> bytes:
    """What the lab is told: JSON lines of shard, line and record key, for it to delete."""
    rows = [
        {
            "shard": entry.shard,
            "line": entry.line,
            "record": entry.key,
            "release": entry.release,
            "manifest": entry.manifest,
            "why": why,
            "incident": incident,
        }
        for entry in entries
    ]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def recall(
    ledger: Ledger,
    lab: Lab,
    audit: AuditLog,
    affected: Iterable[Entry],
    find: Callable[[], Iterable[Entry]],
    *,
    by: str,
    how: How,
    made_by: str | None = None,
    requeue: bool = False,
) -> Incident:
    """Recall outputs.

    Args:
        affected: released records, as `find` found them.
        find: the search, of `finding`; it runs again at the end, and the incident says how many it still finds.
        by: who of the staff does it.
        how: by what they were sought.
        made_by: the version that was sought.
        requeue: have the records claimed again in their own release. A new release claims them anyway.

    Raises:
        IncognoteError: audit log, lab or ledger do not serve; what was done so far is found done when it is run again.
    """
    began, incident = datetime.now(UTC), secrets.token_hex(8)
    audit.append("recall.began", incident=incident, by=by, route=how)
    found = sorted(affected, key=lambda entry: entry.id)
    name = f"{TOMBSTONES}/{incident}.jsonl" if found else None
    if name is not None:
        lab.put(name, tombstone_lines(found, incident, "recalled"))
    keys: dict[str, list[str]] = defaultdict(list)
    for entry in found:
        keys[entry.release].append(entry.key)
    requeued = 0
    releases = {one.name: one for one in ledger.releases()}
    for release, of_release in keys.items():
        for start in range(0, len(of_release), _PAGE):
            some = of_release[start : start + _PAGE]
            ledger.mark(releases[release].id, some, "tombstoned", "recalled")
            audit.append_all(
                ("record.tombstoned", {"incident": incident, "release": release, "record": key}) for key in some
            )
            if requeue:
                requeued += ledger.requeue(releases[release].id, some)
    left = sum(1 for _ in find())
    end = audit.append("recall.ended", incident=incident, by=by, outputs=len(found), records=requeued, count=left)
    return Incident(
        incident,
        began.isoformat(timespec="seconds"),
        datetime.now(UTC).isoformat(timespec="seconds"),
        by,
        how,
        made_by,
        dict(sorted(Counter(entry.release for entry in found).items())),
        tuple(sorted({entry.shard for entry in found if entry.shard})),
        name,
        requeued,
        left,
        {release: dict(releases[release].frozen) for release in sorted(keys)},
        f"{end.number}:{end.hash}",
    )
