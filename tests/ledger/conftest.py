"""A ledger in each supported database, with a clock that tests set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import Float, literal_column

from incognote.keys import Keyring
from incognote.ledger import FoundFile, Ledger, Release, Wanted

KEY = Keyring(b"one master key, 32 bytes of it.." * 2)


class Book(Ledger):
    """A ledger whose clock a test controls."""

    def at(self, seconds: float) -> Book:
        self.now = literal_column(f"{seconds:.3f}", Float(53))
        return self


@pytest.fixture
def book(database: str) -> Iterator[Book]:
    made = Book(database, KEY)
    yield made.at(1000.0)
    made.close()


@pytest.fixture
def release(book: Book) -> Release:
    return book.freeze("r1", {"policy": {"name": "strict", "version": "1"}})


@pytest.fixture
def files() -> Callable[..., list[FoundFile]]:
    def made(*names: str, size: int = 10, **more: Any) -> list[FoundFile]:
        return [FoundFile(f"{name:a<32}", f"{'s':b<32}", f"ward/{name}.txt", size, **more) for name in names]

    return made


def wanted(part: int, *numbers: int, content: str = "c") -> list[Wanted]:
    return [Wanted(f"{number:032x}", f"{content:0<32}", part) for number in numbers]


@pytest.fixture
def want() -> Callable[..., list[Wanted]]:
    return wanted
