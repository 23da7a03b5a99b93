"""Over HTTP, the local server behaves like a real one, handles calls concurrently, and comes back on its port."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest

from incognote.errors import ContextTooLong, ModelRejected, ModelUnavailable, UsageError
from incognote.llm.base import Message, Reply, Request, Usage
from incognote.testing import LocalServer, Misbehaviour, Trouble
from incognote.testing.dialects import DIALECTS

NOTE = "Seen by Dr. Abara."
REPLY = '{"PERSON": ["Abara"]}'
TABLE = {NOTE: REPLY}


def connected(server: LocalServer) -> http.client.HTTPConnection:
    url = urlsplit(server.url)
    return http.client.HTTPConnection(url.hostname or "", url.port, timeout=10)


def test_a_completion_has_the_usual_fields(client: Any) -> None:
    with LocalServer(TABLE) as server:
        got = client.ask(server, NOTE)
    said = got.json
    assert (got.status, got.text, said["object"], said["model"]) == (200, REPLY, "chat.completion", "m")
    assert said["id"].startswith("chatcmpl-")
    assert got.choice["finish_reason"] == "stop"
    assert got.headers["x-request-id"]
    usage = said["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (3 + 5, 6)
    assert usage["prompt_tokens_details"]["cached_tokens"] == 0


def test_the_request_arrives_as_it_was_meant(client: Any) -> None:
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    form = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema, "strict": True}}
    with LocalServer(TABLE) as server:
        client.ask(server, NOTE, temperature=0.7, max_tokens=99, seed=3, response_format=form)
        client.ask(server, NOTE, max_completion_tokens=98)
    messages = (Message("system", "Find names."), Message("user", NOTE))
    assert server.requests == [
        Request(messages, schema, strict=True, temperature=0.7, max_tokens=99, sample=3),
        Request(messages, max_tokens=98),
    ]
    assert server.calls == 2
    assert json.loads(server.log[0].body)["seed"] == 3


def test_content_in_parts_is_one_text(client: Any) -> None:
    with LocalServer(TABLE) as server:
        parts = [{"type": "text", "text": NOTE[:4]}, {"type": "text", "text": NOTE[4:]}]
        messages = [{"role": "developer", "content": "x"}, {"role": "user", "content": parts}]
        assert client.post(server, "/chat/completions", {"model": "m", "messages": messages}).text == REPLY
        assert [m.role for m in server.requests[0].messages] == ["system", "user"]


def test_a_reply_brings_its_own_usage_and_finish(client: Any) -> None:
    reply = Reply("{", "length", Usage(1000, 200, 600, 1), model="m-2026")
    with LocalServer(lambda _: reply) as server:
        said = client.ask(server, NOTE).json
    assert said["model"] == "m-2026"
    assert said["usage"]["prompt_tokens_details"]["cached_tokens"] == 600
    assert (said["usage"]["prompt_tokens"], said["usage"]["completion_tokens"]) == (1000, 200)
    assert said["choices"][0]["finish_reason"] == "length"


def test_max_tokens_cut_a_reply(client: Any) -> None:
    with LocalServer(TABLE) as server:
        got = client.ask(server, NOTE, max_tokens=2)
    assert (got.text, got.choice["finish_reason"]) == (REPLY[:8], "length")


def test_thirty_two_calls_overlap() -> None:
    with LocalServer(TABLE, latency=0.2) as server:
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": NOTE}]})
        headers = {"authorization": f"Bearer {server.api_key}"}
        gate = threading.Barrier(32)

        def ask(_: int) -> int:
            connection = connected(server)
            gate.wait()
            connection.request("POST", "/v1/chat/completions", body, headers)
            status = connection.getresponse().status
            connection.close()
            return status

        with ThreadPoolExecutor(32) as threads:
            assert list(threads.map(ask, range(32))) == [200] * 32
        assert server.calls == 32
        assert server.peak > 16  # serial calls would peak at 1


def test_a_connection_serves_many_calls() -> None:
    with LocalServer(TABLE) as server:
        connection = connected(server)
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": NOTE}]})
        headers = {"authorization": f"Bearer {server.api_key}"}
        sockets = set()
        for _ in range(5):
            connection.request("POST", "/v1/chat/completions", body, headers)
            connection.getresponse().read()
            assert connection.sock is not None
            sockets.add(connection.sock.getsockname())
        connection.request("POST", "/v1/chat/completions", iter([body[:9].encode(), body[9:].encode()]), headers)
        assert json.loads(connection.getresponse().read())["choices"][0]["message"]["content"] == REPLY
        connection.close()
    assert len(sockets) == 1


def test_models_are_listed_and_others_refused(client: Any) -> None:
    with LocalServer(TABLE, models=("m", "n")) as server:
        assert [m["id"] for m in client.send(server, "GET", "/models").json["data"]] == ["m", "n"]
        assert client.ask(server, NOTE).status == 200
        got = client.ask(server, NOTE, model="other")
        assert (got.status, got.json["error"]["code"]) == (404, "model_not_found")


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"messages": [{"role": "user", "content": "a"}]}, "model"),
        ({"model": "m", "messages": []}, "messages"),
        ({"model": "m", "messages": [{"role": "clerk", "content": "a"}]}, "messages"),
        ({"model": "m", "messages": [{"role": "user", "content": 3}]}, "messages"),
        ({"model": "m", "messages": [{"role": "user", "content": "a"}], "n": 2}, "n"),
        ({"model": "m", "messages": [{"role": "user", "content": "a"}], "stream": True}, "stream"),
        ({"model": "m", "messages": [{"role": "user", "content": "a"}], "temperature": "hot"}, None),
        (
            {
                "model": "m",
                "messages": [{"role": "user", "content": "a"}],
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {
                        "name": "r",
                        "strict": True,
                        "schema": {"type": "object", "properties": {"A": {"type": "string"}}, "required": []},
                    },
                },
            },
            "response_format",
        ),
        ([1], None),
    ],
)
def test_a_malformed_request_is_400(client: Any, body: Any, param: str | None) -> None:
    with LocalServer(TABLE) as server:
        got = client.post(server, "/chat/completions", body)
    assert got.status == 400
    assert got.json["error"]["type"] == "invalid_request_error"
    assert got.json["error"]["param"] == param


def test_a_wrong_key_and_an_unknown_path_are_refused(client: Any) -> None:
    with LocalServer(TABLE) as server:
        got = client.send(server, "GET", "/models", authorization="Bearer other")
        assert (got.status, got.json["error"]["code"]) == (401, "invalid_api_key")
        assert client.send(server, "GET", "/embeddings").status == 404


def test_a_schema_can_be_beyond_the_server(client: Any) -> None:
    with LocalServer(TABLE, dialect=replace(DIALECTS["openai"], accepts=())) as server:
        assert client.ask(server, NOTE, response_format={"type": "json_object"}).json["error"]["param"] == (
            "response_format"
        )
        assert client.ask(server, NOTE).status == 200


def test_a_long_request_is_beyond_the_model(client: Any) -> None:
    with LocalServer(lambda _: "{}", context=100) as server:
        assert client.ask(server, "a" * 300).status == 200
        got = client.ask(server, "a" * 500)
        assert (got.status, got.json["error"]["code"]) == (400, "context_length_exceeded")


def test_errors_repeat_the_request_only_when_told(client: Any) -> None:
    for echo in (False, True):
        with LocalServer(TABLE, misbehaviour=Misbehaviour("server_error", 1.0), echo=echo) as server:
            assert (NOTE in client.ask(server, NOTE).json["error"]["message"]) is echo
            assert (NOTE in client.ask(server, NOTE, n=2).json["error"]["message"]) is echo


@pytest.mark.parametrize(
    ("problem", "status", "code"),
    [
        (ModelUnavailable("x"), 503, "model-unavailable"),
        (ModelRejected("x"), 400, "model-rejected"),
        (ContextTooLong("x"), 400, "context_length_exceeded"),
    ],
)
def test_a_problem_the_script_raises_becomes_a_status(client: Any, problem: Exception, status: int, code: str) -> None:
    def answer(request: Request) -> str:
        raise problem

    with LocalServer(answer) as server:
        got = client.ask(server, NOTE)
    assert (got.status, got.json["error"]["code"]) == (status, code)


def test_a_table_refuses_what_it_does_not_hold(client: Any) -> None:
    with LocalServer(TABLE) as server:
        assert client.ask(server, "another note").status == 400


def test_a_bug_in_a_script_is_not_lost(client: Any) -> None:
    def answer(request: Request) -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), LocalServer(answer) as server:
        assert client.ask(server, NOTE).status == 500


def test_a_script_can_make_trouble_itself(client: Any) -> None:
    acts = iter([Trouble("status", 429, retry_after=2), Reply(REPLY)])
    with LocalServer(lambda _: next(acts)) as server:
        first = client.ask(server, NOTE)
        assert (first.status, first.headers["retry-after"]) == (429, "2")
        assert client.ask(server, NOTE).text == REPLY


def test_it_restarts_on_its_port_and_forgets_nothing(client: Any) -> None:
    with LocalServer(TABLE) as server:
        url = server.url
        client.ask(server, NOTE)
        file = client.upload(server, b"{}").json["id"]
        for _ in range(3):
            server.stop()
            with pytest.raises(ConnectionRefusedError):
                client.ask(server, NOTE)
            server.start()
            assert client.ask(server, NOTE).text == REPLY
        assert server.url == url
        assert server.calls == 4
        assert [call.attempt for call in server.log if call.request] == [1, 2, 3, 4]
        assert client.send(server, "GET", f"/files/{file}").status == 200


def test_stopping_loses_what_is_under_way() -> None:
    with LocalServer(TABLE, latency=30) as server:
        connection = connected(server)
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": NOTE}]})
        connection.request("POST", "/v1/chat/completions", body, {"authorization": f"Bearer {server.api_key}"})
        while not server.requests:
            time.sleep(0.01)
        server.stop()
        with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
            connection.getresponse()
        connection.close()
        assert server.log[0].status == 0


def test_a_port_of_ones_choice_must_be_free(client: Any) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(UsageError, match="taken"):
            LocalServer(TABLE, port=taken.getsockname()[1]).start()
    with LocalServer(TABLE) as server, pytest.raises(UsageError, match="taken"):
        LocalServer(TABLE, port=urlsplit(server.url).port or 0).start()
    with LocalServer(TABLE, port=urlsplit(server.url).port or 0) as again:
        assert client.ask(again, NOTE).text == REPLY


def test_no_repr_shows_a_note(client: Any) -> None:
    with LocalServer(TABLE) as server:
        client.ask(server, NOTE)
        assert "Abara" not in repr(server) + repr(server.log) + repr(server.requests)
    with pytest.raises(UsageError):
        _ = LocalServer(TABLE).url


def test_what_is_no_http_ends_the_connection() -> None:
    with LocalServer(TABLE) as server, socket.create_connection(("127.0.0.1", urlsplit(server.url).port or 0)) as raw:
        raw.sendall(b"good morning\r\n\r\n")
        assert raw.makefile("rb").read().startswith(b"HTTP/1.1 400 ")  # then the connection ends
        assert server.log == []
