"""Pictures of training: loss and scores over time, and recall against the number of training documents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from incognote.errors import UsageError
from incognote.evaluation.metrics.stream import Calibration
from incognote.evaluation.report.drawing import canvas


def of_history(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw a run's history (`state.history`) into a PNG file: the smoothed loss, recall, and precision.

    Raises:
        UsageError: the history is empty.
        MissingExtra: matplotlib is not installed.
    """
    if not rows:
        raise UsageError("the run has no history to draw. Train longer")
    figure = canvas(9, 4, "the training")
    left, right = figure.subplots(1, 2)
    losses = [row for row in rows if row["kind"] == "loss"]
    scores = [row for row in rows if row["kind"] == "score"]
    left.plot([row["seconds"] / 60 for row in losses], [row["loss"] for row in losses], color="black")
    left.set(xlabel="minutes", ylabel="loss (smoothed)")
    for name, style in (("recall", "o-"), ("precision", "s-"), ("fast_recall", "o--"), ("fast_precision", "s--")):
        some = [row for row in scores if name in row]
        if some:
            minutes = [row["seconds"] / 60 for row in some]
            right.plot(minutes, [row[name] for row in some], style, label=name.replace("_", ": "))
    right.set(xlabel="minutes", ylabel="characters, type-blind", ylim=(0, 1.02))
    if scores:
        right.legend(frameon=False)
    figure.savefig(path, metadata={"Software": None})


def of_sizes(points: Sequence[tuple[int, float, float]], path: Path) -> None:
    """Draw recall and precision against training-set size (CIPHER Figure 5) into a PNG file.

    Args:
        points: documents, recall, precision.

    Raises:
        UsageError: there is no point.
        MissingExtra: matplotlib is not installed.
    """
    if not points:
        raise UsageError("there is no run to draw")
    figure = canvas(9, 4, "the training")
    axes = figure.subplots()
    sizes = [size for size, _, _ in points]
    axes.plot(sizes, [recall for _, recall, _ in points], "o-", label="recall")
    axes.plot(sizes, [precision for _, _, precision in points], "s-", label="precision")
    axes.set(xscale="log", xlabel="training documents", ylabel="characters, type-blind", ylim=(0, 1.02))
    axes.legend(frameon=False)
    figure.savefig(path, metadata={"Software": None})


def of_scores(measured: Calibration, path: Path) -> None:
    """Draw a reliability diagram into a PNG file: the findings' scores, and the share of them that is right.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    figure = canvas(9, 4, "the training")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], ":", color="grey")
    for one in measured.bins:
        value, low, high = one.right.value, one.right.low, one.right.high
        if value is None or low is None or high is None:
            continue  # the bin is empty
        axes.plot([one.mean] * 2, [low, high], color="black", linewidth=1)
        axes.plot(one.mean, value, "o", color="black", markersize=3 + 9 * (one.right.of / measured.findings) ** 0.5)
    axes.set(xlabel="mean score", ylabel="share correct, 95% interval", xlim=(0, 1.02), ylim=(0, 1.02))
    axes.set_title(f"{measured.findings:,} findings, expected calibration error {measured.error:.3f}", fontsize=10)
    figure.savefig(path, metadata={"Software": None})
