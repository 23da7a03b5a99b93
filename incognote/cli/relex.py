"""`incognote relex`: replace identifiers with surrogates that are consistent across notes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from incognote.cli import options
from incognote.cli.shell import HELD, say

if TYPE_CHECKING:
    from incognote.agents.engine import Engine
    from incognote.agents.item import Item
    from incognote.files.inputs import Input
    from incognote.nouns import Result
    from incognote.runs.tally import Tally
    from incognote.sdk import Deidentifier

Agents = Annotated[
    list[str] | None,
    typer.Option(
        "--agents",
        help="Steps that the language model performs: cluster, query, decision, replacement, all, or none. "
             "Repeatable, or separated by commas. Default: all, if you name a model.",
        rich_help_panel=options.MODEL,
        metavar="NAME",
    ),
]
AgentsFor = Annotated[
    Literal["all", "doubtful"] | None,
    typer.Option(
        "--agents-for",
        help="all: the language model decides about every identity. doubtful: it decides only about those that the "
             "embedded agents doubt, such as a surname with two bearers. Default: all.",
        rich_help_panel=options.MODEL,
        metavar="all|doubtful",
    ),
]


@options.takes_all
def relex(
    ctx: typer.Context,
    texts: Annotated[
        str,
        typer.Argument(
            metavar="IN.jsonl",
            help='Lines of {"id", "patient", "text"} and optional "spans" of {"start", "end", "type"}, which are '
            "used as given. Or records with a schema. Also .gz. Use - for standard input.",
            show_default=False,
        ),
    ],
    out: Annotated[str, typer.Option(help="The output file.", metavar="OUT.jsonl", show_default=False)],
    index: options.Index = None,
    agents: Agents = None,
    agents_for: AgentsFor = None,
    together: Annotated[
        int,
        typer.Option(
            rich_help_panel=options.DETAILS,
            help="Batch size. Within a batch, the order of records has no effect.",
            min=1,
        ),
    ] = 1000,
    outdated: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=options.DETAILS,
            help="Where to list the ids of earlier outputs that must be processed again.",
            metavar="FILE",
        ),
    ] = None,
    quarantine: Annotated[
        str | None,
        typer.Option(
            help="Where to store lines that are not released, encrypted. Default: the name of --out with "
            "-quarantine added, or relex-quarantine if --out is a pipe.",
            metavar="FOLDER",
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
    *,
    asked: options.RelexOptions,
    models: options.ModelOptions,
) -> None:
    """Replace identifiers with realistic surrogates that stay the same across notes.

    Each output line holds "id", "text", and "spans", in input order. Each span has its "identity", "surrogate",
    "out_start", and "out_end". A record with a schema stays a record. The default policy is `surrogate`. The output is
    written completely or not at all.

    Example:
        incognote relex examples/visits.jsonl --out relexicalized.jsonl --index sqlite:///surrogates.db
    """
    from pathlib import Path

    from incognote.agents.batches import relexicalize_items
    from incognote.cli.engine import engine
    from incognote.cli.job import holding, progress, quarantine_folder
    from incognote.cli.summary import name_unread
    from incognote.errors import UsageError
    from incognote.files.atomic import AtomicFile, exclusive, is_stream, require_writable
    from incognote.files.inputs import RecordDefaults, read_all
    from incognote.files.outputs import place
    from incognote.files.quarantine import Quarantine
    from incognote.files.sources import find
    from incognote.runs.driver import run

    sources = find([texts], form="jsonl" if texts == "-" else None)
    if len(sources.files) != 1 or sources.files[0].kind != "lines":
        raise UsageError("relex reads one .jsonl file. Use - for standard input.")
    where = None if is_stream(Path(out)) else place(out, sources)
    if where and not where.is_file:
        raise UsageError("--out must be a file, such as OUT.jsonl.")
    require_writable(Path(out), overwrite=overwrite, option="--out")
    if asked.jobs:
        raise UsageError("--jobs cannot be used with relex: the records of a batch share one process. Remove it.")
    base: dict[str, Any] = {"policy": "surrogate", "processes": 0} | ({"index": index} if index is not None else {})
    doubts = {"agents_for": agents_for} if agents_for is not None else {}
    made = engine(asked, models, base={**base, **played(agents, models), **doubts})
    ctx.with_resource(made)
    if not made.engine.policy.surrogates:
        raise UsageError(
            f"The policy {made.engine.policy.name} has no surrogates. Use --policy surrogate, or your own policy "
            "with surrogates."
        )
    made.ready()
    folder = quarantine_folder(quarantine, where, sources) or Path("relex-quarantine")
    ctx.with_resource(exclusive(folder, private=True))
    held = Quarantine(folder, made.engine.keyring)
    words = RecordDefaults(asked.subject(), asked.domain, asked.data_type)
    seen: set[tuple[str | None, str | None, str]] = set()
    with AtomicFile(Path(out)) as target, progress(sources.files, doing="relexicalizing") as tick:

        def ticking() -> Iterator[Input]:
            for one in read_all(sources.files, words):
                yield one
                tick(one)

        tally = run(
            ticking(),
            lambda readable: relexicalize_items(
                (item_of(one, seen, made.engine) for one in readable), made.engine, together=together, raise_faults=True
            ),
            lambda one, result: target.write(line(one, result).encode()),
            holding(held, made),
        )
    _tell(made, tally, out, str(folder), outdated, as_json=as_json)
    name_unread(tally)
    if tally.held or tally.not_read:
        raise typer.Exit(HELD)


def played(agents: list[str] | None, models: options.ModelOptions) -> dict[str, Any]:
    """Return the setting `agents` from the options: the named agents, or all if a model is named, or else nothing.

    Raises:
        UsageError: an agent has an unknown name.
    """
    from incognote.errors import UsageError
    from incognote.settings import AGENTS

    named = options.split(agents)
    if agents is None:
        return {"agents": ("all",)} if models.model is not None else {}
    if named == ["none"]:
        return {"agents": ()}
    if not named or set(named) - {*AGENTS, "all"}:
        raise UsageError(f"--agents must be some of {', '.join(AGENTS)}, or all, or none.")
    return {"agents": tuple(named)}


def item_of(one: Input, seen: set[tuple[str | None, str | None, str]], engine: Engine) -> Item:
    """Build the item for an input line: a plain text with its spans, or a record."""
    from incognote.agents import item
    from incognote.nouns import subject_form

    note = _note(one) if not engine.settings.data_type else None
    if note is None:
        return item.item_of(one, engine)
    made = item.note_item(note, one.defaults)
    fault, spans = None, None
    if "spans" in note:
        try:
            spans = tuple((int(span["start"]), int(span["end"]), str(span["type"])) for span in note["spans"])
        except (TypeError, KeyError, ValueError):
            fault = "spans: each needs start, end, and type"
    if made.id is not None:
        place = made.domain, None if made.patient is None else subject_form(made.patient), made.id
        if place in seen:
            fault = "id: an earlier line of this patient has the same id"
        seen.add(place)
    return replace(made, fault=fault, spans=spans)


def line(one: Input, result: Result) -> str:
    """Return one line of the output."""
    note = _note(one) if not result.is_record else None
    if note is None:
        return result.output() + "\n"
    shift = result.project([(span.start, span.end) for span in result.kept])
    spans = [
        _span(r.span.start, r.span.end, r.span.type, r.identity, r.text, r.out_start, r.out_end)
        | ({"reason": r.reason} if r.reason else {})
        for r in result.replacements
    ]
    spans += [
        _span(span.start, span.end, span.type, None, span.text, start, end)
        for span, (start, end) in zip(result.kept, shift, strict=True)
    ]
    spans.sort(key=lambda span: span["start"])
    return json.dumps({"id": note.get("id"), "text": result.output(), "spans": spans}, ensure_ascii=False) + "\n"


def _span(
    start: int, end: int, type: str, identity: str | None, surrogate: str, out_start: int, out_end: int
) -> dict[str, Any]:
    span = {"start": start, "end": end, "type": type, "identity": identity, "surrogate": surrogate}
    return {**span, "out_start": out_start, "out_end": out_end}


def _note(one: Input) -> dict[str, Any] | None:
    """Return a parsed line with a text. Other keys are allowed. None for a record with a schema."""
    return one.note if one.note is not None and isinstance(one.note.get("text"), str) else None


def _tell(made: Deidentifier, tally: Tally, target: str, folder: str, outdated: str | None, *, as_json: bool) -> None:
    """Print the summary. Record ids can identify patients, so they go to a file that only its owner can read."""
    from incognote.cli import reading
    from incognote.cli.shell import write_list
    from incognote.cli.summary import counts, print_labeled
    from incognote.cli.tables import print_table

    relexing = made.engine.relexing
    report = reading.report(tally.models, made)
    loop, stale = dict(sorted(relexing.counts.items())), sorted(relexing.outdated)
    if outdated is not None:
        write_list(outdated, stale, "--outdated")
    if as_json:
        data = {**counts(tally), "loop": loop, "outdated": len(stale), "out": target, "quarantine": folder}
        say("relex", {**data, "models": report})
        return
    typer.echo(f"{tally.read:,} records: {tally.outcomes['release']:,} released to {target}, {tally.held:,} held")
    typer.echo(
        f"{loop.get('mentions', 0):,} mentions, {loop.get('new', 0):,} new identities, {loop.get('moved', 0):,} "
        "draws repeated because the surrogate was taken"
    )
    print_labeled(tally)
    if report is not None:
        print_table(("", ""), list(reading.rows(report)))
    for (outcome, code), reason in sorted(tally.examples.items()):
        typer.echo(f"held ({outcome}, {code}): {reason.detail or reason.code}")
    if tally.held:
        typer.echo(f"held in {folder}. To list them, run: incognote quarantine list {folder}")
    if stale:
        more = "" if outdated else " To list them, use --outdated FILE."
        typer.echo(
            f"{len(stale):,} earlier records must be processed again, because later records changed what their outputs "
            f"should show.{more}"
        )
