"""What a notebook or a terminal shows of a run."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress as Terminal

T = TypeVar("T")
MANY = 100
"""Records from which on a progress bar appears by itself."""


class ProgressBar:
    """A progress bar on a terminal (standard error) or in a notebook.

    Args:
        total: how many records there are; None if that is not known.
        show: True for always, False for never, None for `MANY` records or more on a terminal or in a notebook.
    """

    def __init__(self, total: int | None, show: bool | None) -> None:
        self._total, self._show = total, show
        self._read = self._done = 0
        self._began = self._drawn = time.monotonic()
        self._terminal: Terminal | None = None
        self._handle: Any = None
        if show or (show is None and (total or 0) >= MANY):
            self._open()

    def read(self, items: Iterable[T]) -> Iterator[T]:
        """The items as they are read; the bar appears after `MANY`."""
        for item in items:
            self._read += 1
            if self._show is None and self._read == MANY:
                self._open()
            yield item

    def done(self, results: list[T]) -> Iterator[T]:
        """The results; each one moves the bar."""
        for result in results:
            self._done += 1
            if self._terminal is not None:
                self._terminal.advance(self._terminal.task_ids[0])
            elif self._handle is not None and time.monotonic() - self._drawn > 0.2:
                self._draw()
            yield result

    def close(self) -> None:
        """Remove the bar from a terminal; leave the count and the time in a notebook."""
        if self._terminal is not None:
            self._terminal.stop()
        elif self._handle is not None:
            self._draw(ended=True)
        self._terminal = self._handle = None
        self._show = False

    def _open(self) -> None:
        if self._terminal is not None or self._handle is not None:
            return
        if not (self._show or "IPython" in sys.modules or sys.stderr.isatty()):
            return
        from rich.console import Console

        console = Console(stderr=True)
        if console.is_jupyter:
            self._notebook()
        elif self._show or console.is_terminal:
            from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

            words = Progress.get_default_columns()[:2]
            columns = (*words, MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
            self._terminal = Progress(*columns, console=console, transient=True)
            self._terminal.add_task("De-identifying", total=self._total, completed=self._done)
            self._terminal.start()

    def _notebook(self) -> None:
        """Rich's own bar needs ipywidgets there, and its state would be saved with the notebook."""
        display = import_module("IPython.display").display
        self._handle = display(self._bundle(ended=False), raw=True, display_id=os.urandom(8).hex())

    def _draw(self, *, ended: bool = False) -> None:
        self._drawn = time.monotonic()
        self._handle.update(self._bundle(ended=ended), raw=True)

    def _bundle(self, *, ended: bool) -> dict[str, str]:
        seconds = time.monotonic() - self._began
        of = f" of {self._total:,}" if self._total is not None and not ended else ""
        line = f"{self._done:,}{of} records in {seconds:,.0f} s"
        if ended:
            return {"text/plain": line, "text/html": line}
        known = "" if self._total is None else f' value="{self._done}" max="{self._total}"'
        return {"text/plain": line, "text/html": f"<progress{known}></progress> {line}"}
