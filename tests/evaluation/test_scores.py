"""Every score against arithmetic done by hand.

Letters and digits of the gold, and how many were found:

    n1  Ruth Hale 8 of 8, 42 0 of 2                      also found: –
    n2  Lund 4 of 4, 3/5 2 of 2                          also found: Dr 2
    n3  Mercy Hospital 5 of 13, 8841 4 of 4              also found: –
    n4  no PHI, 8 characters                             also found: Foley 5
    n5  no PHI, 7 characters                             also found: –

Totals: gold 33, covered 23, found 23 + 7 = 30.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from incognote.errors import UnknownName, UsageError
from incognote.evaluation import ScoreReport, evaluate
from incognote.nouns import Span, Text

Write = Callable[[str, list[Any]], Path]


@pytest.fixture
def report(gold: Path, found: Path) -> ScoreReport:
    return evaluate(gold, found, synthetic=True)


def test_characters_are_scored_type_blind(report: ScoreReport) -> None:
    figures = report.figures
    assert (figures["recall"].value, figures["recall"].of) == (pytest.approx(23 / 33), 33)
    assert (figures["precision"].value, figures["precision"].of) == (pytest.approx(23 / 30), 30)
    assert figures["f1"].value == pytest.approx(2 * (23 / 33) * (23 / 30) / (23 / 33 + 23 / 30))


def test_types_that_gold_lacks_count_against_precision_but_not_against_its_second_form(report: ScoreReport) -> None:
    second = report.figures["precision_in_annotated_groups"]
    assert (second.value, second.of) == (pytest.approx(23 / 28), 28)  # without the 2 characters found as OCCUPATION


def test_spans_count_as_touched_and_as_wholly_covered(report: ScoreReport) -> None:
    assert report.figures["spans_touched"].value == pytest.approx(5 / 6)
    assert report.figures["spans_covered"].value == pytest.approx(4 / 6)


def test_a_document_leaks_when_a_single_character_is_left(report: ScoreReport) -> None:
    leaking = report.figures["documents_leaking"]
    assert (leaking.value, leaking.of) == (pytest.approx(2 / 3), 3)
    assert report.figures["documents_missing_a_span"].value == pytest.approx(1 / 3)


def test_over_redaction_is_measured_on_texts_without_phi(report: ScoreReport) -> None:
    assert (report.figures["clean_texts_touched"].value, report.figures["clean_texts_touched"].of) == (0.5, 2)
    assert report.figures["clean_characters_touched"].value == pytest.approx(5 / 15)


def test_a_group_is_scored_type_blind_with_its_typed_share_beside(report: ScoreReport) -> None:
    people, places = report.groups["PERSON"], report.groups["LOCATION"]
    assert (people.recall.value, people.precision.value, people.typed.value) == (1.0, pytest.approx(12 / 17), 1.0)
    assert people.f1.value == pytest.approx(24 / 29)
    assert (places.recall.value, places.typed.value) == (pytest.approx(5 / 13), pytest.approx(5 / 13))
    assert places.spans.value == 1.0
    assert report.groups["AGE"].recall.value == 0.0
    assert report.groups["AGE"].precision.value is None
    assert report.groups["PROFESSION"].recall.value is None
    assert report.groups["PROFESSION"].precision.value == 0.0


def test_a_type_agrees_with_its_own_kin_only(report: ScoreReport) -> None:
    assert report.types["PATIENT"].typed.value == 1.0  # found as PERSON
    assert report.types["MEDICAL_RECORD_NUMBER"].typed.value == 1.0  # found as GUID
    assert report.types["HOSPITAL"].recall.value == pytest.approx(5 / 13)
    assert report.types["HOSPITAL"].typed.value == 0.0  # found as CITY


def test_rows_come_with_most_gold_first(report: ScoreReport) -> None:
    assert list(report.groups) == ["LOCATION", "PERSON", "ID", "DATE", "AGE", "PROFESSION"]


def test_a_restriction_to_types_slices_gold_and_findings(gold: Path, found: Path) -> None:
    report = evaluate(gold, found, types=["PERSON"])
    assert (report.figures["recall"].value, report.figures["recall"].of) == (1.0, 12)
    assert (report.figures["precision"].value, report.figures["precision"].of) == (pytest.approx(12 / 17), 17)
    assert (report.with_phi, report.without_phi) == (2, 2)
    assert report.figures["documents_leaking"].value == 0.0
    finer = evaluate(gold, found, types=["ORGANIZATION"])  # HOSPITAL is one of its subtypes and was found as a CITY
    assert finer.figures["recall"].value == pytest.approx(5 / 13)
    assert finer.figures["precision"].value is None


def test_a_restriction_to_an_unknown_type_is_refused(gold: Path, found: Path) -> None:
    with pytest.raises(UnknownName, match="PRESON"):
        evaluate(gold, found, types=["PRESON"])


def test_types_outside_the_catalogue_are_groups_of_their_own(jsonl: Write) -> None:
    gold = jsonl("es.jsonl", [{"id": 1, "text": "Pedro", "spans": [(0, 5, "NOMBRE")]}])
    found = jsonl("f.jsonl", [{"id": 1, "spans": [(0, 5, "PERSON")]}])
    report = evaluate(gold, found)
    assert report.figures["recall"].value == 1.0
    assert report.groups["NOMBRE"].typed.value == 0.0
    assert evaluate(gold, found, types=["NOMBRE"]).figures["recall"].value == 1.0


def test_overlapping_gold_is_counted_once(jsonl: Write) -> None:
    twice = [(0, 4, "DATE"), (2, 6, "DATE")]
    gold = jsonl("g.jsonl", [{"id": "a", "text": "123456", "spans": twice}])
    found = jsonl("f.jsonl", [{"id": "a", "spans": twice[:1]}])
    report = evaluate(gold, found)
    assert (report.figures["recall"].value, report.figures["recall"].of) == (pytest.approx(4 / 6), 6)


def test_a_detector_scores_as_its_predictions_do(gold: Path, found: Path, report: ScoreReport) -> None:
    texts = [json.loads(line)["text"] for line in gold.read_text().splitlines()]
    answers = [json.loads(line)["spans"] for line in found.read_text().splitlines()]

    def detect(asked: Sequence[str]) -> list[list[Span]]:
        return [[Span(Text(text), **span) for span in answers[texts.index(text)]] for text in asked]

    scored = evaluate(gold, detect=detect, synthetic=True)
    assert scored.measures is not None
    assert scored.measures.calibration is not None  # the spans have scores, but these predictions do not
    assert replace(scored, measures=replace(scored.measures, calibration=None)) == report


def test_the_report_says_corpus_n_and_whether_it_is_synthetic(gold: Path, found: Path, report: ScoreReport) -> None:
    assert report.provenance == "tiny (synthetic) · n = 5 documents, 3 with PHI, 2 without · 59 characters"
    unstated = evaluate(gold, found, corpus="Tiny notes", types=["AGE", "DATE"])
    assert "Tiny notes (not stated whether synthetic)" in unstated.provenance
    assert unstated.provenance.endswith("only AGE, DATE")


def test_the_json_holds_every_figure_with_its_interval_and_n(report: ScoreReport) -> None:
    told = json.loads(report.to_json())
    assert told["synthetic"] is True
    assert told["documents"] == 5
    assert told["figures"]["recall"]["value"] == pytest.approx(23 / 33)
    assert told["figures"]["recall"]["low"] <= 23 / 33 <= told["figures"]["recall"]["high"]
    assert told["groups"]["PERSON"]["precision"]["of"] == 17


def test_a_slice_that_one_document_alone_fills_has_no_interval(report: ScoreReport) -> None:
    assert report.groups["LOCATION"].recall.low is None
    assert report.groups["PERSON"].precision.low is not None


def test_the_table_prints_on_a_narrow_terminal(report: ScoreReport) -> None:
    console = Console(width=100, file=io.StringIO())
    with console.capture() as captured:
        console.print(report.table(everything=True))
    printed = captured.get()
    assert "n = 5 documents" in printed
    assert "0.697" in printed
    assert "MEDICAL_RECORD_NUMBER" in printed


def test_the_same_seed_gives_the_same_intervals(gold: Path, found: Path, report: ScoreReport) -> None:
    assert evaluate(gold, found, synthetic=True).to_json() == report.to_json()
    assert evaluate(gold, found, synthetic=True, seed=1).figures != report.figures


def test_no_gold_is_no_score(jsonl: Write, found: Path) -> None:
    empty = jsonl("empty.jsonl", [])
    unannotated = jsonl("raw.jsonl", [{"id": "n1", "text": "Ruth Hale, 42"}])
    for path in (empty, unannotated):
        with pytest.raises(UsageError, match="No gold, no score"):
            evaluate(path, found)


def test_where_nothing_is_found_f1_is_0_and_where_nothing_is_marked_it_is_none(gold: Path, jsonl: Write) -> None:
    nothing = jsonl("nothing.jsonl", [{"id": f"n{n}", "spans": []} for n in range(1, 6)])
    told = evaluate(gold, nothing)
    assert (told.figures["f1"].value, told.figures["precision"].value) == (0, None)
    assert all(row.f1.value == 0 for row in told.groups.values())
    clean = jsonl("clean.jsonl", [{"id": "n4", "text": "Foley in.", "spans": []}])
    assert evaluate(clean, jsonl("one.jsonl", [{"id": "n4", "spans": []}])).figures["f1"].value is None
