"""Fixtures and rules for all tests: no network, an isolated home, skips only where allowed, and the databases."""

from __future__ import annotations

import gc
import os
import re
import socket
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from incognote.errors import MissingExtra
from incognote_benchmarks.postgres import LocalPostgres, programs

settings.register_profile(
    "incognote", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)  # deadlines are unreliable on a shared machine; CI must be deterministic
settings.load_profile("incognote")

_CONTAINERS = (dict, list, tuple, set, frozenset, deque, re.Pattern, type(lru_cache(len)))
_LOOPBACK = ("127.", "::1", "localhost", "0.0.0.0")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Isolate each test: no INCOGNOTE_* variables from the developer, its own home, and loopback connections only."""
    for name in list(os.environ):
        if name.startswith("INCOGNOTE_") and name not in (
            "INCOGNOTE_TEST_REQUIRE",
            "INCOGNOTE_SOAK",
            "INCOGNOTE_SOAK_JSON",
            "INCOGNOTE_SHARED_DATA",
        ):
            monkeypatch.delenv(name)
    monkeypatch.setenv("INCOGNOTE_HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    real = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> None:
        if isinstance(address, tuple) and not str(address[0]).startswith(_LOOPBACK):
            raise AssertionError("a test tried to reach a network")
        real(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    """Skip tests that need an extra that is not installed. With INCOGNOTE_TEST_REQUIRE=all, they fail instead.

    So does any other skipped test, except those marked `shared`.
    """
    report = yield
    if call.excinfo is not None and isinstance(call.excinfo.value, MissingExtra):
        report.outcome = "skipped"
        report.longrepr = (str(item.path), item.location[1], f"Skipped: {call.excinfo.value}")
    demanded = os.environ.get("INCOGNOTE_TEST_REQUIRE") == "all" and item.get_closest_marker("shared") is None
    if demanded and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing may be: {call.excinfo.value if call.excinfo else ''}"
    return report


@pytest.fixture(scope="session")
def postgres() -> Iterator[LocalPostgres]:
    """A real server, shared by all tests. Each test empties it first."""
    if programs() is None:
        pytest.skip("PostgreSQL is not installed")
    pytest.importorskip("psycopg", reason="the extra `service` is not installed")
    with LocalPostgres() as base:
        yield base


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, once for each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'own.db'}"
    base: LocalPostgres = request.getfixturevalue("postgres")
    base.empty()
    return base.url


@pytest.fixture
def held() -> Callable[[str], list[str]]:
    """Find the strings with a given word that remain in this package's modules, caches, and objects, or in `re`."""

    def walk(word: str) -> list[str]:
        gc.collect()
        ours = ("incognote", "re", "functools")
        stack: list[Any] = [vars(module) for name, module in sys.modules.items() if name.split(".")[0] in ours]
        stack += [one for one in gc.get_objects() if _is_ours(type(one))]
        seen = {id(one): one for one in stack}  # keeps the objects alive so that no id is reused
        found: list[str] = []
        while stack:
            for other in gc.get_referents(stack.pop()):
                kind = type(other)
                if isinstance(other, str):
                    if other is not word and word in other.lower():
                        found.append(other)
                elif id(other) not in seen and (kind in _CONTAINERS or _is_ours(kind)):
                    seen[id(other)] = other
                    stack.append(other)
        return found

    return walk


def _is_ours(kind: type) -> bool:
    return str(kind.__module__).startswith("incognote")
