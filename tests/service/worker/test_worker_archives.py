"""The files of an archive are records of a worker, like the files of a folder. All of them are synthetic."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from incognote.ledger import Ledger
from incognote.runs.destination import FolderDestination
from incognote.runs.location import open_location
from incognote.runs.source import WatchedSource, read_part

KilledAt = Callable[[Any, str], AbstractContextManager[None]]
NOTE = "Seen by Dr. Emily Carter, visit %d."
RECORD = '{"id": "7", "text": "Seen by Dr. Emily Carter."}\n'


def zipped(files: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, content in files.items():
            file.writestr(name, content)
    return out.getvalue()


def tarred(files: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as file:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content.encode())
            file.addfile(entry, io.BytesIO(content.encode()))
    return out.getvalue()


FILES = {
    "Emily Carter.txt": NOTE % 1,
    "b/letter.rtf": "{\\rtf1\\ansi Seen by Dr. Emily Carter.\\par}",
    "a.jsonl": RECORD,
    "b.jsonl": RECORD,  # the same id in another file is another record
    "broken.json": "{",
    ".hidden.txt": NOTE % 2,
}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("export.zip", zipped(FILES)),
        ("export.tar", tarred(FILES)),
        ("export.tgz", gzip.compress(tarred(FILES))),
        ("export.tar.gz", gzip.compress(tarred(FILES))),
    ],
)
def test_each_file_of_an_archive_is_delivered_as_if_it_were_in_a_folder(house: Any, name: str, data: bytes) -> None:
    house.put(name, data)
    assert house.run().states == {"released": 4, "quarantined": 1}
    assert len(house.lines()) == 3
    assert {path.suffix for path in (house.destination / "r1").iterdir()} == {".jsonl", ".rtf"}
    assert house.held_for() == ["malformed"]
    assert house.whole()
    assert house.run().states == {}  # nothing is read twice


@pytest.mark.parametrize(
    ("where", "name"),
    [(FolderDestination, "stage"), (Ledger, "settle"), (FolderDestination, "place"), (Ledger, "placed")],
)
def test_a_worker_killed_at_any_step_delivers_each_file_once(
    house: Any, killed_at: KilledAt, where: type[object], name: str
) -> None:
    house.put("a.zip", zipped({f"{number}.txt": NOTE % number for number in range(5)}))
    with killed_at(where, name):
        house.run()
    house.run()
    assert sorted(line["text"][-2] for line in house.lines()) == list("01234")
    assert house.counts() == {"released": 5}
    assert house.whole()


def test_a_file_of_a_changed_archive_is_read_again_only_if_it_changed(house: Any) -> None:
    house.put("a.zip", zipped({"1.txt": NOTE % 1, "2.txt": NOTE % 2}))
    house.run()
    house.put("a.zip", zipped({"1.txt": NOTE % 1, "2.txt": NOTE % 3, "3.txt": NOTE % 4}))
    assert house.run().states == {"released": 2}


def test_an_archive_that_is_damaged_is_held_with_a_reason(house: Any) -> None:
    house.put("a.zip", zipped(FILES)[:-40])
    house.put("note.txt", NOTE % 1)
    assert house.run().states == {"released": 1, "quarantined": 1}
    assert house.held_for() == ["malformed"]


def test_an_archive_in_a_store_is_read_without_loading_it_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec")
    monkeypatch.setattr("incognote.formats.encoding.MAX_BYTES", 10)  # what fits into memory
    files = {"1.txt": "one", "2.txt": "two"}
    for name, data in (("a.zip", zipped(files)), ("b.tar.gz", gzip.compress(tarred(files)))):
        fsspec.filesystem("memory").pipe(f"/archives/{name}", data)
        watched = WatchedSource(open_location("memory://archives"))
        assert [one.content for one in read_part(watched, name, 0, None, None)] == ["one", "two"]
