"""`incognote evaluate` for boxes on pages, and for actions on DICOM elements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from incognote.cli.shell import FAILURE, say, warn
from incognote.cli.tables import print_whole
from incognote.errors import UsageError

if TYPE_CHECKING:
    from incognote.evaluation.boxes.scored import BoxReport


@dataclass(frozen=True, slots=True)
class BoxOptions:
    """The options for boxes.

    Args:
        images: the folder with the files of the pages.
        actions: the file of actions on DICOM elements.
        iou: the threshold of the classes; None for the usual one.
        out: the folder of the report; None for no report.
        pictures: whether the report shows the pages.
    """

    images: str | None = None
    actions: str | None = None
    iou: float | None = None
    out: str | None = None
    pictures: bool = True

    def named(self) -> dict[str, object]:
        """Return the options that were given, by name."""
        given = {"--images": self.images, "--actions": self.actions, "--iou": self.iou, "--out": self.out,
                 "--no-pictures": None if self.pictures else True}  # fmt: skip
        return {name: value for name, value in given.items() if value is not None}


def evaluate_pages(
    gold: str, found: Iterable[str], asked: BoxOptions, scoring: Mapping[str, Any], *, as_json: bool, overwrite: bool,
    everything: bool = False,
) -> None:
    """Score boxes, print the tables, and write the report.

    Args:
        gold: a file of boxes, or of actions.
        found: the file of boxes that were found.
        scoring: corpus, synthetic, resamples, and seed.
        everything: whether to print the scores of each class.

    Raises:
        UsageError: a file cannot be read, or the options do not fit the gold.
    """
    from incognote.evaluation.boxes.page import DATA, PAGE, write_report
    from incognote.files.atomic import require_writable

    if asked.out is not None:
        for name in (PAGE, DATA):
            require_writable(Path(asked.out) / name, overwrite=overwrite, option=f"{name} of --out")
    report = _report(gold, found, asked, scoring)
    page = None
    if asked.out is not None:
        page = write_report(report, asked.out, asked.images if asked.pictures else None)
    if as_json:
        say("evaluate", report.as_dict() | ({} if page is None else {"page": str(page)}))
    else:
        print_whole(report.table(everything))
    if page is not None and asked.images and asked.pictures and report.pages:
        warn(f"{page.name} shows pages. Treat it as PHI, or use --no-pictures.")
    if report.problems:
        raise typer.Exit(FAILURE)


def _report(gold: str, found: Iterable[str], asked: BoxOptions, scoring: Mapping[str, Any]) -> BoxReport:
    from incognote.evaluation.boxes.actions import actions
    from incognote.evaluation.boxes.reading import content_of
    from incognote.evaluation.boxes.scored import BoxReport
    from incognote.evaluation.boxes.scores import USUAL_IOU, evaluate_boxes

    files = list(found)
    if content_of(gold) == "actions":
        if files or asked.images or asked.actions:
            raise UsageError("GOLD holds actions alone. Remove FOUND, --pred, --images, and --actions.")
        name = scoring["corpus"] or Path(gold).name.removesuffix(".jsonl")
        return BoxReport(corpus=name, synthetic=scoring["synthetic"], actions=actions(gold))
    if len(files) != 1:
        raise UsageError(
            "GOLD holds boxes on pages. Name one file of boxes to score: incognote evaluate GOLD FOUND. To make one, "
            "run: incognote detect FOLDER --out FOUND"
        )
    iou = USUAL_IOU if asked.iou is None else asked.iou
    return evaluate_boxes(gold, *files, images=asked.images, actions=asked.actions, iou=iou, **scoring)
