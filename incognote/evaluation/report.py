"""A scored corpus, as JSON and as tables for a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from incognote.evaluation.corpus import Problem
from incognote.evaluation.intervals import Figure

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_TITLES = {
    "recall": "Characters: recall",
    "precision": "Characters: precision",
    "f1": "Characters: F1",
    "precision_in_annotated_groups": "Characters: precision, groups that gold annotates",
    "spans_touched": "Spans touched",
    "spans_covered": "Spans wholly covered",
    "documents_leaking": "Documents that leak any character",
    "documents_missing_a_span": "Documents that leak a whole span",
    "clean_texts_touched": "Texts without PHI: touched",
    "clean_characters_touched": "Texts without PHI: characters touched",
}
_METHOD = (
    "a character is a letter or digit; 95 % intervals: percentile bootstrap over documents, Wilson's for shares of "
    "documents"
)
_NO_WIDTH = "An interval of no width says that the sample does not vary, not that the score is certain."


@dataclass(frozen=True, slots=True)
class Row:
    """The scores of one slice: a group or a type. `spans` is the share of its gold spans touched by anything found."""

    recall: Figure
    precision: Figure
    f1: Figure
    typed: Figure
    spans: Figure


@dataclass(frozen=True, slots=True)
class Report:
    """The scores of a corpus with what one must know to read them. Holds ids of documents, never their words.

    Attributes:
        corpus, synthetic: what was scored, and whether its texts are made up (None: not stated).
        documents, with_phi, without_phi, characters: how much of it; with_phi by the chosen types, without_phi by any.
        figures: the headline scores by name; `scores.py` says what each means.
        groups, types: the same per evaluation group and per type.
        chosen: the types and groups the scores are restricted to; empty for none.
        problems: documents that could not be used as they are, each with its id.
    """

    corpus: str
    synthetic: bool | None
    documents: int
    with_phi: int
    without_phi: int
    characters: int
    figures: Mapping[str, Figure]
    groups: Mapping[str, Row]
    types: Mapping[str, Row]
    chosen: tuple[str, ...]
    problems: tuple[Problem, ...]
    resamples: int
    seed: int

    @property
    def provenance(self) -> str:
        """The line that stands beside every score: corpus, whether synthetic, n, what is scored."""
        made_up = {True: "synthetic", False: "not synthetic", None: "not stated whether synthetic"}[self.synthetic]
        return (
            f"{self.corpus} ({made_up}) · n = {self.documents:,} documents, {self.with_phi:,} with PHI, "
            f"{self.without_phi:,} without · {self.characters:,} characters"
            + (f" · only {', '.join(self.chosen)}" if self.chosen else "")
        )

    def _all(self) -> Iterator[Figure]:
        yield from self.figures.values()
        for row in (*self.groups.values(), *self.types.values()):
            yield from (row.recall, row.precision)

    def to_json(self) -> str:
        """Everything, as a JSON document."""
        return json.dumps({"provenance": self.provenance, "method": _METHOD, **asdict(self)}, indent=2)

    def table(self) -> RenderableType:
        """The headline, the rows per group and type and the problems, for `rich`."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        headline = Table("", "value", "95 % interval", "of", title=self.provenance, title_justify="left", box=None)
        for name, figure in self.figures.items():
            headline.add_row(_TITLES[name], *_cells(figure), f"{figure.of:,}")
        parts: list[RenderableType] = [headline]
        for title, rows in (("group", self.groups), ("type", self.types)):
            table = Table(title, box=None, title_justify="left")
            for column in ("recall", "precision", "F1", "typed", "spans", "gold", "found"):
                table.add_column(column, justify="right", no_wrap=True)
            for name, row in rows.items():
                _add(table, name, row)
            parts += [Text(), table]
        if any(figure.low is not None and figure.low == figure.high for figure in self._all()):
            parts.append(Text(_NO_WIDTH))
        parts.append(Text(f"{_METHOD}; {self.resamples:,} resamples, seed {self.seed}.", style="dim"))
        if self.problems:
            title = f"{len(self.problems)} problem(s); what is not scored is missing from every figure:"
            parts.append(Text(title, style="bold red"))
            parts += [Text(f"  {p.id}: {p.what}" + ("" if p.scored else " (not scored)")) for p in self.problems[:20]]
            if len(self.problems) > 20:
                parts.append(Text(f"  … and {len(self.problems) - 20} more, all in the JSON"))
        return Group(*parts)


def _cells(figure: Figure) -> tuple[str, str]:
    if figure.value is None:
        return "–", ""
    return f"{figure.value:.3f}", "" if figure.low is None else f"{figure.low:.3f} to {figure.high:.3f}"


def _add(table: Table, name: str, row: Row) -> None:
    plain = ("–" if figure.value is None else f"{figure.value:.3f}" for figure in (row.f1, row.typed, row.spans))
    table.add_row(name, str(row.recall), str(row.precision), *plain, f"{row.recall.of:,}", f"{row.precision.of:,}")
