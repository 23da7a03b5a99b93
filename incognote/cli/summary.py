"""The summary of a run: a table, one JSON line, and the manifest beside the outputs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incognote.errors import ModelStopped
from incognote.runs.tally import OUTCOMES
from incognote.runs.units import counted

if TYPE_CHECKING:
    from incognote.files.outputs import Outputs, Place
    from incognote.runs.tally import Tally

_WORDS = {"release": "released", "review": "for review", "quarantine": "quarantined"}


def counts(tally: Tally) -> dict[str, Any]:
    """Return the tally as data for JSON, without PHI."""
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
        "labeled": dict(sorted(tally.labeled.items())),
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
    inputs: Mapping[str, Any],
    *,
    started: datetime,
    hidden: int = 0,
) -> None:
    """Write the manifest of a run: its settings as names and hashes, its counts, and its outputs. No PHI.

    Args:
        models: the report on language models (`reading.told`).
        settings: the settings for a replay (`deciding.decisive`); None if the run cannot be replayed.
        inputs: what a replay must read: `inputs` with the digests of all inputs, or for a retry `retry` with its
            number and `records` with the digests of its records.
        hidden: hidden files and folders, and system files, which were skipped.
    """
    from incognote.files.atomic import write_atomic
    from incognote.files.digests import sha256_of

    manifest = {
        **tally.labels,
        "schemas": dict(sorted(tally.schemas.items())),
        "settings": settings,
        **inputs,
        "started": started.isoformat(timespec="seconds"),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        **counts(tally),
        "models": models,
        "hidden": hidden + len(tally.left_out),
        "outputs": [
            {
                "name": name, "records": n, "sha256": sha256_of(where.folder / name),
                **({"image": outputs.images[name]} if name in outputs.images else {}),
            }
            for name, n in outputs.in_order().items()
        ],
    }
    write_atomic(where.manifest, (json.dumps(manifest, indent=2) + "\n").encode())


def print_summary(tally: Tally, models: Mapping[str, Any] | None, *, where: Place, quarantine: Path | None) -> None:
    """Print the summary of a run for people, on standard output."""
    import typer

    from incognote.cli import reading
    from incognote.cli.shell import remedies
    from incognote.cli.tables import print_table

    policy = tally.labels.get("policy", {}).get("name")
    typer.echo(counted(tally.read, "record") + (f", policy {policy}" if policy else ""))
    places = {"release": str(where.target), "quarantine": str(quarantine), "review": str(quarantine)}
    print_table(
        ("",) * 4,
        [
            (
                f"  {_WORDS[outcome]}",
                f"{tally.outcomes[outcome]:>9,}",
                f"{100 * tally.outcomes[outcome] / tally.read if tally.read else 0:>6.1f}%",
                places[outcome] if tally.outcomes[outcome] else "",
            )
            for outcome in OUTCOMES
        ],
    )
    for outcome in OUTCOMES:
        reasons = [(code, n) for (o, code), n in tally.reasons.most_common() if o == outcome]
        if reasons:
            typer.echo(f"Reasons ({_WORDS[outcome]})")
            print_table(("",) * 3, [(f"  {code}", f"{n:>9,}", remedies().get(code, "")) for code, n in reasons])
    if stopped := tally.examples.get(("quarantine", ModelStopped.code)):
        typer.echo(f"The run ended early: {stopped.detail}")
    print_labeled(tally)
    if models is not None:
        print_table(("", ""), list(reading.rows(models)))
    if tally.formats:
        typer.echo("Content of unsupported files")
        print_table(("",) * 2, [(f"  {what}", f"{n:>9,}") for what, n in sorted(tally.formats.items())])
    if tally.not_read:
        typer.echo(f"{counted(len(tally.not_read), 'input')} not read")
    typer.echo(f"Manifest: {where.manifest}")
    if tally.held and quarantine:
        typer.echo(f"Next: incognote quarantine list {quarantine}")


def print_labeled(tally: Tally) -> None:
    """Print how many findings of released records got a label instead of a surrogate, and why."""
    import typer

    from incognote.cli.tables import print_table
    from incognote.reasons import reason_texts

    if not tally.labeled:
        return
    labeled, of = tally.labeled.total(), tally.replaced.total()
    typer.echo(f"Labeled instead of replaced: {labeled:,} of {of:,} findings ({100 * labeled / of:.1f}%)")
    texts = reason_texts()
    rows = [(f"  {code}", f"{n:>9,}", texts[code].means) for code, n in tally.labeled.most_common()]
    print_table(("",) * 3, rows)


def name_unread(tally: Tally, hidden: Sequence[str] = ()) -> None:
    """List unread inputs, by the path the user typed, and known values that were not searched for, on standard error.

    Args:
        hidden: paths that were skipped.
    """
    from incognote.cli.shell import warn
    from incognote.cli.showing import visible
    from incognote.formats.archive import HIDDEN

    for shown, why in tally.not_read:
        warn(f"not read: {visible(shown)}: {why}")
    for shown in (*hidden, *tally.left_out):
        warn(f"skipped: {visible(shown)}: {HIDDEN.detail}")
    if tally.unsought:
        most = ", ".join(f"{n:,} {kind}" for kind, n in sorted(tally.unsought.items()))
        warn(f"known values that are too short to search for, or that do not fit their type: {most}")
