"""Tables on the terminal; in a pipe or a file, aligned columns that are never cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Rows under their heads ("" for none); a cell may hold several lines."""
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
    """Anything of rich's; in a pipe or a file, wide enough that nothing is folded."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = 240
    console.print(shown)


def _plain(rows: Sequence[Sequence[str]]) -> list[str]:
    cells = [[cell.split("\n") for cell in row] for row in rows]
    widths = [max(len(line) for row in cells for line in row[i]) for i in range(len(rows[0]))] if rows else []
    lines: list[str] = []
    for row in cells:
        for n in range(max(map(len, row))):
            parts = (cell[n] if n < len(cell) else "" for cell in row)
            lines.append("  ".join(part.ljust(width) for part, width in zip(parts, widths, strict=True)).rstrip())
    return lines
