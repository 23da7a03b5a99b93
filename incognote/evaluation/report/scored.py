"""The scores of one system on one corpus, and their tables for a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from incognote.evaluation.corpus import CorpusProblem
from incognote.evaluation.intervals import Figure
from incognote.evaluation.measures import Measures
from incognote.evaluation.metrics.spans import ALL, Matching
from incognote.evaluation.metrics.stream import Calibration
from incognote.evaluation.metrics.tally import PrecisionRecall
from incognote.evaluation.metrics.utility import Meaning

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

METHOD = (
    "a character is a letter or digit; 95% intervals: percentile bootstrap over documents, Wilson for shares of "
    "documents"
)


@dataclass(frozen=True, slots=True)
class SliceScores:
    """The scores of one slice: a group or a type. `spans` is the share of its gold spans touched by any finding."""

    recall: Figure
    precision: Figure
    f1: Figure
    typed: Figure
    spans: Figure


@dataclass(frozen=True, slots=True)
class ScoreReport:
    """The scores of a corpus, with the facts needed to read them. Holds ids of documents, never their words.

    Attributes:
        corpus, synthetic: what was scored, and whether its texts are made up (None: not stated).
        documents, with_phi, without_phi, characters: its size. with_phi counts the chosen types, without_phi any type.
        figures: the headline scores by name; `scores.py` explains them.
        groups, types: the same per evaluation group and per type.
        chosen: the types and groups that the scores are restricted to; empty if there is no restriction.
        problems: documents with problems, each with its id.
        clean_types: findings in texts without PHI, counted per evaluation group.
        measures: spans, tokens, the RedactOR protocol, confusion, calibration; None if the gold has no labels.
        meaning: the scores from an embedder; None without an embedder.
    """

    corpus: str
    synthetic: bool | None
    documents: int
    with_phi: int
    without_phi: int
    characters: int
    figures: Mapping[str, Figure]
    groups: Mapping[str, SliceScores]
    types: Mapping[str, SliceScores]
    chosen: tuple[str, ...]
    problems: tuple[CorpusProblem, ...]
    resamples: int
    seed: int
    clean_types: Mapping[str, int]
    measures: Measures | None
    meaning: Meaning | None

    @property
    def provenance(self) -> str:
        """The line printed with every score: corpus, whether it is synthetic, n, and which types are scored."""
        made_up = {True: "synthetic", False: "not synthetic", None: "not stated whether synthetic"}[self.synthetic]
        return (
            f"{self.corpus} ({made_up}) · n = {self.documents:,} documents, {self.with_phi:,} with PHI, "
            f"{self.without_phi:,} without · {self.characters:,} characters"
            + (f" · only {', '.join(self.chosen)}" if self.chosen else "")
        )

    def to_json(self) -> str:
        """Return everything as a JSON document."""
        return json.dumps({"provenance": self.provenance, "method": METHOD, **asdict(self)}, indent=2)

    def table(self, everything: bool = False) -> RenderableType:
        """Return the headline, spans and tokens, rows per group, and problems for `rich`; all scores on request."""
        return table(self, everything)


_TITLES = {
    "recall": "Characters: recall",
    "precision": "Characters: precision",
    "f1": "Characters: F1",
    "precision_in_annotated_groups": "Characters: precision, groups that gold annotates",
    "spans_touched": "Spans touched",
    "spans_covered": "Spans fully covered",
    "documents_leaking": "Documents that leak any character",
    "documents_missing_a_span": "Documents that leak a whole span",
    "clean_texts_touched": "Texts without PHI: touched",
    "clean_characters_touched": "Texts without PHI: characters touched",
}
_NO_WIDTH = "An interval of zero width means that the sample does not vary, not that the score is certain."
_PER_GROUP: tuple[Matching, ...] = ("strict", "partial", "overlap")
"""Within one group, where types agree, `exact` is `strict` and `type` is `overlap`."""
_WORST = 12


def table(report: ScoreReport, everything: bool = False) -> RenderableType:
    """Return the headline, spans and tokens, the rows per group, and the problems.

    Args:
        everything: also the rows per type, every measure per group, the confusion and the calibration.
    """
    from rich.console import Group
    from rich.text import Text

    headline = _table("", "value", "95% interval", "of")
    for name, figure in report.figures.items():
        headline.add_row(_TITLES[name], *_cells(figure), f"{figure.of:,}")
    measures = report.measures
    if measures is not None:
        for name, figure in _all_or_nothing(measures):
            headline.add_row(name, *_cells(figure), f"{figure.of:,}")
    parts: list[RenderableType] = [Text(report.provenance, style="italic"), headline]
    if measures is not None:
        parts += [Text(), _scores("spans and tokens", lines(measures))]
    if report.meaning is not None:
        parts += [Text(), _meaning(report.meaning)]
    for title, rows in (("group", report.groups), *([("type", report.types)] if everything else [])):
        parts += [Text(), _rows(title, rows)]
    if everything and measures is not None:
        for one in _everything(report, measures):
            parts += [Text(), one]
    if any(figure.low is not None and figure.low == figure.high for figure in _figures(report)):
        parts.append(Text(_NO_WIDTH))
    parts.append(Text(f"{METHOD}; {report.resamples:,} resamples, seed {report.seed}.", style="dim"))
    if not everything:
        parts.append(Text("--metrics all: per type, every measure per group, confusion, calibration.", style="dim"))
    parts += _problems(report)
    return Group(*parts)


def lines(measures: Measures) -> Iterator[tuple[str, PrecisionRecall]]:
    """Spans, tokens, and the paper's protocol over all groups."""
    rows = measures.spans.rows
    yield "Spans, exact boundaries", rows["exact"]["all"].score
    yield "Spans, exact boundaries and type", rows["strict"]["all"].score
    yield "Spans, any overlap", rows["overlap"]["all"].score
    yield "Spans, any overlap and type", rows["type"]["all"].score
    yield "Tokens", measures.tokens.blind
    yield "Tokens and type", measures.tokens.typed
    yield "RedactOR, similarity ≥ 0.6", measures.redactor.untyped
    yield "RedactOR, similarity ≥ 0.6 and type", measures.redactor.typed


