"""Which requests are let in, and what is logged about them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from incognote.service.api.app import application
from incognote.service.api.connections import limited_connections
from incognote.service.api.gate import Buckets
from incognote.service.telemetry.tracing import Tracing

from .conftest import LOCAL, NOTE, TOKEN, House, housed

ASK = {"text": NOTE}


async def test_without_a_key_only_health_and_the_page_shell_are_available(house: House) -> None:
    async with house.client(address="10.1.2.3") as client:
        for path in ("/livez", "/readyz", "/health", "/openapi.json", "/", "/try/try.js", "/review", "/review/main.js"):
            assert (await client.get(path)).status_code == 200, path
        for path in ("/v1/review", "/v1/types", "/v1/dashboard", "/metrics", "/recognizers", "/nothing"):
            answer = await client.get(path)
            assert answer.status_code == 401, path
            assert answer.headers["www-authenticate"] == "Bearer"
        assert (await client.post("/v1/deidentify", json=ASK)).status_code == 401


async def test_a_wrong_a_revoked_and_a_malformed_key_are_refused(house: House) -> None:
    good = house.key("ann", "submit")
    gone = house.key("bob", "submit")
    house.context.keys.revoke("bob")
    async with house.client(token=TOKEN) as client:
        assert (await client.post("/v1/deidentify", json=ASK, headers=good)).status_code == 200
        odd = ("Bearer", "Basic YTpi", "Basic \xff?", "Bearer \xff")
        for value in (gone["Authorization"], good["Authorization"] + "x", *odd):
            headers = [(b"Authorization", value.encode("latin-1"))]
            answer = await client.post("/v1/deidentify", json=ASK, headers=headers)
            assert answer.status_code == 401, value
            assert NOTE not in answer.text


@pytest.mark.parametrize("name", ["X-Forwarded-User", "X-Forwarded-Email", "X-Auth-Request-User", "Remote-User"])
async def test_an_identity_header_of_a_proxy_neither_replaces_a_key_nor_adds_to_its_roles(
    house: House, name: str
) -> None:
    key = house.key("ann", "submit")
    house.key("boss", "approve")
    async with house.client() as client:
        assert (await client.get("/v1/review", headers={name: "boss"})).status_code == 401
        assert (await client.get("/v1/review", headers={**key, name: "boss"})).status_code == 403


async def test_a_key_is_also_taken_as_a_password_but_not_from_a_browser(house: House) -> None:
    written = house.key("guardrail", "submit")["Authorization"].partition(" ")[2]
    auth = httpx.BasicAuth("litellm", written)
    async with house.client() as client:
        assert (await client.post("/v1/deidentify", json=ASK, auth=auth)).status_code == 200
        wrong = httpx.BasicAuth(written, "litellm")
        assert (await client.post("/v1/deidentify", json=ASK, auth=wrong)).status_code == 401
        for name in ("Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode"):
            answer = await client.post("/v1/deidentify", json=ASK, auth=auth, headers={name: "same-origin"})
            assert answer.status_code == 401, name


@pytest.mark.parametrize(
    ("role", "method", "path", "body"),
    [
        ("review", "POST", "/v1/deidentify", ASK),
        ("review", "POST", "/analyze", {"text": NOTE, "language": "en"}),
        ("review", "POST", "/v1/jobs", {"documents": [ASK]}),
        ("review", "POST", "/fhir/$de-identify", {"resourceType": "Patient"}),
        ("submit", "GET", "/v1/review", None),
        ("submit", "GET", "/v1/review/" + "a" * 16, None),
        ("submit", "GET", "/v1/schemas", None),
        ("submit", "GET", "/v1/dashboard", None),
        ("review", "POST", "/v1/schemas/x/approval", {"version": "a" * 16}),
        ("review", "POST", "/v1/review/" + "a" * 16 + "/decision", {"outcome": "approve"}),
        ("approve", "GET", "/v1/gold", None),
        ("review", "GET", "/v1/gold", None),
    ],
)
async def test_the_wrong_role_is_refused(
    house: House, role: str, method: str, path: str, body: dict[str, object] | None
) -> None:
    headers = house.key("ann", role)
    async with house.client() as client:
        answer = await client.request(method, path, json=body, headers=headers)
    assert answer.status_code == 403
    assert answer.headers["content-type"] == "application/problem+json"
    assert "lacks the role" in answer.json()["error"]


async def test_the_token_of_the_start_serves_as_long_as_there_is_no_key(house: House) -> None:
    async with house.client(token=TOKEN) as client:
        me = (await client.get("/v1/me", headers=LOCAL)).json()
        assert me == {"name": "local", "roles": ["review", "submit", "try"]}
        assert (await client.post("/v1/deidentify", json=ASK, headers=LOCAL)).status_code == 200
        house.key("ann", "submit")
        assert (await client.get("/v1/me", headers=LOCAL)).status_code == 401
        assert (await client.get("/v1/types", headers=LOCAL)).status_code == 401


@pytest.mark.parametrize("given", [None, "Bearer", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN])
async def test_without_the_token_nobody_is_served_even_on_this_machine(house: House, given: str | None) -> None:
    headers = {} if given is None else {"Authorization": given}
    async with house.client(token=TOKEN) as client:
        for path in ("/v1/types", "/v1/review", "/v1/jobs", "/metrics", "/v1/gold"):
            assert (await client.get(path, headers=headers)).status_code == 401
        assert (await client.post("/v1/deidentify", json=ASK, headers=headers)).status_code == 401


async def test_a_server_of_keys_takes_no_token(house: House) -> None:
    async with house.client() as client:
        for given in ("None", "", TOKEN):
            assert (await client.get("/v1/types", headers={"Authorization": f"Bearer {given}"})).status_code == 401


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/review/" + "a" * 16 + "/decision", {"outcome": "approve"}),
        ("POST", "/v1/schemas/x/approval", {"version": "a" * 16}),
        ("GET", "/v1/gold", None),
    ],
)
async def test_the_token_neither_approves_nor_reveals(
    house: House, method: str, path: str, body: dict[str, object] | None
) -> None:
    async with house.client(token=TOKEN) as client:
        assert (await client.request(method, path, json=body, headers=LOCAL)).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.test"}, {"X-Forwarded-For": "8.8.8.8"}, {"Origin": "http://evil.test"}, {"Forwarded": "for=x"}],
)
async def test_the_token_is_refused_through_proxies_and_from_other_pages(house: House, headers: dict[str, str]) -> None:
    async with house.client(token=TOKEN) as client:
        assert (await client.get("/v1/types", headers={**LOCAL, **headers})).status_code == 401


@pytest.mark.parametrize(
    "name",
    ["X-Forwarded-Proto", "x-forwarded", "Via", "X-Real-IP", "X-Original-Forwarded-For", "CF-Connecting-IP",
     "True-Client-IP", "X-Client-IP", "X-Cluster-Client-IP", "Fly-Client-IP", "X-Envoy-External-Address",
     "X-Azure-ClientIP", "X-Amzn-Trace-Id"],
)  # fmt: skip
async def test_the_token_is_refused_behind_every_header_that_a_proxy_adds(house: House, name: str) -> None:
    async with house.client(token=TOKEN) as client:
        assert (await client.get("/v1/types", headers=LOCAL)).status_code == 200
        assert (await client.get("/v1/types", headers={**LOCAL, name: "1"})).status_code == 401


async def test_the_token_is_refused_from_elsewhere(house: House) -> None:
    async with house.client(token=TOKEN, address="10.0.0.1") as client:
        assert (await client.get("/v1/types", headers=LOCAL)).status_code == 401


async def test_too_large_a_body_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with housed(tmp_path, service={"api_bytes": 2000}) as house:
        headers = house.key("ann", "submit")

        async def pieces() -> object:
            for _ in range(100):
                yield b"x" * 1000

        async with house.client(headers=headers) as client:
            told = await client.post("/v1/deidentify", json={"text": "x" * 3000})
            untold = await client.post("/v1/deidentify", content=pieces())
            assert (told.status_code, untold.status_code) == (413, 413)
            assert (await client.post("/v1/deidentify", json={"text": "x"})).status_code == 200


async def test_too_many_requests_wait(tmp_path: Path) -> None:
    with housed(tmp_path, service={"api_rate": 2, "api_refusals": 3}) as house:
        headers = house.key("ann", "submit")
        async with house.client() as client:
            codes = [(await client.get("/v1/me", headers=headers)).status_code for _ in range(3)]
            assert codes == [200, 200, 429]
            answer = await client.get("/v1/me", headers=headers)
            assert int(answer.headers["retry-after"]) >= 1
            wrong = [(await client.get("/v1/me", headers={"Authorization": "Bearer x"})).status_code for _ in range(4)]
            assert wrong == [401, 401, 401, 429]


def test_a_bucket_fills_again_and_forgets_nobody_s_neighbour() -> None:
    now = 0.0
    buckets = Buckets(60, lambda: now)
    assert [buckets.take("a") for _ in range(60)] == [0.0] * 60
    assert buckets.take("a") > 0
    assert buckets.take("b") == 0
    now = 1.0
    assert buckets.take("a") == 0
    assert buckets.take("a") > 0


@pytest.mark.parametrize(
    "path",
    ["/review/../keys.py", "/review/%2e%2e/%2e%2e/settings.py", "/review//etc/passwd", "/review/page.css/../../x",
     "/review/..%2f..%2f", "/v1/review/../../etc/passwd", "/v1/jobs/..%2f", "/review/page.css%00.js"],
)  # fmt: skip
async def test_path_tricks_lead_nowhere(house: House, path: str) -> None:
    headers = house.key("ann", "submit", "review")
    async with house.client() as client:
        request = client.build_request("GET", "http://127.0.0.1/x", headers=headers)
        request.url = request.url.copy_with(raw_path=path.encode())
        answer = await client.send(request)
    assert answer.status_code in (404, 422)
    assert "import" not in answer.text


async def test_every_answer_carries_the_headers_that_bind_a_browser(house: House) -> None:
    async with house.client() as client:
        for path in ("/review", "/livez", "/v1/review", "/nothing"):
            headers = (await client.get(path)).headers
            assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["cache-control"] == "no-store"
            assert "unsafe" not in headers["content-security-policy"]


async def test_an_internal_error_reveals_nothing_of_the_request(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    headers = house.key("ann", "submit")

    async def broken(item: object) -> None:
        raise RuntimeError(f"could not serve {NOTE}")

    monkeypatch.setattr(house.context.deid, "adeidentify", broken)
    async with house.client(headers=headers) as client:
        answer = await client.post("/v1/deidentify", json=ASK)
    assert answer.status_code == 500
    assert answer.json()["title"] == "internal-error"
    assert "Carter" not in answer.text + house.said.getvalue()
    assert any(line["event"] == "error.unexpected" and line["error"] == "RuntimeError" for line in house.lines)


async def test_no_channel_contains_anything_from_a_request_body(
    house: House, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    headers = house.key("ann", "submit", "review", "approve")
    word = "Quixwortha"
    bodies = [
        {"text": f"Seen by {word}"}, {"text": 7, word: word}, {"text": [word]}, {"record": {"dataType": word}},
        {"record": {word: {word: word}}}, {"text": word, "known": {word: 7}}, {"text": word, "operation": word},
    ]  # fmt: skip
    async with house.client(headers=headers) as client:
        answers = [await client.post("/v1/deidentify", json=body) for body in bodies]
        for text in (word, f'{{"{word}', f'{{"text": "{word}"'):
            answers.append(await client.post("/v1/deidentify", content=text))
        answers.append(await client.post("/v1/jobs", json={"documents": [{"text": word, word: 1}]}))
        answers.append(await client.get(f"/v1/jobs/{word}"))
        answers.append(await client.get(f"/v1/review?state={word}&{word}=1"))
        answers.append(await client.get(f"/{word}"))
    for answer in answers:
        assert word not in answer.text or answer.status_code == 200, answer.text
    out, err = capfd.readouterr()
    assert word not in house.said.getvalue() + out + err + caplog.text
    stored = b"".join(path.read_bytes() for path in house.folder.rglob("*") if path.is_file())
    assert word.encode() not in stored
    routes = {line["route"] for line in house.lines if line["event"] == "api.request"}
    assert routes == {"v1-deidentify", "v1-jobs", "v1-jobs-id", "v1-review", "none"}


async def test_metrics_count_what_was_asked(house: House) -> None:
    headers = house.key("ann", "submit")
    async with house.client(headers=headers) as client:
        await client.post("/v1/deidentify", json=ASK)
        text = (await client.get("/metrics")).text
    assert 'incognote_requests_total{method="post",route="v1-deidentify",status="200"} 1.0' in text


def test_problems_need_no_words_of_a_request() -> None:
    from incognote.service.api.problems import problem

    told = json.loads(bytes(problem(413, "too long").body))
    assert told == {
        "type": "urn:incognote:problem:too-large", "title": "too-large", "status": 413, "detail": "too long",
        "error": "too long", "faults": [],
    }  # fmt: skip


async def test_requests_are_traced_by_route_and_status(house: House) -> None:
    export = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    exporter = export.InMemorySpanExporter()
    house.context.telemetry._tracing = Tracing(exporter, at_once=True)
    async with house.client() as client:
        await client.get("/livez")
        await client.get("/Quixwortha")
    (first, second) = exporter.get_finished_spans()
    assert dict(first.attributes) == {"method": "get", "route": "livez", "status": 200}
    assert dict(second.attributes) == {"method": "get", "route": "none", "status": 401}


async def test_a_slow_body_is_read_only_up_to_a_time_limit(tmp_path: Path) -> None:
    with housed(tmp_path, service={"api_seconds": 0.2}) as house:

        async def drips() -> AsyncIterator[bytes]:
            yield b"{"
            await asyncio.sleep(30)

        async with house.client(headers=house.key("ann", "submit")) as client:
            answer = await client.post("/v1/deidentify", content=drips())
            assert (answer.status_code, answer.json()["title"]) == (408, "too-slow")
            assert (await client.post("/livez", content=drips())).status_code == 405  # this route does not read a body


@asynccontextmanager
async def served(house: House, protocol: Any) -> AsyncIterator[tuple[str, int]]:
    """Run a real server and yield its address."""
    uvicorn = pytest.importorskip("uvicorn")
    config = uvicorn.Config(
        application(house.context), "127.0.0.1", 0, log_config=None, http=protocol, timeout_keep_alive=30
    )
    server = uvicorn.Server(config)
    sockets = [config.bind_socket()]
    serving = asyncio.create_task(server.serve(sockets=sockets))
    for _ in range(1000):
        if server.started:
            break
        await asyncio.sleep(0.02)
    try:
        yield sockets[0].getsockname()
    finally:
        server.should_exit = True
        await serving


@pytest.mark.parametrize(
    "begun", [b"", b"GET /livez HTTP/1.1\r\nHost: ", b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\nGET /"]
)
async def test_an_idle_connection_is_closed(house: House, begun: bytes) -> None:
    """Without the limit, 256 idle connections locked out all other clients."""
    async with served(house, limited_connections(0.2)) as address:
        reader, writer = await asyncio.open_connection(*address)
        writer.write(begun)
        async with asyncio.timeout(20):
            said = await reader.read()
        assert said.count(b"HTTP/1.1 200") == begun.count(b"\r\n\r\n")
        writer.close()


@pytest.mark.parametrize("begun", [b"", b"GET /livez HTTP/1.1\r\nHost: ", b"GET / HTTP/1.1\r\nX: y\r\n"])
async def test_livez_answers_while_300_connections_of_the_same_address_are_half_open(
    house: House, begun: bytes
) -> None:
    """New connections do not wait: half-open ones may stay for a minute, but the oldest are closed to make room."""
    async with served(house, limited_connections(60.0, 64)) as address:
        opened = [await asyncio.open_connection(*address) for _ in range(300)]
        for _, writer in opened:
            writer.write(begun)
        async with asyncio.timeout(20), httpx.AsyncClient(base_url=f"http://127.0.0.1:{address[1]}") as client:
            for _ in range(3):
                assert (await client.get("/livez")).status_code == 200
            told = [await asyncio.wait_for(reader.read(), 20) for reader, _ in opened[: 300 - 64]]
        assert set(told) == {b""}
        for _, writer in opened:
            writer.close()


async def test_an_answer_that_nobody_fetches_is_broken_off(house: House) -> None:
    """Thousands of answers requested on one connection: without the limit, the server waits forever to write them."""
    async with served(house, limited_connections(0.2)) as address:
        _, writer = await asyncio.open_connection(*address, limit=1024)  # the rest is not read

        async def ask_on() -> None:
            while True:
                writer.write(b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n")
                await writer.drain()

        with pytest.raises(ConnectionError):
            await asyncio.wait_for(ask_on(), 20)
        writer.close()


JSON = {"Content-Type": "application/json"}


class Slow:
    """A body whose second part is sent on request."""

    def __init__(self, begun: bytes, rest: bytes) -> None:
        self.begun, self.rest, self.came, self.go = begun, rest, asyncio.Semaphore(0), asyncio.Event()

    async def body(self) -> AsyncIterator[bytes]:
        yield self.begun
        self.came.release()
        await self.go.wait()
        yield self.rest


async def test_one_address_is_served_so_many_requests_at_once_and_livez_besides(tmp_path: Path) -> None:
    with housed(tmp_path, service={"api_connections": 2}) as house:
        slow = Slow(b"", json.dumps(ASK).encode())
        async with house.client(headers=house.key("ann", "submit")) as client:
            first = [
                asyncio.create_task(client.post("/v1/deidentify", content=slow.body(), headers=JSON)) for _ in range(2)
            ]
            for _ in first:
                await slow.came.acquire()
            third = await client.post("/v1/deidentify", json=ASK)
            assert (third.status_code, third.headers["retry-after"]) == (503, "1")
            assert (await client.get("/livez")).status_code == 200
            slow.go.set()
            assert [(await one).status_code for one in first] == [200, 200]
            assert (await client.post("/v1/deidentify", json=ASK)).status_code == 200


async def test_bodies_that_are_too_much_together_are_refused(tmp_path: Path) -> None:
    with housed(tmp_path, service={"api_bytes": 1024}) as house:
        slow = Slow(b" " * 900, b"{}")
        async with house.client(headers=house.key("ann", "submit")) as client:
            asked = [
                asyncio.create_task(client.post("/v1/deidentify", content=slow.body(), headers=JSON)) for _ in range(20)
            ]
            refused = [await one for one in (await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED))[0]]
            assert {one.status_code for one in refused} == {503}
            slow.go.set()
            assert {(await one).status_code for one in asked} == {422, 503}
            assert (await client.post("/v1/deidentify", json={"text": "x"})).status_code == 200


async def test_livez_is_asked_as_often_as_anybody_likes(tmp_path: Path) -> None:
    """Behind a proxy, the health probe shares its address with other clients."""
    with housed(tmp_path, service={"api_rate": 2}) as house:
        async with house.client() as client:
            assert {(await client.get("/livez")).status_code for _ in range(9)} == {200}
            assert [(await client.get("/review")).status_code for _ in range(3)] == [200, 200, 429]


async def test_another_page_s_images_are_not_fetched_from_here(house: House) -> None:
    """Such a request has no Origin header, and would be in the audit log as a view."""
    async with house.client(token=TOKEN) as client:
        for site, status in (("cross-site", 401), ("same-site", 401), ("same-origin", 200), ("none", 200)):
            answer = await client.get("/v1/types", headers={**LOCAL, "Sec-Fetch-Site": site})
            assert answer.status_code == status
