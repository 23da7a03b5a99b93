"""Check the chain: every entry, with or without the key."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from incognote.errors import IncognoteError, UsageError
from incognote.keys import Keyring
from incognote.service.audit.entry import AuditEntry, ChainHead
from incognote.service.audit.log import HEAD, key_entry


@dataclass(frozen=True, slots=True)
class ChainFault:
    """A place where the chain fails a check.

    Args:
        code: a key of `_SAID`.
        segment: the file; "" for the whole log.
        line: from 1; 0 for the whole segment.
    """

    code: str
    segment: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{_SAID[self.code]}{f' ({self.segment}, line {self.line})' if self.segment else ''}"


_SAID = {
    "unreadable": "a line is not a valid entry",
    "gap": "entries before this one are missing",
    "changed": "an entry was changed after it was written",
    "unchained": "an entry does not follow the one before it",
    "forged": "an entry was not sealed with this key",
    "cut": "entries that the head file counts are missing",
    "head": "the head file is missing, damaged, or made with another key",
    "anchor": "the log does not match the head that you gave",
    "beginning": "the first entries are missing, and no head that you gave fits the entry before the remaining ones",
}
_MOST = 100


@dataclass(frozen=True, slots=True)
class ChainReport:
    """The result of a check.

    Args:
        first, last: the numbers of the first and last entry; 0 if there is none.
        backward: how often the clock went back between two entries. This is not a fault.
        sealed: whether the seals were also checked.
        sealed_from: the number of the first entry whose seal was checked. A former key sealed the entries before it,
            and the chain under this key covers them.
        faults: at most a hundred.
    """

    first: int
    last: int
    head: ChainHead
    backward: int
    sealed: bool
    faults: tuple[ChainFault, ...] = field(default=())
    sealed_from: int = 1

    @property
    def sound(self) -> bool:
        return not self.faults


def verify(folder: str | Path, keyring: Keyring | None = None, anchors: Collection[ChainHead] = ()) -> ChainReport:
    """Check a log from its first entry to its last. An entry that is just being written is not checked.

    Args:
        keyring: without it the chain is checked but the seals are not. Any user with write access could then have
            rewritten the whole log, unless an anchor proves otherwise.
        anchors: heads that were noted elsewhere. If the first segments were archived, the head before the remaining
            ones must be among them.

    Raises:
        UsageError: the log does not exist.
        IncognoteError: it cannot be read.
    """
    place = Path(folder).expanduser()
    noted = _noted(place, keyring)
    known: list[tuple[str, ChainHead]] = [("anchor", head) for head in anchors]
    known += [("cut", noted)] if noted else []
    faults = [] if noted else [ChainFault("head")]
    head: ChainHead | None = None
    named = key_entry(place) if keyring is not None else None
    sealed_from = named.number if named is not None and named.facts.get("key") == getattr(keyring, "id", "") else 1
    first = backward = 0
    at = ""
    for segment, line, entry in _lines(place):
        if entry is None:
            faults.append(ChainFault("unreadable", segment, line))
            continue
        if head is None:
            first, head = entry.number, ChainHead(entry.number - 1, entry.former)
            if head not in (ChainHead(), *anchors):
                faults.append(ChainFault("beginning", segment, line))
        sealer = keyring if entry.number >= sealed_from else None
        faults += [ChainFault(code, segment, line) for code in _faults(entry, head, sealer)]
        faults += [
            ChainFault(code, segment, line)
            for code, one in known
            if one.number == entry.number and one.hash != entry.hash
        ]
        if len(faults) >= _MOST:
            break
        backward += entry.at < at
        head, at = ChainHead.of(entry), entry.at
    else:
        faults += [ChainFault(code) for code, one in known if one.number > (head or ChainHead()).number]
    return ChainReport(
        first,
        (head or ChainHead()).number,
        head or ChainHead(),
        backward,
        keyring is not None,
        tuple(faults),
        sealed_from,
    )


def _faults(entry: AuditEntry, before: ChainHead, keyring: Keyring | None) -> Iterator[str]:
    if entry.number != before.number + 1:
        yield "gap"
    elif entry.former != before.hash:
        yield "unchained"
    if not entry.whole():
        yield "changed"
    elif keyring is not None and not entry.sealed_by(keyring):
        yield "forged"


def _noted(place: Path, keyring: Keyring | None) -> ChainHead | None:
    try:
        return ChainHead.unsealed((place / HEAD).read_bytes(), keyring)
    except (OSError, ValueError):
        return None


def entries(folder: str | Path) -> Iterator[AuditEntry]:
    """Yield the entries unchecked.

    Raises:
        UsageError: the log does not exist.
        IncognoteError: it cannot be read, or a line is not an entry.
    """
    for segment, line, entry in _lines(Path(folder).expanduser()):
        if entry is None:
            raise IncognoteError(
                f"{segment}, line {line} is not an entry. Run `incognote audit verify` to check everything."
            )
        yield entry


def _lines(place: Path) -> Iterator[tuple[str, int, AuditEntry | None]]:
    segments = sorted(place.glob("[0-9]*.jsonl"))
    if not segments:
        raise UsageError("There is no audit log. Name its folder, or set audit in [service].")
    for segment in segments:
        try:
            with segment.open("rb") as stream:
                for number, line in enumerate(stream, start=1):
                    if not line.endswith(b"\n") and segment == segments[-1]:
                        return  # being written, or torn by a power failure: it was never confirmed
                    try:
                        yield segment.name, number, AuditEntry.read(line)
                    except ValueError:
                        yield segment.name, number, None
        except OSError as error:
            raise IncognoteError(f"A segment of the audit log cannot be read: {error.strerror}.") from None
