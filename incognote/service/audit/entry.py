"""One entry of the chain as stored in the file, and the head, which marks the end of the chain.

An entry's hash covers all of it and the previous hash, so that anyone can check the chain. Its seal is an HMAC of that
hash under the key's purpose `audit`, so that a chain cannot be forged without the key. The head is sealed separately:
if entries are cut off the end, the head cannot be made again (the construction of Schneier and Kelsey, "Secure Audit
Logs to Support Computer Forensics", 1999, section 3, with one key in place of an evolving one).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from incognote.errors import UsageError
from incognote.keys import Keyring
from incognote.service.vocabulary import Fact

BEGINNING = "0" * 64
"""The value used as the hash before the first entry."""
_HEX = re.compile("[0-9a-f]{1,128}")
_WORDS = ("number", "at", "event", "facts", "former", "hash", "seal")


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One entry.

    Args:
        number: from 1, without a gap.
        at: the time, UTC, by the machine's clock. The numbers define the order.
        event, facts: of `vocabulary.toml`.
        former: the hash of the previous entry.
        hash: SHA-256 of the above, hexadecimal.
        seal: HMAC of the hash, hexadecimal.
    """

    number: int
    at: str
    event: str
    facts: Mapping[str, Fact]
    former: str
    hash: str
    seal: str

    @classmethod
    def new(cls, head: ChainHead, at: str, event: str, facts: Mapping[str, Fact], keyring: Keyring) -> Self:
        """Make the entry that follows a head."""
        found = _hash(head.number + 1, at, event, facts, head.hash)
        return cls(head.number + 1, at, event, facts, head.hash, found, _seal(keyring, "entry", found))

    @classmethod
    def read(cls, line: bytes) -> Self:
        """Read an entry from its line.

        Raises:
            ValueError: it is not an entry.
        """
        try:
            told = json.loads(line)
            entry = cls(*(told[name] for name in _WORDS))
        except (KeyError, TypeError, RecursionError):
            raise ValueError("no entry") from None
        kinds = (entry.number, int), (entry.at, str), (entry.event, str), (entry.facts, dict)
        hexes = entry.former, entry.hash, entry.seal
        if (
            len(told) != len(_WORDS)
            or any(type(value) is not kind for value, kind in kinds)
            or any(type(value) is not str or _HEX.fullmatch(value) is None for value in hexes)
            or any(type(value) not in (str, int, float) for value in entry.facts.values())
        ):
            raise ValueError("no entry")
        return entry

    def line(self) -> bytes:
        """Return the line for the file."""
        return json.dumps({name: getattr(self, name) for name in _WORDS}).encode() + b"\n"

    def whole(self) -> bool:
        """Whether its hash matches its content."""
        return hmac.compare_digest(self.hash, _hash(self.number, self.at, self.event, self.facts, self.former))

    def sealed_by(self, keyring: Keyring) -> bool:
        """Whether this key sealed it."""
        return hmac.compare_digest(self.seal, _seal(keyring, "entry", self.hash))


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The end of a chain: the number of entries, and the last one's hash.

    A copy kept elsewhere proves the state at that time.
    """

    number: int = 0
    hash: str = BEGINNING

    @classmethod
    def of(cls, entry: AuditEntry) -> Self:
        """Return the head after an entry."""
        return cls(entry.number, entry.hash)

    @classmethod
    def parse(cls, written: str) -> Self:
        """Parse a head from its `str()`.

        Raises:
            UsageError: it is not a head.
        """
        number, _, digest = written.strip().partition(":")
        if not number.isdecimal() or len(digest) != len(BEGINNING) or set(digest) - set("0123456789abcdef"):
            raise UsageError("A head must be NUMBER:HASH, as `incognote audit head` prints it.")
        return cls(int(number), digest)

    def __str__(self) -> str:
        return f"{self.number}:{self.hash}"

    def sealed(self, keyring: Keyring) -> bytes:
        """Return the content of the head file beside the log."""
        return f"{self} {_seal(keyring, 'head', str(self))}\n".encode()

    @classmethod
    def unsealed(cls, data: bytes, keyring: Keyring | None) -> Self:
        """Read a head from that file. Without a key, the seal is not checked.

        Raises:
            ValueError: it is not a head, or another key sealed it.
        """
        written, _, seal = data.decode("ascii").strip().partition(" ")
        try:
            head = cls.parse(written)
        except UsageError:
            raise ValueError("no head") from None
        if keyring is not None and not hmac.compare_digest(seal, _seal(keyring, "head", str(head))):
            raise ValueError("another key's head")
        return head


def _hash(number: int, at: str, event: str, facts: Mapping[str, Any], former: str) -> str:
    covered = json.dumps([number, at, event, facts, former], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(covered.encode()).hexdigest()


def _seal(keyring: Keyring, what: str, said: str) -> str:
    return keyring.mac("audit", f"{what} {said}").hex()
