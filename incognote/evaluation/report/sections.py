"""The section of a report's page about one corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from incognote.evaluation.metrics.redactor import RedactorScores
from incognote.evaluation.metrics.spans import Confusion
from incognote.evaluation.report.charts import SIGNS, Chart
from incognote.evaluation.report.drawing import PALETTE, svgs
from incognote.evaluation.report.gathered import MeasuredSystem, Section
from incognote.evaluation.report.markup import details, escaped, figure, percent, table
from incognote.evaluation.report.mistakes import KINDS, Mistake, mistakes
from incognote.evaluation.report.protocol import tables
from incognote.evaluation.report.scored import lines
from incognote.evaluation.report.several import chance, points

_LAST = 20
"""The number of test-split openings that are listed."""


def anchor(number: int) -> str:
    """The anchor of a corpus's section."""
    return f"corpus-{number}"


def section(one: Section, number: int, drawn: Sequence[Chart], *, texts: bool) -> str:
    """Return the whole section of one corpus as HTML.

    Args:
        drawn: its figures.
        texts: whether misses and false alarms are shown in context.
    """
    made_up = ' <span class="badge">synthetic</span>' if one.synthetic else ""
    parts = [
        f'<section id="{anchor(number)}"><h2>{escaped(one.corpus)}{made_up} '
        f'<span class="badge">{"sealed test split" if one.split == "test" else "development split"}</span></h2>',
        _said(one),
        "<h3>What was scored</h3>",
        _provenance(one),
        "<h3>Scores</h3>",
        _headline(one),
        details("Spans and tokens, typed and type-blind", _spans(one)) if one.labels else "",
        _meaning(one),
        details("Settings and cost of each system", _run(one)),
    ]
    parts += [_chart(chart, number) for chart in drawn]
    if one.labels:
        parts += [
            "<h3>The RedactOR paper's tables</h3>",
            '<p class="note">Its strict protocol (§4.3): a finding counts for a gold span when they share a character '
            "of the text and their words are alike (Levenshtein similarity of 0.6 or more). The 95% interval is below "
            "each value.</p>",
            *(layout.html() for layout in tables(_protocol(one))),
        ]
    if one.versus:
        parts += ["<h3>Comparison of systems</h3>", _pairs(one)]
    if one.labels:
        confused = "".join(_confusion(system) for system in one.systems)
        parts.append(details("Type confusion", confused))
    if texts:
        parts.append(_browser(one, number))
    return "\n".join([*parts, "</section>"])


def _said(one: Section) -> str:
    """Summarize the result in a few sentences, for readers who skip tables."""
    if not one.labels:
        return (
            '<div class="said"><p>This corpus has no annotated identifiers. Only false alarms count.</p></div>'
        )
    best = min(one.systems, key=_left)
    figures, name = best.report.figures, escaped(best.name)
    leaking = figures["documents_leaking"]
    notes = round((leaking.value or 0) * leaking.of)
    summary = (
        f"<p>Of the {leaking.of:,} notes that hold identifiers, <strong>{name}</strong> leaves at least one letter or "
        f"digit of an identifier in <strong>{notes:,}</strong>: {percent(leaking)}."
    )
    clean = figures["clean_texts_touched"]
    if clean.of:
        touched = round((clean.value or 0) * clean.of)
        summary += f" Of the {clean.of:,} notes without identifiers, it changes {touched:,}: {percent(clean)}."
    if len(one.systems) > 1:
        summary += (
            f" No other of the {len(one.systems)} systems leaks in fewer notes. Because it was chosen for that, "
            "expect a somewhat higher rate on new notes."
        )
    summary += "</p>"
    if one.synthetic:
        summary += (
            "<p><strong>These notes are synthetic.</strong> They were written, not taken from patients. "
            "Scores on them show how systems differ. They do not predict scores on real notes.</p>"
        )
    return f'<div class="said">{summary}</div>'


def _left(system: MeasuredSystem) -> tuple[float, float, float]:
    figures = system.report.figures
    return (
        figures["documents_leaking"].value or 0,
        -(figures["recall"].value or 0),
        -(figures["precision"].value or 0),
    )


def _provenance(one: Section) -> str:
    report = one.report
    facts = {
        "Corpus": f"{one.corpus}, {'synthetic' if one.synthetic else 'not synthetic'}, "
        + ("a sealed test split" if one.split == "test" else "a development split"),
        "Documents": f"{report.documents:,}: {report.with_phi:,} with identifiers, {report.without_phi:,} without; "
        f"{report.characters:,} characters",
        "Annotated spans": ", ".join(f"{name} {n:,}" for name, n in one.labels.items()) or "none",
        "SHA-256": one.hash,
    }
    if one.openings is not None:
        last = one.openings[-1]
        facts["Opened"] = f"{len(one.openings):,} times; last on {last.time} by {last.who}, for: {last.purpose}"
    entries = "".join(f"<dt>{escaped(name)}</dt><dd>{escaped(value)}</dd>" for name, value in facts.items())
    opened = ""
    if one.openings:
        rows = [(f"{o.number}", [escaped(o.time), escaped(o.who), escaped(o.purpose)]) for o in one.openings[-_LAST:]]
        opened = details("Log of openings", table(("No.", "time (UTC)", "who", "purpose"), rows))
    return f"<dl>{entries}</dl>{opened}"


