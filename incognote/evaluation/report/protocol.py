"""The layouts of the papers' tables, filled with our measurements: RedactOR's Tables 1 to 3.

A `PaperTable` holds figures. The report's page and `incognote_benchmarks.tables` format it, as HTML and as Markdown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from incognote.evaluation.intervals import Figure
from incognote.evaluation.metrics.redactor import RedactorScores
from incognote.evaluation.report.markup import escaped, figure, table

Cells = tuple[Figure | str | None, ...]
_DIGITS = 4
_ALL = "All"
_BESIDE = 3
"""The number of systems side by side in Table 2, as in the paper."""


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table of figures.

    Attributes:
        above: the name above each group of `beside` columns, if the columns are grouped. The last columns are grouped.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, Cells], ...]
    above: tuple[str, ...] = ()
    beside: int = 3

    def html(self) -> str:
        """The table as HTML, with the interval below each value."""
        free = "<td></td>" * (len(self.head) - self.beside * len(self.above))
        names = "".join(
            f'<th class="group" colspan="{self.beside}" scope="colgroup">{escaped(name)}</th>' for name in self.above
        )
        return table(
            self.head,
            [(name, [c if isinstance(c, str) else figure(c, _DIGITS) for c in cells]) for name, cells in self.rows],
            caption=self.caption,
            last=_ALL,
            top=f"<tr>{free}{names}</tr>" if names else "",
        )

    def markdown(self) -> str:
        """The table as Markdown, with the caption above it."""
        names = [name for name in self.above for _ in range(self.beside)]
        free = [""] * (len(self.head) - len(names))
        head = [f"{title}, {name}" if name else title for title, name in zip(self.head, free + names, strict=True)]
        lines = [head, ["---"] * len(head)]
        lines += [[name, *("–" if cell is None else str(cell) for cell in cells)] for name, cells in self.rows]
        return f"{self.caption}.\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines)


def tables(scores: Sequence[tuple[str, RedactorScores]]) -> Iterator[PaperTable]:
    """The three tables of systems that were scored on one corpus; none if there is no system.

    Systems that find no types (`RedactorScores.typeless`) are in Table 1 only, as in the paper.
    """
    if not scores:
        return
    yield _first(scores)
    typed = [(name, one) for name, one in scores if not one.typeless]
    for at in range(0, len(typed), _BESIDE):
        yield _second(typed[at : at + _BESIDE], at == 0)
    if typed:
        yield _third(typed)


def _first(scores: Sequence[tuple[str, RedactorScores]]) -> PaperTable:
    rows = tuple(
        (name, (one.untyped.precision, one.untyped.recall, one.untyped.f1, one.document_recall))
        for name, one in scores
    )
    caption = (
        "Layout of Table 1: all entities, found as any type; all-or-nothing recall per document over "
        f"PERSON, AGE, CONTACT, ID and LOCATION (n = {_documents(scores[0][1])})"
    )
    return PaperTable(caption, ("Model", "Precision", "Recall", "F1-score", "All-or-nothing recall"), rows)


def _documents(one: RedactorScores) -> str:
    return f"{one.document_recall.of:,} documents" if one.document_recall is not None else "none"


def _second(scores: Sequence[tuple[str, RedactorScores]], first: bool) -> PaperTable:
    rows: list[tuple[str, Cells]] = []
    for name in (*scores[0][1].types, _ALL):
        of = [one.typed if name == _ALL else one.types[name] for _, one in scores]
        figures = [each for score in of for each in (score.recall, score.precision, score.f1)]
        rows.append((name, (f"{of[0].recall.of:,}", *figures)))
    return PaperTable(
        "Layout of Table 2: by entity type, found as the same type" + ("" if first else " (continued)"),
        ("Entity type", "Spans", *(("Recall", "Precision", "F1-score") * len(scores))),
        tuple(rows),
        above=tuple(name for name, _ in scores),
    )


def _third(scores: Sequence[tuple[str, RedactorScores]]) -> PaperTable:
    rows: list[tuple[str, Cells]] = []
    for name in (*scores[0][1].type_recall, _ALL):
        figures = [one.pooled_recall if name == _ALL else one.type_recall[name] for _, one in scores]
        rows.append((name, (f"{figures[0].of:,}", *figures)))
    caption = (
        "Layout of Table 3: all-or-nothing recall per document and type, found as the same type; All: pooled over "
        "all pairs of a document and a type that occurs in it"
    )
    return PaperTable(caption, ("Entity type", "Documents", *(name for name, _ in scores)), tuple(rows))
