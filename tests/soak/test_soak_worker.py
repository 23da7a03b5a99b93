"""Workers killed repeatedly, databases that restart, a model that fails: there is exactly one output per record.

Full size: 10,000 records and four workers, each killed 50 times at random; then 20,000 records among files that cannot
be read or have no reader, with 40 kills. A tenth of this runs with the other tests.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from incognote.files.quarantine import Quarantine
from incognote.keys import Keyring
from incognote.ledger import Ledger
from incognote.testing.misbehave import Misbehaviour
from incognote.testing.server import LocalServer
from incognote_benchmarks.postgres import LocalPostgres

from .processes import spelled

Nursery = subprocess.Popen[str]
NURSERY = Path(__file__).with_name("nursery.py")
WORKERS = 4
LEASE = 2.0
PS = b"%!PS-Adobe-3.0\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n"
SETTINGS = {
    "lease_seconds": LEASE, "poll_seconds": 0.1, "rest_seconds": 0.0, "longest_pause": 0.5, "part_bytes": 20_000,
    "batch_records": 16, "shard_records": 50, "most_tries": 12,
}  # fmt: skip


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    home = tmp_path_factory.mktemp("home")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("INCOGNOTE_")}
    with subprocess.Popen([sys.executable, str(NURSERY)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env={**environment, "INCOGNOTE_HOME": str(home)}) as running:  # fmt: skip
        yield running
        assert running.stdin is not None
        running.stdin.close()


class Soak:
    """Workers on one source. Killed workers are replaced."""

    def __init__(self, root: Path, ledger: str, **engine: Any) -> None:
        self.root, self.ledger, self.records = root, ledger, 0
        root.mkdir(exist_ok=True)
        self.keyring = Keyring.write_new(root / "key")
        self.told = {
            "key": str(root / "key"), "ledger": ledger, "source": str(root / "source"),
            "destination": str(root / "destination"), "quarantine": str(root / "quarantine"), "settings": SETTINGS,
            "engine": {"detectors": ("rules",), **engine},
        }  # fmt: skip
        self.deaths: Counter[int] = Counter()
        self.alive: dict[int, int] = {}  # a worker's number → its process
        self.says: dict[int, Path] = {}
        self.began = 0

    def fill(self, records: int) -> None:
        """Write long files that are read in ranges, and short ones. No two records are alike."""
        (self.root / "source").mkdir()
        texts = [json.dumps({"id": f"n{n}", "text": f"Dr. Emily Carter called on 03/16/2025. Item {spelled(n)}."})
                 for n in range(records)]  # fmt: skip
        long = texts[: records * 4 // 5]
        for number, start in enumerate(range(0, len(long), 2000)):
            (self.root / "source" / f"long{number}.jsonl").write_text("\n".join(long[start : start + 2000]) + "\n")
        for number, text in enumerate(texts[len(long) :]):
            (self.root / "source" / f"short{number}.jsonl").write_text(text + "\n")
        self.records = records

    def run(
        self, nursery: Nursery, kills: int, pause: float, between: Callable[[float], None] = lambda share: None
    ) -> float:
        """Wait until all workers have ended by themselves. Return the seconds it took.

        Args:
            pause: maximum number of seconds between two kills.
            between: called after each kill with the share of kills done.
        """
        chance, began = random.Random(8), time.monotonic()
        try:
            for number in range(WORKERS):
                self._start(nursery, number)
            while self.alive:
                time.sleep(chance.uniform(0.02, pause))
                for number in [n for n, process in self.alive.items() if not _lives(process)]:
                    del self.alive[number]
                    if self.deaths[number] < kills:  # it ended early: there are more kills to do
                        self._start(nursery, number)
                    else:
                        assert self.says[number].exists(), "a worker failed"
                doomed = [n for n in self.alive if self.deaths[n] < kills]
                if doomed:
                    number = chance.choice(doomed)
                    os.kill(self.alive[number], signal.SIGKILL)
                    self.deaths[number] += 1
                    self._start(nursery, number)
                between(sum(self.deaths.values()) / max(1, WORKERS * kills))
        finally:
            for process in self.alive.values():
                os.kill(process, signal.SIGKILL)
        return time.monotonic() - began

    def check(self) -> dict[str, Any]:
        """Check for one output per record: no duplicates, no partial outputs, none lost."""
        ledger = Ledger(self.ledger, self.keyring)
        release = ledger.release("soak")
        entries = list(ledger.entries(release=release.id))
        shards = ledger.shards(release.id)
        ledger.close()
        destination = self.root / "destination"
        files = {f"soak/{path.name}": path.read_bytes() for path in (destination / "soak").iterdir()}
        assert {entry.state for entry in entries} == {"released"}
        assert len(entries) == self.records
        assert len({(entry.shard, entry.line) for entry in entries}) == self.records
        told = {shard.name: shard.sha256 for shard in shards}
        assert told == {name: sha256(data).hexdigest() for name, data in files.items()}
        lines = [json.loads(line) for data in files.values() for line in data.splitlines()]
        assert len(lines) == len({line["id"] for line in lines}) == self.records
        assert len({line["text"] for line in lines}) == self.records
        assert not any("Carter" in line["text"] for line in lines)
        return {"records": self.records, "outputs": len(lines), "shards": len(shards),
                "tries": sum(entry.tries for entry in entries)}  # fmt: skip

    def _start(self, nursery: Nursery, number: int) -> None:
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        self.began += 1
        says = self.says[number] = self.root / f"says-{self.began}.json"
        nursery.stdin.write(json.dumps({**self.told, "says": str(says)}) + "\n")
        nursery.stdin.flush()
        self.alive[number] = int(nursery.stdout.readline())


class Odd(Soak):
    """A source in which every fifth input cannot be released."""

    def fill(self, records: int) -> None:
        """Of ten inputs, eight are released, one is quarantined (a format, a broken line), and one cannot be read."""
        super().fill(records * 8 // 10)
        self.records = records
        source = self.root / "source"
        self.quarantined: Counter[str] = Counter()
        self.unread: dict[str, str] = {}
        svg = b"<svg xmlns='http://www.w3.org/2000/svg'><text>Emily Carter</text></svg>"
        formats = {"ps": PS, "txt": svg, "docx": b"PK\x03\x04Emily Carter", "svg": svg}
        for number in range(records // 20):
            suffix = list(formats)[number % len(formats)]
            self._put(source / f"odd{number}.{suffix}", formats[suffix] + str(number).encode())
        for number in range(records // 20):
            name = f"long{number % 2}.jsonl" if (source / f"long{number % 2}.jsonl").exists() else "long0.jsonl"
            with (source / name).open("a") as out:
                out.write(f'{{"id": "broken{number}"\n')
            self.quarantined[name] += 1
        for number in range(records // 10):
            name, kind = f"shut{number}.txt", number % 4
            if kind == 0:
                name = f"pipe{number}.txt"
                os.mkfifo(source / name)
            elif kind == 1:
                name = f"link{number}.txt"
                (source / name).symlink_to(self.root / "elsewhere")
            else:
                (source / name).write_text("Dr. Emily Carter called.")
                (source / name).chmod(0)
            self.unread[name] = {0: "special", 1: "link-outside"}.get(kind, "unreadable")

    def _put(self, path: Path, data: bytes) -> None:
        path.write_bytes(data)
        self.quarantined[path.name] += 1

    def check(self) -> dict[str, Any]:
        """Check that each input is counted once: released, for review, quarantined, or not read."""
        ledger = Ledger(self.ledger, self.keyring)
        release = ledger.release("soak").id
        entries = list(ledger.entries(release=release))
        counts = Counter(entry.state for entry in entries)
        unread = ledger.unread(release)
        ledger.close()
        assert counts["released"] + counts["review"] + counts["quarantined"] + len(unread) == self.records
        assert counts == {"released": self.records * 8 // 10, "quarantined": self.quarantined.total()}
        assert dict(unread) == self.unread
        assert len(unread) == len(self.unread)
        assert Counter(entry.file for entry in entries if entry.state == "quarantined") == self.quarantined
        held = Quarantine(self.root / "quarantine", self.keyring)
        items = list(held.items())
        sources = Counter(held.open(item).words["name"] for item in items)
        assert sources == self.quarantined
        assert {item.name for item in items} == {entry.key for entry in entries if entry.state == "quarantined"}
        lines = [json.loads(line) for path in (self.root / "destination" / "soak").iterdir()
                 for line in path.read_bytes().splitlines()]  # fmt: skip
        assert len(lines) == len({line["text"] for line in lines}) == counts["released"]
        assert not any("Carter" in line["text"] for line in lines)
        return {
            "inputs": self.records, "released": counts["released"], "review": counts["review"],
            "quarantined": counts["quarantined"], "not_read": len(unread),
            "not_read_by_code": dict(sorted(Counter(code for _, code in unread).items())),
            "tries": sum(entry.tries for entry in entries),
        }  # fmt: skip


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_killed_workers_leave_one_output_per_record(
    tmp_path: Path, postgres: LocalPostgres, nursery: Nursery, full: bool, figures: dict[str, Any]
) -> None:
    kills = 50 if full else 5
    postgres.empty()
    soak = Soak(tmp_path, postgres.url)
    soak.fill(10_000 if full else 1_000)
    seconds = soak.run(nursery, kills, 1.0 if full else 0.4)
    assert soak.deaths == dict.fromkeys(range(WORKERS), kills)
    told = {"workers": WORKERS, "kills": kills * WORKERS, "seconds": round(seconds, 1)}
    figures["worker_killed"] = {**soak.check(), **told}


def test_killed_workers_account_for_every_input(
    tmp_path: Path, postgres: LocalPostgres, nursery: Nursery, full: bool, figures: dict[str, Any]
) -> None:
    kills = 10 if full else 2
    postgres.empty()
    soak = Odd(tmp_path, postgres.url)
    soak.fill(20_000 if full else 600)
    seconds = soak.run(nursery, kills, 8.0 if full else 0.8)
    assert soak.deaths == dict.fromkeys(range(WORKERS), kills)
    told = {"workers": WORKERS, "kills": kills * WORKERS, "seconds": round(seconds, 1)}
    figures["worker_accounts"] = {**soak.check(), **told}


def test_so_do_restarts_of_the_database_and_a_model_that_fails(
    tmp_path: Path, postgres: LocalPostgres, nursery: Nursery, full: bool, figures: dict[str, Any]
) -> None:
    pytest.importorskip("openai", reason="the extra `llm` is not installed")
    kills, restarts = (50, 3) if full else (2, 3)
    postgres.empty()
    done: list[float] = []

    def between(share: float) -> None:
        if len(done) < restarts and share >= (len(done) + 1) / (restarts + 1):
            postgres.restart(at_once=len(done) == 1)
            done.append(share)

    failing = Misbehaviour("server_error", 0.2)
    with LocalServer(lambda request: '{"PERSON": ["<<Emily Carter>>"]}', misbehaviour=failing) as server:
        soak = Soak(
            tmp_path, postgres.url, model="openai/local", api_base=server.url,
            api_key=server.api_key, passes=1, model_attempts=2,
        )  # fmt: skip
        soak.told["engine"]["detectors"] = ("rules", "llm")
        soak.fill(10_000 if full else 150)
        seconds = soak.run(nursery, kills, 1.0 if full else 0.4, between)
        calls = server.calls
    assert len(done) == restarts
    told = soak.check()
    assert calls > told["records"]
    figures["worker_restarts"] = {**told, "workers": WORKERS, "kills": kills * WORKERS, "restarts": restarts,
                                  "calls": calls, "failing": 0.2, "seconds": round(seconds, 1)}  # fmt: skip
