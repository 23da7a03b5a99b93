"""What a run tells at its end: a table, one JSON line, and the manifest beside the outputs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incognote.runs.tally import OUTCOMES

if TYPE_CHECKING:
    from incognote.files.outputs import Outputs, Place
    from incognote.runs.tally import Tally

_WORDS = {"release": "released", "review": "for review", "quarantine": "quarantined"}


def counts(tally: Tally) -> dict[str, Any]:
    """The tally as JSON holds it; no PHI."""
    return {
        "records": tally.read,
        "not_read": len(tally.not_read),
        "unserved": dict(sorted(tally.unserved.items())),
        **{_WORDS[outcome].replace("for ", ""): tally.outcomes[outcome] for outcome in OUTCOMES},
        "review_share": round(tally.review_share, 4),
        "reasons": {
            outcome: {code: n for (o, code), n in sorted(tally.reasons.items()) if o == outcome}
            for outcome in ("review", "quarantine")
        },
        "unsupported": dict(sorted(tally.formats.items())),
        "replaced": dict(sorted(tally.replaced.items())),
        "unsought": dict(sorted(tally.unsought.items())),
        "mended": tally.mended,
        "widened": tally.widened,
    }


def write_manifest(
    where: Place,
    outputs: Outputs,
    tally: Tally,
    models: Mapping[str, Any] | None,
    settings: Mapping[str, Any] | None,
    *,
    started: datetime,
    hidden: int = 0,
) -> None:
    """The run's manifest: what decided it, in hashes and counts, and what was written; no PHI.

    Args:
        models: what language models did (`reading.told`).
        settings: what a replay needs beside (`deciding.decisive`); None for what cannot be replayed.
        hidden: files and folders that were left out because their names begin with a dot.
    """
    from incognote.files.atomic import write_atomic

    told = {
        **tally.labels,
        "schemas": dict(sorted(tally.schemas.items())),
        "settings": settings,
        "started": started.isoformat(timespec="seconds"),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        **counts(tally),
        "models": models,
        "hidden": hidden,
        "outputs": [
            {"name": name, "records": n, "sha256": digest_of(where.folder / name)}
            for name, n in outputs.written.items()
        ],
    }
    write_atomic(where.manifest, (json.dumps(told, indent=2) + "\n").encode())


def digest_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def print_summary(tally: Tally, models: Mapping[str, Any] | None, *, where: Place, quarantine: Path | None) -> None:
    """What a person reads at the end of a run, on the standard output."""
    import typer

    from incognote.cli import reading
    from incognote.cli.shell import remedies
    from incognote.cli.tables import print_table

    policy = tally.labels.get("policy", {}).get("name")
    typer.echo(f"{tally.read:,} record{_s(tally.read)}" + (f" under the policy {policy}" if policy else ""))
    rows = []
    for outcome in OUTCOMES:
        count = tally.outcomes[outcome]
        share = f"{100 * count / tally.read:.1f} %" if tally.read else ""
        rows.append((_WORDS[outcome], f"{count:>9,}", f"{share:>7}", ""))
        rows += [
            (f"  {code}", f"{n:>9,}", "", remedies().get(code, ""))
            for (o, code), n in tally.reasons.most_common()
            if o == outcome
        ]
    print_table(("",) * 4, rows)
    if models is not None:
        print_table(("", ""), list(reading.rows(models)))
    if tally.formats:
        typer.echo("without a reader: " + ", ".join(f"{n:,} {what}" for what, n in sorted(tally.formats.items())))
    if tally.not_read:
        typer.echo(f"{len(tally.not_read):,} input{_s(len(tally.not_read))} not read")
    if tally.outcomes["release"]:
        typer.echo(f"released to {where.target}")
    if tally.held and quarantine:
        typer.echo(f"held in {quarantine} (see: incognote quarantine list {quarantine})")
    typer.echo(f"manifest {where.manifest}")


def name_unread(tally: Tally, hidden: Sequence[str] = ()) -> None:
    """Every input that was not read, by the path the user typed, and what was not sought, on the standard error.

    Args:
        hidden: paths that were left out because their names begin with a dot.
    """
    from incognote.cli.shell import warn
    from incognote.cli.showing import visible

    for shown, why in tally.not_read:
        warn(f"not read: {visible(shown)}: {why}")
    for shown in hidden:
        warn(f"left out: {visible(shown)}: its name begins with a dot")
    if tally.unsought:
        most = ", ".join(f"{n:,} {kind}" for kind, n in sorted(tally.unsought.items()))
        warn(f"known values too short to be sought, or not written as their type is: {most}")


def _s(count: int) -> str:
    return "" if count == 1 else "s"
