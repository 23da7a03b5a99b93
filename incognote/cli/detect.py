"""`incognote detect`: print the identifiers that the policy handles as spans, without replacing them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incognote.cli import options
from incognote.cli.shell import FAILURE, put_out, warn
from incognote.runs.units import counted

if TYPE_CHECKING:
    from incognote.files.inputs import Input
    from incognote.nouns import Span
    from incognote.sdk import Deidentifier

_LINES, _CHARACTERS = 64, 500_000  # a batch ends at either limit


@options.takes_all
def detect(
    ctx: typer.Context,
    texts: Annotated[
        str,
        typer.Argument(
            metavar="IN.jsonl|PAGES",
            help='Lines of {"id", "text"}, also .gz, or an image, a scanned PDF, a DICOM file, or a folder of them. '
            "Other members of a line are ignored. Use - for standard input.",
            show_default=False,
        ),
    ],
    out: Annotated[
        str, typer.Option(help="Where to write, also .gz. Use - for standard output.", metavar="OUT.jsonl")
    ] = "-",
    overwrite: options.Overwrite = False,
    types: Annotated[
        str | None, typer.Option(help="Use `all` to report every known entity type, including types that the policy "
                                      "does not handle.", metavar="all")
    ] = None,
    policy: options.Policy = None,
    packs: options.Packs = None,
    detectors: options.Detectors = None,
    encoder_point: options.EncoderPoint = None,
    encoder_fast: options.EncoderFast = False,
    roster: options.Roster = None,
    config: options.Config = None,
    key_file: options.KeyFile = None,
    *,
    models: options.ModelOptions,
) -> None:
    """Find identifiers and print them as spans. Nothing is replaced.

    Each output line holds the id of the text and its spans (start, end, type, score, sources). Offsets are Unicode code
    points; the end is exclusive. A line that cannot be processed has `error` instead of spans, and the exit code is 1.

    For pages, each output line holds the name of the file and the boxes that the policy would remove (page, x0, y0, x1,
    y1 in pixels, type, score, sources), whatever the verdict. For recordings, it holds the intervals (start and end in
    seconds, type, score, sources). A file without pages of pixels and without sound has `error` instead.

    Example:
        incognote detect examples/visits.jsonl
    """
    import sys

    from incognote.cli import reading
    from incognote.cli.detectpages import are_pages, removed_boxes
    from incognote.cli.engine import engine
    from incognote.cli.job import progress
    from incognote.errors import UsageError
    from incognote.files.inputs import read
    from incognote.files.sources import find

    if types not in (None, "all"):
        raise UsageError("--types must be `all`. Leave it out to report the types that the policy handles.")
    sources = find([texts], form="jsonl" if texts == "-" else None)
    on_pages = are_pages(sources)
    if not on_pages and (len(sources.files) != 1 or sources.files[0].kind != "lines"):
        raise UsageError(
            "detect reads one .jsonl file with an id and a text on each line, or images, scans, DICOM files, and "
            "recordings. Use - "
            "for standard input. To see the spans in any other file, run: incognote deid FILE --show"
        )
    asked = options.EngineOptions(
        policy=policy, packs=packs, detectors=detectors, encoder_point=encoder_point, encoder_fast=encoder_fast,
        roster=roster, config=config, key_file=key_file,
    )  # fmt: skip
    made = engine(asked, models, hashes=False)
    ctx.with_resource(made)
    served = failed = 0
    hidden = out == "-" and sys.stdout.isatty()
    ticking = progress(sources.files, doing="detecting", hidden=hidden)
    with _source(out, texts, overwrite=overwrite) as write, ticking as tick:
        for one, line in removed_boxes(sources.files, made) if on_pages else ():
            failed += "error" in line
            served += 1
            write(json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode() + b"\n")
            tick(one)
        for batch in _batches(() if on_pages else read(sources.files[0]), _lines(made)):
            for one, line in zip(batch, _served(batch, made, types), strict=True):
                failed += "error" in line
                served += 1
                write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
                tick(one)
    taken = reading.spent(made)
    if taken is not None:
        warn(reading.line(taken, served))
    if failed:
        what = ("file", "boxes or intervals") if on_pages else ("line", "spans")
        warn(f"{counted(failed, what[0])} could not be processed. They have `error` instead of {what[1]}.")
        raise typer.Exit(FAILURE)


class _source:  # noqa: N801  # a context manager that reads as a verb
    """The output: standard output, or a file that is written completely or not at all."""

    def __init__(self, out: str, texts: str, *, overwrite: bool) -> None:
        import gzip
        import os
        from pathlib import Path

        from incognote.errors import UsageError
        from incognote.files.atomic import AtomicFile, require_writable

        self._whole = self._gz = None
        if out == "-":
            return
        if texts != "-" and os.path.realpath(out) == os.path.realpath(texts):
            raise UsageError("--out is the input file. Choose another file.")
        require_writable(Path(out), overwrite=overwrite, option="--out")
        self._whole = AtomicFile(Path(out))
        if out.lower().endswith(".gz"):
            self._gz = gzip.GzipFile(filename="", mode="wb", fileobj=self._whole.stream, mtime=0)

    def __enter__(self) -> Any:
        if self._gz is not None:
            return self._gz.write
        return self._whole.write if self._whole is not None else put_out

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if self._gz is not None:
            self._gz.close()
        if self._whole is not None:
            self._whole.__exit__(kind, error, trace)


def _lines(made: Deidentifier) -> int:
    """Return the number of lines per batch.

    With a language model, it is many times the number of parallel requests, because a batch waits for its last line.
    """
    return _LINES if made.engine.reader is None else max(_LINES, 8 * made.width)


def _batches(inputs: Iterable[Input], lines: int) -> Iterator[list[Input]]:
    """Yield the inputs in order, in batches of at most `lines` lines, fewer if they are long."""
    batch: list[Input] = []
    length = 0
    for one in inputs:
        batch.append(one)
        length += len(one.content or "")
        if len(batch) == lines or length >= _CHARACTERS:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch


def _served(batch: Sequence[Input], made: Deidentifier, types: str | None) -> Iterator[dict[str, Any]]:
    parsed = [_parsed(one, made.engine.settings.max_characters) for one in batch]
    found = _spans([text for _, text, fault in parsed if not fault], made, types)
    for name, _, fault in parsed:
        spans = fault or next(found)
        if isinstance(spans, str):
            yield {"id": name, "error": spans}
        else:
            yield {"id": name, "spans": [_span_data(span) for span in spans]}


def _parsed(one: Input, limit: int) -> tuple[Any, str, str]:
    """Return id, text, and error ("" if none). The error quotes no value of the line."""
    if one.error is not None:
        return None, "", str(one.error)
    try:
        line = json.loads(str(one.content), parse_constant=_refused)
    except (ValueError, RecursionError):
        return None, "", "malformed: not valid JSON"
    if not isinstance(line, dict):
        return None, "", "malformed: not an object with id and text"
    name = line.get("id")
    if isinstance(name, (dict, list)):
        return None, "", "malformed: id is neither a string nor a number"
    if isinstance(name, float) and not math.isfinite(name):
        return None, "", "malformed: id is a number that JSON cannot represent"
    text = line.get("text")
    if not isinstance(text, str):
        return name, "", "malformed: text is missing" if text is None else "malformed: text is not a string"
    if len(text) > limit:
        return name, "", f"too-large: longer than {limit} characters (max_characters)"
    return name, text, ""


def _refused(constant: str) -> None:
    """Reject NaN and Infinity, which Python accepts and JSON does not have."""
    raise ValueError


def _spans(texts: Sequence[str], made: Deidentifier, types: str | None) -> Iterator[list[Span] | str]:
    """Yield the spans of each text, or an error code. An error in one text does not affect the others."""
    from incognote.errors import ModelProblem

    try:
        for found in made.detect_each(texts, types=types):
            yield found.code if isinstance(found, ModelProblem) else found
    except Exception:  # its message can quote the text; retry each text alone
        if len(texts) == 1:
            yield "internal-error"
            return
        for text in texts:
            yield from _spans([text], made, types)


def _span_data(span: Span) -> dict[str, Any]:
    return {
        "start": span.start,
        "end": span.end,
        "type": span.type,
        "score": round(span.score, 4),
        "sources": list(span.sources),
    }
