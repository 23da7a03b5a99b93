"""Format the figures as tables, for the terminal and for a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incognote.runs.units import passes_shown

if TYPE_CHECKING:
    from rich.console import RenderableType

_SLICES = {
    "all": "all notes",
    "with_phi": "with PHI",
    "without_phi": "without PHI",
}
_CPU = {
    "detection": "detection with the rules only",
    "without_model": "a complete run without a model",
    "with_model": "a complete run with rules and model, passes by need",
    "no_rules": "a complete run with the model only, passes by need",
    "orchestration": "orchestration (rules and model, minus detection)",
    "of_model": "added by the model (rules and model, minus a run without a model)",
}


_HALF = 0.5  # of an echo's tokens: the limit for a reply
_WALL = 1.1  # of the ideal time: the limit for a run
_RECALLS = {"all_or_nothing": "all-or-nothing recall", "recall": "recall of identifiers"}


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table: its title, its columns, its rows, and an explanation."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    said: str


def sheets(measured: dict[str, Any]) -> list[Sheet]:
    """All tables for the result of `measure`."""
    return [_tokens(measured["tokens"]), _chunk(measured["tokens"]), _composites(measured["composites"]),
            _schedule(measured["schedule"]), _cpu(measured["cpu"]),
            *(_passes(measured["passes"], kind) for kind in _RECALLS), _by_need(measured["by_need"])]  # fmt: skip


def printed(measured: dict[str, Any]) -> RenderableType:
    """Return the tables for `rich`."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    made: list[RenderableType] = [Text(_corpus(measured)), Text()]
    for sheet in sheets(measured):
        table = Table(box=None, title=sheet.title, title_justify="left")
        for i, column in enumerate(sheet.columns):
            table.add_column(column, justify="right" if i else "left")
        for row in sheet.rows:
            table.add_row(*row)
        made += [table, Text(sheet.said, style="dim"), Text()]
    return Group(*made)


def written(measured: dict[str, Any], plot: str | None) -> str:
    """Return the page as Markdown.

    Args:
        plot: the name of the picture of the passes, or None.
    """
    made_by = (
        "`python -m incognote_benchmarks.reading --out docs/measured/reading.json` generates this page. "
        "The JSON file contains all of the figures."
    )
    pieces = ["# Tokens, requests, and time with a language model", _corpus(measured), made_by]
    for sheet in sheets(measured):
        lines = [sheet.columns, ["---", *["---:"] * (len(sheet.columns) - 1)], *sheet.rows]
        pieces += [f"## {sheet.title}", "\n".join(f"| {' | '.join(line)} |" for line in lines), sheet.said]
    if plot is not None:
        pieces.append(f"![All-or-nothing recall after 1 to 4 passes, with and without masking]({plot})")
    return "\n\n".join(pieces) + "\n"


def _corpus(measured: dict[str, Any]) -> str:
    corpus = measured["corpus"]
    kind = {True: "synthetic", False: "real", None: "not stated whether synthetic"}[corpus["synthetic"]]
    return (
        f"{corpus['file']} ({kind}): {corpus['notes']} notes, {corpus['with_phi']} with PHI, {corpus['identifiers']:,} "
        f"identifiers. Replies are scripted from the gold, so these figures do not measure how good a model is. The "
        f"machine ran Python {measured['python']} on {measured['machine']} with {measured['cores']} cores."
    )


def _tokens(tokens: dict[str, Any]) -> Sheet:
    rows, some = [], tokens["with_phi"]
    met = [n for n in _SLICES if tokens[n]["contracts"]["contract 2"]["of_echo"] <= _HALF]
    missed = [n for n in _SLICES if n not in met]
    for name, told in _SLICES.items():
        slice_ = tokens[name]
        echoes = slice_["echo"]
        least = min(echoes, key=lambda echo: float(echoes[echo]["output"]))
        rows.append(
            [f"{told}, n = {slice_['notes']}: echo ({least})", *_numbers(echoes[least]["input"]), "",
             *_numbers(echoes[least]["output"]), ""]
        )  # fmt: skip
        for contract, of in slice_["contracts"].items():
            numbers = _numbers(of["input"], of["input_schema"], of["output"])
            rows.append([f"{contract}", *numbers, f"{of['of_echo']:.2f}"])
    return Sheet(
        "Tokens per note, passes by need",
        ("", "input", "schema", "output", "output / echo"),
        rows,
        f"Tokens are counted with {tokens['counted_with']}. An echo repeats the text once, with its identifiers "
        "replaced. The target is half of the echo's output. Contract 2, of prompts 2 and 3, meets the target for these "
        f"groups: {_named(met)}. It misses the target for these groups: {_named(missed)}. The notes with PHI have "
        f"{100 * some['identifiers'] / some['words']:.0f} identifiers per 100 words, and each of them takes tokens. "
        "The schema is listed separately because some vendors count it as input.",
    )


def _chunk(tokens: dict[str, Any]) -> Sheet:
    names = ("system", "user", "schema", "output")
    rows = [
        [name, str(of["calls"]), *_numbers(*(of.get(key, 0) for key in names))]
        for name, of in tokens["per_chunk"].items()
    ]
    columns = ("", "calls", "instructions", "text and delimiters", "schema", "output")
    said = "The instructions are the same for every call in a run. Vendors that cache prefixes charge less for them."
    return Sheet("Tokens per call", columns, rows, said)


