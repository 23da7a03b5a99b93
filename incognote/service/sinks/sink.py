"""The place records are read from: what is there, in which version, and its bytes. Nothing is ever written there."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import Any, BinaryIO, Literal, cast

from incognote.errors import SinkUnavailable
from incognote.service.sinks.place import Place, told

ZSTD, PARQUET = ".zst", ".parquet"
Why = Literal["ready", "resting", "link-outside", "link-inside", "link-nowhere", "special", "unreadable"]
_TAGS = ("ETag", "etag", "generation", "content_md5", "md5Hash", "mtime", "LastModified", "last_modified", "updated")


@dataclass(frozen=True, slots=True)
class Seen:
    """A file that was seen.

    Args:
        name: its path below the sink, with `/`.
        stamp: of its version: size, and time or tag.
        why: `ready`; `resting`: its writer may not be done; a link that leads out, to what is read anyway,
            or nowhere;
            `special`: a pipe, a socket or a device; `unreadable`: a folder that cannot be listed, a file of which the
            system says nothing.
    """

    name: str = field(repr=False)
    size: int
    stamp: str
    why: Why


class Sink:
    """A folder or the prefix of a store.

    Args:
        rest: seconds that a file must not have changed for; in stores objects appear whole.
        shown: the location as the user typed it.

    Raises:
        SinkUnavailable: it is not there.
    """

    def __init__(self, where: Place, *, rest: float = 0.0, shown: str = "") -> None:
        self.where, self._rest, self.shown = where, rest, shown or where.root
        if where.store is None and not Path(where.root).is_dir():
            raise SinkUnavailable("the sink is no folder: name one, or a store by its URL")

    def look(self) -> Iterator[Seen]:
        """All files, each with why it is read or not.

        Raises:
            SinkUnavailable: it cannot be listed.
        """
        return self._look_in_folder() if self.where.store is None else self._look_in_store()

    def stamp(self, name: str) -> str | None:
        """Of what is there now under a name; None for nothing.

        Raises:
            SinkUnavailable: nobody can say.
        """
        try:
            if self.where.store is None:
                return _stamp(os.stat(self._path(name)))
            self.where.store.invalidate_cache()
            return _tag(self.where.store.info(self._path(name)))
        except FileNotFoundError:
            return None
        except Exception as error:  # a store's own classes are many
            if self.where.store is None:
                return None  # a right that was taken away, a link: the next look says which
            raise SinkUnavailable(f"the sink does not answer ({told(error)})") from None

    def open(self, name: str) -> BinaryIO:
        """Its bytes, seekable.

        Raises:
            OSError: of a folder: it is gone, or may not be read.
            SinkUnavailable: of a store.
        """
        if self.where.store is None:
            flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)  # it was no link when it was seen
            return os.fdopen(os.open(self._path(name), flags), "rb")
        try:
            return cast(BinaryIO, self.where.store.open(self._path(name), "rb"))
        except (FileNotFoundError, PermissionError):
            raise
        except Exception as error:  # a store's own classes are many
            raise SinkUnavailable(f"the sink does not answer ({told(error)})") from None

    def _path(self, name: str) -> str:
        return f"{self.where.root}/{name}"

    def _look_in_folder(self) -> Iterator[Seen]:
        """Hidden files and folders are left out: editors and operating systems keep theirs there."""
        root, now = self.where.root, time.time()
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            try:
                with os.scandir(self._path(folder)) as entries:
                    found = sorted(entries, key=lambda entry: entry.name)
            except FileNotFoundError:
                if folder:
                    continue  # taken away since
                raise SinkUnavailable("the sink is gone") from None
            except OSError as error:
                if not folder:
                    raise SinkUnavailable(f"the sink cannot be listed: {error.strerror}") from None
                yield Seen(folder, 0, "", "unreadable")
                continue
            for entry in found:
                name = folder + entry.name
                if entry.name.startswith("."):
                    continue
                if entry.is_symlink():
                    inside = os.path.realpath(entry.path).startswith(root + "/")
                    whither: Why = "link-outside"
                    if inside:
                        whither = "link-inside" if os.path.exists(entry.path) else "link-nowhere"
                    yield Seen(name, 0, "", whither)
                elif entry.is_dir():
                    waiting.append(name + "/")
                else:
                    try:
                        stat = entry.stat()
                    except FileNotFoundError:
                        continue
                    except OSError:
                        yield Seen(name, 0, "", "unreadable")
                        continue
                    if not S_ISREG(stat.st_mode):
                        yield Seen(name, 0, "", "special")
                        continue
                    resting = 0 <= now - stat.st_mtime < self._rest  # a time to come says nothing: clocks differ
                    yield Seen(name, stat.st_size, _stamp(stat), "resting" if resting else "ready")

    def _look_in_store(self) -> Iterator[Seen]:
        store = self.where.store
        assert store is not None  # the caller asked
        try:
            store.invalidate_cache()
            found: dict[str, dict[str, Any]] = store.find(self.where.root, detail=True)
        except Exception as error:  # a store's own classes are many
            raise SinkUnavailable(f"the sink cannot be listed ({told(error)})") from None
        for path in sorted(found):
            name = path.removeprefix(self.where.root).lstrip("/")
            if any(piece.startswith(".") for piece in name.split("/")):
                continue
            yield Seen(name, int(found[path].get("size") or 0), _tag(found[path]), "ready")


def _stamp(stat: os.stat_result) -> str:
    return f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ino}"


def _tag(info: dict[str, Any]) -> str:
    tags = [str(info[name]) for name in _TAGS if info.get(name)]
    return hashlib.sha256(" ".join((str(info.get("size")), *tags)).encode()).hexdigest()
