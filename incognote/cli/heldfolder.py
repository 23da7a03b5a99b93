"""The folder of a quarantine as the command line sees it: with or without the key, of a run or of a worker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from incognote.errors import KeyProblem
    from incognote.files.quarantine import Contents, Held, Quarantine
    from incognote.keys import Keyring
    from incognote.nouns import Reason


def listed_in(folder: str) -> list[Held]:
    """The headers of what is held.

    Raises:
        UsageError: there is no such folder, or it holds only other files.
    """
    from pathlib import Path

    from incognote.errors import UsageError
    from incognote.files.quarantine import listed

    found = list(listed(Path(folder)))
    foreign = not found and (not Path(folder).is_dir() or any(_foreign(path) for path in Path(folder).iterdir()))
    if foreign:
        raise UsageError(f"{folder} is not a quarantine folder. Check the path.")
    return found


def _foreign(path: Path) -> bool:
    """Whether a run never writes such a file into its quarantine."""
    return path.is_file() and not path.name.startswith(".")


def places(folder: str) -> list[str]:
    """The folder, and those of releases that a worker made in it.

    Raises:
        UsageError: there is no such folder.
    """
    from pathlib import Path

    from incognote.files.quarantine import within

    listed_in(folder)
    return [folder, *map(str, within(Path(folder)))]


def one_place(folder: str) -> None:
    """Refuse a worker's folder where the quarantine of one release is needed.

    Raises:
        UsageError: it holds several quarantines. The message names them.
    """
    from incognote.errors import UsageError

    if releases := places(folder)[1:]:
        raise UsageError(f"This folder holds one quarantine per release. Name one of them: {', '.join(releases)}.")


def with_key(folder: str, config: str | None, own_key: str | None) -> Quarantine | KeyProblem:
    """The folder under the key, or why the configured key does not open it.

    Raises:
        KeyProblem: the key file that was given as an option cannot be used.
    """
    from incognote.errors import KeyProblem

    try:
        return opened(folder, config, own_key)
    except KeyProblem as problem:
        if own_key is not None:
            raise
        return problem


def contents_of(quarantine: Quarantine, held: Held, *, needed: bool) -> Contents | None:
    """The encrypted part of a held record; None if it is damaged and not needed."""
    from incognote.errors import WrongKey

    try:
        return quarantine.open(held)
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
