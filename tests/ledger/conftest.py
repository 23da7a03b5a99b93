"""Every database a ledger can lie in, empty, with a clock that tests set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Float, literal_column

from incognote.keys import Keyring
from incognote.ledger import Found, Ledger, Release, Wanted
from incognote.testing.postgres import LocalPostgres, programs

KEY = Keyring(b"one master key, 32 bytes of it.." * 2)


@pytest.fixture(scope="session")
def postgres() -> Iterator[LocalPostgres]:
    if programs() is None:
        pytest.skip("PostgreSQL is not installed")
    pytest.importorskip("psycopg", reason="the extra `service` is not installed")
    with LocalPostgres() as base:
        yield base


class Book(Ledger):
    """A ledger whose clock says what a test wants."""

    def at(self, seconds: float) -> Book:
        self.now = literal_column(f"{seconds:.3f}", Float(53))
        return self


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/ledger.db"
    base: LocalPostgres = request.getfixturevalue("postgres")
    base.empty()
    return base.url


@pytest.fixture
def book(url: str) -> Iterator[Book]:
    made = Book(url, KEY)
    yield made.at(1000.0)
    made.close()


@pytest.fixture
def release(book: Book) -> Release:
    return book.freeze("r1", {"policy": {"name": "strict", "version": "1"}})


@pytest.fixture
def files() -> Callable[..., list[Found]]:
    def made(*names: str, size: int = 10, **more: Any) -> list[Found]:
        return [Found(f"{name:a<32}", f"{'s':b<32}", f"ward/{name}.txt", size, **more) for name in names]

    return made


def wanted(part: int, *numbers: int, content: str = "c") -> list[Wanted]:
    return [Wanted(f"{number:032x}", f"{content:0<32}", part) for number in numbers]


@pytest.fixture
def want() -> Callable[..., list[Wanted]]:
    return wanted
