"""The command line. Each command imports its modules when it runs, so that `incognote --help` starts fast."""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Annotated, Any

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
    mcp,
    mllp,
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
from incognote.cli.help import RESEARCH, App
from incognote.cli.shell import Shell

__all__ = ["app", "main"]

_MAIN, _SETUP, _SERVICE = "De-identify and evaluate", "Check and configure", "Run as a service"
app = App(
    name="incognote",
    cls=Shell,
    help="De-identify clinical notes and records. Everything runs offline unless you name a language model.\n\n"
    "Example:\n    incognote deid examples/discharge_summary.txt",
    epilog="Exit codes: 0 all released, 1 failure, 2 wrong usage, 3 records held, 130 interrupted.",
    pretty_exceptions_enable=False,  # Typer's tracebacks show locals and messages, and both can contain a record
    context_settings={"help_option_names": ["-h", "--help"]},
)
_COMMANDS: tuple[tuple[str, str, Callable[..., Any] | typer.Typer], ...] = (
    (_MAIN, "deid", deid.deid),
    (_MAIN, "detect", detect.detect),
    (_MAIN, "relex", relex.relex),
    (_MAIN, "quarantine", quarantine.app),
    (_MAIN, "reveal", reveal.reveal),
    (_MAIN, "reveals", reveal.app),
    (_MAIN, "evaluate", evaluate.evaluate),
    (_SETUP, "doctor", doctor.doctor),
    (_SETUP, "policy", policy.app),
    (_SETUP, "schema", schema.app),
    (_SETUP, "pack", pack.app),
    (_SETUP, "key", key.app),
    (_SETUP, "model", model.app),
    (_SETUP, "index", index.app),
    (_SERVICE, "plan", worker.plan),
    (_SERVICE, "worker", worker.worker),
    (_SERVICE, "mllp", mllp.mllp),
    (_SERVICE, "serve", serve.serve),
    (_SERVICE, "mcp", mcp.mcp),
    (_SERVICE, "release", release.app),
    (_SERVICE, "recall", recall.recall),
    (_SERVICE, "forget", recall.forget),
    (_SERVICE, "optout", recall.optout),
    (_SERVICE, "audit", audit.app),
    (RESEARCH, "experiment", experiment.app),
    (RESEARCH, "sample", sample.app),
    (RESEARCH, "evaluate-relex", evaluate_relex.evaluate_relex),
    (RESEARCH, "convert", convert.convert),
    (RESEARCH, "prompt", prompt.app),
    (RESEARCH, "replay", replay.replay),
)
for _panel, _name, _command in _COMMANDS:
    if isinstance(_command, typer.Typer):
        app.add_typer(_command, name=_name, rich_help_panel=_panel)
    else:
        app.command(_name, rich_help_panel=_panel)(_command)


@app.command(rich_help_panel=RESEARCH)
def graph() -> None:
    """Print the record-processing graph as Mermaid text. Nothing is sent anywhere.

    Example:
        incognote graph > graph.mmd
    """
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
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """The options that come before the command."""


def main() -> None:
    """The entry point of the console script."""
    signal.signal(signal.SIGTERM, _stop)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # print `?` for a character that the terminal cannot encode
    app(prog_name="incognote")


def _stop(number: int, frame: FrameType | None) -> None:
    """Handle a signal like Ctrl-C, so that incomplete files are removed."""
    raise KeyboardInterrupt
