"""`incognote doctor`: whether all that a run needs is in order, and what to do where it is not."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from incognote.cli import options
from incognote.cli.probing import Check
from incognote.cli.probing import models as language_models
from incognote.cli.shell import FAILURE, say

if TYPE_CHECKING:
    from incognote.settings import Settings

_COLOURS: dict[str, str] = {"ok": "green", "warn": "yellow", "fail": "red"}
_NEEDED = (
    "cryptography",
    "jsonschema",
    "langgraph",
    "numpy",
    "onnxruntime",
    "phonenumbers",
    "pydantic-settings",
    "rapidfuzz",
    "tokenizers",
    "typer",
)
_EXTRAS = {
    "llm": ("openai", "litellm"),
    "opensearch": ("opensearchpy",),
    "service": ("fastapi", "uvicorn", "fsspec", "sqlalchemy"),
    "evaluation": ("pandas", "sklearn"),
    "train": ("torch", "sentence_transformers"),
}


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
        for line in lines:
            state = typer.style(f"{line.state:4}", fg=_COLOURS[line.state], bold=line.state == "fail")
            typer.echo(f"{state}  {line.about:10}  {line.seen}")
            if line.remedy:
                typer.echo(f"{'':18}{line.remedy}")
    bad = {"fail", "warn"} if strict else {"fail"}
    if any(line.state in bad for line in lines):
        raise typer.Exit(FAILURE)


def _examine(asked: options.EngineOptions, models: options.ModelOptions) -> Iterator[Check]:
    from incognote.cli.engine import settings_of
    from incognote.errors import IncognoteError
    from incognote.settings import Settings

    yield from _python()
    yield from _packages()
    try:
        settings = Settings.load(asked.config, **settings_of(asked, models, {}))
    except IncognoteError as error:
        yield Check("fail", "settings", str(error), "correct it, then run the doctor again: the rest depends on it")
        return
    yield Check(
        "ok", "settings", "from keywords, INCOGNOTE_* variables" + (" and the config file" if asked.config else "")
    )
    checks: tuple[Callable[[Settings], Iterator[Check]], ...] = (
        _key, _policy, _schemas, _packs, _roster, _detectors, language_models,
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
    missing, present = [], []
    for name in _NEEDED:
        try:
            present.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        yield Check("fail", "packages", f"missing: {', '.join(missing)}", "reinstall incognote: pip install incognote")
    else:
        yield Check("ok", "packages", ", ".join(present))
    installed = [extra for extra, modules in _EXTRAS.items() if all(find_spec(module) for module in modules)]
    others = [extra for extra in _EXTRAS if extra not in installed]
    yield Check(
        "ok", "extras", f"installed: {', '.join(installed) or 'none'}; not installed: {', '.join(others) or 'none'}"
    )


def _key(settings: Settings) -> Iterator[Check]:
    from incognote.cli.key import key_file

    own = key_file(settings, persistent=False)
    path = own or settings.key_file
    if own is not None:
        settings = settings.model_copy(update={"key_file": own})
    keyring = settings.keyring()
    if not keyring.persistent:
        yield Check(
            "warn",
            "key",
            "none is configured",
            f"the first run with --out makes {settings.home / 'master.key'}, or: incognote key new",
        )
        return
    yield Check("ok", "key", f"id {keyring.id}" + (f" from {path}" if path else ""))
    if path is not None and sys.platform != "win32" and path.expanduser().stat().st_mode & 0o077:
        yield Check("warn", "key", "others can read the key file", f"chmod 600 {path}")


def _policy(settings: Settings) -> Iterator[Check]:
    from incognote.schemas.policy import lint, read_policy, shipped_policies

    policy = read_policy(settings.policy)
    faults = lint(policy)
    seen = f"{policy.name} {policy.version}, legal label: {policy.label or 'none'}"
    yield Check(
        "fail" if faults else "ok",
        "policy",
        seen + (f", {len(faults)} faults" if faults else ""),
        f"incognote policy lint {settings.policy}" if faults else "",
    )
    broken = [name for name in shipped_policies() if lint(read_policy(name))]
    if broken:
        yield Check("fail", "policies", f"shipped and invalid: {', '.join(broken)}", "reinstall incognote")


def _schemas(settings: Settings) -> Iterator[Check]:
    from incognote.schemas.registry import Registry

    rows = Registry(settings.schemas).rows()
    good = sum(row.state == "approved" for row in rows)
    yield Check("ok", "schemas", f"{good} approved, {sum(not row.shipped for row in rows)} of your own")
    for row in rows:
        if row.state != "approved":
            state = "changed since its approval" if row.state == "changed" else "unapproved"
            seen = f"{row.data_type} ({row.file}) is {state}"
            remedy = "its records go to quarantine; read it, then: incognote schema approve"
            yield Check("warn", "schemas", seen, remedy)
    if settings.data_type and settings.data_type not in {row.data_type for row in rows}:
        yield Check("fail", "schemas", "the data_type that is set has no schema", "incognote schema list")


def _packs(settings: Settings) -> Iterator[Check]:
    from incognote.detectors.packs import check_pack

    for number, folder in enumerate(settings.packs, 1):
        problems = check_pack(folder)
        seen = f"pack {number} ({folder.name}): " + (f"{len(problems)} problems" if problems else "valid")
        yield Check("fail" if problems else "ok", "packs", seen, f"incognote pack test {folder}" if problems else "")
    if not settings.packs:
        yield Check("ok", "packs", "none")


def _roster(settings: Settings) -> Iterator[Check]:
    from incognote.detectors.known import KnownDetector, read_roster

    if settings.roster is not None:
        listed = read_roster(settings.roster)
        unsought = KnownDetector(listed).unsought.total()
        seen = f"{len(listed):,} identifiers" + f", {unsought:,} too short to be searched for" * bool(unsought)
        yield Check("ok", "roster", seen)


def _detectors(settings: Settings) -> Iterator[Check]:
    from incognote.agents.detection import LLM
    from incognote.sdk import Deidentifier

    note = "Seen by Dr. Emily Carter on 03/16/2025."
    embedded = [name for name in settings.detectors if name != LLM]
    if not embedded:
        yield Check("ok", "detectors", "none of the embedded ones, a language model alone")
        return
    spans = Deidentifier(detectors=embedded).detect([note])[0]
    names = ", ".join(embedded)
    if spans:
        yield Check("ok", "detectors", f"{names}: found {len(spans)} identifiers in an invented sentence")
    else:
        yield Check("fail", "detectors", f"{names}: found nothing in an invented sentence", "reinstall incognote")
