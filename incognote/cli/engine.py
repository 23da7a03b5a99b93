"""The Deidentifier a command works with, and its records' way through it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incognote.cli import options
from incognote.cli.key import key_file
from incognote.cli.shell import warn
from incognote.errors import UnknownName

if TYPE_CHECKING:
    from incognote.files.inputs import Input
    from incognote.nouns import Known, Result
    from incognote.sdk import Deidentifier


def engine(
    asked: options.Asked,
    *,
    persistent: bool = False,
    hashes: bool = True,
) -> Deidentifier:
    """A Deidentifier whose policy, schemas, packs and key have been checked.

    Args:
        persistent: make a key where none is configured.
        hashes: the key decides something of the output, so an ephemeral one is worth a warning.

    Raises:
        IncognoteError: something configured cannot work; nothing was processed.
    """
    from incognote.sdk import Deidentifier
    from incognote.settings import Settings

    given: dict[str, Any] = {
        "policy": asked.policy,
        "key_file": asked.key_file,
        "schemas": asked.schemas or None,
        "packs": asked.packs or None,
        "roster": asked.roster,
        "detectors": options.split(asked.detectors) or None,
        "data_type": asked.data_type,
        "domain": asked.domain,
    }
    given["key_file"] = asked.key_file or key_file(Settings.load(asked.config, **given), persistent=persistent)
    made = Deidentifier(config=asked.config, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said below, as a line and not as a Python warning
        tools = made.tools
    _ = tools.standing  # the roster and the packs' lists: what cannot be read is said before the first record
    named = tools.settings.data_type
    if named:
        if named not in tools.registry:
            raise UnknownName("data type", named, set(tools.registry))
        tools.registry.get(named)  # unapproved: refused before the first record too
    if hashes and not tools.keyring.persistent:
        warn("no key is configured: hashes and date shifts cannot be repeated by another run (`incognote key new`)")
    return made


def serve(made: Deidentifier, inputs: Iterator[Input]) -> Iterator[Result]:
    """One Result per input, in their order, a window of them in memory."""
    from incognote.agents.case import Item

    def items() -> Iterator[Item]:
        for one in inputs:
            words = one.words
            yield Item(
                str(one.content),
                patient=words.patient,
                domain=words.domain,
                data_type=words.data_type or _plain_note(one, made),
                known=words.known,
                is_record=one.is_record,
                opened=one.opened,
            )

    return made.batch(items())


def _plain_note(one: Input, made: Deidentifier) -> str | None:
    """The shipped schema `note`, for a record without any data type that it fits: `{"id", "text"}` and the like."""
    content = str(one.content)
    tools = made.tools
    if not one.is_record or one.opened or tools.settings.data_type:
        return None
    if '"dataType"' in content or '"resourceType"' in content:
        return None
    try:
        record = json.loads(content)
    except (ValueError, RecursionError):
        return None  # the machine says what is wrong with it
    rule = tools.registry.get("note").root
    fits = isinstance(record, dict) and rule.required <= record.keys() <= rule.properties.keys()
    return "note" if fits else None


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
