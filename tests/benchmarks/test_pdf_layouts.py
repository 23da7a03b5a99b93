"""What the layout of a redacted PDF reveals about a name: nothing, but for breaks of lines and widths of columns."""

from __future__ import annotations

from incognote_benchmarks.pdf_layouts import LAYOUTS, by_layout

REVEALING = ("breaks of lines", "column as wide as its widest name")


def test_the_layout_of_an_output_tells_names_apart_only_by_breaks_of_lines_and_fitted_columns() -> None:
    figures = by_layout(12)
    layouts = figures["layouts"]
    assert layouts.keys() == LAYOUTS.keys()
    assert all(each["before"] > 3 for each in layouts.values())
    assert {layout for layout, each in layouts.items() if each["after"] > 0} == set(REVEALING)
    assert layouts["breaks of lines"]["after"] < 2
