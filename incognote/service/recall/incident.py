"""What is told of a recall: numbers, keyed names and versions, nothing of a patient."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from incognote.files.atomic import write_whole

How = Literal["patient", "words", "version"]


@dataclass(frozen=True, slots=True)
class Incident:
    """One recall.

    Args:
        id: random, 16 hexadecimal digits; tombstones and audit log bear it.
        began, ended: UTC.
        by: who of the staff did it.
        how: by what outputs were sought. The patient and the words themselves are told nowhere.
        made_by: the version that was sought; None otherwise.
        outputs: how many were recalled, by release.
        shards: names of the shards they are in.
        tombstones: the name of the file in the lab; None where nothing was found.
        requeued: how many records wait to be claimed again in their own release.
        left: how many released outputs the same search found afterwards.
        releases: what was frozen in each release concerned.
        head: where the audit log ended.
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
        """Into a file of its own, readable by its owner only -> the file.

        Raises:
            Unwritable: it cannot be written.
        """
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        target = folder / f"{self.id}.json"
        write_whole(target, json.dumps(asdict(self), indent=2).encode() + b"\n", private=True)
        return target


def report_text(incident: Incident) -> str:
    """The report as an officer files it, in Markdown."""
    sought = {"patient": "one patient's records", "words": "words in outputs", "version": "what made them"}[
        incident.how
    ]
    lines = [
        f"# Incident {incident.id}",
        "",
        f"- Recall begun {incident.began}, ended {incident.ended}, by {incident.by}.",
        f"- Outputs were sought by {sought}{f': {incident.made_by}' if incident.made_by else ''}.",
        f"- Outputs recalled: {incident.count} in {len(incident.shards)} shards.",
        *(f"  - release {name}: {count}" for name, count in incident.outputs.items()),
        f"- Tombstones in the lab: {incident.tombstones or 'none were needed'}.",
        f"- Records that are claimed again in the same release: {incident.requeued}.",
        f"- The same search, run again after the recall, finds {incident.left} released outputs.",
        f"- Audit log up to {incident.head}.",
        "",
        "## Left to people",
        "",
        "1. The lab deletes every line that the tombstones name, and copies made of it, and says so.",
        "2. Find the cause: a policy, a pack, a model, a roster. Mend it, and show it by a test of its own.",
        "3. Begin a new release under a new name; what was recalled stays recalled in the old one.",
        "4. The privacy officer assesses whether it was a breach (45 CFR 164.402) and whom to notify by when (164.404: "
        "without unreasonable delay, at the latest 60 days after discovery).",
        "5. `incognote audit verify` with this report's head shows that nothing was changed since.",
        "",
    ]
    return "\n".join(lines)
