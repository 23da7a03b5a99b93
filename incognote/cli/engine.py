"""Creates the Deidentifier for a command, and runs records through it."""

from __future__ import annotations

import gc
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
    """Create a Deidentifier and check its policy, schemas, packs, models, and key. Nothing is sent.

    The caller must close it.

    Args:
        persistent: create a key if none is configured. A recording always needs one.
        hashes: whether the output depends on the key, so that an ephemeral key needs a warning.
        base: settings that override the file and the environment. Options override them.

    Raises:
        IncognoteError: the configuration cannot work. Nothing was processed.
    """
    from incognote.agents.processes import GC_THRESHOLD
    from incognote.sdk import Deidentifier

    gc.set_threshold(GC_THRESHOLD)
    given = settings_of(asked, models, base or {})
    settings = Settings.load(asked.config, **given)
    needed = persistent or (settings.recording is not None and not settings.replay)  # a new key cannot read a recording
    given["key_file"] = asked.key_file or key_file(settings, persistent=needed)
    made = Deidentifier(config=asked.config, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # printed below as one line instead of a Python warning
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
    """Return the options as settings. They also override the table of a model in the settings file."""
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
        "pictures": asked.pictures,
        "processes": asked.jobs,
        "data_type": asked.data_type,
        "domain": asked.domain,
        **words,
    }
    given = {**base, **{name: value for name, value in of_asked.items() if value is not None}}
    settings = Settings.load(asked.config, **given)
    own = {name: value for name, value in words.items() if name in ModelSettings.model_fields}
    base_models = base.get("models", {})
    tables = {name: {**base_models.get(name, {}), **own} for name in names_of(settings) if name in settings.models}
    return {**given, "models": tables} if tables else given


def names_of(settings: Settings) -> list[str]:
    """Return the names of the configured models."""
    return options.split([settings.model]) if settings.model else []


def _check(made: Deidentifier, asked: options.EngineOptions, models: options.ModelOptions) -> None:
    """Report what would fail at the first record, or be ignored, before any record is read."""
    tools = made.engine
    _ = tools.detection.standing  # loads the roster and the lists of the packs
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
        tools.registry.get(named)  # also refuses an unapproved schema


def serve(made: Deidentifier, inputs: Iterator[Input]) -> Iterator[Result]:
    """Yield one Result per input, in order. Only a limited number of inputs is in memory at a time."""
    from incognote.agents.item import item_of

    return made.batch(item_of(one, made.engine) for one in inputs)


def known_of(path: str | None, *, ask: bool) -> tuple[Known, ...]:
    """Read known identifiers from a file and the terminal. Other users could see a command-line argument."""
    import typer

    from incognote.detectors.known import known_from, read_roster

    found: list[Known] = list(read_roster(Path(path))) if path else []
    while ask:
        kind = typer.prompt("Kind (name, mrn, phone, ...; empty to end)", default="", show_default=False, err=True)
        if not kind:
            break
        found += known_from({kind: typer.prompt("Value (not shown)", hide_input=True, err=True)})
    return tuple(found)
