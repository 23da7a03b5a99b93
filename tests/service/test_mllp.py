"""Messages by MLLP: acknowledged when they are on the disk, stored once, and refused with a reason."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import UsageError
from incognote.keys import Keyring
from incognote.service.mllp import MllpListener, Spool, acknowledgment, tls_context

LOCAL = [ip_network("127.0.0.0/8")]
KEYRING = Keyring.ephemeral()


def adt(control: str = "M1", mode: str = "", text: str = "") -> bytes:
    return f"MSH|^~\\&|ADT|GENHOSP|DEID|LAB|20250309||ADT^A01|{control}|P|2.5|||{mode}\rNTE|1||{text}\r".encode()


class Client:
    """A sender that waits for each acknowledgment."""

    made: list[Client]

    def __init__(self, port: int, context: ssl.SSLContext | None = None) -> None:
        plain = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.socket = plain if context is None else context.wrap_socket(plain, server_hostname="localhost")
        self.made.append(self)

    def raw(self, data: bytes) -> list[str]:
        """Send bytes, and return the segments of the answer; none if the connection ends."""
        self.socket.sendall(data)
        answer = b""
        while not answer.endswith(b"\x1c\r"):
            try:
                block = self.socket.recv(4096)
            except ConnectionResetError:
                return []
            if not block:
                return []
            answer += block
        return answer.strip(b"\x0b\x1c\r").decode().split("\r")

    def send(self, message: bytes) -> str:
        """Send a message, and return the code of the acknowledgment."""
        return self.raw(b"\x0b" + message + b"\x1c\r")[1].split("|")[1]


@pytest.fixture(autouse=True)
def closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close the connections of all clients."""
    made: list[Client] = []
    monkeypatch.setattr(Client, "made", made, raising=False)
    yield
    for client in made:
        client.socket.close()


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    made = Spool(tmp_path / "received", KEYRING)
    yield made
    made.close()


