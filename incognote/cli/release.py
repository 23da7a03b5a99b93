"""`incognote release`: list and compare the releases of the worker."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incognote.cli import options
from incognote.cli.help import App
from incognote.cli.shell import say
from incognote.cli.tables import print_table

if TYPE_CHECKING:
    from incognote.ledger import Ledger

app = App(help="List and compare the releases of the worker.")
_STATES = ("released", "review", "quarantined", "refused", "tombstoned", "claimed", "found")


@app.command("list")
def list_(
    ledger: options.LedgerUrl,
    as_json: options.AsJson = False,
    config: options.Config = None,
    key_file: options.KeyFile = None,
) -> None:
    """List all releases, their records by state, and their shards.

    Example:
        incognote release list --ledger sqlite:///ledger.db
    """
    from datetime import UTC, datetime

    book = _opened(ledger, config, key_file)
    releases: list[dict[str, Any]] = []
    for release in book.releases():
        shards = book.shards(release.id)
        releases.append(
            {
                "name": release.name,
                "digest": release.digest,
                "made": datetime.fromtimestamp(release.made, UTC).isoformat(timespec="seconds"),
                "policy": release.frozen["policy"],
                "records": dict(sorted(book.counts(release.id).items())),
                "shards": len(shards),
                "bytes": sum(shard.bytes for shard in shards),
                "parts_to_do": book.to_do(release.id),
                "files_unread": dict(sorted(Counter(code for _, code in book.unread(release.id)).items())),
            }
        )
    book.close()
    if as_json:
        say("release list", {"releases": releases})
        return
    if not releases:
        typer.echo("There are no releases yet.")
        return
    rows = [
        (
            one["name"],
            one["digest"],
            one["made"][:16],
            f"{one['policy']['name']} {one['policy']['version']}",
            *(f"{one['records'].get(state, 0):,}" for state in _STATES),
            f"{one['shards']:,}",
        )
        for one in releases
    ]
    print_table(("release", "frozen", "since", "policy", *_STATES, "shards"), rows)


@app.command()
def diff(
    one: Annotated[str, typer.Argument(help="A release.", show_default=False)],
    other: Annotated[str, typer.Argument(help="The release to compare with.", show_default=False)],
    ledger: options.LedgerUrl,
    as_json: options.AsJson = False,
    config: options.Config = None,
    key_file: options.KeyFile = None,
) -> None:
    """Show what differs between two releases.

    Example:
        incognote release diff 2026-01 2026-02 --ledger sqlite:///ledger.db
    """
    from incognote.ledger.ledger import diff as differing

    book = _opened(ledger, config, key_file)
    found = differing(book.release(one).frozen, book.release(other).frozen)
    book.close()
    if as_json:
        say("release diff", {"differences": {path: list(pair) for path, pair in sorted(found.items())}})
        return
    if not found:
        typer.echo("The releases differ only in their names.")
        return
    print_table(("", one, other), [(path, *map(_short, pair)) for path, pair in sorted(found.items())])


def _short(value: Any) -> str:
    return "–" if value is None else value if isinstance(value, str) else json.dumps(value)


def _opened(url: str, config: str | None, own_key: str | None) -> Ledger:
    from incognote.cli.heldfolder import own_keyring
    from incognote.ledger import Ledger

    return Ledger(url, own_keyring(config, own_key), create=False)
