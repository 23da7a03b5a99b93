"""Write the timelines of muted recordings as an HTML page that loads nothing. It holds ids and times, and no words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from string import Template

from incognote.agents.manifest import incognote_version
from incognote.evaluation.formats.document import CorpusProblem
from incognote.evaluation.recordings.measures import RELEASED, TITLES, GoldRecording, MutedRecording
from incognote.evaluation.recordings.reading import pairs
from incognote.evaluation.recordings.report import RecordingReport
from incognote.evaluation.report.markup import escaped, figure, table
from incognote.files.atomic import write_atomic
from incognote.speech.intervals import intersection, seconds, subtraction, union
from incognote.speech.nouns import Interval

MOST = 200
"""Timelines on a page: released recordings first, and those with the most seconds of identifiers that are left."""
_WIDE, _HIGH = 1000, 64  # of a timeline, in its own units
_LANES = {"identifiers": (4, 20), "sound": (32, 20)}  # top and height
_COLORS = {"gone": "#5aa874", "left": "#c62828", "kept": "#9db8d6", "muted": "#2b3440", "held": "#d9b25f"}
_LEGEND = {
    "gone": "identifier, muted", "left": "identifier, not muted", "kept": "kept", "muted": "muted",
    "held": "held: the recording is not released",
}  # fmt: skip


def write_page(path: str | Path, report: RecordingReport, gold: str | Path, found: str | Path) -> None:
    """Write the figures and timelines of a report, readable by its owner only if the system supports that.

    Args:
        gold, found: the files that were scored.

    Raises:
        UsageError: a file cannot be read.
    """
    both = [each for each in pairs(gold, found) if not isinstance(each, CorpusProblem)]
    both.sort(key=lambda each: (_is_held(each[1]), -seconds(subtraction(each[0].private, each[1].muted))))
    rows = [(TITLES[key], [figure(one), f"{one.of:,}"]) for key, one in report.figures.items()]
    drawn = "".join(
        f"<figure>{timeline(*each)}<figcaption>{escaped(each[0].id)}: {said(*each)}</figcaption></figure>"
        for each in both[:MOST]
    )
    swatches = "".join(
        f'<li><span class="swatch" style="background: {_COLORS[key]}"></span>{what}</li>'
        for key, what in _LEGEND.items()
    )
    more = f"<p>{len(both) - MOST:,} more recordings are not drawn.</p>" if len(both) > MOST else ""
    pictures = f'<ul>{swatches}</ul><div class="pictures" style="display: block">{drawn}</div>{more}'
    about = f"{report.provenance} · incognote {incognote_version()} · {datetime.now(UTC).date().isoformat()}"
    style = files("incognote.evaluation.report").joinpath("page.css").read_text(encoding="utf-8")
    template = files("incognote.evaluation.boxes").joinpath("page.html").read_text(encoding="utf-8")
    page = Template(template).substitute(
        title=escaped(f"Recordings: {report.corpus}"),
        about=escaped(about),
        banner="",
        contents='<ul><li><a href="#figures">Figures</a></li><li><a href="#timelines">Timelines</a></li></ul>',
        sections=f'<section id="figures"><h2>Figures</h2>{table(("Measure", "value", "of"), rows)}</section>'
        f'<section id="timelines"><h2>Timelines</h2>{pictures}</section>',
        method=escaped(" ".join(report.method)),
        style=style,
    )
    write_atomic(Path(path), page.encode(), private=True)


def timeline(gold: GoldRecording, found: MutedRecording) -> str:
    """Return the timeline of a recording as SVG: its identifiers, and below them what is kept, muted, or held."""
    whole = _length(gold, found)
    lines = "".join(_ticks(whole)) + "".join(
        _bar(kind, each, lane, whole) for kind, lane, times in _bars(gold, found) for each in times
    )
    label = f"Timeline of {whole:.1f} seconds: {said(gold, found)}"
    return f'<svg viewBox="0 0 {_WIDE} {_HIGH}" width="100%" role="img" aria-label="{escaped(label)}">{lines}</svg>'


def said(gold: GoldRecording, found: MutedRecording) -> str:
    """Return how many seconds of a recording, up to its last word, are kept, muted, and held."""
    whole = _length(gold, found)
    left = seconds(subtraction(gold.private, found.muted))
    muted = seconds(found.muted)
    audible = f"; {left:.1f} s of identifiers are audible" if left else ""
    if _is_held(found):
        return f"{whole:.1f} s held ({found.verdict}), of which {muted:.1f} s would be muted"
    return f"{whole - muted:.1f} s kept, {muted:.1f} s muted{audible}"


def _bars(gold: GoldRecording, found: MutedRecording) -> Iterator[tuple[str, str, Sequence[Interval]]]:
    """Yield kind, lane, and times of the bars."""
    yield "gone", "identifiers", intersection(gold.private, found.muted)
    yield "left", "identifiers", subtraction(gold.private, found.muted)
    whole = [Interval(0.0, _length(gold, found))]
    yield ("held" if _is_held(found) else "kept"), "sound", subtraction(whole, found.muted)
    yield "muted", "sound", union(found.muted)


def _is_held(found: MutedRecording) -> bool:
    return found.verdict not in ("", RELEASED)


def _length(gold: GoldRecording, found: MutedRecording) -> float:
    return max((each.end for each in (*gold.private, *gold.speech, *found.muted)), default=0.0)


def _bar(kind: str, time: Interval, lane: str, whole: float) -> str:
    top, high = _LANES[lane]
    scale = _WIDE / whole
    title = f"{_LEGEND[kind]}: {time.start:.2f} to {time.end:.2f} s"
    return (
        f'<rect x="{time.start * scale:.1f}" y="{top}" width="{max(0.5, (time.end - time.start) * scale):.1f}" '
        f'height="{high}" fill="{_COLORS[kind]}"><title>{title}</title></rect>'
    )


def _ticks(whole: float) -> Iterator[str]:
    """Yield up to 10 marks of time below the lanes."""
    every = next((each for each in (1, 2, 5, 10, 30, 60, 300, 600, 1800) if whole <= 10 * each), 3600)
    for at in range(0, int(whole) + 1, every):
        x = at * _WIDE / whole if whole else 0
        yield f'<text x="{x:.1f}" y="{_HIGH - 1}" font-size="10" fill="currentColor">{at // 60}:{at % 60:02}</text>'
