"""Receive HL7 v2 messages by MLLP into a private folder, which a worker then reads as its source.

A message is acknowledged (AA) when it is on the disk. From there, a worker takes it to the destination, the review
queue, or the quarantine. A message that comes again, with the same control ID and the same bytes, is acknowledged and
not stored again, even if its file was deleted.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import shutil
import sqlite3
import ssl
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import IPv4Network, IPv6Network, ip_address
from pathlib import Path

from incognote.errors import IncognoteError, MalformedRecord, UsageError
from incognote.files.atomic import sync_folder, write_atomic
from incognote.formats.hl7.er7 import Delimiters
from incognote.keys import Keyring
from incognote.sqlite import go_wal, private, transaction

_START, _END = b"\x0b", b"\x1c\r"
_NO_HEADER = r"MSH|^~\&"
_LEAST_FREE = 2**28


class Spool:
    """A folder of received messages, one file each, and the index of all messages that were ever received.

    Args:
        folder: created if it does not exist. Only its owner may have access.
        keyring: file names are keyed hashes of the control ID and the bytes.
        least_free: the bytes of free disk space below which no message is stored.

    Raises:
        UsageError: the folder cannot be used, or others have access to it.
    """

    def __init__(self, folder: Path, keyring: Keyring, *, least_free: int = _LEAST_FREE) -> None:
        self.folder, self._keyring, self._least = folder, keyring, least_free
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if folder.stat().st_mode & 0o077:
                raise UsageError("Other users have access to the folder of received messages. Run chmod 700 on it.")
            index = folder / ".received.db"
            private(index, create=True)
        except OSError as error:
            raise UsageError(f"The folder of received messages cannot be used: {error.strerror}.") from None
        self._db = sqlite3.connect(index, isolation_level=None, check_same_thread=False)
        self._lock = threading.Lock()
        go_wal(self._db)
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("CREATE TABLE IF NOT EXISTS received (name TEXT PRIMARY KEY) WITHOUT ROWID")
        with transaction(self._db):  # a process may have been killed between the file and its entry
            self._db.executemany(
                "INSERT OR IGNORE INTO received VALUES (?)", ((path.stem,) for path in folder.glob("*/*.hl7")))

    def store(self, message: bytes, control: str) -> bool:
        """Store a message and return True, or return False if it was received before. It is on the disk afterwards.

        Raises:
            OSError, Unwritable, sqlite3.Error: it cannot be stored.
        """
        digest = hashlib.sha256(message).hexdigest()
        name = self._keyring.mac("names", f"{control}\0{digest}").hex()[:32]
        with self._lock:
            if self._db.execute("SELECT 1 FROM received WHERE name = ?", (name,)).fetchone():
                return False
            if shutil.disk_usage(self.folder).free < self._least:
                raise OSError("the disk is almost full")
            day = self.folder / datetime.now(UTC).strftime("%Y-%m-%d")
            if not day.exists():
                day.mkdir(mode=0o700, exist_ok=True)
                sync_folder(self.folder)
            write_atomic(day / f"{name}.hl7", message, private=True)
            with transaction(self._db):
                self._db.execute("INSERT INTO received VALUES (?)", (name,))
        return True

    def close(self) -> None:
        self._db.close()


@dataclass
class Received:
    """What a listener did. Nothing in it is PHI.

    Attributes:
        stored, duplicates: messages that were acknowledged. failed: messages that the sender should send again.
        rejected: messages that are not HL7 v2 or too large. refused: connections of other peers, or too many.
        broken: connections that ended within a message or without MLLP's framing.
    """

    stored: int = 0
    duplicates: int = 0
    failed: int = 0
    rejected: int = 0
    refused: int = 0
    broken: int = 0


class _BadFraming(Exception):
    """Bytes outside MLLP's framing, or a message that is too large (`code` "R")."""

    def __init__(self, code: str = "") -> None:
        self.code = code


