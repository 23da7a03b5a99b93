"""`--show`: print the original and the new text. This displays PHI."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from incognote.errors import UsageError

if TYPE_CHECKING:
    from rich.text import Text as Painted

    from incognote.files.inputs import Input
    from incognote.nouns import Replacement, Result

# One color per evaluation group of the catalog, readable on dark and light backgrounds.
_COLOURS = {
    "PERSON": "red",
    "DATE": "cyan",
    "AGE": "blue",
    "LOCATION": "green",
    "CONTACT": "magenta",
    "ID": "yellow",
    "PROFESSION": "bright_blue",
    "OTHER": "bright_magenta",
}
_OUTCOMES = {"release": "bold green", "review": "bold yellow", "quarantine": "bold red"}


def may_show(show: bool, *, anyway: bool) -> bool:
    """Whether originals may be printed.

    Raises:
        UsageError: standard output is not a terminal, and --show-anyway is not set.
    """
    if show and not anyway and not on_terminal():
        raise UsageError("--show prints PHI, and the output is not a terminal. To print it anyway, use --show-anyway.")
    return show or anyway


def on_terminal() -> bool:
    """Whether standard output is a terminal that shows text to a person."""
    return sys.stdout.isatty()


class Shower:
    """Prints each result: for each text, the original with its replaced parts marked, then the new text."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
        self._plain = self._console.no_color or not self._console.is_terminal
        self._number = 0
        self._console.print("What follows shows PHI: original texts, for your eyes only.", style="bold reverse")

    def show(self, one: Input, result: Result) -> None:
        """Print one record or text."""
        self._number += 1
        self._console.print()
        self._console.print(self._heading(result))
        for replacements in _by_text(result.replacements):
            source = replacements[0].span.source
            self._console.print(source.field or "original", style="bold")
            self._console.print(self._original(source.content, replacements))
            self._console.rule("de-identified", align="left", style="dim", characters="-")
            self._console.print(self._new(source.content, replacements))
        if result.replacements:
            self._console.print(self._legend(result.replacements))
        else:
            if not one.is_record:
                self._console.print(visible(str(one.content)))
            self._console.print("Nothing was replaced in its text.", style="dim")

    def _heading(self, result: Result) -> Painted:
        from rich.text import Text

        line = Text(f"Record {self._number}: ")
        line.append(result.verdict.outcome, style=_OUTCOMES[result.verdict.outcome])
        for reason in result.verdict.reasons:
            line.append(f"\n  {reason}")
        return line

    def _original(self, content: str, replacements: Sequence[Replacement]) -> Painted:
        from rich.text import Text

        line, at = Text(), 0
        for r in replacements:
            line.append(visible(content[at : r.span.start]))
            words = visible(r.span.text)
            line.append(f"[-{words}-]" if self._plain else words, style=f"{_colour(r.span.type)} reverse")
            at = r.span.end
        line.append(visible(content[at:]))
        return line

    def _new(self, content: str, replacements: Sequence[Replacement]) -> Painted:
        from rich.text import Text

        line, at = Text(), 0
        for r in replacements:
            line.append(visible(content[at : r.span.start]))
            words = visible(r.text)
            line.append(f"{{+{words}+}}" if self._plain else words, style=f"{_colour(r.span.type)} bold")
            at = r.span.end
        line.append(visible(content[at:]))
        return line

    def _legend(self, replacements: Iterable[Replacement]) -> Painted:
        from rich.text import Text

        counts: dict[str, int] = {}
        for r in replacements:
            counts[r.span.type] = counts.get(r.span.type, 0) + 1
        line = Text("Replaced: ", style="dim")
        for name, count in sorted(counts.items()):
            line.append(f"{name} {count}  ", style=_colour(name))
        return line


def visible(text: str) -> str:
    """Replace control characters with symbols, so that a note cannot control the terminal. Keep tabs and line ends."""
    return "".join(_picture(c) if _steers(c) else c for c in text.replace("\r\n", "\n"))


def _steers(c: str) -> bool:
    """Whether it is a C0 or C1 control, or a mark that reorders a line (Unicode TR 36, section 2.1)."""
    return (
        (c < " " and c not in "\n\t")
        or "\x7f" <= c <= "\x9f"
        or c in "\u061c\u200e\u200f"
        or ("\u202a" <= c <= "\u202e" or "\u2066" <= c <= "\u2069" or "\ud800" <= c <= "\udfff")
    )


def _picture(c: str) -> str:
    if c < " ":
        return chr(0x2400 + ord(c))
    return "\u2421" if c == "\x7f" else "\ufffd"


def _colour(entity_type: str) -> str:
    from incognote.schemas.catalogue import catalogue

    types = catalogue()
    return _COLOURS[types[entity_type].group] if entity_type in types else _COLOURS["OTHER"]


def _by_text(replacements: Iterable[Replacement]) -> list[list[Replacement]]:
    """Group replacements by their text, in text order."""
    texts: dict[str, list[Replacement]] = {}
    for r in replacements:
        texts.setdefault(r.span.field, []).append(r)
    return [sorted(group, key=lambda r: r.span.start) for group in texts.values()]
