"""The options that several commands share, and what they make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_type_hints

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


@dataclass(frozen=True, repr=False)  # the subject is PHI
class Asked:
    """What a command that works on records was asked with: each field is the option of that name."""

    policy: Policy = None
    schemas: Schemas = None
    packs: Packs = None
    detectors: Detectors = None
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


def takes_all(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for every field of `Asked`, in the place of its parameter `asked`.

    Typer reads a command's options off its signature, so that is what is written anew.
    """
    hints = get_type_hints(Asked, include_extras=True)
    options = [
        Parameter(f.name, Parameter.KEYWORD_ONLY, default=f.default, annotation=hints[f.name]) for f in fields(Asked)
    ]
    shown: list[Parameter] = []
    for own in signature(command, eval_str=True).parameters.values():
        shown += options if own.name == "asked" else [own.replace(kind=Parameter.KEYWORD_ONLY)]

    @wraps(command)
    def called(**given: Any) -> None:
        asked = Asked(**{option.name: given.pop(option.name) for option in options})
        command(asked=asked, **given)

    called.__signature__ = Signature(shown)  # type: ignore[attr-defined]  # where inspect looks first
    return called


def split(names: list[str] | None) -> list[str]:
    """The names of a repeatable option, each of which may hold several with commas between."""
    return [name.strip() for given in names or () for name in given.split(",") if name.strip()]
