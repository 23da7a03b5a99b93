"""An API with its own context, called over ASGI, and the log lines it writes."""

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
    """A complete service."""

    context: ApiContext
    said: io.StringIO
    folder: Path
    keys: dict[str, str] = field(default_factory=dict)

    def key(self, name: str, *roles: str) -> dict[str, str]:
        """Return headers with a new key."""
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
        """Yield a client while the application runs. `token` is the one printed at startup."""
        gate = application(self.context, token=token)
        async with _living(gate):
            transport = httpx.ASGITransport(gate, client=(address, 40000))  # type: ignore[arg-type]  # ASGI by its signature
            async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}", **words) as client:
                yield client


@asynccontextmanager
async def _living(gate: Gate) -> AsyncIterator[None]:
    app = gate.inner
    async with app.router.lifespan_context(app):
        yield


def settings(folder: Path, **more: Any) -> dict[str, Any]:
    """The settings of a service in its own folder."""
    return {"home": folder, "key": "ab" * 32, "detectors": ("rules",), **more}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with housed(tmp_path) as made:
        yield made


@contextmanager
def housed(folder: Path, **more: Any) -> Iterator[House]:
    """Set up a service in a folder, and close it at the end."""
    given = settings(folder, **more)
    said = io.StringIO()
    with Deidentifier(**given) as deid:
        assert deid.engine.keyring == Keyring(bytes.fromhex("ab" * 32))
        context = ApiContext(deid, Telemetry(said, least="debug"), given)
        yield House(context, said, folder)
        context.close()
