"""Measure the layout of pages by other hands, and policy `paper-image` beside `strict` on them.

    python -m incognote_benchmarks.pages.layout --pages build/pages/dev --out docs/measured/layout.json --name dev

The folder holds drawn pages (`render`). Regions are right if their class is and they overlap by half or more.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cv2

from incognote.formats.images import reading
from incognote.formats.images.files import gray_of
from incognote.formats.images.wholeregions import CONSIDERABLE, considerable
from incognote.pages.layout import LayoutDetector
from incognote.pages.nouns import Region
from incognote.pages.regions import RegionFinder, shipped
from incognote_benchmarks.pages.degrade import degraded
from incognote_benchmarks.pages.run import remember
from incognote_benchmarks.pages.score import covered_by, scored
from incognote_training.layout import evaluate

PAPER = {"precision": 0.91, "recall": 0.93, "f1": 0.92}
"""The image paper's Table 3, for all its classes together."""
PAPER_REMOVAL = {"precision": 0.97, "recall": 0.96, "f1": 0.97}
"""Its Table 4, of tokens."""


def measured(folder: Path, level: str = "clean", only: str = "") -> dict[str, Any]:
    """Return the figures of a folder of drawn pages.

    Args:
        level: of wear, as in `degrade`. Regions have gold only on clean pages.
        only: a part of the names of the pages.
    """
    finder, proposer = shipped(), LayoutDetector()
    both: list[tuple[Sequence[Region], Sequence[Region]]] = []
    alone: list[tuple[Sequence[Region], Sequence[Region]]] = []
    seconds: list[float] = []
    counts = dict.fromkeys(("identifiers", "gone", "other words", "kept", "regions", "regions that go"), 0)
    for path, gold, image in _pages(folder, level, only):
        hidden = cv2.imread(str(path.with_suffix(".hidden.png")))
        page = degraded(cv2.imread(str(path.with_suffix(".png"))), hidden, level, path.stem)
        read = reading.reading_of(image, 200)
        gray = gray_of(image)
        begun = time.process_time()
        found = finder.find(gray, read.words, read.codes)
        seconds.append(time.process_time() - begun)
        regions = [
            Region(each["type"], (round(x), round(y), round(x1), round(y1)))
            for each in gold["regions"]
            for x, y, x1, y1 in each["boxes"]
        ]
        both.append((found, regions))
        alone.append((proposer.find(gray), regions))
        go = considerable(read.words, found)
        row = scored(gold, page, covered_by([region.box for region in go], page))
        counts["identifiers"] += len(row["identifiers"])
        counts["gone"] += sum(gone for *_, gone in row["identifiers"])
        counts["other words"] += row["words"]
        counts["kept"] += row["kept"]
        counts["regions"] += len(found)
        counts["regions that go"] += len(go)
    return {
        "pages": len(both),
        "level": level,
        "networks": {"layout": proposer.version, "regions": RegionFinder().version},
        "seconds": {"median": round(sorted(seconds)[len(seconds) // 2], 3), "most": round(max(seconds), 3)},
        "kinds": evaluate.rows(evaluate.scored(both)),
        "first network alone": evaluate.rows(evaluate.scored(alone)),
        "paper": PAPER,
        "algorithm 1 alone": {
            "threshold": CONSIDERABLE,
            **counts,
            "identifiers gone": round(counts["gone"] / max(1, counts["identifiers"]), 3),
            "other words kept": round(counts["kept"] / max(1, counts["other words"]), 3),
            "paper": PAPER_REMOVAL,
        },
    }


def _pages(folder: Path, level: str, only: str) -> Iterator[tuple[Path, dict[str, Any], Any]]:
    from incognote.formats.images.files import ImageFile

    for path in sorted(folder.glob("*.json")):
        if only not in path.stem:
            continue
        first, second = (cv2.imread(str(path.with_suffix(suffix))) for suffix in (".png", ".hidden.png"))
        _, png = cv2.imencode(".png", degraded(first, second, level, path.stem).image)
        yield path, json.loads(path.read_text(encoding="utf-8")), ImageFile(png.tobytes()).page(1).pixels


def main() -> None:
    """Write or update the figures of one folder in a JSON file."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--pages", type=Path, required=True, help="a folder of drawn pages")
    ask.add_argument("--out", type=Path, help="a JSON file; other names in it stay")
    ask.add_argument("--name", default="dev", help="the name of the figures in it")
    ask.add_argument("--only", default="", help="pages with this in their names")
    ask.add_argument("--remember", type=Path, help="a folder for words that OCR read")
    said = ask.parse_args()
    if said.remember:
        remember(said.remember)
    figures = measured(said.pages, only=said.only)
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")
    if said.out:
        kept = json.loads(said.out.read_text(encoding="utf-8")) if said.out.exists() else {}
        said.out.write_text(json.dumps(kept | {said.name: figures}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
