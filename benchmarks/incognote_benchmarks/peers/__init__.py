"""Compare other de-identifiers on the same corpus with the same scorer.

    python -m incognote_benchmarks.peers GOLD… [--peer NAME[=PYTHON]]… [--out PEERS.json] [--page PEERS.md]

No peer is a dependency of ours. Each runs in a process of its own, with the interpreter that has it, through a worker
(`workers/serve.py`) that imports nothing of incognote. A peer that is not installed is reported and skipped.
"""

from incognote_benchmarks.peers.base import Absent, Detected, Peer, PeerFailed
from incognote_benchmarks.peers.compare import Comparison, compare
from incognote_benchmarks.peers.echo import Echo, aligned
from incognote_benchmarks.peers.process import PEERS, Process

__all__ = ["PEERS", "Absent", "Comparison", "Detected", "Echo", "Peer", "PeerFailed", "Process", "aligned", "compare"]
