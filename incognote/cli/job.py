"""Functions that combine the parts of a run of `deid` or `quarantine retry`."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incognote.cli import options
from incognote.cli.engine import serve
from incognote.errors import MissingExtra, UsageError
from incognote.files.digests import sha256_of
from incognote.files.holding import hold
from incognote.files.inputs import TABLES, Input, check_tables, header
from incognote.files.outputs import DERIVED, Outputs, Place
from incognote.files.quarantine import Quarantine
from incognote.files.sources import Source, Sources
from incognote.formats import archive
from incognote.formats.tables import Columns, Layout, Layouts
from incognote.runs.driver import run
from incognote.runs.tally import Tally

if TYPE_CHECKING:
    from incognote.cli.showing import Shower
    from incognote.nouns import DerivedKind, Result, Verdict
    from incognote.sdk import Deidentifier

_MOST = 10  # maximum number of table faults in one message
Ticking = Callable[[Input], None]
Release = Callable[[Input, "Result"], None]
Hold = Callable[[Input, "Verdict", "Result | None"], None]


def quarantine_folder(named: str | None, where: Place | None, sources: Sources) -> Path | None:
    """Return the folder for held records: the given one, or else the one beside the output; None without either.

    Raises:
        UsageError: the folder is inside the output folder or an input folder.
    """
    if named is None:
        return where.quarantine if where else None
    folder = Path(os.path.realpath(named))
    if where:
        apart(folder, where)
    if any(folder.is_relative_to(os.path.realpath(given)) for given in sources.folders):
        raise UsageError(f"--quarantine: {named} is inside an input folder. Choose a folder outside.")
    return Path(named)


def also_derived(told: list[str] | None, where: Place | None) -> tuple[DerivedKind, ...]:
    """Return what `--also` names.

    Raises:
        UsageError: it names something else, or there is no place to write to.
        MissingExtra: a library for PDF files is not installed.
    """
    kinds = set(options.split(told))
    if kinds - set(DERIVED) or (told and not kinds):
        raise UsageError(f"--also: name one or more of {', '.join(DERIVED)}, separated by commas.")
    if kinds and where is None:
        raise UsageError("--also writes files beside the outputs. Add --out FOLDER.")
    if "pdf" in kinds and find_spec("pikepdf") is None:
        raise MissingExtra("documents", "a searchable PDF")
    return tuple(kind for kind in DERIVED if kind in kinds)


def derived_files(outputs: Outputs) -> list[dict[str, str]]:
    """Return the derived files of a run for its manifest: the name, that of the output, and the hash of each."""
    return [
        {"name": name, "of": of, "sha256": sha256_of(outputs.where.folder / name)}
        for name, of in sorted(outputs.derived.items())
    ]


def apart(folder: str | Path, where: Place) -> None:
    """Require that encrypted originals are stored apart from released records.

    Raises:
        UsageError: one of quarantine and output folder contains the other.
    """
    held, target = Path(os.path.realpath(folder)), Path(os.path.realpath(where.target))
    if held == target or target.is_relative_to(held) or (not where.is_file and held.is_relative_to(target)):
        raise UsageError("The quarantine folder and --out must not contain each other. Choose separate folders.")


def table_layout(
    made: Deidentifier, sources: Sources, told: options.FileTableOptions, data_type: str | None
) -> Layout | Layouts | None:
    """Return the layout of the tables: from `--tables`, from the column options, or else from the schema.

    None if there are no tables. If there are other inputs, a table without a layout is quarantined.

    Raises:
        UsageError: more than one of these was given; or none was given, or no table fits, and there are no other
            inputs; or `--tables` does not match a table. Nothing was processed.
        UnknownDataType, UnapprovedSchema: the schema cannot be used.
    """
    found = [source for source in sources.files if source.kind in TABLES]
    if told.tables is not None:
        return _described(made, found, told)
    said, nothing = told.columns(), Columns(())
    if not found and not any(source.kind in archive.KINDS for source in sources.files):  # which may hold tables
        if said != nothing or told.group or told.order:
            raise UsageError(
                "There are options for tables, but no input is a table (.csv, .tsv, .parquet). Remove the options or "
                "check the inputs."
            )
        return None
    data_type = data_type or made.engine.settings.data_type
    if said != nothing and data_type:
        raise UsageError("A table is described by a schema (--data-type) or by column options. Use one of the two.")
    if said == nothing and not data_type:
        if len(found) < len(sources.files) and not (told.group or told.order):
            return None
        raise UsageError(
            "A table needs --data-type NAME, --tables FILE, or --text-column NAME with options for all other "
            "columns."
        )
    layout = Layout(made.engine.registry.get(data_type) if data_type else said, told.group, told.order)
    refusals = []
    for source in found:
        try:
            check_tables(source, layout)
        except UsageError as error:
            refusals.append(UsageError(f"{source.shown}: {error}"))
    if len(refusals) == len(sources.files):
        raise refusals[0]
    return layout


def _described(made: Deidentifier, found: list[Source], told: options.FileTableOptions) -> Layouts:
    """Return the layouts of a `--tables` file, after checking each table against its entry.

    Raises:
        UsageError: a table has no entry, or its columns differ from the entry. The message lists these tables.
    """
    from incognote.cli.tablefile import read_tables

    if replace(told, tables=None).given():
        raise UsageError("--tables describes all columns. Remove the other options for tables.")
    layouts = read_tables(str(told.tables), made.engine.registry.get)
    faults = []
    for source in found:
        layout = layouts.of_file(source.name)
        try:
            if layout is not None:
                check_tables(source, layout)
                continue
            faults.append(f"{source.shown}: no entry matches. Its columns: {', '.join(header(source))}.")
        except UsageError as error:
            faults.append(f"{source.shown}: {error}")
    if faults:
        more = f"\n  and {len(faults) - _MOST:,} more" if len(faults) > _MOST else ""
        listed = "".join(f"\n  {fault}" for fault in faults[:_MOST])
        raise UsageError(f"--tables: {told.tables} does not describe these tables:{listed}{more}")
    return layouts


def only_one(inputs: Iterable[Input]) -> Iterator[Input]:
    """Return the inputs if there is at most one.

    Raises:
        UsageError: there are several inputs. Nothing was processed.
    """
    first = list(islice(inputs, 2))
    if len(first) > 1:
        raise UsageError("Several records need an output folder. Add --out FOLDER.")
    return iter(first)


def settle(
    made: Deidentifier,
    inputs: Iterable[Input],
    release: Release,
    hold: Hold,
    shower: Shower | None,
    tick: Ticking,
) -> Tally:
    """Process every input, and release or hold it."""

    def ticking() -> Iterator[Input]:
        for one in inputs:
            yield one
            tick(one)

    def served(readable: Iterator[Input]) -> Iterable[Result]:
        return serve(made, readable) if shower is None else shown(readable, shower)

    def shown(readable: Iterator[Input], shower: Shower) -> Iterator[Result]:
        taken: deque[Input] = deque()

        def noted() -> Iterator[Input]:
            for one in readable:
                taken.append(one)
                yield one

        for result in serve(made, noted()):
            shower.show(taken.popleft(), result)
            yield result

    return run(ticking(), served, release, hold)


def holding(quarantine: Quarantine | None, made: Deidentifier) -> Hold:
    """Return the function that stores an unreleased record in the quarantine, if there is one."""

    def keep(one: Input, verdict: Verdict, result: Result | None) -> None:
        if quarantine is not None:
            manifest = result.manifest if result is not None else {}
            hold(quarantine, made.engine.keyring, one, verdict, manifest)

    return keep


@contextmanager
def progress(sources: Sequence[Source], *, doing: str = "de-identifying", hidden: bool = False) -> Iterator[Ticking]:
    """Show a progress bar over the bytes of the sources, on a terminal only. It disappears when the run ends.

    Args:
        doing: the text before the bar.
        hidden: show no bar, because other text is written to the terminal.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if hidden or not console.is_terminal:
        yield lambda one: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[records]} records"),
        TimeRemainingColumn(),
    )
    sizes = {source: source.size for source in sources}
    done: dict[str, Any] = {"before": 0, "source": None, "records": 0}
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(doing, total=sum(sizes.values()) or None, records=0)

        def tick(one: Input) -> None:
            if one.source.file != done["source"]:
                done["before"] += sizes.get(done["source"], 0)
                done["source"] = one.source.file
            done["records"] += 1
            bar.update(task, completed=done["before"] + one.offset, records=f"{done['records']:,}")

        yield tick
