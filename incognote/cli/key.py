"""`incognote key`: manage the master key and the keys of the REST API."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incognote.cli import options
from incognote.cli.help import App
from incognote.cli.shell import say, warn
from incognote.cli.tables import print_rows

if TYPE_CHECKING:
    from incognote.service.api.keys import ApiKeys
    from incognote.service.audit import AuditLog
    from incognote.settings import Settings

app = App(help="Create and rotate the master key, and manage API keys.")
api = App(help="Manage the keys of the REST API: new, list, revoke.")
app.add_typer(api, name="api")

LOSS = (
    "Keep a copy in a safe place. Without it, you cannot open the quarantine, repeat hashes and date shifts, "
    "or find an input's output."
)


@app.command("new")
def new(
    path: Annotated[
        str | None,
        typer.Argument(metavar="PATH", help="Where to write the key. Default: where incognote looks for it."),
    ] = None,
) -> None:
    """Create a master key in a file that only you can read. An existing file is never replaced.

    Example:
        incognote key new
    """
    from incognote.errors import UsageError
    from incognote.keys import Keyring
    from incognote.settings import home

    target = Path(path).expanduser() if path else home() / "master.key"
    try:
        key = Keyring.write_new(target)
    except FileExistsError:
        raise UsageError(
            f"{target} already exists. Choose another path. Do not delete a key: data that was made with it needs it."
        ) from None
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}.") from None
    typer.echo(f"Key {key.id} written to {target}")
    typer.echo(LOSS)
    if path:
        typer.echo(f"To use it, add --key-file {target} or set INCOGNOTE_KEY_FILE={target}")


def key_file(settings: Settings, *, persistent: bool) -> Path | None:
    """Return the key file in the home folder of incognote; None if a key is configured or none is needed.

    Args:
        persistent: create a missing key file and print a warning.
    """
    from incognote.keys import Keyring

    if settings.key_sources:
        return None
    own = settings.home / "master.key"
    if own.exists():
        return own
    if not persistent:
        return None
    try:
        key = Keyring.write_new(own)
    except FileExistsError:
        return own  # another run created it first
    except OSError as error:
        from incognote.errors import KeyMissing

        raise KeyMissing(
            f"No key is configured, and {own} cannot be written: {error.strerror}. Use --key-file FILE."
        ) from None
    warn(f"No key is configured. Created key {key.id} in {own}. {LOSS}")
    return own


def own_settings(config: str | None, key: str | None, *, persistent: bool = False, **more: Any) -> Settings:
    """Return the settings. If no key is configured, they use the key in the home folder of incognote.

    Args:
        config, key: the settings file and the key file from the options.
        persistent: create a missing key and print a warning.
        more: additional settings.
    """
    from incognote.settings import Settings

    settings = Settings.load(config, key_file=key, **more)
    own = key_file(settings, persistent=persistent)
    return settings if own is None else settings.model_copy(update={"key_file": own})


@api.command("new")
def new_api_key(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="The person or program that will use the key. Recorded in the audit log.",
            show_default=False,
        ),
    ],
    role: Annotated[
        list[str],
        typer.Option(
            help="submit (send texts), try (use the try page), review (read and correct), approve (release records, "
            "approve schemas), or reveal (see originals). Repeatable.",
            metavar="ROLE",
            show_default=False,
        ),
    ],
    days: Annotated[int | None, typer.Option(help="Days until the key expires.", min=1, max=3650)] = None,
    config: options.Config = None,
    key_file: options.KeyFile = None,
    as_json: options.AsJson = False,
) -> None:
    """Create an API key. It is shown once. Only its hash is stored.

    Example:
        incognote key api new etl --role submit --days 90
    """
    from datetime import UTC, datetime, timedelta

    with _keys(config, key_file) as (keys, audit):
        expires = None if days is None else datetime.now(UTC) + timedelta(days=days)
        made, written = keys.new(name, options.split(role), expires=expires)
        audit.append("key.issued", api_key=made.name)
    if as_json:
        say("key api new", {**asdict(made), "key": written})
        return
    typer.echo(written)
    typer.echo(f"Key {made.id} of {made.name} ({', '.join(made.roles)}). It is not shown again.", err=True)


@api.command("list")
def list_api_keys(
    config: options.Config = None, key_file: options.KeyFile = None, as_json: options.AsJson = False
) -> None:
    """List all API keys, including revoked ones. The keys themselves are never shown.

    Example:
        incognote key api list
    """
    with _keys(config, key_file, create=False) as (keys, _):
        held = keys.items()
    print_rows(
        "key api list",
        {"keys": [asdict(key) for key in held]},
        ("key", "holder", "roles", "made", "expires", "revoked"),
        [(k.id, k.name, " ".join(k.roles), k.made[:10], (k.expires or "")[:10], (k.revoked or "")[:16]) for k in held],
        as_json=as_json,
        empty="There are no API keys.",
    )


@api.command("revoke")
def revoke_api_key(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of its holder, or its id.", show_default=False)],
    config: options.Config = None,
    key_file: options.KeyFile = None,
) -> None:
    """Revoke an API key. The next request with it is refused.

    Example:
        incognote key api revoke etl
    """
    with _keys(config, key_file, create=False) as (keys, audit):
        ended = keys.revoke(name)
        audit.append("key.revoked", api_key=ended.name)
    typer.echo(f"Key {ended.id} of {ended.name} is revoked.")


@contextmanager
def _keys(config: str | None, own_key: str | None, *, create: bool = True) -> Iterator[tuple[ApiKeys, AuditLog]]:
    """Open the API keys in the configured database, and the audit log that records changes to them.

    Args:
        create: create the master key and the database if they do not exist.
    """
    from incognote.errors import MissingExtra

    try:
        from incognote.service.api.keys import ApiKeys
        from incognote.service.audit import AuditLog
        from incognote.service.monitoring import audit_folder, database_of, existing_database_of
    except ImportError:
        raise MissingExtra("service", "the REST API") from None
    settings = own_settings(config, own_key, persistent=create)
    keyring = settings.keyring(persistent=True)
    keys = ApiKeys(database_of(settings) if create else existing_database_of(settings), keyring)
    try:
        yield keys, AuditLog(audit_folder(settings), keyring)
    finally:
        keys.close()
