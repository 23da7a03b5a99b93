"""How the program Tesseract is called, limited, and missed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from incognote.errors import RecordProblem, SettingError
from incognote.pages.ocr import tesseract as module
from incognote.pages.ocr.tesseract import Tesseract

from .drawn import page, tesseract

IMAGE = np.full((30, 40), 255, np.uint8)


def _program(folder: Path, body: str) -> str:
    """A program that lists English and then does what the body says."""
    path = folder / "program"
    listing = 'if "--list-langs" in sys.argv:\n    print("List\\neng")\n    sys.exit()'
    path.write_text(f"#!{sys.executable}\nimport os, sys, time\n{listing}\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_a_missing_program_is_named_with_its_remedy() -> None:
    with pytest.raises(SettingError, match="no-such-program, which is not on the PATH: install Tesseract"):
        Tesseract("no-such-program").read(IMAGE, ["en"], "page")


def test_missing_data_is_named_with_its_remedy(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"install ara\.traineddata"):
        Tesseract(_program(tmp_path, "")).read(IMAGE, ["en", "ar"], "page")


def test_the_image_goes_to_the_standard_input_and_no_secret_to_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INCOGNOTE_KEY", "secret")
    seen = tmp_path / "seen"
    body = f"""
data = sys.stdin.buffer.read()
open({str(seen)!r}, "w").write(repr((data[:15], len(data), dict(os.environ), sys.argv[1:])))
print("5\\t1\\t1\\t1\\t1\\t1\\t2\\t3\\t500\\t6\\t91.5\\tAna")
"""
    [word] = Tesseract(_program(tmp_path, body)).read(IMAGE, ["en-US"], "sparse")
    text = seen.read_text()

    assert "b'P5 40 30 255\\n" in text
    assert str(30 * 40 + len("P5 40 30 255\n")) in text
    assert "'OMP_THREAD_LIMIT': '1'" in text
    assert "secret" not in text
    assert "'-', '-', '--oem', '1', '--psm', '11'" in text
    assert (word.text, word.box, word.confidence) == ("Ana", (2, 3, 40, 9), 0.915)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the processor time of another process")
def test_a_program_that_never_ends_is_stopped(tmp_path: Path) -> None:
    with pytest.raises(RecordProblem, match="stopped after 1 s"):
        Tesseract(_program(tmp_path, "while True: pass"), seconds=0).read(IMAGE, ["en"], "page")


def test_a_program_that_only_waits_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RecordProblem, match="within 10 s"):
        Tesseract(_program(tmp_path, "time.sleep(60)"), seconds=0).read(IMAGE, ["en"], "page")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of another process")
def test_a_program_that_takes_too_much_memory_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MEMORY", 2**28)
    with pytest.raises(RecordProblem, match="exit status 1"):
        Tesseract(_program(tmp_path, "time.sleep(0.5)\nx = bytearray(2**29)")).read(IMAGE, ["en"], "page")


def test_an_image_that_is_too_long_is_refused_before_it_is_read() -> None:
    with pytest.raises(RecordProblem, match="reduce its resolution"):
        Tesseract().read(np.zeros((1, module.SIDE + 1), np.uint8), ["en"], "page")


def test_accents_are_read_with_the_data_of_their_language() -> None:
    image = page((30, 30, "Íñigo Muñoz, médico"), size=(560, 120), letters=44)

    assert [word.text for word in tesseract().read(image, ["es"], "line")] == ["Íñigo", "Muñoz,", "médico"]


def test_nothing_is_written_to_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    tesseract().read(page((30, 30, "Winslow"), size=(300, 120)), ["en"], "page")

    assert os.listdir(tmp_path) == []
