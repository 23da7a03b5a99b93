"""Draw the curves and the reliability diagrams."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from incognote.evaluation.report.drawing import canvas
from incognote_benchmarks.routing.sheets import ORDERS

_LINES = {
    "gold": ("0.6", "--"),
    "gold_characters": ("0.6", ":"),
    "value": ("C0", "-"),
    "doubts": ("C1", "-"),
    "words": ("C2", ":"),
}
_COLOURS = {"rules + encoder": "C0", "encoder": "C1"}


def curves(measured: dict[str, Any], path: Path) -> None:
    """Draw the curves of `measure` into a PNG file: one column per set of texts, characters above documents.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    shown = [title for title in ("questions", "notes", "recorded replies") if title in measured["sets"]]
    figure = canvas(12.5, 7.2, "curves")
    axes = figure.subplots(2, len(shown), sharex=True, squeeze=False)
    for column, title in zip(axes.T, shown, strict=True):
        run = measured["sets"][title]
        for ax, what in zip(column, ("of_all", "whole"), strict=True):
            for name, (color, style) in _LINES.items():
                points = zip(run["curves"][name]["tokens"], run["curves"][name][what], strict=True)
                across, up = zip(*((100 * x, 100 * y) for x, y in points if y is not None), strict=True)
                ax.plot(across, up, style, color=color, label=ORDERS[name], linewidth=1.6)
            ends = [100 * (run["systems"][key][what]["value"] or 0) for key in ("embedded", "all")]
            ax.plot((0, 100), ends, "-.", color="C3", label=ORDERS["random"], linewidth=1.2)
            at = run["settings"]["0.2"]
            if at[what]["value"] is not None:
                ax.plot(100 * at["tokens"]["value"], 100 * at[what]["value"], "o", color="C0", label="share = 0.2")
            ax.grid(alpha=0.3)
        column[0].axhline(99, color="0.7", linewidth=1)
        column[0].set_title(f"{title}, n = {run['texts']}", fontsize=10)
        column[1].set_xlabel("% of the tokens for all chunks")
    axes[0][0].set_ylabel("% of the characters found by\nmodel, rules, and encoder")
    axes[1][0].set_ylabel("% of the documents with\nidentifiers that are whole")
    labels = axes[0][0].get_legend_handles_labels()
    figure.legend(*labels, loc="outside lower center", ncol=4, frameon=False, fontsize=9)
    figure.savefig(path, metadata={"Software": None})


def diagrams(measured: dict[str, Any], path: Path) -> None:
    """Draw the reliability diagrams: one column per corpus, share right over mean score, with findings below.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    corpora = measured["corpora"]
    figure = canvas(9.5, 6.4, "diagrams")
    axes = figure.subplots(2, len(corpora), sharex=True, sharey="row", height_ratios=(3, 1))
    for column, (name, systems) in zip(axes.T, corpora.items(), strict=True):
        column[0].plot((0, 1), (0, 1), "--", color="0.6")
        for number, (system, told) in enumerate(systems.items()):
            bins, error = told["bins"], told["error"]
            across, up = [one["score"] for one in bins], [one["right"]["value"] for one in bins]
            reach = [
                [one["right"]["value"] - one["right"]["low"] for one in bins],
                [one["right"]["high"] - one["right"]["value"] for one in bins],
            ]
            label = f"{system}: error {error['value']:.3f} [{error['low']:.3f}, {error['high']:.3f}]"
            colour = _COLOURS[system]
            column[0].errorbar(across, up, reach, color=colour, marker="o", markersize=4, label=label, capsize=2)
            left = [one["low"] + 0.01 + 0.04 * number for one in bins]
            column[1].bar(left, [one["right"]["of"] for one in bins], 0.04, align="edge", color=colour)
        column[0].set_title(name, fontsize=10)
        column[0].legend(loc="upper left", frameon=False, fontsize=8)
        column[1].set(xlabel="score", yscale="log")
        for ax in column:
            ax.grid(alpha=0.3)
    axes[0][0].set_ylabel("share correct")
    axes[1][0].set_ylabel("findings")
    figure.savefig(path, metadata={"Software": None})
