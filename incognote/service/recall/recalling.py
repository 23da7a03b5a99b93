"""A recall: tombstones for the destination first, then the ledger, then the report. If interrupted, run it again."""

from __future__ import annotations

import json
import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from incognote.files.atomic import write_atomic
from incognote.ledger import Ledger, LedgerEntry
from incognote.runs.destination import TombstonePlace
from incognote.runs.shards import TOMBSTONES, tombstone_lines
from incognote.service.audit import AuditLog

How = Literal["patient", "words", "version"]


@dataclass(frozen=True, slots=True)
class Incident:
    """One recall.

    Args:
        id: random, 16 hexadecimal digits. Tombstones and audit log contain it.
        began, ended: UTC.
        by: the staff member who did it.
        how: the kind of search. The patient and the words themselves are not recorded anywhere.
        made_by: the version that was searched for; None otherwise.
        outputs: the number of recalled outputs, by release.
        shards: the names of their shards.
        tombstones: the name of the file in the destination; None if nothing was found.
        requeued: the number of records that wait to be claimed again in their own release.
        left: the number of released outputs that the same search found afterwards.
        releases: what was frozen in each affected release.
        head: the head of the audit log at the end.
    """

    id: str
    began: str
    ended: str
    by: str
    how: How
    made_by: str | None
    outputs: Mapping[str, int]
    shards: tuple[str, ...]
    tombstones: str | None
    requeued: int
    left: int
    releases: Mapping[str, Mapping[str, object]]
    head: str

    @property
    def count(self) -> int:
        return sum(self.outputs.values())

    def write(self, folder: Path) -> Path:
        """Write it to a separate file, readable by its owner only. Return the file.

        Raises:
            Unwritable: it cannot be written.
        """
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        target = folder / f"{self.id}.json"
        write_atomic(target, json.dumps(asdict(self), indent=2).encode() + b"\n", private=True)
        return target


def report_text(incident: Incident) -> str:
    """Return the report for an officer's files, in Markdown."""
    sought = {"patient": "one patient's records", "words": "words in outputs", "version": "what made them"}[
        incident.how
    ]
    lines = [
        f"# Incident {incident.id}",
        "",
        f"- Recall started {incident.began}, ended {incident.ended}, by {incident.by}.",
        f"- Outputs were searched by {sought}{f': {incident.made_by}' if incident.made_by else ''}.",
        f"- Outputs recalled: {incident.count} in {len(incident.shards)} shards.",
        *(f"  - release {name}: {count}" for name, count in incident.outputs.items()),
        f"- Tombstones in the destination: {incident.tombstones or 'none were needed'}.",
        f"- Records that will be processed again in the same release: {incident.requeued}.",
        f"- The same search, run again after the recall, finds {incident.left} released outputs.",
        f"- Audit log head: {incident.head}.",
        "",
        "## What you still need to do",
        "",
        "1. Delete every line that the tombstones list from the destination, with all copies. If `line` is null, "
        "delete the whole file. Confirm it in writing.",
        "2. Find the cause: a policy, a pack, a model, or a roster. Fix it, and add a test that proves the fix.",
        "3. Start a new release with a new name. Recalled outputs stay recalled in the old one.",
        "4. The privacy officer decides whether it was a breach (45 CFR 164.402), and whom to notify by when (164.404: "
        "without unreasonable delay, at the latest 60 days after discovery).",
        "5. To show that the log was not changed since, run `incognote audit verify` with the head of this report.",
        "",
    ]
    return "\n".join(lines)


_PAGE = 500


def recall(
    ledger: Ledger,
    destination: TombstonePlace,
    audit: AuditLog,
    affected: Iterable[LedgerEntry],
    find: Callable[[], Iterable[LedgerEntry]],
    *,
    by: str,
    how: How,
    made_by: str | None = None,
    requeue: bool = False,
) -> Incident:
    """Recall outputs.

    Args:
        affected: released records, as returned by `find`.
        find: the search, from `finding`. It runs again at the end, and the incident says how many it still finds.
        by: the staff member who does it.
        how: the kind of search.
        made_by: the version that was searched for.
        requeue: have the records claimed again in their own release. A new release claims them anyway.

    Raises:
        IncognoteError: audit log, destination or ledger failed. When it is run again, completed steps are recognized.
    """
    began, incident = datetime.now(UTC), secrets.token_hex(8)
    audit.append("recall.began", incident=incident, by=by, route=how)
    found = sorted(affected, key=lambda entry: entry.id)
    name = f"{TOMBSTONES}/{incident}.jsonl" if found else None
    if name is not None:
        destination.put(name, tombstone_lines(found, incident, "recalled"))
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
