"""The Deidentifier a command works with, and its records' way through it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incognote.cli import options
from incognote.cli.key import key_file
from incognote.cli.shell import warn
from incognote.errors import UnknownName, UsageError
from incognote.settings import ModelSettings, Settings

if TYPE_CHECKING:
    from incognote.files.inputs import Input
    from incognote.nouns import Known, Result
    from incognote.sdk import Deidentifier

_NO_MODELS = options.ModelOptions()


def engine(
    asked: options.EngineOptions,
    models: options.ModelOptions = _NO_MODELS,
    *,
    persistent: bool = False,
    hashes: bool = True,
    base: Mapping[str, Any] | None = None,
) -> Deidentifier:
    """A Deidentifier whose policy, schemas, packs, models and key have been checked; nothing was sent.

    The caller closes it.

    Args:
        persistent: make a key where none is configured; a recording needs one in any case.
        hashes: the key decides something of the output, so an ephemeral one is worth a warning.
        base: settings that go before the file and the environment; an option goes before them.

    Raises:
        IncognoteError: something configured cannot work; nothing was processed.
    """
    from incognote.sdk import Deidentifier

    given = settings_of(asked, models, base or {})
    settings = Settings.load(asked.config, **given)
    needed = persistent or (settings.recording is not None and not settings.replay)  # a new key opens no recording
    given["key_file"] = asked.key_file or key_file(settings, persistent=needed)
    made = Deidentifier(config=asked.config, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said below, as a line and not as a Python warning
        tools = made.engine
    try:
        _check(made, asked, models)
    except BaseException:
        made.close()
        raise
    if hashes and not tools.keyring.persistent:
        warn(
            "No key is configured, so another run cannot repeat the hashes and date shifts. To make a key, run: "
            "incognote key new"
        )
    return made


def settings_of(asked: options.EngineOptions, models: options.ModelOptions, base: Mapping[str, Any]) -> dict[str, Any]:
    """The options as settings. What is said of a model in the file's table for it gives way to them too."""
    words = models.settings()
    of_asked: dict[str, Any] = {
        "policy": asked.policy,
        "key_file": asked.key_file,
        "schemas": asked.schemas or None,
        "packs": asked.packs or None,
        "roster": asked.roster,
        "detectors": options.split(asked.detectors) or None,
        "encoder_point": asked.encoder_point,
        "encoder_fast": asked.encoder_fast or None,
        "processes": asked.jobs,
        "data_type": asked.data_type,
        "domain": asked.domain,
        **words,
    }
    given = {**base, **{name: value for name, value in of_asked.items() if value is not None}}
    settings = Settings.load(asked.config, **given)
    own = {name: value for name, value in words.items() if name in ModelSettings.model_fields}
    told = base.get("models", {})
    tables = {name: {**told.get(name, {}), **own} for name in names_of(settings) if name in settings.models}
    return {**given, "models": tables} if tables else given


def names_of(settings: Settings) -> list[str]:
    """The models that are named."""
    return options.split([settings.model]) if settings.model else []


def _check(made: Deidentifier, asked: options.EngineOptions, models: options.ModelOptions) -> None:
    """What would fail at the first record, or be passed over, is said before it."""
    tools = made.engine
    _ = tools.detection.standing  # the roster and the packs' lists
    if tools.models is None and models.model is not None:
        raise UsageError(
            "--model names a language model, but --detectors does not include llm. Add llm, or remove --model."
        )
    useless = [name for name in models.options() if name != "--recording" or tools.recording is None]
    if tools.models is None and useless:
        raise UsageError(f"{', '.join(useless)} can be used only with a language model. Add --model VENDOR/NAME.")
    named = tools.settings.data_type
    if named:
        if named not in tools.registry:
            raise UnknownName("data type", named, set(tools.registry))
        tools.registry.get(named)  # unapproved: refused before the first record too


def serve(made: Deidentifier, inputs: Iterator[Input]) -> Iterator[Result]:
    """One Result per input, in their order, a window of them in memory."""
    from incognote.agents.item import item_of

    return made.batch(item_of(one, made.engine) for one in inputs)


def known_of(path: str | None, *, ask: bool) -> tuple[Known, ...]:
    """Identifiers known beforehand, from a file and from the terminal; never an argument, which others could see."""
    import typer

    from incognote.detectors.known import known_from, read_roster

    found: list[Known] = list(read_roster(Path(path))) if path else []
    while ask:
        kind = typer.prompt("Kind (name, mrn, phone, ...; empty to end)", default="", show_default=False, err=True)
        if not kind:
            break
        found += known_from({kind: typer.prompt("Value (not shown)", hide_input=True, err=True)})
    return tuple(found)
