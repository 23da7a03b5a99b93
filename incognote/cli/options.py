"""The options that several commands share, and the objects built from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from incognote.cli.help import MORE
from incognote.settings import CHUNK_WORDS, read_passes

if TYPE_CHECKING:
    from incognote.formats.tables import Columns

RECORDS, DETAILS = f"{MORE}records", f"{MORE}details"
MODEL = f"{MORE}language model"


def _option(panel: str | None, text: str, metavar: str | None = None, *flags: str, **more: Any) -> Any:
    """Return an option of a panel, or a common one if `panel` is None. The default flag is the parameter name."""
    return typer.Option(*flags, help=text, metavar=metavar, rich_help_panel=panel, **more)


_PANELS = (None, f"{MORE}settings", f"{MORE}detection", RECORDS, MODEL, f"{MORE}tables", f"{MORE}databases")
_common, _settings, _detection, _records, _model, _tables, _databases = (partial(_option, panel) for panel in _PANELS)

Policy = Annotated[str | None, _common("A shipped policy or a policy file. Default: strict.", "NAME|FILE")]
Schemas = Annotated[list[str] | None, _detection("A folder with your own record schemas. Repeatable.", "FOLDER")]
Packs = Annotated[list[str] | None, _detection(
    "A site pack with lists and patterns of your hospital. Repeatable.", "FOLDER", "--pack", "--packs")]
Detectors = Annotated[
    list[str] | None,
    _detection(
        "Detectors to run: rules, encoder, llm. Repeatable, or separated by commas. Default: rules and encoder, and "
        "llm if you name a model.",
        "NAME",
    ),
]
Pictures = Annotated[
    str | None,
    _records("Pictures in letters, workbooks, and messages: remove, or read. Default: remove.", "remove|read"),
]
EncoderPoint = Annotated[
    str | None,
    _detection("Operating point of the encoder: recall, balanced, or precision. Default: balanced.", "NAME"),
]
EncoderFast = Annotated[bool, _detection("Run the encoder with early exit.", None, "--encoder-fast")]
Jobs = Annotated[
    int | None,
    _common(
        "Number of parallel processes, for several hundred records or more.",
        min=0, max=64,
    ),
]
Config = Annotated[str | None, _settings("A settings file (TOML).", "FILE")]
KeyFile = Annotated[str | None, _settings("The file with the master key.", "FILE")]
DataType = Annotated[str | None, _common("The schema of records that have no dataType.", "NAME")]
Domain = Annotated[str | None, _records("Records in the same domain share hashes and date shifts.", "NAME")]
Patient = Annotated[
    str | None,
    _records(
        "Like --patient-file, as an argument. Other users of this computer can see it: do not use it for a name.",
        "ID",
    ),
]
PatientFile = Annotated[
    str | None,
    _common(
        "A file with the id of the patient on one line, for date shifts per patient.",
        "FILE",
    ),
]
Roster = Annotated[str | None, _records("Known identifiers to search for: a CSV or JSONL file.", "FILE")]
Known = Annotated[str | None, _records("Like --roster, for the records of this run only.", "FILE")]
Format = Annotated[
    str | None,
    _records(
        "Format of standard input and of files with an unknown suffix: text, json, jsonl, csv, or tsv.",
        "NAME", "--format",
    ),
]
IgnoreUnreadable = Annotated[
    bool,
    _records(
        "List inputs that cannot be read, but do not exit with code 3 because of them.",
        None, "--ignore-unreadable",
    ),
]
Model = Annotated[
    str | None,
    _model(
        "Add a language model, such as openai/gpt-4o-mini. Several, separated by commas, vote. The API key is read "
        "from the vendor's usual variable or the settings file.",
        "VENDOR/NAME",
    ),
]
ApiBase = Annotated[
    str | None,
    _model(
        "The URL of the model. Default: the vendor's own. openai/NAME works with any OpenAI-compatible server.", "URL"),
]
Prompt = Annotated[str | None, _model("A shipped prompt or a prompt file. Default: extract/v3.", "NAME|FILE")]


def _passes(value: str) -> Any:
    try:
        return read_passes(value)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


Passes = Annotated[
    Any,
    _model(
        "Passes over a chunk: need for a second one only where the first reply missed something, or the maximum number "
        "(1 to 8). Default: need.",
        "need|N",
        parser=_passes,
    ),
]
ChunkWords = Annotated[
    int | None, _model(f"Words in a chunk. Longer texts are split into equal parts. Default: {CHUNK_WORDS}.", min=16)
]
Vote = Annotated[int | None, _model("How many times to ask about each chunk. Default: 1.", min=1, max=32)]
VoteRule = Annotated[
    Literal["union", "majority"] | None,
    _model("How to combine several answers. Default: union.", "union|majority"),
]
BudgetTokens = Annotated[int | None, _model("Maximum tokens of this run, input and output together.", min=1)]
BudgetUsd = Annotated[float | None, _model("Maximum cost of this run, in US dollars.")]
Recording = Annotated[
    str | None,
    _model(
        "Store every answer in this file, encrypted. Stored answers are not requested again. `incognote replay` "
        "rebuilds outputs from it.",
        "FILE",
    ),
]
Batch = Annotated[
    bool,
    _model(
        "Use the provider's batch endpoint: half the price, but hours of delay. Needs --recording and "
        "`allow_provider_storage` in the policy.",
        None, "--batch",
    ),
]
TextColumns = Annotated[
    list[str] | None,
    _tables(
        "A column with free text. Repeatable. A table then needs no schema, but you must name every other column.",
        "NAME", "--text-column",
    ),
]
IdColumn = Annotated[str | None, _tables("The record id. Hashed.", "NAME")]
PatientColumn = Annotated[str | None, _tables("The patient. Hashed, and searched for in the texts.", "NAME")]
PassColumns = Annotated[list[str] | None, _tables("A column to keep unchanged. Repeatable.", "NAME", "--pass-column")]
HashColumns = Annotated[list[str] | None, _tables("A column to hash. Repeatable.", "NAME", "--hash-column")]
DropColumns = Annotated[list[str] | None, _tables(
    "A column to remove from the output. Repeatable.", "NAME", "--drop-column")]
Group = Annotated[str | None, _tables("Rows with the same value in this column are parts of one note.", "NAME")]
Order = Annotated[str | None, _tables("The column that orders the parts of a note.", "NAME")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace existing outputs.")]
_LEDGER = typer.Option(
    "--ledger",
    help="sqlite:///FILE for one machine, postgresql://USER@HOST/NAME for several.",
    envvar="INCOGNOTE_LEDGER",
    metavar="URL",
    show_default=False,
)
LedgerUrl = Annotated[str, _LEDGER]
AnyLedgerUrl = Annotated[str | None, _LEDGER]
def _index(panel: str | None = None) -> Any:
    return typer.Option(
        help="sqlite:///FILE or opensearch://USER@HOST:PORT/PREFIX. Default: INCOGNOTE_INDEX. Set the password with "
             "INCOGNOTE_INDEX_PASSWORD or index_password_file.",
        metavar="URL",
        show_default=False,
        rich_help_panel=panel,
    )


Index = Annotated[str | None, _index()]
RecordsIndex = Annotated[str | None, _index(RECORDS)]
Embedder = Annotated[
    str | None,
    typer.Option(
        help="Also measure the meaning that is kept, with an embedder: embedded, or sentence-transformers:MODEL.",
        metavar="NAME",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]
Spend = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before spending money.")]
Estimate = Annotated[bool, typer.Option("--estimate", help="Only print an estimate.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one line of JSON instead. It holds no PHI.")]


@dataclass(frozen=True, repr=False)  # the subject is PHI
class EngineOptions:
    """Options of commands that process records. Each field is the option of that name."""

    policy: Policy = None
    schemas: Schemas = None
    packs: Packs = None
    detectors: Detectors = None
    encoder_point: EncoderPoint = None
    encoder_fast: EncoderFast = False
    pictures: Pictures = None
    jobs: Jobs = None
    config: Config = None
    key_file: KeyFile = None
    data_type: DataType = None
    patient: Patient = None
    patient_file: PatientFile = None
    domain: Domain = None
    roster: Roster = None

    def subject(self) -> str | None:
        """Return the patient from --patient or --patient-file.

        Raises:
            UsageError: both were given, or the file does not hold exactly one line of UTF-8.
        """
        from pathlib import Path

        from incognote.errors import UsageError

        if self.patient_file is None:
            return self.patient
        if self.patient is not None:
            raise UsageError("--patient and --patient-file both name the patient. Use one of the two.")
        try:
            found = Path(self.patient_file).read_text(encoding="utf-8-sig").strip()
        except OSError as error:
            raise UsageError(f"--patient-file: {self.patient_file} cannot be read: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise UsageError(f"--patient-file: {self.patient_file} is not UTF-8 text. Convert it.") from None
        if not found or len(found.splitlines()) > 1:
            raise UsageError(
                f"--patient-file: {self.patient_file} must hold the id of the patient on one line, and nothing else."
            )
        return found


@dataclass(frozen=True, repr=False)
class RelexOptions(EngineOptions):
    """`EngineOptions` for relex: another default policy, and a hidden --jobs, which the command refuses."""

    policy: Annotated[str | None, _common("A shipped policy or a policy file. Default: surrogate.", "NAME|FILE")] = None
    jobs: Annotated[int | None, typer.Option("--jobs", hidden=True)] = None


@dataclass(frozen=True)
class ModelOptions:
    """Options for language models. Each field is the option of that name."""

    model: Model = None
    api_base: ApiBase = None
    prompt: Prompt = None
    passes: Passes = None
    chunk_words: ChunkWords = None
    vote: Vote = None
    vote_rule: VoteRule = None
    budget_tokens: BudgetTokens = None
    budget_usd: BudgetUsd = None
    recording: Recording = None
    batch: Batch = False

    def settings(self) -> dict[str, Any]:
        """Return the options that were given, by the names of their settings."""
        named = {"votes" if f.name == "vote" else f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in named.items() if value not in (None, False)}

    def options(self) -> list[str]:
        """Return the flags of the options that were given, except --model."""
        given = [f.name for f in fields(self) if getattr(self, f.name) not in (None, False) and f.name != "model"]
        return [f"--{name.replace('_', '-')}" for name in given]


@dataclass(frozen=True)
class TableOptions:
    """Options for tables. Each field is the option of that name."""

    text_columns: TextColumns = None
    id_column: IdColumn = None
    patient_column: PatientColumn = None
    pass_columns: PassColumns = None
    hash_columns: HashColumns = None
    drop_columns: DropColumns = None
    group: Group = None
    order: Order = None

    def given(self) -> bool:
        """Whether any column option was given."""
        return any(value for value in vars(self).values())

    def columns(self) -> Columns:
        """Return the layout of the columns."""
        from incognote.formats.tables import Columns

        return Columns(
            self.text_columns or (),
            self.id_column,
            self.patient_column,
            self.pass_columns or (),
            self.hash_columns or (),
            self.drop_columns or (),
        )


@dataclass(frozen=True)
class DatabaseOptions:
    """Options for a table of a database. Each field is the option of that name."""

    table: Annotated[str | None, _databases("The table or view to read, if SOURCE is a database.", "[SCHEMA.]NAME")] = (
        None
    )
    key: Annotated[
        str | None, _databases("The column that identifies a row. Default: the primary key.", "COLUMN")
    ] = None
    watermark: Annotated[
        str | None,
        _databases(
            "A time or integer that grows with each new or changed row. Without it, changed rows are not noticed.",
            "COLUMN",
        ),
    ] = None
    overlap: Annotated[
        float | None,
        _databases(
            "How far before the last watermark to look again, for rows that were committed late: seconds, or units of "
            "an integer. Default: 600 seconds, or 0.",
            "NUMBER", min=0,
        ),
    ] = None
    into: Annotated[
        str | None,
        _databases(
            "The table to write, if --destination is a database. Default: the name of --table.", "[SCHEMA.]NAME"
        ),
    ] = None


@dataclass(frozen=True)
class FileTableOptions(TableOptions):
    """`TableOptions` for a command that can read different tables in one run."""

    tables: Annotated[
        str | None, _tables("A TOML file with the columns of each table, for folders of different tables.", "FILE")
    ] = None


def takes_all(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each dataclass parameter of a command with one option per field.

    This applies to parameters that are annotated with a dataclass of this module. Typer reads options from the
    signature of a command, so the returned function has a new signature.
    """
    groups: dict[str, type[Any]] = {}
    shown: list[Parameter] = []
    for own in signature(command, eval_str=True).parameters.values():
        group = own.annotation
        if not (isinstance(group, type) and is_dataclass(group)):
            shown.append(own.replace(kind=Parameter.KEYWORD_ONLY))
            continue
        groups[own.name] = group
        hints = get_type_hints(group, include_extras=True)
        shown += [
            Parameter(f.name, Parameter.KEYWORD_ONLY, default=f.default, annotation=hints[f.name])
            for f in fields(group)
        ]

    @wraps(command)
    def called(**given: Any) -> None:
        made = {name: group(**{f.name: given.pop(f.name) for f in fields(group)}) for name, group in groups.items()}
        command(**made, **given)

    called.__signature__ = Signature(shown)  # type: ignore[attr-defined]  # inspect looks here first
    return called


def split(names: list[str] | None) -> list[str]:
    """Return the names in a repeatable option. Each value can hold several names, separated by commas."""
    return [name.strip() for given in names or () for name in given.split(",") if name.strip()]
