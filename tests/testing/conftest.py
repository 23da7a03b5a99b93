"""A client independent of our code: it uses the standard library, with one connection per call."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest

from incognote.testing import LocalServer


@dataclass
class Got:
    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)

    @property
    def choice(self) -> Any:
        (choice,) = self.json["choices"]
        return choice

    @property
    def text(self) -> str:
        return str(self.choice["message"]["content"])


class Client:
    """Sends requests to a LocalServer."""

    def send(
        self,
        server: LocalServer,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        timeout: float = 30,
        **more: str,
    ) -> Got:
        url = urlsplit(server.url)
        connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=timeout)
        headers = {"authorization": f"Bearer {server.api_key}"} | {k.replace("_", "-"): v for k, v in more.items()}
        try:
            connection.request(method, url.path + path, body, headers)
            response = connection.getresponse()
            return Got(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def post(self, server: LocalServer, path: str, body: Any, **more: Any) -> Got:
        return self.send(server, "POST", path, json.dumps(body).encode(), content_type="application/json", **more)

    def ask(
        self, server: LocalServer, text: str, *, system: str = "Find names.", timeout: float = 30, **body: Any
    ) -> Got:
        messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
        return self.post(server, "/chat/completions", {"model": "m", "messages": messages, **body}, timeout=timeout)

    def upload(self, server: LocalServer, content: bytes, *, name: str = "in.jsonl") -> Got:
        parts = [
            b'--sep\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n',
            f'--sep\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'.encode(),
            b"Content-Type: application/octet-stream\r\n\r\n" + content + b"\r\n--sep--\r\n",
        ]
        return self.send(server, "POST", "/files", b"".join(parts), content_type='multipart/form-data; boundary="sep"')


@pytest.fixture
def client() -> Client:
    return Client()
