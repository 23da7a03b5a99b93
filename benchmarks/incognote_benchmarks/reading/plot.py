"""Draw the passes like RedactOR's Figure 2: all-or-nothing recall over passes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from incognote.evaluation.report.drawing import canvas


def plot(measured: dict[str, Any], path: Path) -> None:
    """Draw the passes of `measure` into a PNG file.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    passes, made_up = measured["passes"], "synthetic " if measured["corpus"]["synthetic"] else ""
    figure = canvas(9.5, 4.2, "the passes")
    axes = figure.subplots(1, 2, sharey=True)
    titles = ("identifiers already found are masked", "not masked")
    for ax, key, title in zip(axes, ("masking", "no_masking"), titles, strict=True):
        for (name, curves), marker in zip(passes[key].items(), "xosD^vP*", strict=False):
            whole = name == "all"
            values = curves["all_or_nothing"]
            ax.plot(
                range(1, len(values) + 1), values, marker=marker, markersize=6, linewidth=2.5 if whole else 1.3,
                color="black" if whole else None, label="whole note" if whole else name,
            )  # fmt: skip
        ax.set(title=title, xlabel="passes", xticks=range(1, 5), ylim=(-0.02, 1.02))
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("all-or-nothing recall")
    axes[1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    figure.suptitle(
        f"A scripted model that names at most {passes['at_most']} identifiers per reply; "
        f"{passes['notes']} {made_up}notes",
        fontsize=11,
    )
    figure.savefig(path, metadata={"Software": None})
