"""A local server in a process of its own, so that its work and the client's do not share an interpreter's lock.

The first line on stdin is a JSON object of texts with their replies; the first on stdout the address and the key. Each
further line, `{}` or `{"latency": SECONDS}`, is answered with `{"calls", "peak", "cpu"}`: chat completions so far, the
most at once since the latency was set, seconds of processor time. It serves until stdin ends.
"""

from __future__ import annotations

import json
import sys
import time

from incognote.testing import LocalServer
from incognote.testing.scripted import Replies


def main() -> None:
    """Serve what stdin asks for; a text without a reply holds nothing."""
    with LocalServer(Replies(json.loads(sys.stdin.readline()), otherwise="{}")) as server:
        _say(f"{server.url} {server.api_key}")
        for line in sys.stdin:
            if (latency := json.loads(line).get("latency")) is not None:
                server.latency, server.peak = latency, 0
            _say(json.dumps({"calls": server.calls, "peak": server.peak, "cpu": time.process_time()}))


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
