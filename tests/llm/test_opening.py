from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import EgressRefused, MissingExtra, ModelRejected, SettingError
from incognote.llm.agreements import Agreements, AgreementTerms
from incognote.llm.base import Message, Request
from incognote.llm.opening import ModelSpec, open_model, price_of

ASK = Request((Message("user", "?"),))


def test_the_door_loads_no_sdk(tmp_path: Path) -> None:
    code = (
        "import sys, incognote.llm, incognote.llm.opening, incognote.llm.probe\n"
        "from pathlib import Path\n"
        "try: incognote.llm.opening.open_model(incognote.llm.opening.ModelSpec('openai/m', home=Path('.')))\n"
        "except incognote.errors.EgressRefused: pass\n"
        "print([m for m in ('openai', 'litellm', 'httpx') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == "[]"


def test_a_spec_shows_no_key(tmp_path: Path) -> None:
    spec = ModelSpec("openai/m", home=tmp_path, api_key="sk-hidden")
    assert "sk-hidden" not in repr(spec)
    assert spec.address == "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("wrong", "named"),
    [({"model": "m"}, "model"), ({"model": "/m"}, "model"), ({"model": "openai/"}, "model"),
     ({"timeout": 0}, "timeout"), ({"attempts": 0}, "attempts"), ({"slots": 0}, "slots")],
)  # fmt: skip
def test_a_value_out_of_range_is_named(tmp_path: Path, wrong: dict[str, Any], named: str) -> None:
    with pytest.raises(SettingError, match=named):
        ModelSpec(**{"model": "openai/m", "home": tmp_path, **wrong})


def test_a_vendor_without_an_address_known_beforehand_needs_one(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="no address is known for azure"):
        open_model(ModelSpec("azure/m", home=tmp_path))


def test_a_model_elsewhere_opens_only_after_somebody_agreed(tmp_path: Path) -> None:
    pytest.importorskip("openai")
    spec = ModelSpec("openai/m", home=tmp_path, api_key="k")
    with pytest.raises(EgressRefused, match="incognote model agree"):
        open_model(spec)
    Agreements(tmp_path).record("openai/m", spec.address, by="A. Sule", terms=AgreementTerms("BAA 1", 0))
    assert open_model(spec).name == "openai/m"


def test_a_fallback_elsewhere_needs_its_own_agreement(tmp_path: Path) -> None:
    near = "http://127.0.0.1:9/v1"
    far = ModelSpec("openai/far", home=tmp_path, api_key="k")
    with pytest.raises(EgressRefused, match="openai/far"):
        open_model(ModelSpec("openai/near", home=tmp_path, api_base=near, fallbacks=(far,)))
    deeper = ModelSpec("openai/mid", home=tmp_path, api_base=near, fallbacks=(far,))
    with pytest.raises(EgressRefused, match="openai/far"):
        open_model(ModelSpec("openai/near", home=tmp_path, api_base=near, fallbacks=(deeper,)))


def test_plain_http_elsewhere_is_refused_agreed_or_not(tmp_path: Path) -> None:
    with pytest.raises(EgressRefused, match="https"):
        open_model(ModelSpec("openai/m", home=tmp_path, api_base="http://10.1.2.3/v1", api_key="k"))


def test_a_missing_key_is_asked_for_at_the_door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    spec = ModelSpec("openai/m", home=tmp_path)
    Agreements(tmp_path).record("openai/m", spec.address, by="A. Sule", terms=AgreementTerms("BAA 1", 0))
    with pytest.raises(SettingError, match="OPENAI_API_KEY"):
        open_model(spec)


@pytest.mark.parametrize("model", ["openai/m", "hosted_vllm/m"])
def test_without_the_extra_its_name_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    for name in ("openai", "litellm"):
        monkeypatch.setitem(sys.modules, name, None)
    from incognote.llm.vendors import litellm_sdk

    litellm_sdk._litellm.cache_clear()
    with pytest.raises(MissingExtra, match=r"incognote\[llm\]"):
        open_model(ModelSpec(model, home=tmp_path, api_base="http://localhost:9/v1"))


def test_the_loopback_is_free_and_others_cost_what_the_table_says(tmp_path: Path) -> None:
    local = price_of(ModelSpec("openai/gpt-4o", home=tmp_path, api_base="http://localhost:1/v1"))
    assert local is not None
    assert local.output == 0
    hosted = price_of(ModelSpec("openai/gpt-4o", home=tmp_path))
    assert hosted is not None
    assert hosted.output == 10.0
    assert price_of(ModelSpec("openai/unheard-of", home=tmp_path)) is None


async def test_a_fallback_answers_over_http(tmp_path: Path, endpoint: Any, other: Any, raw: Any) -> None:
    pytest.importorskip("openai")
    endpoint.answer(raw(404, {"error": "no such model"}))
    second = ModelSpec("openai/second", home=tmp_path, api_base=other.url)
    model = open_model(ModelSpec("openai/first", home=tmp_path, api_base=endpoint.url, fallbacks=(second,)))
    reply = await model.complete(ASK)
    await model.aclose()
    assert reply.model == "openai/second"
    assert (len(endpoint.bodies), len(other.bodies)) == (1, 1)


async def test_one_attempt_means_one(tmp_path: Path, endpoint: Any, raw: Any) -> None:
    pytest.importorskip("openai")
    endpoint.answer(raw(401, {"error": "x"}))
    model = open_model(ModelSpec("openai/m", home=tmp_path, api_base=endpoint.url, attempts=1))
    with pytest.raises(ModelRejected, match="401"):
        await model.complete(ASK)
    await model.aclose()
    assert len(endpoint.bodies) == 1
