"""Charts as inline SVG in the page's colors, and as PNG files. matplotlib draws both."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING

from incognote.errors import MissingExtra
from incognote.evaluation.report.charts import MARKERS, Chart, Facet, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The palette of Okabe and Ito (2008) for color-blind readers; its yellow is replaced, because it is too light on white.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#b07d00", "#5b6675", "#7a3e9d")
PRINTED = Theme("#1c2430", "#5b6675", "#d9dee5", PALETTE)
_WIDTH, _COLUMNS, _DPI = 4.4, 3, 100
# Placeholder colors. Nothing else is drawn in them, and each is replaced by a CSS variable of the page.
_STANDING = Theme("#010101", "#010102", "#010103", tuple(f"#0102{n:02x}" for n in range(len(PALETTE))))
_VARIABLES = {
    _STANDING.ink: "var(--ink)",
    _STANDING.soft: "var(--soft)",
    _STANDING.line: "var(--line)",
    **{colour: f"var(--c{n})" for n, colour in enumerate(_STANDING.series)},
}


def svgs(chart: Chart, prefix: str) -> Iterator[tuple[str, str]]:
    """Each facet's title and its drawing, with `prefix` before the ids in it."""
    for number, facet in enumerate(chart.facets):
        with _drawn([facet], 1, _STANDING, titled=False) as figure:
            out = io.StringIO()
            figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
        yield facet.title, _inline(out.getvalue(), f"{prefix}{number}", f"{chart.title}: {facet.title}")


def png(chart: Chart) -> bytes:
    """Draw all facets as one picture on white, with the legend below."""
    with _drawn(chart.facets, min(_COLUMNS, len(chart.facets)), PRINTED, titled=True) as figure:
        from matplotlib.lines import Line2D

        figure.suptitle(chart.title, color=PRINTED.ink, fontsize=12, x=0.01, ha="left")
        if chart.legend:
            handles = [
                Line2D([], [], color=PRINTED.of(n), marker=MARKERS[n], linestyle="", label=name)
                for n, name in chart.legend
            ]
            figure.legend(handles=handles, loc="outside lower left", ncols=_COLUMNS, frameon=False, fontsize=8)
        out = io.BytesIO()
        figure.savefig(out, format="png", dpi=_DPI, facecolor="white")
    return _fewer_colours(out)


def _fewer_colours(picture: io.BytesIO) -> bytes:
    """Reduce the picture to 128 colors: enough for lines and text, and a third of the size."""
    from PIL import Image  # matplotlib installs it

    out = io.BytesIO()
    Image.open(picture).convert("RGB").quantize(128, kmeans=1, dither=Image.Dither.NONE).save(
        out, format="png", optimize=True
    )
    return out.getvalue()


@contextmanager
def _drawn(facets: Sequence[Facet], columns: int, theme: Theme, *, titled: bool) -> Iterator[Figure]:
    try:
        import matplotlib
        from matplotlib import figure as figures
    except ImportError:
        raise MissingExtra("evaluation", "the figures of a report") from None
    rows = math.ceil(len(facets) / columns)
    height = max(facet.height for facet in facets) + (0.35 if titled else 0)
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "incognote", "text.parse_math": False}):
        figure = figures.Figure(figsize=(_WIDTH * columns, height * rows), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False)
        for place, ax in enumerate(grid.flat):
            if place >= len(facets):
                ax.set_axis_off()
                continue
            _dressed(ax, theme)
            facets[place].draw(ax, theme)
            ax.xaxis.label.set_color(theme.soft)
            ax.yaxis.label.set_color(theme.soft)
            if titled:
                ax.set_title(facets[place].title, color=theme.ink, fontsize=10, loc="left")
        yield figure


def _dressed(ax: Axes, theme: Theme) -> None:
    ax.set_facecolor("none")
    ax.grid(visible=True, color=theme.line, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.tick_params(colors=theme.ink, labelsize=9, length=0)
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(theme.line)


def _inline(svg: str, name: str, label: str) -> str:
    """Prepare a drawing for the page: no prologue, no style of its own, and ids that no other drawing has."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<defs>\s*<style.*?</style>\s*</defs>|<!--.*?-->", "", svg, flags=re.S)
    used = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", svg))
    svg = re.sub(r' id="([^"]+)"', lambda m: f' id="{name}-{m[1]}"' if m[1] in used else "", svg)
    svg = re.sub(r'(url\(#|href="#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r"font-family: [^;\"]*;? ?", "", svg)
    svg = re.sub(r' transform="rotate\(-0 [^"]*"', "", svg)
    svg = re.sub(r"<[^>]+>", lambda m: re.sub(r"\d+\.\d{2,}", lambda n: f"{float(n[0]):.1f}", m[0]), svg)
    svg = re.sub("#[0-9a-f]{6}", lambda m: _VARIABLES.get(m[0], m[0]), svg)
    box = re.search(r'viewBox="[^"]+"', svg)
    head = f'<svg {box[0] if box else ""} role="img" aria-label="{escape(label)}">'
    svg = re.sub(r"^<svg[^>]*>", lambda _: head, svg)
    svg = re.sub(r'<path d="[^"]*" style="fill: none"/>', "", _flat(svg))  # invisible frames
    return re.sub(r">\s+<", "><", re.sub(r"\s+", " ", svg)).replace(' "', '"').strip()


def _flat(svg: str) -> str:
    """Remove groups without attributes, which are half of what matplotlib writes."""
    kept: list[bool] = []

    def tag(found: re.Match[str]) -> str:
        if found[0] == "</g>":
            return "</g>" if kept.pop() else ""
        if not found[0].endswith("/>"):
            kept.append(found[0] != "<g>")
            return found[0] if kept[-1] else ""
        return ""  # an empty group

    return re.sub(r"</?g\b[^>]*>", tag, svg)


def canvas(width: float, height: float, what: str) -> Figure:
    """Make an empty figure, sized in inches at 120 dots per inch.

    Args:
        what: the subject of the drawing, for the error message.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure  # not pyplot: it would look for a display
    except ImportError:
        raise MissingExtra("evaluation", f"drawing {what}") from None
    figure = Figure(figsize=(width, height), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    return figure
