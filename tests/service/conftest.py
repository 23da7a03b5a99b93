"""Every database that the service's parts can lie in, empty."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from incognote.testing.postgres import LocalPostgres, programs


@pytest.fixture(scope="session")
def postgres() -> Iterator[LocalPostgres]:
    """A real one."""
    if programs() is None:
        pytest.skip("PostgreSQL is not installed")
    pytest.importorskip("psycopg", reason="the extra `service` is not installed")
    with LocalPostgres() as base:
        yield base


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Each in turn, by its URL."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'service.db'}"
    base: LocalPostgres = request.getfixturevalue("postgres")
    base.empty()
    return base.url
