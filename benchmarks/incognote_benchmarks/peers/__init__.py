"""Peers side by side: other de-identifiers, scored on the same corpus by the same scorer.

    python -m incognote_benchmarks.peers GOLD… [--peer NAME[=PYTHON]]… [--out PEERS.json] [--page PEERS.md]

No peer is a dependency of ours: each runs in a process of its own, by the interpreter that has it, through a worker
(`workers/serve.py`) that imports nothing of incognote. A peer that is not there is told and skipped.
"""

from incognote_benchmarks.peers.base import Absent, Detected, Peer, PeerFailed
from incognote_benchmarks.peers.compare import Comparison, compare
from incognote_benchmarks.peers.echo import Echo, aligned
from incognote_benchmarks.peers.process import PEERS, Process

__all__ = ["PEERS", "Absent", "Comparison", "Detected", "Echo", "Peer", "PeerFailed", "Process", "aligned", "compare"]
