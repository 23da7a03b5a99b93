"""`incognote replay`: rebuild the output of an earlier run from its recording, without a network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incognote.cli import options
from incognote.cli.shell import FAILURE, HELD, say, warn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from incognote.files.inputs import Input
    from incognote.files.outputs import Place
    from incognote.files.sources import Source


@options.takes_all
def replay(
    ctx: typer.Context,
    manifest: Annotated[Path, typer.Argument(metavar="MANIFEST", help="The manifest of the run.", show_default=False)],
    inputs: Annotated[list[str], typer.Argument(metavar="INPUT", help="The inputs of the run.", show_default=False)],
    recording: Annotated[
        str,
        typer.Option(
            help="The file with the recorded answers of models and index.", metavar="FILE", show_default=False
        ),
    ],
    out: Annotated[
        str | None,
        typer.Option(
            help="As for `deid`. Without it, one record goes to standard output.",
            metavar="FOLDER|FILE",
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
    prompt: Annotated[
        str | None, typer.Option(help="The prompt of the run, if it was your own file.", metavar="FILE")
    ] = None,
    *,
    asked: options.EngineOptions,
    known: options.Known = None,
    tables: options.FileTableOptions,
    form: options.Format = None,
) -> None:
    """Rebuild the output of a run byte for byte from its recording. Nothing is sent.

    Models, prompt, policy, detectors, domain, and data type come from the manifest. Give again what it cannot hold: the
    patient, known identifiers, columns, and your own files. If an input, the code, key, policy, prompt, or a schema has
    changed, nothing is written and the difference is named. Records that were not released stay where they are.

    You can also name the manifest of `incognote quarantine retry`. INPUT is then the inputs of the first run.

    Examples:
        incognote replay released/manifest.json notes.jsonl --recording answers.rec --out again
        incognote replay released/manifest.retry-1.json notes.jsonl --recording answers.rec --out again
    """
    from dataclasses import replace
    from functools import partial

    from incognote.cli.deciding import again, decisive, differences
    from incognote.cli.deid import explain_held, print_released, printable
    from incognote.cli.engine import engine, known_of
    from incognote.cli.job import holding, only_one, progress, settle, table_layout
    from incognote.cli.replayed import in_order_of_retry, require_same, retried_inputs
    from incognote.cli.summary import counts, name_unread
    from incognote.errors import UsageError
    from incognote.files.inputs import RecordDefaults, read_all
    from incognote.files.outputs import Outputs, place
    from incognote.files.sources import find

    was = _read(manifest)
    subject = asked.subject()
    if not Path(recording).expanduser().is_file():
        raise UsageError(f"--recording: {recording} does not exist.")
    sources = find(inputs, form=form, missing=True)
    where = place(out, sources) if out else None
    models = options.ModelOptions(recording=recording, prompt=prompt)
    made = ctx.with_resource(engine(asked, models, hashes=False, base={**again(was), "replay": True}))
    layout = table_layout(made, sources, tables, made.engine.settings.data_type)
    settings = made.engine.settings
    words = RecordDefaults(subject, settings.domain, settings.data_type, known_of(known, ask=False))
    keep_names = was["settings"]["keep_names"]
    found = list(differences(was, made, decisive(made, words, keep_names=keep_names)))
    if found:
        raise UsageError("The run cannot be repeated. These settings differ: " + "; ".join(found))
    files: Sequence[Source] = sources.files
    retried, part = was.get("retried"), False
    if retried is None:
        part = require_same(was["inputs"], files, made, whole=where is not None)
        stream = read_all(files, words, layout)
    else:
        ordered = in_order_of_retry(files, made)
        again_read = partial(retried_inputs, made, lambda: read_all(ordered, words, layout), retried["records"])
        files = list(dict.fromkeys(one.source for one in again_read()))  # all are there before anything is written
        stream = again_read()
        where = replace(where, retry=retried["number"]) if where is not None else None
    texts: list[tuple[Input, str | bytes]] = []
    written: list[str] = []
    if where is None:
        tally = settle(
            made, only_one(stream), lambda one, result: texts.append((one, result.content)), holding(None, made), None,
            _nothing,
        )
        astray = []
    else:
        ctx.with_resource(where.exclusive())
        outputs = Outputs(where, files, made.engine.keyring, keep_names=keep_names, overwrite=overwrite)
        with outputs, progress(files, doing="replaying") as tick:
            tally = settle(made, stream, outputs.release, holding(None, made), None, tick)
        written = list(outputs.written)
        astray = list(_astray(was, where, written))
    now = counts(tally)
    if as_json:
        output = printable(texts[0][1]) if texts else None
        say("replay", {**now, "output": output, "out": out, "rebuilt": len(written) - len(astray), "astray": astray})
    elif where is None:
        for one, text in texts:
            print_released(one, text)
    elif not astray:
        typer.echo(f"{len(written):,} file{'s' * (len(written) != 1)} rebuilt in {where.target}, byte for byte")
    if astray or (where is None and not as_json):
        explain_held(tally, kept=True)
    if part and tally.held:
        warn("Records of one patient may have shared a request. Name all inputs of the run, and add --out FOLDER.")
    for name in astray:
        warn(f"{name} differs from the output of the run. Check that the inputs and the options are the same.")
    for name in ("records", "released", "review", "quarantined"):
        if now[name] != was[name]:
            warn(f"{name}: {now[name]:,} now, {was[name]:,} in the run")
    name_unread(tally)
    if astray:
        raise typer.Exit(FAILURE)
    if tally.held or tally.not_read:
        raise typer.Exit(HELD)


def _nothing(one: Input) -> None:
    """Show no progress, because there is only one record."""


def _read(path: Path) -> dict[str, Any]:
    """Read the manifest of a run that can be replayed.

    Raises:
        UsageError: the file is not such a manifest.
    """
    from incognote.errors import UsageError

    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise UsageError(f"The manifest {path} cannot be read. Check the path.") from None
    except ValueError:
        raise UsageError(f"{path} is not valid JSON. Name the manifest.json in the output folder.") from None
    needed = {"settings", "policy", "key", "models", "outputs"}
    if not isinstance(found, dict) or not needed <= found.keys() or not found.keys() & {"inputs", "retried"}:
        raise UsageError(
            f"{path} is not the manifest of a run that can be repeated. Name the one that `deid` or `quarantine retry` "
            "wrote."
        )
    if found["settings"] is None:
        raise UsageError(
            f"{path} is the manifest of a retry without records, or with records of runs with different options. It "
            "cannot be repeated."
        )
    kept = found["settings"].get("recorded_run") is not None
    if not kept and (found["models"] is None or found["settings"]["model"] is None):
        raise UsageError("The run recorded no language model and no index. Run `incognote deid` again instead.")
    return found


def _astray(was: Mapping[str, Any], where: Place, written: list[str]) -> Iterator[str]:
    """Yield the names of outputs that differ from those of the run."""
    from incognote.files.digests import sha256_of

    expected = {output["name"]: output["sha256"] for output in was["outputs"]}
    if where.is_file and len(expected) == 1:  # the user chose the name
        expected = dict.fromkeys(written, *expected.values())
    for name in sorted({*expected, *written}):
        if name not in written or sha256_of(where.folder / name) != expected.get(name):
            yield name
