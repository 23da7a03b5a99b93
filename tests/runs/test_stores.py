"""Folders and a real S3-compatible server: which files are listed and read, and how a shard is put in place."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import MissingExtra, SettingError, SourceUnavailable, Unwritable
from incognote.runs.destination import STAGING, FolderDestination, open_destination
from incognote.runs.location import Location, open_location
from incognote.runs.source import WatchedSource, part_ranges, read_part

Make = Callable[[str], Location]


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """The address of a server with the S3 API."""
    pytest.importorskip("s3fs", reason="the extra `s3` is not installed")
    moto = pytest.importorskip("moto.server", reason="moto is not installed")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(params=["folder", "s3"])
def make(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Open a location by its name."""
    if request.param == "folder":

        def folder(name: str) -> Location:
            (tmp_path / name).mkdir(exist_ok=True)
            return open_location(str(tmp_path / name))

        return folder
    for name, value in {
        "AWS_ENDPOINT_URL": request.getfixturevalue("s3"), "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    bucket = f"b{abs(hash(str(tmp_path))):x}"
    s3fs.S3FileSystem().mkdir(bucket)
    return lambda name: open_location(f"s3://{bucket}/{name}")


def put(where: Location, name: str, data: bytes) -> None:
    if where.store is not None:
        where.store.pipe_file(f"{where.root}/{name}", data)
        return
    path = Path(where.root, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def held(where: Location) -> dict[str, bytes]:
    """Return everything in the location, including hidden files."""
    if where.store is not None:
        where.store.invalidate_cache()
        found = where.store.find(where.root)
        return {path.removeprefix(where.root + "/"): where.store.cat_file(path) for path in found}
    return {p.relative_to(where.root).as_posix(): p.read_bytes() for p in Path(where.root).rglob("*") if p.is_file()}


def test_what_is_there_is_seen_whatever_its_kind(make: Make) -> None:
    where = make("source")
    for name in ("b/two.jsonl", "a.txt", "c.txt.zst", "d.parquet", "scan.ps", ".hidden.txt"):
        put(where, name, b"x")
    seen = [(one.name, one.why) for one in WatchedSource(where).look()]
    assert sorted(seen) == [
        ("a.txt", "ready"), ("b/two.jsonl", "ready"), ("c.txt.zst", "ready"), ("d.parquet", "ready"),
        ("scan.ps", "ready"),
    ]  # fmt: skip


def test_another_content_is_another_version(make: Make) -> None:
    where = make("source")
    put(where, "a.txt", b"one")
    source = WatchedSource(where)
    (before,) = source.look()
    assert source.stamp("a.txt") == before.stamp
    put(where, "a.txt", b"others")
    assert source.stamp("a.txt") != before.stamp
    assert source.stamp("b.txt") is None


@pytest.mark.parametrize("part", [7, 30, 64, 10**6])
def test_ranges_hold_each_line_once(make: Make, part: int) -> None:
    where = make("source")
    lines = [f'{{"n": {n}, "text": "{"x" * (n % 40)}"}}' for n in range(60)]
    data = "\n".join(lines).encode()
    put(where, "a.jsonl", data)
    found = [one.content for start, stop in part_ranges("a.jsonl", len(data), part)
             for one in read_part(WatchedSource(where), "a.jsonl", start, stop, None)]  # fmt: skip
    assert found == lines


def test_a_shard_is_seen_when_it_is_placed_and_not_before(make: Make) -> None:
    where = make("destination")
    destination = open_destination(where)
    destination.stage("r1/ab.jsonl", b"x\n")
    assert "r1/ab.jsonl" not in held(where)
    destination.place("r1/ab.jsonl")
    assert held(where) == {"r1/ab.jsonl": b"x\n"}
    destination.place("r1/ab.jsonl")  # a second worker recovering the same shard
    assert held(where) == {"r1/ab.jsonl": b"x\n"}


def test_what_was_staged_in_vain_goes(make: Make) -> None:
    where = make("destination")
    destination = open_destination(where)
    destination.stage("r1/ab.jsonl", b"x\n")
    destination.discard("r1/ab.jsonl")
    destination.discard("r1/ab.jsonl")
    assert held(where) == {}
    destination.place("r1/ab.jsonl")
    assert held(where) == {}


@pytest.mark.parametrize("make", ["s3"], indirect=True)
def test_an_object_that_was_placed_by_one_who_could_not_say_so_is_not_written_over(make: Make) -> None:
    where = make("destination")
    put(where, "r1/ab.jsonl", b"first\n")
    put(where, f"{STAGING}/r1/ab.jsonl", b"first\n")
    open_destination(where).place("r1/ab.jsonl")
    assert held(where) == {"r1/ab.jsonl": b"first\n"}


def test_small_files_are_put_whole_over_what_is_there(make: Make) -> None:
    where = make("destination")
    destination = open_destination(where)
    destination.put("r1/tombstones.json", b"1")
    destination.put("r1/tombstones.json", b"2")
    assert held(where) == {"r1/tombstones.json": b"2"}
    assert destination.readable() is True  # moto does not check permissions, and root may read everything
    assert held(where) == {"r1/tombstones.json": b"2"}


def test_a_place_that_does_not_answer_is_said_and_nothing_of_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("s3fs", reason="the extra `s3` is not installed")
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    for name, value in {"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_ACCESS_KEY_ID": "x",
                        "AWS_SECRET_ACCESS_KEY": "x", "AWS_MAX_ATTEMPTS": "1"}.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    where = open_location("s3://quartermain/notes")
    with pytest.raises(SourceUnavailable) as caught:
        list(WatchedSource(where).look())
    with pytest.raises(Unwritable) as other:
        open_destination(where).stage("r1/x", b"")
    assert "quartermain" not in str(caught.value) + str(other.value)


def test_a_hundred_thousand_files_in_one_folder_are_seen_one_by_one(tmp_path: Path) -> None:
    """Nothing but names: files are passed on as they are listed."""
    count = 100_000 if os.environ.get("INCOGNOTE_SOAK") == "full" else 5_000
    for number in range(count):
        (tmp_path / f"{number:06}.txt").touch()
    seen = WatchedSource(open_location(str(tmp_path))).look()
    assert next(seen).name == "000000.txt"
    assert sum(1 for _ in seen) == count - 1


def test_a_sink_that_is_not_there_and_a_store_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailable):
        WatchedSource(open_location(str(tmp_path / "absent")))
    with pytest.raises(SettingError):
        open_location("ftpx://somewhere")


@pytest.mark.parametrize(("url", "extra"), [("gs://b/x", "gcs"), ("az://b/x", "azure")])
def test_stores_of_other_vendors_are_opened_by_name(url: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their packages are imported by name. The error for a missing package names its extra."""
    import fsspec

    def absent(*words: Any, **more: Any) -> Any:
        raise ImportError

    monkeypatch.setattr(fsspec, "url_to_fs", absent)
    with pytest.raises(MissingExtra, match=extra):
        open_location(url)


def test_a_lab_that_cannot_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    destination = FolderDestination(tmp_path / "destination")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("incognote.runs.destination.os.fsync", full)
    for write in (destination.stage, destination.put):
        with pytest.raises(Unwritable, match="No space left"):
            write("r1/ab.jsonl", b"x")
    assert held(open_location(str(tmp_path / "destination"))) == {}
