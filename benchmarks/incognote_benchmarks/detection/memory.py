"""The most memory a process has held, told by that process itself.

Standard library only: workers load this file by its path, by an interpreter that need not have incognote or before
they import anything of it.
"""

from __future__ import annotations

import sys


def peak_mb(status: str = "/proc/self/status") -> float | None:
    """In MB (2**20 bytes); None where the system does not tell.

    VmHWM of Linux is this process's own. `ru_maxrss`, the fallback, begins there with what the parent held when it
    started this process.
    """
    try:
        with open(status, encoding="ascii", errors="replace") as lines:
            return next(int(line.split()[1]) / 2**10 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):  # no Linux, or one that leaves the line out
        return _most_resident()


def _most_resident() -> float | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)
