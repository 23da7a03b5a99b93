"""The benchmark runs and tells what it promises; how fast anything is, no test says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from incognote.errors import UsageError
from incognote.evaluation.bench import bench
from incognote.evaluation.bench.__main__ import main


def test_the_benchmark_tells_speed_memory_and_start_with_their_ratios(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes, out = tmp_path / "notes.jsonl", tmp_path / "bench.json"
    notes.write_text('{"text": "Seen by Dr. Lund on 3/5/2024."}\n{"note": "MRN: 8841022"}\n', encoding="utf-8")
    assert main([str(notes), "--characters", "100", "--rounds", "1", "--out", str(out)]) == 0
    told = json.loads(out.read_text(encoding="utf-8"))
    assert told["corpus"] == {"files": ["notes.jsonl"], "texts": 2, "texts_worked": 5, "characters_worked": 111}
    for name in ("yardstick", "detect", "settle", "path"):
        assert told["rules"][name]["characters_per_second"] > 0
    assert told["rules"]["yardstick"]["of_yardstick"] == 1.0
    assert told["rules"]["spans"] >= 5  # both texts hold something in each of their turns
    assert told["philter"]["ratio"] == pytest.approx(told["rules"]["path"]["characters_per_second"] / 36_000)
    assert list(told["start"]) == ["bare interpreter", "import incognote", "incognote --help"]
    assert "times Philter's figure" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("name", "content"),
    [("absent.txt", None), ("a.jsonl", b"{"), ("b.jsonl", b'{"id": 1}\n'), ("c.jsonl", b"[7]"), ("d.txt", b"\xff")],
)
def test_a_file_without_text_is_refused_by_its_name(tmp_path: Path, name: str, content: bytes | None) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=name):
        bench([path])


def test_without_files_and_notes_there_is_nothing_to_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["--rounds", "1"]) == 2
