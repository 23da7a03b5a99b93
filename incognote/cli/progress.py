"""Progress bars where somebody looks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn


@contextmanager
def bars(*columns: ProgressColumn) -> Iterator[Progress]:
    """Bars on the standard error, rich's own columns by default; nothing is shown in a file or a pipe."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True, highlight=False, markup=False)
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        yield progress
