"""The transport below the SDKs. test_conformance.py tests the contract of the models that use it."""

from __future__ import annotations

import asyncio
import gc
import gzip
import os
import socket
import ssl
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import EgressRefused
from incognote.llm.egress import Egress, confined

if not find_spec("openai"):
    pytest.skip("the extra `llm` is not installed", allow_module_level=True)

from incognote.llm.vendors import faults
from incognote.llm.vendors.wire import Guarded, NotAnswered, client

OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


class Listener:
    """Sends the same bytes for every request of a connection. `connections` and `heads` record what arrived."""

    def __init__(self, answer: bytes, *, tls: ssl.SSLContext | None = None) -> None:
        self.answer, self._tls = answer, tls
        self.connections, self.heads = 0, list[bytes]()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with self._tls.wrap_socket(connection, server_side=True) if self._tls else connection as line:
                while head := line.recv(65536):
                    while not head.endswith(b"{}"):  # the body arrives separately
                        head += line.recv(65536)
                    self.heads.append(head)
                    line.sendall(self.answer)
                    if b"content-length" not in self.answer or b"connection: close" in self.answer:
                        return
        except OSError:
            pass  # the client disconnected, as some tests intend

    def close(self) -> None:
        self._socket.close()


@contextmanager
def listening(answer: bytes, **words: Any) -> Iterator[Listener]:
    listener = Listener(answer, **words)
    yield listener
    listener.close()


def whole(body: bytes, *headers: bytes) -> bytes:
    return OK + b"".join(h + b"\r\n" for h in headers) + b"content-length: %d\r\n\r\n" % len(body) + body


class Caller:
    """Posts to one URL through a client with the guarded transport, like an SDK."""

    def __init__(
        self, url: str, *, allowed: str | None = None, tls: ssl.SSLContext | None = None, **words: Any
    ) -> None:
        self._url, self._transport = url, Guarded(Egress([allowed or url]), **words)
        self._transport.tls = tls or self._transport.tls
        self._client = client(self._transport, 60)

    async def post(self) -> bytes:
        response = await self._client.post(self._url, content=b"{}", headers={"authorization": "Bearer k"})
        return response.content

    async def shut(self) -> None:
        await self._transport.shut()


async def asked(caller: Caller, times: int = 1) -> bytes:
    try:
        for _ in range(times):
            answer = await caller.post()
        return answer
    finally:
        await caller.shut()


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("http://127.0.0.1:{}/v1", "http://127.0.0.1:1/v1"),
        ("http://127.0.0.1:{}/v1", "https://127.0.0.1:{}/v1"),
        ("http://localhost:{}/v1", "http://127.0.0.1:{}/v1"),
        ("http://models.example.org@127.0.0.1:{}/v1", "https://models.example.org/v1"),
        ("http://u:secret@127.0.0.1:{}/v1", "http://127.0.0.1:{}/v1"),
    ],
)
async def test_another_address_is_refused_before_a_connection_is_opened(url: str, allowed: str) -> None:
    with listening(whole(b"{}")) as listener:
        with faults.exchange() as noted, pytest.raises(EgressRefused):
            await asked(Caller(url.format(listener.port), allowed=allowed.format(listener.port)))
        assert noted.refused is not None
        assert listener.connections == 0


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed_even_to_an_allowed_address(status: int) -> None:
    with listening(b"") as other, listening(b"") as listener:
        for port in (other.port, listener.port):
            target = f"http://127.0.0.1:{port}/elsewhere".encode()
            listener.answer = b"HTTP/1.1 %d Moved\r\nlocation: %s\r\ncontent-length: 0\r\n\r\n" % (status, target)
            before = len(listener.heads)
            with pytest.raises(EgressRefused, match="redirect"):
                await asked(Caller(f"http://127.0.0.1:{listener.port}/v1"))
            assert len(listener.heads) == before + 1
        assert other.connections == 0


async def test_no_proxy_no_password_and_no_cookie_is_taken_from_elsewhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with listening(b"") as proxy, listening(whole(b"{}", b"set-cookie: a=b")) as listener:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.setenv(name, "")
        (tmp_path / "netrc").write_text("machine 127.0.0.1 login u password secret\n")
        monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
        await asked(Caller(f"http://127.0.0.1:{listener.port}/v1"), times=2)
        assert proxy.connections == 0
        assert all(b"uthorization: Bearer k\r\n" in head for head in listener.heads)
        assert not any(b"cookie" in head.lower() for head in listener.heads)


