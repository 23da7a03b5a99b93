"""The options that several commands share, and what they make."""

from __future__ import annotations

from typing import Annotated

import typer

_ENGINE = "Policy, schemas, packs"
_WORDS = "About the records"

Policy = Annotated[
    str | None,
    typer.Option(
        help="A shipped policy's name or a policy file; default: strict.", rich_help_panel=_ENGINE, metavar="NAME|FILE"
    ),
]
Schemas = Annotated[
    list[str] | None,
    typer.Option(
        help="A folder with record schemas of your own; repeatable.", rich_help_panel=_ENGINE, metavar="FOLDER"
    ),
]
Packs = Annotated[
    list[str] | None,
    typer.Option("--pack", "--packs", help="A site pack; repeatable.", rich_help_panel=_ENGINE, metavar="FOLDER"),
]
Detectors = Annotated[
    list[str] | None,
    typer.Option(
        help="Which detectors run; repeatable, or with commas. Default: rules.", rich_help_panel=_ENGINE, metavar="NAME"
    ),
]
Config = Annotated[
    str | None,
    typer.Option(help="A settings file (TOML).", rich_help_panel=_ENGINE, metavar="FILE"),
]
KeyFile = Annotated[
    str | None,
    typer.Option(help="The file that holds the master key.", rich_help_panel=_ENGINE, metavar="FILE"),
]
DataType = Annotated[
    str | None,
    typer.Option(help="The schema for records that carry no dataType.", rich_help_panel=_WORDS, metavar="NAME"),
]
Domain = Annotated[
    str | None,
    typer.Option(help="Who shares hashes and date shifts.", rich_help_panel=_WORDS, metavar="NAME"),
]
Patient = Annotated[
    str | None,
    typer.Option(
        help="The subject of all records; date shifts are keyed by it. Others on this computer see it in the list of "
        "processes, and the shell keeps it in its history: take --patient-file for a name.",
        rich_help_panel=_WORDS,
        metavar="ID",
    ),
]
PatientFile = Annotated[
    str | None,
    typer.Option(
        help="As --patient, from the one line of a file, so that it stands in no list of processes and no history.",
        rich_help_panel=_WORDS,
        metavar="FILE",
    ),
]
Roster = Annotated[
    str | None,
    typer.Option(help="A CSV or JSONL file of identifiers known beforehand.", rich_help_panel=_WORDS, metavar="FILE"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one machine-readable line instead; it holds no PHI.")]


def patient_of(patient: str | None, file: str | None) -> str | None:
    """The subject that was named, in one way or the other.

    Raises:
        UsageError: in both, or the file does not hold one line of UTF-8.
    """
    from pathlib import Path

    from incognote.errors import UsageError

    if file is None:
        return patient
    if patient is not None:
        raise UsageError("--patient and --patient-file both name the subject: take one")
    try:
        found = Path(file).read_text(encoding="utf-8-sig").strip()
    except OSError as error:
        raise UsageError(f"--patient-file cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError("--patient-file is not UTF-8") from None
    if not found or len(found.splitlines()) > 1:
        raise UsageError("--patient-file must hold the subject's id on one line, and nothing else")
    return found


def split(names: list[str] | None) -> list[str]:
    """The names of a repeatable option, each of which may hold several with commas between."""
    return [name.strip() for given in names or () for name in given.split(",") if name.strip()]