def _headline(one: Section) -> str:
    head = (
        "System", "Characters: recall", "precision", "F1", "Spans, boundaries and type: F1", "Spans, overlap: F1",
        "Tokens: F1", "Notes that leak any character", "Notes without identifiers that are changed", "Not fully read",
    )  # fmt: skip
    rows = []
    for system in one.systems:
        figures, measures = system.report.figures, system.report.measures
        cells = [figure(figures[name]) for name in ("recall", "precision", "f1")]
        for f1 in (
            (measures.spans.rows["strict"]["all"], measures.spans.rows["overlap"]["all"])
            if measures is not None
            else ()
        ):
            cells.append(figure(f1.score.f1))
        cells += [figure(measures.tokens.blind.f1)] if measures is not None else ["–"] * 3
        cells += [figure(figures[name]) for name in ("documents_leaking", "clean_texts_touched")]
        rows.append((system.name, [*cells, f"{system.head.failed:,}"]))
    caption = (
        f"n = {one.report.documents:,} documents; 95% intervals below each value (bootstrap over documents; Wilson "
        "for shares of documents). Not fully read: documents that a model did not finish, scored as nothing found"
    )
    return table(head, rows, caption=caption)


def _protocol(one: Section) -> list[tuple[str, RedactorScores]]:
    return [(s.name, s.report.measures.redactor) for s in one.systems if s.report.measures is not None]


def _spans(one: Section) -> str:
    tables_ = []
    for system in one.systems:
        if system.report.measures is None:
            continue
        rows = [
            (name, [figure(score.precision), figure(score.recall), figure(score.f1), f"{score.recall.of:,}"])
            for name, score in lines(system.report.measures)
        ]
        tables_.append(table(("Measure", "precision", "recall", "F1", "gold"), rows, caption=system.name))
    return "".join(tables_)


def _meaning(one: Section) -> str:
    rows = []
    for system in one.systems:
        meaning = system.report.meaning
        if meaning is None:
            continue
        kept = meaning.preservation
        cells = [f"{meaning.utility.score:.3f}", figure(meaning.utility.loss)]
        cells += (
            ["–", "–", "–"]
            if kept is None
            else [figure(kept.cosine), figure(kept.neighbours), f"{kept.wasserstein_scaled:.3f}"]
        )
        rows.append((system.name, cells))
    if not rows:
        return ""
    head = ("System", "Clinical Utility Score", "loss", "cosine", "ten nearest kept", "Wasserstein (s.d.)")
    name = next(s.report.meaning.embedder for s in one.systems if s.report.meaning is not None)
    caption = (
        f"Meaning that remains after redaction, measured with {name}: (1 − loss) × F1 of spans with boundaries and "
        "type (Guan, §4); CIPHER's Table 4"
    )
    return table(head, rows, caption=caption)


def _run(one: Section) -> str:
    head = ("System", "detectors", "model", "prompt", "words per chunk", "passes", "votes", "seed", "tokens per note",
            "US$ per note", "code", "cell")  # fmt: skip
    rows = []
    for system in one.systems:
        axes, facts, cost = system.axes, system.head.facts, system.cost
        prompt = f"{axes.prompt} ({facts['prompt'][:8]})" if axes.prompt is not None else "–"
        asked = [axes.chunk_words, axes.passes, axes.votes, axes.seed]
        cells = [", ".join(facts["detectors"]), axes.model or "–", prompt]
        cells += ["–" if value is None else f"{value}" for value in asked]
        cells += [f"{cost.tokens:,.0f}", "unknown" if cost.usd is None else f"{cost.usd:.4f}"]
        rows.append((system.name, [escaped(cell) for cell in (*cells, facts["code"], system.head.key[:6])]))
    return table(head, rows)


def _chart(chart: Chart, number: int) -> str:
    facets = "".join(
        f'<div class="facet"><h4>{escaped(title)}</h4>{svg}</div>'
        for title, svg in svgs(chart, f"c{number}{chart.name[:4]}")
    )
    legend = "".join(
        f'<li><span style="color: var(--c{n % len(PALETTE)})" aria-hidden="true">{SIGNS[n]}</span> {escaped(name)}</li>'
        for n, name in chart.legend
    )
    legend = f'<ul class="legend">{legend}</ul>' if legend else ""
    return (
        f'<h3>{escaped(chart.title)}</h3><figure>{legend}<div class="facets">{facets}</div>'
        f"<figcaption>{escaped(chart.note)}</figcaption></figure>"
    )


