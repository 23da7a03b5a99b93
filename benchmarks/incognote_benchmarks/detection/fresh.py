"""A measurement in a process of its own: on one thread, and with nothing of what its parent has loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from incognote.errors import UsageError

_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def measured(*arguments: str, asked: dict[str, Any] | None = None) -> dict[str, Any]:
    """What a program of ours tells of itself.

    Args:
        arguments: of this interpreter; no text stands in them.
        asked: what the program reads on its standard input, as JSON.

    Returns:
        The JSON that it prints.

    Raises:
        UsageError: it failed; it has said why on the standard error.
    """
    done = subprocess.run(  # noqa: S603 -- our own program, its input on a pipe: texts stay out of arguments and files
        [sys.executable, *arguments],
        input=json.dumps(asked),
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, **_ONE_THREAD},
    )
    if done.returncode:
        raise UsageError(f"the process that measures ended with {done.returncode}")
    told: dict[str, Any] = json.loads(done.stdout)
    return told
