"""Corpus readers list invalid documents by id and never treat them as documents without PHI."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import MalformedRecord, UsageError
from incognote.evaluation.corpus import CorpusProblem, Gold, LabeledSpan, Pair, pairs, read_gold
from incognote.evaluation.scores import evaluate
from incognote.nouns import Span, Text

Write = Callable[[str, list[Any]], Path]


def row(name: str, text: str = "Ruth Hale", labels: list[tuple[int, int, str]] | None = None) -> dict[str, Any]:
    return {"id": name, "text": text, "spans": [(0, 4, "PERSON")] if labels is None else labels}


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        (row("bad", labels=[(0, 4, "PERSON"), (5, 10, "PERSON")]), "span 2 of 5..10 does not fit a text of 9"),
        (row("bad", labels=[(4, 4, "PERSON")]), "span 1 of 4..4 does not fit"),
        (row("bad", labels=[(-1, 4, "PERSON")]), "span 1 of -1..4 does not fit"),
        (row("bad", labels=[(True, 4, "PERSON")]), "span 1 needs a start, an end, and a type"),
        (row("bad", labels=[(0, 4, "")]), "span 1 needs a start, an end, and a type"),
        ({"id": "bad", "text": "Ruth", "spans": [{"start": 0, "end": 4, "type": "X", "text": "Rose"}]}, "not match"),
        ({"id": "bad", "text": "Ruth", "spans": "none"}, "`spans` is not a list"),
        ({"id": "bad", "text": "Ruth", "spans": [7]}, "span 1 is not an object"),
        ({"id": "bad", "text": "Ruth"}, "no gold"),
        ({"id": "bad", "spans": []}, "no text"),
        (row("good"), "the id occurs twice"),
    ],
)
def test_a_gold_document_that_does_not_fit_is_a_problem_and_is_not_scored(jsonl: Write, bad: Any, what: str) -> None:
    path = jsonl("gold.jsonl", [row("good"), bad])
    good, problem = read_gold(path)
    assert good == Gold("good", "Ruth Hale", (LabeledSpan(0, 4, "PERSON"),))
    assert isinstance(problem, CorpusProblem)
    assert problem.id == bad["id"]
    assert what in problem.what
    assert not problem.scored
    assert "Ruth" not in problem.what


def test_a_bad_gold_span_takes_its_document_out_of_the_scores(jsonl: Write) -> None:
    path = jsonl("gold.jsonl", [row("good"), row("bad", labels=[(0, 99, "PERSON")])])
    report = evaluate(path, detect=lambda texts: [[] for _ in texts])
    assert (report.documents, report.figures["recall"].of) == (1, 4)
    assert [(p.id, p.scored) for p in report.problems] == [("bad", False)]


@pytest.mark.parametrize("line", [b"{", b"[1]", b'{"id": "\xff"}', b'{"text": "x"}', b'{"id": null}', b"[" * 100_000])
def test_a_broken_line_is_a_problem_named_by_its_number(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_bytes(b'{"id": "good", "text": "", "spans": []}\n\n' + line + b"\n")
    assert [one.id for one in read_gold(path)] == ["good", "line 2"]


def test_gold_may_be_compressed_and_ids_may_be_numbers(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"id": 7, "text": "Ruth", "spans": [{"start": 0, "end": 4, "type": "PERSON"}]}'))
    assert [one.id for one in read_gold(path)] == ["7"]
    assert evaluate(path, detect=lambda texts: [[] for _ in texts]).corpus == "gold"


def test_a_file_that_cannot_be_read_is_a_usage_error_without_its_folder(tmp_path: Path) -> None:
    (tmp_path / "broken.gz").write_bytes(b"no gzip")
    for name in ("absent.jsonl", "broken.gz"):
        with pytest.raises(UsageError, match=name):
            list(read_gold(tmp_path / name))


@pytest.mark.parametrize(
    "prediction",
    [
        None,
        {"id": "a", "error": "quarantine"},
        {"id": "a", "spans": [(0, 99, "PERSON")]},
        {"id": "a", "spans": None},
        {"id": "a", "spans": [(0, 4, "PERSON")], "error": "half of it"},
    ],
)
def test_a_missing_failed_or_misfitting_prediction_counts_as_nothing_found(jsonl: Write, prediction: Any) -> None:
    gold = jsonl("gold.jsonl", [row("a")])
    found = jsonl("found.jsonl", [prediction] if prediction else [])
    problem, pair = pairs(gold, found)
    assert isinstance(problem, CorpusProblem)
    assert (problem.id, problem.scored) == ("a", True)
    assert pair == Pair("a", "Ruth Hale", (LabeledSpan(0, 4, "PERSON"),), ())


def test_predictions_may_come_in_any_order_and_strangers_are_named(jsonl: Write) -> None:
    gold = jsonl("gold.jsonl", [row("a"), row("b", labels=[])])
    said = [
        {"id": "c", "spans": []},
        {"id": "b", "spans": []},
        {"id": "a", "spans": [(5, 9, "PERSON")]},
        "what?",
        {"id": "a", "spans": []},
    ]
    seen = list(pairs(gold, jsonl("found.jsonl", said)))
    assert {one.id: one.found for one in seen if isinstance(one, Pair)} == {
        "a": (LabeledSpan(5, 9, "PERSON"),),
        "b": (),
    }
    assert [one.id for one in seen if isinstance(one, CorpusProblem)] == ["prediction line 4", "prediction line 5", "c"]


def test_a_text_on_which_the_detector_fails_is_named_and_the_others_of_its_batch_are_kept(jsonl: Write) -> None:
    gold = jsonl("gold.jsonl", [row("a"), row("b", text="Bad text"), row("c"), {"id": "d"}])

    def detect(texts: Sequence[str]) -> list[list[Span]]:
        if "Bad text" in texts:
            raise MalformedRecord("no")
        return [[Span(Text(text), 0, 4, "PERSON")] for text in texts]

    seen = list(pairs(gold, detect=detect))
    assert {one.id: len(one.found) for one in seen if isinstance(one, Pair)} == {"a": 1, "b": 0, "c": 1}
    assert [(one.id, one.scored) for one in seen if isinstance(one, CorpusProblem)] == [("b", True), ("d", False)]


def test_predictions_and_a_detector_exclude_each_other(gold: Path, found: Path) -> None:
    with pytest.raises(UsageError, match="either"):
        list(pairs(gold))
    with pytest.raises(UsageError, match="either"):
        list(pairs(gold, found, lambda texts: []))


def test_no_repr_shows_a_text() -> None:
    assert "Ruth" not in repr(Gold("a", "Ruth", ())) + repr(Pair("a", "Ruth", (), ()))
