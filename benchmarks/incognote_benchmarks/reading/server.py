"""A local server in a separate process, so that it does not share an interpreter lock with the client.

The first line on stdin is a JSON object of texts with their replies. The first line on stdout is the address and the
key. Each further line, `{}` or `{"latency": SECONDS}`, is answered with `{"calls", "peak", "cpu"}`: chat completions so
far, the most at once since the latency was set, and seconds of processor time. The server runs until stdin ends.
"""

from __future__ import annotations

import json
import sys
import time

from incognote.testing import LocalServer
from incognote.testing.scripted import Replies


def main() -> None:
    """Serve the replies from stdin. A text without a reply is answered with no findings."""
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
