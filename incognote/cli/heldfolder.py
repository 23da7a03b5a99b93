"""Access to the quarantine folder of a run or a worker, with or without the key."""

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
    """Return the headers of the held records.

    Raises:
        UsageError: the folder does not exist, or it holds only other files.
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
    """Whether this is a file that a run never writes to its quarantine."""
    return path.is_file() and not path.name.startswith(".")


def places(folder: str) -> list[str]:
    """Return the folder and the release folders that a worker created in it.

    Raises:
        UsageError: the folder does not exist.
    """
    from pathlib import Path

    from incognote.files.quarantine import within

    listed_in(folder)
    return [folder, *map(str, within(Path(folder)))]


def one_place(folder: str) -> None:
    """Refuse a worker's folder if the command needs the quarantine of one release.

    Raises:
        UsageError: the folder holds several quarantines. The message names them.
    """
    from incognote.errors import UsageError

    if releases := places(folder)[1:]:
        raise UsageError(f"This folder holds one quarantine per release. Name one of them: {', '.join(releases)}.")


def with_key(folder: str, config: str | None, own_key: str | None) -> Quarantine | KeyProblem:
    """Open the folder with the configured key, or return the reason why it cannot be opened.

    Raises:
        KeyProblem: the key file in the option cannot be used.
    """
    from incognote.errors import KeyProblem

    try:
        return opened(folder, config, own_key)
    except KeyProblem as problem:
        if own_key is not None:
            raise
        return problem


def contents_of(quarantine: Quarantine, held: Held, *, needed: bool) -> Contents | None:
    """Return the decrypted part of a held record; None if it is damaged and not needed."""
    from incognote.errors import WrongKey

    try:
        return quarantine.open(held)
    except WrongKey:
        if needed:
            raise
        return None


def told_of(held: Held, reasons: Sequence[Reason], path: str | None) -> dict[str, Any]:
    """Return a held record as data for JSON.

    Args:
        path: the source file, if the key is available.
    """
    from dataclasses import asdict

    return {**asdict(held), "reasons": [asdict(reason) for reason in reasons], "path": path}


def opened(folder: str, config: str | None, own_key: str | None) -> Quarantine:
    """Open the folder with the configured key.

    Raises:
        WrongKey: the folder was created with another key.
        KeyMissing: no key is configured.
    """
    from incognote.files.quarantine import Quarantine

    listed_in(folder)
    return Quarantine(folder, own_keyring(config, own_key))


def own_keyring(config: str | None, own_key: str | None) -> Keyring:
    """Return the configured key, or else the key in the home folder of incognote.

    Raises:
        KeyMissing: there is no key.
    """
    from incognote.cli.key import own_settings

    return own_settings(config, own_key).keyring(persistent=True)
