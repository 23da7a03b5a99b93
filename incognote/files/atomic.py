"""Files that come into being whole or not at all, in folders that one run at a time writes into."""

from __future__ import annotations

import os
import secrets
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from incognote.errors import IncognoteError, Unwritable

try:
    import fcntl
except ImportError:  # Windows: remains of a killed run then stay until somebody deletes them, and nothing is locked
    fcntl = None  # type: ignore[assignment,unused-ignore]  # the module is absent there, not merely untyped

_PART = ".incognote-{}.part"
LOCK = ".incognote.lock"


class Whole:
    """A file being written under a temporary name beside its place; `with` puts it there only if nothing went wrong.

    The bytes are on the disk before the name appears (fsync, then rename), so a killed process leaves either the whole
    file or a hidden `.part` file that `sweep` removes.

    Args:
        target: where the file shall be.
        private: readable by its owner only.

    Raises:
        Unwritable: the place cannot be written; the message names the operating system's reason, not the path.
    """

    def __init__(self, target: Path, *, private: bool = False) -> None:
        self.target = target
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            self._part = target.parent / _PART.format(secrets.token_hex(8))
            handle = os.open(self._part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
        except OSError as error:
            raise unwritable(error) from None
        if fcntl is not None:
            with suppress(
                OSError
            ):  # a file system without locks: `sweep` could then take it, so it is left alone there too
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.stream: BinaryIO = os.fdopen(handle, "wb")

    def write(self, data: bytes) -> None:
        """Append bytes."""
        try:
            self.stream.write(data)
        except OSError as error:
            raise unwritable(error) from None

    def commit(self) -> None:
        """Put the file in its place, replacing what stands there."""
        try:
            self.stream.flush()
            os.fsync(self.stream.fileno())
            if fcntl is None:
                self.stream.close()  # Windows renames no open file
            os.replace(self._part, self.target)
            self.stream.close()
            sync_folder(self.target.parent)
        except OSError as error:
            self.abandon()
            raise unwritable(error) from None

    def abandon(self) -> None:
        """Leave nothing behind."""
        with suppress(OSError):
            self.stream.close()
        self._part.unlink(missing_ok=True)

    def __enter__(self) -> Whole:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.commit()
        else:
            self.abandon()


def write_whole(target: Path, data: bytes, *, private: bool = False) -> None:
    """Write a small file whole or not at all."""
    with Whole(target, private=private) as out:
        out.write(data)


def sweep(folder: Path) -> None:
    """Remove what killed processes left half-written; what some process still writes is locked, and stays."""
    if fcntl is None:
        return
    for part in folder.glob(_PART.format("*")):
        with suppress(OSError), part.open("rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()


@contextmanager
def alone(folder: Path, name: str = LOCK, *, private: bool = False) -> Iterator[None]:
    """Be the only run that writes here; the lock goes with the process, however that ends.

    The file is taken away at the end, and so is the folder if it was made for it and nothing came into it.

    Args:
        folder: made where there is none.
        name: of the lock; one that says nothing of an input.
        private: a folder that is made is its owner's only.

    Raises:
        IncognoteError: another run holds it; nothing was done. Or the folder cannot be written.
    """
    if fcntl is None:
        yield
        return
    made = not folder.exists()
    try:
        handle = _locked(folder, folder / name, 0o700 if private else 0o777)
    except BlockingIOError:
        raise IncognoteError("another run is writing here: wait until it ends, or name another place") from None
    except OSError as error:
        raise unwritable(error) from None
    try:
        yield
    finally:
        with suppress(OSError):
            (folder / name).unlink()
            if made:
                folder.rmdir()  # fails, as it should, where something is in it
        os.close(handle)


def _locked(folder: Path, path: Path, mode: int) -> int:
    """A handle on the locked file that stands at the path now: a former holder may have just taken its own away."""
    while True:
        folder.mkdir(mode=mode, parents=True, exist_ok=True)
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:  # the folder went with its former holder
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(handle), path.stat()):
                return handle
        except FileNotFoundError:
            pass  # a former holder has just taken it away: once more
        except BlockingIOError:
            os.close(handle)
            raise
        except OSError:  # a file system without locks: nothing can be promised there
            return handle
        os.close(handle)


def in_use(folder: Path, owner: object) -> None:
    """Mark a folder as in use until `owner` or its process is gone; any number of owners may.

    Raises:
        IncognoteError: `unused` holds the folder.
    """
    if fcntl is None:
        return
    with suppress(FileNotFoundError):
        handle = os.open(folder, os.O_RDONLY)
        weakref.finalize(owner, os.close, handle)
        _flock(handle, fcntl.LOCK_SH, "its master key is being changed: wait, or end that with `incognote key rotate`")


@contextmanager
def unused(folder: Path, said: str) -> Iterator[None]:
    """Hold a folder that nobody uses; whoever comes is refused meanwhile. The hold goes with the process.

    Raises:
        IncognoteError: somebody uses it (`said`).
    """
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        _flock(handle, fcntl.LOCK_EX, said)
        yield
    finally:
        os.close(handle)


def _flock(handle: int, how: int, said: str) -> None:
    try:
        fcntl.flock(handle, how | fcntl.LOCK_NB)
    except BlockingIOError:
        raise IncognoteError(said) from None
    except OSError:
        return  # a file system without locks: nothing can be promised there


def sync_folder(folder: Path) -> None:
    """Make renames in a folder durable, where the system can (Windows cannot)."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def unwritable(error: OSError) -> Unwritable:
    """What to say of a place that cannot be written; names could be PHI, so only the system's reason is told."""
    return Unwritable(f"the output cannot be written: {error.strerror or type(error).__name__}")
