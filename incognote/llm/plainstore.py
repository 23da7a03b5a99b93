"""Synthetic answers in clear: test material that a reader can review, one JSON line each."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from incognote.errors import SettingError, UsageError


class PlainStore:
    """Lines `{"address", "kind", "value"}`; other keys are the maker's notes. The first line of an address stands.

    Args:
        path: the file; read whole, written to only by `put`.
        create: begin with nothing when it is not there.

    Raises:
        SettingError: absent though it must not be made, or a line is none of these.
    """

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._values: dict[str, bytes] = {}
        try:
            lines = path.read_bytes().split(b"\n")
        except FileNotFoundError:
            if not create:
                raise SettingError("there is no recording at the path given") from None
            lines = []
        except OSError:
            raise SettingError("the plain recording cannot be read: check its path and rights") from None
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    row = json.loads(line)
                    self._values.setdefault(row["address"], written(row["value"]))
                except (ValueError, KeyError, TypeError):
                    raise SettingError(
                        f"line {number} of the plain recording is no JSON object with address, kind and value"
                    ) from None

    def get(self, address: str) -> bytes | None:
        """The value under an address as canonical JSON, or None."""
        return self._values.get(address)

    def put(self, address: str, value: bytes, kind: str = "reply") -> bytes:
        """Append a value unless one stands there; what stands is returned.

        Raises:
            UsageError: the value is not JSON.
        """
        try:
            content = json.loads(value)
        except ValueError:
            raise UsageError("a plain recording keeps JSON only") from None
        with self._lock:
            if address not in self._values:
                line = json.dumps({"address": address, "kind": kind, "value": content}, separators=(",", ":"))
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._path.open("ab", buffering=0) as out:  # one write, so that lines of two processes never mix
                    out.write(line.encode() + b"\n")
                self._values[address] = written(content)
            return self._values[address]

    def put_all(self, values: Iterable[tuple[str, bytes]]) -> None:
        """Append many."""
        for address, value in values:
            self.put(address, value)

    def __len__(self) -> int:
        return len(self._values)

    def close(self) -> None:
        """Nothing is held open."""


def written(value: Any) -> bytes:
    """JSON in the one form that is stored and compared: ASCII, keys sorted, no blanks."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
