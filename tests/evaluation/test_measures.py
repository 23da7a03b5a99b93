"""The measures reported with the character scores, on the five notes that `test_scores` scores by hand.

By group, gold / found: n1 PERSON, AGE / PERSON. n2 PERSON, DATE / (PROFESSION, which gold lacks), PERSON, DATE.
n3 LOCATION 0-14, ID / LOCATION 0-5, ID. n4 nothing / PERSON. n5 nothing / nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incognote.errors import UsageError
from incognote.evaluation import evaluate
from incognote.evaluation.corpus import LabeledSpan
from incognote.evaluation.intervals import Figure
from incognote.evaluation.measures import Measures, redacted
from incognote.evaluation.report.several import evaluate_several

Write = Callable[[str, list[Any]], Path]
ALPHABET = "abcdefghijklmnopqrstuvwxyz"


@pytest.fixture
def measures(gold: Path, found: Path) -> Measures:
    made = evaluate(gold, found).measures
    assert made is not None
    return made


def value(figure: Figure | None) -> float | None:
    assert figure is not None
    return figure.value


def test_spans_are_scored_exact_and_by_overlap_typed_and_type_blind(measures: Measures) -> None:
    recall = {name: value(rows["all"].score.recall) for name, rows in measures.spans.rows.items()}
    assert recall["exact"] == recall["strict"] == pytest.approx(4 / 6)
    assert recall["overlap"] == recall["type"] == pytest.approx(5 / 6)
    assert value(measures.spans.rows["exact"]["all"].score.precision) == pytest.approx(4 / 6)


def test_tokens_are_scored(measures: Measures) -> None:
    assert value(measures.tokens.blind.recall) == pytest.approx(7 / 9)  # 42 in n1 and Hospital in n3 are missed


def test_all_or_nothing_recall_is_told_three_ways(measures: Measures) -> None:
    assert value(measures.redactor.document_recall) == pytest.approx(1 / 3)
    each = {name: figure.value for name, figure in measures.redactor.type_recall.items()}
    assert each == {"AGE": 0, "DATE": 1, "ID": 1, "LOCATION": 0, "PERSON": 1}
    assert value(measures.redactor.pooled_recall) == pytest.approx(4 / 6)


def test_a_type_that_gold_lacks_is_not_scored(measures: Measures) -> None:
    assert "PROFESSION" not in measures.confusion.columns
    assert measures.confusion.at("AGE", "missed") == 1
    assert measures.confusion.at("spurious", "PERSON") == 1


def test_what_is_found_in_texts_without_phi_is_told_by_group(gold: Path, found: Path) -> None:
    assert evaluate(gold, found).clean_types == {"PERSON": 1}


def test_scores_are_calibrated_where_every_finding_has_one(gold: Path, jsonl: Write) -> None:
    span = {"start": 0, "end": 9, "type": "PERSON", "score": 0.8}
    rows: list[dict[str, Any]] = [{"id": f"n{n}", "spans": [span] if n == 1 else []} for n in range(1, 6)]
    measures = evaluate(gold, jsonl("scored.jsonl", rows)).measures
    assert measures is not None
    assert measures.calibration is not None
    assert measures.calibration.findings == 1
    assert measures.calibration.error == pytest.approx(0.2)
    rows[1]["spans"] = [{"start": 12, "end": 16, "type": "CLINICIAN"}]
    half = evaluate(gold, jsonl("half.jsonl", rows)).measures
    assert half is not None
    assert half.calibration is None


def test_a_corpus_without_any_gold_has_no_scores_but_over_redaction(jsonl: Write) -> None:
    gold = jsonl("clean.jsonl", [{"id": "a", "text": "Foley out", "spans": []}])
    found = jsonl("f.jsonl", [{"id": "a", "spans": [(0, 5, "PERSON")]}])
    report = evaluate(gold, found)
    assert report.measures is None
    assert report.figures["recall"].value is None
    assert report.figures["clean_texts_touched"].value == 1


def test_a_document_whose_gold_marks_blanks_is_an_error_and_not_scored(jsonl: Write) -> None:
    rows = [
        {"id": "a", "text": "Ruth Hale", "spans": [(4, 5, "PERSON")]},
        {"id": "b", "text": "Ruth Hale", "spans": [(0, 4, "PERSON")]},
    ]
    report = evaluate(jsonl("g.jsonl", rows), detect=lambda texts: [[] for _ in texts])
    assert report.documents == 1
    assert [(p.id, p.what, p.scored) for p in report.problems] == [
        ("a", "the gold span 4..5 covers only blanks", False)
    ]
    with pytest.raises(UsageError, match="No gold, no score"):
        evaluate(jsonl("h.jsonl", rows[:1]), detect=lambda texts: [[] for _ in texts])


class Letters:
    """An embedder that sees how often each letter occurs."""

    def __init__(self) -> None:
        self.asked = 0

    def embed(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float64]]:
        self.asked += len(texts)
        return np.array([[text.lower().count(letter) for letter in ALPHABET] for text in texts], np.float64)


def test_meaning_is_measured_only_where_an_embedder_is_named_and_no_text_is_read_twice(gold: Path, found: Path) -> None:
    assert evaluate(gold, found).meaning is None
    embedder = Letters()
    meaning = evaluate(gold, found, embedder=("letters", embedder)).meaning
    assert meaning is not None
    assert 0 < meaning.utility.score < meaning.utility.f1 == pytest.approx(4 / 6)
    assert meaning.preservation is None  # with five notes, there are no ten neighbors
    assert embedder.asked == 9  # n5 is the same before and after


def test_a_redacted_text_holds_the_type_for_each_finding() -> None:
    labels = [LabeledSpan(0, 4, "PATIENT"), LabeledSpan(2, 9, "PERSON"), LabeledSpan(11, 13, "AGE")]
    assert redacted("Ruth Hale, 42 y", labels) == "[PATIENT], [AGE] y"


def test_several_files_of_predictions_are_compared_pair_by_pair(gold: Path, found: Path, jsonl: Write) -> None:
    none = jsonl("none.jsonl", [{"id": f"n{n}", "spans": []} for n in range(1, 6)])
    made = evaluate_several(gold, {"found": found, "none": none, "again": found})
    assert [(versus.first, versus.second) for versus in made.pairs] == [
        ("found", "none"), ("found", "again"), ("none", "again"),
    ]  # fmt: skip
    second = made.pairs[2]
    assert (second.spans.only_first, second.spans.only_second) == (0, 4)
    assert second.adjusted == pytest.approx(min(1, 3 * second.spans.p))
    assert second.differences["recall"].value == pytest.approx(-23 / 33)
    assert "precision" not in second.differences  # one of the two found nothing
    assert made.pairs[1].differences["recall"].value == 0
    assert set(made.as_dict()["systems"]) == {"found", "none", "again"}
