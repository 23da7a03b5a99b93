"""Scans one after another, and one scan of many pages: memory does not grow with their number."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont
from PIL.TiffImagePlugin import AppendingTiffWriter

from incognote_benchmarks.processes import Ended, Running

GROWS_MB = 48.0  # maximum growth of the peak from the fewer pages to all of them; the engines' memory varies
WARM = 16  # pages until the engines and the allocator have what they keep
PATIENT = "Ottoline Quackenbush"


def label(number: int) -> Image.Image:
    """A label of three lines, no two alike: 239,400 bytes as RGB."""
    page = Image.new("RGB", (570, 140), "white")
    draw = ImageDraw.Draw(page)
    lines = (f"Patient: {PATIENT}", f"MRN {4_711_000 + number}", "Asthma, stable. Inhaler as needed.")
    for at, line in enumerate(lines):
        draw.text((12, 12 + 42 * at), line, font=ImageFont.load_default(26), fill="black")
    return page


def as_files(folder: Path, count: int) -> None:
    for number in range(count):
        label(number).save(folder / f"{number}.png", dpi=(200, 200))


def as_one_file(folder: Path, count: int) -> None:
    with AppendingTiffWriter(str(folder / "labels.tif"), True) as out:
        for number in range(count):
            label(number).save(out, "TIFF", compression="tiff_lzw", dpi=(200, 200))
            out.newFrame()


def deidentified(folder: Path, count: int, make: Any) -> Ended:
    """Run `incognote deid` on that many pages and return its result."""
    source = folder / "source"
    source.mkdir(parents=True)
    make(source, count)
    done = Running(folder / "home", "deid", source, "--out", folder / "out", "--detectors", "rules", "--json").ends()
    done_with = done.data["released"] + done.data["review"]  # a file of many labels is nearly all identifiers
    assert done_with == done.data["records"] == len(list(source.iterdir()))
    manifest = json.loads((folder / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert PATIENT not in json.dumps(manifest)
    return done


@pytest.mark.parametrize(("kind", "make", "pages"), [("files", as_files, 1_000), ("pages_of_a_file", as_one_file, 200)])
def test_memory_does_not_grow_with_the_pages(
    kind: str, make: Any, pages: int, tmp_path: Path, full: bool, figures: dict[str, Any]
) -> None:
    most = pages if full else 36
    least = max(WARM, most // 10)
    few, many = (deidentified(tmp_path / str(count), count, make) for count in (least, most))
    figures[f"scans_{kind}"] = {
        "bound": f"the peak grows by less than {GROWS_MB:g} MB",
        **{f"{name}_{count}": value for count, one in ((least, few), (most, many)) for name, value in (
            ("peak_mb", one.peak_mb), ("seconds", one.seconds), ("cpu_seconds", one.cpu_seconds))},
    }  # fmt: skip
    assert many.peak_mb - few.peak_mb < GROWS_MB, figures
