from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import ModelRejected, ModelUnavailable
from incognote.llm.vendors.faults import Exchange, current, exchange, retry_after, understood

CASES: list[tuple[str, int, Any, tuple[str | None, str | None]]] = [
    ("openai context", 400, {"error": {"message": "x", "code": "context_length_exceeded"}}, ("context", None)),
    ("vllm context", 400, {"object": "error", "message": "This model's maximum context length is 4096 tokens."},
     ("context", None)),
    ("llama.cpp context", 400, {"error": {"code": 400, "type": "exceed_context_size_error", "message": "x"}},
     ("context", None)),
    ("anthropic context", 400,
     {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8"}},
     ("context", None)),
    ("gemini context", 400, [{"error": {"code": 400, "message": "The input token count (9) exceeds the maximum number"
                                        " of tokens allowed (8)", "status": "INVALID_ARGUMENT"}}], ("context", None)),
    ("tgi context", 422, {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096",
                          "error_type": "validation"}, ("context", None)),
    ("azure filter", 400, {"error": {"code": "content_filter", "message": "x", "status": 400}}, ("filter", None)),
    ("azure inner filter", 400, {"error": {"code": None, "innererror": {"code": "ResponsibleAIPolicyViolation"}}},
     ("filter", None)),
    ("quota", 429, {"error": {"type": "insufficient_quota", "code": "insufficient_quota"}}, ("quota", None)),
    ("rate", 429, {"error": {"code": "rate_limit_exceeded", "message": "context length"}}, (None, None)),
    ("more than a minute's tokens", 429,
     {"error": {"message": "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, "
                           "Requested 40000.", "type": "tokens", "code": "rate_limit_exceeded"}}, ("context", None)),
    ("openai parameter", 400, {"error": {"param": "max_tokens", "code": "unsupported_parameter", "message": "x"}},
     ("parameter", "max_tokens")),
    ("nested parameter", 400, {"error": {"param": "response_format.json_schema", "message": "x"}},
     ("parameter", "response_format")),
    ("prose parameter", 400, {"error": "temperature is not supported with this model"}, ("parameter", "temperature")),
    ("pydantic parameter", 422,
     {"detail": [{"loc": ["body", "store"], "msg": "Extra inputs are not permitted", "type": "extra_forbidden"}]},
     ("parameter", "store")),
    ("a quoted note", 400, {"error": {"message": "bad request: temperature 38.5 " + "and so on " * 60 + "invalid"}},
     (None, None)),
    ("somebody else's parameter", 400, {"error": {"param": "messages", "message": "x"}}, (None, None)),
    ("groq's broken JSON", 400, {"error": {"message": "Failed to generate JSON. Please adjust your prompt.",
                                           "code": "json_validate_failed", "failed_generation": "x"}}, ("reply", None)),
    ("a number", 400, 7, (None, None)),
    ("an empty list", 400, [], (None, None)),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body", "meaning"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_complaints_are_understood(status: int, body: Any, meaning: tuple[str | None, str | None]) -> None:
    assert understood(status, json.dumps(body).encode()) == meaning


@given(st.binary())
def test_no_body_breaks_it(body: bytes) -> None:
    assert understood(400, body) == (None, None)


@given(st.recursive(st.none() | st.text() | st.integers(), lambda c: st.lists(c) | st.dictionaries(
    st.sampled_from(["error", "message", "code", "param", "detail", "innererror", "type"]), c)))  # fmt: skip
def test_no_json_breaks_it(body: Any) -> None:
    understood(400, json.dumps(body).encode())


def test_retry_after_comes_in_seconds_milliseconds_and_as_a_date() -> None:
    assert retry_after({"retry-after": "12"}) == 12.0
    assert retry_after({"retry-after": "1.5"}) == 1.5
    assert retry_after({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    later = retry_after({"retry-after": format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)})
    assert later is not None
    assert 80 < later <= 90
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0


@pytest.mark.parametrize("value", ["", "soon", "-3", "nan", "Wed, 99 Foo 2015"])
def test_a_retry_after_that_says_nothing_is_none(value: str) -> None:
    assert retry_after({"retry-after": value}) is None


def test_a_used_up_quota_is_not_worth_another_try() -> None:
    noted = Exchange()
    noted.note(429, {}, b'{"error": {"code": "insufficient_quota"}}')
    assert isinstance(noted.problem("a/b"), ModelRejected)
    noted.note(429, {"retry-after": "2"}, b"{}")
    problem = noted.problem("a/b")
    assert isinstance(problem, ModelUnavailable)
    assert problem.retry_after == 2.0


def test_each_call_has_its_own_exchange() -> None:
    with exchange() as outer:
        with exchange() as inner:
            assert current() is inner
        assert current() is outer
    assert current() is None
