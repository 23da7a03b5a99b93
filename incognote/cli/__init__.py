"""The command line. Each command imports what it needs when it runs, so that `incognote --help` is quick."""

from __future__ import annotations

import io
import signal
import sys
from types import FrameType
from typing import Annotated

import typer

from incognote.cli import (
    audit,
    convert,
    deid,
    detect,
    doctor,
    evaluate,
    evaluate_relex,
    experiment,
    index,
    key,
    model,
    pack,
    policy,
    prompt,
    promptlab,  # noqa: F401 -- its commands join those of `prompt`
    promptreview,  # noqa: F401 -- as promptlab
    quarantine,
    recall,
    release,
    relex,
    replay,
    reveal,
    rotate,  # noqa: F401 -- its command joins those of `key`
    sample,
    schema,
    serve,
    worker,
)
from incognote.cli.shell import Shell

__all__ = ["app", "main"]

app = typer.Typer(
    name="incognote",
    cls=Shell,
    help="De-identify clinical records: offline by default, fail-closed, measured.",
    epilog="Exit codes: 0 all released, 1 failure, 2 usage, 3 something in review or quarantine, 4 `experiment "
    "gate` cannot tell, 130 interrupted.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,  # their tracebacks show locals and messages, and both can hold a record
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("deid")(deid.deid)
app.command("relex")(relex.relex)
app.command("reveal")(reveal.reveal)
app.add_typer(reveal.app, name="reveals")
app.add_typer(quarantine.app, name="quarantine")
app.command("replay")(replay.replay)
app.command("detect")(detect.detect)
app.command("evaluate")(evaluate.evaluate)
app.command("evaluate-relex")(evaluate_relex.evaluate_relex)
app.add_typer(experiment.app, name="experiment")
app.add_typer(sample.app, name="sample")
app.command("convert")(convert.convert)
app.add_typer(policy.app, name="policy")
app.add_typer(schema.app, name="schema")
app.add_typer(pack.app, name="pack")
app.add_typer(prompt.app, name="prompt")
app.add_typer(model.app, name="model")
app.add_typer(index.app, name="index")
app.add_typer(key.app, name="key")
app.command("worker")(worker.worker)
app.command("plan")(worker.plan)
app.add_typer(release.app, name="release")
app.command("recall")(recall.recall)
app.command("forget")(recall.forget)
app.add_typer(recall.optout, name="optout")
app.add_typer(audit.app, name="audit")
app.command("serve")(serve.serve)
app.command("doctor")(doctor.doctor)


@app.command()
def graph() -> None:
    """Print the LangGraph machine as Mermaid text; nothing leaves this computer."""
    from incognote.agents.graph import drawing

    typer.echo(drawing().rstrip())


def _version(wanted: bool) -> None:
    if wanted:
        from incognote.agents.manifest import incognote_version

        typer.echo(f"incognote {incognote_version()}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and leave.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """Options before the command."""


def main() -> None:
    """The console script."""
    signal.signal(signal.SIGTERM, _stop)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot write a character shows `?` and goes on
    app(prog_name="incognote")


def _stop(number: int, frame: FrameType | None) -> None:
    """Leave as on Ctrl-C, so that what is half-written is taken away."""
    raise KeyboardInterrupt
