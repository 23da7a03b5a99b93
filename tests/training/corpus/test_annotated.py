"""Real prose annotated by a language model: offsets only, checked against their text."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from incognote.errors import UsageError
from incognote_training.corpus import annotated

SHARED = os.environ.get("INCOGNOTE_SHARED_DATA")  # read before the tests' own home is set


def test_a_corpus_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="acibench_notes_dialogues"):
        list(annotated.read(tmp_path))


def test_another_text_than_the_annotated_one_is_refused(tmp_path: Path) -> None:
    for name in ("acibench_notes_dialogues", "mtsamples_subset"):
        row = json.dumps({"id": "D2N001", "note": "another"})
        (tmp_path / f"{name}.jsonl").write_text(row + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match="not the text that was annotated"):
        list(annotated.read(tmp_path))


@pytest.mark.shared
@pytest.mark.skipif(SHARED is None, reason="needs the open corpora in the folder that INCOGNOTE_SHARED_DATA names")
def test_every_annotated_text_is_read_with_its_spans() -> None:
    documents = list(annotated.read(str(SHARED)))
    assert len(documents) == 205
    assert all(not document.text[s:e].isspace() for document in documents for s, e, _ in document.spans)
