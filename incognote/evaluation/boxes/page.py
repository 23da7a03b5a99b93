"""Write the report of boxes on pages: `report.html`, which loads nothing from outside, and `report.json`."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from string import Template

from incognote.evaluation.boxes.actions import ALL as ALL_ACTIONS
from incognote.evaluation.boxes.actions import PUBLISHED
from incognote.evaluation.boxes.classes import ALL, ANY
from incognote.evaluation.boxes.ink import Pictures
from incognote.evaluation.boxes.nouns import PRINT
from incognote.evaluation.boxes.pictures import COLORS, MOST, picture
from incognote.evaluation.boxes.scored import PAPER, TITLES, BoxReport, PageScores
from incognote.evaluation.intervals import Figure
from incognote.evaluation.metrics.tally import PrecisionRecall
from incognote.evaluation.report.markup import details, escaped, figure, percent, table
from incognote.files.atomic import write_atomic

PAGE, DATA = "report.html", "report.json"
_ROWS = 500  # pages in the table of pages
_LEGEND = {
    False: {"gone": "identifier, gone", "left": "identifier, left (thick)", "lost": "another word, lost",
            "cover": "a box that was found"},
    True: {"gone": "region, found", "left": "region, missed (thick)", "cover": "a box that was found"},
}  # fmt: skip
"""What the colors mean: for identifiers, and for regions."""


def write_report(report: BoxReport, out: str | Path, images: str | Path | None = None) -> Path:
    """Write the report into a folder, readable by its owner only if the system supports that.

    Args:
        images: the folder with the files of the pages. With it, the report shows the worst pages, which holds PHI.

    Returns:
        the path of the page.

    Raises:
        MissingExtra: Pillow is not installed.
    """
    folder = Path(out)
    parts = dict(_sections(report, Pictures(images) if images is not None else None))
    contents = "".join(f'<li><a href="#part-{n}">{escaped(name)}</a></li>' for n, name in enumerate(parts, 1))
    style = files("incognote.evaluation.report").joinpath("page.css").read_text(encoding="utf-8")
    template = files("incognote.evaluation.boxes").joinpath("page.html").read_text(encoding="utf-8")
    page = Template(template).substitute(
        title=escaped(f"Boxes on pages: {report.corpus}" if report.files else f"Actions: {report.corpus}"),
        about=escaped(f"{report.provenance} · incognote {_version()} · {datetime.now(UTC).date().isoformat()}"),
        banner=_BANNER if images is not None and report.pages else "",
        contents=f"<ul>{contents}</ul>",
        sections="\n".join(
            f'<section id="part-{n}"><h2>{escaped(name)}</h2>{content}</section>'
            for n, (name, content) in enumerate(parts.items(), 1)
        ),
        method=escaped(" ".join(report.method)),
        style=style,
    )
    data = {"report": 1, "version": _version(), **report.as_dict()}
    if report.tokens is not None:
        names = ("precision", "recall", "f1")
        data["paper"] = {model: dict(zip(names, row, strict=True)) for model, row in PAPER.items()}
    write_atomic(folder / PAGE, page.encode(), private=True)
    write_atomic(folder / DATA, (json.dumps(data, separators=(",", ":")) + "\n").encode(), private=True)
    return folder / PAGE


_LAYOUT = (
    '<p class="note">The image paper (YOLOv3-DLA, section III.A, Table 3) states a precision of 0.91, a recall of '
    "0.93, and an F1 of 0.92, on its own images, which are not public.</p>"
)
_BANNER = (
    '<p class="banner"><strong>This page shows pages of records: treat it as PHI.</strong> It loads and sends '
    "nothing. To leave the pictures out, run <code>incognote evaluate --no-pictures</code>.</p>"
)


def _sections(report: BoxReport, pictures: Pictures | None) -> Iterator[tuple[str, str]]:
    """Yield the title and the HTML of each section."""
    if report.figures:
        yield "Summary", _said(report) + _shares(report.figures, TITLES, "Measure")
        yield "Identifiers gone", "".join((
            _shares(report.inks, {}, "Kind of ink", "by kind of ink"), _shares(report.types, {}, "Type", "by type"),
            details("By page", _pages(report)),
        ))  # fmt: skip
    if report.regions:
        yield "Classes", _classes(report)
    if report.pages:
        yield "Pictures", _pictures(report, pictures)
    if report.tokens is not None:
        yield "Tokens", _tokens(report.tokens)
    if report.classes and not report.regions:
        yield "Classes", _classes(report)
    if report.actions:
        yield "Actions on DICOM elements", _actions(report.actions)
    if report.problems:
        rows = "".join(
            f"<li>{escaped(each.id)}: {escaped(each.what)}{'' if each.scored else ' (not scored)'}</li>"
            for each in report.problems
        )
        yield "Files with problems", f"<ul>{rows}</ul>"


def _said(report: BoxReport) -> str:
    gone, clean = report.figures["identifiers_gone"], report.figures["pages_clean"]
    said = "No page has an identifier."
    if gone.of:
        left = sum(not page.is_clean for page in report.pages)
        said = (
            f"Of {gone.of:,} identifiers, <strong>{_hits(gone):,}</strong> are gone: {percent(gone)}. Of {clean.of:,} "
            f"pages with identifiers, something is left on <strong>{left:,}</strong>."
        )
    words, free = report.figures["words_kept"], report.figures["free_pages_touched"]
    if words.of:
        said += f" Of {words.of:,} other words, {_hits(words):,} are kept: {percent(words)}."
    if free.of:
        said += f" Of {free.of:,} pages without identifiers, {_hits(free):,} are touched."
    if report.synthetic:
        said += " <strong>These pages are synthetic.</strong> Scores on them do not predict scores on real pages."
    return f'<div class="said"><p>{said}</p></div>'


def _hits(share: Figure) -> int:
    return round((share.value or 0) * share.of)


def _shares(figures: Mapping[str, Figure], titles: Mapping[str, str], name: str, caption: str = "") -> str:
    rows = [(titles.get(key, key), [figure(one), f"{one.of:,}"]) for key, one in figures.items()]
    said = "The 95% interval is below each value" if not caption else f"Share of identifiers that are gone, {caption}"
    return table((name, "value", "of"), rows, caption=said) if rows else ""


def _pages(report: BoxReport) -> str:
    rows = [
        (
            f"{page.id}, page {page.number}",
            [f"{len(done.identifiers) - done.gone:,}", f"{done.gone:,}", f"{len(done.others) - done.kept:,}",
             f"{done.kept:,}", "yes" if done.covers else "no", escaped(page.verdict or "–")],
        )
        for page in report.pages[:_ROWS]
        for done in (page.judged,)
    ]  # fmt: skip
    caption = f"The {len(rows):,} pages with the most identifiers left" if len(report.pages) > _ROWS else "All pages"
    head = ("Page", "identifiers left", "gone", "other words lost", "kept", "touched", "verdict")
    return table(head, rows, caption=caption)


def _pictures(report: BoxReport, pictures: Pictures | None) -> str:
    legend = "".join(
        f'<li><span class="swatch" style="border: {4 if key == "left" else 2}px solid {COLORS[key]}"></span>{what}</li>'
        for key, what in _LEGEND[report.regions].items()
    )
    shown = report.pages[:MOST]
    most = f"the most {report.called} {'missed' if report.regions else 'left'}"
    all_ = f"All {len(shown):,} pages, those with {most} first."
    said = all_ if shown == report.pages else f"The {len(shown):,} pages with {most}."
    if pictures is None:
        said += " The boxes are drawn on white, without the pages."
    made = "".join(_picture(page, pictures, report) for page in shown)
    return f'<p class="note">{said}</p><ul class="legend">{legend}</ul><div class="pictures">{made}</div>'


def _picture(page: PageScores, pictures: Pictures | None, report: BoxReport) -> str:
    done = page.judged
    image = pictures.page(page.id, page.number) if pictures is not None else None
    jpeg = base64.b64encode(picture(page, image.pixels if image is not None else None)).decode()
    left = Counter(
        box.type if box.ink == PRINT else f"{box.type} ({box.ink})" for box, gone in done.identifiers if not gone
    )
    name = f"{page.id}, page {page.number}"
    said = f"{done.gone:,} of {len(done.identifiers):,} {report.called} {'found' if report.regions else 'gone'}"
    if done.others:
        said += f", {len(done.others) - done.kept:,} of {len(done.others):,} other words lost"
    if page.verdict:
        said += f", {page.verdict}"
    listed = ", ".join(f"{kind}{f' × {n}' if n > 1 else ''}" for kind, n in left.most_common())
    missing = f"<br><b>{'Missed' if report.regions else 'Left'}:</b> {escaped(listed)}" if left else ""
    return (
        f'<figure><img loading="lazy" src="data:image/jpeg;base64,{jpeg}" alt="{escaped(f"{name}: {said}")}">'
        f"<figcaption><strong>{escaped(name)}</strong><br>{escaped(said)}{missing}</figcaption></figure>"
    )


def _tokens(tokens: PrecisionRecall) -> str:
    rows = [("These pages", [figure(one) for one in (tokens.precision, tokens.recall, tokens.f1)])]
    rows += [(f"{name} (quoted)", [f"{value:.2f}" for value in row]) for name, row in PAPER.items()]
    caption = f"{tokens.recall.of:,} tokens of identifiers in the gold, {tokens.precision.of:,} tokens removed"
    return (
        '<p class="note">A token is a word of the gold, or a box of an identifier in which the gold has no word. The '
        "quoted rows are Table 4 of the image paper (YOLOv3-DLA, section III.B). Its authors measured them on their "
        "own images, which are not public. So a difference from the first row can be due to the pages.</p>"
        + table(("Model", "precision", "recall", "F1"), rows, caption=caption)
    )


def _classes(report: BoxReport) -> str:
    def rows(wanted: Callable[[str], bool]) -> list[tuple[str, list[str]]]:
        return [
            (name, [*map(figure, (row.score.precision, row.score.recall, row.score.f1, row.average)),
                    f"{row.score.precision.of:,}", f"{row.score.recall.of:,}"])
            for name, row in report.classes.items() if wanted(name)
        ]  # fmt: skip

    head = ("Class", "precision", "recall", "F1", "AP", "found", "gold")
    caption = f"Boxes that match a gold box of their class at an intersection over union of {report.iou:g} or more"
    if report.regions:
        return _LAYOUT + table(head, rows(lambda name: True), caption=caption, last=ALL)
    sums = table(head, rows(lambda name: name in (ALL, ANY)), caption=caption)
    return sums + details("Each class", table(head, rows(lambda name: name not in (ALL, ANY)), caption=caption))


def _actions(actions: Mapping[str, Figure]) -> str:
    rows = [(name, [figure(one, 4), f"{_hits(one):,}", f"{one.of:,}"]) for name, one in actions.items()]
    low, high = PUBLISHED
    note = (
        f'<p class="note">The participants of the MIDI-B challenge did {low:.2%} to {high:.2%} of the required actions '
        "(their figures, on the images of the challenge).</p>"
    )
    caption = "Share of required actions that were done"
    return note + table(("Action", "value", "done", "required"), rows, caption=caption, last=ALL_ACTIONS)


def _version() -> str:
    from incognote.agents.manifest import incognote_version

    return incognote_version()