def _all_or_nothing(measures: Measures) -> Iterator[tuple[str, Figure]]:
    if measures.redactor.document_recall is not None:
        yield "All-or-nothing: per document, five types", measures.redactor.document_recall
    yield "All-or-nothing: pooled documents and types", measures.redactor.pooled_recall


def _everything(report: ScoreReport, measures: Measures) -> Iterator[RenderableType]:
    for matching in _PER_GROUP:
        rows = measures.spans.rows[matching].items()
        yield _scores(f"spans: {matching}", ((name, row.score) for name, row in rows if name != ALL))
    yield _scores("tokens", measures.tokens.types.items())
    yield _scores("RedactOR, similarity ≥ 0.6 and type", measures.redactor.types.items())
    single = _table("all-or-nothing recall per document and type", "value", "95% interval", "documents")
    for name, figure in measures.redactor.type_recall.items():
        single.add_row(name, *_cells(figure), f"{figure.of:,}")
    yield single
    worst = _table("confused: gold", "found as", "spans")
    for is_, taken_for, n in measures.confusion.worst(_WORST):
        worst.add_row(is_, taken_for, f"{n:,}")
    yield worst
    if report.clean_types:
        clean = _table("found in texts without PHI", "findings")
        for name, n in report.clean_types.items():
            clean.add_row(name, f"{n:,}")
        yield clean
    if measures.calibration is not None:
        yield _calibration(measures.calibration)


def _calibration(known: Calibration) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    bins = _table("score", "mean", "right", "95% interval", "findings")
    for one in known.bins:
        bins.add_row(f"{one.low:.1f}–{one.high:.1f}", f"{one.mean:.3f}", *_cells(one.right), f"{one.right.of:,}")
    summary = f"calibration error {known.error:.3f}, largest {known.largest:.3f}, Brier {known.brier:.3f}"
    return Group(Text(summary, style="italic"), bins)


def _meaning(meaning: Meaning) -> Table:
    table = _table(f"meaning, measured with {meaning.embedder}", "value", "95% interval")
    table.add_row("Clinical Utility Score", f"{meaning.utility.score:.3f}", "")
    table.add_row("loss of meaning", *_cells(meaning.utility.loss))
    if meaning.preservation is not None:
        kept = meaning.preservation
        table.add_row("cosine, before and after", *_cells(kept.cosine))
        table.add_row("ten nearest notes kept", *_cells(kept.neighbours))
        table.add_row("Wasserstein, in standard deviations", f"{kept.wasserstein_scaled:.3f}", "")
    return table


def _table(*columns: str) -> Table:
    from rich.table import Table

    table = Table(box=None)
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number and column not in ("95% interval", "found as") else "left")
    return table


def _scores(title: str, rows: Iterable[tuple[str, PrecisionRecall]]) -> Table:
    table = _table(title, "precision", "recall", "F1", "gold", "found")
    for name, score in rows:
        figures = (score.precision, score.recall, score.f1)
        table.add_row(name, *map(str, figures), f"{score.recall.of:,}", f"{score.precision.of:,}")
    return table


def _rows(title: str, rows: Mapping[str, SliceScores]) -> Table:
    table = _table(title, "recall", "precision", "F1", "typed", "spans", "gold", "found")
    for name, row in rows.items():
        plain = ("–" if figure.value is None else f"{figure.value:.3f}" for figure in (row.f1, row.typed, row.spans))
        table.add_row(name, str(row.recall), str(row.precision), *plain, f"{row.recall.of:,}", f"{row.precision.of:,}")
    return table


def _cells(figure: Figure) -> tuple[str, str]:
    if figure.value is None:
        return "–", ""
    return f"{figure.value:.3f}", "" if figure.low is None else f"{figure.low:.3f} to {figure.high:.3f}"


def _figures(report: ScoreReport) -> Iterator[Figure]:
    yield from report.figures.values()
    for row in (*report.groups.values(), *report.types.values()):
        yield from (row.recall, row.precision)


def _problems(report: ScoreReport) -> list[RenderableType]:
    from rich.text import Text

    if not report.problems:
        return []
    title = f"{len(report.problems)} problem(s); documents that are not scored are missing from every figure:"
    parts: list[RenderableType] = [Text(title, style="bold red")]
    parts += [Text(f"  {p.id}: {p.what}" + ("" if p.scored else " (not scored)")) for p in report.problems[:20]]
    if len(report.problems) > 20:
        parts.append(Text(f"  … and {len(report.problems) - 20} more, all in the JSON"))
    return parts
