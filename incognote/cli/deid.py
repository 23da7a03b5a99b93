"""`incognote deid`: de-identify files, folders and the standard input."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incognote.cli import options
from incognote.cli.shell import HELD, put_out, remedies, say, warn

if TYPE_CHECKING:
    from incognote.files.inputs import Input
    from incognote.runs.tally import Tally


@options.takes_all
def deid(
    ctx: typer.Context,
    inputs: Annotated[list[str], typer.Argument(metavar="INPUT", help="Files and folders. Use - for standard input.")],
    out: Annotated[
        str | None,
        typer.Option(
            help="A folder, or a file for a single input file. Default: print one record.",
            metavar="FOLDER|FILE",
        ),
    ] = None,
    quarantine: Annotated[
        str | None,
        typer.Option(
            help="Where to store held records, encrypted. Default: the name of --out with -quarantine added.",
            metavar="FOLDER",
        ),
    ] = None,
    keep_names: Annotated[
        bool,
        typer.Option(
            "--keep-names",
            help="Keep the names of the inputs, which can identify patients. Default: keyed hashes.",
        ),
    ] = False,
    overwrite: options.Overwrite = False,
    ignore_unreadable: options.IgnoreUnreadable = False,
    as_json: options.AsJson = False,
    show: Annotated[
        bool,
        typer.Option("--show", help="Show the original and new text on the terminal. This displays PHI."),
    ] = False,
    show_anyway: Annotated[
        bool,
        typer.Option(
            "--show-anyway",
            rich_help_panel=options.RECORDS,
            help="Like --show, also when the output is a file or a pipe.",
        ),
    ] = False,
    *,
    asked: options.EngineOptions,
    models: options.ModelOptions,
    known: options.Known = None,
    ask_known: Annotated[
        bool,
        typer.Option(
            "--ask-known",
            help="Prompt for known identifiers on the terminal.",
            rich_help_panel=options.RECORDS,
        ),
    ] = False,
    tables: options.TableOptions,
    form: options.Format = None,
) -> None:
    """De-identify notes, records, and tables.

    Reads .txt, .json, .jsonl, .ndjson, .csv, .tsv, formats of installed packages, their .gz versions, and folders of
    them. A record that passes every check is released. All others are encrypted and stored in the quarantine, where you
    can retry them. Skipped files are listed.

    Examples:
        incognote deid examples/discharge_summary.txt
        incognote deid examples/records.jsonl --out released
        incognote deid examples/notes.csv --data-type csvNotes --out released.csv
    """
    from datetime import UTC, datetime
    from secrets import token_hex

    from incognote.cli import reading
    from incognote.cli.deciding import decisive
    from incognote.cli.engine import engine, known_of
    from incognote.cli.job import only_one, progress, quarantine_folder, settle, table_layout
    from incognote.cli.showing import Shower, may_show
    from incognote.cli.summary import counts, name_unread, print_summary, write_manifest
    from incognote.errors import UsageError
    from incognote.files.atomic import exclusive
    from incognote.files.holding import supersede
    from incognote.files.inputs import RecordDefaults, read_all
    from incognote.files.outputs import Outputs, place
    from incognote.files.quarantine import Quarantine
    from incognote.files.sources import find

    started = datetime.now(UTC)
    showing = may_show(show, anyway=show_anyway)
    if showing and as_json:
        raise UsageError("--show is for people, --json for programs: take one")
    if ask_known and "-" in inputs:
        raise UsageError("--ask-known needs the standard input, which is an input already: use --known FILE")
    subject = asked.subject()
    sources = find(inputs, form=form, missing=True)
    where = place(out, sources) if out else None
    folder = quarantine_folder(quarantine, where, sources)
    made = engine(
        asked,
        models,
        persistent=folder is not None,
        hashes=any(source.kind not in ("text", "other") for source in sources.files),
        base={"recorded_run": token_hex(8)},
    )
    ctx.with_resource(made)
    made.ready()
    keyring = made.engine.keyring
    if where:
        ctx.with_resource(where.exclusive())
    if folder:
        ctx.with_resource(exclusive(folder, private=True))
    held = Quarantine(folder, keyring) if folder else None
    layout = table_layout(made, sources, tables, asked.data_type)
    words = RecordDefaults(subject, asked.domain, asked.data_type, known_of(known, ask=ask_known))
    stream = read_all(sources.files, words, layout)
    shower = Shower() if showing else None
    data: dict[str, Any] = {}
    if where and held:
        outputs = Outputs(where, sources.files, keyring, keep_names=keep_names, overwrite=overwrite)
        with outputs, progress(sources.files, hidden=showing) as tick:
            tally = settle(made, stream, lambda one, result: outputs.write(one, result.content), held, shower, tick)
        supersede(held)
        settings = decisive(made, words, keep_names=keep_names)
        report = reading.report(tally.models, made)
        write_manifest(where, outputs, tally, report, settings, started=started, hidden=len(sources.hidden))
        data = {"manifest": str(where.manifest), "out": str(where.target)}
    else:
        released: list[tuple[Input, str | bytes]] = []
        tally = settle(
            made,
            only_one(stream),
            lambda one, result: released.append((one, result.content)),
            held,
            shower,
            lambda one: None,
        )
        report = reading.report(tally.models, made)
        for one, text in released:
            data = {"output": printable(text)}
            if not (showing or as_json):
                print_released(one, text)
    if as_json:
        place_held = str(folder) if folder else None
        say(
            "deid",
            {**counts(tally), "models": report, **data, "hidden": len(sources.hidden), "quarantine": place_held},
        )
    elif where:
        print_summary(tally, report, where=where, quarantine=folder)
    else:
        explain_held(tally, kept=held is not None)
        if report is not None:
            warn(reading.line(report, report["records"]))
    name_unread(tally, sources.hidden)
    if tally.held or (tally.not_read and not ignore_unreadable):
        raise typer.Exit(HELD)


def printable(output: str | bytes) -> str:
    """A released output in JSON: bytes in base64."""
    from base64 import b64encode

    return output if isinstance(output, str) else b64encode(output).decode("ascii")


def print_released(one: Input, text: str | bytes) -> None:
    """The released text as it is; on a terminal a line end is added where it lacks one."""
    if isinstance(text, bytes):
        put_out(text)
        return
    head = one.table.table.head if one.table else ""
    data = one.codec.encode(head + text + one.ending)
    put_out(data + b"\n" if sys.stdout.isatty() and not text.endswith("\n") else data)


def explain_held(tally: Tally, *, kept: bool) -> None:
    """Why the one record was not printed, or that there was none."""
    if not tally.read and not tally.not_read:
        warn("there is no record in the input")
    for (outcome, code), reason in sorted(tally.examples.items()):
        remedy = remedies().get(code, "")
        warn(f"not released ({outcome}): {reason}" + (f" ({remedy})" if remedy else ""))
    if tally.held and not kept:
        warn("it was not kept anywhere: add --out FOLDER or --quarantine FOLDER")
