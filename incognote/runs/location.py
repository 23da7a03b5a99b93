"""Locations: a folder, or a bucket's prefix by its URL; and that no two of them lie in one another."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incognote.errors import MissingExtra, SettingError, UsageError

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs", "az": "azure", "abfs": "azure", "abfss": "azure"}
_LOCAL = ("file", "local")


@dataclass(frozen=True)
class Location:
    """A location that was opened.

    Args:
        root: a real path, or the path in the store without protocol.
        store: None for a folder of this machine.
    """

    root: str = field(repr=False)
    store: AbstractFileSystem | None = field(default=None, repr=False)

    @property
    def kind(self) -> str:
        """`file`, or the name of the store's protocol."""
        if self.store is None:
            return "file"
        protocol = self.store.protocol
        return str(protocol if isinstance(protocol, str) else protocol[0])

    def within(self, other: Location) -> bool:
        """Whether it is the other, or lies in it."""
        if (self.store is None) != (other.store is None):
            return False
        if self.store is not None and self.kind != other.kind:
            return False
        mine, its = self.root.rstrip("/") + "/", other.root.rstrip("/") + "/"
        return mine.startswith(its)


def open_location(url: str) -> Location:
    """A location by its path or URL; who may use a store, its own usual variables and files say.

    Raises:
        SettingError: the URL names no store.
        MissingExtra: its package is not installed.
    """
    protocol, separator, path = url.partition("://")
    if not separator or protocol in _LOCAL:
        return Location(os.path.realpath(Path(path if separator else url).expanduser()))
    if "::" in protocol or {"", ".", ".."} & set(path.removesuffix("/").split("/")):
        raise SettingError(  # what one store takes for another place is the same one to the next
            "A storage URL must be PROTOCOL://BUCKET/PATH, without chained protocols, empty parts, `.` or `..`."
        )
    from fsspec import url_to_fs

    try:
        store, root = url_to_fs(url)
    except ImportError:
        raise MissingExtra(_EXTRAS.get(protocol, "service"), f"a location that begins with {protocol}://") from None
    except ValueError:
        told = f"a location is a folder or the URL of a store; none is known as {protocol[:16]}://"
        raise SettingError(told) from None
    return Location(str(root).rstrip("/"), store)


def database_file(url: str | None) -> Location | None:
    """Where a database lies that is a file; None for one that a server has."""
    scheme, separator, path = (url or "").partition(":///")
    return open_location(path.partition("?")[0]) if separator and scheme.startswith("sqlite") else None


def keep_apart(places: Mapping[str, Location | None]) -> None:
    """Refuse locations that lie in one another, so that no output is taken for an input, no original for an output.

    Raises:
        UsageError: two do; the message says which by their names here.
    """
    named: list[tuple[str, Location]] = [(name, where) for name, where in places.items() if where is not None]
    for index, (name, one) in enumerate(named):
        for other_name, other in named[index + 1 :]:
            if one.within(other) or other.within(one):
                raise UsageError(f"{name} and {other_name} must not contain each other. Choose separate places.")


def store_error(error: Any) -> str:
    """What may be said of a store's error: the system's reason or its class, never its message."""
    return getattr(error, "strerror", None) or type(error).__name__
