"""Every input is released, in review, in quarantine, or counted as unread. None is skipped."""

from __future__ import annotations

import gzip
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from incognote.files.quarantine import Quarantine
from incognote.runs import source as sources

Lines = Callable[..., str]
PS = b"%!PS-Adobe-3.0\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n"


def shut(monkeypatch: pytest.MonkeyPatch, name: str) -> Callable[[], None]:
    """Prevent everyone, even root, from opening a file with that name, until the returned function is called."""
    real, closed = os.open, [True]

    def refused(path: Any, *rest: Any, **more: Any) -> int:
        if closed[0] and str(path).endswith(name):
            raise PermissionError(13, "Permission denied")
        return real(path, *rest, **more)

    monkeypatch.setattr(sources.os, "open", refused)
    return lambda: closed.__setitem__(0, False)


def test_every_input_is_released_held_or_told_as_not_read(
    house: Any, lines: Lines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.put("a.jsonl", lines(1, 2) + '{"id": broken\n')
    house.put("scan.ps", PS)
    house.put("scan.txt", PS)
    house.put("ward/letter.ps", "%!PS\n(Emily Carter) show")
    house.put("README", "Dr. Emily Carter called.")
    house.put("page.jsonl", "<!DOCTYPE html>\n<html>\nEmily Carter\n</html>\n")
    house.put("table.csv", "id,note\n1,x\n")
    house.put("rows.parquet", PS)
    house.put("shut.txt")
    house.put(".writing.txt")
    os.mkfifo(house.source / "pipe.txt")
    (house.source / "out.txt").symlink_to(tmp_path / "elsewhere.txt")
    shut(monkeypatch, "shut.txt")
    done = house.run()
    assert house.held_for() == ["malformed", "unknown-data-type", *["unsupported-format"] * 6]
    assert done.states == {"released": 2, "quarantined": 8}
    ledger = house.ledger
    unread = ledger.unread(ledger.release("r1").id)
    assert sorted(unread) == [("out.txt", "link-outside"), ("pipe.txt", "special"), ("shut.txt", "unreadable")]
    records_of_a, other_files = 3, 10
    assert sum(house.counts().values()) + len(unread) == records_of_a + other_files


def test_what_is_held_keeps_its_bytes_and_says_what_it_is(house: Any) -> None:
    house.put("Carter.ps", PS)
    house.run()
    held = Quarantine(house.held / "r1", house.keyring)
    (one,) = held.items()
    contents = held.open(one)
    assert (one.kept, contents.data, contents.words["path"]) == (True, PS, f"{house.source}/Carter.ps")
    assert contents.reasons[0].detail == "PostScript, a format without a reader"


def test_a_file_that_can_be_read_again_is_read_by_the_next_worker(house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    house.put("shut.txt")
    opened = shut(monkeypatch, "shut.txt")
    assert house.run().unread == {"unreadable": 1}
    assert house.run().unread == {"unreadable": 1}  # retried without success
    opened()
    done = house.run()
    assert (done.states, done.unread) == ({"released": 1}, {})
    ledger = house.ledger
    assert ledger.unread(ledger.release("r1").id) == []


def test_a_file_that_breaks_off_keeps_what_came_before_and_is_told(
    house: Any, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    from incognote.files import inputs

    house.put("a.jsonl", lines(1, 2, 3))
    house.put("b.jsonl", lines(4))
    real, reads = inputs.at, [0]

    def at(disk: Any) -> int:
        reads[0] += 1
        if reads[0] == 3:
            raise OSError(5, "Input/output error")
        return real(disk)

    with monkeypatch.context() as patched:
        patched.setattr(inputs, "at", at)
        done = house.run()
    assert (done.states, done.unread) == ({"released": 3}, {"unreadable": 1})
    assert house.run().states == {"released": 1}  # the missing record, and no other
    assert len(house.lines()) == 4
    ledger = house.ledger
    assert ledger.unread(ledger.release("r1").id) == []


def test_a_folder_that_cannot_be_listed_stops_nothing_beside_it(house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    house.put("a.txt")
    house.put("shut/b.txt")
    real, closed = os.scandir, [True]

    def scandir(path: Any) -> Any:
        if closed[0] and str(path).rstrip("/").endswith("shut"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(sources.os, "scandir", scandir)
    assert house.run().states == {"released": 1}
    ledger = house.ledger
    release = ledger.release("r1").id
    assert ledger.unread(release) == [("shut/", "unreadable")]
    closed[0] = False
    assert house.run().states == {"released": 1}
    assert ledger.unread(release) == []


def test_a_link_that_is_gone_is_not_counted_any_more(house: Any, tmp_path: Path) -> None:
    house.put("a.txt")
    link = house.source / "out.txt"
    link.symlink_to(tmp_path / "elsewhere.txt")
    house.run()
    ledger = house.ledger
    release = ledger.release("r1").id
    assert Counter(code for _, code in ledger.unread(release)) == {"link-outside": 1}
    link.unlink()
    house.run()
    assert ledger.unread(release) == []


def test_a_file_that_changed_and_was_read_then_is_not_told_as_unread(
    build: Callable[..., Any], lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = build(batch_records=2)
    path = house.put("a.jsonl", lines(1, 2, 3, 4))
    from incognote.runs import source

    real, grown = source.read_part, []

    def read_part(*words: Any) -> Any:
        for number, one in enumerate(real(*words)):
            if number == 3 and not grown:
                grown.append(path.write_text(lines(1, 2, 3, 4, 5)))
            yield one

    monkeypatch.setattr(source, "read_part", read_part)
    assert house.run().unread == {"changed": 1}
    ledger = house.ledger
    assert ledger.unread(ledger.release("r1").id) == []
    assert house.counts() == {"released": 5}


def test_damaged_compression_is_held_and_is_not_a_file_that_cannot_be_read(house: Any) -> None:
    house.put("a.txt.gz", gzip.compress(b"a note" * 100)[:-9])
    house.put("b.txt.zst", zstandard.ZstdCompressor().compress(b"a note" * 100)[:-3])
    house.put("d.txt.zst", b"\x28\xb5\x2f\xfdno")
    house.put("whole.txt.zst", zstandard.ZstdCompressor().compress(b"a note") * 2)
    house.put("c.parquet", b"PAR1" + bytes(30) + b"PAR1")
    assert house.run().states == {"quarantined": 4, "released": 1}
    assert house.held_for() == ["gzip", "gzip", "gzip", "malformed-table"]
    assert [line["text"] for line in house.lines()] == ["a notea note"]
