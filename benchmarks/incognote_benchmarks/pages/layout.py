"""Measure the layout detector on pages that others wrote, and policy `paper-image` beside `strict`.

    python -m incognote_benchmarks.pages.layout --pages build/pages/dev --out docs/measured/layout.json --name dev

The folder holds drawn pages (`render`). Regions are right if their class is and they overlap by half or more.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from incognote.evaluation.regions import rows
from incognote.evaluation.regions import scored as scored_regions
from incognote.formats.images import reading
from incognote.formats.images.files import ImageFile, gray_of
from incognote.formats.images.wholeregions import CONSIDERABLE, considerable
from incognote.pages.layout import LayoutDetector
from incognote.pages.nouns import Region
from incognote.pages.regions import shipped
from incognote_benchmarks.pages.run import deidentifier, pages_of, remember, shares
from incognote_benchmarks.pages.run import found as quickly_found
from incognote_benchmarks.pages.score import Scored, covered_by, scored

PAPER = {"precision": 0.91, "recall": 0.93, "f1": 0.92}
"""The image paper's Table 3, for all its classes together."""
PAPER_REMOVED = {"precision": 0.97, "recall": 0.96, "f1": 0.97}
"""Its Table 4, of tokens."""


def measured(folder: Path, only: str = "", *, strict: bool = False) -> dict[str, Any]:
    """Return the figures of a folder of drawn pages, without wear.

    Args:
        only: a part of the names of the pages.
        strict: whether `strict` is measured, too, which takes some seconds a page.
    """
    finder, proposer = shipped(), LayoutDetector()
    both: list[tuple[Sequence[Region], Sequence[Region]]] = []
    alone: list[tuple[Sequence[Region], Sequence[Region]]] = []
    seconds: list[float] = []
    names = ("strict", "paper-image") if strict else ()
    removed: dict[str, list[Scored]] = {name: [] for name in ("algorithm 1 alone", *names)}
    for name, _, gold, page in pages_of(folder, ["clean"], only):
        image = ImageFile(page.png).page(1).pixels
        deid = deidentifier(gold["language"][:2])
        with reading.languages_of_pages(deid.engine.detection.reads):
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
        whole = [region.box for region in considerable(read.words, found)]
        covers = {"algorithm 1 alone": whole}
        if strict:
            covers["strict"], *_ = quickly_found(deid, page)
            covers["paper-image"] = [*covers["strict"], *whole]
        for policy, boxes in covers.items():
            removed[policy].append(scored(gold, page, covered_by(boxes, page)))
        sys.stderr.write(f"{name}: {len(found)} regions, {len(whole)} go\n")
    return {
        "pages": len(both),
        "networks": {"layout": proposer.version, "regions": finder.version},
        "seconds of a core": {"median": round(sorted(seconds)[len(seconds) // 2], 3), "most": round(max(seconds), 3)},
        "kinds": rows(scored_regions(both)),
        "first network alone": rows(scored_regions(alone)),
        "image paper, layout": PAPER,
        "removed": {name: shares(each) for name, each in removed.items()},
        "considerable": CONSIDERABLE,
        "image paper, tokens removed": PAPER_REMOVED,
    }


def main() -> None:
    """Write or update the figures of one folder in a JSON file."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--pages", type=Path, required=True, help="a folder of drawn pages")
    ask.add_argument("--out", type=Path, help="a JSON file; other names in it stay")
    ask.add_argument("--name", default="dev", help="the name of the figures in it")
    ask.add_argument("--only", default="", help="pages with this in their names")
    ask.add_argument("--strict", action="store_true", help="measure what `strict` removes, too")
    ask.add_argument("--remember", type=Path, help="a folder for words that OCR read")
    said = ask.parse_args()
    if said.remember:
        remember(said.remember)
    figures = measured(said.pages, said.only, strict=said.strict)
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")
    if said.out:
        kept = json.loads(said.out.read_text(encoding="utf-8")) if said.out.exists() else {}
        said.out.write_text(json.dumps(kept | {said.name: figures}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
