"""An empty picture to draw figures into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incognote.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def canvas(width: float, height: float, what: str) -> Figure:
    """A picture, in inches of 120 dots.

    Args:
        what: is to be drawn, for the error.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure  # not pyplot: it would look for a screen
    except ImportError:
        raise MissingExtra("evaluation", f"drawing {what}") from None
    figure = Figure(figsize=(width, height), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    return figure
