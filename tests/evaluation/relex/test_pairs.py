"""Reading gold and output: files that do not match are refused, and no message quotes a note."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import IncognoteError, UsageError
from incognote.evaluation.relex.pairs import read_pairs

GOLD: dict[str, Any] = {
    "id": "n1",
    "patient": "p",
    "text": "Seen by Wilson. Wilson left",
    "spans": [
        {"start": 8, "end": 14, "type": "CLINICIAN", "identity": "w"},
        {"start": 16, "end": 22, "type": "CLINICIAN", "identity": "w"},
    ],
}
OUT: dict[str, Any] = {
    "id": "n1",
    "text": "Seen by Chang. Wilson left",
    "spans": [
        {
            "start": 8,
            "end": 14,
            "type": "CLINICIAN",
            "identity": "1",
            "surrogate": "Chang",
            "out_start": 8,
            "out_end": 13,
        }
    ],
}
Write = Callable[..., tuple[Path, Path]]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def files(gold: list[Any], out: list[Any]) -> tuple[Path, Path]:
        paths = tmp_path / "gold.jsonl", tmp_path / "out.jsonl"
        for path, rows in zip(paths, (gold, out), strict=True):
            path.write_text(
                "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8"
            )
        return paths

    return files


def test_mentions_know_what_became_of_them(write: Write) -> None:
    ((note,), _) = read_pairs(*write([GOLD], [OUT]))
    replaced, left = note.mentions
    assert (replaced.words, replaced.surrogate, replaced.given, replaced.gold) == ("Wilson", "Chang", "1", "w")
    assert left.surrogate is None
    assert "Wilson" not in repr(note)


def test_a_place_that_only_the_machine_replaced_is_counted(write: Write) -> None:
    ((note,), _) = read_pairs(*write([GOLD | {"spans": []}], [OUT]))
    assert (note.mentions, note.extra) == ((), 1)


def test_a_mention_is_matched_with_the_replaced_span_that_overlaps_it_most(write: Write) -> None:
    wider = OUT["spans"][0] | {"start": 5, "out_start": 5, "surrogate": "by Chang"}
    ((note,), _) = read_pairs(*write([GOLD], [OUT | {"spans": [wider]}]))
    assert [mention.how for mention in note.mentions] == ["partial", "missed"]
    assert (note.mentions[0].given, note.mentions[0].surrogate) == ("1", "by Chang")


def test_a_span_that_the_policy_keeps_is_not_a_replacement(write: Write) -> None:
    kept = {"start": 16, "end": 22, "type": "CLINICIAN", "identity": None, "surrogate": "Wilson"}
    spans = [*OUT["spans"], kept | {"out_start": 15, "out_end": 21}]
    ((note,), _) = read_pairs(*write([GOLD], [OUT | {"spans": spans}]))
    assert [mention.how for mention in note.mentions] == ["exact", "kept"]
    assert (note.extra, note.findings) == (0, (("CLINICIAN", False),))


def test_notes_that_were_held_are_counted(write: Write) -> None:
    notes, held = read_pairs(*write([GOLD, GOLD | {"id": "n2"}], [OUT]))
    assert (len(notes), held) == (1, 1)


@pytest.mark.parametrize(
    ("gold", "out"),
    [
        ([GOLD], []),
        ([], [OUT]),
        ([GOLD], [OUT, OUT | {"id": "n2"}]),
        ([GOLD, GOLD], [OUT]),
        ([GOLD], [OUT | {"text": "Seen by Chang. Wilson stayed"}]),
        ([GOLD], [OUT | {"text": "Seen at Chang. Wilson left"}]),
        ([GOLD], [OUT | {"spans": [OUT["spans"][0] | {"surrogate": "Cheng"}]}]),
        ([GOLD], [OUT | {"spans": [{"start": 8}]}]),
        ([GOLD | {"spans": [{"start": 8, "end": 99, "type": "CLINICIAN", "identity": "w"}]}], [OUT]),
        (["{"], [OUT]),
        (["[]"], [OUT]),
    ],
)
def test_files_that_do_not_belong_together_are_refused_without_a_word_of_them(
    write: Write, gold: list[Any], out: list[Any]
) -> None:
    with pytest.raises(IncognoteError) as caught:
        read_pairs(*write(gold, out))
    assert not {"Wilson", "Chang", "n1", "n2"} & set(str(caught.value).replace(".", " ").split())


def test_a_missing_file_is_named_by_its_role(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="OUT cannot be read"):
        read_pairs(tmp_path / "none", tmp_path / "none")
