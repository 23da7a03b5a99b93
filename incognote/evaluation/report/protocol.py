"""The layouts of RedactOR's Tables 1 to 3, filled with our measurements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incognote.evaluation.metrics.redactor import RedactorScores
from incognote.evaluation.report.gathered import Section
from incognote.evaluation.report.markup import escaped, figure, table

_DIGITS = 4
_ALL = "All"
_BESIDE = 3
"""The number of systems side by side in Table 2, as in the paper."""


def tables(section: Section) -> Iterator[str]:
    """The three tables of a corpus, as HTML; none if its gold has no labels."""
    scores = [
        (system.name, system.report.measures.redactor)
        for system in section.systems
        if system.report.measures is not None
    ]
    if not scores:
        return
    yield _first(scores)
    for at in range(0, len(scores), _BESIDE):
        yield _second(scores[at : at + _BESIDE], at == 0)
    yield _third(scores)


def _first(scores: Sequence[tuple[str, RedactorScores]]) -> str:
    rows = [
        (
            name,
            [figure(each, _DIGITS) for each in (one.untyped.precision, one.untyped.recall, one.untyped.f1)]
            + [figure(one.document_recall, _DIGITS)],
        )
        for name, one in scores
    ]
    caption = (
        "Layout of Table 1: all entities, found as any type; all-or-nothing recall per document over "
        f"PERSON, AGE, CONTACT, ID and LOCATION (n = {_documents(scores[0][1])})"
    )
    return table(("Model", "Precision", "Recall", "F1-score", "All-or-nothing recall"), rows, caption=caption)


def _documents(one: RedactorScores) -> str:
    return f"{one.document_recall.of:,} documents" if one.document_recall is not None else "none"


def _second(scores: Sequence[tuple[str, RedactorScores]], first: bool) -> str:
    types = list(scores[0][1].types)
    rows = []
    for name in (*types, _ALL):
        cells = []
        for _, one in scores:
            score = one.typed if name == _ALL else one.types[name]
            cells += [figure(each, _DIGITS) for each in (score.recall, score.precision, score.f1)]
        spans = (scores[0][1].typed if name == _ALL else scores[0][1].types[name]).recall.of
        rows.append((name, [f"{spans:,}", *cells]))
    above = "".join(f'<th class="group" colspan="3" scope="colgroup">{escaped(name)}</th>' for name, _ in scores)
    caption = "Layout of Table 2: by entity type, found as the same type" + ("" if first else " (continued)")
    return table(
        ("Entity type", "Spans", *(("Recall", "Precision", "F1-score") * len(scores))),
        rows,
        caption=caption,
        last=_ALL,
        top=f"<tr><td></td><td></td>{above}</tr>",
    )


def _third(scores: Sequence[tuple[str, RedactorScores]]) -> str:
    rows = []
    for name in (*scores[0][1].type_recall, _ALL):
        figures = [one.pooled_recall if name == _ALL else one.type_recall[name] for _, one in scores]
        rows.append((name, [f"{figures[0].of:,}", *(figure(each, _DIGITS) for each in figures)]))
    caption = (
        "Layout of Table 3: all-or-nothing recall per document and type, found as the same type; All: pooled over "
        "all pairs of a document and a type that occurs in it"
    )
    return table(("Entity type", "Documents", *(name for name, _ in scores)), rows, caption=caption, last=_ALL)
