"""`incognote key api`: keys of the REST API and what they may do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from incognote.cli import options
from incognote.cli.key import app as key_app
from incognote.cli.key import own_settings
from incognote.cli.shell import say
from incognote.cli.tables import print_table

if TYPE_CHECKING:
    from incognote.service.api.keys import ApiKeys
    from incognote.service.audit import AuditLog

app = typer.Typer(help="Keys of the REST API: new, list, revoke.", no_args_is_help=True)
key_app.add_typer(app, name="api")


@app.command("new")
def new(
    name: Annotated[
        str, typer.Argument(help="Who holds it, a person or a program; stands in the audit log.", show_default=False)
    ],
    role: Annotated[
        list[str],
        typer.Option(
            help="submit (hand texts in), review (see and correct), approve (let records and schemas pass), reveal "
            "(take originals out); repeatable.",
            metavar="ROLE",
            show_default=False,
        ),
    ],
    days: Annotated[int | None, typer.Option(help="It ends after so many days.", min=1, max=3650)] = None,
    config: options.Config = None,
    key_file: options.KeyFile = None,
    as_json: options.AsJson = False,
) -> None:
    """Make a key. It is shown once, and only its hash is kept."""
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


@app.command("list")
def list_(
    config: options.Config = None, key_file: options.KeyFile = None, as_json: options.AsJson = False
) -> None:
    """All keys, revoked ones too; never the keys themselves."""
    with _keys(config, key_file) as (keys, _):
        found = keys.items()
    if as_json:
        say("key api list", {"keys": [asdict(key) for key in found]})
        return
    if not found:
        typer.echo("There is no key.")
        return
    print_table(
        ("key", "holder", "roles", "made", "expires", "revoked"),
        [(k.id, k.name, " ".join(k.roles), k.made[:10], (k.expires or "")[:10], (k.revoked or "")[:16]) for k in found],
    )


@app.command("revoke")
def revoke(
    name: Annotated[str, typer.Argument(help="Its holder's name, or its id.", show_default=False)],
    config: options.Config = None,
    key_file: options.KeyFile = None,
) -> None:
    """End a key, from the next request on."""
    with _keys(config, key_file) as (keys, audit):
        ended = keys.revoke(name)
        audit.append("key.revoked", api_key=ended.name)
    typer.echo(f"Key {ended.id} of {ended.name} is revoked.")


@contextmanager
def _keys(config: str | None, own_key: str | None) -> Iterator[tuple[ApiKeys, AuditLog]]:
    """The keys of the configured database, and the audit log that must tell of what is done to them."""
    from incognote.errors import MissingExtra

    try:
        from incognote.service.api.keys import ApiKeys
        from incognote.service.audit import AuditLog
        from incognote.service.monitoring import audit_folder, database_of
    except ImportError:
        raise MissingExtra("service", "the REST API") from None
    settings = own_settings(config, own_key, persistent=True)
    keyring = settings.keyring(persistent=True)
    keys = ApiKeys(database_of(settings), keyring)
    try:
        yield keys, AuditLog(audit_folder(settings), keyring)
    finally:
        keys.close()
