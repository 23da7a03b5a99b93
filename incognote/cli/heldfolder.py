"""The folder of a quarantine as the command line sees it: with or without the key, of a run or of a worker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from incognote.cli.shell import warn

if TYPE_CHECKING:
    from incognote.files.quarantine import Contents, Held, Quarantine
    from incognote.keys import Keyring
    from incognote.nouns import Reason


def listed_in(folder: str) -> list[Held]:
    """The headers of what is held.

    Raises:
        UsageError: there is no such folder.
    """
    from pathlib import Path

    from incognote.errors import UsageError
    from incognote.files.quarantine import listed

    if not Path(folder).is_dir():
        raise UsageError(f"{folder} is not a quarantine folder. Check the path.")
    return list(listed(Path(folder)))


def places(folder: str) -> list[str]:
    """The folder, and those of releases that a worker made in it.

    Raises:
        UsageError: there is no such folder.
    """
    from pathlib import Path

    from incognote.files.quarantine import within

    listed_in(folder)
    return [folder, *map(str, within(Path(folder)))]


def with_key(folder: str, config: str | None, own_key: str | None, *, needed: bool) -> Quarantine | None:
    """The folder under the key; None where none was named and the usual is not its.

    Args:
        needed: say what is missing then.

    Raises:
        KeyProblem: the key that was named cannot be used.
    """
    from incognote.errors import KeyProblem

    try:
        return opened(folder, config, own_key)
    except KeyProblem:
        if own_key is not None:
            raise
        if needed:
            warn("The details of the reasons are encrypted. To show them, add --key-file FILE.")
        return None


def contents_of(quarantine: Quarantine | None, held: Held, *, needed: bool) -> Contents | None:
    """What is sealed of a held record; None without the key, and of a damaged one unless that is needed."""
    from incognote.errors import WrongKey

    try:
        return None if quarantine is None else quarantine.open(held)
    except WrongKey:
        if needed:
            raise
        return None


def told_of(held: Held, reasons: Sequence[Reason], path: str | None) -> dict[str, Any]:
    """A held record as JSON holds it.

    Args:
        path: where it came from, for the holder of the key.
    """
    from dataclasses import asdict

    return {**asdict(held), "reasons": [asdict(reason) for reason in reasons], "path": path}


def opened(folder: str, config: str | None, own_key: str | None) -> Quarantine:
    """The folder under the configured key.

    Raises:
        WrongKey: it was made under another.
        KeyMissing: none is configured.
    """
    from incognote.files.quarantine import Quarantine

    listed_in(folder)
    return Quarantine(folder, own_keyring(config, own_key))


def own_keyring(config: str | None, own_key: str | None) -> Keyring:
    """The configured key, or the one that stands where incognote keeps its own.

    Raises:
        KeyMissing: there is none.
    """
    from incognote.cli.key import own_settings

    return own_settings(config, own_key).keyring(persistent=True)
