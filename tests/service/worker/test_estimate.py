"""The estimate of a model's cost in a plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from incognote.files.inputs import RecordDefaults
from incognote.llm.base import Reply, Usage
from incognote.runs.location import open_location
from incognote.runs.source import WatchedSource
from incognote.service.worker.estimate import RunEstimate, estimate
from incognote.testing import ScriptedLLM


@pytest.mark.parametrize("usd", [0.25, None])
async def test_what_a_sample_takes_of_a_model_is_foretold_of_all(
    house: Any, lines: Callable[..., str], usd: float | None
) -> None:
    def answer(request: Any) -> Reply:
        return Reply('{"PERSON": ["<<Emily Carter>>"]}', usage=Usage(input=90, output=10, calls=1, usd=usd))

    async def told(sample: int, **words: Any) -> RunEstimate:
        made = house.made(**words)
        return await estimate(made, WatchedSource(open_location(str(house.source)), rest=0.0), layout=None,
                              words=RecordDefaults(), sample=sample, workers=1)  # fmt: skip

    house.put("a.jsonl", lines(1, 2, 3, 4))
    plan = await told(2, model=ScriptedLLM(answer), detectors=("rules", "llm"), passes=1)
    assert (plan.sampled, plan.records) == (2, 4)
    assert plan.tokens == 400
    assert plan.usd == (None if usd is None else pytest.approx(1.0))
    plan = await told(2)
    assert (plan.tokens, plan.usd) == (0, None)
