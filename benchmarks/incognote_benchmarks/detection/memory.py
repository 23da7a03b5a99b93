"""The peak memory of the current process.

Standard library only, because workers load this file by its path. Their interpreter may not have incognote, or they
have not imported anything of it yet.
"""

from __future__ import annotations

import sys


def peak_mb(status: str = "/proc/self/status") -> float | None:
    """Peak memory in MB (2**20 bytes), or None if the system does not report it.

    On Linux, VmHWM is this process's own. The fallback `ru_maxrss` there starts with the memory that the parent had
    when it started this process.
    """
    try:
        with open(status, encoding="ascii", errors="replace") as lines:
            return next(int(line.split()[1]) / 2**10 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):  # not Linux, or the line is missing
        return _most_resident()


def _most_resident() -> float | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)
