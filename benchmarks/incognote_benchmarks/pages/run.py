"""Measure what is removed from pages by other hands: identifiers whose ink is gone, words kept, pages wholly clean.

    python -m incognote_benchmarks.pages.run build/pages/dev --levels clean scan --out dev.json

The folder holds drawn pages (`render`). Every page is given to the software as a PNG file at each level.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import cv2

from incognote import Deidentifier
from incognote.agents.item import Item
from incognote.agents.stages import Planned
from incognote.agents.steps import detect, identify, merge
from incognote.evaluation.intervals import share
from incognote.formats.images import document, pagereader, reading
from incognote.formats.images.document import ImageDocument
from incognote.formats.images.page import ReadPage
from incognote.formats.pictures import Box
from incognote_benchmarks.pages.degrade import LEVELS, TestPage, degraded
from incognote_benchmarks.pages.score import Scored, covered_by, scored


class Row(Scored):
    """What became of one page. `quality` is that of the reading, or None if it is not known."""

    name: str
    level: str
    kind: str
    outcome: str
    seconds: float
    quality: float | None


def pages_of(folder: Path, levels: list[str], only: str) -> Iterator[tuple[str, str, dict[str, Any], TestPage]]:
    """Yield the name, level, gold, and test page of every drawn page."""
    for path in sorted(folder.glob("*.json")):
        if only not in path.stem:
            continue
        gold = json.loads(path.read_text(encoding="utf-8"))
        page, hidden = (cv2.imread(str(path.with_suffix(suffix))) for suffix in (".png", ".hidden.png"))
        for level in levels:
            yield path.stem, level, gold, degraded(page, hidden, level, path.stem)


@cache
def deidentifier(language: str) -> Deidentifier:
    """Return the software with its defaults, for pages in a language (ISO 639-1) and in English."""
    return Deidentifier(languages=tuple(dict.fromkeys(("en", language))))


def remember(folder: Path) -> None:
    """Keep the words that OCR read in a folder, for a second run over the same pages."""
    original = reading.reading_of
    folder.mkdir(parents=True, exist_ok=True)

    def remembered(pixels: Any, dpi: float | None) -> reading.PageReading:
        path = folder / hashlib.sha256(pixels.tobytes()).hexdigest()
        if path.exists():
            kept: reading.PageReading = pickle.loads(path.read_bytes())  # noqa: S301 -- our own file, of an earlier run
            return kept
        made = original(pixels, dpi)
        path.write_bytes(pickle.dumps(made))
        return made

    reading.reading_of = remembered


def found(deid: Deidentifier, page: TestPage) -> tuple[list[Box], str, float, float | None]:
    """Like `removed`, but without the audit and the second reader."""
    item = Item(page.png, media_type="image/png")
    began, engine = time.perf_counter(), deid.engine
    with reading.languages_of_pages(engine.detection.reads):
        opened = identify(item, lambda: engine.registry, data_type=None, longest=10**8, finding=False)
    detected = detect(opened, (), engine.detection, engine.policy)
    merged = merge(opened, detected, Planned("embedded"), {}, engine.detection, None, engine.policy)
    assert isinstance(opened.record, ImageDocument)
    spans = [s for each in merged.spans.values() for s in each if engine.policy.replaces(s.type)]
    boxes = [box for s in spans for _, box in opened.record.boxes_of(s.field, s.start, s.end)]
    reasons = [*merged.remarks, *opened.record.remarks]
    return boxes, " ".join(sorted({each.code for each in reasons})), time.perf_counter() - began, None


def removed(deid: Deidentifier, page: TestPage) -> tuple[list[Box], str, float, float | None]:
    """Return the boxes that are removed from a page, the verdict, the seconds, and the quality of the reading."""
    png = page.png
    seen: list[float] = []
    original = pagereader.read

    def noted(pixels: Any, dpi: float | None) -> ReadPage:
        made = original(pixels, dpi)
        seen.append(made.quality)
        return made

    document.read = noted  # type: ignore[attr-defined]  # to learn the quality
    began = time.perf_counter()
    result = deid.deidentify(png, media_type="image/png")
    took = time.perf_counter() - began
    document.read = original  # type: ignore[attr-defined]  # as above
    boxes = [(each.x0, each.y0, each.x1, each.y1) for each in result.boxes]
    reasons = sorted({reason.code for reason in result.verdict.reasons})
    return boxes, " ".join([result.verdict.outcome, *reasons]), took, seen[0] if seen else None


def main() -> None:
    """Run the measurement."""
    ask = argparse.ArgumentParser()
    ask.add_argument("folder", type=Path)
    ask.add_argument("--levels", nargs="*", default=list(LEVELS))
    ask.add_argument("--only", default="")
    ask.add_argument("--out", type=Path)
    ask.add_argument("--rows", type=Path, help="where to write what became of each page, as lines")
    ask.add_argument("--remember", type=Path, help="a folder for words that OCR read")
    ask.add_argument("--quick", action="store_true", help="without the audit and the second reader")
    ask.add_argument("--show", action="store_true", help="print what is left")
    ask.add_argument("--draw", type=Path, help="a folder for pictures of the pages with the boxes")
    said = ask.parse_args()
    if said.remember:
        remember(said.remember)
    rows: list[Row] = []
    for name, level, gold, page in pages_of(said.folder, said.levels, said.only):
        deid = deidentifier(gold["language"][:2])
        boxes, outcome, seconds, quality = (found if said.quick else removed)(deid, page)
        row: Row = {
            "name": name, "level": level, "kind": gold["kind"], "outcome": outcome, "seconds": seconds,
            "quality": quality, **scored(gold, page, covered_by(boxes, page)),
        }  # fmt: skip
        rows.append(row)
        if said.show:
            kept = f"kept {row['kept']} of {row['words']}"
            _say(f"== {name} {level} {outcome}, quality {quality or 0:.2f}, {seconds:.1f} s, {kept}")
            for missed in row["missed"]:
                _say(f"   left {missed}")
        if said.draw:
            _draw(said.draw / f"{name}_{level}.png", page, boxes, row)
    report = {level: summary([row for row in rows if row["level"] == level]) for level in said.levels}
    for line in _lines(report):
        _say(line)
    if said.rows:
        said.rows.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    if said.out:
        said.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _draw(path: Path, page: TestPage, boxes: Sequence[Box], row: Row) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    picture = page.image.copy() if page.image.ndim == 3 else cv2.cvtColor(page.image, cv2.COLOR_GRAY2BGR)
    for box in boxes:
        cv2.rectangle(picture, box[:2], box[2:], (0, 160, 0), 2)
    for *_, box in row["missed"]:
        cv2.rectangle(picture, box[:2], box[2:], (0, 0, 255), 3)
    cv2.imwrite(str(path), picture)


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the shares over some pages, each with its count and interval (Wilson, 95%)."""
    boxes = [each for row in rows for each in row["identifiers"]]
    free = [row for row in rows if not row["identifiers"]]
    released = [row for row in rows if row["identifiers"] and row["outcome"] == "release"]
    return {
        "pages": len(rows),
        **shares(rows),
        "gone by ink": {
            kind: _rate(*_counts(gone for _, ink, gone in boxes if ink == kind))
            for kind in sorted({ink for _, ink, _ in boxes})
        },
        "left by type": dict(Counter(kind for kind, _, gone in boxes if not gone).most_common()),
        "released pages wholly clean": _rate(sum(map(_is_clean, released)), len(released)),
        "released": _rate(sum(row["outcome"] == "release" for row in rows), len(rows)),
        "pages without identifiers touched": _rate(sum(row["touched"] for row in free), len(free)),
        "outcomes": dict(Counter(row["outcome"] for row in rows).most_common()),
        "seconds a page": round(sum(row["seconds"] for row in rows) / max(1, len(rows)), 2),
    }  # fmt: skip


