"""Where notes may go: the addresses in the settings and no other, checked before a connection is opened."""

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
_REFUSED = "another address than the settings name was about to be contacted; nothing was sent"


@dataclass(frozen=True, slots=True)
class EgressAddress:
    """Scheme, host and port: what is compared. Paths are not compared."""

    scheme: str
    host: str
    port: int

    @classmethod
    def of(cls, url: str) -> EgressAddress:
        """The address in a URL.

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
    """127.0.0.0/8, ::1 and `localhost` itself; a name that merely resolves there may resolve elsewhere tomorrow."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Egress:
    """The addresses that may be contacted.

    Args:
        urls: the api_base of a model, or several.

    Raises:
        SettingError: an address is malformed.
        EgressRefused: plain http to another machine, where everyone on the way could read along.
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
        """Pass if the URL's address is allowed.

        Raises:
            EgressRefused: it is not; the message does not repeat it, for a redirect could carry anything.
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
    """Within, and in the tasks begun within, sockets connect only from inside `guarded()`.

    A second check under the guarded transport: a library's handler that opens connections of its own, past ours, is
    stopped at `socket.connect` by an audit hook (PEP 578). It does not see loops that connect without Python's socket
    module (uvloop, Windows' proactor); there the transport alone holds. Yields the refusals so far.
    """
    global _hooked
    if not _hooked:
        sys.addaudithook(_hook)  # cannot be taken away again; outside `confined` it only compares a word
        _hooked = True
    refusals: list[str] = []
    token = _confined.set(refusals)
    try:
        yield refusals
    finally:
        _confined.reset(token)


@contextmanager
def guarded() -> Iterator[None]:
    """Within, connections are allowed: the address has been checked."""
    token = _guarded.set(True)
    try:
        yield
    finally:
        _guarded.reset(token)


def is_confined() -> bool:
    """Whether this runs on behalf of a confined call."""
    return _confined.get() is not None


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if event != "socket.connect":
        return
    refusals = _confined.get()
    if refusals is not None and not _guarded.get():
        refusals.append(_REFUSED)
        raise PermissionError(errno.EPERM, _REFUSED)  # an OSError: on any other the caller's socket stays open


_LOGGERS = (
    "LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "litellm", "openai", "openai._base_client", "httpx", "httpcore",
    "httpcore.connection", "httpcore.http11", "httpcore.http2", "httpcore.proxy", "aiohttp", "urllib3", "botocore",
)  # fmt: skip
_QUOTING = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "litellm")


class _SilentDuringCalls(logging.Filter):
    """Drops litellm's log records during our calls, errors included: they quote replies it could not read."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not is_confined()


_filter = _SilentDuringCalls()
_held = tuple(map(logging.getLogger, _LOGGERS))
_quoting = tuple(map(logging.getLogger, _QUOTING))


def silence_loggers() -> None:
    """Hold the loggers at WARNING or above. Cheap, so that it is done before each call: an import may undo it."""
    for logger in _held:
        if logger.getEffectiveLevel() < logging.WARNING:
            logger.setLevel(logging.WARNING)
    for logger in _quoting:
        logger.addFilter(_filter)  # twice is once
