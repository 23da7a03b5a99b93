"""Score boxes on pages against gold boxes: `evaluate_boxes` returns a BoxReport.

The gold boxes are identifiers, unless every type is a class of the layout detector. Then only the classes are scored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from incognote.errors import UsageError
from incognote.evaluation.boxes.actions import actions as actions_of
from incognote.evaluation.boxes.classes import ClassTally, taken_by
from incognote.evaluation.boxes.ink import Ink, Pictures, ink_of
from incognote.evaluation.boxes.nouns import LabeledBox, PageFile
from incognote.evaluation.boxes.reading import pairs
from incognote.evaluation.boxes.removal import JudgedPage, judged, outside
from incognote.evaluation.boxes.scored import RELEASED, BoxReport, PageScores
from incognote.evaluation.formats.document import CorpusProblem
from incognote.evaluation.intervals import Figure, share
from incognote.evaluation.metrics.tally import RESAMPLES, Column, DocumentTally, Sums
from incognote.pages.layout import KINDS

USUAL_IOU = 0.5


def evaluate_boxes(
    gold: str | Path,
    found: str | Path,
    *,
    images: str | Path | None = None,
    actions: str | Path | None = None,
    iou: float = USUAL_IOU,
    corpus: str | None = None,
    synthetic: bool | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> BoxReport:
    """Score the boxes that were found on pages.

    Args:
        gold, found: files as `reading.py` describes them.
        images: the folder with the files of the pages. Without it, the area of a box counts as its ink.
        actions: a file of actions on DICOM elements, as `actions.py` describes it.
        iou: the least intersection over union of a found box and the gold box that it matches.
        corpus: its name in the report; the gold file's name by default.
        synthetic: whether the pages are made up; None if that is not stated.
        resamples, seed: for the bootstrap over files.

    Raises:
        UsageError: a file cannot be read, or no gold file can be scored.
        MissingExtra: the pictures need a library that is not installed.
    """
    read = list(pairs(gold, found))
    both = [each for each in read if not isinstance(each, CorpusProblem)]
    problems = [each for each in read if isinstance(each, CorpusProblem)]
    if not both:
        reasons = "; ".join(sorted({problem.what for problem in problems})[:3]) or "the file is empty"
        raise UsageError(f"No gold, no score: no line of {Path(gold).name} can be scored ({reasons}).")
    types = {each.type for file, _ in both for each in file.boxes}
    regions = bool(types) and types <= set(KINDS)
    pictures = Pictures(images) if images is not None else None
    classes, tally, pages = ClassTally(iou), DocumentTally(), list[PageScores]()
    for file, answer in both:
        classes.add(file, answer)
        shown = list(_matched(file, answer, iou) if regions else _judged(file, answer, pictures, problems))
        tally.add(_counts(page.judged for page in shown))
        pages += shown
    return BoxReport(
        corpus=corpus or Path(gold).name.removesuffix(".gz").removesuffix(".jsonl").removesuffix(".json"),
        synthetic=synthetic,
        files=len(both),
        images=pictures is not None,
        regions=regions,
        iou=iou,
        pages=tuple(sorted(pages, key=_worst)),
        classes=classes.scores(resamples, seed),
        actions={} if actions is None else actions_of(actions),
        problems=tuple(problems),
        resamples=resamples,
        seed=seed,
        **({} if regions else _figures(tally.sums(resamples, seed), pages)),
    )


def _judged(
    gold: PageFile, found: PageFile, pictures: Pictures | None, problems: list[CorpusProblem]
) -> Iterator[PageScores]:
    """Yield the pages of a file that its boxes or its pictures show, in order."""
    count = pictures.count(gold.id) if pictures is not None else 0
    marked = {each.page for each in (*gold.boxes, *gold.words)}
    faults = [] if pictures is None or count else ["no picture in --images; areas were counted"]
    for number in sorted({1, *range(1, count + 1), *marked, *(each.page for each in found.boxes)}):
        boxes = [each for each in gold.boxes if each.page == number]
        words = [each for each in gold.words if each.page == number]
        covers = [each for each in found.boxes if each.page == number]
        ink: Ink | None = None
        if pictures is not None and count:
            page = pictures.page(gold.id, number)
            if page is None and number in marked:
                faults.append(f"no picture of page {number}; areas were counted")
            if page is not None:
                ink = ink_of(page.pixels, page.dpi[0] if page.dpi else None)
        size = gold.size if ink is None else (ink.shape[1], ink.shape[0])
        if size is not None and outside([*boxes, *words], *size):
            faults.append(f"boxes reach beyond page {number}. Were they drawn on this picture?")
        yield PageScores(gold.id, number, found.verdict, judged(boxes, words, covers, ink))
    problems.extend(CorpusProblem(gold.id, fault, scored=True) for fault in faults)


def _matched(gold: PageFile, found: PageFile, least: float) -> Iterator[PageScores]:
    """Yield the pages of a file with regions, each with whether a box of its class takes it."""
    hit: set[LabeledBox] = set()
    for name in {each.type for each in gold.boxes}:
        wanted, given = ([each for each in file.boxes if each.type == name] for file in (gold, found))
        hit.update(wanted[place] for place in taken_by(given, wanted, least) if place is not None)
    for number in sorted({1, *(each.page for each in (*gold.boxes, *found.boxes))}):
        regions = tuple((each, each in hit) for each in gold.boxes if each.page == number)
        covers = tuple(each.box for each in found.boxes if each.page == number)
        yield PageScores(gold.id, number, found.verdict, JudgedPage(regions, covers=covers))


def _worst(page: PageScores) -> tuple[int, int, str, int]:
    done = page.judged
    return done.gone - len(done.identifiers), done.kept - len(done.others), page.id, page.number


def _counts(pages: Iterable[JudgedPage]) -> dict[Column, int]:
    """Return the counts of a file's pages."""
    counts: Counter[Column] = Counter()
    for page in pages:
        counts["faint", "all"] += page.by_area
        counts["words", "all"] += len(page.others)
        counts["words", "kept"] += page.kept
        counts["tokens", "gold"] += len(page.tokens)
        counts["tokens", "right"] += sum(page.tokens)
        counts["tokens", "found"] += sum(page.tokens) + len(page.others) - page.kept
        for box, gone in page.identifiers:
            for row in (("identifiers",), ("type", box.type), ("ink", box.ink)):
                counts[*row, "all"] += 1
                counts[*row, "gone"] += gone
    return counts


