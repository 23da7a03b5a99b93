"""Workers on a source that tests fill, with a SQLite ledger."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from incognote.files.quarantine import Quarantine
from incognote.keys import Keyring
from incognote.ledger import Ledger
from incognote.runs.destination import open_destination
from incognote.runs.location import open_location
from incognote.runs.source import WatchedSource
from incognote.sdk import Deidentifier
from incognote.service.review import ReviewDecision, ReviewQueue
from incognote.service.worker.freezing import frozen
from incognote.service.worker.hooks import Hooks, WorkerCounts
from incognote.service.worker.worker import Worker
from incognote.settings import ServiceSettings

NOTE = "Seen by Dr. Emily Carter on 03/16/2025.\n"
QUICK = {"rest_seconds": 0.0, "poll_seconds": 0.02, "longest_pause": 0.02, "lease_seconds": 20.0}


class House:
    """A source, a destination, a quarantine, a ledger, and workers on them.

    Args:
        root: the folder that contains them.
        settings: the service settings.
    """

    def __init__(self, root: Path, **settings: Any) -> None:
        self.source, self.destination, self.held = root / "source", root / "destination", root / "quarantine"
        self.source.mkdir()
        self.key = root / "key"
        self.keyring = Keyring.write_new(self.key)
        self.url = f"sqlite:///{root}/ledger.db"
        self.settings = {**QUICK, **settings}
        self._open: list[Any] = []

    @property
    def ledger(self) -> Ledger:
        made = Ledger(self.url, self.keyring)
        self._open.append(made)
        return made

    def made(self, **words: Any) -> Deidentifier:
        words = {"policy": "strict", "detectors": ("rules",), **words}
        made = Deidentifier(key_file=str(self.key), service=ServiceSettings(**self.settings), **words)
        self._open.append(made)
        return made

    def worker(
        self, *, release: str = "r1", hooks: Hooks | None = None, destination: Any = None, layout: Any = None,
        made: Deidentifier | None = None, form: Any = "lines", packing: Any = "none", **words: Any,
    ) -> Worker:  # fmt: skip
        made = made or self.made(**words)
        ledger = self.ledger
        from incognote.files.inputs import RecordDefaults

        told = frozen(made, layout=layout, words=RecordDefaults(), form=form, packing=packing,
                      part_bytes=made.engine.settings.service.part_bytes)  # fmt: skip
        return Worker(
            made, WatchedSource(open_location(str(self.source)), rest=self.settings["rest_seconds"]),
            destination or open_destination(open_location(str(self.destination))), ledger, ledger.freeze(release, told),
            Quarantine(self.held / release, self.keyring), hooks=hooks, layout=layout, form=form, packing=packing,
        )  # fmt: skip

    def run(self, worker: Worker | None = None, **words: Any) -> WorkerCounts:
        """Process the source until it is empty."""
        return asyncio.run((worker or self.worker(**words)).run(once=True))

    def put(self, name: str, content: str | bytes = NOTE) -> Path:
        path = self.source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def lines(self, release: str = "r1") -> list[dict[str, Any]]:
        """Return the records in the destination, if its shards are JSON lines."""
        shards = sorted((self.destination / release).glob("*.jsonl")) if (self.destination / release).exists() else []
        return [json.loads(line) for shard in shards for line in shard.read_text().splitlines()]

    def counts(self, release: str = "r1") -> dict[str, int]:
        ledger = self.ledger
        return {str(state): n for state, n in ledger.counts(ledger.release(release).id).items()}

    def held_for(self, release: str = "r1") -> list[str]:
        """Return the reason codes of the held records, one per record."""
        held = Quarantine(self.held / release, self.keyring).items()
        return sorted(reason.code for one in held for reason in one.reasons)

    def whole(self, release: str = "r1") -> bool:
        """Whether destination and ledger agree, and no file is half-written."""
        ledger = self.ledger
        shards = ledger.shards(ledger.release(release).id)
        files = {f"{release}/{path.name}" for path in (self.destination / release).iterdir()}
        return {shard.name for shard in shards} == files

    def close(self) -> None:
        for one in self._open:
            one.close()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.close()


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Callable[..., House]]:
    """Build a house with the given settings."""
    built: list[House] = []

    def one(**settings: Any) -> House:
        built.append(House(tmp_path, **settings))
        return built[-1]

    yield one
    for made in built:
        made.close()


@pytest.fixture
def queue(house: House, tmp_path: Path) -> Iterator[ReviewQueue]:
    made = ReviewQueue(f"sqlite:///{tmp_path}/service.db", house.keyring)
    yield made
    made.close()


@pytest.fixture
def approve(queue: ReviewQueue) -> Callable[[str], None]:
    """Approve a record in the queue, with every doubtful span replaced."""

    def decide(id: str) -> None:
        case = queue.open(id).case
        queue.decide(id, ReviewDecision("approve", (*case.spans, *case.doubts)), "Ada")

    return decide


@pytest.fixture
def cautious(tmp_path: Path) -> str:
    """A policy under which more spans are doubtful than replaced."""
    path = tmp_path / "cautious.toml"
    path.write_text(
        'name = "cautious"\nextends = "strict"\ndoubt = 0.05\n[types.PERSON]\noperator = "label"\nthreshold = 1.0\n'
    )
    return str(path)


@pytest.fixture
def killed_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str], AbstractContextManager[None]]:
    """Simulate a kill when a method is called within the context: none of our code catches that exception."""

    class Killed(BaseException):
        pass

    def kill(*_: object) -> None:
        raise Killed

    @contextmanager
    def within(where: Any, name: str) -> Iterator[None]:
        with monkeypatch.context() as patched:
            patched.setattr(where, name, kill)
            with pytest.raises(Killed):
                yield

    return within


def notes(*numbers: int, text: str = "Dr. Emily Carter called on 03/16/2025.") -> str:
    return "".join(json.dumps({"id": f"n{number}", "text": text}) + "\n" for number in numbers)


@pytest.fixture
def lines() -> Callable[..., str]:
    return notes
