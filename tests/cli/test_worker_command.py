"""`incognote worker`, `plan`, and `release`, and `quarantine` with a ledger."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy", reason="the extra `service` is not installed")

from incognote.service.monitoring import account

Run = Callable[..., Any]
NOTE = '{"id": "n%d", "text": "Dr. Emily Carter called on 03/16/2025."}\n'


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "a.jsonl").write_text("".join(NOTE % n for n in range(3)) + '{"id": broken\n')
    os.utime(folder / "a.jsonl", (1, 1))
    return folder


@pytest.fixture
def places(tmp_path: Path) -> list[str]:
    return ["--destination", f"{tmp_path}/destination", "--quarantine", f"{tmp_path}/held", "--ledger", f"sqlite:///{tmp_path}/l.db",
            "--detectors", "rules"]  # fmt: skip


def test_a_sink_is_emptied_and_what_became_of_it_is_told(
    run: Run, source: Path, places: list[str], tmp_path: Path
) -> None:
    done = run("worker", source, *places, "--release", "r1", "--once", "--json")
    assert done.code == 3
    assert done.data["settled"] == {"quarantined": 1, "released": 3}
    (shard,) = (tmp_path / "destination" / "r1").iterdir()
    assert len(shard.read_text().splitlines()) == 3
    told = run("release", "list", "--ledger", f"sqlite:///{tmp_path}/l.db", "--json").data["releases"]
    assert [(one["name"], one["records"], one["shards"]) for one in told] == [
        ("r1", {"quarantined": 1, "released": 3}, 1)
    ]
    held = run("quarantine", "list", tmp_path / "held" / "r1", "--json").data["held"]
    assert [one["reasons"][0]["code"] for one in held] == ["malformed"]


def test_releases_are_compared(run: Run, source: Path, places: list[str], tmp_path: Path) -> None:
    run("worker", source, *places, "--release", "r1", "--once")
    run("worker", source, *places, "--release", "r2", "--once", "--policy", "paper")
    url = f"sqlite:///{tmp_path}/l.db"
    found = run("release", "diff", "r1", "r2", "--ledger", url, "--json").data["differences"]
    assert found["policy.name"] == ["strict", "paper"]
    assert set(found) == {"policy.name", "policy.version"}
    assert "strict" in run("release", "diff", "r1", "r2", "--ledger", url).out
    refused = run("worker", source, *places, "--release", "r1", "--once", "--policy", "paper")
    assert refused.code == 2
    assert "policy.version" in refused.err


def test_held_records_are_claimed_again_or_dropped(run: Run, source: Path, places: list[str], tmp_path: Path) -> None:
    url, held = f"sqlite:///{tmp_path}/l.db", tmp_path / "held" / "r1"
    run("worker", source, *places, "--release", "r1", "--once")
    assert run("quarantine", "retry", held, "--ledger", url, "--json").data == {"requeued": 1, "release": "r1"}
    again = run("worker", source, *places, "--release", "r1", "--once", "--json").data
    assert again["settled"] == {"quarantined": 1}
    assert run("quarantine", "drop", held, "--all", "--yes", "--ledger", url).code == 0
    told = run("release", "list", "--ledger", url, "--json").data["releases"]
    assert told[0]["records"] == {"refused": 1, "released": 3}
    assert run("quarantine", "retry", held).code == 2


def test_no_retry_is_promised_in_a_release_whose_key_was_changed(
    run: Run, source: Path, places: list[str], tmp_path: Path
) -> None:
    url, held, key = f"sqlite:///{tmp_path}/l.db", tmp_path / "held" / "r1", tmp_path / "new.key"
    run("worker", source, *places, "--release", "r1", "--once")
    assert run("key", "new", key).code == 0
    gc.collect()  # closes the audit log of the worker, which ran in this process
    rotated = run("key", "rotate", "--new-key-file", key, "--quarantine", tmp_path / "held", "--ledger", url)
    assert rotated.code == 0, rotated.err
    refused = run("quarantine", "retry", held, "--ledger", url, "--key-file", key)
    assert refused.code == 2
    assert "r1 is fixed to key" in refused.err
    assert "a new release name" in refused.err
    releases = run("release", "list", "--ledger", url, "--key-file", key, "--json").data["releases"]
    assert releases[0]["records"] == {"quarantined": 1, "released": 3}
    anew = run("worker", source, *places, "--release", "r2", "--once", "--key-file", key, "--json")
    assert anew.data["settled"] == {"quarantined": 1, "released": 3}


def test_whoever_looks_into_the_quarantine_or_empties_it_stands_in_the_audit_log(
    run: Run, source: Path, places: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, held = f"sqlite:///{tmp_path}/l.db", tmp_path / "held" / "r1"
    run("worker", source, *places, "--release", "r1", "--once")
    monkeypatch.setenv("USER", "somebody-else")
    (item,) = run("quarantine", "list", held, "--long", "--json").data["held"]
    assert run("quarantine", "show", held, item["name"][:8], "--show-anyway").code == 0
    assert run("quarantine", "retry", held, "--ledger", url).code == 0
    assert run("quarantine", "retry", held, "--out", tmp_path / "out", "--detectors", "rules").code == 3
    assert run("quarantine", "drop", held, "--all", "--yes", "--ledger", url).code == 0
    told = [e for e in run("audit", "list", "--json").data["entries"] if e["event"].startswith("quarantine.")]
    assert [(e["event"], e["facts"].get("count"), e["facts"].get("release")) for e in told] == [
        ("quarantine.listed", 1, None), ("quarantine.shown", None, None), ("quarantine.retried", 1, "r1"),
        ("quarantine.retried", 1, None), ("quarantine.dropped", 1, "r1"),
    ]  # fmt: skip
    assert {e["facts"]["by"] for e in told} == {account()}


def test_places_in_one_another_are_refused_before_anything_is_made(run: Run, source: Path, tmp_path: Path) -> None:
    done = run("worker", source, "--destination", source / "destination", "--quarantine", tmp_path / "q", "--ledger",
               f"sqlite:///{tmp_path}/l.db", "--release", "r1", "--once")  # fmt: skip
    assert done.code == 2
    assert "the source and the destination must not contain each other" in done.err
    assert not (source / "destination").exists()


@pytest.mark.parametrize("what", ["the review queue", "the service's database", "the audit log", "the ledger"])
@pytest.mark.parametrize("place", ["source", "destination"])
def test_what_is_the_services_own_does_not_lie_where_others_read_or_write(
    run: Run, source: Path, places: list[str], tmp_path: Path, what: str, place: str
) -> None:
    inside = tmp_path / place / "x"
    config = tmp_path / "c.toml"
    told = {"the service's database": f'database = "sqlite:///{inside}"', "the audit log": f'audit = "{inside}"'}
    config.write_text(f"[service]\n{told.get(what, '')}\n")
    more = ["--reviews", f"sqlite+pysqlite:///{inside}?timeout=3"] if what == "the review queue" else []
    more += ["--ledger", f"sqlite+pysqlite:///{inside}"] if what == "the ledger" else []
    done = run("worker", source, *places, *more, "--release", "r1", "--once", "--config", config)
    assert done.code == 2
    assert f"the {place} and {what} must not contain each other" in done.err
    assert not inside.exists()


def test_a_release_whose_ledger_is_gone_is_not_written_a_second_time(
    run: Run, source: Path, places: list[str], tmp_path: Path
) -> None:
    assert run("worker", source, *places, "--release", "r1", "--once").code == 3
    for path in tmp_path.glob("l.db*"):
        path.unlink()
    done = run("worker", source, *places, "--release", "r1", "--once")
    assert done.code == 2
    assert "this ledger does not know" in done.err
    assert len(list((tmp_path / "destination" / "r1").iterdir())) == 1
    assert run("worker", source, *places, "--release", "r2", "--once").code == 3


def test_a_release_name_that_leads_elsewhere_makes_nothing(
    run: Run, source: Path, places: list[str], tmp_path: Path
) -> None:
    for name in ("a/../../../evil", "tombstones", "a b"):
        done = run("worker", source, *places, "--release", name, "--once")
        assert (done.code, "--release must be" in done.err) == (2, True)
    assert {path.name for path in tmp_path.iterdir()} <= {"source", "destination", "l.db", "l.db-shm", "l.db-wal"}


def test_a_readable_destination_is_reported_and_refused_on_request(run: Run, source: Path, places: list[str]) -> None:
    assert "can read the destination" in run("worker", source, *places, "--release", "r1", "--once").err
    done = run("worker", source, *places, "--release", "r1", "--once", "--one-way")
    assert (done.code, "--one-way" in done.err) == (2, True)


def test_a_plan_foretells_and_writes_nothing(run: Run, source: Path, tmp_path: Path) -> None:
    before = {path.name for path in tmp_path.iterdir()}
    told = run("plan", source, "--detectors", "rules", "--json").data
    assert (told["files"], told["sampled"], told["unread"]) == (1, 4, 0)
    assert told["records"] == 4
    assert told["quarantine"]["value"] == 0.25
    assert {path.name for path in tmp_path.iterdir()} == before
    assert "for review" in run("plan", source, "--detectors", "rules").out
    hours = 4 * told["seconds"] / 3600 / 7.5
    assert run("plan", source, "--detectors", "rules", "--within", hours, "--json").data["needed"] > 1
    assert "workers or cores" in run("plan", source, "--detectors", "rules", "--within", 1).out
    assert run("plan", source, "--within", 0).code == 2


def test_a_signal_ends_a_watching_worker_and_nothing_is_left_claimed(
    run: Run, source: Path, places: list[str], tmp_path: Path
) -> None:
    monitor = subprocess.Popen(
        [sys.executable, "-m", "incognote", "worker", str(source), *places, "--release", "r1", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ,
    )
    destination = tmp_path / "destination" / "r1"
    while not (destination.is_dir() and list(destination.glob("*.jsonl"))):
        assert monitor.poll() is None
        time.sleep(0.05)
    monitor.send_signal(signal.SIGTERM)
    out, _ = monitor.communicate(timeout=60)
    assert monitor.returncode == 3
    assert json.loads(out)["data"]["settled"] == {"quarantined": 1, "released": 3}


def test_what_the_worker_did_not_read_is_named_as_typed_and_what_it_held_is_found(
    run: Run, tmp_path: Path, places: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    Path("in").mkdir()
    Path("in/note.txt").write_text("Dr. Emily Carter called.")
    Path("in/Carter.ps").write_bytes(b"%!PS-Adobe-3.0\n1 0 obj\n")
    Path("in/gone.txt").symlink_to(tmp_path / "nothing")
    Path("in/lost.txt").symlink_to("nothing")
    os.mkfifo("in/pipe.txt")
    for path in ("in/note.txt", "in/Carter.ps"):
        os.utime(path, (1, 1))
    done = run("worker", "./in", *places, "--release", "r1", "--once", "--json")
    assert done.code == 3
    assert done.data["settled"] == {"quarantined": 1, "released": 1}
    assert (done.data["not_read"], done.data["files_unread"]) == (
        3,
        {"link-nowhere": 1, "link-outside": 1, "special": 1},
    )
    assert "incognote: not read: ./in/lost.txt: link-nowhere\n" in done.err
    assert "incognote: not read: ./in/gone.txt: link-outside\n" in done.err
    assert "incognote: not read: ./in/pipe.txt: special\n" in done.err
    listed = run("quarantine", "list", "held")
    assert "./in/Carter.ps" in listed.out
    assert [line.split()[1:3] for line in listed.out.splitlines()[:2]] == [["release", "outcome"], ["r1", "quarantine"]]
    assert "release" not in run("quarantine", "list", "held/r1").out
    (one,) = run("quarantine", "list", "held", "--json").data["held"]
    assert one["release"] == "r1"
    assert run("quarantine", "show", "held", one["name"][:8], "--show-anyway").out.startswith("%!PS")
    for command in (("drop", "held", "--all", "--yes"), ("retry", "held", "--out", "o")):
        refused = run("quarantine", *command)
        assert (refused.code, "Name one of them: held/r1" in refused.err) == (2, True)
    assert run("quarantine", "drop", "held/r1", "--all", "--yes").code == 0
    again = run("worker", "./in", *places, "--release", "r1", "--once")
    assert (again.code, "1 not read completely: special" in again.out) == (3, True)
    assert run("worker", "./in", *places, "--release", "r1", "--once", "--ignore-unreadable").code == 0
