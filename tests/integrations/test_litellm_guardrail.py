"""LiteLLM's own Presidio guardrail, configured by the YAML of docs/integrations.md, with a real `incognote serve`."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("litellm") is None:  # importing it would fetch a price list
    pytest.skip("the extra `llm` is not installed", allow_module_level=True)
pytest.importorskip("fastapi", reason="the extra `service` is not installed")
pytest.importorskip("yaml", reason="the extra `evaluation` is not installed")

import yaml

from incognote.schemas.catalogue import catalogue

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs" / "integrations.md").read_text(encoding="utf-8")
PARAMS = {
    name: yaml.safe_load(config)["guardrails"][0]["litellm_params"]
    for name, config in re.findall(r"```yaml\n# config\.yaml of the LiteLLM proxy: (\w+)\n(.*?)```", PAGE, re.S)
}
WORDS = ("Okonkwo", "4471902", "Abara", "03/09/2025")
ONE = [{"role": "user", "content": "Mr. Emeka Okonkwo, MRN 4471902, was seen by Dr. Abara on 03/09/2025."}]
TWO = [{"role": "user", "content": "Dr. Abara saw her."}, {"role": "user", "content": "Dr. Okonkwo called."}]
OPEN = {name: value for name, value in PARAMS["mask"].items() if name != "pii_entities_config"}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The guardrail's result for each case, with its own server and key."""
    own = {"INCOGNOTE_HOME": str(tmp_path_factory.mktemp("home")), "INCOGNOTE_DETECTORS": '["rules"]'}
    run: Any = {"env": {**os.environ, **own, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}}
    run |= {"text": True, "stderr": subprocess.PIPE}
    incognote = [sys.executable, "-m", "incognote"]
    new = [*incognote, "key", "api", "new", "litellm", "--role", "submit", "--json"]
    key = json.loads(subprocess.run(new, **run, stdout=subprocess.PIPE, check=True).stdout)["data"]["key"]
    with subprocess.Popen([*incognote, "serve", "--port", "0"], **run) as server:
        try:
            assert server.stderr is not None
            found = re.search(r":(\d+) ", server.stderr.readline())
            assert found is not None, "the first line does not name the address"
            base = f"@127.0.0.1:{found[1]}"

            def case(params: dict[str, Any], messages: list[dict[str, str]], password: str = key) -> dict[str, Any]:
                url = f"http://litellm:{password}{base}"
                bases = {"presidio_analyzer_api_base": url, "presidio_anonymizer_api_base": url}
                return {"params": {**params, **bases}, "messages": messages}

            cases = {
                "masked": case(PARAMS["mask"], ONE), "restored": case(PARAMS["restore"], ONE),
                "two": case(PARAMS["restore"], TWO), "mask refused": case(PARAMS["mask"], ONE, "wrong"),
                "restore refused": case(PARAMS["restore"], ONE, "wrong"), "open refused": case(OPEN, ONE, "wrong"),
            }  # fmt: skip
            child = [sys.executable, str(HERE / "guarded.py")]
            asked = json.dumps([*cases.values()])
            done = subprocess.run(child, **run, input=asked, stdout=subprocess.PIPE, check=False, timeout=300)
        finally:
            server.terminate()
    assert done.returncode == 0, done.stderr
    return dict(zip(cases, json.loads(done.stdout), strict=True))


def test_the_page_lists_every_type_that_the_server_finds() -> None:
    listed = PARAMS["mask"]["pii_entities_config"]
    assert set(listed) == catalogue().presidio_names()
    assert set(listed.values()) == {"MASK"}


def test_prompts_are_masked(answers: dict[str, dict[str, Any]]) -> None:
    sent = "Mr. <PERSON>, MRN <MEDICAL_RECORD>, was seen by Dr. <PERSON> on <DATE_TIME>."
    assert answers["masked"] == {"sent": [sent], "answer": sent}


def test_prompts_are_masked_and_answers_restored(answers: dict[str, dict[str, Any]]) -> None:
    (sent,) = answers["restored"]["sent"]
    assert sent.startswith("Mr. <PERSON_1>, MRN <MEDICAL_RECORD_2>")
    assert not any(word in sent for word in WORDS)
    assert answers["restored"]["answer"] == ONE[0]["content"]


def test_the_labels_of_two_messages_collide_as_the_page_warns(answers: dict[str, dict[str, Any]]) -> None:
    assert answers["two"]["sent"] == ["Dr. <PERSON_1> saw her.", "Dr. <PERSON_1> called."]
    first, second = re.findall(r"Dr\. (\w+)", answers["two"]["answer"])
    assert first == second


def test_a_refused_key_stops_the_request_under_both_configurations(answers: dict[str, dict[str, Any]]) -> None:
    refusals = [answers["mask refused"], answers["restore refused"]]
    assert ["401" in each["refused"] for each in refusals] == [True, True]
    assert not any(word in str(refusals) for word in WORDS)


def test_without_the_list_of_types_litellm_sends_the_original_as_the_page_warns(
    answers: dict[str, dict[str, Any]],
) -> None:
    assert answers["open refused"]["sent"] == [ONE[0]["content"]]
