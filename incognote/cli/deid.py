"""`incognote deid`: de-identify files, folders, and standard input."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incognote.cli import options
from incognote.cli.shell import HELD, put_out, remedies, say, warn

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from incognote.cli.job import Release
    from incognote.files.inputs import Input, RecordDefaults
    from incognote.files.sources import Source
    from incognote.runs.journal import FinishedInput
    from incognote.runs.tally import Tally
    from incognote.sdk import Deidentifier


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
    also: Annotated[
        list[str] | None,
        typer.Option(
            help="Write these beside each released scan, too.",
            metavar="text,hocr,pdf",
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an interrupted run: complete outputs in --out are kept.")
    ] = False,
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
    tables: options.FileTableOptions,
    form: options.Format = None,
    index: options.RecordsIndex = None,
) -> None:
    """De-identify notes, records, tables, documents, scans, and DICOM files.

    Reads text, records (.json, .hl7, .xml), tables (.csv, .parquet), documents (.docx, .xlsx, .pdf, .rtf, .html, .eml),
    images (.png, .jpg, .tiff), DICOM, archives, and folders of them. A record that passes every check is released. All
    others are encrypted and stored in the quarantine.

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
    from incognote.cli.job import (
        also_derived,
        derived_files,
        holding,
        only_one,
        progress,
        quarantine_folder,
        settle,
        table_layout,
    )
    from incognote.cli.showing import Shower, may_show
    from incognote.cli.summary import counts, name_unread, print_summary, write_manifest
    from incognote.errors import UsageError
    from incognote.files.atomic import exclusive
    from incognote.files.digests import InputDigests
    from incognote.files.holding import supersede
    from incognote.files.inputs import RecordDefaults, read_all
    from incognote.files.outputs import Outputs, output_of, place
    from incognote.files.quarantine import Quarantine
    from incognote.files.sources import find
    from incognote.formats.audio import SOUNDS
    from incognote.runs.freezing import deciding
    from incognote.runs.journal import Journal, run_of
    from incognote.runs.units import counted

    started = datetime.now(UTC)
    showing = may_show(show, anyway=show_anyway)
    if showing and as_json:
        raise UsageError("--show prints text for people and --json prints data for programs. Use one of the two.")
    if ask_known and "-" in inputs:
        raise UsageError("--ask-known needs the terminal, but standard input is an input. Use --known FILE instead.")
    if resume and overwrite:
        raise UsageError("--resume continues a run and --overwrite starts it again. Use one of the two.")
    subject = asked.subject()
    sources = find(inputs, form=form, missing=True)
    where = place(out, sources) if out else None
    if resume and (where is None or where.is_file):
        raise UsageError("--resume needs an output folder. Add --out FOLDER.")
    kinds = also_derived(also, where)
    heard = any(source.kind in SOUNDS for source in sources.files)
    folder = quarantine_folder(quarantine, where, sources)
    made = engine(
        asked,
        models,
        persistent=folder is not None,
        hashes=any(source.kind not in ("text", "other") for source in sources.files),
        base={
            "recorded_run": (run_of(where.folder) if resume and where else None) or token_hex(8),
            **({"index": index} if index is not None else {}),
        },
    )
    ctx.with_resource(made)
    made.ready()
    if heard and where and not where.is_file and made.engine.voice == "remove" and "text" not in kinds:
        kinds = (*kinds, "text")  # all sound is removed, so only the transcript is left
    keyring = made.engine.keyring
    if where:
        ctx.with_resource(where.exclusive())
    if folder:
        ctx.with_resource(exclusive(folder, private=True))
    held = Quarantine(folder, keyring) if folder else None
    layout = table_layout(made, sources, tables, asked.data_type)
    words = RecordDefaults(subject, asked.domain, asked.data_type, known_of(known, ask=ask_known))
    shower = Shower() if showing else None
    data: dict[str, Any] = {}
    finished: Mapping[Source, FinishedInput] = {}
    if where and held:
        settings = decisive(made, words, keep_names=keep_names)
        journal, digests = None, InputDigests(sources.files, made.engine.mac_id)
        if not where.is_file:
            decides = _decides(made, words, deciding(made, layout=layout, words=words), settings, folder)
            decides |= {"also": kinds} if kinds else {}
            journal = Journal(
                where.folder, decides, made.engine.mac_id, sources.files, resume=resume, overwrite=overwrite,
                shares=made.engine.shares,
            )  # fmt: skip
            finished, digests = journal.finished, journal.digests
        complete = {source: (one.output, one.released) for source, one in finished.items() if one.output}
        outputs = Outputs(
            where, sources.files, keyring, keep_names=keep_names, overwrite=overwrite or resume, complete=complete,
            also=kinds,
        )  # fmt: skip
        outputs.images |= {one.output: one.image for one in finished.values() if one.output and one.image}
        pending = [source for source in sources.files if source not in finished]
        release: Release = outputs.release
        hold = holding(held, made)
        with outputs, progress(pending, hidden=showing) as tick:
            stream = read_all(pending, words, layout)
            if journal:
                journal.open()
                ctx.call_on_close(journal.shut)
                stream, release, hold = journal.watched(stream), *journal.noting(outputs, hold)
            tally = settle(made, stream, release, hold, shower, tick)
        if journal:
            journal.close(outputs)
            tally.merge(journal.earlier)
        supersede(held)
        report = reading.report(tally.models, made)
        read = {"inputs": digests.all(), **({"derived": derived_files(outputs)} if kinds else {})}
        write_manifest(where, outputs, tally, report, settings, read, started=started, hidden=len(sources.hidden))
        if overwrite and (others := outputs.others()):
            warn(
                f"--out: {where.folder} also holds files of earlier runs ({others:,}) that are not in the manifest. "
                "Their policy may differ. Remove them, or choose a new folder."
            )
        if outputs.without_pages:
            without = counted(outputs.without_pages, "record")
            warn(f"--also: nothing is derived from what is neither an image nor a scan. Released without: {without}")
        data = {"manifest": str(where.manifest), "out": str(where.target), "already_complete": len(finished)}
    else:
        released: list[tuple[Input, str | bytes]] = []
        tally = settle(
            made,
            only_one(read_all(sources.files, words, layout)),
            lambda one, result: released.append((one, output_of(one, result, keyring))),
            holding(held, made),
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
        hidden = len(sources.hidden) + len(tally.left_out)
        say("deid", {**counts(tally), "models": report, **data, "hidden": hidden, "quarantine": place_held})
    elif where:
        print_summary(tally, report, where=where, quarantine=folder)
        if finished:
            typer.echo(f"{len(finished):,} of {len(sources.files):,} inputs were already complete")
    else:
        explain_held(tally, kept=held is not None)
        if report is not None:
            warn(reading.line(report, report["records"]))
    name_unread(tally, sources.hidden)
    if tally.held or (tally.not_read and not ignore_unreadable):
        raise typer.Exit(HELD)


def _decides(
    made: Deidentifier,
    words: RecordDefaults,
    deciding: dict[str, Any],
    settings: dict[str, Any],
    quarantine: Path | None,
) -> dict[str, Any]:
    """Return the settings that decide the outputs of a run, by option name. Values that can be PHI are keyed hashes."""
    keyed, own = made.engine.mac_id, made.engine.settings
    roster = own.roster.read_bytes().hex() if own.roster else ""
    hidden = {"patient": words.patient, "roster": roster, "index": own.index, "quarantine": str(quarantine)}
    known = deciding.pop("settings")["known"]
    return {
        **{name: value for name, value in settings.items() if name not in ("told", "recorded_run")}, **deciding,
        **{name: keyed(value or "") for name, value in hidden.items()}, "known": known, "run": own.recorded_run,
    }  # fmt: skip


def printable(output: str | bytes) -> str:
    """Return a released output as a string for JSON. Bytes are encoded as base64."""
    from base64 import b64encode

    return output if isinstance(output, str) else b64encode(output).decode("ascii")


def print_released(one: Input, text: str | bytes) -> None:
    """Print the released text unchanged. On a terminal, it is in UTF-8 with a final line end."""
    from incognote.formats.encoding import UTF8

    if isinstance(text, bytes):
        put_out(text)
        return
    head = one.table.table.head if one.table else ""
    whole = head + text + one.ending
    if sys.stdout.isatty():
        put_out(UTF8.encode(whole if whole.endswith("\n") else f"{whole}\n"))
    else:
        put_out(one.codec.encode(whole))


def explain_held(tally: Tally, *, kept: bool) -> None:
    """Explain why the record was not printed, or that the input holds no record."""
    if not tally.read and not tally.not_read:
        warn("The input holds no record.")
    for (outcome, code), reason in sorted(tally.examples.items()):
        remedy = remedies().get(code, "")
        warn(f"not released ({outcome}): {reason}" + (f" ({remedy})" if remedy else ""))
    if tally.held and not kept:
        warn("The record was not kept. To keep it encrypted, add --out FOLDER or --quarantine FOLDER.")
