"""Shared runs of eight words."""

from __future__ import annotations

import json
from pathlib import Path

from incognote_training.corpus.document import Document
from incognote_training.corpus.overlap import Measured, runs, shared

WORDS = "one two three four five six seven eight nine ten"


def test_a_text_has_a_run_for_each_place() -> None:
    assert len(list(runs(WORDS))) == 3
    assert list(runs("one two three four five six seven")) == []


def test_signs_and_case_do_not_count() -> None:
    assert list(runs(WORDS)) == list(runs(WORDS.upper().replace(" ", ",\n")))


def test_a_run_in_common_is_found(tmp_path: Path) -> None:
    path = tmp_path / "dev.jsonl"
    path.write_text(json.dumps({"id": "a", "text": f"Before that {WORDS}.", "spans": []}) + "\n", encoding="utf-8")
    measured = Measured([path])
    assert measured.shares(f"zero {WORDS}")
    assert not measured.shares("one two three four five six seven, and then eight")
    assert not Measured([]).shares(WORDS)


def test_the_share_counts_documents_that_another_resembles() -> None:
    texts = [WORDS, "zero " + WORDS, "quite another text that has its own eight words", "short"]
    assert shared(Document(str(i), text, ()) for i, text in enumerate(texts)) == 0.5
    assert shared([]) == 0.0
