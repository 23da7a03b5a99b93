"""Check whether bf16 works and is faster, in a child process, because some processors announce it and then crash."""

from __future__ import annotations

import subprocess
import sys

_TRIAL = """
import sys, time, torch
torch.set_num_threads(int(sys.argv[1]))
def took(bf16):
    linear = torch.nn.Linear(384, 1536)
    q, x = torch.randn(8, 12, 192, 32, requires_grad=True), torch.randn(1536, 384, requires_grad=True)
    best = float("inf")
    for _ in range(4):
        begin = time.perf_counter()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16):
            for _ in range(6):
                y = linear(x).float().sum() + (torch.softmax(q @ q.transpose(-1, -2), -1) @ q).float().sum()
                y.backward()
        best = min(best, time.perf_counter() - begin)
    if not bool(torch.isfinite(x.grad).all()):
        sys.exit(1)
    return best
print(took(False) / took(True))
"""


def bf16_gain(threads: int, timeout: float = 120) -> float:
    """How many times faster a step's matrix products are in bf16 than in fp32; 0 if the child process fails."""
    try:
        done = subprocess.run(  # noqa: S603 -- our own script, with this interpreter
            [sys.executable, "-c", _TRIAL, str(threads)], capture_output=True, text=True, timeout=timeout, check=False
        )
        return float(done.stdout) if done.returncode == 0 else 0.0
    except (subprocess.TimeoutExpired, ValueError):
        return 0.0


def chosen(asked: str, threads: int) -> bool:
    """Whether to train in bf16. With `auto`, only if it works and is at least a quarter faster."""
    return asked == "bf16" or (asked == "auto" and bf16_gain(threads) > 1.25)
