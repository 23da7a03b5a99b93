"""Progress bars and HTML for notebooks and terminals."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from incognote.reasons import reason_texts

if TYPE_CHECKING:
    from rich.progress import Progress as Terminal

T = TypeVar("T")
MANY = 100
"""A progress bar appears by default from this many records on."""


class ProgressBar:
    """A progress bar on a terminal (standard error) or in a notebook.

    Args:
        total: the number of records; None if it is not known.
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
        """Yield the items as they are read. By default the bar appears after `MANY` items."""
        for item in items:
            self._read += 1
            if self._show is None and self._read == MANY:
                self._open()
            yield item

    def done(self, results: list[T]) -> Iterator[T]:
        """Yield the results. Each one advances the bar."""
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
        """Show plain HTML.

        Rich's own bar needs ipywidgets in a notebook, and its state would be saved with the notebook.
        """
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


Mark = tuple[int, int, str, str]
"""Start, end, type and words of a span. The mark is not drawn if the text at that place differs from the words."""
LONGEST = 20_000
"""The number of characters of a text that a notebook shows. A saved notebook grows by all of them."""
PHI_WARNING = "This output contains the original text. Clear it before you save or share the notebook."
_TICKS = re.compile("`([^`]*)`")
_OUTCOMES = {
    "release": ("Released", "All checks of the policy passed. This does not prove that no identifier is left."),
    "review": ("Held for review", "A check found a possible identifier or a doubt. The text is not released."),
    "quarantine": ("Quarantined", "The record was not processed, or an identifier is left. Nothing is released."),
}
_BOX = (
    "white-space:pre-wrap;overflow:auto;overflow-wrap:anywhere;max-height:28em;margin:6px 0;padding:8px 10px;"
    "border:1px solid hsl(0 0% 50%/.45);border-radius:4px;text-align:left;unicode-bidi:isolate"
)


@dataclass(frozen=True, slots=True)
class Shown:
    """HTML that a notebook displays. Its repr does not contain the HTML."""

    html: str = field(repr=False)

    def _repr_html_(self) -> str:
        return self.html


class Markup:
    """Texts as HTML with marked spans, one color per type. It uses no script, style sheet or outside resource.

    Args:
        counts: the number of spans of each type.
    """

    def __init__(self, counts: Mapping[str, int]) -> None:
        self._counts = dict(sorted(counts.items()))
        self._hues = {name: 137 * i % 360 for i, name in enumerate(self._counts)}

    def counts(self, empty: str) -> str:
        """Return the types with their counts, in the colors of their marks."""
        chips = (f"{self.mark(name, name)} {count:,}" for name, count in self._counts.items())
        return f'<div style="line-height:1.9">{" &nbsp; ".join(chips) or empty}</div>'

    def text(self, content: str, spans: Iterable[Mark]) -> str:
        """Return a text in a box, cut after `LONGEST` characters."""
        cut = f"\n… {len(content) - LONGEST:,} more characters" if len(content) > LONGEST else ""
        return f'<div dir="auto" style="{_BOX}">{self._marked(content[:LONGEST], spans)}{cut}</div>'

    def record(self, value: Any, spans: Mapping[str, Sequence[Mark]]) -> str:
        """Return a JSON record in a box, cut after `LONGEST` characters. `spans` maps field paths to marks."""
        parts: list[str] = []
        shown = 0
        for part, marked in self._json(value, spans, "", "\n"):
            shown += len(part)
            if shown > LONGEST:
                parts.append("\n…")
                break
            parts.append(marked)
        return f'<div style="{_BOX};font-family:monospace;font-size:90%">{"".join(parts)}</div>'

    def mark(self, words: str, type: str) -> str:
        """Mark words as a span of a type. The type is added after the words unless they contain it."""
        style = f"background:hsl({self._hues.get(type, 0)} 75% 50%/.28);color:inherit;border-radius:3px;padding:0 3px"
        name = escape(type)
        label = "" if type in words else f'<small style="opacity:.85;font-size:75%"> {name}</small>'
        return f'<mark style="{style}" title="{name}">{escape(words)}{label}</mark>'

    def _marked(self, content: str, spans: Iterable[Mark], written: Callable[[str], str] = str) -> str:
        parts, at = [], 0
        for start, end, name, words in sorted(spans):
            if at <= start and content[start:end] == words:
                parts += [escape(written(content[at:start])), self.mark(written(content[start:end]), name)]
                at = end
        return "".join([*parts, escape(written(content[at:]))])

    def _json(
        self, value: Any, spans: Mapping[str, Sequence[Mark]], path: str, line: str
    ) -> Iterator[tuple[str, str]]:
        """Yield the pieces of a value written as JSON, each as plain text and as HTML."""
        inner = line + "  "
        if isinstance(value, (dict, list)) and value:
            opened, closed = "{}" if isinstance(value, dict) else "[]"
            pairs = value.items() if isinstance(value, dict) else enumerate(value)
            yield opened, opened
            for i, (key, item) in enumerate(pairs):
                name = f"{json.dumps(key, ensure_ascii=False)}: " if isinstance(value, dict) else ""
                head = ("," if i else "") + inner + name
                yield head, escape(head)
                place = f"[{key}]" if isinstance(value, list) else f".{key}" if path else key
                yield from self._json(item, spans, path + place, inner)
            yield line + closed, line + closed
        elif isinstance(value, str):
            marked = self._marked(value, spans.get(path, ()), lambda s: json.dumps(s, ensure_ascii=False)[1:-1])
            yield value, f'"{marked}"'
        else:
            yield str(value), escape(json.dumps(value))


def heading(outcome: str) -> str:
    """Return the outcome in words."""
    word, text = _OUTCOMES[outcome]
    return f"<div><b>{word}.</b> {text}</div>"


def reasons_html(reasons: Iterable[tuple[str, str]]) -> str:
    """Return an HTML list of reason codes. Each item says what the code means and what to do next.

    Args:
        reasons: pairs of a code and the place or subject it is about. Neither contains a value of a record.
    """
    about: dict[str, dict[str, None]] = {}
    for code, detail in reasons:
        about.setdefault(code, {})[detail] = None
    texts, items = reason_texts(), []
    for code, details in about.items():
        words = texts.get(code)
        means = _TICKS.sub(r"<code>\1</code>", escape(f": {words.means} {words.next}")) if words else ""
        named = [escape(detail) for detail in details if detail]
        more = f" … and {len(named) - 5:,} more" if len(named) > 5 else ""
        items.append(f"<li><code>{escape(code)}</code>{means}{''.join(f'<br>{d}' for d in named[:5])}{more}</li>")
    return f'<ul style="margin:4px 0">{"".join(items)}</ul>' if items else ""


def page(*parts: str) -> str:
    """Return the parts as one element."""
    html = f'<div style="text-align:left;line-height:1.5">{"".join(parts)}</div>'
    return html.encode("utf-8", "replace").decode()  # a lone surrogate code point cannot be sent to a notebook
