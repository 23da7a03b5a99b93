"""A batch provider that counts what it charges for, and a model that uses it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from incognote.keys import Keyring
from incognote.llm.base import Message, Reply, Request
from incognote.llm.batch import BatchModel
from incognote.llm.egress import Egress
from incognote.llm.recording import Recording
from incognote.llm.vendors.openai_batch import OpenAIBatch
from incognote.testing import LocalServer, Trouble

KEYS = Keyring(bytes(range(32)))
NAME = "openai/gpt-4o-mini"
WORDS = ("zebulon", "quackenbosh", "77120943", "plumtree")


def note(n: int) -> Request:
    return Request((Message("system", "Find the PHI."), Message("user", f"Zebulon Quackenbosh 77120943 Plumtree #{n}")))


class Script:
    """Answers requests and counts them: the provider charges for each answer."""

    def __init__(self) -> None:
        self.paid: Counter[str] = Counter()
        self.troubles: dict[str, Trouble | Reply] = {}

    def __call__(self, request: Request) -> str | Reply | Trouble:
        asked = request.messages[-1].content
        self.paid[asked] += 1
        return self.troubles.get(asked[-2:], f"\u2028 reply to {asked}")


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def server(script: Script) -> Iterator[LocalServer]:
    with LocalServer(script) as server:
        yield server


@pytest.fixture
def recording(tmp_path: Path) -> Iterator[Recording]:
    recording = Recording(tmp_path / "r.db", KEYS)
    yield recording
    recording.close()


def made(server: LocalServer, recording: Recording, api_key: str | None = None, **more: Any) -> BatchModel:
    api = OpenAIBatch(NAME, api_base=server.url, api_key=api_key or server.api_key, egress=Egress([server.url]))
    terms = {"poll_seconds": 0.01, "settle_seconds": 0.05, "allow_provider_storage": True, **more}
    return BatchModel(api, recording, **terms)


@asynccontextmanager
async def opened(server: LocalServer, recording: Recording, **more: Any) -> AsyncIterator[BatchModel]:
    model = made(server, recording, **more)
    try:
        yield model
    finally:
        await model.aclose()


async def answers(model: BatchModel, *numbers: int) -> list[Reply | BaseException]:
    return await asyncio.gather(*(model.complete(note(n)) for n in numbers), return_exceptions=True)


def is_right(reply: Reply | BaseException, n: int) -> bool:
    return isinstance(reply, Reply) and reply.text == f"\u2028 reply to {note(n).messages[-1].content}"


def created(server: LocalServer) -> int:
    return sum((c.method, c.path, c.status) == ("POST", "/v1/batches", 200) for c in server.log)


def looked_at(server: LocalServer) -> int:
    return sum(c.path.startswith("/v1/batches/") and c.status == 200 for c in server.log)


async def until(seen: Callable[[], int]) -> None:
    async with asyncio.timeout(30):
        while not seen():  # noqa: ASYNC110 -- the server runs in another thread and has no signal to wait for
            await asyncio.sleep(0.005)


def at_rest(recording: Path) -> bytes:
    """The contents of all files in the recording's folder."""
    return b"".join(path.read_bytes() for path in recording.parent.iterdir())
