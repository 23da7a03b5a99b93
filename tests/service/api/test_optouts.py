"""Records of subjects who opted out are not processed, however the record names them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from incognote.agents.item import Item
from incognote.nouns import Reason, Result, Verdict
from incognote.sdk import Deidentifier
from incognote.service.api.runner import Runner
from incognote.service.review import ReviewDecision

from .conftest import DOUBTFUL, NOTE, House

RECORD = {"dataType": "clinicalRecord", "PatientId": "p-1", "MRN": "7", "AGE": "46 years", "note": NOTE}


def doubtful(house: House) -> Result:
    """Return the result of a text that a person must review."""
    manifest = house.context.deid.deidentify("x").manifest
    return Result(None, Verdict("review", (Reason("doubtful", "", "PERSON"),)), manifest)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"text": NOTE, "patient": "p-1"}, "opted-out"), ({"text": NOTE, "patient": " p-1 "}, "opted-out"),
        ({"record": RECORD}, "opted-out"), ({"text": NOTE, "patient": "p-1", "operation": "tag"}, "opted-out"),
        ({"text": NOTE, "patient": "p-2"}, None),
    ],
)  # fmt: skip
async def test_a_text_of_who_opted_out_is_refused(house: House, body: dict[str, Any], code: str | None) -> None:
    house.context.optouts.add("p-1", "Ada")
    async with house.client(headers=house.key("ann", "submit")) as client:
        answer = (await client.post("/v1/deidentify", json=body)).json()
    assert [reason["code"] for reason in answer["reasons"]] == ([code] if code else [])
    assert answer["verdict"] == ("quarantine" if code else "release")
    assert (answer["entities"] == []) == bool(code)


async def test_a_document_of_who_opted_out_is_refused_be_it_in_review(house: House) -> None:
    context, runner = house.context, Runner(house.context)
    given = [{"content": DOUBTFUL, "patient": "p-1", "known": []}, {"content": NOTE, "patient": "p-2", "known": []}]
    job = context.jobs.submit("ann", "redact", given)
    document = context.jobs.claim(1)[0]
    held = doubtful(house)
    runner._hold(document, Item(DOUBTFUL, patient="p-1"), held)
    context.jobs.settle(document, "review", {})
    context.optouts.add("p-1", "Ada")
    (entry,) = context.queue.list()
    context.queue.decide(entry.id, ReviewDecision("approve"), "bob")
    again = context.jobs.submit("ann", "redact", given)
    await runner.round()
    found = [*context.jobs.documents(job.id, "ann"), *context.jobs.documents(again.id, "ann")]
    assert [one.state for one in found] == ["quarantined", "released", "quarantined", "released"]
    assert [one.answer["reasons"][0]["code"] for one in found[::2] if one.answer] == ["opted-out"] * 2
    assert "Okonjo" not in json.dumps([one.answer for one in found])
    assert context.queue.entry(entry.id).delivered


async def test_a_document_that_is_forgotten_while_it_is_served_joins_no_queue(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If it joined the queue after its subject was deleted there, it would never be deleted."""
    context = house.context
    context.jobs.submit("ann", "redact", [{"content": DOUBTFUL, "patient": "p-1", "known": []}])
    held = doubtful(house)

    async def serve(self: Deidentifier, items: Any) -> list[Result]:
        assert context.jobs.forget("p-1") == 1
        assert context.queue.of_subject("p-1") == []
        return [held]

    monkeypatch.setattr(Deidentifier, "_unit", serve)
    await Runner(context).round()
    assert context.queue.list(None) == []
