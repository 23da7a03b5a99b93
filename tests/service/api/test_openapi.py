"""The API keeps the promises of its OpenAPI document: schemathesis calls it and finds no errors."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable

pytest.importorskip("schemathesis", reason="needs schemathesis (the extra dev)")
pytest.importorskip("uvicorn", reason="needs the extra service")

import schemathesis
import uvicorn

from incognote.nouns import Span, Text
from incognote.service.api.app import application

from .conftest import House, housed


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[House, str]]:
    folder = tmp_path_factory.mktemp("api")
    with housed(folder, service={"api_rate": 10**6, "api_refusals": 10**6}) as house:
        config = uvicorn.Config(application(house.context), "127.0.0.1", 0, log_config=None, access_log=False)
        server = uvicorn.Server(config)
        socket = config.bind_socket()
        thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        house.key("all", "submit", "review", "approve", "reveal")
        yield house, f"http://127.0.0.1:{socket.getsockname()[1]}"
        server.should_exit = True
        thread.join(20)


@pytest.fixture(scope="module")
def api(served: tuple[House, str]) -> Any:
    house, url = served
    _fill(house)
    return schemathesis.openapi.from_url(f"{url}/openapi.json")


def _fill(house: House) -> None:
    from incognote.agents.item import Item
    from incognote.service.review import ReviewCase

    text = Text("Seen by Emily Carter.")
    case = ReviewCase(Item(text.content), (text,), (Span(text, 8, 20, "PERSON"),))
    house.context.queue.put("k" * 32, "r1", case)
    house.context.jobs.submit("all", "redact", [{"content": "Seen by Emily Carter.", "known": []}])


EACH = settings(
    max_examples=4,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
    deadline=None,
    derandomize=True,
    database=None,
)


@pytest.mark.filterwarnings("ignore:Do not use the `random` module")  # schemathesis's own strategies
def test_schemathesis_finds_nothing(api: Any, served: tuple[House, str]) -> None:
    """Except valid requests with offsets outside the text: a schema cannot express where a text ends."""
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    house, url = served
    headers = {"Authorization": f"Bearer {house.keys['all']}"}
    found: dict[str, str] = {}
    asked = 0
    for result in api.get_all_operations():
        operation = result.ok()
        for mode in schemathesis.GenerationMode:

            @EACH
            @given(case=operation.as_strategy(generation_mode=mode))
            def ask(case: Any) -> None:
                nonlocal asked
                asked += 1
                response = case.call(base_url=url, headers=headers)
                excluded = [positive_data_acceptance]
                if response.status_code == 501 and (case.body or {}).get("operation") == "surrogate":
                    excluded.append(not_a_server_error)  # without a surrogate index; other checks still apply
                case.validate_response(response, headers=headers, excluded_checks=excluded)

            try:
                ask()
            except Unsatisfiable:
                continue  # a request without parameters or a body cannot be invalid
            except BaseExceptionGroup as group:
                found[f"{operation.label} {mode}"] = "\n".join(map(str, group.exceptions))
            except Exception as fault:  # any error: all are reported together at the end
                found[f"{operation.label} {mode}"] = f"{type(fault).__name__}: {fault}"
    assert not found, "\n\n".join(f"{label}\n{what}" for label, what in found.items())
    assert asked > 100


def test_the_document_is_whole(served: tuple[House, str], tmp_path: Path) -> None:
    import httpx

    _, url = served
    told = httpx.get(f"{url}/openapi.json", timeout=60).json()
    assert {"/analyze", "/anonymize", "/supportedentities", "/v1/deidentify", "/v1/jobs", "/fhir/$de-identify",
            "/v1/review/{id}/decision", "/livez", "/readyz", "/metrics"} <= told["paths"].keys()  # fmt: skip
    assert not any(path.startswith("/review") for path in told["paths"])
    schemas = told["components"]["schemas"]
    assert "HTTPValidationError" not in schemas
    assert set(schemas["Problem"]["required"]) >= {"title", "status", "detail", "error"}
    for path, operations in told["paths"].items():
        for operation in operations.values():
            assert operation["summary"], path
            for status, answer in operation["responses"].items():
                if int(status) >= 400 and not path.startswith("/fhir"):
                    assert list(answer["content"]) == ["application/problem+json"], (path, status)
