"""An API on a context of its own, asked over ASGI, with what it tells on the way."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra service")
pytest.importorskip("sqlalchemy", reason="needs the extra service")
pytest.importorskip("structlog", reason="needs the extra service")

import httpx

from incognote.keys import Keyring
from incognote.sdk import Deidentifier
from incognote.service.api.app import application
from incognote.service.api.context import ApiContext
from incognote.service.api.gate import Gate
from incognote.service.telemetry import Telemetry

TOKEN = "T" * 43
LOCAL = {"Authorization": f"Bearer {TOKEN}"}
NOTE = "Seen by Dr. Emily Carter on 03/16/2025. MRN 4471902. Call 617-555-0142."
DOUBTFUL = "Pt seen with Okonjo-Iweala today."


@dataclass
class House:
    """Everything one service has."""

    context: ApiContext
    said: io.StringIO
    folder: Path
    keys: dict[str, str] = field(default_factory=dict)

    def key(self, name: str, *roles: str) -> dict[str, str]:
        """Headers with a new key."""
        _, written = self.context.keys.new(name, roles or (name,))
        self.keys[name] = written
        return {"Authorization": f"Bearer {written}"}

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.said.getvalue().splitlines()]

    @asynccontextmanager
    async def client(
        self, *, token: str | None = None, address: str = "127.0.0.1", host: str = "127.0.0.1", **words: Any
    ) -> AsyncIterator[httpx.AsyncClient]:
        """A client, while the application lives; `token` is the one of the server's start."""
        gate = application(self.context, token=token)
        async with _living(gate):
            transport = httpx.ASGITransport(gate, client=(address, 40000))  # type: ignore[arg-type]  # ASGI by shape
            async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}", **words) as client:
                yield client


@asynccontextmanager
async def _living(gate: Gate) -> AsyncIterator[None]:
    app = gate.inner
    async with app.router.lifespan_context(app):
        yield


def settings(folder: Path, **more: Any) -> dict[str, Any]:
    """Of a service in a folder of its own."""
    return {"home": folder, "key": "ab" * 32, "detectors": ("rules",), **more}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with housed(tmp_path) as made:
        yield made


@contextmanager
def housed(folder: Path, **more: Any) -> Iterator[House]:
    """A house in a folder, torn down at the end."""
    given = settings(folder, **more)
    said = io.StringIO()
    with Deidentifier(**given) as deid:
        assert deid.engine.keyring == Keyring(bytes.fromhex("ab" * 32))
        context = ApiContext(deid, Telemetry(said, least="debug"), given)
        yield House(context, said, folder)
        context.close()
