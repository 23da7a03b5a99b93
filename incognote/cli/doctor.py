"""`incognote doctor`: check the installation and the settings, and say how to fix each problem."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from typing import TYPE_CHECKING, Annotated

import typer

from incognote.cli import options
from incognote.cli.probing import Check
from incognote.cli.probing import models as language_models
from incognote.cli.shell import FAILURE, say
from incognote.runs.units import counted

if TYPE_CHECKING:
    from incognote.settings import Settings

_COLORS: dict[str, str] = {"ok": "green", "off": "bright_black", "warn": "yellow", "fail": "red"}
_PURPOSES = {
    "audio": "recordings",
    "dicom": "DICOM files",
    "documents": "office files, PDF, and second readers of HTML, RTF, HL7, and CDA",
    "frames": "tables of pandas, polars, and Hugging Face",
    "images": "scans and pictures, with the program Tesseract",
    "parquet": "Parquet files",
    "sql": "tables of databases",
    "docs": "the documentation as a site",
    "llm": "language models over their APIs",
    "opensearch": "a surrogate index in OpenSearch",
    "service": "worker, REST API, review page",
    "telemetry": "traces and metrics over OpenTelemetry",
    "s3": "storage on Amazon S3",
    "gcs": "storage on Google Cloud",
    "azure": "storage on Azure",
    "evaluation": "experiments and their reports",
    "presidio": "a recognizer for Presidio",
    "spacy": "a component for spaCy pipelines",
    "langchain": "a wrapper for LangChain and LangGraph",
    "mcp": "tools for MCP clients (incognote mcp)",
    "distill": "corpora for training",
    "train": "training of the encoder",
}
_NOT_LISTED = ("all", "dev")  # extras that only combine other extras


@options.takes_all
def doctor(
    policy: options.Policy = None,
    schemas: options.Schemas = None,
    packs: options.Packs = None,
    roster: options.Roster = None,
    config: options.Config = None,
    key_file: options.KeyFile = None,
    as_json: options.AsJson = False,
    strict: Annotated[bool, typer.Option("--strict", help="Treat warnings as failures.")] = False,
    *,
    models: options.ModelOptions,
) -> None:
    """Check the installation and the settings, and say how to fix each problem.

    Reads no record and changes nothing. If you name a language model, it receives one invented sentence.

    Example:
        incognote doctor
    """
    asked = options.EngineOptions(
        policy=policy, schemas=schemas, packs=packs, config=config, key_file=key_file, roster=roster
    )
    lines = list(_examine(asked, models))
    if as_json:
        say("doctor", {"lines": [line._asdict() for line in lines]})
    else:
        _print(lines)
    bad = {"fail", "warn"} if strict else {"fail"}
    if any(line.state in bad for line in lines):
        raise typer.Exit(FAILURE)


def _print(lines: list[Check]) -> None:
    """Print a line for each check with its remedy below, wrapped to the width of the terminal."""
    from shutil import get_terminal_size
    from textwrap import wrap

    width = get_terminal_size().columns if sys.stdout.isatty() else 100
    wide = max(len(line.about) for line in lines)
    for line in lines:
        color = None if os.environ.get("NO_COLOR") else _COLORS[line.state]
        state = typer.style(f"{line.state:4}", fg=color, bold=line.state == "fail")
        first, *rest = wrap(line.seen, width - wide - 8, break_on_hyphens=False, break_long_words=False)
        typer.echo(f"{state}  {line.about:{wide}}  {first}")
        for more in (*rest, *([f"-> {line.remedy}"] if line.remedy else [])):
            typer.echo(" " * (wide + 8) + more)
    problems, warnings = (sum(line.state == state for line in lines) for state in ("fail", "warn"))
    found = f"{counted(problems, 'problem')}, {counted(warnings, 'warning')}"
    typer.echo(f"\n{found if problems or warnings else 'Everything that is configured works.'}")


def _examine(asked: options.EngineOptions, models: options.ModelOptions) -> Iterator[Check]:
    from incognote.cli.engine import settings_of
    from incognote.cli.key import own_settings
    from incognote.errors import IncognoteError

    yield from _python()
    yield from _packages()
    try:
        given = {name: value for name, value in settings_of(asked, models, {}).items() if name != "key_file"}
        settings = own_settings(asked.config, asked.key_file, **given)
    except IncognoteError as error:
        yield Check("fail", "settings", str(error), "correct the setting, then run `incognote doctor` again")
        return
    file = asked.config or os.environ.get("INCOGNOTE_CONFIG")
    own = sorted(name for name in os.environ if name.startswith("INCOGNOTE_") and name != "INCOGNOTE_CONFIG")
    variables = f"variables {', '.join(own)}" if own else "no INCOGNOTE_* variable"
    yield Check("ok", "settings", f"{f'file {file}' if file else 'no settings file'}; {variables}")
    checks: tuple[Callable[[Settings], Iterator[Check]], ...] = (
        _key, _languages, _policy, _schemas, _packs, _roster, _detectors, _pages, _recordings, _index, language_models,
    )  # fmt: skip
    for check in checks:
        try:
            yield from check(settings)
        except IncognoteError as error:
            yield Check("fail", check.__name__.strip("_"), str(error))


def _python() -> Iterator[Check]:
    supported = (3, 11) <= sys.version_info[:2] < (3, 14)
    seen = f"{platform.python_version()} on {platform.system()}"
    yield Check("ok" if supported else "fail", "python", seen, "" if supported else "use Python 3.11 to 3.13")


def _packages() -> Iterator[Check]:
    """Check required packages and extras, as listed in the package metadata."""
    needed: list[str] = []
    extras: dict[str, list[str]] = {name: [] for name in metadata("incognote").get_all("Provides-Extra") or ()}
    for written in requires("incognote") or ():
        name = re.split(r"[^A-Za-z0-9._-]", written, maxsplit=1)[0]
        of = re.search(r"extra == ['\"]([^'\"]+)", written)
        (extras[of[1]] if of else needed).append(name)
    missing = [name for name in needed if not _installed(name)]
    if missing:
        yield Check("fail", "packages", f"missing: {', '.join(missing)}", "reinstall: pip install incognote")
    else:
        yield Check("ok", "packages", f"all {len(needed)} required packages are installed")
    for extra, names in sorted(extras.items()):
        if extra in _NOT_LISTED:
            continue
        purpose = _PURPOSES.get(extra, ", ".join(names))
        absent = [name for name in names if not _installed(name)]
        if not absent:
            yield Check("ok", f"[{extra}]", f"installed: {purpose}")
        else:
            partly = f" (missing: {', '.join(absent)})" if len(absent) < len(names) else ""
            yield Check("off", f"[{extra}]", f"not installed{partly}: {purpose}", f"pip install 'incognote[{extra}]'")


def _installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def _languages(settings: Settings) -> Iterator[Check]:
    from incognote.languages import language
    from incognote.plugins import installed

    found = installed("incognote.languages")
    for code, point in sorted(found.items()):
        release = f" {point.dist.version}" if point.dist is not None else ""
        parts = [part for part in ("rules", "encoder", "names") if language(code).file(part).is_dir()]
        yield Check("ok", "language", f"{code}: {', '.join(parts)} ({point.value}{release})")
    if not found:
        yield Check("fail", "language", "no language is installed", "pip install incognote-en")


def _pages(settings: Settings) -> Iterator[Check]:
    """Read an empty page in English and in each language of the settings."""
    from incognote.errors import SettingError
    from incognote.pages.ocr.registry import engine_of

    try:
        import cv2  # noqa: F401 -- OCR prepares pages with it
        import numpy
    except ImportError:
        yield Check("off", "pages", "scans and pictures are held", "pip install 'incognote[images]'")
        return
    engine, page = engine_of(), numpy.full((64, 64), 255, numpy.uint8)
    read = list(dict.fromkeys(("en", *settings.languages)))
    for language in read:
        try:
            engine.read(page, [language], "line")
        except SettingError as error:
            seen, _, remedy = str(error).partition(": ")
            yield Check("warn", "pages", seen, remedy)
            return
    yield Check("ok", "pages", f"{engine.name} reads {', '.join(read)}")


def _recordings(settings: Settings) -> Iterator[Check]:
    """Listen to a second of silence."""
    from incognote.errors import MissingExtra
    from incognote.formats.audio.hearing import Hearing, heard

    try:
        import numpy
        import soundfile  # noqa: F401 -- it reads recordings

        heard([numpy.zeros(16_000, numpy.int16)], Hearing(settings.recognizer))
    except (ImportError, MissingExtra):
        yield Check("off", "recordings", "recordings are held", "pip install 'incognote[audio]'")
        return
    yield Check("ok", "recordings", f"{settings.recognizer} listens")


def _index(settings: Settings) -> Iterator[Check]:
    """Open and read the surrogate index."""
    if settings.index is None:
        yield Check("off", "index", "none is configured (needed for surrogates only)", "incognote index create")
        return
    import asyncio

    from incognote.relex.index.opening import open_configured

    async def identities() -> int:
        async with await open_configured(settings) as opened:
            return sum((await opened.stats()).identities.values())

    yield Check("ok", "index", counted(asyncio.run(identities()), "identity", "identities"))


def _key(settings: Settings) -> Iterator[Check]:
    path = settings.key_file
    keyring = settings.keyring()
    if not keyring.persistent:
        yield Check(
            "warn",
            "key",
            "none is configured",
            f"The first run with --out creates {settings.home / 'master.key'}. Or run: incognote key new",
        )
        return
    yield Check("ok", "key", f"id {keyring.id}" + (f" from {path}" if path else ""))
    if path is not None and sys.platform != "win32" and path.expanduser().stat().st_mode & 0o077:
        yield Check("warn", "key", "other users can read the key file", f"chmod 600 {path}")


def _policy(settings: Settings) -> Iterator[Check]:
    from incognote.schemas.policy import lint, read_policy, shipped_policies

    policy = read_policy(settings.policy)
    faults = lint(policy)
    seen = f"{policy.name} {policy.version}, legal label: {policy.label or 'none'}"
    yield Check(
        "fail" if faults else "ok",
        "policy",
        seen + (f", {counted(len(faults), 'fault')}" if faults else ""),
        f"incognote policy lint {settings.policy}" if faults else "",
    )
    broken = [name for name in shipped_policies() if lint(read_policy(name))]
    if broken:
        yield Check("fail", "policies", f"invalid shipped policies: {', '.join(broken)}", "reinstall incognote")


def _schemas(settings: Settings) -> Iterator[Check]:
    from incognote.schemas.registry import Registry

    rows = Registry(settings.schemas).rows()
    good = sum(row.state == "approved" for row in rows)
    yield Check("ok", "schemas", f"{good} approved, {sum(not row.shipped for row in rows)} of your own")
    for row in rows:
        if row.state != "approved":
            state = "changed since its approval" if row.state == "changed" else "unapproved"
            seen = f"{row.data_type} ({row.file}) is {state}"
            remedy = "its records go to quarantine; review it, then run: incognote schema approve"
            yield Check("warn", "schemas", seen, remedy)
    if settings.data_type and settings.data_type not in {row.data_type for row in rows}:
        yield Check("fail", "schemas", "there is no schema for the configured data_type", "incognote schema list")


def _packs(settings: Settings) -> Iterator[Check]:
    from incognote.detectors.packs import check_pack

    for number, folder in enumerate(settings.packs, 1):
        problems = check_pack(folder)
        seen = f"pack {number} ({folder.name}): " + (counted(len(problems), "problem") if problems else "valid")
        yield Check("fail" if problems else "ok", "packs", seen, f"incognote pack test {folder}" if problems else "")
    if not settings.packs:
        yield Check("ok", "packs", "none")


def _roster(settings: Settings) -> Iterator[Check]:
    from incognote.detectors.known import KnownDetector, read_roster

    if settings.roster is not None:
        listed = read_roster(settings.roster)
        unsought = KnownDetector(listed).unsought.total()
        seen = counted(len(listed), "identifier") + f", {unsought:,} too short to be searched for" * bool(unsought)
        yield Check("ok", "roster", seen)


def _detectors(settings: Settings) -> Iterator[Check]:
    from incognote.agents.detection import LLM
    from incognote.sdk import Deidentifier

    note = "Seen by Dr. Emily Carter on 03/16/2025."
    embedded = [name for name in settings.detectors if name != LLM]
    if not embedded:
        yield Check("ok", "detectors", "no embedded detectors, a language model only")
        return
    spans = Deidentifier(detectors=embedded).detect([note])[0]
    names = ", ".join(embedded)
    if spans:
        yield Check("ok", "detectors", f"{names}: found {counted(len(spans), 'identifier')} in an invented sentence")
    else:
        yield Check("fail", "detectors", f"{names}: found nothing in an invented sentence", "reinstall incognote")
