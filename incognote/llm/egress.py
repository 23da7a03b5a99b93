"""Egress control: notes may go only to the addresses in the settings. This is checked before a connection is opened."""

from __future__ import annotations

import errno
import ipaddress
import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from incognote.errors import EgressRefused, SettingError

_PORTS = {"http": 80, "https": 443}
_REFUSED = "a connection to an address outside the settings was blocked. Nothing was sent"


@dataclass(frozen=True, slots=True)
class EgressAddress:
    """Scheme, host and port, which are compared. Paths are not compared."""

    scheme: str
    host: str
    port: int

    @classmethod
    def of(cls, url: str) -> EgressAddress:
        """Return the address in a URL.

        Raises:
            SettingError: not http(s), no host, a malformed port, or a key written into the URL.
        """
        try:
            parts = urlsplit(url)
            host, port = (parts.hostname or "").rstrip("."), parts.port
        except ValueError:
            raise SettingError("api_base: the host or the port is malformed.") from None
        if parts.scheme not in _PORTS or not host:
            raise SettingError("api_base must be a complete URL, such as https://models.example.org/v1.")
        if parts.username is not None or parts.password is not None:
            raise SettingError("api_base must not hold a key. Set api_key instead.")
        return cls(parts.scheme, host, _PORTS[parts.scheme] if port is None else port)

    @property
    def loopback(self) -> bool:
        """Whether notes sent here stay on this machine."""
        return is_loopback(self.host)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def is_loopback(host: str) -> bool:
    """Whether a host is 127.0.0.0/8, ::1 or `localhost` itself.

    A name that resolves there may resolve elsewhere later.
    """
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Egress:
    """The addresses that may be contacted.

    Args:
        urls: the api_base of one or more models.

    Raises:
        SettingError: an address is malformed.
        EgressRefused: plain http to another machine, where it could be read on the way.
    """

    def __init__(self, urls: Iterable[str]) -> None:
        self.addresses = frozenset(EgressAddress.of(url) for url in urls)
        for address in self.addresses:
            if address.scheme == "http" and not address.loopback:
                raise EgressRefused(
                    "api_base: plain http to another machine would expose notes. Use https."
                )

    @property
    def loopback(self) -> bool:
        """Whether nothing leaves this machine."""
        return all(address.loopback for address in self.addresses)

    def check(self, url: str) -> None:
        """Check that the URL's address is allowed.

        Raises:
            EgressRefused: it is not. The message does not repeat it, since a redirect could contain anything.
        """
        try:
            allowed = EgressAddress.of(url) in self.addresses
        except SettingError:
            allowed = False
        if not allowed:
            raise EgressRefused(_REFUSED)


_confined: ContextVar[list[str] | None] = ContextVar("incognote_confined", default=None)
_guarded: ContextVar[bool] = ContextVar("incognote_guarded", default=False)
_hooked = False


@contextmanager
def confined() -> Iterator[list[str]]:
    """Within this block, and in tasks started in it, sockets can connect only inside `guarded()`.

    This is a second check under the guarded transport. If a library's handler opens its own connections, an audit hook
    (PEP 578) stops it at `socket.connect`. The hook does not see loops that connect without Python's socket module
    (uvloop, Windows' proactor). There only the transport protects. Yields the refusals so far.
    """
    global _hooked
    if not _hooked:
        sys.addaudithook(_hook)  # cannot be removed; outside `confined` it only compares a word
        _hooked = True
    refusals: list[str] = []
    token = _confined.set(refusals)
    try:
        yield refusals
    finally:
        _confined.reset(token)


@contextmanager
def guarded() -> Iterator[None]:
    """Allow connections within this block, since the address has been checked."""
    token = _guarded.set(True)
    try:
        yield
    finally:
        _guarded.reset(token)


def is_confined() -> bool:
    """Whether the current code runs within a confined call."""
    return _confined.get() is not None


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if event != "socket.connect":
        return
    refusals = _confined.get()
    if refusals is not None and not _guarded.get():
        refusals.append(_REFUSED)
        raise PermissionError(errno.EPERM, _REFUSED)  # an OSError: with any other error the caller's socket stays open


_LOGGERS = (
    "LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "litellm", "openai", "openai._base_client", "httpx", "httpcore",
    "httpcore.connection", "httpcore.http11", "httpcore.http2", "httpcore.proxy", "aiohttp", "urllib3", "botocore",
)  # fmt: skip
_QUOTING = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "litellm")


class _SilentDuringCalls(logging.Filter):
    """Drops litellm's log records during our calls, even errors, since they quote replies that it could not read."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not is_confined()


_filter = _SilentDuringCalls()
_held = tuple(map(logging.getLogger, _LOGGERS))
_quoting = tuple(map(logging.getLogger, _QUOTING))


def silence_loggers() -> None:
    """Set the loggers to WARNING or above. This is cheap and done before each call, since an import may undo it."""
    for logger in _held:
        if logger.getEffectiveLevel() < logging.WARNING:
            logger.setLevel(logging.WARNING)
    for logger in _quoting:
        logger.addFilter(_filter)  # has no effect the second time
