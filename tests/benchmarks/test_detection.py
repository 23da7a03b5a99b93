"""The benchmark runs and reports every promised figure. No test checks speed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from incognote.errors import UsageError
from incognote_benchmarks.detection import bench, memory
from incognote_benchmarks.detection.__main__ import main


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
    assert told["rules"]["spans"] >= 5  # each pass finds identifiers in both texts
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


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system keeps no status file of a process")
def test_the_peak_is_the_processs_own_and_not_that_of_the_one_that_started_it() -> None:
    held = b"x" * (128 << 20)
    script = "import runpy, sys; print(runpy.run_path(sys.argv[1])['peak_mb']())"
    done = subprocess.run(
        [sys.executable, "-c", script, str(memory.__file__)], capture_output=True, text=True, timeout=60, check=True
    )
    ours = memory.peak_mb()
    assert ours is not None
    assert 1 < float(done.stdout) < len(held) / 2**20 < ours


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not report the peak memory")
def test_without_a_status_file_the_system_is_asked(tmp_path: Path) -> None:
    (tmp_path / "status").write_text("Name:\tpython\n")
    for status in (tmp_path / "absent", tmp_path / "status"):
        told = memory.peak_mb(str(status))
        assert told is not None
        assert told > 1


def test_without_files_and_notes_there_is_nothing_to_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["--rounds", "1"]) == 2
