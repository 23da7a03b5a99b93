"""The place released records go to: whole shards under random names. Nothing is ever read there.

    stage      the whole shard, durable, where no reader of the lab looks
    (commit)   the ledger's, in between: from here on the shard stands
    place      under its name; done again, it does nothing

A kill between any two of them leaves what the next worker finishes or takes away.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from incognote.errors import Unwritable
from incognote.files.atomic import sync_folder, unwritable
from incognote.service.sinks.place import Place, told

STAGING = "_staging"


class Lab(Protocol):
    """What takes shards. All methods raise Unwritable where the place does not serve."""

    def stage(self, name: str, data: bytes) -> None:
        """Put a shard down whole, not yet under its name."""

    def place(self, name: str) -> None:
        """Give a staged shard its name; one that is not staged any more has it."""

    def discard(self, name: str) -> None:
        """Take a staged shard away, if it is there."""

    def put(self, name: str, data: bytes) -> None:
        """Put a small file there, whole, over what bears its name."""

    def readable(self) -> bool | None:
        """Whether this process could read what it put there; None where nobody can say."""


def open_lab(where: Place, staging: Place | None = None) -> Lab:
    """The lab at a location.

    Args:
        staging: of a store, where shards stand until they are committed; its own prefix in the lab by default, which
            the worker must then be able to read.
    """
    if where.store is None:
        return FolderLab(Path(where.root))
    return StoreLab(where, staging or Place(f"{where.root}/{STAGING}", where.store))


class FolderLab:
    """A folder; a shard is staged as a hidden file beside its place and renamed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(error) from None

    def stage(self, name: str, data: bytes) -> None:
        part = self._part(name)
        try:
            part.parent.mkdir(parents=True, exist_ok=True)
            _write(part, data)
        except OSError as error:
            with suppress(OSError):
                part.unlink()
            raise unwritable(error) from None

    def place(self, name: str) -> None:
        try:
            os.rename(self._part(name), self._folder / name)
        except FileNotFoundError:
            return  # another has placed it
        except OSError as error:
            raise unwritable(error) from None
        sync_folder((self._folder / name).parent)

    def discard(self, name: str) -> None:
        try:
            self._part(name).unlink(missing_ok=True)
        except OSError as error:
            raise unwritable(error) from None

    def put(self, name: str, data: bytes) -> None:
        target = self._folder / name
        part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            _write(part, data)
            os.replace(part, target)
            sync_folder(target.parent)
        except OSError as error:
            with suppress(OSError):
                part.unlink()
            raise unwritable(error) from None

    def readable(self) -> bool | None:
        return os.access(self._folder, os.R_OK)

    def _part(self, name: str) -> Path:
        target = self._folder / name
        return target.with_name(f".{target.name}.part")


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())


class StoreLab:
    """A prefix of an object store; an object appears whole. A shard is staged elsewhere and put to its place once."""

    def __init__(self, where: Place, staging: Place) -> None:
        assert where.store is not None  # `open_lab` asked
        assert staging.store is not None
        self._store, self._root = where.store, where.root
        self._staging, self._staged = staging.store, staging.root

    def stage(self, name: str, data: bytes) -> None:
        with _spoken():
            self._staging.pipe_file(f"{self._staged}/{name}", data)

    def place(self, name: str) -> None:
        staged = f"{self._staged}/{name}"
        with _spoken():
            self._staging.invalidate_cache()
            try:
                data = self._staging.cat_file(staged)
            except FileNotFoundError:
                return  # another has placed it
            with suppress(FileExistsError):  # put there by one who was killed before it could say so
                self._store.pipe_file(f"{self._root}/{name}", data, mode="create")
            with suppress(FileNotFoundError):
                self._staging.rm_file(staged)

    def discard(self, name: str) -> None:
        with _spoken(), suppress(FileNotFoundError):
            self._staging.rm_file(f"{self._staged}/{name}")

    def put(self, name: str, data: bytes) -> None:
        with _spoken():
            self._store.pipe_file(f"{self._root}/{name}", data)

    def readable(self) -> bool | None:
        probe = f"{self._root}/_probe-{secrets.token_hex(8)}"
        with _spoken():
            self._store.pipe_file(probe, b"")
        try:
            self._store.invalidate_cache()
            self._store.cat_file(probe)
        except PermissionError:
            return False
        except Exception:  # whatever else a store says: that is no answer
            return None
        finally:
            with suppress(Exception):  # who may not delete leaves an empty object behind
                self._store.rm_file(probe)
        return True


class _spoken:  # noqa: N801 -- used as a function, in `with`
    """A store's complaint as one of ours."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception):
            raise Unwritable(f"the lab cannot be written: {told(error)}") from None
