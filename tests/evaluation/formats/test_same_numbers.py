"""One corpus has the same scores in two formats, as the issue requires. It uses MEDDOCAN if available."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from incognote.evaluation.convert import convert
from incognote.evaluation.formats import formats
from incognote.evaluation.scores import evaluate
from incognote.nouns import Span, Text

SHARED = os.environ.get("INCOGNOTE_SHARED_DATA")  # a folder with meddocan_dev.jsonl; read before tests change the home
WRITTEN = {"brat": "brat", "i2b2-2014": "xml", "conll": "gold.conll", "spacy": "gold.spacy", "i2b2-2006": "gold.xml"}


def scores(gold: Path, predictions: Path) -> str:
    report = json.loads(evaluate(gold, predictions, corpus="one", resamples=50).to_json())
    assert report["problems"] == []
    return json.dumps(report, sort_keys=True)


@pytest.fixture
def corpus() -> Path:
    path = Path(SHARED or "") / "meddocan_dev.jsonl"
    if not SHARED or not path.exists():
        pytest.skip("needs meddocan_dev.jsonl in the folder that INCOGNOTE_SHARED_DATA names")
    return path


@pytest.fixture
def predictions(corpus: Path, tmp_path: Path) -> Path:
    """Predictions of the rules. They do not know Spanish, but the test only checks for equal scores."""
    from incognote.detectors.rules import RulesDetector

    def line(document: dict[str, str], spans: list[Span]) -> str:
        told = [{"start": span.start, "end": span.end, "type": span.type} for span in spans]
        return json.dumps({"id": document["id"], "spans": told}) + "\n"

    read = [json.loads(one) for one in corpus.read_text(encoding="utf-8").splitlines()]
    found = RulesDetector().detect([Text(document["text"]) for document in read])
    path = tmp_path / "rules.jsonl"
    path.write_text("".join(line(document, spans) for document, spans in zip(read, found, strict=True)))
    return path


@pytest.mark.shared
def test_the_corpus_as_a_brat_folder_gives_the_same_numbers(corpus: Path, predictions: Path, tmp_path: Path) -> None:
    done = convert(corpus, tmp_path / "brat", to="brat")
    assert (done.documents, done.problems) == (250, [])
    assert scores(tmp_path / "brat", predictions) == scores(corpus, predictions)


@pytest.mark.parametrize("form", WRITTEN)
@pytest.mark.shared
def test_a_small_corpus_gives_the_same_numbers_in_every_format(form: str, tmp_path: Path) -> None:
    source = tmp_path / "gold.jsonl"
    notes = [
        ("1", "Ruth Hale, 42, of Mill Lane", [(0, 9, "PATIENT"), (11, 13, "AGE"), (18, 27, "STREET")]),
        ("2", "😀 Dr. O'Hara & Lund", [(6, 12, "DOCTOR"), (15, 19, "DOCTOR")]),
        ("3", "No fever.", []),
    ]
    rows = [{"id": i, "text": t, "spans": [{"start": a, "end": b, "type": k} for a, b, k in s]} for i, t, s in notes]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = tmp_path / "found.jsonl"
    said = [("1", 0, 4, "PERSON"), ("2", 6, 12, "CLINICIAN"), ("3", 3, 8, "CITY")]
    found.write_text(
        "".join(json.dumps({"id": i, "spans": [{"start": a, "end": b, "type": k}]}) + "\n" for i, a, b, k in said)
    )
    assert formats()[form].write is not None
    convert(source, tmp_path / "out" / WRITTEN[form], to=form)
    assert scores(tmp_path / "out" / WRITTEN[form], found) == scores(source, found)
