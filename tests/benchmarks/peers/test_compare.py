"""Side-by-side comparison of peers, and the page that shows it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import UsageError
from incognote.evaluation.scores import evaluate
from incognote_benchmarks.peers import Process, compare
from incognote_benchmarks.peers.__main__ import main

FAKE = Path(__file__).parent / "fake.py"
ROWS = [
    {"id": "a", "text": "seen RUTH", "spans": [{"start": 5, "end": 9, "type": "PATIENT"}]},
    {"id": "b", "text": "mr. x at rest", "spans": [{"start": 0, "end": 3, "type": "TITLE"}]},
    {"id": "c", "text": "fail", "spans": []},
]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def test_absent_peers_are_told_and_skipped_and_failed_texts_counted(corpus: Path) -> None:
    lines: list[str] = []
    peers = [Process("philter"), Process("fake", adapter=FAKE)]
    found = compare(corpus, peers, said=lines.append, resamples=20)
    assert [one.name for one in found.scored] == ["fake"]
    assert "pip install philter-ucsf" in found.absent["philter"]
    assert found.absent["philter"] in lines
    assert found.scored[0].failed == 1
    assert found.scored[0].report.figures["recall"].value == 1.0


def test_types_that_our_catalogue_lacks_are_counted_and_not_scored(corpus: Path) -> None:
    found = compare(corpus, [Process("fake", adapter=FAKE)], resamples=20)
    assert found.unscored == {"TITLE": 1}
    assert found.scored[0].report.figures["recall"].of == 4
    assert (found.scored[0].report.with_phi, found.scored[0].report.without_phi) == (1, 2)


def test_untyped_findings_have_no_precision_within_groups(jsonl: Callable[[str, list[Any]], Path], gold: Path) -> None:
    found = jsonl("untyped.jsonl", [{"id": "n1", "spans": [(0, 9, "UNTYPED"), (11, 13, "AGE")]}])
    figures = compare(gold, [], {"echo": found}, resamples=20).scored[0].figures
    assert figures["precision_in_annotated_groups"].value is None
    assert figures["precision"].value == 1.0


def test_a_file_of_predictions_scores_as_evaluate_scores_it(
    gold: Path, found: Path, jsonl: Callable[[str, list[Any]], Path]
) -> None:
    one = compare(gold, [], {"theirs": found}, resamples=50)
    assert one.scored[0].report.figures == evaluate(gold, found, resamples=50).figures
    assert one.scored[0].detected is None


def test_a_corpus_without_gold_gives_no_comparison(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text('{"id": "a", "text": "x"}\n')
    with pytest.raises(UsageError, match="no gold"):
        compare(empty, [])


def test_the_command_writes_figures_and_page_without_a_word_of_the_texts(corpus: Path, tmp_path: Path) -> None:
    out, page = tmp_path / "peers.json", tmp_path / "peers.md"
    asked = [str(corpus), "--peer", "scrubadub", "--resamples", "20", "--note", "Measured for a test."]
    assert main([*asked, "--out", str(out), "--page", str(page)]) == 0
    told = json.loads(out.read_text())
    (one,) = told["corpora"]
    assert [row["name"] for row in one["peers"]] == ["incognote"]
    assert list(one["absent"]) == ["scrubadub"]
    written = page.read_text()
    assert "| incognote | " in written
    assert "scrubadub did not run" in written
    assert "- Measured for a test." in written
    assert "1 TITLE" in written
    for file in (out, page):
        assert "RUTH" not in file.read_text()
        assert str(tmp_path) not in file.read_text()


def test_a_corpus_with_a_remark_has_it_beside_its_table(tmp_path: Path, corpus: Path) -> None:
    toy = corpus.rename(tmp_path / "presidio_synth_v2.jsonl")
    page = tmp_path / "peers.md"
    assert main([str(toy), "--peer", "incognote", "--resamples", "20", "--page", str(page)]) == 0
    assert "**A toy" in page.read_text()
    assert "presidio_synth_v2 (synthetic)" in page.read_text()


def test_an_unknown_peer_is_refused(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(corpus), "--peer", "presidia"]) == 2
    assert "presidia" in capsys.readouterr().err
