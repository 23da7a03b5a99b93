"""`python -m incognote.testing`: the local server from the shell, until it is interrupted."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Sequence

from incognote.errors import UsageError
from incognote.testing.misbehave import MISBEHAVIOURS, Misbehaviour
from incognote.testing.scripted import read_replies
from incognote.testing.server import LocalServer


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve replies from a file. The first line printed is the base address, the second the key."""
    parser = argparse.ArgumentParser("python -m incognote.testing", description=__doc__)
    parser.add_argument("--replies", required=True, metavar="FILE", help="JSON lines with note or address, and reply")
    parser.add_argument("--otherwise", metavar="REPLY", help="reply to requests that are not in the file")
    parser.add_argument("--port", type=int, default=0, help="0 for any free port")
    parser.add_argument("--latency", type=float, default=0.0, metavar="SECONDS", help="delay of each reply")
    parser.add_argument("--misbehave", nargs="+", metavar="NAME", help="one or more of: " + ", ".join(MISBEHAVIOURS))
    parser.add_argument("--share", type=float, default=0.3, help="share of calls that misbehave")
    parser.add_argument("--seed", type=int, default=0, help="seed that selects these calls")
    asked = parser.parse_args(arguments)
    ended = threading.Event()
    for told in (signal.SIGINT, signal.SIGTERM):
        signal.signal(told, lambda *_: ended.set())
    try:
        answer = read_replies(asked.replies, otherwise=asked.otherwise)
        bad = Misbehaviour(asked.misbehave, asked.share, asked.seed) if asked.misbehave else None
        server = LocalServer(answer, misbehaviour=bad, latency=asked.latency, port=asked.port).start()
    except UsageError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write(f"{server.url}\n{server.api_key}\n")
    sys.stdout.flush()
    ended.wait()
    server.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