class MllpListener:
    """Accepts connections that send one message after the other, and waits for each acknowledgment.

    Args:
        spool: where messages are stored.
        peers: the networks that may connect.
        tls: the context of TLS connections; None for plain connections.
        most_bytes: the maximum size of a message. connections: the maximum number at once.
        seconds: the time in which a message must arrive. idle: the time after which an idle connection ends.
    """

    def __init__(
        self, spool: Spool, peers: Sequence[IPv4Network | IPv6Network], *, tls: ssl.SSLContext | None = None,
        most_bytes: int = 2**24, connections: int = 32, seconds: float = 30.0, idle: float = 3600.0,
    ) -> None:  # fmt: skip
        self._spool, self._peers, self._tls, self._most = spool, peers, tls, most_bytes
        self._connections, self._seconds, self._idle = connections, seconds, idle
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.received = Received()

    async def start(self, host: str, port: int) -> int:
        """Listen, and return the port.

        Raises:
            OSError: the address cannot be used.
        """
        self._server = await asyncio.start_server(self._connected, host, port, ssl=self._tls, limit=self._most)
        taken: int = self._server.sockets[0].getsockname()[1]
        return taken

    async def stop(self) -> None:
        """Stop listening. A message that is being stored is still stored. Its sender sends it again."""
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # a coroutine that runs is in a task
        self._tasks.add(task)
        try:
            peer = ip_address(writer.get_extra_info("peername")[0].partition("%")[0])
            if len(self._tasks) > self._connections or not any(peer in network for network in self._peers):
                self.received.refused += 1
                return
            await self._messages(reader, writer)
        except _BadFraming as bad:
            self.received.broken += not bad.code
            self.received.rejected += bool(bad.code)
            if bad.code:
                await self._answer(writer, acknowledgment(_NO_HEADER, "R", "the message is too large"))
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            self.received.broken += 1
        except asyncio.CancelledError:  # only by `stop`; asyncio logs a stream's task that ends so
            pass
        finally:
            self._tasks.discard(task)
            writer.close()
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(1):  # a TLS peer may not answer
                    await writer.wait_closed()
            writer.transport.abort()

    async def _messages(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            try:
                async with asyncio.timeout(self._idle):
                    first = await reader.read(1)
            except TimeoutError:
                return
            if not first:
                return
            if first in b"\r\n":
                continue
            if first != _START:
                raise _BadFraming
            try:
                async with asyncio.timeout(self._seconds):
                    block = await reader.readuntil(_END)
            except asyncio.LimitOverrunError:
                raise _BadFraming("R") from None
            message = block[: -len(_END)]
            if _START in message:
                raise _BadFraming
            answer = await asyncio.to_thread(self._accepted, message)
            if answer:
                await self._answer(writer, answer)

    async def _answer(self, writer: asyncio.StreamWriter, answer: bytes) -> None:
        writer.write(_START + answer + _END)
        async with asyncio.timeout(self._seconds):
            await writer.drain()

    def _accepted(self, message: bytes) -> bytes:
        """Store a message and return its acknowledgment; b"" if the sender wants none."""
        header = message.partition(b"\r")[0].partition(b"\n")[0].decode("latin-1")
        try:
            if not header.startswith("MSH"):
                raise MalformedRecord("the message does not begin with MSH")
            fields = header.split(Delimiters.of(header).field)
            if len(fields) < 10 or not fields[9]:
                raise MalformedRecord("MSH-10 is empty")
        except MalformedRecord as problem:
            self.received.rejected += 1
            return acknowledgment(_NO_HEADER, "R", str(problem))
        try:
            new = self._spool.store(message, fields[9])
        except (OSError, sqlite3.Error, IncognoteError):
            self.received.failed += 1
            return acknowledgment(header, "E", "the message cannot be stored. Send it again later")
        self.received.stored += new
        self.received.duplicates += not new
        return acknowledgment(header, "A")


def acknowledgment(header: str, code: str, why: str = "") -> bytes:
    """Return the acknowledgment of a message; b"" if its MSH-15 says that none is wanted.

    Args:
        header: the MSH segment, in Latin-1. Its delimiters, addresses, and version are used again.
        code: `A` accepted, `E` error, `R` rejected. In enhanced mode (MSH-15), a commit acknowledgment (CA) is sent.
        why: the reason, for MSA-3.
    """
    delimiters = Delimiters.of(header)
    sign = delimiters.field
    fields = [*header.split(sign), *[""] * 20]
    wanted = fields[14].strip().upper()
    if wanted == "NE" or (wanted == "ER" and code == "A") or (wanted == "SU" and code != "A"):
        return b""
    trigger = fields[8].split(delimiters.component)[1:2]
    kind = delimiters.component.join(["ACK", *trigger])
    now = datetime.now(UTC).strftime("%Y%m%d%H%M%S+0000")
    msh = ["MSH", fields[1], *fields[4:6], *fields[2:4], now, "", kind, secrets.token_hex(8), fields[10] or "P",
           fields[11] or "2.5", "", "", "", "", "", fields[17]]
    msa = ["MSA", ("C" if wanted else "A") + code, fields[9], delimiters.escaped(why)]
    return "".join(sign.join(part).rstrip(sign) + "\r" for part in (msh, msa)).encode("latin-1")


def tls_context(certificate: Path, key: Path, clients: Path | None) -> ssl.SSLContext:
    """Return the context for TLS 1.2 or later.

    Args:
        clients: certificate authorities. If they are given, clients must have a certificate of one of them.

    Raises:
        OSError: a file cannot be read, or is not PEM (`ssl.SSLError`).
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate, key)
    if clients is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(clients)
    return context
