"""Tables and progress bars. In a pipe or a file, columns are aligned and never truncated, and bars are hidden."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from incognote.cli.shell import say

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress, ProgressColumn


def print_rows(
    command: str,
    data: dict[str, Any],
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    as_json: bool,
    empty: str = "",
) -> None:
    """Print a list: the data as one line of JSON, or the rows as a table.

    Args:
        empty: the text to print if there are no rows.
    """
    if as_json:
        say(command, data)
    elif empty and not rows:
        sys.stdout.write(empty + "\n")
    else:
        print_table(head, rows)


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under column headings ("" for none). A cell can hold several lines."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        for line in _plain([head, *rows] if any(head) else rows):
            console.file.write(line + "\n")
        return
    table = Table(box=None, pad_edge=False, show_header=any(head), header_style="bold", padding=(0, 2, 0, 0))
    for name in head:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)


def print_whole(shown: RenderableType) -> None:
    """Print a Rich renderable. In a pipe or a file, it is wide enough that no line wraps."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = 240
    console.print(shown)


@contextmanager
def bars(*columns: ProgressColumn) -> Iterator[Progress]:
    """Show progress bars on standard error, with Rich's default columns. Nothing is shown in a file or a pipe."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True, highlight=False, markup=False)
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        yield progress


def _plain(rows: Sequence[Sequence[str]]) -> list[str]:
    cells = [[cell.split("\n") for cell in row] for row in rows]
    widths = [max(len(line) for row in cells for line in row[i]) for i in range(len(rows[0]))] if rows else []
    lines: list[str] = []
    for row in cells:
        for n in range(max(map(len, row))):
            parts = (cell[n] if n < len(cell) else "" for cell in row)
            lines.append("  ".join(part.ljust(width) for part, width in zip(parts, widths, strict=True)).rstrip())
    return lines
