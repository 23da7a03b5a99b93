"""Format the comparison as a page."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any

from incognote.evaluation.intervals import Figure
from incognote_benchmarks.peers.compare import Comparison, Scored

_HEAD = (
    "recall", "precision in annotated groups", "precision overall", "documents that leak",
    "texts without PHI changed", "characters per CPU second", "peak MB",
)  # fmt: skip
_FIGURES = ("recall", "precision_in_annotated_groups", "precision", "documents_leaking", "clean_texts_touched")


@cache
def remarks() -> dict[str, dict[str, Any]]:
    """Remarks on the scores of each corpus, by its name (`corpora.toml`)."""
    written: dict[str, dict[str, Any]] = tomllib.loads(
        files("incognote_benchmarks.peers").joinpath("corpora.toml").read_text(encoding="utf-8")
    )
    return written


def markdown(comparisons: Sequence[Comparison], notes: Sequence[str], measured: date, machine: str) -> str:
    """Return the page as Markdown.

    Args:
        notes: further remarks, one per line of the page.
        measured: the day of the run.
        machine: a description of the machine.
    """
    page = [
        "# Comparison with other systems",
        "",
        f"These figures were measured on {measured.isoformat()} with `python -m incognote_benchmarks.peers` "
        f"({machine}). Each system reads the same texts in its own process, on one thread, with its package's default "
        "settings. The same scorer evaluates all results.",
        "",
        "- Scores are by character (letters and digits) and ignore entity types. Intervals are 95%, over documents.",
        "- A document leaks if at least one character of an identifier remains.",
        "- Speed is based on the processor time of detection and excludes loading.",
        "- Memory is the peak memory use of the process, including its libraries and models.",
        "- A system that reports spans without types, such as Philter, has no precision by group.",
    ]
    for one in comparisons:
        page += _corpus(one)
    page += ["", "## Versions and configurations", ""]
    versions = {f"- **{s.name}** {s.version}: {s.about}." for one in comparisons for s in one.scored}
    page += sorted(versions)
    absent = {name: why for one in comparisons for name, why in one.absent.items()}
    page += ["", "## Systems that did not run, and other notes", ""]
    page += [f"- {why}" for why in absent.values()] + [f"- {note}" for note in notes]
    return "\n".join(page) + "\n"


def _corpus(one: Comparison) -> list[str]:
    page = ["", f"## {one.corpus}", ""]
    if one.corpus in remarks():
        page += [f"**{remarks()[one.corpus]['said']}**", ""]
    if not one.scored:
        return [*page, "No system ran."]
    page += [one.scored[0].report.provenance, ""]
    page += [f"| system | {' | '.join(_HEAD)} |", "|---" * (len(_HEAD) + 1) + "|"]
    page += [_row(scored) for scored in one.scored]
    failed = [f"{s.name} on {s.failed}" for s in one.scored if s.failed]
    if failed:
        page += ["", f"Texts on which a system failed (counted as if it had found nothing): {', '.join(failed)}."]
    if one.unscored:
        kinds = ", ".join(f"{n} {type_}" for type_, n in one.unscored.items())
        page += ["", f"Annotated but not scored, because our catalog has no such type: {kinds}."]
    page += ["", "Recall by evaluation group, ignoring entity types:", ""]
    groups = list(dict.fromkeys(g for s in one.scored for g, row in s.report.groups.items() if row.recall.of))
    page += [f"| system | {' | '.join(groups)} |", "|---" * (len(groups) + 1) + "|"]
    for scored in one.scored:
        rows = (scored.report.groups[group].recall for group in groups)
        page.append(f"| {scored.name} | {' | '.join(map(str, rows))} |")
    page += [
        "",
        "Precision of the spans found in each group, regardless of their type in the gold (– if none were found):",
        "",
    ]
    page += [f"| system | {' | '.join(groups)} |", "|---" * (len(groups) + 1) + "|"]
    for scored in one.scored:
        cells = (_short(scored.report.groups[group].precision) for group in groups)
        page.append(f"| {scored.name} | {' | '.join(cells)} |")
    return page


def _row(one: Scored) -> str:
    took = one.detected
    speed = took.characters_per_second if took else None
    peak = took.peak_mb if took else None
    cells = [str(one.figures[name]) for name in _FIGURES]
    cells += ["–" if speed is None else f"{speed:,.0f}", "–" if peak is None else f"{peak:,.0f}"]
    return f"| {one.name} | {' | '.join(cells)} |"


def _short(figure: Figure) -> str:
    return "–" if figure.value is None else f"{figure.value:.3f}"
