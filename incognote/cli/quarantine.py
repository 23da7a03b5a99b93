"""`incognote quarantine`: list, show, retry, and drop held records."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incognote.cli import options
from incognote.cli.heldfolder import contents_of, listed_in, one_place, opened, own_keyring, places, told_of, with_key
from incognote.cli.help import App
from incognote.cli.shell import FAILURE, HELD, put_out, remedies, say, warn
from incognote.cli.tables import print_table
from incognote.runs.units import counted

if TYPE_CHECKING:
    from incognote.files.inputs import Input
    from incognote.files.quarantine import Held, Quarantine
    from incognote.keys import Keyring
    from incognote.ledger import Ledger, Release
    from incognote.nouns import Result

app = App(help="List, show, retry, and drop records that were not released.")

Book = Annotated[
    str | None,
    typer.Option(
        "--ledger", help="For the quarantine of a worker: its ledger. The name of FOLDER must be the name of the "
                         "release.", metavar="URL"
    ),
]
Folder = Annotated[str, typer.Argument(metavar="FOLDER", help="The quarantine folder of a run.", show_default=False)]


@app.command("list")
def list_(
    folder: Folder,
    long: Annotated[
        bool, typer.Option("--long", "-l", help="Show every reason with its field. With the key, also its details.")
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print one line of JSON instead. It holds no PHI. With --long and the key, it also holds paths and "
            "details, which can be PHI.",
        ),
    ] = False,
    config: options.Config = None,
    key_file: options.KeyFile = None,
) -> None:
    """List the held records and the reasons.

    With the key, it also shows the path of each source file, which can be PHI. FOLDER is the quarantine of a run, or of
    a worker with all its releases. If the configured key is wrong, the exit code is 1.

    Example:
        incognote quarantine list released-quarantine
    """
    from pathlib import Path

    from incognote.cli.key import own_settings
    from incognote.cli.showing import visible
    from incognote.errors import KeyProblem

    records: list[dict[str, Any]] = []
    rows = []
    folders = places(folder)
    locked: KeyProblem | None = None
    of_releases = len(folders) > 1
    for place in folders:
        release = None if place == folder else Path(place).name
        found = listed_in(place)
        unlocked = with_key(place, config, key_file) if found and (long or not as_json) else None
        if isinstance(unlocked, KeyProblem):
            locked, unlocked = unlocked, None
        elif unlocked is not None:  # a path, and the detail of a reason, can be PHI
            _noted(config, key_file, "quarantine.listed", count=len(found))
        for held in found:
            contents = contents_of(unlocked, held, needed=long) if unlocked is not None else None
            whole = contents.reasons if contents is not None else held.reasons
            path = None if contents is None else str(contents.words.get("path") or contents.words["name"])
            records.append({**told_of(held, whole if long else held.reasons, path), "release": release})
            reasons = map(str, whole) if long else sorted({reason.code for reason in held.reasons})
            hashed = held.source if long else f"{held.source[:8]}…{held.source[24:]}"
            source = hashed if path is None else visible(path).replace("\n", "␊")
            row = (held.outcome, source, str(held.position), held.time[:16], "\n".join(reasons))
            rows.append((held.name[:8], *[release or ""] * of_releases, *row))
    if as_json:
        say("quarantine list", {"held": records})
    elif not rows:
        typer.echo("Nothing is held.")
    else:
        print_table(("item", *["release"] * of_releases, "outcome", "source", "no.", "since", "reasons"), rows)
        typer.echo(f"{len(rows):,} held")
        if not long and locked is None:
            typer.echo("To see the details of each reason, add --long.", err=True)
    if locked is not None:
        if not own_settings(config, key_file).key_sources:
            warn("No key is configured. To show source files and details, add --key-file FILE.")
            return
        warn(f"Source files and details are not shown. {locked}")
        raise typer.Exit(FAILURE)


@app.command()
def show(
    folder: Folder,
    item: Annotated[
        str, typer.Argument(metavar="ITEM", help="The beginning of the item name, from `list`.", show_default=False)
    ],
    show_anyway: Annotated[
        bool, typer.Option("--show-anyway", help="Show it even if the output is a file or a pipe.")
    ] = False,
    config: options.Config = None,
    key_file: options.KeyFile = None,
) -> None:
    """Decrypt and show the original of one held record. This displays PHI.

    Example:
        incognote quarantine show released-quarantine 4f2a91c0
    """
    from incognote.cli.showing import on_terminal, visible
    from incognote.errors import UsageError

    if not show_anyway and not on_terminal():
        raise UsageError("This prints PHI, and the output is not a terminal. To print it anyway, add --show-anyway.")
    holding = [place for place in places(folder) if any(held.name.startswith(item) for held in listed_in(place))]
    quarantine = opened(holding[0] if len(holding) == 1 else folder, config, key_file)
    held = quarantine.find(item)
    contents = quarantine.open(held)
    _noted(config, key_file, "quarantine.shown", item=held.name)
    typer.echo(f"item {held.name}: {held.outcome} since {held.time}, policy {held.policy}", err=True)
    for reason in contents.reasons:
        typer.echo(f"  {reason}", err=True)
        if reason.code in remedies():
            typer.echo(f"    {remedies()[reason.code]}", err=True)
    if not held.kept:
        typer.echo("The quarantine does not have the bytes of this record. It exists only in its source.", err=True)
        return
    typer.echo("What follows is PHI.", err=True)
    text = contents.data.decode(contents.words["encoding"], "replace")
    if sys.stdout.isatty() and not {"\0", "\ufffd"} <= set(text):
        typer.echo(visible(text))
    else:
        put_out(contents.data, "Add --show-anyway, and redirect it to a file.")


@app.command()
@options.takes_all
def retry(
    ctx: typer.Context,
    folder: Folder,
    items: Annotated[
        list[str] | None,
        typer.Argument(metavar="ITEM", help="The beginnings of item names. Default: all items.", show_default=False),
    ] = None,
    *,
    out: Annotated[
        str | None,
        typer.Option(
            help="Where to write released records. Existing files stay as they are.",
            metavar="FOLDER",
            show_default=False,
        ),
    ] = None,
    ledger: Book = None,
    keep_names: Annotated[bool, typer.Option("--keep-names", help="Name each output after its input.")] = False,
    reason: Annotated[
        list[str] | None, typer.Option(help="Only records held for this reason. Repeatable.", metavar="CODE")
    ] = None,
    as_json: options.AsJson = False,
    asked: options.EngineOptions,
    models: options.ModelOptions,
) -> None:
    """Process held records again, for example with another policy, schema, or pack.

    Files that were never opened, such as a damaged PDF or a table without a schema, cannot be retried: run `incognote
    deid` on the source file again.

    Records that pass are released and removed from the quarantine. No file in --out is replaced: the outputs and the
    manifest of the first retry have `.retry-1` in their names. With --ledger, the worker reads the records from the
    source again, under the same release.

    Example:
        incognote quarantine retry released-quarantine --out released --policy strict
    """
    from dataclasses import replace
    from datetime import UTC, datetime
    from pathlib import Path
    from secrets import token_hex

    from incognote.cli import reading
    from incognote.cli.deciding import decisive_of
    from incognote.cli.engine import engine
    from incognote.cli.job import apart, holding, progress, settle
    from incognote.cli.summary import counts, print_summary, write_manifest
    from incognote.errors import UsageError
    from incognote.files.atomic import exclusive
    from incognote.files.digests import record_digest
    from incognote.files.holding import held_inputs, sources_of, supersede
    from incognote.files.inputs import RecordDefaults
    from incognote.files.outputs import Outputs, beside
    from incognote.files.quarantine import Quarantine

    started = datetime.now(UTC)
    one_place(folder)
    if (out is None) == (ledger is None):
        raise UsageError("Name either --out, or the --ledger of the worker.")
    if out is None:
        _requeue(folder, items, reason, str(ledger), asked, as_json=as_json)
        return
    subject = asked.subject()
    apart(folder, beside(out))
    made = engine(asked, models, base={"recorded_run": token_hex(8)})
    ctx.with_resource(made)
    made.ready()
    ctx.with_resource(exclusive(Path(folder), private=True))
    ctx.with_resource(exclusive(Path(out)))
    where = beside(out)  # the retry number is reserved from here on
    quarantine = Quarantine(folder, made.engine.keyring)
    supersede(quarantine)
    wanted = _with_reason(_named(quarantine, items) if items else list(quarantine.items()), reason)
    wanted.sort(key=lambda held: (held.source, held.position))  # a replay reads the inputs in this order
    _noted(asked.config, asked.key_file, "quarantine.retried", count=len(wanted))
    outputs = Outputs(where, sources_of(quarantine, wanted), made.engine.keyring, keep_names=keep_names)
    released: set[str] = set()
    never_opened: set[str] = set()
    digests: list[str] = []
    defaults_used = set[RecordDefaults]()

    def release(one: Input, result: Result) -> None:
        outputs.release(one, result)
        released.add(str(one.held))

    def again() -> Iterator[Input]:
        for one in held_inputs(quarantine, wanted, made.engine.registry.get):
            if one.document is None:
                never_opened.add(str(one.held))
            defaults = one.defaults.changed(subject, asked.domain, asked.data_type)
            digests.append(record_digest(one, made.engine.mac_id))
            defaults_used.add(defaults)
            yield replace(one, defaults=defaults)

    with outputs, progress(()) as tick:
        tally = settle(made, again(), release, holding(quarantine, made), None, tick)
    report = reading.report(tally.models, made)
    settings = decisive_of(made, defaults_used, keep_names=keep_names)
    retried = {"retried": {"number": where.retry, "records": digests}}
    write_manifest(where, outputs, tally, report, settings, retried, started=started)
    for held in wanted:
        if held.name in released:
            quarantine.drop(held)
    if as_json:
        places = {"manifest": str(where.manifest), "out": str(where.target)}
        say("quarantine retry", {**counts(tally), "never_opened": len(never_opened), "models": report, **places})
    else:
        print_summary(tally, report, where=where, quarantine=quarantine.folder)
    if never_opened:
        warn(
            f"{counted(len(never_opened), 'item')} cannot be retried, because a run never opened the source file. Run "
            "`incognote deid` on it again, with --format, --data-type, or column options as the reason says. Then "
            f"remove the item: incognote quarantine drop {folder} ITEM"
        )
    if tally.held:
        raise typer.Exit(HELD)


@app.command()
def drop(
    ctx: typer.Context,
    folder: Folder,
    items: Annotated[
        list[str] | None, typer.Argument(metavar="ITEM", help="The beginnings of item names.", show_default=False)
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Drop everything that is held.")] = False,
    yes: options.Yes = False,
    ledger: Book = None,
    config: options.Config = None,
    key_file: options.KeyFile = None,
) -> None:
    """Delete held records permanently.

    Example:
        incognote quarantine drop released-quarantine 4f2a91c0
    """
    from pathlib import Path

    from incognote.errors import UsageError
    from incognote.files.atomic import exclusive

    if bool(items) == everything:
        raise UsageError("Name the items to drop, or use --all.")
    one_place(folder)
    ctx.with_resource(exclusive(Path(folder), private=True))
    quarantine = opened(folder, config, key_file)
    found = list(quarantine.items()) if everything else _named(quarantine, items or ())
    if not found:
        typer.echo("Nothing is held.")
        return
    if not yes and not typer.confirm(f"Permanently delete {counted(len(found), 'held record')}?"):
        raise typer.Exit
    named: dict[str, str] = {}
    book = None
    if ledger is not None:
        book, release = _release_of(folder, ledger, own_keyring(config, key_file))
        named = {"release": release.name}
    _noted(config, key_file, "quarantine.dropped", count=len(found), **named)
    if book is not None:
        book.mark(release.id, [held.name for held in found], "refused", "dropped")
        book.close()
    for held in found:
        quarantine.drop(held)
    typer.echo(f"{counted(len(found), 'item')} dropped.")


def _requeue(
    folder: str,
    items: list[str] | None,
    reason: list[str] | None,
    ledger: str,
    asked: options.EngineOptions,
    *,
    as_json: bool,
) -> None:
    """Queue held records for the worker again. Records that it releases are removed from the folder.

    Raises:
        UsageError: the key was changed, so that no worker can join the release.
    """
    from incognote.errors import UsageError

    keyring = own_keyring(asked.config, asked.key_file)
    quarantine = opened(folder, asked.config, asked.key_file)
    wanted = _with_reason(_named(quarantine, items) if items else list(quarantine.items()), reason)
    book, release = _release_of(folder, ledger, keyring)
    if release.key_id not in (None, keyring.id):
        book.close()
        raise UsageError(
            f"The release {release.name} is fixed to key {release.key_id}, but the current key is {keyring.id}. "
            "Start a worker with a new release name, which processes all records again, or use --out instead of "
            "--ledger."
        )
    _noted(asked.config, asked.key_file, "quarantine.retried", count=len(wanted), release=release.name)
    requeued = book.requeue(release.id, [held.name for held in wanted])
    book.close()
    if as_json:
        say("quarantine retry", {"requeued": requeued, "release": release.name})
    else:
        typer.echo(
            f"{requeued:,} of {len(wanted):,} records will be processed again by the next worker of {release.name}."
        )


def _release_of(folder: str, ledger: str, keyring: Keyring) -> tuple[Ledger, Release]:
    from pathlib import Path

    from incognote.ledger import Ledger

    book = Ledger(ledger, keyring, create=False)
    return book, book.release(Path(folder).resolve().name)


def _named(quarantine: Quarantine, items: Sequence[str]) -> list[Held]:
    """Return the held records with these names, without duplicates.

    Raises:
        UnknownName: no item, or more than one item, begins with a given name.
    """
    return list({held.name: held for held in map(quarantine.find, items)}.values())


def _with_reason(found: Sequence[Held], codes: Sequence[str] | None) -> list[Held]:
    """Return the records held for one of the codes, or all records if no codes are given.

    Raises:
        UsageError: a code is unknown, and nothing is held for it.
    """
    from incognote.errors import UsageError

    if not codes:
        return list(found)
    there = {reason.code for held in found for reason in held.reasons}
    wrong = [code for code in codes if code not in there and code not in remedies()]
    if wrong:
        raise UsageError(
            f"--reason: nothing is held for {wrong[0]!r}. Reasons in this folder: {', '.join(sorted(there)) or 'none'}."
        )
    return [held for held in found if {reason.code for reason in held.reasons} & set(codes)]


def _noted(config: str | None, own_key: str | None, event: str, **facts: str | int) -> None:
    """Append an event to the service's audit log, if it exists."""
    from incognote.service.monitoring import noted
    from incognote.settings import Settings

    noted(Settings.load(config), own_keyring(config, own_key), event, **facts)
