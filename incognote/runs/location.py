"""Locations: a folder, or a prefix in a bucket by its URL. No two locations of a run may overlap."""

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
        store: None for a local folder.
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
        """Whether this location equals the other or is inside it."""
        if (self.store is None) != (other.store is None):
            return False
        if self.store is not None and self.kind != other.kind:
            return False
        mine, its = self.root.rstrip("/") + "/", other.root.rstrip("/") + "/"
        return mine.startswith(its)


def open_location(url: str) -> Location:
    """Open a location by its path or URL. A store takes its credentials from its own usual variables and files.

    Raises:
        SettingError: the URL names no store.
        MissingExtra: its package is not installed.
    """
    protocol, separator, path = url.partition("://")
    if not separator or protocol in _LOCAL:
        return Location(os.path.realpath(Path(path if separator else url).expanduser()))
    if "::" in protocol or {"", ".", ".."} & set(path.removesuffix("/").split("/")):
        raise SettingError(  # one store distinguishes such paths, another treats them as equal
            "A storage URL must be PROTOCOL://BUCKET/PATH, without chained protocols, empty parts, `.` or `..`."
        )
    from fsspec import url_to_fs

    try:
        store, root = url_to_fs(url)
    except ImportError:
        raise MissingExtra(_EXTRAS.get(protocol, "service"), f"a location that begins with {protocol}://") from None
    except ValueError:
        told = f"A location must be a folder or a storage URL. {protocol[:16]}:// is not a known protocol."
        raise SettingError(told) from None
    return Location(str(root).rstrip("/"), store)


def database_file(url: str | None) -> Location | None:
    """Return the location of a database that is a file; None for a database on a server."""
    scheme, separator, path = (url or "").partition(":///")
    return open_location(path.partition("?")[0]) if separator and scheme.startswith("sqlite") else None


def keep_apart(places: Mapping[str, Location | None]) -> None:
    """Refuse locations that overlap, so that no output is taken for an input, and no original for an output.

    Raises:
        UsageError: two overlap. The message names them by the keys of `places`.
    """
    named: list[tuple[str, Location]] = [(name, where) for name, where in places.items() if where is not None]
    for index, (name, one) in enumerate(named):
        for other_name, other in named[index + 1 :]:
            if one.within(other) or other.within(one):
                raise UsageError(f"{name} and {other_name} must not contain each other. Choose separate places.")


def store_error(error: Any) -> str:
    """Return what may be shown of a store's error: the system's reason or its class, never its message."""
    return getattr(error, "strerror", None) or type(error).__name__
