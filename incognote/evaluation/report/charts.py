"""The figures of a report: what each shows, and how it is drawn on matplotlib axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Literal

from incognote.evaluation.intervals import Figure
from incognote.evaluation.metrics.stream import Calibration
from incognote.evaluation.report.curves import Threshold
from incognote.evaluation.report.gathered import MeasuredSystem, Section

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 12
"""The maximum number of systems drawn: those that leave the fewest characters."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h")
SIGNS = "●■▲◆▼✚✖★◀▶⬟⬢"
"""The markers as characters, for a legend outside the figure."""
_GROUPS = ("PERSON", "AGE", "CONTACT", "DATE", "ID", "LOCATION", "PROFESSION", "OTHER")


@dataclass(frozen=True, slots=True)
class Theme:
    """Colors by purpose; `series` is in the order of the systems."""

    ink: str
    soft: str
    line: str
    series: Sequence[str]

    def of(self, number: int) -> str:
        return self.series[number % len(self.series)]


Draw = Callable[["Axes", Theme], None]


@dataclass(frozen=True, slots=True)
class Facet:
    """One small figure: its title, its height in inches, and how it is drawn."""

    title: str
    height: float
    draw: Draw


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure of several facets.

    Attributes:
        name: for files and anchors.
        note: the caption: what is drawn, its n, and its intervals.
        legend: systems by number and name; empty if the facets name them.
    """

    name: str
    title: str
    note: str
    facets: tuple[Facet, ...]
    legend: tuple[tuple[int, str], ...] = ()


def charts(section: Section) -> Iterator[Chart]:
    """The figures for which a corpus has data."""
    drawn = _drawn(section.systems)
    if section.labels:
        yield _bars(section, drawn)
    for made in (_thresholds(drawn), _passes(section), _costs(drawn), _reliability(drawn)):
        if made is not None:
            yield made


def _drawn(systems: Sequence[MeasuredSystem]) -> list[MeasuredSystem]:
    if len(systems) <= MOST:
        return list(systems)
    best = sorted(systems, key=lambda system: -(system.report.figures["recall"].value or 0))[:MOST]
    return [system for system in systems if system in best]


def _bars(section: Section, systems: Sequence[MeasuredSystem]) -> Chart:
    order = [name for name in _GROUPS if name in section.labels]
    order += [name for name in section.labels if name not in _GROUPS]
    facets = []
    for name in order:
        figures = [(system.name, system.report.groups[name].recall) for system in systems]
        title = f"{name} · {section.labels[name]:,} spans, {figures[0][1].of:,} characters"
        facets.append(Facet(title, 0.75 + 0.36 * len(figures), partial(_bar, figures=figures)))
    note = (
        "Share of the annotated letters and digits that were found as any type, by evaluation group. Lines: 95% "
        f"intervals (bootstrap over the {section.report.documents:,} documents); no line if one document holds all."
    )
    return Chart("recall-by-type", "Recall by type", note, tuple(facets))


def _bar(ax: Axes, theme: Theme, figures: Sequence[tuple[str, Figure]]) -> None:
    for row, (_, figure) in enumerate(figures):
        value = figure.value or 0.0
        ax.barh(row, value, height=0.62, color=theme.of(row), alpha=0.8)
        if figure.low is not None and figure.high is not None:
            ax.plot([figure.low, figure.high], [row, row], color=theme.ink, linewidth=1.4, solid_capstyle="butt")
        label = "–" if figure.value is None else f"{value:.3f}"
        ax.text(1.02, row, label, va="center", ha="left", color=theme.ink, fontsize=9)
    ax.set_yticks([])
    for row, (name, _) in enumerate(figures):
        lines = _broken(name)
        for number, line in enumerate(lines):  # one by one, so that they end at the axis in any font
            at = row + 0.3 * (number - (len(lines) - 1) / 2)
            ax.text(-0.02, at, line, va="center", ha="right", color=theme.ink, fontsize=8)
    ax.set_ylim(len(figures) - 0.5, -0.5)
    ax.set_xlim(0, 1)
    ax.set_xlabel("recall")
    ax.grid(axis="y", visible=False)


def _broken(name: str) -> list[str]:
    """Break a long name into lines between its parts."""
    lines = [""]
    for part in name.split(" · "):
        joined = f"{lines[-1]} · {part}" if lines[-1] else part
        if lines[-1] and len(joined) > 22 and len(lines) < 3:
            lines.append(part)
        else:
            lines[-1] = joined
    return [line if len(line) <= 30 else f"{line[:29]}…" for line in lines]


def _thresholds(systems: Sequence[MeasuredSystem]) -> Chart | None:
    able = [(number, system) for number, system in enumerate(systems) if system.thresholds]
    if not able:
        return None
    facets = tuple(
        Facet(system.name, 2.9, partial(_curve, number=number, points=system.thresholds)) for number, system in able
    )
    note = (
        "Only findings with this score or more are kept; by character, of any type. Crosses: 95% intervals "
        f"(bootstrap over the {systems[0].report.documents:,} documents). The axes start where the curve starts."
    )
    if len(able) < len(systems):
        note += " A system whose scores are all equal has no curve."
    return Chart("precision-recall", "Precision and recall by score threshold", note, facets)


def _curve(ax: Axes, theme: Theme, number: int, points: Sequence[Threshold]) -> None:
    known = [point for point in points if point.recall.value is not None and point.precision.value is not None]
    colour = theme.of(number)
    across, up = [_value(point.recall) for point in known], [_value(point.precision) for point in known]
    ax.plot(across, up, MARKERS[number] + "-", color=colour, linewidth=1.2, markersize=5)
    for point in known:
        _cross(ax, point.recall, point.precision, colour)
    for point, rise in ((known[0], -14), (known[-1], 7)):
        at = _value(point.recall), _value(point.precision)
        _told(ax, theme.ink, f"≥ {point.score:.2f}", at, (0, rise), "center")
    ax.margins(0.14, 0.3)
    for low, high, limit in ((*ax.get_xlim(), ax.set_xlim), (*ax.get_ylim(), ax.set_ylim)):
        limit(max(low, -0.02), min(high, 1 + 0.04 * (min(high, 1) - low)))
    ax.locator_params(nbins=5)
    ax.set_xlabel("recall")
    ax.set_ylabel("precision")


def _told(
    ax: Axes,
    colour: str,
    text: str,
    at: tuple[float, float],
    shift: tuple[float, float],
    align: Literal["center", "right"],
) -> None:
    """Write a label next to a point; the shift is in points."""
    ax.annotate(text, at, xytext=shift, textcoords="offset points", ha=align, color=colour, fontsize=8)


def _cross(ax: Axes, across: Figure, up: Figure, colour: str) -> None:
    for figure, flat in ((across, True), (up, False)):
        if figure.low is None or figure.high is None or across.value is None or up.value is None:
            continue
        if flat:
            ax.plot([figure.low, figure.high], [up.value, up.value], color=colour, alpha=0.35, linewidth=1)
        else:
            ax.plot([across.value, across.value], [figure.low, figure.high], color=colour, alpha=0.35, linewidth=1)


def _passes(section: Section) -> Chart | None:
    lines: dict[tuple[object, ...], list[tuple[int, MeasuredSystem]]] = {}
    for system in section.systems:
        if isinstance(system.axes.passes, int):  # not "need"
            lines.setdefault(system.axes.line, []).append((system.axes.passes, system))
    series = [sorted(each, key=itemgetter(0)) for each in lines.values() if len(each) > 1][:MOST]
    if not series or not section.labels:
        return None
    facets = []
    for name in (*(n for n in _GROUPS if n in section.labels), *(n for n in section.labels if n not in _GROUPS)):
        values = [[(passes, _type_recall(system, name)) for passes, system in each] for each in series]
        facets.append(Facet(f"{name} · n = {values[0][0][1].of:,} documents", 2.3, partial(_pass, series=values)))
    note = (
        "All-or-nothing recall after 1 to p passes: the share of the documents with this type in which every instance "
        "of it was found as this type (strict protocol; RedactOR, Figure 2). Bars: 95% intervals (Wilson). Points "
        "are shifted sideways so that they do not overlap."
    )
    legend = tuple((number, _line_name([system for _, system in each])) for number, each in enumerate(series))
    return Chart("passes", "Recall over passes", note, tuple(facets), legend)


def _type_recall(system: MeasuredSystem, name: str) -> Figure:
    assert system.report.measures is not None
    return system.report.measures.redactor.type_recall[name]


def _line_name(systems: Sequence[MeasuredSystem]) -> str:
    """The part of the name that the systems on one line share."""
    first, second = (system.name.split(" · ") for system in systems[:2])
    return " · ".join(part for part in first if part in second)


def _pass(ax: Axes, theme: Theme, series: Sequence[Sequence[tuple[int, Figure]]]) -> None:
    step = 0.3 / max(1, len(series) - 1)  # side by side
    for number, points in enumerate(series):
        colour, shift = theme.of(number), number * step - (0.15 if len(series) > 1 else 0)
        across = [passes + shift for passes, _ in points]
        ax.plot(across, [_value(figure) for _, figure in points], MARKERS[number], color=colour, markersize=5)
        ax.plot(across, [_value(figure) for _, figure in points], color=colour, linewidth=1, zorder=1)
        for x, (_, figure) in zip(across, points, strict=True):
            if figure.low is not None and figure.high is not None:
                ax.plot([x, x], [figure.low, figure.high], color=colour, alpha=0.45, linewidth=1)
    passes = sorted({passes for points in series for passes, _ in points})
    ax.set_xticks(passes)
    ax.set_xlim(passes[0] - 0.4, passes[-1] + 0.4)
    ax.set_ylim(-0.03, 1.04)
    ax.set_xlabel("passes")
    ax.set_ylabel("all-or-nothing recall")


def _costs(systems: Sequence[MeasuredSystem]) -> Chart | None:
    if not any(system.cost.asks and system.cost.tokens for system in systems):
        return None
    priced = all(system.cost.usd is not None for system in systems if system.cost.asks)
    priced = priced and any(system.cost.usd for system in systems)
    unit = "US$ per note" if priced else "tokens per note"
    points = [(system.cost.usd if priced else system.cost.tokens) or 0.0 for system in systems]
    facets = tuple(
        Facet(
            title,
            3.0,
            partial(
                _cost,
                unit=unit,
                title=title,
                points=[
                    (cost, system.report.figures[metric], (system.axes.votes or 1) > 1, system.axes[:3])
                    for cost, system in zip(points, systems, strict=True)
                ],
            ),
        )
        for title, metric in (("recall", "recall"), ("F1", "f1"))
    )
    note = (
        "By character, of any type (the view of CIPHER, Figure 4). Bars: 95% intervals (bootstrap over the "
        f"{systems[0].report.documents:,} documents). Lines join cells that differ in passes or votes only; hollow: "
        "several votes. A system that asks no model costs nothing (a dashed line where the axis is logarithmic). "
    )
    note += (
        "Money is tokens at the mean price paid per token in this experiment."
        if priced
        else "In tokens, because the price of the model is unknown."
    )
    return Chart("cost", "Cost against recall", note, facets, tuple((n, s.name) for n, s in enumerate(systems)))


def _cost(
    ax: Axes,
    theme: Theme,
    unit: str,
    title: str,
    points: Sequence[tuple[float, Figure, bool, tuple[object, ...]]],
) -> None:
    known = sorted(cost for cost, *_ in points if cost)
    logarithmic = known[-1] >= 10 * known[0]
    joined: dict[tuple[object, ...], list[tuple[float, float]]] = {}
    for number, (cost, figure, several, family) in enumerate(points):
        if figure.value is None:
            continue
        colour = theme.of(number)
        if logarithmic and not cost:
            ax.axhline(figure.value, color=colour, linewidth=1.2, linestyle=(0, (5, 3)))
            continue
        joined.setdefault(family, []).append((cost, figure.value))
        if figure.low is not None and figure.high is not None:
            ax.plot([cost, cost], [figure.low, figure.high], color=colour, alpha=0.45, linewidth=1)
        face = "none" if several else colour
        ax.plot(cost, figure.value, MARKERS[number], color=colour, markersize=6, markerfacecolor=face)
    for line in joined.values():
        ax.plot(*zip(*sorted(line), strict=True), color=theme.soft, alpha=0.5, linewidth=0.8, zorder=0)
    if logarithmic:
        ax.set_xscale("log")
        ax.set_xlim(known[0] / 1.5, known[-1] * 1.5)
    else:
        ax.set_xlim(-0.06 * known[-1], 1.08 * known[-1])
        ax.locator_params(axis="x", nbins=5)
    ax.margins(y=0.12)
    ax.set_xlabel(f"{unit} (logarithmic)" if logarithmic else unit)
    ax.set_ylabel(title)


def _reliability(systems: Sequence[MeasuredSystem]) -> Chart | None:
    facets = []
    for number, system in enumerate(systems):
        known = None if system.report.measures is None else system.report.measures.calibration
        if known is not None and len(known.bins) > 1:
            facets.append(Facet(system.name, 3.0, partial(_reliable, number=number, known=known)))
    if not facets:
        return None
    note = (
        "Findings by score: the share that is right (shares a character with a gold span, of any type) against the "
        "mean score. On the dashed line the score equals that share; above it, scores are too low. Bars: 95% "
        "intervals (Wilson); numbers: findings. ECE: expected calibration error. Systems whose scores fall into one "
        "bin are left out."
    )
    return Chart("calibration", "Calibration", note, tuple(facets))


def _reliable(ax: Axes, theme: Theme, number: int, known: Calibration) -> None:
    colour = theme.of(number)
    ax.plot([0, 1], [0, 1], color=theme.soft, linewidth=1, linestyle=(0, (4, 3)))
    for one in known.bins:
        if one.right.low is not None and one.right.high is not None:
            ax.plot([one.mean, one.mean], [one.right.low, one.right.high], color=colour, alpha=0.5, linewidth=1.4)
        ax.plot(one.mean, _value(one.right), MARKERS[number], color=colour, markersize=6, clip_on=False)
        _told(ax, theme.soft, f"{one.right.of:,}", (one.mean, _value(one.right)), (-6, -3), "right")
    ax.text(
        0.03,
        0.97,
        f"ECE {known.error:.3f}\nBrier {known.brier:.3f}\nn = {known.findings:,}",
        va="top",
        ha="left",
        color=theme.ink,
        fontsize=9,
        transform=ax.transAxes,
    )
    ax.set_xlim(0, 1.02)
    ax.set_ylim(0, 1.03)
    ax.set_xlabel("mean score")
    ax.set_ylabel("share that is right")


def _value(figure: Figure) -> float:
    """The value, or NaN for None, which matplotlib does not draw."""
    return float("nan") if figure.value is None else figure.value
