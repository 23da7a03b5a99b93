"""A local server in a separate process, so that it does not share an interpreter lock with the client.

It speaks as much HTTP as a keep-alive connection of one client needs. `LocalServer` takes 1.6 ms of processor time per
call, and this one a third of it. The client shares its cores with the server, and a real server does not.

The first line on stdin is a JSON object of texts with their replies. The first line on stdout is the address and the
key. Each further line, `{}` or `{"latency": SECONDS}`, is answered with `{"calls", "peak", "cpu"}`: chat completions so
far, the most at once since the latency was set, and seconds of processor time. The server runs until stdin ends.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from threading import Thread

from incognote.llm.base import Reply
from incognote.testing.scripted import Replies
from incognote.testing.wire import completion, request_of

KEY = "scripted"
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"


class _Server:
    def __init__(self, replies: Replies) -> None:
        self.replies, self.latency = replies, 0.0
        self.calls = self.waiting = self.peak = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until the client closes it."""
        while True:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, ConnectionError):
                writer.close()
                return
            lines = head.lower().split(b"\r\n")
            size = next(int(line.partition(b":")[2]) for line in lines if line.startswith(b"content-length:"))
            asked = json.loads(await reader.readexactly(size))
            self.calls += 1
            self.waiting += 1
            self.peak = max(self.peak, self.waiting)
            await asyncio.sleep(self.latency)
            self.waiting -= 1
            request, model = request_of(asked)
            body = json.dumps(completion(Reply(self.replies(request)), model, f"r{self.calls}")).encode()
            writer.write(_HEAD % len(body) + body)

    async def listen(self) -> int:
        """Start to serve on a free port. Returns the port."""
        server = await asyncio.start_server(self.serve, "127.0.0.1", limit=1 << 20)
        port: int = server.sockets[0].getsockname()[1]
        return port


def main() -> None:
    """Serve the replies from stdin. A text without a reply is answered with no findings."""
    server = _Server(Replies(json.loads(sys.stdin.readline()), otherwise="{}"))
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, daemon=True).start()
    port = asyncio.run_coroutine_threadsafe(server.listen(), loop).result()
    _say(f"http://127.0.0.1:{port}/v1 {KEY}")
    for line in sys.stdin:
        if (latency := json.loads(line).get("latency")) is not None:
            server.latency, server.peak = latency, 0
        _say(json.dumps({"calls": server.calls, "peak": server.peak, "cpu": time.process_time()}))


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
