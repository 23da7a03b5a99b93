"""`incognote deid --also` writes the text, hOCR, and a searchable PDF of released images and scans."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from incognote import Deidentifier, Result
from incognote.errors import NotReleased

Run = Callable[..., Any]
RULES = ("--detectors", "rules")
IDENTIFIERS = ("Carter", "03/16/2025", "00412873")


@pytest.fixture(autouse=True)
def _tesseract() -> None:
    """Read the pages with Tesseract, or skip the test."""
    from incognote.errors import SettingError
    from incognote.pages.ocr.tesseract import Tesseract

    numpy = pytest.importorskip("numpy")
    pytest.importorskip("pikepdf")
    try:
        Tesseract().read(numpy.full((40, 40), 255, numpy.uint8), ["en"], "line")
    except SettingError as missing:
        pytest.skip(str(missing))


def _draw(path: Path, *lines: str, **options: Any) -> None:
    image = pytest.importorskip("PIL.Image")
    from PIL import ImageDraw, ImageFont

    page = image.new("L", (900, 60 + 60 * len(lines)), 255)
    for number, line in enumerate(lines):
        ImageDraw.Draw(page).text((30, 30 + 60 * number), line, font=ImageFont.load_default(28), fill=0)
    page.save(path, **options)


@pytest.fixture
def scans(tmp_path: Path) -> Path:
    """A page that is released, one that is held, a scan as PDF, and a note."""
    folder = tmp_path / "scans"
    folder.mkdir()
    lines = ("Seen by Dr. Emily Carter on 03/16/2025.", "MRN: 00412873", "Blood pressure is normal.")
    _draw(folder / "page.png", *lines, dpi=(150, 150))
    _draw(folder / "fax.pdf", *lines, resolution=150)
    (folder / "held.tiff").write_bytes(b"II*\0 damaged")
    (folder / "note.txt").write_text("Stable.\n")
    return folder


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def test_what_is_derived_lies_beside_each_released_page_and_is_in_the_manifest(
    run: Run, scans: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = run("deid", scans, "--out", out, "--keep-names", "--also", "text,hocr,pdf", *RULES)
    assert done.code == 3
    assert _names(out) == [
        "fax.hocr", "fax.pdf", "fax.txt", "manifest.json", "note.txt", "page.hocr", "page.pdf", "page.png", "page.txt",
    ]  # fmt: skip
    assert (out / "page.txt").read_text().startswith("Seen by [PERSON] on [DATE].\nMRN: [MEDICAL_RECORD_NUMBER]\n")
    words = ElementTree.parse(out / "page.hocr").getroot().itertext()
    assert not [word for word in IDENTIFIERS if word in " ".join(words)]
    [page] = pytest.importorskip("pypdfium2").PdfDocument(out / "page.pdf")
    searched = page.get_textpage().get_text_range()
    assert "Blood pressure is normal." in searched
    assert not [word for word in IDENTIFIERS if word in searched]
    manifest = json.loads((out / "manifest.json").read_text())
    assert {each["name"]: each["of"] for each in manifest["derived"]} == {
        "fax.hocr": "fax.pdf", "fax.txt": "fax.pdf",
        "page.hocr": "page.png", "page.pdf": "page.png", "page.txt": "page.png",
    }  # fmt: skip
    assert [each["name"] for each in manifest["outputs"]] == ["fax.pdf", "note.txt", "page.png"]
    assert done.err.count("--also") == 1
    assert "Released without: 1 record" in done.err


def test_a_page_that_a_person_must_review_leaves_nothing(
    run: Run, scans: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from incognote.formats.images import reading

    real = reading.reading_of
    monkeypatch.setattr(reading, "reading_of", lambda pixels, dpi: replace(real(pixels, dpi), quality=0.3))
    done = run("deid", scans / "page.png", "--out", tmp_path / "out", "--also", "text,hocr,pdf", "--json", *RULES)
    assert (done.code, done.data["review"], done.data["reasons"]["review"]) == (3, 1, {"poor-reading": 1})
    assert _names(tmp_path / "out") == ["manifest.json"]
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["derived"] == []


def test_without_the_option_nothing_is_derived(run: Run, scans: Path, tmp_path: Path) -> None:
    done = run("deid", scans, "--out", tmp_path / "out", "--keep-names", *RULES)
    assert _names(tmp_path / "out") == ["fax.pdf", "manifest.json", "note.txt", "page.png"]
    assert "derived" not in json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert "--also" not in done.err


@pytest.mark.parametrize("wrong", ["word", "text,word", "", ",", "TEXT"])
def test_another_word_is_an_error_before_anything_is_read(run: Run, scans: Path, tmp_path: Path, wrong: str) -> None:
    done = run("deid", scans, "--out", tmp_path / "out", "--also", wrong)
    assert done.code == 2
    assert "--also: name one or more of text, hocr, pdf" in done.err
    assert not (tmp_path / "out").exists()


def test_it_needs_a_place_to_write_to(run: Run, scans: Path) -> None:
    done = run("deid", scans / "page.png", "--also", "text")
    assert done.code == 2
    assert "Add --out FOLDER" in done.err


def test_a_single_page_has_it_beside_its_file(run: Run, scans: Path, tmp_path: Path) -> None:
    done = run("deid", scans / "page.png", "--out", tmp_path / "new.png", "--also", "hocr", "--also", "text", *RULES)
    assert done.code == 0
    assert {"new.hocr", "new.png", "new.png.manifest.json", "new.txt"} <= set(_names(tmp_path))


def test_a_resumed_run_keeps_what_was_derived_and_asks_for_the_same(run: Run, scans: Path, tmp_path: Path) -> None:
    out, held = tmp_path / "out", tmp_path / "held"
    os.remove(scans / "held.tiff")
    given = ("deid", scans, "--out", out, "--quarantine", held, "--also", "text,pdf", *RULES)
    assert run(*given).code == 0
    first = json.loads((out / "manifest.json").read_text())
    (out / "manifest.json").unlink()
    files = {name: (out / name).read_bytes() for name in _names(out)}
    assert run(*given, "--resume").code == 0
    again = json.loads((out / "manifest.json").read_text())
    assert (again["derived"], again["outputs"]) == (first["derived"], first["outputs"])
    assert len(again["derived"]) == 3
    assert {name: (out / name).read_bytes() for name in files} == files
    assert _names(out) == sorted([*files, "manifest.json"])
    other = run("deid", scans, "--out", out, "--quarantine", held, "--also", "text", "--resume", *RULES)
    assert other.code == 2
    assert "other settings (also)" in other.err


@pytest.fixture
def results(scans: Path) -> list[Result]:
    with Deidentifier(detectors=["rules"]) as deid:
        return [deid.deidentify(scans / "page.png"), deid.deidentify((scans / "held.tiff").read_bytes())]


def test_a_result_of_the_sdk_has_it_only_if_it_is_released(results: list[Result]) -> None:
    released, held = results
    assert released.derived("text").split("\n")[2] == "Blood pressure is normal."
    assert released.derived("pdf").startswith(b"%PDF")
    assert 'class="ocr_page"' in released.derived("hocr")
    assert not held.derivable
    with pytest.raises(NotReleased):
        held.derived("text")


@pytest.mark.skipif(sys.platform == "win32", reason="other processes need POSIX pipes")
def test_a_result_of_another_process_has_it_too(scans: Path) -> None:
    with Deidentifier(detectors=["rules"], processes=1) as deid:
        [result] = deid.batch([(scans / "page.png").read_bytes()])
    assert result.derived("text").startswith("Seen by [PERSON]")
