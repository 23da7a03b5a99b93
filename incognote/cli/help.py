"""The text of `--help`: common options, an example, and names of other options. `--help-all` explains all options."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

C = TypeVar("C", bound=Callable[..., Any])
MORE = "More: "  # prefix of panels whose options and commands `--help` lists by name only
RESEARCH = f"{MORE}research and evaluation"
_WIDEST, _LONGEST_NAME = 100, 30
_FEW = 14  # a command with at most this many options explains all of them


class Helped:
    """A mixin that prints the help of a command or a group."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Parse the arguments like Typer, and handle `--help-all`."""
        if "--help-all" in (args[:1] if isinstance(self, TyperGroup) else args):
            _print(self, ctx, everything=True)
            ctx.exit()
        return super().parse_args(ctx, args)  # type: ignore[misc]  # defined by Typer's class, which follows in the MRO

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        _print(self, ctx, everything=False)


class Command(Helped, TyperCommand):
    """A command whose help fits a screen."""


class Group(Helped, TyperGroup):
    """A group of commands whose help fits a screen."""


class App(typer.Typer):
    """A Typer whose commands and groups print their help with `Command` and `Group`."""

    def __init__(self, *, cls: type[TyperGroup] = Group, **words: Any) -> None:
        super().__init__(cls=cls, no_args_is_help=True, **words)

    def command(
        self, name: str | None = None, *, cls: type[TyperCommand] | None = None, **words: Any
    ) -> Callable[[C], C]:
        """Register a command like Typer, with `Command` as its class."""
        return super().command(name, cls=cls or Command, **words)


def _panel(thing: Any) -> str:
    found = getattr(thing, "rich_help_panel", None)  # a placeholder object if no panel was named
    return found if isinstance(found, str) else ""


def _hides(params: Iterable[Any]) -> bool:
    options = [param for param in params if isinstance(param, TyperOption) and not param.hidden]
    return len(options) > _FEW and any(_panel(option).startswith(MORE) for option in options)


def _print(command: Any, ctx: Any, *, everything: bool) -> None:
    """Print usage, description, arguments, options, commands, and an example."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    width = min(console.width, _WIDEST)
    about, example = _described(command.help or "")

    def head(title: str) -> None:
        console.print()
        console.print(Text(title, style="bold"))

    def table(rows: list[tuple[str, str]]) -> None:
        wide = min(max(len(name) for name, _ in rows), _LONGEST_NAME)
        for name, text in rows:
            first, *rest = _wrapped(text, width - wide - 4) or [""]
            long = len(name) > wide
            console.print(Text.assemble("  ", (name.ljust(wide), "cyan"), "" if long else f"  {first}"))
            for line in [first, *rest] if long else rest:
                console.print(" " * (wide + 4) + line)

    console.print(Text(command.get_usage(ctx), style="bold"))
    for paragraph in about:
        console.print()
        console.print("\n".join(_wrapped(paragraph, width)))
    shown, named = _sections(command, ctx, everything=everything)
    for title, rows in shown.items():
        head(title)
        table(rows)
    if named:
        head(f"More (explained by {ctx.command_path} --help-all)")
        table([(title, ", ".join(name for name, _ in rows)) for title, rows in named.items()])
    if len(example) == 1 and len(example[0]) < width - 9:
        console.print()
        console.print(Text.assemble(("Example: ", "bold"), example[0]))
    elif example:
        head("Example" if len(example) == 1 else "Examples")
        for line in example:
            console.print("  " + " \\\n      ".join(_wrapped(line, width - 8)))
    if command.epilog:
        console.print()
        console.print("\n".join(_wrapped(command.epilog, width)))


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)


def _sections(
    command: Any, ctx: Any, *, everything: bool
) -> tuple[dict[str, list[tuple[str, str]]], dict[str, list[tuple[str, str]]]]:
    """Return the rows that are explained, and the rows that are listed by name only, each by heading."""
    shown, named = defaultdict[str, list[tuple[str, str]]](list), defaultdict[str, list[tuple[str, str]]](list)
    params = [param for param in command.get_params(ctx) if not getattr(param, "hidden", False)]
    few, group = not _hides(command.params), isinstance(command, TyperGroup)
    for param in params:
        if isinstance(param, TyperArgument):
            named_as = (param.metavar or str(param.name).upper()).removesuffix("...")
            shown["Arguments"].append((named_as + "..." * (param.nargs == -1), param.help or ""))
    if shown:  # keeps the order of the headings
        shown["Options"] = []
    for param in params:
        if isinstance(param, TyperOption):
            panel = _panel(param)
            title = panel.removeprefix(MORE).capitalize() or "Options"
            if everything or (few and not group) or not (group or panel.startswith(MORE)):
                shown[title].append((_spelled(param), " ".join(_explained(param))))
            else:
                named[title].append((max(param.opts, key=len), ""))
    for name in command.list_commands(ctx) if group else ():
        each = command.get_command(ctx, name)
        if each is None or each.hidden:
            continue
        panel = _panel(each)
        into = shown if everything or not panel.startswith(MORE) else named
        into[panel.removeprefix(MORE).capitalize() or "Commands"].append((name, _described(each.help or "")[0][0]))
    return {title: rows for title, rows in shown.items() if rows}, dict(named)


def _described(text: str) -> tuple[list[str], list[str]]:
    """Split a docstring into its paragraphs and the commands under `Example:` or `Examples:`."""
    paragraphs, example = list[str](), list[str]()
    for block in textwrap.dedent(text).strip().split("\n\n"):
        first, *rest = block.strip().split("\n")
        if first in ("Example:", "Examples:"):
            example = [line.strip() for line in rest]
        else:
            paragraphs.append(" ".join(block.split()))
    return paragraphs, example


def _spelled(option: TyperOption) -> str:
    """Return the names of an option and its value."""
    names = [*sorted(option.opts, key=len), *option.secondary_opts]
    if option.is_flag:
        return ", ".join(names)
    return f"{', '.join(names)} {option.metavar or 'N'}"


def _explained(option: TyperOption) -> Iterator[str]:
    yield option.help or ""
    if option.required:
        yield "Required."
    elif option.show_default and not option.is_flag and option.default not in (None, (), []):
        yield f"Default: {option.default}."
    if option.envvar:
        yield f"Or set {option.envvar}."
