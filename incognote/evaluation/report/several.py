"""Compare the predictions of several systems for the same annotated texts, pair by pair."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from incognote.errors import UsageError
from incognote.evaluation.corpus import Pair
from incognote.evaluation.counts import Scheme, count
from incognote.evaluation.experiments.compare import COMPARED, Versus, each_pair
from incognote.evaluation.experiments.tallies import COLUMNS
from incognote.evaluation.measures import restricted
from incognote.evaluation.metrics.paired import Difference
from incognote.evaluation.metrics.redactor import hits
from incognote.evaluation.report.scored import ScoreReport
from incognote.evaluation.scores import Chosen, evaluate

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, slots=True)
class Several:
    """The reports by name, and a comparison of every pair of systems on the same documents."""

    reports: Mapping[str, ScoreReport]
    pairs: tuple[Versus, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the reports and comparisons as a JSON-serializable dict."""
        reports = {name: json.loads(report.to_json()) for name, report in self.reports.items()}
        return {"systems": reports, "pairs": [versus.as_dict() for versus in self.pairs]}

    def table(self, everything: bool = False) -> RenderableType:
        """Return every report, then the pairs, for `rich`."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        parts: list[RenderableType] = []
        for name, report in self.reports.items():
            parts += [Text(name, style="bold"), report.table(everything), Text()]
        title = f"Differences in points with 95% intervals; McNemar over gold spans, its p for {len(self.pairs)} pairs"
        table = Table(box=None)
        for number, column in enumerate(("first", "minus second", *COMPARED, "only first", "only second", "McNemar p")):
            table.add_column(column, justify="left" if number < 2 else "right")
        for versus in self.pairs:
            known = versus.differences
            cells = (points(known[name]) if name in known else "–" for name in COMPARED)
            test = versus.spans
            only = (f"{test.only_first:,}", f"{test.only_second:,}")
            table.add_row(versus.first, versus.second, *cells, *only, chance(versus.adjusted))
        return Group(*parts, Text(title), table)


def points(difference: Difference) -> str:
    """A difference in points with its interval."""
    low, high = difference.low, difference.high
    between = "" if low is None or high is None else f" [{100 * low:+.2f}, {100 * high:+.2f}]"
    return f"{100 * difference.value:+.2f}{between}"


def chance(p: float) -> str:
    """Format a p value."""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def evaluate_several(gold: str | Path, predictions: Mapping[str, str | Path], **options: Any) -> Several:
    """Score each system and compare them: paired bootstraps over documents, McNemar over gold spans with Bonferroni.

    Args:
        gold: annotated texts.
        predictions: prediction files by system name.
        options: passed on to `evaluate`.

    Raises:
        UsageError: as for `evaluate`, or the gold has no labels.
    """
    sides: dict[str, _Side] = {}
    reports = {}
    for name, path in predictions.items():
        sides[name] = side = _Side(Chosen(options.get("types", ())))
        reports[name] = evaluate(gold, path, watch=side.add, **options)
    if any(not side.hits for side in sides.values()):
        raise UsageError("No gold, no score: the corpus has no label.")
    systems = [(name, side.hits, np.array(side.rows, np.float64)) for name, side in sides.items()]
    drawn = {name: options[name] for name in ("resamples", "seed") if name in options}
    return Several(reports, tuple(each_pair(systems, **drawn)))


class _Side:
    """The data that a comparison needs from one system: characters per document, and which gold spans it found."""

    def __init__(self, chosen: Chosen) -> None:
        self.hits: list[bool] = []
        self.rows: list[list[int]] = []
        self._chosen = chosen

    def add(self, pair: Pair, scheme: Scheme) -> None:
        counts = count(pair, self._chosen)
        self.rows.append([counts["all", column] for column in COLUMNS])
        if scheme.scored:
            self.hits += hits(restricted(pair, self._chosen), scheme)
