"""`incognote reveals`: requests to reveal, where two people must agree (`reveal_approvals = 2`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from incognote.cli import options
from incognote.cli.key import own_settings
from incognote.cli.shell import say
from incognote.cli.tables import print_table

if TYPE_CHECKING:
    from incognote.service.audit import AuditLog
    from incognote.service.reveals import Reveals

app = typer.Typer(help="Requests to reveal, where two people must agree: list, approve.", no_args_is_help=True)


@app.command("list")
def list_(as_json: options.AsJson = False, config: options.Config = None, key_file: options.KeyFile = None) -> None:
    """The requests that have not ended or been used: who asks, for what, and why."""
    with _opened(config, key_file) as (reveals, _):
        found = reveals.items()
    if as_json:
        say("reveals list", {"requests": [asdict(one) for one in found]})
        return
    rows = []
    for one in found:
        asked = {name: str(value) for name, value in one.about["question"].items() if value is not None}
        words = ", ".join(f"{name}: {value}" for name, value in asked.items())
        rows.append((one.id, one.by, one.ends, one.approved_by or "", words, one.about["why"]))
    print_table(("request", "by", "ends", "approved by", "asks for", "why"), rows)


@app.command()
def approve(
    request: Annotated[str, typer.Argument(help="Its id, as `reveals list` shows it.", show_default=False)],
    config: options.Config = None,
    key_file: options.KeyFile = None,
) -> None:
    """Approve another person's request. It can then be used once, by whoever asked."""
    from incognote.service.monitoring import account

    with _opened(config, key_file) as (reveals, audit):
        one = reveals.may_approve(request, account())
        audit.append("reveal.approved", item=one.id, by=account())
        reveals.approve(request, account())
    typer.echo(f"Request {one.id} of {one.by} is approved until {one.ends}, for one use.")


@contextmanager
def _opened(config: str | None, key_file: str | None) -> Iterator[tuple[Reveals, AuditLog]]:
    from incognote.service.audit import AuditLog
    from incognote.service.monitoring import audit_folder
    from incognote.service.reveals import open_reveals

    settings = own_settings(config, key_file)
    keyring = settings.keyring(persistent=True)
    with closing(open_reveals(settings, keyring)) as reveals:
        yield reveals, AuditLog(audit_folder(settings), keyring)
