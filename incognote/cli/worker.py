"""`incognote worker`: empties a sink into a lab, unattended; `incognote plan`: what that will take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from incognote.cli import options
from incognote.cli.shell import HELD, say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from incognote.formats.tables import Layout
    from incognote.sdk import Deidentifier
    from incognote.service.sinks.place import Place
    from incognote.service.worker.around import Done
    from incognote.service.worker.worker import Worker

_SERVICE = options.SERVICE
SinkPlace = Annotated[
    str, typer.Argument(metavar="SINK", help="A folder, or a store: s3://…, gs://…, az://…. It is only read.")
]


@options.takes_all
def worker(
    ctx: typer.Context,
    sink: SinkPlace,
    *,
    lab: Annotated[
        str,
        typer.Option(help="Where released records go; only written.", rich_help_panel=_SERVICE, metavar="FOLDER|URL"),
    ],
    ledger: options.LedgerUrl,
    release: Annotated[
        str,
        typer.Option(
            help="The name of the release: it freezes policy, schemas, prompts, models and code.",
            rich_help_panel=_SERVICE,
            metavar="NAME",
        ),
    ],
    quarantine: Annotated[
        str,
        typer.Option(
            help="Where records go, encrypted, that are not released.", rich_help_panel=_SERVICE, metavar="FOLDER"
        ),
    ],
    reviews: Annotated[
        str | None,
        typer.Option(
            help="The database of the review page; without it records in review wait in the quarantine.",
            rich_help_panel=_SERVICE,
            metavar="URL",
        ),
    ] = None,
    staging: Annotated[
        str | None,
        typer.Option(
            help="Of a lab in a store: where shards stand until they are whole; default: its own prefix in the lab.",
            rich_help_panel=_SERVICE,
            metavar="URL",
        ),
    ] = None,
    one_way: Annotated[
        bool,
        typer.Option(
            "--one-way", help="Refuse to start where this process could read the lab.", rich_help_panel=_SERVICE
        ),
    ] = False,
    once: Annotated[bool, typer.Option("--once", help="End when the sink is empty.")] = False,
    shards: Annotated[
        Literal["lines", "parquet"], typer.Option(help="How records stand in the lab.", rich_help_panel=options.OUT)
    ] = "lines",
    packing: Annotated[
        Literal["none", "gzip", "zstd"],
        typer.Option("--packing", help="How shards are compressed.", rich_help_panel=options.OUT),
    ] = "none",
    ignore_unreadable: options.IgnoreUnreadable = False,
    as_json: options.AsJson = False,
    asked: options.Asked,
    models: options.AskedModels,
    tables: options.AskedTables,
) -> None:
    """De-identify what is in a sink, and what comes into it.

    Several workers may share one sink and one ledger. Reads .txt, .json, .jsonl, .ndjson, .csv, .tsv, each also .gz
    and .zst, and .parquet. Files of other kinds go to the quarantine; what cannot be read is named; what begins with a
    dot is left to its writer. A first Ctrl-C (or SIGTERM) finishes what is in hand and returns the rest.
    """
    import asyncio

    from incognote.cli.engine import engine
    from incognote.cli.shell import warn
    from incognote.errors import UsageError
    from incognote.files.inputs import Words
    from incognote.files.quarantine import Quarantine
    from incognote.ledger import Ledger
    from incognote.service.sinks.lab import open_lab
    from incognote.service.sinks.place import file_of, keep_apart, place
    from incognote.service.sinks.sink import Sink
    from incognote.service.watching import Watching
    from incognote.service.worker.frozen import begun, frozen
    from incognote.service.worker.worker import Worker

    subject = asked.subject()
    places = {"the sink": place(sink), "the lab": place(lab), "the quarantine": place(quarantine)}
    if staging is not None:
        places["the staging place"] = place(staging)
    keep_apart({**places, "the ledger": file_of(ledger)})
    if places["the quarantine"].store is not None:
        raise UsageError("--quarantine is a folder of this machine")
    made = engine(asked, models, persistent=True)
    ctx.with_resource(made)
    made.ready()
    settings, keyring = made.tools.settings.service, made.tools.keyring
    _keep_own(made, places, reviews)
    words = Words(subject, asked.domain, asked.data_type)
    layout = _layout(made, tables, asked.data_type)
    opened_sink = Sink(places["the sink"], rest=settings.rest_seconds, shown=sink)
    opened_lab = open_lab(places["the lab"], places.get("the staging place"))
    if opened_lab.readable():
        if one_way:
            raise UsageError("--one-way: this process can read the lab; take that right from it")
        warn("this process can read the lab; a one-way policy takes that right from it (docs/worker.md)")
    book = Ledger(ledger, keyring)
    ctx.call_on_close(book.close)
    made_of = frozen(
        made, layout=layout, words=words, form=shards, packing=packing, part_bytes=settings.part_bytes
    )
    named = begun(book, opened_lab, release, made_of)
    held = Quarantine(f"{places['the quarantine'].root}/{release}", keyring)
    watching = ctx.with_resource(Watching(made, release=release, source=sink))
    watching.tell("release.frozen", check=named.digest)
    around = watching.around(_reviews(reviews, made))
    one = Worker(
        made, opened_sink, opened_lab, book, named, held,
        layout=layout, words=words, form=shards, packing=packing, around=around,
    )  # fmt: skip
    with watching.faults():
        done = asyncio.run(_until_stopped(one, once=once))
    unread = book.unread(named.id)
    _tell(done, book.counts(named.id), unread, sink=opened_sink.shown, as_json=as_json)
    if done.states.total() != done.states["released"] or (unread and not ignore_unreadable):
        raise typer.Exit(HELD)


def _keep_own(made: Deidentifier, places: Mapping[str, Place], reviews: str | None) -> None:
    """Refuse to keep what is ours where others read or write.

    Raises:
        UsageError: databases, audit log or key lie in the sink or in the lab.
    """
    from incognote.service.sinks.place import file_of, keep_apart, place
    from incognote.service.watching import audit_folder, database_of

    settings = made.tools.settings
    own = {
        "the queue of review": file_of(reviews),
        "the service's database": file_of(database_of(settings)),
        "the audit log": place(str(audit_folder(settings))),
        "the key": None if settings.key_file is None else place(str(settings.key_file)),
    }
    for name in ("the sink", "the lab"):
        for what, where in own.items():
            keep_apart({name: places[name], what: where})


async def _until_stopped(worker: Worker, *, once: bool) -> Done:
    """Run; the first signal asks the worker to end, the second one ends it."""
    import asyncio
    import signal

    loop = asyncio.get_running_loop()
    running = asyncio.current_task()
    assert running is not None  # we are in it
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


def _layout(made: Deidentifier, told: options.AskedTables, data_type: str | None) -> Layout | None:
    """How tables are read; None where nobody said: they are quarantined then."""
    from incognote.errors import UsageError
    from incognote.formats.tables import Columns, Layout

    said, data_type = told.columns(), data_type or made.tools.settings.data_type
    if said != Columns(()) and data_type:
        raise UsageError("a table has a schema (--data-type) or options for its columns, not both")
    if said == Columns(()) and not data_type:
        return None
    return Layout(made.tools.registry.get(data_type) if data_type else said, told.group, told.order)


def _reviews(url: str | None, made: Deidentifier) -> Any:
    if url is None:
        return None
    from incognote.service.review import ReviewQueue

    return ReviewQueue(url, made.tools.keyring)


def _tell(done: Done, counts: dict[Any, int], unread: Sequence[tuple[str, str]], *, sink: str, as_json: bool) -> None:
    """Counts on the standard output; on the standard error every file that was not read, by the path as typed."""
    from collections import Counter

    from incognote.cli.shell import warn
    from incognote.cli.showing import visible

    for name, why in unread:
        path = visible(f"{sink.rstrip('/')}/{name}")
        warn(f"not read: {path}: {why}")
    by_code = Counter(why for _, why in unread)
    told = {
        "settled": dict(sorted(done.states.items())),
        "skipped": done.skipped,
        "shards": done.shards,
        "pauses": done.pauses,
        "not_read": len(unread),
        "files_unread": dict(sorted(by_code.items())),
        "release": dict(sorted(counts.items())),
    }
    if as_json:
        say("worker", told)
        return
    from incognote.cli.tables import print_table

    states = sorted({*done.states, *counts})
    rows = [(state, f"{done.states[state]:,}", f"{counts.get(state, 0):,}") for state in states]
    print_table(("state", "by this worker", "in the release"), rows)
    for why, number in sorted(by_code.items()):
        typer.echo(f"{number:,} not read, or not to the end: {why}")


@options.takes_all
def plan(
    ctx: typer.Context,
    sink: SinkPlace,
    *,
    sample: Annotated[int, typer.Option(help="Records that are run to foretell the rest.", min=1)] = 200,
    workers: Annotated[int, typer.Option(help="Workers side by side.", min=1)] = 1,
    as_json: options.AsJson = False,
    asked: options.Asked,
    models: options.AskedModels,
    tables: options.AskedTables,
) -> None:
    """Foretell hours, cores, money and the queue of review, from a sample of a sink. Nothing is written."""
    import asyncio

    from incognote.cli.engine import engine
    from incognote.cli.tables import print_table
    from incognote.files.inputs import Words
    from incognote.service.sinks.place import place
    from incognote.service.sinks.sink import Sink
    from incognote.service.worker.plan import foretell

    made = engine(asked, models)
    ctx.with_resource(made)
    words = Words(asked.subject(), asked.domain, asked.data_type)
    layout = _layout(made, tables, asked.data_type)
    told = asyncio.run(
        foretell(made, Sink(place(sink)), layout=layout, words=words, sample=sample, workers=workers)
    )
    if as_json:
        say("plan", told.as_dict())
        return
    print_table(("", ""), told.rows())
