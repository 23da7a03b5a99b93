"""The options that several commands share, and what they make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

if TYPE_CHECKING:
    from incognote.formats.tables import Columns

_ENGINE = "Policy, schemas, packs"
_WORDS = "About the records"
MODEL = "Language model"
_TABLES = "Tables (.csv, .tsv)"
OUT = "Where it goes"
SERVICE = "Where it works"


def _option(panel: str, text: str, metavar: str | None = None, *flags: str, **more: Any) -> Any:
    """An option of a panel; without flags its name is the parameter's."""
    return typer.Option(*flags, help=text, metavar=metavar, rich_help_panel=panel, **more)


_engine, _records, _model, _tables = (partial(_option, panel) for panel in (_ENGINE, _WORDS, MODEL, _TABLES))

Policy = Annotated[str | None, _engine("A shipped policy's name or a policy file; default: strict.", "NAME|FILE")]
Schemas = Annotated[list[str] | None, _engine("A folder with record schemas of your own; repeatable.", "FOLDER")]
Packs = Annotated[list[str] | None, _engine("A site pack; repeatable.", "FOLDER", "--pack", "--packs")]
Detectors = Annotated[
    list[str] | None,
    _engine(
        "Which detectors run, of rules, encoder and llm; repeatable, or with commas. Default: rules and encoder, "
        "and llm where a model is named.",
        "NAME",
    ),
]
EncoderPoint = Annotated[
    str | None,
    _engine("The encoder's operating point: recall, balanced or precision. Default: balanced.", "NAME"),
]
EncoderFast = Annotated[bool, _engine("Leave the encoder by its early exit.", None, "--encoder-fast")]
Jobs = Annotated[
    int | None,
    _engine(
        "Processes that serve records side by side, a core each; worth it from some hundred records on. Default: "
        "this one alone.",
        min=0, max=64,
    ),
]
Config = Annotated[str | None, _engine("A settings file (TOML).", "FILE")]
KeyFile = Annotated[str | None, _engine("The file that holds the master key.", "FILE")]
DataType = Annotated[str | None, _records("The schema for records that carry no dataType.", "NAME")]
Domain = Annotated[str | None, _records("Who shares hashes and date shifts.", "NAME")]
Patient = Annotated[
    str | None,
    _records(
        "The subject of all records; date shifts are keyed by it. Others on this computer see it in the list of "
        "processes, and the shell keeps it in its history: take --patient-file for a name.",
        "ID",
    ),
]
PatientFile = Annotated[
    str | None,
    _records(
        "As --patient, from the one line of a file, so that it stands in no list of processes and no history.",
        "FILE",
    ),
]
Roster = Annotated[str | None, _records("A CSV or JSONL file of identifiers known beforehand.", "FILE")]
Known = Annotated[str | None, _records("As --roster, for this run's records only.", "FILE")]
Format = Annotated[
    str | None,
    _records(
        "Of the standard input and of files whose suffix does not say it: text, json, jsonl, csv or tsv.",
        "NAME", "--format",
    ),
]
IgnoreUnreadable = Annotated[
    bool,
    _records(
        "Inputs that cannot be read are named and counted, and do not make the exit code 3.",
        None, "--ignore-unreadable",
    ),
]
Model = Annotated[
    str | None,
    _model(
        "A language model that reads too, such as openai/gpt-4o-mini; several with commas vote together. Its key "
        "comes from the vendor's usual variable or the settings file, never from an option, which others could "
        "see.",
        "VENDOR/NAME",
    ),
]
ApiBase = Annotated[
    str | None,
    _model("The model's address; default: the vendor's own. openai/NAME is any OpenAI-compatible one.", "URL"),
]
Prompt = Annotated[str | None, _model("A shipped prompt's name or a prompt file; default: extract/v2.", "NAME|FILE")]
Passes = Annotated[int | None, _model("The most passes over a chunk; default: 2.", min=1, max=8)]
ChunkWords = Annotated[int | None, _model("The most words of a chunk; default: 256.", min=16)]
Vote = Annotated[int | None, _model("How often the model is asked about each chunk; default: 1.", min=1, max=32)]
VoteRule = Annotated[Literal["union", "majority"] | None, _model("What several answers amount to; default: union.")]
BudgetTokens = Annotated[int | None, _model("The most tokens of this run, in and out together.", min=1)]
BudgetUsd = Annotated[float | None, _model("The most money of this run, in US dollars.")]
Recording = Annotated[
    str | None,
    _model(
        "A file that keeps every answer, sealed with the key: what it holds is not asked again, and `incognote "
        "replay` rebuilds the output from it.",
        "FILE",
    ),
]
Batch = Annotated[
    bool,
    _model(
        "Ask through the provider's batch endpoint: half the price, hours of time. Needs --recording, and the "
        "policy's allow_provider_storage.",
        None, "--batch",
    ),
]
TextColumns = Annotated[
    list[str] | None,
    _tables(
        "A column of free text; repeatable. With it a table needs no schema, and every other column must be "
        "named below.",
        "NAME", "--text-column",
    ),
]
IdColumn = Annotated[str | None, _tables("The record's own id; hashed.", "NAME")]
PatientColumn = Annotated[str | None, _tables("The subject; hashed, and sought in the texts.", "NAME")]
PassColumns = Annotated[list[str] | None, _tables("Left as it is; repeatable.", "NAME", "--pass-column")]
HashColumns = Annotated[list[str] | None, _tables("Hashed; repeatable.", "NAME", "--hash-column")]
DropColumns = Annotated[list[str] | None, _tables("Left out of the output; repeatable.", "NAME", "--drop-column")]
Group = Annotated[str | None, _tables("Rows that are equal here are pieces of one note.", "NAME")]
Order = Annotated[str | None, _tables("The order of a note's pieces.", "NAME")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace outputs that exist.", rich_help_panel=OUT)]
_LEDGER = typer.Option(
    "--ledger",
    help="sqlite:///FILE for one machine, postgresql://USER@HOST/NAME for several.",
    envvar="INCOGNOTE_LEDGER",
    rich_help_panel=SERVICE,
    metavar="URL",
    show_default=False,
)
LedgerUrl = Annotated[str, _LEDGER]
AnyLedgerUrl = Annotated[str | None, _LEDGER]
Index = Annotated[
    str | None,
    typer.Option(
        help="sqlite:///FILE or opensearch://USER@HOST:PORT/PREFIX; default: INCOGNOTE_INDEX. `incognote index create` "
        "makes one. The password comes from INCOGNOTE_INDEX_PASSWORD or index_password_file, never from an option, "
        "which others could see.",
        metavar="URL",
        show_default=False,
    ),
]
Embedder = Annotated[
    str | None,
    typer.Option(
        help="Also what of the meaning is left, as an embedder sees it: embedded, or sentence-transformers:MODEL.",
        metavar="NAME",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Spend = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before money is spent.")]
Estimate = Annotated[bool, typer.Option("--estimate", help="Only say what it would take.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one machine-readable line instead; it holds no PHI.")]


@dataclass(frozen=True, repr=False)  # the subject is PHI
class EngineOptions:
    """What a command that works on records was asked with: each field is the option of that name."""

    policy: Policy = None
    schemas: Schemas = None
    packs: Packs = None
    detectors: Detectors = None
    encoder_point: EncoderPoint = None
    encoder_fast: EncoderFast = False
    jobs: Jobs = None
    config: Config = None
    key_file: KeyFile = None
    data_type: DataType = None
    patient: Patient = None
    patient_file: PatientFile = None
    domain: Domain = None
    roster: Roster = None

    def subject(self) -> str | None:
        """The subject that was named, in one way or the other.

        Raises:
            UsageError: in both, or the file does not hold one line of UTF-8.
        """
        from pathlib import Path

        from incognote.errors import UsageError

        if self.patient_file is None:
            return self.patient
        if self.patient is not None:
            raise UsageError("--patient and --patient-file both name the subject: take one")
        try:
            found = Path(self.patient_file).read_text(encoding="utf-8-sig").strip()
        except OSError as error:
            raise UsageError(f"--patient-file cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise UsageError("--patient-file is not UTF-8") from None
        if not found or len(found.splitlines()) > 1:
            raise UsageError("--patient-file must hold the subject's id on one line, and nothing else")
        return found


@dataclass(frozen=True, repr=False)
class OneProcessOptions(EngineOptions):
    """As `EngineOptions`, of a command that runs in one process: --jobs is not shown, and the command refuses it."""

    jobs: Annotated[int | None, typer.Option("--jobs", hidden=True)] = None


@dataclass(frozen=True)
class ModelOptions:
    """What a command was asked about language models: each field is the option of that name."""

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
        """The settings that were given, by their names there."""
        named = {"votes" if f.name == "vote" else f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in named.items() if value not in (None, False)}

    def options(self) -> list[str]:
        """The options that were given, but for --model, as they are written."""
        given = [f.name for f in fields(self) if getattr(self, f.name) not in (None, False) and f.name != "model"]
        return [f"--{name.replace('_', '-')}" for name in given]


@dataclass(frozen=True)
class TableOptions:
    """What a command was told about tables: each field is the option of that name."""

    text_columns: TextColumns = None
    id_column: IdColumn = None
    patient_column: PatientColumn = None
    pass_columns: PassColumns = None
    hash_columns: HashColumns = None
    drop_columns: DropColumns = None
    group: Group = None
    order: Order = None

    def columns(self) -> Columns:
        """What is said of each column."""
        from incognote.formats.tables import Columns

        return Columns(
            self.text_columns or (),
            self.id_column,
            self.patient_column,
            self.pass_columns or (),
            self.hash_columns or (),
            self.drop_columns or (),
        )


def takes_all(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of its dataclasses: one for every field, in the place of the parameter.

    A parameter is meant that is annotated with a dataclass of this module. Typer reads a command's options off its
    signature, so that is what is written anew.
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

    called.__signature__ = Signature(shown)  # type: ignore[attr-defined]  # where inspect looks first
    return called


def split(names: list[str] | None) -> list[str]:
    """The names of a repeatable option, each of which may hold several with commas between."""
    return [name.strip() for given in names or () for name in given.split(",") if name.strip()]
