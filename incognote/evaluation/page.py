"""One self-contained HTML page that shows, note by note, what was missed and what was replaced unnecessarily.

It is meant for a privacy officer: the notes that leak most come first. The page quotes the notes, so it contains PHI if
they do. It loads nothing from outside, and its content security policy forbids it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from string import Template

from incognote.evaluation.corpus import Pair
from incognote.evaluation.report import ScoreReport
from incognote.evaluation.report.markup import escaped
from incognote.files.atomic import write_atomic

_CARDS = {
    "recall": "of the identifying characters were found",
    "precision": "of the characters found are identifying",
    "documents_leaking": "of the notes with PHI leak at least one character",
    "clean_texts_touched": "of the texts without PHI are changed",
}


def write_page(path: str | Path, pairs: Iterable[Pair], report: ScoreReport) -> None:
    """Write the whole page to `path`, readable by its owner only if the system supports that.

    Args:
        pairs: the notes, shown with all their types even if the report is restricted to some.
        report: their scores.
    """
    notes = sorted((_Note(pair) for pair in pairs), key=lambda note: (-note.missed, -note.extra, note.pair.id))
    template = files("incognote.evaluation").joinpath("page.html").read_text(encoding="utf-8")
    page = Template(template).substitute(
        provenance=escaped(report.provenance),
        figures="".join(_cards(report)),
        types="".join(_options(notes)),
        problems=_problems(report),
        notes="\n".join(note.html() for note in notes),
    )
    write_atomic(Path(path), page.encode(), private=True)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of text with the same gold and findings throughout."""

    text: str
    gold: tuple[str, ...]
    found: tuple[str, ...]

    @property
    def state(self) -> str:
        """"miss", "extra", "hit", or "" if nothing is labeled or only white space and punctuation is affected."""
        if self.gold and self.found:
            return "hit"
        if not (self.gold or self.found) or not any(map(str.isalnum, self.text)):
            return ""
        return "miss" if self.gold else "extra"

    @property
    def characters(self) -> int:
        return sum(map(str.isalnum, self.text))


class _Note:
    """One note cut into pieces, with the numbers of characters missed and replaced unnecessarily."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.pieces = list(_pieces(pair))
        self.missed = sum(p.characters for p in self.pieces if p.state == "miss")
        self.extra = sum(p.characters for p in self.pieces if p.state == "extra")

    def html(self) -> str:
        said = [f'<span class="m">{self.missed:,} characters missed</span>'] if self.missed else []
        said += [f'<span class="e">{self.extra:,} replaced unnecessarily</span>'] if self.extra else []
        body = f'<pre dir="auto">{"".join(map(_marked, self.pieces))}</pre>'
        if not said:
            said.append('<span class="ok">no errors</span>')
            body = f"<details><summary>Show the note</summary>{body}</details>"
        return f"<article><h2>{escaped(self.pair.id)} {' '.join(said)}</h2>{body}</article>"


def _pieces(pair: Pair) -> Iterator[_Piece]:
    opening: dict[int, list[tuple[bool, str]]] = {}
    closing: dict[int, list[tuple[bool, str]]] = {}
    for is_gold, labels in ((True, pair.gold), (False, pair.found)):
        for label in labels:
            opening.setdefault(label.start, []).append((is_gold, label.type))
            closing.setdefault(label.end, []).append((is_gold, label.type))
    open_: Counter[tuple[bool, str]] = Counter()
    for start, end in pairwise(sorted({0, len(pair.text), *opening, *closing})):
        open_.update(opening.get(start, ()))
        open_.subtract(closing.get(start, ()))
        here = sorted(key for key, count in open_.items() if count)
        gold, found = (tuple(name for is_gold, name in here if is_gold is wanted) for wanted in (True, False))
        yield _Piece(pair.text[start:end], gold, found)


def _marked(piece: _Piece) -> str:
    text = escaped(piece.text)
    if not piece.state:
        return text
    types = escaped(" ".join(sorted({*piece.gold, *piece.found})))
    if piece.state == "hit":
        return f'<mark data-types="{types}" title="{escaped("/".join(piece.gold))}">{text}</mark>'
    title = f"missed: {types}" if piece.state == "miss" else f"replaced unnecessarily: {types}"
    return f'<mark class="{piece.state}" data-types="{types}" data-label="{types}" title="{title}">{text}</mark>'


def _cards(report: ScoreReport) -> Iterator[str]:
    for name, meaning in _CARDS.items():
        figure = report.figures[name]
        value = "–" if figure.value is None else f"{figure.value:.1%}"
        between = "" if figure.low is None else f"95% interval {figure.low:.1%} to {figure.high:.1%}"
        yield f"<li><b>{value}</b>{meaning}<small>{between}</small></li>"


def _options(notes: Sequence[_Note]) -> Iterator[str]:
    missed: Counter[str] = Counter()
    extra: Counter[str] = Counter()
    for note in notes:
        for piece in note.pieces:
            if piece.state == "miss":
                missed.update(set(piece.gold))
            elif piece.state == "extra":
                extra.update(set(piece.found))
    for name in sorted({*missed, *extra}, key=lambda n: (-missed[n], -extra[n], n)):
        label = escaped(name)
        yield f'<option value="{label}">{label}: {missed[name]} missed, {extra[name]} extra</option>'


def _problems(report: ScoreReport) -> str:
    if not report.problems:
        return ""
    rows = "".join(
        f"<li>{escaped(p.id)}: {escaped(p.what)}{'' if p.scored else ' (not scored, not shown)'}</li>"
        for p in report.problems
    )
    return f"<article><h2>Documents with problems: {len(report.problems)}</h2><ul>{rows}</ul></article>"
