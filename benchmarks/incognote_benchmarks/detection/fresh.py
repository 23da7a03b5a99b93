"""Run a measurement in a separate process, on one thread and without anything that its parent has loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from incognote.errors import UsageError

_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def measured(*arguments: str, asked: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run one of our measuring programs and return its result.

    Args:
        arguments: for this interpreter; they contain no text.
        asked: the program's standard input, as JSON.

    Returns:
        The JSON that it prints.

    Raises:
        UsageError: it failed, after printing the reason to standard error.
    """
    done = subprocess.run(  # noqa: S603 -- our own program; texts go through a pipe, not arguments or files
        [sys.executable, *arguments],
        input=json.dumps(asked),
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, **_ONE_THREAD},
    )
    if done.returncode:
        raise UsageError(f"the measuring process ended with {done.returncode}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result
