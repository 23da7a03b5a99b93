"""A real standalone cluster on this machine: a master and two workers, an executor killed in mid-job, and no PHI left.

The job is the command that also runs on one machine, unchanged but for the URL of the master.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from incognote import Deidentifier
from incognote.keys import Keyring
from incognote.spark.__main__ import parser
from incognote.spark.__main__ import run as run_job
from incognote_benchmarks.spark.cluster import LocalCluster

from .conftest import CANARY, QUICK, exchanged, require_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS, FILES, TASKS = 320, 4, 8
NOTES = [
    f"{CANARY} Clinic. Seen by Dr. Emily Carter on 03/{number % 28 + 1:02}/2025. MRN: 10{number:05}. BP 120/60."
    for number in range(ROWS)
]


@dataclass
class Watched:
    """What could be seen of a job while it ran, and what it left."""

    code: int = -1
    counts: dict[str, object] = field(default_factory=dict)
    said: str = ""
    killed: int = 0
    page: str = ""
    pages: dict[str, bytes] = field(default_factory=dict)
    exchanged: dict[str, bytes] = field(default_factory=dict)
    events: str = ""


def source(folder: Path) -> Path:
    pa = pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")
    from pyarrow import parquet

    folder.mkdir()
    for part in range(FILES):
        numbers = range(part, ROWS, FILES)
        table = pa.table({"note": [NOTES[n] for n in numbers], "n": [str(n) for n in numbers],
                          "patient": [f"{CANARY}-{n % 7}" for n in numbers]})  # fmt: skip
        parquet.write_table(table, folder / f"{part}.parquet")
    return folder


def arguments(folder: Path, out: Path, *more: str) -> list[str]:
    return [str(folder), "--text", "note", "--patient", "patient",
            "--keep", "n", "--detectors", "rules", "--out", str(out), "--json", *more]  # fmt: skip


def outputs(folder: Path) -> list[tuple[str, str, str, str]]:
    from pyarrow import parquet

    table = parquet.read_table(folder, partitioning="hive").to_pylist()
    return sorted((row["n"], row["note"], row["patient"], row["verdict"]) for row in table)


def fetched(page: str) -> bytes:
    content: bytes = urllib.request.urlopen(page, timeout=10).read()
    return content


def look(cluster: LocalCluster, seen: Watched, done: threading.Event) -> None:
    """Keep the pages and the exchanged files of a job while it runs. Kill an executor once some tasks have ended."""
    while not done.wait(0.1):
        with suppress(OSError, ValueError):  # the page is not there yet, or not any more
            (app,) = json.loads(fetched(f"{seen.page}/api/v1/applications"))
            stages = json.loads(fetched(f"{seen.page}/api/v1/applications/{app['id']}/stages"))
            for one in stages:
                mid_job = one["numTasks"] == TASKS and 1 <= one["numCompleteTasks"] < TASKS
                if mid_job and not seen.killed:
                    keep(cluster, seen, stages)
                    seen.killed = cluster.kill_executor()
            if seen.killed and len(stages) > len(details(seen)):
                keep(cluster, seen, stages)


def details(seen: Watched) -> list[str]:
    return [page for page in seen.pages if "stage/?id" in page]


def keep(cluster: LocalCluster, seen: Watched, stages: list[dict[str, object]]) -> None:
    seen.exchanged |= exchanged(cluster.folder / "local")
    own = [f"{seen.page}/{name}/" for name in ("jobs", "stages", "SQL", "environment", "executors")]
    each = [f"{seen.page}/stages/stage/?id={one['stageId']}&attempt={one['attemptId']}" for one in stages]
    for page in (*cluster.pages, *own, *each):
        seen.pages[page] = fetched(page)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Watched, Path, Path, Path]:
    """One job on the cluster, watched; its source, its outputs, and its key."""
    require_spark()
    folder = tmp_path_factory.mktemp("cluster")
    key, events = folder / "master.key", folder / "events"
    Keyring.write_new(key)
    events.mkdir()
    notes = source(folder / "notes")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    seen, done = Watched(page=f"http://127.0.0.1:{port}"), threading.Event()
    conf = {"spark.eventLog.enabled": "true", "spark.eventLog.dir": events.as_uri(), "spark.ui.port": str(port),
            "spark.eventLog.compress": "true", "spark.driver.host": "127.0.0.1", "spark.executor.memory": "512m",
            "spark.driver.bindAddress": "127.0.0.1", "spark.shuffle.compress": "false"}  # fmt: skip
    environment = {name: value for name, value in os.environ.items() if not name.startswith("INCOGNOTE_")}
    environment["PYSPARK_SUBMIT_ARGS"] = " ".join(f"--conf {k}={v}" for k, v in conf.items()) + " pyspark-shell"
    own = {"INCOGNOTE_HOME": str(folder / "home"), "JAVA_TOOL_OPTIONS": QUICK}
    environment |= own
    with LocalCluster(2, {"INCOGNOTE_KEY_FILE": str(key), **own}) as cluster:
        watcher = threading.Thread(target=look, args=(cluster, seen, done))
        watcher.start()
        ended = subprocess.run(
            [sys.executable, "-m", "incognote.spark",
             *arguments(notes, folder / "out", "--partitions", str(TASKS), "--master", cluster.url)],
            env=environment, capture_output=True, text=True, timeout=900, check=False,
        )  # fmt: skip
        done.set()
        watcher.join()
    seen.code, seen.said = ended.returncode, ended.stderr
    with suppress(ValueError):
        seen.counts = json.loads(ended.stdout)
    return seen, notes, folder / "out", key


def test_the_outputs_are_those_of_one_machine_although_an_executor_was_killed(
    run: tuple[Watched, Path, Path, Path],
) -> None:
    seen, _, out, key = run
    assert (seen.code, seen.counts.get("read")) == (0, ROWS), seen.said[-2000:]
    assert seen.killed
    made = outputs(out)
    with Deidentifier(key_file=key, detectors=["rules"]) as single:
        from incognote.agents.item import Item
        from incognote.operators.hash import pseudonym

        items = [Item(note, patient=f"{CANARY}-{number % 7}") for number, note in enumerate(NOTES)]
        results = list(single.batch(items))
        engine = single.engine
        hashes = [pseudonym(item.patient or "", engine.keyring, engine.domain) for item in items]
    expected = [(str(n), r.text, hashes[n], r.verdict.outcome) for n, r in enumerate(results)]
    assert made == sorted(expected)  # nothing is lost, nothing is there twice


def test_no_canary_and_no_key_is_in_the_log_of_events_the_pages_or_the_exchanged_files(
    run: tuple[Watched, Path, Path, Path],
) -> None:
    import zstandard

    seen, notes, out, key = run
    logs = [path for path in (out.parent / "events").rglob("*") if path.is_file()]
    assert logs
    events = [
        zstandard.ZstdDecompressor().stream_reader(path.read_bytes()).read() if path.suffix in (".zstd", ".zst")
        else path.read_bytes() for path in logs
    ]  # fmt: skip
    assert any(b"SparkListenerTaskEnd" in event for event in events)
    assert details(seen)
    assert any(path.rpartition("/")[2].startswith("shuffle_") for path in seen.exchanged)
    told = [*events, *seen.pages.values(), *seen.exchanged.values(), seen.said.encode()]
    secret = key.read_text().strip().encode()
    for word in (CANARY.encode(), b"Emily Carter", secret, secret[:20]):
        assert with_word(told, word) == 0
    assert any(CANARY.encode() in path.read_bytes() for path in notes.iterdir())  # the source has it in clear


def test_the_search_finds_a_canary_in_exchanged_files_that_are_not_encrypted(
    exchanged_in_clear: dict[str, bytes],
) -> None:
    files = [data for path, data in exchanged_in_clear.items() if path.rpartition("/")[2].startswith("shuffle_")]
    assert with_word(files, CANARY.encode()) > 0


def with_word(parts: Iterable[bytes], word: bytes) -> int:
    """How many of the parts have a word."""
    return sum(word in part for part in parts)


def test_the_same_arguments_without_a_master_run_on_a_session_of_this_machine(
    run: tuple[Watched, Path, Path, Path], spark: SparkSession, tmp_path: Path
) -> None:
    _, notes, out, key = run
    some = tmp_path / "some"
    some.mkdir()
    (some / "0.parquet").write_bytes((notes / "0.parquet").read_bytes())
    asked = parser().parse_args(arguments(some, tmp_path / "out", "--form", "parquet", "--key-file", str(key)))
    counts, _ = run_job(spark, asked)
    assert counts.outcomes == {"release": ROWS // FILES}
    assert outputs(tmp_path / "out") == [row for row in outputs(out) if int(row[0]) % FILES == 0]
