"""The complete path on a tiny model: train, evaluate, export, detect."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from incognote.detectors.encoder import EncoderDetector
from incognote.errors import SettingError, UsageError
from incognote.nouns import Text

pytest.importorskip("torch", reason="needs the extra `train`: pip install 'incognote[train]'")

TEXT = "Patient: Ruth Hale\nMRN 4471902\nSeen on 3/14/2024 by Dr. Kovacs in Oslo. Started metoprolol 40 mg.\n"


def found(detector: EncoderDetector, text: str = TEXT) -> set[tuple[str, str]]:
    return {(span.type, span.text) for span in detector.detect([Text(text)])[0]}


def test_a_trained_student_finds_what_it_was_shown(exported: tuple[Path, Any]) -> None:
    folder, _ = exported
    assert {
        ("PATIENT", "Ruth Hale"),
        ("MEDICAL_RECORD_NUMBER", "4471902"),
        ("DATE", "3/14/2024"),
        ("CITY", "Oslo"),
    } <= (found(EncoderDetector(folder)))


def test_the_early_exit_finds_too(exported: tuple[Path, Any]) -> None:
    detector = EncoderDetector(exported[0], fast=True)
    assert ("PATIENT", "Ruth Hale") in found(detector)
    assert detector.detect([Text(TEXT)])[0][0].sources == ("encoder:fast",)


def test_the_bundle_says_what_the_student_says(exported: tuple[Path, Any]) -> None:
    _, told = exported
    assert told.fp32 < 1e-4
    assert min(told.parity.values()) > 0.97
    assert told.points["full"]["balanced"][0] > 0.9


def test_recall_finds_no_less_and_precision_no_more(exported: tuple[Path, Any]) -> None:
    texts = [Text(json.loads(line)["text"]) for line in (exported[0].parent / "dev.jsonl").read_text().splitlines()]

    def characters(point: Any) -> int:
        return sum(len(s) for spans in EncoderDetector(exported[0], point=point).detect(texts) for s in spans)

    assert characters("recall") >= characters("balanced") >= characters("precision") > 0


def test_batches_and_threads_change_nothing(exported: tuple[Path, Any]) -> None:
    detector = EncoderDetector(exported[0])
    texts = [Text(json.loads(line)["text"] * n) for n, line in enumerate(
        (exported[0].parent / "dev.jsonl").read_text().splitlines()
    )]  # fmt: skip
    together = [[(s.start, s.end, s.type) for s in spans] for spans in detector.detect(texts)]
    with ThreadPoolExecutor(4) as pool:
        alone = list(pool.map(lambda text: [(s.start, s.end, s.type) for s in detector.detect([text])[0]], texts))
    assert together == alone


def test_an_empty_text_and_one_of_blanks_hold_nothing(exported: tuple[Path, Any]) -> None:
    assert EncoderDetector(exported[0]).detect([Text(""), Text(" \n\t "), Text("\x00\x01")]) == [[], [], []]


def test_no_texts_no_answers(exported: tuple[Path, Any]) -> None:
    assert EncoderDetector(exported[0]).detect([]) == []


def test_the_version_is_that_of_the_weights(exported: tuple[Path, Any], tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(exported[0], copy)
    assert EncoderDetector(copy).version == EncoderDetector(exported[0]).version
    (copy / "upper.onnx").write_bytes((copy / "upper.onnx").read_bytes() + b"\0")
    assert EncoderDetector(copy).version != EncoderDetector(exported[0]).version


def test_a_broken_graph_is_an_error_with_a_remedy(exported: tuple[Path, Any], tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(exported[0], copy)
    (copy / "lower.onnx").write_bytes(b"no graph")
    with pytest.raises(SettingError, match="Export the model again"):
        EncoderDetector(copy).detect([Text(TEXT)])


def test_detecting_needs_no_torch(exported: tuple[Path, Any]) -> None:
    code = (
        "import sys; from pathlib import Path; from incognote.nouns import Text; "
        "from incognote.detectors.encoder import EncoderDetector; "
        f"print(len(EncoderDetector(Path(sys.argv[1])).detect([Text({TEXT!r})])[0]) > 2, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, exported[0]], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


def test_the_card_names_files_and_figures(exported: tuple[Path, Any]) -> None:
    card = (exported[0] / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert "`train.jsonl`" in card
    assert "| full | balanced |" in card
    assert "Ruth" not in card


def test_a_bundle_without_early_exit_has_no_fast(exported: tuple[Path, Any], tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(exported[0], copy)
    told = json.loads((copy / "bundle.json").read_text())
    del told["exits"]["fast"]
    (copy / "bundle.json").write_text(json.dumps(told))
    with pytest.raises(SettingError, match="no early exit"):
        EncoderDetector(copy, fast=True)


def test_both_are_scored_alone_and_together(exported: tuple[Path, Any]) -> None:
    from incognote_training.training.judge import judged

    reports = judged(EncoderDetector(exported[0]), exported[0].parent / "dev.jsonl", synthetic=True)
    assert set(reports) == {"rules", "encoder", "both"}
    recall = {name: report.figures["recall"].value for name, report in reports.items()}
    assert (recall["both"] or 0) >= max(recall["rules"] or 0, 0.9)


def test_nothing_of_a_note_shows_in_a_repr(exported: tuple[Path, Any]) -> None:
    from incognote_training.training.documents import read

    (document, *_) = read(exported[0].parent / "train.jsonl")
    assert "Patient" not in repr(document)
    assert document.id not in repr(document)


def test_an_export_without_gold_is_refused(exported: tuple[Path, Any], tmp_path: Path) -> None:
    from incognote_training.training.export import export
    from incognote_training.training.loop import trained

    config, student = trained(exported[0].parent / "run")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(UsageError):
        export(config, student, tmp_path / "bundle", tmp_path / "empty.jsonl")