async def test_it_connects_from_within_the_guard_and_so_is_let_through_where_others_are_confined() -> None:
    with listening(whole(b"{}")) as listener, confined() as refusals:
        assert await asked(Caller(f"http://127.0.0.1:{listener.port}/v1")) == b"{}"
        assert refusals == []


async def test_a_connection_is_kept() -> None:
    with listening(whole(b"{}")) as listener:
        await asked(Caller(f"http://127.0.0.1:{listener.port}/v1"), times=5)
        assert (listener.connections, len(listener.heads)) == (1, 5)


async def test_a_packed_answer_is_unpacked() -> None:
    with listening(whole(gzip.compress(b'{"a": 1}'), b"content-encoding: gzip")) as listener:
        assert await asked(Caller(f"http://127.0.0.1:{listener.port}/v1")) == b'{"a": 1}'


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"not HTTP at all\r\n\r\n",
        OK + b"content-length: 10\r\nconnection: close\r\n\r\n{}",
        OK + b"transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n",
        whole(b" " * 2000),
        whole(gzip.compress(b" " * 2000), b"content-encoding: gzip"),
    ],
    ids=["nothing", "not HTTP", "cut", "cut between chunks", "too long", "too long when unpacked"],
)
async def test_what_is_no_whole_answer_is_none(answer: bytes) -> None:
    with listening(answer) as listener:
        with faults.exchange() as noted, pytest.raises(NotAnswered):
            await asked(Caller(f"http://127.0.0.1:{listener.port}/v1", largest=1000))
        assert noted.status is None
        assert noted.failure == "the connection failed or was cut off"


async def test_a_certificate_that_nobody_vouches_for_gets_no_request(tmp_path: Path) -> None:
    certificate = _self_signed(tmp_path)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate)
    with listening(whole(b"{}"), tls=tls) as listener:
        with pytest.raises(NotAnswered):
            await asked(Caller(f"https://localhost:{listener.port}/v1"))
        assert listener.heads == []
        trusting = ssl.create_default_context(cafile=str(certificate))
        url = f"https://localhost:{listener.port}/v1"
        assert await asked(Caller(url, tls=trusting)) == b"{}"
        url = f"https://127.0.0.1:{listener.port}/v1"  # its certificate is for localhost
        with pytest.raises(NotAnswered):
            await asked(Caller(url, tls=trusting))


def test_one_loop_after_the_other_is_served_and_nothing_is_said_of_what_nobody_closed() -> None:
    with listening(whole(b"{}")) as listener, warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # from asyncio: loops that ended with an open connection
        callers = [Caller(f"http://127.0.0.1:{listener.port}/v1")]
        complaints: list[Any] = []

        async def ask() -> bytes:
            asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
            return await callers[0].post()

        assert [asyncio.run(ask()) for _ in range(2)] == [b"{}", b"{}"]
        assert listener.connections == 2
        callers.clear()
        gc.collect()
        assert complaints == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
async def test_a_forked_child_sends_nothing_over_its_parents_connections() -> None:
    with listening(whole(b"{}")) as listener:
        caller = Caller(f"http://127.0.0.1:{listener.port}/v1")
        await caller.post()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns because this process has threads
            child = os.fork()
        if child == 0:
            code = 1
            try:
                asyncio.events._set_running_loop(None)
                loop = asyncio.new_event_loop()
                code = 0 if loop.run_until_complete(caller.post()) == b"{}" else 1
            finally:
                os._exit(code)
        _, ended = await asyncio.to_thread(os.waitpid, child, 0)
        assert os.waitstatus_to_exitcode(ended) == 0
        assert listener.connections == 2
        await caller.post()
        assert listener.connections == 2, "the child closed its parent's connection"
        await caller.shut()


def _self_signed(folder: Path) -> Path:
    """A self-signed certificate for localhost and its key."""
    from datetime import UTC, datetime, timedelta

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = folder / "server.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file
