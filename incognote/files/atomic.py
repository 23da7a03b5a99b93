"""Write files completely or not at all, in folders that only one run at a time writes into.

Every command writes through `AtomicFile`, and calls `require_writable` before it starts to work.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from incognote.errors import IncognoteError, Unwritable, UsageError

try:
    import fcntl
except ImportError:  # Windows: no locks; parts of a killed run stay until a user deletes them
    fcntl = None  # type: ignore[assignment,unused-ignore]  # the module is absent there, not merely untyped

_PART = ".incognote-{}.part"
_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/([0-9]+)")
_STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}
LOCK = ".incognote.lock"


class AtomicFile:
    """A file written under a temporary name beside its target. `with` moves it to the target only if no error occurred.

    The bytes are on the disk before the name appears (fsync, then rename). So a killed process leaves either the whole
    file or a hidden `.part` file that `sweep` removes. A device, a pipe and a descriptor (`/dev/stdout`) are written to
    directly, as the bytes come. A symbolic link is always refused.

    Args:
        target: the path of the finished file.
        private: readable by its owner only.

    Raises:
        Unwritable: the target cannot be written. The message names the operating system's reason, not the path.
        UsageError: the target is a symbolic link or a folder.
    """

    def __init__(self, target: Path, *, private: bool = False) -> None:
        self.target = target
        require_writable(target, overwrite=True)
        self._part: Path | None = None
        try:
            if is_stream(target):
                self.stream: BinaryIO = os.fdopen(_descriptor(target), "wb")
                return
            target.parent.mkdir(parents=True, exist_ok=True)
            self._part = target.parent / _PART.format(secrets.token_hex(8))
            handle = os.open(self._part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
        except OSError as error:
            raise unwritable(error) from None
        if fcntl is not None:
            with suppress(
                OSError
            ):  # without locks on the file system, `sweep` could remove it, but `sweep` cannot lock it there either
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.stream = os.fdopen(handle, "wb")

    def write(self, data: bytes) -> None:
        """Append bytes."""
        try:
            self.stream.write(data)
        except OSError as error:
            raise unwritable(error) from None

    @property
    def part(self) -> Path | None:
        """The temporary file; None for a device or a pipe."""
        return self._part

    def commit(self) -> None:
        """Move the file to its target, replacing an existing file."""
        try:
            self.stream.flush()
            if self._part is None:
                self.stream.close()
                return
            os.fsync(self.stream.fileno())
            if fcntl is None:
                self.stream.close()  # Windows cannot rename an open file
            os.replace(self._part, self.target)
            self.stream.close()
            sync_folder(self.target.parent)
        except OSError as error:
            self.abandon()
            raise unwritable(error) from None

    def abandon(self) -> None:
        """Remove the temporary file."""
        with suppress(OSError):
            self.stream.close()
        if self._part is not None:
            self._part.unlink(missing_ok=True)

    def __enter__(self) -> AtomicFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.commit()
        else:
            self.abandon()


def write_atomic(target: Path, data: bytes, *, private: bool = False) -> None:
    """Write a small file completely or not at all."""
    with AtomicFile(target, private=private) as out:
        out.write(data)


def require_writable(target: Path, *, overwrite: bool, option: str = "the output") -> None:
    """Refuse a target that a command may not write to.

    Args:
        overwrite: whether a file may be replaced. A symbolic link and a folder never are.
        option: the name of the target in the message.

    Raises:
        UsageError: the target exists, must not be replaced, and is not a stream.
    """
    if is_stream(target):
        return
    if target.is_symlink():
        raise UsageError(f"{option} is a symbolic link. Name the file itself.")
    if target.is_dir():
        raise UsageError(f"{option} must be a file, but it is a folder. Choose another path.")
    if not overwrite and target.exists():
        raise UsageError(f"{option} already exists. Choose another path, or add --overwrite.")


def is_stream(target: Path) -> bool:
    """Whether a target is written to directly, not replaced: a device, a named pipe, an open descriptor."""
    name = str(target)
    if os.name != "nt" and (name in _STANDARD or _DESCRIPTOR.fullmatch(name)):
        return True
    try:
        mode = target.lstat().st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


def _descriptor(target: Path) -> int:
    """Return a descriptor to write to a stream.

    An open one is shared, so a file behind it is not written from its start.
    """
    name = str(target)
    found = _DESCRIPTOR.fullmatch(name)
    if name not in _STANDARD and found is None:
        return os.open(target, os.O_WRONLY)
    sys.stdout.flush()
    return os.dup(int(found[1]) if found else _STANDARD[name])


def sweep(folder: Path) -> None:
    """Remove the partial files of killed processes. A file that a process is still writing is locked, and stays."""
    if fcntl is None:
        return
    for part in folder.glob(_PART.format("*")):
        with suppress(OSError), part.open("rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()


@contextmanager
def exclusive(folder: Path, name: str = LOCK, *, private: bool = False) -> Iterator[None]:
    """Hold an exclusive lock on a folder. The lock ends with the process, however that ends.

    The lock file is removed at the end. So is the folder, if it was created for the lock and is still empty.

    Args:
        folder: created if it does not exist.
        name: the name of the lock file. It must not reveal anything about an input.
        private: a created folder is readable by its owner only.

    Raises:
        IncognoteError: another run holds the lock, and nothing was done. Or the folder cannot be written.
    """
    if fcntl is None:
        yield
        return
    made = not folder.exists()
    try:
        handle = _locked(folder, folder / name, 0o700 if private else 0o777)
    except BlockingIOError:
        raise IncognoteError(
            "Another run is writing to this folder. Wait until it ends, or choose another folder."
        ) from None
    except OSError as error:
        raise unwritable(error) from None
    try:
        yield
    finally:
        with suppress(OSError):
            (folder / name).unlink()
            if made:
                folder.rmdir()  # fails, as intended, if the folder is not empty
        os.close(handle)


def _locked(folder: Path, path: Path, mode: int) -> int:
    """Return a handle on the locked file that is at the path now. A former holder may have just removed its own."""
    while True:
        folder.mkdir(mode=mode, parents=True, exist_ok=True)
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:  # the former holder removed the folder
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(handle), path.stat()):
                return handle
        except FileNotFoundError:
            pass  # a former holder has just removed it: retry
        except BlockingIOError:
            os.close(handle)
            raise
        except OSError:  # a file system without locks: exclusion cannot be guaranteed
            return handle
        os.close(handle)


def in_use(folder: Path, owner: object) -> None:
    """Mark a folder as in use until `owner` or its process is gone. Several owners may use it.

    Raises:
        IncognoteError: `unused` holds the folder.
    """
    if fcntl is None:
        return
    with suppress(FileNotFoundError):
        handle = os.open(folder, os.O_RDONLY)
        weakref.finalize(owner, os.close, handle)
        said = "The master key of this folder is being changed. Wait, or finish it with `incognote key rotate`."
        _flock(handle, fcntl.LOCK_SH, said)


@contextmanager
def unused(folder: Path, said: str) -> Iterator[None]:
    """Hold a folder that is not in use. Others are refused meanwhile. The hold ends with the process.

    Raises:
        IncognoteError: the folder is in use (`said`).
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
        return  # a file system without locks: exclusion cannot be guaranteed


def sync_folder(folder: Path) -> None:
    """Make renames in a folder durable, if the system can (Windows cannot)."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def unwritable(error: OSError) -> Unwritable:
    """Return the error for a path that cannot be written.

    It gives only the system's reason, since names could be PHI.
    """
    return Unwritable(f"The output cannot be written: {error.strerror or type(error).__name__}.")