@contextmanager
def listening(spool: Spool, **options: Any) -> Iterator[tuple[int, MllpListener]]:
    """Run a listener in a thread of its own."""
    listener = MllpListener(spool, options.pop("peers", LOCAL), **options)
    loop, started, port = asyncio.new_event_loop(), threading.Event(), 0

    def run() -> None:
        nonlocal port
        asyncio.set_event_loop(loop)
        port = loop.run_until_complete(listener.start("127.0.0.1", 0))
        started.set()
        loop.run_forever()

    thread = threading.Thread(target=run)
    thread.start()
    assert started.wait(10)
    try:
        yield port, listener
    finally:
        asyncio.run_coroutine_threadsafe(listener.stop(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def files(spool: Spool) -> list[bytes]:
    return sorted(path.read_bytes() for path in spool.folder.glob("*/*.hl7"))


def test_messages_of_one_connection_are_stored_privately_and_acknowledged_in_turn(spool: Spool) -> None:
    with listening(spool) as (port, listener):
        client = Client(port)
        assert [client.send(adt("M1")), client.send(adt("M2"))] == ["AA", "AA"]
        client.socket.close()
    assert files(spool) == [adt("M1"), adt("M2")]
    assert listener.received.stored == 2
    [path, _] = spool.folder.glob("*/*.hl7")
    assert path.stat().st_mode & 0o077 == path.parent.stat().st_mode & 0o077 == 0
    assert "M1" not in path.name


def test_a_message_in_single_bytes_and_two_in_one_packet_are_read(spool: Spool) -> None:
    with listening(spool) as (port, _):
        client = Client(port)
        framed = b"\x0b" + adt("M1") + b"\x1c\r"
        for at in range(len(framed) - 1):
            client.socket.sendall(framed[at : at + 1])
        assert client.raw(framed[-1:])[1] == "MSA|AA|M1"
        both = b"\x0b" + adt("M2") + b"\x1c\r\x0b" + adt("M3") + b"\x1c\r"
        answers = client.raw(both)
        while "MSA|AA|M3" not in answers:
            answers += client.raw(b"")
        assert "MSA|AA|M2" in answers
    assert len(files(spool)) == 3


def test_a_message_that_comes_again_is_stored_once_even_if_its_file_was_deleted(spool: Spool) -> None:
    with listening(spool) as (port, listener):
        client = Client(port)
        assert client.send(adt()) == client.send(adt()) == "AA"
        assert len(files(spool)) == 1
        next(spool.folder.glob("*/*.hl7")).unlink()
        assert client.send(adt()) == "AA"
        assert files(spool) == []
        assert client.send(adt(text="changed")) == "AA"  # the same control ID, other bytes
    assert len(files(spool)) == 1
    assert (listener.received.stored, listener.received.duplicates) == (2, 2)


def test_a_file_whose_entry_is_missing_is_known_after_a_restart(tmp_path: Path) -> None:
    first = Spool(tmp_path / "received", KEYRING)
    assert first.store(adt(), "M1")
    first._db.execute("DELETE FROM received")  # as if the process had been killed before the entry
    first.close()
    second = Spool(tmp_path / "received", KEYRING)
    assert not second.store(adt(), "M1")
    second.close()


@pytest.mark.parametrize(("message", "why"), [
    (b"hello", "does not begin with MSH"), (b"MSH|^^\\&|", "MSH-2"), (b"MSH|^~\\&|ADT|||||", "MSH-10")])
def test_what_is_not_a_message_with_a_control_id_is_rejected(spool: Spool, message: bytes, why: str) -> None:
    with listening(spool) as (port, _):
        answer = Client(port).raw(b"\x0b" + message + b"\x1c\r")
    assert answer[1].startswith("MSA|AR|")
    assert why in answer[1].replace("\\S\\", "^")
    assert files(spool) == []


def test_a_message_that_is_too_large_is_rejected_and_the_connection_ends(spool: Spool) -> None:
    with listening(spool, most_bytes=1000) as (port, listener):
        client = Client(port)
        assert client.raw(b"\x0b" + adt(text="x" * 5000) + b"\x1c\r")[1].startswith("MSA|AR|")
        assert client.raw(b"\x0b") == []
        assert Client(port).send(adt()) == "AA"
    assert listener.received.rejected == 1


@pytest.mark.parametrize("data", [b"GET / HTTP/1.1\r\n", b"\x0bMSH|^~\\&|\x0bMSH|^~\\&|\x1c\r", adt()])
def test_bytes_outside_the_framing_end_the_connection(spool: Spool, data: bytes) -> None:
    with listening(spool) as (port, listener):
        assert Client(port).raw(data) == []
    assert (listener.received.broken, files(spool)) == (1, [])


def test_a_message_that_never_ends_is_given_up(spool: Spool) -> None:
    with listening(spool, seconds=0.1) as (port, listener):
        assert Client(port).raw(b"\x0b" + adt()) == []
    assert (listener.received.broken, files(spool)) == (1, [])


def test_a_message_that_cannot_be_stored_is_to_be_sent_again(tmp_path: Path) -> None:
    full = Spool(tmp_path / "received", KEYRING, least_free=2**62)
    with listening(full) as (port, _):
        assert Client(port).send(adt()) == "AE"
    full.close()


def test_other_peers_and_too_many_connections_are_refused(spool: Spool) -> None:
    with listening(spool, peers=[ip_network("10.0.0.0/8")]) as (port, listener):
        assert Client(port).raw(b"\x0b" + adt() + b"\x1c\r") == []
    assert listener.received.refused == 1
    with listening(spool, connections=1) as (port, listener):
        first = Client(port)
        assert first.send(adt()) == "AA"
        assert Client(port).raw(b"\x0b" + adt("M2") + b"\x1c\r") == []
        assert first.send(adt("M3")) == "AA"


def test_an_acknowledgment_goes_back_to_the_sender_with_its_delimiters_and_mode() -> None:
    msh, msa, _ = acknowledgment("MSH#*$%@#ADT#GENHOSP#DEID#LAB#2025##ADT*A01#M1#T#2.3", "A").decode().split("\r")
    assert msh.split("#")[:6] == ["MSH", "*$%@", "DEID", "LAB", "ADT", "GENHOSP"]
    assert (msh.split("#")[8], *msh.split("#")[10:]) == ("ACK*A01", "T", "2.3")
    assert msa == "MSA#AA#M1"
    headers = {mode: adt(mode=mode).decode().split("\r")[0] for mode in ("AL", "NE", "ER", "SU")}
    codes = {mode: acknowledgment(header, "A").decode() for mode, header in headers.items()}
    assert (codes["NE"], codes["ER"]) == ("", "")
    assert "MSA|CA|M1" in codes["AL"]
    assert "MSA|CA|M1" in codes["SU"]


def test_tls_connections_are_served_and_plain_ones_are_not(spool: Spool, tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    _certificate(certificate, key)
    with listening(spool, tls=tls_context(certificate, key, None)) as (port, _):
        assert Client(port, ssl.create_default_context(cafile=str(certificate))).send(adt()) == "AA"
        assert Client(port).raw(b"\x0b" + adt("M2") + b"\x1c\r") == []
    assert len(files(spool)) == 1


def _certificate(certificate: Path, key: Path) -> None:
    from datetime import UTC, datetime, timedelta

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    private, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    signed = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(private.public_key())
        .serial_number(1).not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(private, hashes.SHA256())
    )  # fmt: skip
    certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    key.write_bytes(private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))


def test_a_folder_that_others_can_read_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with pytest.raises(UsageError, match="chmod 700"):
        Spool(tmp_path, KEYRING)


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Callable[[], tuple[int, subprocess.Popen[str]]]]:
    """Starts `incognote mllp` in a process of its own, and returns its port."""
    Keyring.write_new(tmp_path / "key")
    started: list[subprocess.Popen[str]] = []

    def start() -> tuple[int, subprocess.Popen[str]]:
        words = ("mllp", "received", "--port", "0", "--key-file", "key")
        process = subprocess.Popen(
            [sys.executable, "-m", "incognote", *words], cwd=tmp_path, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env={**os.environ, "INCOGNOTE_HOME": str(tmp_path / "home")})
        started.append(process)
        assert process.stderr is not None
        line = process.stderr.readline()
        return int(line.partition("port ")[2].partition(".")[0]), process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_a_killed_listener_loses_no_acknowledged_message_and_stores_none_twice(
    command: Callable[[], tuple[int, subprocess.Popen[str]]], tmp_path: Path
) -> None:
    port, process = command()
    client = Client(port)
    assert [client.send(adt(f"M{i}")) for i in range(5)] == ["AA"] * 5
    client.socket.sendall(b"\x0b" + adt("M5")[:20])
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    port, process = command()
    client = Client(port)
    assert [client.send(adt(f"M{i}")) for i in range(6)] == ["AA"] * 6
    client.socket.close()
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=20)
    assert out.startswith("1 stored, 5 received again, 0 not stored, 0 rejected")
    stored = [path.read_bytes() for path in (tmp_path / "received").glob("*/*.hl7")]
    assert sorted(stored) == [adt(f"M{i}") for i in range(6)]
