"""Documents come out of a worker as files of their own format, each exactly once. All of them are synthetic."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from incognote.ledger import Ledger
from incognote.runs.destination import FolderDestination
from incognote.runs.location import open_location
from incognote.service.recall import with_words

pytest.importorskip("lxml")
KilledAt = Callable[[Any, str], AbstractContextManager[None]]
LETTER = "{\\rtf1\\ansi Seen by Dr. Emily Carter, ward Tulipan %d.\\par}"
PAGE = "<!DOCTYPE html><title>Letter</title><p>Seen by Dr. Emily Carter.</p>"


def documents(house: Any) -> list[Path]:
    folder = house.destination / "r1"
    return sorted(path for path in folder.iterdir() if path.suffix != ".jsonl") if folder.exists() else []


def test_each_document_becomes_a_file_of_its_format_whose_name_says_nothing(house: Any) -> None:
    house.put("Emily Carter.rtf", LETTER % 1)
    house.put("carter.htm", PAGE)
    house.put("letter.txt", LETTER % 2)
    house.put("note.txt")
    assert house.run().states == {"released": 4}
    assert len(house.lines()) == 1
    found = {path.suffix: path.read_text() for path in documents(house)}
    assert len(documents(house)) == 3
    assert "Seen by Dr. [PERSON], ward Tulipan" in found[".rtf"]
    assert "<p>Seen by Dr. [PERSON].</p>" in found[".html"]
    assert not [path for path in documents(house) if "carter" in path.name.lower()]
    assert house.whole()


@pytest.mark.parametrize(
    ("where", "name"),
    [(FolderDestination, "stage"), (Ledger, "settle"), (FolderDestination, "place"), (Ledger, "placed")],
)
def test_a_worker_killed_at_any_step_leaves_each_document_once(
    house: Any, killed_at: KilledAt, where: type[object], name: str
) -> None:
    for number in range(5):
        house.put(f"{number}.rtf", LETTER % number)
    with killed_at(where, name):
        house.run()
    house.run()
    assert sorted(path.read_text()[-7] for path in documents(house)) == list("01234")
    assert house.counts() == {"released": 5}
    assert house.whole()


def test_documents_count_toward_the_limits_of_a_shard(build: Callable[..., Any]) -> None:
    house = build(shard_records=2, batch_records=1)
    for number in range(5):
        house.put(f"{number}.rtf", LETTER % number)
    worker = house.worker()
    sizes: list[int] = []
    taken = worker._shards.take

    def take() -> Any:
        found = taken()
        sizes.append(len(found))
        return found

    worker._shards.take = take
    house.run(worker)
    assert sizes == [2, 2, 1]


def test_an_amended_document_gets_a_tombstone_for_its_whole_file(house: Any) -> None:
    house.put("a.rtf", LETTER % 1)
    house.run()
    [before] = documents(house)
    house.put("a.rtf", LETTER % 22)
    house.run()
    [listed] = (house.destination / "tombstones").iterdir()
    [one] = map(json.loads, listed.read_text().splitlines())
    assert (one["shard"], one["line"], one["why"]) == (f"r1/{before.name}", None, "replaced")


def test_words_are_found_in_a_document_in_any_encoding_of_its_format(house: Any) -> None:
    house.put("a.rtf", LETTER.replace("Tulipan", "Tul\\u105?{\\b p}an") % 1)
    house.put("b.rtf", LETTER.replace("Tulipan", "Rose") % 2)
    house.run()
    [found] = with_words(house.ledger, open_location(str(house.destination)), "tulipan 1")
    assert found.file == "a.rtf"
