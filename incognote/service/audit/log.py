"""Write the audit log, from any number of processes and threads of one machine.

Each entry is durable before it counts.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from incognote.errors import IncognoteError, KeyMissing, SettingError
from incognote.files.atomic import in_use, sync_folder, unwritable, write_atomic
from incognote.keys import Keyring
from incognote.service.audit.entry import AuditEntry, ChainHead
from incognote.service.vocabulary import Fact, checked

try:
    import fcntl
except ImportError:  # Windows, where the service does not run
    fcntl = None  # type: ignore[assignment,unused-ignore]  # the module is absent there, not merely untyped

HEAD, LOCK = "head", "lock"
REKEYED = "audit.rekeyed"
SEGMENT = "{:06d}.jsonl"
SEGMENT_BYTES = 64 * 2**20
_LONGEST_LINE = 2**16


class AuditLog:
    """A folder of numbered segments (JSON lines), the head of the chain, and a lock.

    An entry is on the disk when `append` returns. If an action cannot be logged, it must not happen, so do not catch
    the error. Segments are never rewritten. Old ones may be moved to an archive, oldest first.

    Args:
        folder: created if it does not exist, private to its owner. Its file system must have locks that all its users
            see.
        keyring: a persistent key. The log must have been started with it.
        clock: returns the time.
        segment_bytes: the size of a segment at which the next begins.
        former: the key that sealed the log until now. The log is moved to `keyring`. The caller must make sure that
            nothing else uses the folder.

    Raises:
        KeyMissing: the key exists only in this process, so a seal could never be checked.
        WrongKey: the log was started with another key.
        IncognoteError: the folder cannot be written, or its entries were cut or changed.
        SettingError: this system has no file locks.
    """

    def __init__(
        self,
        folder: str | Path,
        keyring: Keyring,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        segment_bytes: int = SEGMENT_BYTES,
        former: Keyring | None = None,
    ) -> None:
        if fcntl is None:
            raise SettingError("An audit log needs a system with file locks (POSIX).")
        if not keyring.persistent:
            raise KeyMissing(
                "An audit log needs a persistent key. Run `incognote key new`, or set key_file (INCOGNOTE_KEY_FILE)."
            )
        self.folder = Path(folder).expanduser()
        self._keyring, self._clock, self._limit = keyring, clock, segment_bytes
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(error) from None
        if former is None:
            in_use(self.folder, self)
        else:
            self._rekey(former)
        first = first_entry(self.folder)
        if first is None:
            name = {"log": secrets.token_hex(8), "key": keyring.id, "check": keyring.check}
            self._write([("audit.opened", name)], only_first=True)
            first = first_entry(self.folder)
        named = key_entry(self.folder)
        if named is not None:  # if the beginning was archived, the key is unknown
            keyring.require(str(named.facts.get("key")), str(named.facts.get("check")))
        with self._alone():
            self._end()

    def append(self, event: str, **facts: Fact) -> AuditEntry:
        """Write one entry.

        Args:
            event, facts: of `vocabulary.toml`; nothing else can be written.

        Raises:
            UnknownName, UsageError: an event or a fact that the vocabulary does not contain or allow.
            IncognoteError: it could not be written, so the action must not happen.
        """
        return self.append_all([(event, facts)])[0]

    def append_all(self, told: Iterable[tuple[str, Mapping[str, Fact]]]) -> list[AuditEntry]:
        """Write several entries, all or none, with one wait for the disk."""
        return self._write([(event, checked(event, facts, staff=True)) for event, facts in told])

    def head(self) -> ChainHead:
        """Return the current head of the chain."""
        with self._alone():
            return self._end()[0]

    def _rekey(self, former: Keyring) -> None:
        """Begin a segment whose first entry names this key and is sealed with it. The former key seals no later entry.

        Earlier entries keep their seals and their hashes. The new entry's hash covers theirs, so they cannot be changed
        with the former key alone. A killed process leaves the former head, which the next call repairs.
        """
        with self._alone():
            named = key_entry(self.folder)
            if named is None and first_entry(self.folder) is None:
                return
            segments = sorted(self.folder.glob("[0-9]*.jsonl"))
            if named is not None and named.facts.get("key") == self._keyring.id:
                last, _ = _last(segments[-1])
                if last == named and not self._head_is_ours():
                    self._put_head(ChainHead.of(named))
                return
            if named is not None:
                former.require(str(named.facts.get("key")), str(named.facts.get("check")))
            keyring, self._keyring = self._keyring, former
            try:
                head, segment, torn = self._end()
                if torn:
                    with open(self.folder / SEGMENT.format(segment), "r+b") as out:
                        out.truncate(out.seek(0, os.SEEK_END) - torn)
            finally:
                self._keyring = keyring
            at = self._clock().astimezone(UTC).isoformat(timespec="milliseconds")
            facts = {"key": keyring.id, "check": keyring.check, "former_key": former.id}
            made = AuditEntry.new(head, at, REKEYED, checked(REKEYED, facts), keyring)
            try:
                if (self.folder / SEGMENT.format(segment)).stat().st_size:
                    segment += 1
                write_atomic(self.folder / SEGMENT.format(segment), made.line(), private=True)
                self._put_head(ChainHead.of(made))
            except OSError as error:
                raise unwritable(error) from None

    def _head_is_ours(self) -> bool:
        try:
            ChainHead.unsealed((self.folder / HEAD).read_bytes(), self._keyring)
        except ValueError:
            return False
        return True

    def _write(self, told: list[tuple[str, Mapping[str, Fact]]], *, only_first: bool = False) -> list[AuditEntry]:
        made: list[AuditEntry] = []
        with self._alone():
            head, segment, torn = self._end()
            if only_first and head.number:
                return made  # another process was faster
            if torn:
                told = [("audit.mended", {"bytes": torn}), *told]
            for event, facts in told:
                at = self._clock().astimezone(UTC).isoformat(timespec="milliseconds")
                made.append(AuditEntry.new(head, at, event, facts, self._keyring))
                head = ChainHead.of(made[-1])
            try:
                if only_first:
                    self._put_head(ChainHead())  # so that a log without a head is always one that lost it
                self._put(segment, b"".join(entry.line() for entry in made), torn)
                self._put_head(head)
            except OSError as error:
                raise unwritable(error) from None
        return made[1:] if torn else made

    def _put(self, segment: int, data: bytes, torn: int) -> None:
        """Add lines to a segment, or leave it unchanged."""
        with open(self.folder / SEGMENT.format(segment), "ab", opener=_private) as out:
            size = out.tell() - torn
            out.truncate(size)
        if size > self._limit:
            segment, size = segment + 1, 0
        with open(self.folder / SEGMENT.format(segment), "ab", buffering=0, opener=_private) as raw:
            try:
                left = memoryview(data)
                while left:
                    left = left[raw.write(left) :]
                os.fsync(raw.fileno())
            except OSError:
                raw.truncate(size)
                raise
        if not size:
            sync_folder(self.folder)

    def _put_head(self, head: ChainHead) -> None:
        part = self.folder / f"{HEAD}.part"
        with open(part, "wb", opener=_private) as out:
            out.write(head.sealed(self._keyring))
            out.flush()
            os.fsync(out.fileno())
        os.replace(part, self.folder / HEAD)

    def _end(self) -> tuple[ChainHead, int, int]:
        """Return the head, the number of the last segment, and the length in bytes of a torn entry after it.

        Raises:
            IncognoteError: the end is not the one that was last written.
        """
        try:
            found = sorted(self.folder.glob("[0-9]*.jsonl"))
            number = int(found[-1].stem) if found else 1
            last, torn = _last(found[-1]) if found else (None, 0)
            if last is None and len(found) > 1:  # a new segment whose first entry is torn
                last, _ = _last(found[-2])
            sealed = self.folder / HEAD
            noted = ChainHead.unsealed(sealed.read_bytes(), self._keyring) if sealed.exists() else None
        except (ValueError, UnicodeDecodeError):
            raise _broken() from None
        except OSError as error:
            raise unwritable(error) from None
        if last is None:
            if noted not in (None, ChainHead()):
                raise _broken()
            return ChainHead(), number, torn
        head = ChainHead.of(last)
        if noted is None or not (last.whole() and last.sealed_by(self._keyring)):
            raise _broken()
        if noted.number > head.number or (noted.number == head.number and noted != head):
            raise _broken()
        return head, number, torn

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the exclusive lock for writing. It is released if the process is killed."""
        try:
            handle = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise unwritable(error) from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def first_entry(folder: Path) -> AuditEntry | None:
    """Return the first entry that is still in the folder.

    Raises:
        IncognoteError: the line is not an entry.
    """
    for path in sorted(folder.glob("[0-9]*.jsonl")):
        if (first := _first(path)) is not None:
            return first
    return None


def key_entry(folder: Path) -> AuditEntry | None:
    """Return the last entry that names the key of what follows. It begins a segment. None if it was archived.

    Raises:
        IncognoteError: a segment does not begin with an entry.
    """
    for path in sorted(folder.glob("[0-9]*.jsonl"), reverse=True):
        first = _first(path)
        if first is not None and first.event in ("audit.opened", REKEYED):
            return first
    return None


def _first(path: Path) -> AuditEntry | None:
    with path.open("rb") as stream:
        line = stream.readline(_LONGEST_LINE)
    if not line.endswith(b"\n"):
        return None
    try:
        return AuditEntry.read(line)
    except ValueError:
        raise _broken() from None


def _last(path: Path) -> tuple[AuditEntry | None, int]:
    """Return the last whole entry of a segment, and the number of bytes after it."""
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - 2 * _LONGEST_LINE))
        end = stream.read()
    lines, _, torn = end.rpartition(b"\n")
    return (AuditEntry.read(lines.rpartition(b"\n")[2]) if lines else None), len(torn)


def _broken() -> IncognoteError:
    return IncognoteError(
        "The audit log was cut, changed, or partly lost. Run `incognote audit verify` to see where. Keep its folder "
        "as it is, and set audit to a new one."
    )
