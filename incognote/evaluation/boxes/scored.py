"""The scores of boxes on pages, and their tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from incognote.evaluation.boxes.classes import ALL, ANY, ClassScores
from incognote.evaluation.boxes.removal import GONE, LOST, JudgedPage
from incognote.evaluation.formats.document import CorpusProblem
from incognote.evaluation.intervals import Figure
from incognote.evaluation.metrics.tally import PrecisionRecall

if TYPE_CHECKING:
    from rich.console import RenderableType

RELEASED = "release"
TITLES = {
    "identifiers_gone": "Identifiers gone",
    "words_kept": "Other words kept",
    "pages_clean": "Pages with identifiers: wholly clean",
    "free_pages_touched": "Pages without identifiers: touched",
    "pages_released": "Pages released",
    "released_pages_clean": "Released pages with identifiers: wholly clean",
}
"""What each figure is a share of, for people."""
PAPER = {
    "BERT base": (0.84, 0.83, 0.84),
    "BioBERT": (0.86, 0.85, 0.86),
    "SciBERT": (0.91, 0.87, 0.89),
    "ClinicalBERT": (0.88, 0.92, 0.90),
    "RoBERTa": (0.90, 0.89, 0.90),
    "BERT by Johnson": (0.93, 0.91, 0.92),
    "Proposed De-identification Algorithm": (0.97, 0.96, 0.97),
}
"""Precision, recall, and F1 of tokens as the image paper (YOLOv3-DLA, section III.B, Table 4) states them."""


@dataclass(frozen=True, slots=True)
class PageScores:
    """One page: its file, its number from 1, the verdict on its file, and what became of it."""

    id: str = field(repr=False)
    number: int
    verdict: str
    judged: JudgedPage

    @property
    def is_clean(self) -> bool:
        """Whether all of its identifiers are gone."""
        return self.judged.gone == len(self.judged.identifiers)

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as JSON-able data."""
        return {
            "id": self.id, "page": self.number, "verdict": self.verdict, "identifiers": len(self.judged.identifiers),
            "gone": self.judged.gone, "words": len(self.judged.others), "kept": self.judged.kept,
            "touched": bool(self.judged.covers),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class BoxReport:
    """The scores, with the facts needed to read them. It holds ids of files and no words of pages.

    Attributes:
        corpus, synthetic: what was scored, and whether its pages are made up (None: not stated).
        files: how many were scored.
        images: whether ink was counted in pictures. Otherwise, areas were.
        regions: whether the gold holds regions of a layout, of which only the classes are scored.
        iou: the threshold of the classes.
        figures: shares by name, as in `TITLES`; empty for regions.
        types, inks: the share of identifiers that are gone, by type and by kind of ink.
        tokens: precision, recall, and F1 of tokens; None if the gold has no words outside of identifiers.
        classes: the scores by class; empty if only actions were scored.
        actions: the share of required actions on DICOM elements that were done, by action.
        by_area: identifiers whose ink was not counted.
        pages: the worst first.
        problems: files with problems.
        resamples, seed: of the bootstrap.
    """

    corpus: str
    synthetic: bool | None
    files: int = 0
    images: bool = False
    regions: bool = False
    iou: float = 0.5
    figures: Mapping[str, Figure] = field(default_factory=dict)
    types: Mapping[str, Figure] = field(default_factory=dict)
    inks: Mapping[str, Figure] = field(default_factory=dict)
    tokens: PrecisionRecall | None = None
    classes: Mapping[str, ClassScores] = field(default_factory=dict)
    actions: Mapping[str, Figure] = field(default_factory=dict)
    by_area: int = 0
    pages: tuple[PageScores, ...] = ()
    problems: tuple[CorpusProblem, ...] = ()
    resamples: int = 0
    seed: int = 0

    @property
    def called(self) -> str:
        """What the gold boxes are, for people."""
        return "regions" if self.regions else "identifiers"

    @property
    def provenance(self) -> str:
        """The line printed with every score: corpus, whether it is synthetic, and n."""
        made_up = {True: "synthetic", False: "not synthetic", None: "not stated whether synthetic"}[self.synthetic]
        parts = [f"{self.corpus} ({made_up})"]
        if self.files:
            parts.append(f"n = {self.files:,} files")
        if self.pages:
            named = sum(bool(page.judged.identifiers) for page in self.pages)
            parts.append(f"{len(self.pages):,} pages, {named:,} with {self.called}")
        return " · ".join(parts)

    @property
    def method(self) -> list[str]:
        """How the figures were made, as sentences."""
        said = []
        if self.figures:
            counted = "ink, counted in the picture of its page," if self.images else "area (no pictures were given)"
            said.append(
                f"An identifier is gone if at least {GONE} of its {counted} is covered. Another word is lost if more "
                f"than {LOST} of it is covered."
            )
            if self.images and self.by_area:
                said.append(f"The area counted for {self.by_area:,} identifiers that show hardly any ink.")
        if self.classes:
            said.append(f"A found box matches a gold box if their intersection over union is at least {self.iou:g}.")
            said.append(
                f"95% intervals: percentile bootstrap over files ({self.resamples:,} resamples, seed {self.seed}), and "
                "Wilson for shares of pages, and where all or none are gone or kept."
            )
            said.append(
                "An interval of zero width means that the sample does not vary, not that the score is certain."
            )
        if self.actions:
            said.append("95% intervals of actions: Wilson.")
        return said

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON-able data."""
        names = ("corpus", "synthetic", "files", "images", "regions", "iou", "by_area", "resamples", "seed")
        tables = ("figures", "types", "inks", "classes", "actions")
        return {
            "provenance": self.provenance, "method": self.method,
            **{name: getattr(self, name) for name in names},
            **{name: {key: asdict(value) for key, value in getattr(self, name).items()} for name in tables},
            "tokens": None if self.tokens is None else asdict(self.tokens),
            "pages": [page.as_dict() for page in self.pages if not self.regions],
            "problems": [asdict(problem) for problem in self.problems],
        }  # fmt: skip

    def table(self, everything: bool = False) -> RenderableType:
        """Return the tables for `rich`; the scores of each class on request."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        parts: list[RenderableType] = [Text(self.provenance, style="italic")]
        for title, head, rows in self._tables(everything):
            made = Table(box=None)
            for number, name in enumerate((title, *head)):
                made.add_column(Text(name), justify="right" if number else "left")
            for cells in rows:
                made.add_row(*(Text(cell) for cell in cells))
            if made.row_count:
                parts += [made, Text()]
        parts += [Text(line, style="dim") for line in self.method]
        if self.classes and not (everything or self.regions):
            parts.append(Text("--metrics all: the scores of each class.", style="dim"))
        parts += [
            Text(f"problem: {problem.id}: {problem.what}" + ("" if problem.scored else " (not scored)"))
            for problem in self.problems
        ]
        return Group(*parts)

    def _tables(self, everything: bool) -> Iterator[tuple[str, tuple[str, ...], list[list[str]]]]:
        shares = ("value [95% interval]", "of")
        yield "pages", shares, [[TITLES[name], str(one), f"{one.of:,}"] for name, one in self.figures.items()]
        for title, figures in (("gone, by type", self.types), ("gone, by ink", self.inks), ("action", self.actions)):
            yield title, shares, [[name, str(one), f"{one.of:,}"] for name, one in figures.items()]
        scores = ("precision", "recall", "F1", "found", "gold")
        if self.tokens is not None:
            yield "tokens", scores, [_row("de-identification", self.tokens)]
        some = everything or self.regions
        classes = {name: one for name, one in self.classes.items() if some or name in (ALL, ANY)}
        rows = [[*_row(name, one.score), str(one.average or "–")] for name, one in classes.items()]
        yield f"class, IoU {self.iou:g}", (*scores, "AP"), rows


def _row(name: str, one: PrecisionRecall) -> list[str]:
    return [name, str(one.precision), str(one.recall), str(one.f1), f"{one.precision.of:,}", f"{one.recall.of:,}"]
