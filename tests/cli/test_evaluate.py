"""`incognote evaluate` and `incognote experiment report`, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from incognote.evaluation.experiments.cell import hash_of_path
from incognote.evaluation.experiments.results import CellHead, Results, ScoredLabel

from .conftest import Run

TEXT = "Dr. Emily Carter on 03/16/2025, aged 61."
SPANS = [(4, 16, "CLINICIAN"), (20, 30, "DATE"), (37, 39, "AGE")]


def lines(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def spans(*numbers: int) -> list[dict[str, object]]:
    return [dict(zip(("start", "end", "type"), SPANS[n], strict=True)) for n in numbers]


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return lines(tmp_path / "gold.jsonl", *({"id": f"{n}", "text": TEXT, "spans": spans(0, 1, 2)} for n in range(3)))


@pytest.fixture
def preds(tmp_path: Path) -> tuple[Path, Path]:
    one = lines(tmp_path / "one.jsonl", *({"id": f"{n}", "spans": spans(0, 1)} for n in range(3)))
    return one, lines(tmp_path / "two.jsonl", *({"id": f"{n}", "spans": spans(0)} for n in range(3)))


def test_the_table_is_short_and_metrics_all_shows_the_rest(run: Run, gold: Path, preds: tuple[Path, Path]) -> None:
    short = run("evaluate", gold, "--pred", preds[0]).out
    whole = run("evaluate", gold, "--pred", preds[0], "--metrics", "all").out
    for line in ("Characters: recall", "Spans, exact boundaries", "Tokens", "RedactOR, similarity ≥ 0.6", "PERSON"):
        assert line in short
    assert "confused: gold" not in short
    assert "confused: gold" in whole
    assert "CLINICIAN" in whole


def test_the_json_always_has_every_measure(run: Run, gold: Path, preds: tuple[Path, Path]) -> None:
    told = run("evaluate", gold, "--pred", preds[0], "--json").data
    assert told["measures"]["spans"]["rows"]["strict"]["all"]["score"]["recall"]["value"] == pytest.approx(2 / 3)
    assert told["measures"]["redactor"]["document_recall"]["value"] == 0
    assert (told["measures"]["calibration"], told["meaning"]) == (None, None)


def test_several_predictions_are_compared_under_their_names(run: Run, gold: Path, preds: tuple[Path, Path]) -> None:
    asked = ("evaluate", gold, "--pred", f"best={preds[0]}", "--pred", preds[1])
    told = run(*asked, "--json").data
    assert list(told["systems"]) == ["best", "two"]
    assert told["pairs"][0]["spans"]["only_first"] == 3
    assert "minus second" in run(*asked).out


def test_predictions_that_share_a_name_and_a_page_for_several_are_refused(
    run: Run, gold: Path, preds: tuple[Path, Path], tmp_path: Path
) -> None:
    same = run("evaluate", gold, "--pred", f"a={preds[0]}", "--pred", f"a={preds[1]}")
    assert (same.code, "two files are named a" in same.err) == (2, True)
    page = run("evaluate", gold, "--pred", preds[0], "--pred", preds[1], "--html", tmp_path / "p.html")
    assert (page.code, "Give a single --pred" in page.err) == (2, True)


def test_the_gold_may_be_of_any_format_and_its_format_be_named(run: Run, gold: Path, preds: tuple[Path, Path]) -> None:
    folder = gold.with_name("brat")
    run("convert", gold, folder, "--to", "brat")
    figures = [
        run("evaluate", *given, "--pred", preds[0], "--json").data["figures"]
        for given in ((gold,), (folder,), (folder, "--from", "brat"))
    ]
    assert figures[0] == figures[1] == figures[2]
    wrong = run("evaluate", gold, "--from", "nothing", "--pred", preds[0])
    assert (wrong.code, "no format named 'nothing'" in wrong.err) == (2, True)


def test_ids_and_types_in_brackets_are_shown_as_they_are(run: Run, tmp_path: Path) -> None:
    span = {"start": 0, "end": 3, "type": "[/bold]"}
    gold = lines(tmp_path / "gold.jsonl", {"id": "[/red]", "text": TEXT, "spans": [span]})
    found = lines(tmp_path / "found.jsonl", {"id": "[/green]", "spans": [span]})
    done = run("evaluate", gold, "--pred", found, "--metrics", "all", "--resamples", "5")
    assert done.code == 1
    assert all(name in done.out for name in ("[/bold]", "[/red]", "[/green]"))


def test_a_gold_that_is_not_complete_is_said_to_be_none(run: Run, gold: Path, tmp_path: Path) -> None:
    row = {"id": "0", "text": TEXT, "spans": spans(0), "provenance": [{"by": "Ada", "complete": False}]}
    grown = lines(tmp_path / "grown.jsonl", row)
    assert "is not complete" in run("evaluate", grown, "--pred", grown).err
    assert "is not complete" not in run("evaluate", gold, "--pred", gold).err


def test_an_embedder_nobody_knows_is_refused(run: Run, gold: Path, preds: tuple[Path, Path]) -> None:
    done = run("evaluate", gold, "--pred", preds[0], "--embedder", "nobody")
    assert (done.code, "embedder" in done.err) == (2, True)


def test_an_experiment_s_report_is_written_where_asked(run: Run, gold: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra evaluation")
    results = Results(tmp_path / "tiny.results")
    results.cells.mkdir(parents=True)
    corpus = {"name": "gold", "path": results.relative(gold), "synthetic": True, "split": "dev", "documents": 3}
    facts = {"corpus": hash_of_path(gold), "detectors": ["rules"], "code": "c"}
    taken = {"calls": 0, "from_recording": 0, "tokens_in": 0, "tokens_out": 0, "usd": 0.0}
    head = CellHead("a" * 16, "gold:rules", "spec", corpus, facts, {}, taken, 0)
    results.keep(head, ["0", "1", "2"], [[ScoredLabel(*SPANS[0], 0.9)]] * 3)
    done = run("experiment", "report", results.folder, "--no-texts", "--out", tmp_path / "out", "--json")
    assert Path(done.data["page"]) == tmp_path / "out" / "report.html"
    assert Path(done.data["json"]).exists()
    assert all(Path(picture).exists() for picture in done.data["figures"])
    assert "Carter" not in (tmp_path / "out" / "report.html").read_text()
    quoting = run("experiment", "report", results.folder)
    assert "as PHI" in quoting.err
    assert "Carter" not in quoting.err + quoting.out
    assert "03/16/2025" in (results.folder / "report" / "report.html").read_text()