def _composites(composites: Sequence[dict[str, Any]]) -> Sheet:
    rows = [
        [
            f"{of['texts']} texts of {of['words_per_text']:.0f} words",
            f"{of['single']['calls']:.1f} → {of['composite']['calls']:.1f}",
            *(f"{of['single'][key]:,.0f} → {of['composite'][key]:,.0f}" for key in ("input", "output")),
            f"{100 * of['saved']:.0f}%",
            f"{100 * of['saved_with_schema']:.0f}%",
            f"{'equal' if of['equal'] else 'DIFFERENT'} ({of['spans']})",
        ]
        for of in composites
    ]
    return Sheet(
        "Composite requests, per FHIR Bundle, passes by need",
        ("", "calls", "input tokens", "output tokens", "input saved", "with schema", "spans"),
        rows,
        f"There are {composites[0]['records']} Bundles of each size, made from short lines of the notes. The figure "
        "before the arrow is for one text per request, and the figure after it is for composite requests.",
    )


def _schedule(runs: Sequence[dict[str, Any]]) -> Sheet:
    rows = [
        [
            _run(of, runs[0]["notes"]),
            f"{of['calls']}",
            f"{of['ideal']:.2f} s",
            f"{of['wall']:.2f} s",
            f"{of['over']:.2f}",
            "" if of["processes"] else f"{of['cpu']:.2f} s",
            "" if of["load"] is None else f"{of['load']:.1f}",
        ]
        for of in runs
    ]
    return Sheet(
        f"Schedule: {runs[0]['notes']} single-chunk notes, {runs[0]['slots']} slots",
        ("", "calls", "ideal", "wall", "wall / ideal", "processor time", "load"),
        rows,
        "Each note is read in two passes, except in the runs with passes by need. "
        f"The table shows the fastest of {len(runs[0]['walls'])} rounds. The JSON file contains all of them. The "
        f"target is a ratio of {_WALL:.2f}, and {sum(of['over'] <= _WALL for of in runs)} of {len(runs)} runs meet it. "
        "One event loop runs on one core. If the processor time is close to the ideal time or above it, the processor "
        "is the bottleneck, not the schedule. The column `load` shows the load average of the machine before the run. "
        "Other work on the machine also slows down these runs.",
    )


def _run(of: dict[str, Any], usual: int) -> str:
    parts = [
        "+".join(of["detectors"]),
        "HTTP" if of["http"] else "in process",
        f"{1000 * of['latency']:.0f} ms",
        *(["reading only"] if of["finds"] else []),
        *(["passes by need"] if of["need"] else []),
        *([f"{of['processes']} processes"] if of["processes"] else []),
        *([f"{of['notes']:,} notes"] if of["notes"] != usual else []),
    ]
    return ", ".join(parts)


def _cpu(cpu: dict[str, Any]) -> Sheet:
    rows = [[told, f"{cpu['milliseconds'][name]:.1f}"] for name, told in _CPU.items()]
    said = (
        f"The table shows the fastest of {cpu['rounds']} rounds over {cpu['notes']} notes. Each note is one chunk of "
        f"{cpu['characters']:.0f} characters on average and takes {cpu['calls']:.1f} calls. The model replies "
        "immediately, without HTTP, and its own time is subtracted. A complete run detects at least twice, because the "
        "final check reads the output again. This is included in the orchestration."
    )
    return Sheet("Processor time per note, in milliseconds", ("", "ms"), rows, said)


def _passes(passes: dict[str, Any], kind: str) -> Sheet:
    masked, bare = passes["masking"], passes["no_masking"]
    rows = [
        [
            name,
            str(passes["groups"].get(name, passes["notes"])),
            *(f"{value:.2f}" for value in masked[name][kind]),
            f"{bare[name][kind][-1]:.2f}",
        ]
        for name in masked
    ]
    turns = len(masked["all"][kind])
    return Sheet(
        f"Passes: {_RECALLS[kind]}",
        ("", "notes", *(f"after {turn + 1}" for turn in range(turns)), f"after {turns}, not masked"),
        rows,
        f"The scripted model reports at most {passes['at_most']} identifiers per reply, in this order: "
        f"{', '.join(passes['order'])}. The groups that are missed most often in RedactOR's Figure 2 come last.",
    )


def _by_need(rows: Sequence[dict[str, Any]]) -> Sheet:
    lines = [
        [
            "complete" if row["at_most"] is None else f"at most {row['at_most']} identifiers",
            passes_shown(row["passes"]),
            f"{row['calls']:.2f}",
            f"{row['recall']:.4f}",
            str(row["leaking"]),
        ]
        for row in rows
    ]
    return Sheet(
        "Passes by need",
        ("scripted reply", "passes", "calls per note", "recall of identifiers", "notes that leak"),
        lines,
        "Rules, encoder, and model together. By need, a chunk is read again if the reply missed something of which "
        "rules and encoder are certain. The second pass then masks everything of which they are certain. With fixed "
        "passes, it masks only the findings of the model.",
    )


def _named(slices: Sequence[str]) -> str:
    return ", ".join(_SLICES[name] for name in slices) or "none"


def _numbers(*values: float) -> list[str]:
    return [f"{value:,.0f}" for value in values]
