"""The destination of released records: whole shards under random names. It is never read from.

    stage      write the whole shard durably where no reader of the destination looks
    (commit)   the ledger commits; from now on the shard is valid
    place      give it its name; this is idempotent

If a process is killed between two steps, the next worker completes the shard or removes it.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from incognote.errors import Unwritable
from incognote.files.atomic import sync_folder, unwritable
from incognote.runs.location import Location, store_error

STAGING = "_staging"


class TombstonePlace(Protocol):
    """Where a recall lists the outputs to delete. Both methods raise Unwritable if it fails."""

    def put(self, name: str, data: bytes) -> None:
        """Write a list, replacing an existing one, or delete what it names."""

    def holds(self, folder: str) -> bool | None:
        """Whether anything exists under a name; None if that is unknown."""


class Destination(Protocol):
    """The folder or bucket where released records are written, in shards.

    All methods raise Unwritable if the destination fails.

    Attributes:
        numbered: whether each line begins with the version and the ledger's id of its record, for a table.
    """

    numbered: bool

    def stage(self, name: str, data: bytes) -> None:
        """Write a complete shard, not yet under its name."""

    def place(self, name: str) -> None:
        """Give a staged shard its name. If it is no longer staged, it already has its name."""

    def discard(self, name: str) -> None:
        """Remove a staged shard, if it exists."""

    def put(self, name: str, data: bytes) -> None:
        """Write a complete small file, replacing an existing one."""

    def readable(self) -> bool | None:
        """Whether this process could read what it wrote; None if that is unknown."""

    def holds(self, folder: str) -> bool | None:
        """Whether anything exists under the name of a folder; None if that is unknown."""


def open_destination(where: Location, staging: Location | None = None) -> Destination:
    """Open the destination at a location.

    Args:
        staging: for a store, where shards are kept until they are committed. The default is a prefix in the
            destination, which the worker must then be able to read.
    """
    if where.store is None:
        return FolderDestination(Path(where.root))
    return StoreDestination(where, staging or Location(f"{where.root}/{STAGING}", where.store))


class FolderDestination:
    """A folder. A shard is staged as a hidden file beside its target and renamed.

    The folder is fixed when this object is made. If it, or a folder in it, is later replaced by a link, the link is not
    followed.
    """

    numbered = False

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._is = _same(os.stat(folder))
        except OSError as error:
            raise unwritable(error) from None

    def stage(self, name: str, data: bytes) -> None:
        with self._opened(name, make=True) as (folder, file):
            _write(_part(file), data, folder)

    def place(self, name: str) -> None:
        with self._opened(name, make=False) as (folder, file):
            try:
                os.rename(_part(file), file, src_dir_fd=folder, dst_dir_fd=folder)
            except FileNotFoundError:
                return  # another worker has placed it
        sync_folder((self._folder / name).parent)

    def discard(self, name: str) -> None:
        with self._opened(name, make=True) as (folder, file), suppress(FileNotFoundError):
            os.unlink(_part(file), dir_fd=folder)

    def put(self, name: str, data: bytes) -> None:
        with self._opened(name, make=True) as (folder, file):
            part = f".{file}.{secrets.token_hex(4)}.part"
            _write(part, data, folder)
            os.replace(part, file, src_dir_fd=folder, dst_dir_fd=folder)
        sync_folder((self._folder / name).parent)

    def readable(self) -> bool | None:
        return os.access(self._folder, os.R_OK)

    def holds(self, folder: str) -> bool | None:
        return (self._folder / folder).exists()

    @contextmanager
    def _opened(self, name: str, *, make: bool) -> Iterator[tuple[int, str]]:
        """Open the folder of a file. Yield its handle and the file's name in it.

        Args:
            make: create missing folders. Otherwise a missing folder means that the destination failed, not that the
                file is absent.

        Raises:
            Unwritable: one of them is a link or not a folder, the destination was replaced by another folder, or the
                block failed.
        """
        *folders, file = name.split("/")
        handle = -1
        try:
            handle = os.open(self._folder, _FOLDER)
            if _same(os.fstat(handle)) != self._is:
                raise Unwritable(
                    "The destination is no longer the same folder as at the start. Check what happened to it."
                )
            for folder in folders:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(folder, dir_fd=handle)
                inner = os.open(folder, _FOLDER, dir_fd=handle)
                os.close(handle)
                handle = inner
            yield handle, file
        except OSError as error:
            raise unwritable(error) from None
        finally:
            if handle >= 0:
                os.close(handle)


_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | getattr(os, "O_PATH", os.O_RDONLY)  # works without the right to list it


def _same(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _part(file: str) -> str:
    return f".{file}.part"


def _write(name: str, data: bytes, folder: int) -> None:
    try:
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o666, dir_fd=folder)
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
    except OSError:
        with suppress(OSError):
            os.unlink(name, dir_fd=folder)
        raise


class StoreDestination:
    """A prefix of an object store, where an object appears as a whole. A shard is staged elsewhere and placed once."""

    numbered = False

    def __init__(self, where: Location, staging: Location) -> None:
        assert where.store is not None  # checked by `open_destination`
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
                return  # another worker has placed it
            with suppress(FileExistsError):  # put there by a worker that was killed before it recorded it
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
        except Exception:  # any other error of a store gives no answer
            return None
        finally:
            with suppress(Exception):  # without the right to delete, an empty object stays behind
                self._store.rm_file(probe)
        return True

    def holds(self, folder: str) -> bool | None:
        try:
            self._store.invalidate_cache()
            return bool(self._store.exists(f"{self._root}/{folder}"))
        except Exception:  # no right to list, or any other error: no answer
            return None


class _spoken:  # noqa: N801 -- used as a function, in `with`
    """Turns a store's error into one of ours."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception):
            raise Unwritable(f"The destination cannot be written: {store_error(error)}.") from None
