from __future__ import annotations

import asyncio
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import EgressRefused, SettingError
from incognote.llm.egress import Egress, EgressAddress, confined, guarded, is_loopback


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "localhost.", "127.0.0.1", "127.255.0.9", "::1", "[::1]"])
def test_the_loopback_is_known(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    ["localhost.example.org", "127.0.0.1.nip.io", "0.0.0.0", "10.0.0.1", "::", "localhost1", "", "1270.0.0.1", "127.1"],
)
def test_what_merely_looks_like_the_loopback_is_not(host: str) -> None:
    assert not is_loopback(host)


def test_an_address_is_scheme_host_and_port() -> None:
    assert EgressAddress.of("https://Models.Example.org/v1?x=1") == EgressAddress("https", "models.example.org", 443)
    assert EgressAddress.of("http://[::1]:8000/v1") == EgressAddress("http", "::1", 8000)
    assert str(EgressAddress.of("http://[::1]:8000/v1")) == "http://[::1]:8000"


@pytest.mark.parametrize(
    "url",
    ["models.example.org", "ftp://example.org", "https://", "https://h:99999/", "https://[::1/", "https://u:secret@h/v1"],
)
def test_a_malformed_address_is_a_setting_error_that_does_not_repeat_it(url: str) -> None:
    with pytest.raises(SettingError) as caught:
        EgressAddress.of(url)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_plain_http_to_another_machine_is_refused() -> None:
    with pytest.raises(EgressRefused, match="https"):
        Egress(["http://10.0.0.8:8000/v1"])
    assert Egress(["http://127.0.0.1:8000/v1"]).loopback
    assert not Egress(["http://127.0.0.1:8000/v1", "https://models.example.org/v1"]).loopback


@pytest.mark.parametrize(
    "url",
    [
        "http://models.example.org/v1/chat/completions",
        "https://models.example.org:8443/v1",
        "https://models.example.org.evil.example/v1",
        "https://evil.example/https://models.example.org/v1",
        "https://models.example.org@evil.example/v1",
        "https://models.example.org:443@evil.example/v1",
        "https://models.example.org\\@evil.example/v1",
        "https://evil.example#models.example.org",
        "",
    ],
)
def test_other_schemes_hosts_and_ports_are_refused(url: str) -> None:
    with pytest.raises(EgressRefused) as caught:
        Egress(["https://models.example.org/v1"]).check(url)
    assert "evil" not in str(caught.value)


def test_the_path_is_free() -> None:
    Egress(["https://models.example.org/v1"]).check("https://MODELS.example.org:443/other")


@given(st.text())
def test_nothing_unforeseen_passes_or_breaks_the_guard(text: str) -> None:
    guard = Egress(["https://models.example.org/v1"])
    with pytest.raises(EgressRefused):
        guard.check(text)
    with pytest.raises(EgressRefused):
        guard.check(f"https://{text}.invalid/")


async def test_a_confined_call_connects_only_through_the_guard() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    address = listening.getsockname()
    try:
        with confined() as refusals:
            with pytest.raises(PermissionError):
                socket.create_connection(address)
            with pytest.raises(PermissionError):
                await asyncio.create_task(asyncio.open_connection(*address))
            with pytest.raises(PermissionError):
                await asyncio.to_thread(socket.create_connection, address)
            with guarded():
                socket.create_connection(address).close()
        assert len(refusals) == 3
        socket.create_connection(address).close()  # outside the guard, nothing is refused
    finally:
        listening.close()
