"""`incognote worker` processes a source without supervision. `incognote plan` estimates time and cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from incognote.cli import options
from incognote.cli.shell import HELD, say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from incognote.formats.tables import Layout
    from incognote.runs.location import Location
    from incognote.sdk import Deidentifier
    from incognote.service.worker.hooks import WorkerCounts
    from incognote.service.worker.worker import Worker

SinkPlace = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A folder, a storage URL (s3://…, gs://…, az://…), or with --table a database URL. It is only read.",
    ),
]


@options.takes_all
def worker(
    ctx: typer.Context,
    source: SinkPlace,
    *,
    destination: Annotated[
        str,
        typer.Option(help="Where to write released records.", metavar="FOLDER|URL"),
    ],
    ledger: options.LedgerUrl,
    release: Annotated[
        str,
        typer.Option(
            help="The name of the release. It fixes policy, schemas, prompts, models, and code.",
            metavar="NAME",
        ),
    ],
    quarantine: Annotated[
        str,
        typer.Option(help="Where to store records that are not released, encrypted.", metavar="FOLDER"),
    ],
    reviews: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=options.DETAILS,
            help="The database of the review page. Without it, records for review wait in the quarantine.",
            metavar="URL",
        ),
    ] = None,
    staging: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=options.DETAILS,
            help="For a storage URL: where to keep incomplete shards. Default: a prefix in the destination.",
            metavar="URL",
        ),
    ] = None,
    one_way: Annotated[
        bool,
        typer.Option(
            "--one-way",
            rich_help_panel=options.DETAILS,
            help="Refuse to start if this process can read the destination.",
        ),
    ] = False,
    once: Annotated[bool, typer.Option("--once", help="Exit when the source is empty.")] = False,
    shards: Annotated[
        Literal["lines", "parquet"],
        typer.Option(rich_help_panel=options.DETAILS, help="The format of the outputs.", metavar="lines|parquet"),
    ] = "lines",
    packing: Annotated[
        Literal["none", "gzip", "zstd"],
        typer.Option(
            "--packing",
            rich_help_panel=options.DETAILS,
            help="The compression of the outputs.",
            metavar="none|gzip|zstd",
        ),
    ] = "none",
    ignore_unreadable: options.IgnoreUnreadable = False,
    as_json: options.AsJson = False,
    asked: options.EngineOptions,
    models: options.ModelOptions,
    tables: options.TableOptions,
    databases: options.DatabaseOptions,
) -> None:
    """De-identify all records of a source, and new ones as they arrive.

    Several workers can share a source and a ledger. Reads the files that `incognote deid` reads, and their .zst
    versions. Other files go to the quarantine. Files that cannot be read are listed. The first Ctrl-C finishes the
    current records. For databases, see docs/databases.md.

    Example:
        incognote worker notes --destination released --ledger sqlite:///ledger.db --release 2026-01 --quarantine held
    """
    import asyncio

    from incognote.cli.databases import databases_of, open_places
    from incognote.cli.engine import engine
    from incognote.cli.shell import warn
    from incognote.errors import UsageError
    from incognote.files.inputs import RecordDefaults
    from incognote.files.quarantine import Quarantine
    from incognote.ledger import Ledger
    from incognote.runs.location import database_file, keep_apart, open_location
    from incognote.runs.shards import begun
    from incognote.service.monitoring import ServiceMonitor
    from incognote.service.worker.freezing import frozen
    from incognote.service.worker.worker import Worker

    subject = asked.subject()
    from_table, into_table = databases_of(source, destination, databases)
    for database in filter(None, (from_table, into_table)):
        ctx.call_on_close(database.close)
    places: dict[str, Location | None] = {
        "the source": open_location(source) if from_table is None else from_table.place,
        "the destination": open_location(destination) if into_table is None else into_table.place,
        "the quarantine": open_location(quarantine),
    }
    if staging is not None:
        places["the staging place"] = open_location(staging)
    keep_apart({**places, "the ledger": database_file(ledger)})
    held_in = places["the quarantine"]
    if held_in is None or held_in.store is not None:
        raise UsageError("--quarantine must be a folder on this machine, not a storage URL.")
    made = engine(asked, models, persistent=True)
    ctx.with_resource(made)
    made.ready()
    settings, keyring = made.engine.settings.service, made.engine.keyring
    _keep_own(made, places, reviews)
    words = RecordDefaults(subject, asked.domain, asked.data_type)
    layout = _layout(made, tables, asked.data_type)
    opened_source, opened_destination = open_places(
        places, from_table, into_table, databases, layout, rest=settings.rest_seconds, shown=source,
        files=(shards, packing) == ("lines", "none"),
    )  # fmt: skip
    if opened_destination.readable():
        if one_way:
            raise UsageError("--one-way: this process can read the destination. Remove its read permission there.")
        warn("This process can read the destination. To prevent that, see \"One way\" in docs/worker.md.")
    book = Ledger(ledger, keyring)
    ctx.call_on_close(book.close)
    made_of = frozen(
        made, layout=layout, words=words, form=shards, packing=packing, part_bytes=settings.part_bytes
    )
    named = begun(book, opened_destination, release, made_of)
    held = Quarantine(f"{held_in.root}/{release}", keyring)
    monitor = ctx.with_resource(ServiceMonitor(made, release=release, source=source))
    monitor.tell("release.frozen", check=named.digest)
    hooks = monitor.hooks(_reviews(reviews, made))
    one = Worker(
        made, opened_source, opened_destination, book, named, held,
        layout=layout, words=words, form=shards, packing=packing, hooks=hooks,
    )  # fmt: skip
    with monitor.faults():
        done = asyncio.run(_until_stopped(one, once=once))
    unread = book.unread(named.id)
    _tell(done, book.counts(named.id), unread, source=opened_source.shown, as_json=as_json)
    if done.states.total() != done.states["released"] or (unread and not ignore_unreadable):
        raise typer.Exit(HELD)


def _keep_own(made: Deidentifier, places: Mapping[str, Location | None], reviews: str | None) -> None:
    """Refuse to store our own files where others read or write.

    Raises:
        UsageError: a database, the audit log, or the key is in the source or the destination.
    """
    from incognote.runs.location import database_file, keep_apart, open_location
    from incognote.service.monitoring import audit_folder, database_of

    settings = made.engine.settings
    own = {
        "the review queue": database_file(reviews),
        "the service's database": database_file(database_of(settings)),
        "the audit log": open_location(str(audit_folder(settings))),
        "the key": None if settings.key_file is None else open_location(str(settings.key_file)),
    }
    for name in ("the source", "the destination"):
        for what, where in own.items():
            keep_apart({name: places[name], what: where})


async def _until_stopped(worker: Worker, *, once: bool) -> WorkerCounts:
    """Run the worker. The first signal asks it to stop, the second one stops it at once."""
    import asyncio
    import signal

    loop = asyncio.get_running_loop()
    running = asyncio.current_task()
    assert running is not None  # this coroutine runs in a task
    asked = False

    def stop() -> None:
        nonlocal asked
        if asked:
            running.cancel()
        asked = True
        worker.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        return await worker.run(once=once)
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def _layout(made: Deidentifier, told: options.TableOptions, data_type: str | None) -> Layout | None:
    """Return the layout of tables; None if none was given, and then tables are quarantined."""
    from incognote.errors import UsageError
    from incognote.formats.tables import Columns, Layout

    said, data_type = told.columns(), data_type or made.engine.settings.data_type
    if said != Columns(()) and data_type:
        raise UsageError("A table is described by a schema (--data-type) or by column options. Use one of the two.")
    if said == Columns(()) and not data_type:
        return None
    return Layout(made.engine.registry.get(data_type) if data_type else said, told.group, told.order)


def _reviews(url: str | None, made: Deidentifier) -> Any:
    if url is None:
        return None
    from incognote.service.review import ReviewQueue

    return ReviewQueue(url, made.engine.keyring)


def _tell(
    done: WorkerCounts, counts: dict[Any, int], unread: Sequence[tuple[str, str]], *, source: str, as_json: bool
) -> None:
    """Print the counts on standard output, and every unread file on standard error, by the path as typed."""
    from collections import Counter

    from incognote.cli.shell import warn
    from incognote.cli.showing import visible

    for name, why in unread:
        path = visible(f"{source.rstrip('/')}/{name}")
        warn(f"not read: {path}: {why}")
    by_code = Counter(why for _, why in unread)
    data = {
        "settled": dict(sorted(done.states.items())),
        "skipped": done.skipped,
        "shards": done.shards,
        "pauses": done.pauses,
        "not_read": len(unread),
        "files_unread": dict(sorted(by_code.items())),
        "release": dict(sorted(counts.items())),
    }
    if as_json:
        say("worker", data)
        return
    from incognote.cli.tables import print_table

    states = sorted({*done.states, *counts})
    rows = [(state, f"{done.states[state]:,}", f"{counts.get(state, 0):,}") for state in states]
    print_table(("state", "by this worker", "in the release"), rows)
    for why, number in sorted(by_code.items()):
        typer.echo(f"{number:,} not read completely: {why}")


@options.takes_all
def plan(
    ctx: typer.Context,
    source: SinkPlace,
    *,
    sample: Annotated[int, typer.Option(help="Number of records to run for the estimate.", min=1)] = 200,
    workers: Annotated[int, typer.Option(help="Number of parallel workers.", min=1)] = 1,
    within: Annotated[
        float | None,
        typer.Option(
            help="Also tell how many workers, or cores of Spark executors, finish in this time.", metavar="HOURS"
        ),
    ] = None,
    as_json: options.AsJson = False,
    asked: options.EngineOptions,
    models: options.ModelOptions,
    tables: options.TableOptions,
) -> None:
    """Estimate the time, cost, and review queue of a run from a sample.

    Nothing is written.

    Example:
        incognote plan examples --data-type csvNotes --sample 20
    """
    import asyncio

    from incognote.cli.engine import engine
    from incognote.cli.tables import print_table
    from incognote.errors import UsageError
    from incognote.files.inputs import RecordDefaults
    from incognote.runs.location import open_location
    from incognote.runs.source import WatchedSource
    from incognote.service.worker.estimate import estimate

    if within is not None and within <= 0:
        raise UsageError("--within: the hours must be more than 0.")
    made = engine(asked, models)
    ctx.with_resource(made)
    words = RecordDefaults(asked.subject(), asked.domain, asked.data_type)
    layout = _layout(made, tables, asked.data_type)
    forecast = asyncio.run(
        estimate(made, WatchedSource(open_location(source)), layout=layout, words=words, sample=sample, workers=workers)
    )
    needed = {} if within is None else {"needed": forecast.needed(within)}
    if as_json:
        say("plan", {**forecast.as_dict(), **needed})
        return
    rows = [(f"for {within:g} hours", f"about {number:,} workers or cores of executors") for number in needed.values()]
    print_table(("", ""), [*forecast.rows(), *rows])
