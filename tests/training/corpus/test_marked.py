"""The reader for notes with marks in their text."""

from __future__ import annotations

from pathlib import Path

import pytest

from incognote.errors import MalformedRecord
from incognote_training.corpus import marked
from incognote_training.corpus.overlap import Measured

NOTE = "=== a-1 | ward note | Peru | 1994\n\nSeen: ⟦PATIENT:Ana Quispe⟧, ⟦AGE:61 y⟧.\nCalm.\n\n"


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "notes.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_marks_become_spans(tmp_path: Path) -> None:
    (note,) = marked.read(written(tmp_path, NOTE))
    assert note.text == "Seen: Ana Quispe, 61 y.\nCalm."
    assert [(note.text[a:b], kind) for a, b, kind in note.spans] == [("Ana Quispe", "PATIENT"), ("61 y", "AGE")]
    assert (note.id, note.style, note.source) == ("a-1", "ward note", "handwritten")


def test_a_folder_is_read_in_order(tmp_path: Path) -> None:
    written(tmp_path, NOTE)
    (tmp_path / "b.txt").write_text(NOTE.replace("a-1", "b-1"), encoding="utf-8")
    assert [note.id for note in marked.read(tmp_path)] == ["b-1", "a-1"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("=== a-1 | no country\nx\n", "line 1: write"),
        (NOTE + NOTE, "occurs twice"),
        ("stray words\n" + NOTE, "before the first head"),
        ("=== a | b | c | d\n\n" + NOTE, "a head without a note"),
        (NOTE.replace("PATIENT", "PATEINT"), "no type PATEINT"),
        (NOTE.replace("Ana Quispe", "Ana Quispe "), "begin or end with white space"),
        (NOTE.replace("61 y⟧", "61 y"), "a malformed mark"),
        (NOTE.replace("⟦AGE:61 y⟧", "61 y⟧"), "a malformed mark"),
        (NOTE.replace("⟦AGE:", "⟦age:"), "a malformed mark"),
    ],
)
def test_what_is_malformed_is_told_by_file_and_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(MalformedRecord, match=says) as told:
        list(marked.read(written(tmp_path, text)))
    assert "notes.txt" in str(told.value)
    assert "Quispe" not in str(told.value)


def test_the_notes_of_the_project_are_well_formed() -> None:
    notes = list(marked.read())
    assert len(notes) >= 400
    assert all(note.text and note.style for note in notes)


@pytest.mark.parametrize("measuring", ["notes.jsonl", "dev_e.jsonl", "dev_f.jsonl", "heldout.jsonl"])
def test_no_note_shares_eight_words_with_one_that_measures(measuring: str) -> None:
    measured = Measured([Path(__file__).parents[2] / "data" / measuring])
    assert [note.id for note in marked.read() if measured.shares(note.text)] == []
