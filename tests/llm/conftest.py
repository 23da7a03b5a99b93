"""A raw endpoint on the loopback that sends status, headers, and body verbatim, well-behaved or not."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


def completion(text: str | None = "yes", finish: str | None = "stop", **message: Any) -> dict[str, Any]:
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
        ],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 60},
        },
    }


@dataclass
class RawAnswer:
    status: int = 200
    body: Any = field(default_factory=completion)
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0


class RawEndpoint:
    """Sends answers from a list and repeats the last one. `bodies`, `headers`, and `paths` record the requests."""

    def __init__(self) -> None:
        self.answers = [RawAnswer()]
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("content-length") or 0))
                outer.paths.append(self.path)
                outer.bodies.append(json.loads(raw))
                outer.headers.append({k.lower(): v for k, v in self.headers.items()})
                answer = outer.answers.pop(0) if len(outer.answers) > 1 else outer.answers[0]
                time.sleep(answer.delay)
                body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
                try:
                    self.send_response(answer.status)
                    for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except ConnectionError:
                    pass  # the client gave up first, as some tests intend

            do_GET = do_POST  # noqa: N815 -- http.server looks for this name

            def log_message(self, *_: object) -> None:
                """Write nothing to standard error."""

        class Server(ThreadingHTTPServer):
            request_queue_size = 128

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def answer(self, *answers: RawAnswer) -> None:
        self.answers = list(answers)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def endpoint() -> Iterator[RawEndpoint]:
    server = RawEndpoint()
    yield server
    server.close()


@pytest.fixture
def other() -> Iterator[RawEndpoint]:
    """A second endpoint, which is not allowed."""
    server = RawEndpoint()
    yield server
    server.close()


@pytest.fixture
def raw() -> type[RawAnswer]:
    return RawAnswer


@pytest.fixture
def chat() -> Any:
    return completion
