"""A folder of records that were not released, each encrypted in its own file, so that they can be retried.

A file is one line of JSON without PHI (the header), then content that only the key can open. The header is
authenticated: if it is changed, the content cannot be opened. File names are random. For a reason, the header holds the
code, and the field only if an approved schema names it. Names of unknown fields, and all details, are sealed.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from incognote.errors import IncognoteError, UnknownName, UsageError, WrongKey
from incognote.files.atomic import in_use, sweep, unwritable, write_atomic
from incognote.keys import Keyring
from incognote.nouns import Outcome, Reason

VERSION = 2
_SUFFIX = ".held"
_LONGEST_HEADER = 2**20
# Codes from an audit. Its fields come from an opened record, so from its schema. Any other field is the record's own.
_FIELD_IS_THE_SCHEMAS = frozenset({"doubtful", "left-after-audit", "known-identifier-left", "original-repeated"})


@dataclass(frozen=True, slots=True)
class Held:
    """The header of one held record. It contains no PHI.

    Args:
        name: the random name of its file, without suffix.
        outcome: `review` or `quarantine`.
        reasons: codes, and field paths that an approved schema names. The full reasons are in Contents.
        data_type: the data type of its schema, if it had one.
        source: the keyed name of the file it came from.
        position: its position there, from 1.
        kind: the format of that file.
        time: when it was put here, UTC.
        policy: name and version of the policy that held it.
        key, check: the id and check value of the key that sealed it.
        kept: False if its bytes could not be read. It is then only in its source.
    """

    name: str
    outcome: Outcome
    reasons: tuple[Reason, ...]
    data_type: str | None
    source: str
    position: int
    kind: str
    time: str
    policy: str
    key: str
    check: str
    kept: bool = True


@dataclass(frozen=True, slots=True)
class Contents:
    """The content of a held record: its bytes and its run's data about it. All of it is PHI.

    Args:
        data: the bytes as they are in the source; empty if they could not be read.
        words: what `retry` needs to run it again in the same way; ready for JSON.
        reasons: why it is held, with fields and details. `put` takes them as a separate argument.
    """

    data: bytes = field(repr=False)
    words: Mapping[str, Any] = field(repr=False)
    reasons: tuple[Reason, ...] = field(default=(), repr=False)


class Quarantine:
    """A folder of encrypted records that were not released. Each quarantine has one key.

    Args:
        folder: created by the first `put`, readable by its owner only.
        keyring: a persistent key.
        clock: returns the time.
        former: another key that items may be under, for `rekey`. The caller must make sure that nothing else uses it.

    Raises:
        WrongKey: the key is ephemeral, or something in the folder was sealed with another key. Nothing was done.
    """

    def __init__(
        self, folder: str | Path, keyring: Keyring, clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        *, former: Keyring | None = None,
    ) -> None:  # fmt: skip
        self.folder = Path(folder)
        self._keyring, self._clock = keyring, clock
        if not keyring.persistent:
            raise WrongKey(
                "A quarantine needs a persistent key, or its records could never be opened. Run: incognote key new"
            )
        if former is None:
            in_use(self.folder, self)
        for held in listed(self.folder):
            if former is None or (held.key, held.check) != (former.id, former.check):
                keyring.require(held.key, held.check)
        if self.folder.is_dir():
            sweep(self.folder)

    def put(
        self,
        contents: Contents,
        *,
        outcome: Outcome,
        reasons: Sequence[Reason],
        source: str,
        position: int,
        kind: str,
        data_type: str | None = None,
        policy: str = "",
        kept: bool = True,
        name: str | None = None,
    ) -> Held:
        """Seal one record. It is on the disk when this returns.

        Args:
            name: the name of a held record that this one replaces; None makes a new, random name.
        """
        held = Held(
            name or secrets.token_hex(12),
            outcome,
            tuple(map(in_clear, reasons)),
            data_type,
            source,
            position,
            kind,
            self._clock().isoformat(timespec="seconds"),
            policy,
            self._keyring.id,
            self._keyring.check,
            kept,
        )
        header = _header(held)
        told = json.dumps({"words": dict(contents.words), "reasons": [astuple(reason) for reason in reasons]}).encode()
        sealed = self._keyring.seal("quarantine", told + b"\n" + contents.data, header)
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(error) from None
        write_atomic(self._path(held), header.encode() + b"\n" + sealed, private=True)
        return held

    def items(self) -> Iterator[Held]:
        """Return the held records, by source and position."""
        return listed(self.folder)

    def find(self, name: str) -> Held:
        """Return the record whose name begins with `name`.

        Raises:
            UnknownName: there is none.
            UsageError: there are several.
        """
        found = [held for held in self.items() if name and held.name.startswith(name)]
        if len(found) != 1:
            if len(found) > 1:
                raise UsageError(f"{len(found)} held records begin with {name!r}. Give more of the name.")
            raise UnknownName("held record", name)
        return found[0]

    def open(self, held: Held) -> Contents:
        """Decrypt one record.

        Raises:
            WrongKey: another key, or a damaged or changed file.
            IncognoteError: it no longer exists.
        """
        try:
            return _contents(self._plain(held, self._keyring))
        except OSError as error:
            raise IncognoteError(f"The held record {held.name} cannot be read: {error.strerror}.") from None

    def drop(self, held: Held) -> None:
        """Delete one record permanently."""
        self._path(held).unlink(missing_ok=True)

    def discard(self, name: str) -> None:
        """Delete the record with this exact name, if it exists."""
        (self.folder / f"{name}{_SUFFIX}").unlink(missing_ok=True)

    def rekey(self, former: Keyring, source_of: Callable[[Held, Contents], str]) -> int:
        """Reseal what a former key sealed. Return how many. Each file is always completely under one of the two keys.

        Args:
            source_of: returns the keyed name of a held record's source, under the new key.

        Raises:
            WrongKey: an item is under a third key, or damaged. The items before it are done.
        """
        done = 0
        for held in listed(self.folder):
            if (held.key, held.check) == (self._keyring.id, self._keyring.check):
                continue
            former.require(held.key, held.check)
            plain = self._plain(held, former)
            source = source_of(held, _contents(plain))
            header = _header(replace(held, source=source, key=self._keyring.id, check=self._keyring.check))
            data = header.encode() + b"\n" + self._keyring.seal("quarantine", plain, header)
            write_atomic(self._path(held), data, private=True)
            done += 1
        return done

    def _plain(self, held: Held, keyring: Keyring) -> bytes:
        header, _, sealed = self._path(held).read_bytes().partition(b"\n")
        return keyring.open("quarantine", sealed, header.decode("ascii", "replace"))

    def _path(self, held: Held) -> Path:
        return self.folder / f"{held.name}{_SUFFIX}"


def listed(folder: Path) -> Iterator[Held]:
    """Yield the headers of a quarantine folder, by source and position. No key is needed.

    Records that another run drops meanwhile are left out.

    Raises:
        IncognoteError: a file in it is not a held record.
    """
    paths = folder.glob(f"*{_SUFFIX}") if folder.is_dir() else ()
    found = [held for path in paths if (held := _read_header(path)) is not None]
    yield from sorted(found, key=lambda held: (held.source, held.position, held.name))


def within(folder: Path) -> list[Path]:
    """Return the quarantine folders in a folder, sorted. A worker makes one for each release."""
    return sorted(path for path in folder.iterdir() if path.is_dir() and any(path.glob(f"*{_SUFFIX}")))


def in_clear(reason: Reason) -> Reason:
    """Return what may be shown of a reason: the code, and the field if an approved schema names it."""
    return Reason(reason.code, reason.field if reason.code in _FIELD_IS_THE_SCHEMAS else "")


def _contents(plain: bytes) -> Contents:
    line, _, data = plain.partition(b"\n")
    told = json.loads(line)
    return Contents(data, told["words"], tuple(Reason(*reason) for reason in told["reasons"]))


def _header(held: Held) -> str:
    written = {"incognote_quarantine": VERSION, **asdict(held), "reasons": [[r.code, r.field] for r in held.reasons]}
    del written["name"]
    return json.dumps(written)


def _read_header(path: Path) -> Held | None:
    try:
        with path.open("rb") as stream:
            told = json.loads(stream.readline(_LONGEST_HEADER))
        if told["incognote_quarantine"] != VERSION:
            raise IncognoteError(
                f"{path.name} in the quarantine folder was written by another version of incognote. Use that version."
            )
        reasons = tuple(Reason(*reason) for reason in told["reasons"])
        fields = {k: v for k, v in told.items() if k not in ("incognote_quarantine", "reasons")}
        return Held(name=path.stem, reasons=reasons, **fields)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        raise IncognoteError(
            f"{path.name} in the quarantine folder is damaged. Restore it from a backup, or remove it."
        ) from None
