"""The corpus file: complete, deterministic, separate from the evaluation data, and with its figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from incognote.errors import ImpossibleSpan, MalformedRecord
from incognote.evaluation.corpus import Gold, read_gold
from incognote.evaluation.formats.document import LabeledSpan
from incognote_training.config import Synth
from incognote_training.corpus.document import Document, read_line
from incognote_training.corpus.making import Sheet, documents, make
from incognote_training.corpus.overlap import Measured

pytest.importorskip("faker", reason="the generator draws names from Faker: pip install 'incognote[distill]'")

DEVELOPMENT = Path(__file__).parents[2] / "data" / "notes.jsonl"
FEW = Synth(n=60, seed=5, handwritten=False)


def test_the_file_is_the_same_for_the_same_seed_and_evaluate_reads_it(tmp_path: Path) -> None:
    figures = make(FEW, tmp_path / "a.jsonl")
    make(FEW, tmp_path / "b.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    gold = [one for one in read_gold(tmp_path / "a.jsonl") if isinstance(one, Gold)]
    assert len(gold) == figures["documents"] > 50
    assert sum(len(one.labels) for one in gold) == figures["spans"] == sum(figures["types"].values())


def test_no_training_document_shares_eight_words_with_development() -> None:
    apart = [DEVELOPMENT]
    measured = Measured(apart)
    assert not [one.id for one in documents(Synth(n=150, seed=2), apart) if measured.shares(one.text)]


def test_documents_that_share_a_run_are_left_out(tmp_path: Path) -> None:
    every = list(documents(FEW))
    longest = max(every, key=lambda one: len(one.text))
    apart = tmp_path / "measured.jsonl"
    apart.write_text(longest.line(), encoding="utf-8")
    left = {one.id for one in documents(FEW, [apart])}
    assert longest.id not in left
    assert left < {one.id for one in every}


def test_the_handwritten_notes_come_first() -> None:
    (first, *_) = documents(Synth(n=1))
    assert first.source == "handwritten"


def test_the_sheet_counts() -> None:
    sheet = Sheet()
    sheet.add(Document("a", "Ana is well", (LabeledSpan(0, 3, "PATIENT"),), style="x", source="template+corrupted"))
    sheet.add(Document("b", "is well", (), style="y", source="template"))
    figures = sheet.figures()
    assert (figures["documents"], figures["words"], figures["clean"], figures["styles"]) == (2, 5, 0.5, 2)
    assert figures["sources"] == {"template": 2}
    assert Sheet().figures()["documents"] == 0


def test_a_document_line_comes_back() -> None:
    document = Document("a", "Zoë left", (LabeledSpan(0, 3, "PATIENT"),), "en", "note", "template")
    assert read_line(document.line()) == document
    assert json.loads(document.line())["spans"] == [{"start": 0, "end": 3, "type": "PATIENT"}]


@pytest.mark.parametrize("spans", [((2, 2),), ((0, 9),), ((1, 3), (2, 4))])
def test_spans_that_do_not_fit_make_no_document(spans: tuple[tuple[int, int], ...]) -> None:
    with pytest.raises(ImpossibleSpan):
        Document("a", "four", tuple(LabeledSpan(a, b, "CITY") for a, b in spans))


@pytest.mark.parametrize("line", ["{}", "no json", '{"id":"a","text":"x","spans":[{"start":0,"end":5,"type":"CITY"}]}'])
def test_a_line_that_is_no_document_is_told_without_its_words(line: str) -> None:
    with pytest.raises(MalformedRecord, match="needs id, text and spans"):
        read_line(line)
