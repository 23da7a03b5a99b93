"""The process that test_canary.py starts: it runs the SDK on every kind of input with logging at DEBUG.

Arguments: the log, the inputs as JSON, and, to use models, a JSON list of settings (one run for each).
"""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import sys
import traceback
import warnings
from pathlib import Path

LOG, INPUTS = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
RUNS = (
    json.loads(sys.argv[3])
    if len(sys.argv) > 3
    else [{"policy": p} for p in ("strict", "intelligent", "limited-data-set")]
)
LOUD = (
    "openai",
    "openai._base_client",
    "httpx",
    "httpcore",
    "httpcore.http11",
    "LiteLLM",
    "litellm",
    "asyncio",
    "langgraph",
)
logging.basicConfig(filename=LOG, level=logging.DEBUG, format="%(name)s %(levelname)s %(message)s %(exc_info)s")
logging.captureWarnings(True)
warnings.simplefilter("always")


def shout() -> None:
    """Set these loggers to DEBUG, whatever their current level."""
    for name in LOUD:
        logging.getLogger(name).setLevel(logging.DEBUG)


def complain() -> None:
    """Print the current exception with its whole chain, including what `from None` hides."""
    traceback.print_exc()
    error: BaseException | None = sys.exception() if hasattr(sys, "exception") else sys.exc_info()[1]
    while error is not None:
        print(repr(error), str(error), error.args, getattr(error, "__notes__", ""), file=sys.stderr)
        error = error.__cause__ or error.__context__


shout()
from incognote import Deidentifier, IncognoteError, Known  # noqa: E402 -- loggers must be at DEBUG before this import

for settings in RUNS:
    deid = Deidentifier(**settings)
    for given, words in INPUTS:
        words = {**words, "known": [Known(*k) for k in words.get("known", [])]}
        shout()
        try:
            result = deid.deidentify(given, **words)
        except IncognoteError:
            complain()
            continue
        print(
            repr(result), str(result), json.dumps(dict(result.manifest)), repr(result.replacements), repr(result.kept)
        )
        print(*map(str, result.verdict.reasons))
        print(*map(repr, (deid.engine, deid, deid.engine.reader, deid.engine.models)))
        for broken in (
            lambda r=result: r.text,
            lambda r=result: r.project([(10**9, 10**9 + 1)]),
            lambda r=result: r.record,
        ):
            try:
                broken()
            except IncognoteError:
                complain()
    if deid.engine.models is not None:
        for found in deid.detect_each([given for given, _ in INPUTS if isinstance(given, str)]):
            print(repr(found), str(found) if isinstance(found, Exception) else "")
        for model in deid.engine.models.all:
            print(repr(model), repr(vars(model)))

        async def give_up(made: Deidentifier = deid) -> None:
            """Cancel a call in progress: nothing of it may appear at exit either."""
            task = asyncio.create_task(made.adeidentify(str(INPUTS[0][0]) + " once more"))
            await asyncio.sleep(0.05)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        asyncio.run(give_up())
        recording = Path(settings["recording"])
        for path in recording.parent.glob(f"{recording.name}*"):  # the -wal exists while it is open
            shutil.copy(path, path.with_name(f"copy-of-{path.name}"))
        deid.close()
