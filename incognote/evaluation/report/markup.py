"""Text, figures, and tables as HTML. All text from notes and files must pass through `escaped`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from incognote.evaluation.intervals import Figure

# Control characters become Unicode control pictures, and lone surrogates become the replacement character.
_SIGNS = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n\r"}
_SIGNS.update(dict.fromkeys((0x7F, *range(0x80, 0xA0), *range(0xD800, 0xE000)), 0xFFFD))


def escaped(text: str) -> str:
    """Escape text for HTML, with visible symbols for characters that a browser cannot show."""
    return escape(text.translate(_SIGNS))


def figure(one: Figure | None, digits: int = 3) -> str:
    """A score with its interval below it, as the content of a table cell."""
    if one is None or one.value is None:
        return "–"
    if one.low is None or one.high is None:
        return f"{one.value:.{digits}f}"
    return f"{one.value:.{digits}f}<small>{one.low:.{digits}f}–{one.high:.{digits}f}</small>"


def percent(one: Figure) -> str:
    """A share in words: "4.3% (95% interval 1.2 to 14.5)"."""
    if one.value is None:
        return "not measured"
    if one.low is None or one.high is None:
        return f"{one.value:.1%}".replace("%", " %")
    return f"{100 * one.value:.1f}% (95% interval {100 * one.low:.1f} to {100 * one.high:.1f})"


def table(
    head: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]], *, caption: str = "", last: str = "", top: str = ""
) -> str:
    """A table that scrolls on its own if it is too wide.

    Args:
        head: the column names, escaped by this function.
        rows: each row's name, escaped by this function, and the HTML of its cells.
        caption: the text above the table, escaped by this function.
        last: the name of a row to set apart (the sum of the others).
        top: HTML of a row above the column names.
    """
    titles = "".join(f'<th scope="col">{escaped(name)}</th>' for name in head)
    body = "".join(
        f'<tr{_apart(name, last)}><th scope="row">{escaped(name)}</th>'
        f"{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
        for name, cells in rows
    )
    above = f'<p class="note">{escaped(caption)}</p>' if caption else ""
    label = escaped(caption or head[0] or "table")
    return (
        f'<div class="table">{above}<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table>'
        f"<thead>{top}<tr>{titles}</tr></thead><tbody>{body}</tbody></table></div></div>"
    )


def _apart(name: str, last: str) -> str:
    return ' class="all"' if name == last else ""


def details(summary: str, content: str) -> str:
    """A collapsed section with a summary."""
    return f"<details><summary>{escaped(summary)}</summary>{content}</details>"
