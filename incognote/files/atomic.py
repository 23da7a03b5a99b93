"""Files that come into being whole or not at all, in folders that one run at a time writes into.

Every command writes through `AtomicFile`, and asks `require_writable` before it starts to work.
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
except ImportError:  # Windows: remains of a killed run then stay until somebody deletes them, and nothing is locked
    fcntl = None  # type: ignore[assignment,unused-ignore]  # the module is absent there, not merely untyped

_PART = ".incognote-{}.part"
_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/([0-9]+)")
_STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}
LOCK = ".incognote.lock"


class AtomicFile:
    """A file being written under a temporary name beside its place; `with` puts it there only if nothing went wrong.

    The bytes are on the disk before the name appears (fsync, then rename), so a killed process leaves either the whole
    file or a hidden `.part` file that `sweep` removes. A device, a pipe and a descriptor (`/dev/stdout`) are written
    to, as the bytes come; a symbolic link is refused, whatever it leads to.

    Args:
        target: where the file shall be.
        private: readable by its owner only.

    Raises:
        Unwritable: the place cannot be written; the message names the operating system's reason, not the path.
        UsageError: a symbolic link or a folder is there.
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
            ):  # a file system without locks: `sweep` could then take it, so it is left alone there too
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.stream = os.fdopen(handle, "wb")

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
            if self._part is None:
                self.stream.close()
                return
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
    """Write a small file whole or not at all."""
    with AtomicFile(target, private=private) as out:
        out.write(data)


def require_writable(target: Path, *, overwrite: bool, option: str = "the output") -> None:
    """Refuse a place that a command may not write to.

    Args:
        overwrite: whether a file may be replaced. A symbolic link and a folder never are.
        option: what the message calls the place.

    Raises:
        UsageError: something is there that is neither to be replaced nor a stream.
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
    """Whether a place is written to and not replaced: a device, a named pipe, an open descriptor."""
    name = str(target)
    if os.name != "nt" and (name in _STANDARD or _DESCRIPTOR.fullmatch(name)):
        return True
    try:
        mode = target.lstat().st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


def _descriptor(target: Path) -> int:
    """A descriptor to write to a stream. An open one is shared: a file behind it is not written from its start."""
    name = str(target)
    found = _DESCRIPTOR.fullmatch(name)
    if name not in _STANDARD and found is None:
        return os.open(target, os.O_WRONLY)
    sys.stdout.flush()
    return os.dup(int(found[1]) if found else _STANDARD[name])


def sweep(folder: Path) -> None:
    """Remove what killed processes left half-written; what some process still writes is locked, and stays."""
    if fcntl is None:
        return
    for part in folder.glob(_PART.format("*")):
        with suppress(OSError), part.open("rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()


@contextmanager
def exclusive(folder: Path, name: str = LOCK, *, private: bool = False) -> Iterator[None]:
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
    return Unwritable(f"The output cannot be written: {error.strerror or type(error).__name__}.")
