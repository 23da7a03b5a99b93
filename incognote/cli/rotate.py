"""`incognote key rotate`: encrypt all stores under a new master key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from incognote.cli import options
from incognote.cli.key import app, own_settings
from incognote.cli.shell import say

if TYPE_CHECKING:
    from pathlib import Path

    from incognote.keys import Keyring


@app.command("rotate")
def rotate(
    new_key_file: Annotated[
        str | None, typer.Option(help="The file with the new key.", metavar="FILE", show_default=False)
    ] = None,
    new_key_fd: Annotated[
        int | None, typer.Option(help="Or an open file descriptor to read it from.", metavar="N", min=3)
    ] = None,
    new_key_command: Annotated[
        str | None, typer.Option(help="Or a command that prints it. It runs without a shell.", metavar="COMMAND")
    ] = None,
    quarantine: Annotated[
        list[str] | None,
        typer.Option(help="A quarantine folder, or a folder of them. Repeatable.", metavar="FOLDER"),
    ] = None,
    ledger: options.AnyLedgerUrl = None,
    reviews: Annotated[
        list[str] | None,
        typer.Option(
            help="The review queue of the worker, if it is not in the service's database. Repeatable.", metavar="URL"
        ),
    ] = None,
    index: options.Index = None,
    as_json: options.AsJson = False,
    config: options.Config = None,
    key_file: options.KeyFile = None,
) -> None:
    """Encrypt all stores under a new key. Stop the workers and the API first, and name every store.

    Index, recording, audit log, and the database of the service come from the settings, which still name the old key.
    If interrupted, run the same command again. Later hashes, date shifts, and surrogates differ from earlier ones, so
    start a new release. Afterwards, set the new key in the settings.

    Example:
        incognote key rotate --new-key-file new.key --quarantine held --ledger sqlite:///ledger.db
    """
    from dataclasses import asdict
    from pathlib import Path

    from incognote.cli.tables import print_table
    from incognote.errors import MissingExtra
    from incognote.relex.index.opening import password_of
    from incognote.sqlite import sqlite_file

    try:
        from incognote.service.monitoring import account, audit_folder, database_of
        from incognote.service.rotation import Stores
        from incognote.service.rotation import rotate as rotated
    except ImportError:
        raise MissingExtra("service", "the service's stores") from None
    new = _new(new_key_file, new_key_fd, new_key_command)
    settings = own_settings(config, key_file, index=index)
    former = settings.keyring(persistent=True)
    databases = dict.fromkeys(reviews or ())
    own = sqlite_file(database_of(settings))
    if own is None or own.is_file():  # there may be no service
        databases[database_of(settings)] = None
    audit = audit_folder(settings)
    stores = Stores(
        quarantines=_folders(map(Path, quarantine or ())),
        ledger=ledger,
        databases=tuple(databases),
        index=settings.index,
        index_password=password_of(settings),
        recording=settings.recording,
        audit=audit if audit.is_dir() else None,
    )
    done = rotated(stores, former, new, by=account())
    if as_json:
        say("key rotate", {"key": new.id, "former_key": former.id, "stores": [asdict(one) for one in done]})
        return
    print_table(("store", "re-encrypted"), [(one.store, f"{one.items:,}") for one in done])
    typer.echo(
        f"The stores are now under key {new.id}. Set it in the settings, and start a new release. Keep key "
        f"{former.id} as long as you keep backups: it opens only them."
    )


def _new(file: str | None, descriptor: int | None, command: str | None) -> Keyring:
    from incognote.errors import UsageError
    from incognote.keys import Keyring

    if [file, descriptor, command].count(None) != 2:
        raise UsageError("Name one of --new-key-file, --new-key-fd, and --new-key-command.")
    if file is not None:
        return Keyring.read(file)
    return Keyring.from_command(command) if command is not None else Keyring.from_descriptor(descriptor or 0)


def _folders(named: map[Path]) -> list[Path]:
    """Return the folders and the release folders in them.

    Raises:
        UsageError: a folder does not exist. Thus, a typo does not leave a store under the old key.
    """
    from incognote.errors import UsageError

    found: list[Path] = []
    for folder in named:
        if not folder.is_dir():
            raise UsageError(f"--quarantine: {folder} does not exist.")
        found += [folder, *(child for child in sorted(folder.iterdir()) if child.is_dir())]
    return found
