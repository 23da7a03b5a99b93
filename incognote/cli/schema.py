"""`incognote schema`: list, show, draft, check, and approve record schemas."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incognote.cli import options
from incognote.cli.help import App
from incognote.cli.shell import FAILURE, say
from incognote.cli.tables import print_rows
from incognote.runs.units import counted

if TYPE_CHECKING:
    from incognote.schemas.record_schema import Schema
    from incognote.schemas.registry import Registry

app = App(help="List, show, draft, check, and approve record schemas.")

Which = Annotated[str, typer.Argument(metavar="NAME|FILE", help="A data type or a schema file.", show_default=False)]
File = Annotated[Path, typer.Argument(metavar="FILE", help="A schema file.", show_default=False)]


@app.command("list")
def list_(schemas: options.Schemas = None, config: options.Config = None, as_json: options.AsJson = False) -> None:
    """List all schemas, shipped and your own, and who approved them.

    Example:
        incognote schema list
    """
    from incognote.schemas.cda import cda_row
    from incognote.schemas.fhir import fhir_rows
    from incognote.schemas.hl7 import hl7_row

    rows = [*_registry(schemas, config).rows(), *fhir_rows(), hl7_row(), cda_row()]
    cells = [
        (r.data_type, r.state, r.version, "incognote" if r.shipped else r.file, _by(r.by, r.at), str(r.problems or ""))
        for r in rows
    ]
    head = ("data type", "state", "version", "from", "approved by", "problems")
    print_rows("schema list", {"schemas": [asdict(row) for row in rows]}, head, cells, as_json=as_json)


@app.command()
def show(
    which: Which,
    raw: Annotated[bool, typer.Option("--raw", help="Print the file itself.")] = False,
    schemas: options.Schemas = None,
    config: options.Config = None,
    as_json: options.AsJson = False,
) -> None:
    """Show the fields of a schema and what happens to each.

    Example:
        incognote schema show csvNotes
    """
    from incognote.schemas.registry import field_rows, read_text

    if raw:
        typer.echo(read_text(Path(which)) if _is_file(which) else _definition(which, schemas, config))
        return
    rows = field_rows(_schema(which, schemas, config))
    head = ("field", "type", "what happens", "as", "searched for in texts as", "about")
    cells = [(r.path, r.types, r.flag, r.entity_type, r.known_as, r.about) for r in rows]
    print_rows("schema show", {"fields": [asdict(row) for row in rows]}, head, cells, as_json=as_json)


@app.command()
def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Schema files.", show_default=False)],
    as_json: options.AsJson = False,
) -> None:
    """Check schema files, field by field.

    Example:
        incognote schema check visit.json
    """
    from incognote.schemas.registry import check as problems_of

    by_file = {path.name: problems_of(path) for path in files}
    if as_json:
        say("schema check", {"problems": {name: [asdict(p) for p in problems] for name, problems in by_file.items()}})
    else:
        for name, problems in by_file.items():
            typer.echo(f"{name}: " + ("valid" if not problems else counted(len(problems), "problem")))
            for problem in problems:
                typer.echo(f"  {problem}")
    if any(by_file.values()):
        raise typer.Exit(FAILURE)


@app.command()
def draft(
    samples: Annotated[
        list[str],
        typer.Argument(
            metavar="SAMPLE",
            help="Sample records: .json, .jsonl, .csv, .tsv, also .gz. Use - for standard input.",
            show_default=False,
        ),
    ],
    name: Annotated[str, typer.Option(help="The data type of the new schema.", metavar="NAME", show_default=False)],
    out: Annotated[
        Path | None, typer.Option(help="Where to write the schema. Default: standard output.", metavar="FILE")
    ] = None,
    overwrite: options.Overwrite = False,
    form: options.Format = None,
    config: options.Config = None,
) -> None:
    """Draft a schema from sample records. You decide what the samples leave open.

    The draft holds no values of the samples. The evidence for each field is printed to standard error.

    Example:
        incognote schema draft examples/workflow_record.json --name visit
    """
    from incognote.cli.engine import engine
    from incognote.cli.samples import sample_records
    from incognote.files.atomic import require_writable, write_atomic
    from incognote.schemas.draft import draft as propose

    if out is not None:
        require_writable(out, overwrite=overwrite, option="--out")
    with engine(options.EngineOptions(config=config, detectors=["rules"]), hashes=False) as deid:
        proposal = propose(sample_records(samples, form), deid.engine.detection.detect, name)
    for evidence in proposal.evidence:
        typer.echo(f"{evidence.path}: {evidence}", err=True)
    text = json.dumps(proposal.schema, indent=2) + "\n"
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_atomic(out, text.encode())
    open_fields = len(proposal.undecided)
    typer.echo(
        f"{proposal.records:,} records, {len(proposal.evidence)} fields, {open_fields} for you to decide. Check "
        "every flag, then run: incognote schema approve FILE --by YOUR-NAME",
        err=True,
    )


@app.command()
def approve(
    file: File,
    by: Annotated[
        str,
        typer.Option(
            help="The person who read the schema and is responsible for it.", metavar="NAME", show_default=False
        ),
    ],
) -> None:
    """Approve a schema file in its current state. A changed file must be approved again.

    Example:
        incognote schema approve visit.json --by ada.park
    """
    from incognote.schemas.registry import approve as sign

    approval = sign(file, by)
    typer.echo(f"{file.name} approved by {approval.by} at {approval.at} (sha256 {approval.sha256[:16]})")


@app.command()
def diff(
    old: Which,
    new: Which,
    schemas: options.Schemas = None,
    config: options.Config = None,
    as_json: options.AsJson = False,
) -> None:
    """Show what changed between two schemas, and which changes let more data through.

    Example:
        incognote schema diff csvNotes visit.json
    """
    from incognote.schemas.record_schema import diff as changes_of

    changes = changes_of(_schema(old, schemas, config), _schema(new, schemas, config))
    if as_json:
        say("schema diff", {"changes": [asdict(change) for change in changes]})
        return
    for change in changes:
        typer.echo(str(change))
    loosening = sum(change.loosens for change in changes)
    typer.echo(
        f"{counted(len(changes), 'change')}, {loosening} of them let more data through"
        if changes
        else "The schemas do not differ."
    )


def _registry(schemas: list[str] | None, config: str | None) -> Registry:
    from incognote.schemas.registry import Registry
    from incognote.settings import Settings

    return Registry(Settings.load(config, schemas=schemas or None).schemas)


def _schema(which: str, schemas: list[str] | None, config: str | None) -> Schema:
    """Return a schema by name or file, even if it is not approved."""
    from incognote.schemas.record_schema import compile_schema
    from incognote.schemas.registry import load_schema

    if _is_file(which):
        return load_schema(which)
    from incognote.schemas.fhir import fhir_schema, version_of
    from incognote.schemas.hl7 import DATA_TYPE, hl7_rules

    if which == DATA_TYPE:
        return hl7_rules().schema
    if version_of(which):
        return fhir_schema(which.removeprefix("fhir."))
    return compile_schema(_known(which, schemas, config).definition(which))


def _definition(which: str, schemas: list[str] | None, config: str | None) -> str:
    return json.dumps(_known(which, schemas, config).definition(which), indent=2)


def _known(which: str, schemas: list[str] | None, config: str | None) -> Registry:
    from incognote.errors import UnknownName
    from incognote.schemas.fhir import data_type, rules
    from incognote.schemas.hl7 import DATA_TYPE

    registry = _registry(schemas, config)
    if which not in registry:
        raise UnknownName("data type", which, {*registry, *map(data_type, rules().resources), DATA_TYPE})
    return registry


def _is_file(which: str) -> bool:
    return which.endswith(".json") or "/" in which or "\\" in which


def _by(by: str, at: str) -> str:
    return f"{by}, {at[:10]}" if by else ""