def shares(rows: Sequence[Scored]) -> dict[str, Any]:
    """Return the shares of identifiers gone, of other words kept, and of pages wholly clean, as in `summary`.

    A page without identifiers is not counted as clean.
    """
    boxes = [each for row in rows for each in row["identifiers"]]
    named = [row for row in rows if row["identifiers"]]
    return {
        "all boxes gone": _rate(sum(gone for *_, gone in boxes), len(boxes)),
        "other words kept": _rate(sum(row["kept"] for row in rows), sum(row["words"] for row in rows)),
        "pages wholly clean": _rate(sum(map(_is_clean, named)), len(named)),
    }


def _is_clean(row: Scored) -> bool:
    return all(gone for *_, gone in row["identifiers"])


def _counts(those: Iterator[bool]) -> tuple[int, int]:
    listed = list(those)
    return sum(listed), len(listed)


def _rate(n: int, of: int) -> dict[str, Any]:
    return {"n": n, **share(n, of).as_dict()}


def _lines(report: dict[str, Any]) -> Iterator[str]:
    for level, each in report.items():
        yield f"{level}: {each['pages']} pages, {each['seconds a page']} s a page, {each['outcomes']}"
        rates = {f"gone: {ink}": rate for ink, rate in each["gone by ink"].items()}
        rates |= {name: rate for name, rate in each.items() if isinstance(rate, dict) and "of" in rate}
        for name, rate in rates.items():
            if rate["of"]:
                low, high = rate["low"], rate["high"]
                yield f"  {name:36} {rate['n']:5} of {rate['of']:5} = {rate['value']:.3f} [{low:.3f}, {high:.3f}]"
        yield f"  left by type: {each['left by type']}"


if __name__ == "__main__":
    main()