def _pairs(one: Section) -> str:
    head = ("First minus second", "recall, points", "precision, points", "only first", "only second", "χ²", "p",
            "p, Bonferroni")  # fmt: skip
    rows = []
    for versus in sorted(one.versus, key=lambda versus: (versus.adjusted, versus.spans.p)):
        test, known = versus.spans, versus.differences
        chi = "exact" if test.chi_square is None else f"{test.chi_square:.2f}"
        shown = [points(known[name]).replace("-", "−") if name in known else "–" for name in ("recall", "precision")]
        only = [f"{test.only_first:,}", f"{test.only_second:,}"]
        cells = [*shown, *only, chi, escaped(chance(test.p)), escaped(chance(versus.adjusted))]
        rows.append((f"{versus.first} minus {versus.second}", cells))
    caption = (
        f"First minus second, by character, with paired 95% intervals (the same documents for both); McNemar over "
        f"{sum(one.labels.values()):,} gold spans found or not, of any type, adjusted for {len(rows)} pairs"
    )
    made = table(head, rows, caption=caption)
    note = (
        '<p class="note">McNemar assumes independent spans. Spans of one note are not fully independent. If the test '
        "and the intervals disagree, trust the intervals.</p>"
    )
    return (made if len(rows) <= 15 else details(f"All {len(rows)} pairs", made)) + note


def _confusion(system: MeasuredSystem) -> str:
    measures = system.report.measures
    if measures is None:
        return ""
    known: Confusion = measures.confusion
    rows = [
        (row, [_count(count, row == column) for column, count in zip(known.columns, counts, strict=True)])
        for row, counts in zip(known.rows, known.cells, strict=True)
    ]
    return table(("gold \\ found as", *known.columns), rows, caption=system.name)


def _count(count: int, right: bool) -> str:
    return f"<b>{count:,}</b>" if right else f"{count:,}" if count else '<span class="soft">·</span>'


def _browser(one: Section, number: int) -> str:
    shown, more = mistakes(one)
    kinds, types = Counter(m.kind for m in shown), Counter(m.type for m in shown)
    systems = Counter(system for mistake in shown for system in mistake.systems)
    selects = "".join(
        f'<label>{label} <select name="{name}" autocomplete="off"><option value="">all</option>{"".join(choices)}'
        "</select></label>"
        for label, name, choices in (
            ("Kind", "kind", [_option(kind, f"{KINDS[kind]} ({kinds[kind]:,})") for kind in KINDS if kinds[kind]]),
            ("Type", "type", [_option(type_, f"{type_} ({n:,})") for type_, n in types.most_common()]),
            ("System", "system", [_option(str(n), f"{s.name} ({systems[n]:,})") for n, s in enumerate(one.systems)]),
        )
    )
    hidden = f'<p class="note">{more:,} more are not shown.</p>' if more else ""
    return (
        f'<h3 id="errors-{number}">Misses and false alarms</h3>'
        '<p class="banner"><strong>The list quotes notes: treat this page as PHI.</strong> It loads and sends nothing. '
        "Keep it on this computer. Move through the list with <kbd>j</kbd> and <kbd>k</kbd>.</p>"
        f'<div class="browser"><div class="filters" role="search">{selects}<output aria-live="polite"></output></div>'
        f'<ol class="errors">{"".join(_item(mistake, one.systems) for mistake in shown)}</ol>{hidden}</div>'
    )


def _option(value: str, shown: str) -> str:
    return f'<option value="{escaped(value)}">{escaped(shown)}</option>'


def _item(mistake: Mistake, systems: Sequence[MeasuredSystem]) -> str:
    by = "all systems" if len(mistake.systems) == len(systems) else ", ".join(systems[n].name for n in mistake.systems)
    numbers = " ".join(map(str, mistake.systems))
    return (
        f'<li tabindex="0" class="{mistake.kind}" data-kind="{mistake.kind}" data-type="{escaped(mistake.type)}" '
        f'data-systems="{numbers}"><div class="head"><span class="kind">{KINDS[mistake.kind]}</span>'
        f"<span>{escaped(mistake.type)}</span><span>{escaped(mistake.document)}</span><span>{escaped(by)}</span></div>"
        f'<pre dir="auto">{escaped(mistake.before)}<mark>{escaped(mistake.words)}</mark>{escaped(mistake.after)}</pre>'
        "</li>"
    )


def contents(sections: Sequence[Section], texts: bool) -> Iterator[tuple[str, str]]:
    """The anchors and titles of the contents."""
    for number, one in enumerate(sections):
        yield anchor(number), one.corpus
        if texts:
            yield f"errors-{number}", f"{one.corpus}: misses and false alarms"
