"""An empty index of every kind, all with the same key, and proposals for it."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incognote.keys import Keyring
from incognote.relex.index.base import SurrogateIndex
from incognote.relex.index.docs import Scan
from incognote.relex.index.nouns import IdentityPlace, IndexedIdentity, SurrogateClaimed, SurrogateProposal
from incognote.relex.index.opening import open_index
from incognote.testing.memory_index import MemoryIndex

KEY = Keyring(b"one master key, 32 bytes of it.." * 2)
OTHER = Keyring(b"another master key, of 32 bytes." * 2)
DIMENSION = 16
Make = Callable[..., Any]


@pytest.fixture
def key() -> Keyring:
    return KEY


@pytest.fixture
def other_key() -> Keyring:
    return OTHER


@pytest.fixture(params=["memory", "sqlite", "opensearch"])
def vendor(request: pytest.FixtureRequest) -> str:
    """Each vendor in turn."""
    return str(request.param)


@pytest.fixture
async def make(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Make]:
    """Create an index of a vendor, or reopen it at its `url`. All are closed, and those in OpenSearch are dropped."""
    opened: list[SurrogateIndex] = []
    prefixes: list[tuple[str, str]] = []
    stores: dict[str, Any] = {}

    async def one(vendor: str, *, key: Keyring = KEY, url: str | None = None, **options: str) -> SurrogateIndex:
        create = url is None
        if vendor == "memory":
            index: SurrogateIndex
            if url is not None:
                index = await MemoryIndex(key, store=stores[url]).open()
            else:
                url = secrets.token_hex(4)
                index = MemoryIndex(key, dimension=DIMENSION, originals=options.get("originals", "on") == "on")
                stores[url] = index.memory
        else:
            if url is None:
                told = "&".join(f"{name}={value}" for name, value in {"dimension": DIMENSION, **options}.items())
                if vendor == "sqlite":
                    url = f"sqlite:///{tmp_path / secrets.token_hex(4)}.db?{told}"
                else:
                    address, prefix = request.getfixturevalue("opensearch"), f"t-{secrets.token_hex(4)}"
                    prefixes.append((address, prefix))
                    url = f"opensearch://{address}/{prefix}?tls=off&replicas=0&{told}"
            index = await open_index(url, key, create=create)
        index.url = url  # type: ignore[attr-defined]  # a test may reopen it
        opened.append(index)
        return index

    yield one
    for index in opened:
        await index.aclose()
    for address, prefix in prefixes:
        await asyncio.to_thread(_drop, f"http://{address}/{prefix}-000001")


def _drop(url: str) -> None:
    with contextlib.suppress(urllib.error.HTTPError):  # a test may already have dropped it
        urllib.request.urlopen(urllib.request.Request(url, method="DELETE")).close()


@pytest.fixture
async def index(make: Make, vendor: str) -> SurrogateIndex:
    made: SurrogateIndex = await make(vendor)
    return made


PLACE = IdentityPlace("clinic", "patient 7", "PERSON")


def proposal(
    *variants: str, whole: str = "", place: IdentityPlace = PLACE, seed: int | None = None, **more: Any
) -> SurrogateProposal:
    """A proposal. By default, its surrogate is named after its first variant. `seed` gives it a vector."""
    whole = whole or f"Surrogate of {variants[0]}"
    vector = None if seed is None else np.random.default_rng(seed).normal(size=DIMENSION)
    words = {"type": "PATIENT", "original": variants[0], "vector": vector, **more}
    return SurrogateProposal(place, variants=variants, surrogate={"full": whole}, whole=whole, **words)


@pytest.fixture
def propose() -> Callable[..., SurrogateProposal]:
    return proposal


async def given(index: SurrogateIndex, one: SurrogateProposal) -> IndexedIdentity:
    outcome = await index.claim(one)
    assert isinstance(outcome, SurrogateClaimed)
    return outcome.identity


async def all_docs(index: SurrogateIndex) -> list[Any]:
    def program() -> Any:
        page = yield Scan({}, {"kind": "meta"}, vectors=True)
        return page.docs

    found: list[Any] = await index.run(program())
    return found
