"""`incognote experiment report`: write a page, its figures as PNG files, and everything as JSON."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from incognote.evaluation.metrics.tally import RESAMPLES
from incognote.evaluation.metrics.utility import TextEmbedder
from incognote.evaluation.report import sections as parts
from incognote.evaluation.report.charts import Chart, charts
from incognote.evaluation.report.drawing import png
from incognote.evaluation.report.gathered import Section, gather
from incognote.evaluation.report.markup import escaped
from incognote.files.atomic import write_atomic


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """The files of a report, and the sections it covers."""

    page: Path
    data: Path
    pictures: tuple[Path, ...]
    sections: tuple[Section, ...]


def write_report(
    results: str | Path,
    out: str | Path | None = None,
    *,
    texts: bool = True,
    who: str | None = None,
    embedder: tuple[str, TextEmbedder] | None = None,
    watch: Callable[[str], None] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> WrittenReport:
    """Measure all finished cells of an experiment and write `report.html`, `report.json` and the figures.

    Args:
        results: the experiment's folder.
        out: the folder to write to; `report` inside the results folder by default.
        texts: whether misses and false alarms are shown in context. The page then contains PHI if the notes do.
        who: opens a test split, for its log.
        embedder: its name and the embedder, to measure how much meaning is left.
        watch: called with a description of the current step.

    Raises:
        UsageError: there is no finished cell, or a corpus has changed since.
        IncognoteError: the log of a test split was altered, or the disk is full.
        MissingExtra: matplotlib is not installed.
    """
    folder = Path(results)
    place = Path(out) if out is not None else folder / "report"
    measured = gather(folder, who=who, embedder=embedder, watch=watch, resamples=resamples, seed=seed)
    drawn = [list(charts(one)) for one in measured]
    place.mkdir(parents=True, exist_ok=True)
    pictures = []
    for number, each in enumerate(drawn, 1):
        for chart in each:
            if watch is not None:
                watch(f"{measured[number - 1].corpus}: {chart.title}")
            pictures.append(place / f"{number}-{chart.name}.png")
            write_atomic(pictures[-1], png(chart), private=True)
    title = folder.resolve().name.removesuffix(".results")
    page, data = place / "report.html", place / "report.json"
    write_atomic(page, _page(title, measured, drawn, texts, resamples, seed).encode(), private=True)
    content = {"report": 1, "version": _version(), "resamples": resamples, "seed": seed,
               "corpora": [one.as_dict() for one in measured]}  # fmt: skip
    write_atomic(data, (json.dumps(_rounded(content), separators=(",", ":")) + "\n").encode(), private=True)
    return WrittenReport(page, data, tuple(pictures), tuple(measured))


def _rounded(told: Any) -> Any:
    """Round floats to five places. Further digits are not meaningful."""
    if isinstance(told, float):
        return round(told, 5)
    if isinstance(told, dict):
        return {name: _rounded(value) for name, value in told.items()}
    return [_rounded(value) for value in told] if isinstance(told, (list, tuple)) else told


def _page(
    title: str, measured: Sequence[Section], drawn: Sequence[Sequence[Chart]], texts: bool, resamples: int, seed: int
) -> str:
    here = files("incognote.evaluation.report")
    template, style, script = (
        here.joinpath(f"page.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js")
    )
    systems = sum(len(one.systems) for one in measured)
    corpora = f"{len(measured)} corpora" if len(measured) > 1 else "one corpus"
    synthetic = [one for one in measured if one.synthetic]
    said = "all synthetic" if len(synthetic) == len(measured) > 1 else "synthetic" if synthetic == list(measured) else (
        f"{len(synthetic)} of them synthetic" if synthetic else "none synthetic"
    )  # fmt: skip
    contents = "".join(f'<li><a href="#{at}">{escaped(name)}</a></li>' for at, name in parts.contents(measured, texts))
    return Template(template).substitute(
        title=escaped(f"De-identification results: {title}"),
        about=escaped(
            f"{systems} results on {corpora} ({said}) · incognote {_version()} · {datetime.now(UTC).date().isoformat()}"
        ),
        banner=_BANNER if texts else "",
        contents=f"<ul>{contents}</ul>",
        sections="\n".join(
            parts.section(one, number, drawn[number], texts=texts) for number, one in enumerate(measured)
        ),
        method=_METHOD.format(resamples=f"{resamples:,}", seed=seed),
        style=style,
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


_BANNER = (
    '<p class="banner"><strong>This page quotes notes: treat it as PHI.</strong> It loads and sends nothing. '
    "To leave the texts out, run <code>incognote experiment report --no-texts</code>.</p>"
)
_METHOD = (
    "<p>A character is a letter or a digit. Types are compared by evaluation group. Types that the gold of a corpus "
    "never uses are not scored. 95% intervals: percentile bootstrap over documents ({resamples} resamples, seed "
    "{seed}), Wilson for shares of documents. An interval of zero width means that the sample does not vary, not that "
    "the score is certain. These are measurements on the corpora named here. They are not a certificate and not an "
    "expert determination.</p>"
)


def _version() -> str:
    from incognote.agents.manifest import incognote_version

    return incognote_version()
