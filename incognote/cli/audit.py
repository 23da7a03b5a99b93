"""`incognote audit`: check and read the tamper-evident audit log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from incognote.cli import options
from incognote.cli.help import App
from incognote.cli.key import own_settings
from incognote.cli.shell import FAILURE, say

if TYPE_CHECKING:
    from incognote.settings import Settings

app = App(help="Check and read the tamper-evident audit log.")

Folder = Annotated[
    str | None,
    typer.Argument(metavar="FOLDER", help="The folder of the log. Default: the service's log.", show_default=False),
]


@app.command()
def verify(
    folder: Folder = None,
    head: Annotated[
        list[str] | None,
        typer.Option(
            help="A head that `audit head` printed earlier and that you kept elsewhere. Repeatable.", metavar="N:HASH"
        ),
    ] = None,
    without_key: Annotated[
        bool, typer.Option("--without-key", help="Check the chain only, for an auditor who does not have the key.")
    ] = False,
    as_json: options.AsJson = False,
    config: options.Config = None,
    key_file: options.KeyFile = None,
) -> None:
    """Check every entry of the audit log. The exit code is 1 if an entry was changed, removed, or inserted.

    A person who can write the folder could replace the whole log with an older copy. Only a head that you keep
    elsewhere reveals that. Each worker logs a head when it ends.

    Example:
        incognote audit verify
    """
    from incognote.service.audit import ChainHead
    from incognote.service.audit import verify as check

    settings = own_settings(config, key_file)
    keyring = None if without_key else settings.keyring(persistent=True)
    report = check(_folder(folder, settings), keyring, [ChainHead.parse(one) for one in head or ()])
    if as_json:
        data = {
            "sound": report.sound,
            "first": report.first,
            "last": report.last,
            "head": str(report.head),
            "sealed": report.sealed,
            "backward": report.backward,
            "faults": [{"code": f.code, "segment": f.segment, "line": f.line} for f in report.faults],
        }
        say("audit verify", data)
    else:
        for fault in report.faults:
            typer.echo(str(fault))
        typer.echo(f"{report.last - report.first + 1 if report.last else 0:,} entries. Last entry: {report.head}")
        if not report.sealed:
            typer.echo(
                "The seals were not checked, so a forgery of the whole chain would not be detected. Use the key to "
                "check them."
            )
        if report.backward:
            typer.echo(
                f"The clock went back {report.backward:,} times. Entries are in the order in which they were written."
            )
        typer.echo("The log is intact." if report.sound else "The log is NOT intact.")
    if not report.sound:
        raise typer.Exit(FAILURE)


@app.command()
def head(folder: Folder = None, config: options.Config = None, key_file: options.KeyFile = None) -> None:
    """Print the current end of the log. Keep it elsewhere and pass it to `audit verify --head` later.

    Example:
        incognote audit head
    """
    from incognote.service.audit import AuditLog

    settings = own_settings(config, key_file)
    typer.echo(str(AuditLog(_folder(folder, settings), settings.keyring(persistent=True)).head()))


@app.command("list")
def list_(
    folder: Folder = None,
    event: Annotated[
        list[str] | None, typer.Option(help="Show only events whose name begins with NAME. Repeatable.", metavar="NAME")
    ] = None,
    since: Annotated[
        str | None, typer.Option(help="Show only entries from this day on (UTC).", metavar="YYYY-MM-DD")
    ] = None,
    as_json: options.AsJson = False,
    config: options.Config = None,
    key_file: options.KeyFile = None,
) -> None:
    """Print the entries without checking them. They hold no PHI.

    Example:
        incognote audit list --since 2026-01-31
    """
    from incognote.service.audit import entries

    wanted = [
        entry
        for entry in entries(_folder(folder, own_settings(config, key_file)))
        if (not event or entry.event.startswith(tuple(event))) and (since is None or entry.at >= since)
    ]
    if as_json:
        rows = [{"number": e.number, "at": e.at, "event": e.event, "facts": dict(e.facts)} for e in wanted]
        say("audit list", {"entries": rows})
        return
    for entry in wanted:
        facts = " ".join(f"{name}={value}" for name, value in entry.facts.items())
        typer.echo(f"{entry.number} {entry.at} {entry.event} {facts}".rstrip())


@app.command()
def sentinels(
    folder: Folder = None,
    as_json: options.AsJson = False,
    config: options.Config = None,
    key_file: options.KeyFile = None,
) -> None:
    """Show the recall on sentinel notes for each day, with its 95% interval.

    Example:
        incognote audit sentinels
    """
    from incognote.cli.tables import print_table
    from incognote.service.audit import entries
    from incognote.service.sentinels import nightly

    days = nightly(entries(_folder(folder, own_settings(config, key_file))))
    if as_json:
        data = [
            {"day": day, "notes": one.notes, "failed": one.failed, "leaked": one.leaked, "recall": one.recall.as_dict(),
             "missed": dict(one.missed)}
            for day, one in days.items()
        ]  # fmt: skip
        say("audit sentinels", {"days": data})
        return
    rows = [
        (day, f"{one.notes:,}", str(one.recall), f"{one.planted:,}", f"{one.leaked:,}", ", ".join(sorted(one.missed)))
        for day, one in days.items()
    ]
    print_table(("day", "notes", "recall", "planted", "leaked", "types missed"), rows)


def _folder(named: str | None, settings: Settings) -> str:
    from incognote.service.monitoring import audit_folder

    return named or str(audit_folder(settings))
