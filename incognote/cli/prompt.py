"""`incognote prompt`: show, compare, check, and render prompts."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incognote.cli import options
from incognote.cli.help import App
from incognote.cli.shell import FAILURE, put_out, say, warn
from incognote.runs.units import counted

if TYPE_CHECKING:
    from incognote.schemas.policy import Policy

app = App(help="Show, compare, check, and improve prompts.")
Name = Annotated[str, typer.Argument(metavar="PROMPT", help="A shipped prompt or a prompt file.", show_default=False)]
Examples = Annotated[bool, typer.Option("--examples", help="Show the texts of examples, which can be PHI.")]


@app.command("list")
def list_(as_json: options.AsJson = False) -> None:
    """List the shipped prompts.

    Example:
        incognote prompt list
    """
    from incognote.cli.tables import print_table
    from incognote.evaluation.lab.proposing import propose_prompt
    from incognote.prompts.loader import load, relex_prompt, relex_prompts, shipped

    rows = [(name, str(load(name).contract), load(name).version) for name in shipped()]
    rows += [(name, "", propose_prompt(name).version) for name in shipped("propose")]
    rows += [(name, "", relex_prompt(name).version) for name in relex_prompts()]
    if as_json:
        say("prompt", {"prompts": [{"name": name, "contract": int(c) if c else None, "version": version}
                                   for name, c, version in rows]})  # fmt: skip
        return
    print_table(("prompt", "contract", "version"), rows)


@app.command("show")
def show(name: Name, policy: options.Policy = None, examples: Examples = False) -> None:
    """Show the text of a prompt, what it says about each type, and what its examples hold.

    Example:
        incognote prompt show extract/v3
    """
    from incognote.evaluation.lab.lint import shown
    from incognote.evaluation.lab.proposing import propose_prompt
    from incognote.prompts.loader import load, relex_prompt, shipped

    if name in shipped("propose") or name.startswith("relex/"):
        made = propose_prompt(name) if name in shipped("propose") else relex_prompt(name)
        parts = [f"# {name} · version {made.version}", *(f"[{key}]\n{text}" for key, text in made.sections.items())]
        typer.echo("\n\n".join(parts))
        return
    chosen = _policy(policy)  # first: a policy can define types that the prompt mentions
    prompt = load(name)
    typer.echo(shown(prompt, prompt.types(chosen), examples=examples), nl=False)


@app.command("diff")
def diff(
    first: Name,
    second: Annotated[str, typer.Argument(metavar="PROMPT", help="The prompt to compare with.", show_default=False)],
    policy: options.Policy = None,
    examples: Examples = False,
) -> None:
    """Show what differs between two prompts. The exit code is 0 in either case.

    Example:
        incognote prompt diff extract/v2 extract/v3
    """
    from incognote.evaluation.lab.lint import difference
    from incognote.prompts.loader import load

    report = difference(load(first), load(second), _policy(policy), examples=examples)
    typer.echo(report or "The two prompts are the same.\n", nl=False)


@app.command("lint")
def lint_(
    name: Name,
    policy: options.Policy = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            help="Documents that you will score it on. No example may quote them. Repeatable.", metavar="FILE"
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Check a prompt for mistakes that do not stop it from loading. The exit code is 1 if there are errors.

    Example:
        incognote prompt lint extract/v3
    """
    from incognote.evaluation.lab.lint import lint
    from incognote.evaluation.lab.pool import texts_of
    from incognote.prompts.loader import load

    texts = [text for file in against or () for text in texts_of(Path(file))]
    chosen = _policy(policy)
    made = load(name)
    faults = lint(made, made.types(chosen), texts)
    if as_json:
        say("prompt", {"name": made.name, "version": made.version, "faults": [asdict(fault) for fault in faults]})
    else:
        for fault in faults:
            typer.echo(f"{fault.level}: {fault.field}: {fault.what}")
        typer.echo(
            f"{made.name} (version {made.version}): {'no faults' if not faults else counted(len(faults), 'fault')}"
        )
    if any(fault.level == "error" for fault in faults):
        raise typer.Exit(FAILURE)


@app.command("render")
def render(
    name: Name,
    note: Annotated[
        str | None, typer.Option(help="A text file. Its text is then printed to standard output.", metavar="FILE")
    ] = None,
    chunk: Annotated[int, typer.Option(help="Which chunk of the note, counted from 1.", min=1, metavar="N")] = 1,
    chunk_words: options.ChunkWords = None,
    policy: options.Policy = None,
) -> None:
    """Print exactly what a model receives for a chunk: the system message, a blank line, and the user message.

    Without --note, placeholders replace the note and the examples.

    Example:
        incognote prompt render extract/v3 --note examples/discharge_summary.txt
    """
    from dataclasses import replace

    from incognote.detectors.rules import packaged
    from incognote.errors import UsageError
    from incognote.extraction.chunks import chunks
    from incognote.extraction.extractor import TextChunk
    from incognote.nouns import Text
    from incognote.prompts import sendable
    from incognote.prompts.loader import load
    from incognote.settings import CHUNK_WORDS

    chosen = _policy(policy)
    made = load(name)
    types = made.types(chosen)
    if note is None:
        rendered = replace(made, examples=()).render(["[the note]"], types)
        system = rendered.system
        if made.examples:
            head, mark, tail = system.rpartition("\n\n# ")
            system = f"{head}\n\n# Examples\n[{len(made.examples)} examples: shown with --note]{mark}{tail}"
        typer.echo(f"{system}\n\n{rendered.user}")
        return
    try:
        text = Path(note).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"--note: {note} is not UTF-8 text, or cannot be read.") from None
    whole = Text(text)
    pieces = chunks(text, chunk_words or CHUNK_WORDS, languages=packaged(whole))
    if chunk > len(pieces):
        raise UsageError(f"--chunk: the note has {len(pieces)} chunks.")
    if len(pieces) > 1:
        warn(f"This is chunk {chunk} of {len(pieces)}. For another one, add --chunk N.")
    at = pieces[chunk - 1]
    rendered = made.localized(TextChunk(whole, at).languages).render([sendable(text[at.start : at.end])], types)
    put_out(f"{rendered.system}\n\n{rendered.user}\n".encode())


def _policy(name: str | None) -> Policy:
    from incognote.schemas.policy import load_policy

    return load_policy(name or "strict")
