from __future__ import annotations

import pytest

from incognote.errors import ModelProblem, ModelRejected
from incognote.llm.base import Finish, Reply, Request, Usage
from incognote.llm.prices import FREE, Price
from incognote.llm.probe import cost_per_1000_notes, probe


class One:
    name = "a/b"

    def __init__(self, act: Reply | ModelProblem) -> None:
        self.act, self.asked = act, list[Request]()

    async def complete(self, request: Request) -> Reply:
        self.asked.append(request)
        if isinstance(self.act, ModelProblem):
            raise self.act
        return self.act

    async def aclose(self) -> None: ...


@pytest.mark.parametrize(
    ("text", "finish", "obeys"),
    [
        ('{"animal": "cat", "legs": 4}', "stop", True),
        ('```json\n{"animal": "cat", "legs": 4}\n```', "stop", False),
        ('{"animal": "cat", "legs": "four"}', "stop", False),
        ('{"animal": "cat", "legs": 4, "more": 1}', "stop", False),
        ('{"animal": "cat", "legs": 4}', "length", False),
        ("", "refusal", False),
    ],
)
async def test_a_probe_says_whether_the_schema_is_obeyed(text: str, finish: Finish, obeys: bool) -> None:
    model = One(Reply(text, finish, Usage(50, 9, calls=1), 0.4, "a/b"))
    seen = await probe(model)
    assert (seen.answers, seen.obeys_schema, seen.finish, seen.seconds) == (True, obeys, finish, 0.4)
    assert seen.usage.output == 9
    assert model.asked[0].schema is not None


async def test_a_model_that_does_not_serve_is_a_result_too() -> None:
    seen = await probe(One(ModelRejected("a/b: status 401, the key is wrong")))
    assert (seen.answers, seen.obeys_schema, seen.finish) == (False, False, None)
    assert seen.problem is not None
    assert "401" in seen.problem


def test_a_thousand_notes_cost_a_thousand_times_one() -> None:
    per_note = Usage(2000, 100, 500, calls=2)
    assert cost_per_1000_notes(per_note, Price(1.0, 4.0, 0.5)) == pytest.approx(1000 * (1500 + 250 + 400) / 1e6)
    assert cost_per_1000_notes(per_note, FREE) == 0
    assert cost_per_1000_notes(per_note, None) is None