def _figures(sums: Sums, pages: Sequence[PageScores]) -> dict[str, Any]:
    """Return the figures of the report that count identifiers, words, and pages."""

    def of(*row: str, part: str = "gone") -> Figure:
        made, hits = sums.share([(*row, part)], [(*row, "all")]), sums.total((*row, part))
        return share(hits, made.of) if hits in (0, made.of) else made  # the bootstrap's interval would have no width

    def rows(kind: str) -> dict[str, Figure]:
        names = {column[1] for column in sums.columns if column[0] == kind}
        ordered = sorted(names, key=lambda name: (-sums.total((kind, name, "all")), name))
        return {name: of(kind, name) for name in ordered}

    named = [page for page in pages if page.judged.identifiers]
    free = [page for page in pages if not page.judged.identifiers]
    released = [page for page in named if page.verdict == RELEASED]
    figures = {
        "identifiers_gone": of("identifiers"),
        "words_kept": of("words", part="kept"),
        "pages_clean": share(sum(page.is_clean for page in named), len(named)),
        "free_pages_touched": share(sum(bool(page.judged.covers) for page in free), len(free)),
    }
    if any(page.verdict == RELEASED for page in pages):
        figures["pages_released"] = share(sum(page.verdict == RELEASED for page in pages), len(pages))
        figures["released_pages_clean"] = share(sum(page.is_clean for page in released), len(released))
    tokens = sums.score(*([("tokens", part)] for part in ("right", "found", "gold")))
    return {
        "figures": figures, "types": rows("type"), "inks": rows("ink"),
        "tokens": tokens if sums.total(("words", "all")) else None, "by_area": sums.total(("faint", "all")),
    }  # fmt: skip
