"""/v1/deidentify, /v1/jobs, and FHIR give the same answers as the SDK, and return only what was released."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from incognote.agents.item import Item
from incognote.errors import UnknownName
from incognote.nouns import Reason, Result, Span, Text, Verdict
from incognote.sdk import Deidentifier
from incognote.service.api.context import served
from incognote.service.api.runner import Runner
from incognote.service.audit import entries
from incognote.service.review import ReviewDecision
from incognote.testing import LocalServer, ScriptedLLM

from .conftest import DOUBTFUL, NOTE, House, housed

JSON = {"Content-Type": "application/json"}
PATIENT = {
    "resourceType": "Patient",
    "id": "p1",
    "name": [{"family": "Carter", "given": ["Emily"]}],
    "birthDate": "1961-04-02",
    "text": {"status": "generated", "div": '<div xmlns="http://www.w3.org/1999/xhtml">Emily Carter, 617-555-0142</div>'}
}


async def post(house: House, path: str, body: Any, **more: Any) -> httpx.Response:
    headers = house.key("ann", "submit")
    async with house.client(headers=headers) as client:
        if isinstance(body, str):
            return await client.post(path, content=body, headers=JSON, **more)
        return await client.post(path, json=body, **more)


async def test_a_text_is_answered_as_the_sdk_does(house: House) -> None:
    answer = (await post(house, "/v1/deidentify", {"text": NOTE, "id": "n1"})).json()
    result = house.context.deid.deidentify(NOTE, id="n1")
    assert answer["text"] == result.text
    assert answer["manifest"] == json.loads(json.dumps(result.manifest))
    assert (answer["verdict"], answer["id"]) == ("release", house.context.deid.engine.keyring.name("n1"))
    for entity in answer["entities"]:
        assert entity["start"] < entity["end"] <= len(NOTE)
        assert answer["text"][entity["out_start"] : entity["out_end"]].startswith("[")
    assert "Carter" not in json.dumps(answer)


LETTER = rb"{\rtf1\ansi Seen by Dr. {\b Emily} Carter on 03/16/2025.\par}"


async def test_a_file_comes_back_in_its_format_at_once_and_from_a_job(house: House) -> None:
    document = {"file": base64.b64encode(LETTER).decode(), "id": "f1"}
    async with house.client(headers=house.key("ann", "submit")) as client:
        answer = (await client.post("/v1/deidentify", json=document)).json()
        named = (await client.post("/v1/deidentify", json={**document, "media_type": "text/rtf"})).json()
        job = (await client.post("/v1/jobs", json={"documents": [document]})).json()["id"]
        await finished(client, job)
        page = (await client.get(f"/v1/jobs/{job}/documents")).json()
        refused = [
            (await client.post("/v1/deidentify", json=broken)).status_code
            for broken in ({**document, "text": NOTE}, {"text": NOTE, "media_type": "text/rtf"}, {"file": "%"})
        ]
    released = base64.b64decode(answer["file"])
    assert released == rb"{\rtf1\ansi Seen by Dr. {\b [PERSON]} on [DATE].\par}"
    assert named["file"] == page["documents"][0]["answer"]["file"] == answer["file"]
    assert (answer["verdict"], answer["text"], answer["record"]) == ("release", None, None)
    assert refused == [422, 422, 422]


async def test_tag_tells_where_and_no_text(house: House) -> None:
    answer = (await post(house, "/v1/deidentify", {"text": NOTE, "operation": "tag"})).json()
    assert answer["text"] is None
    assert {NOTE[e["start"] : e["end"]] for e in answer["entities"]} >= {"Emily Carter", "03/16/2025"}


async def test_what_is_not_released_holds_no_text(house: House) -> None:
    body = {"text": "Seen by xqtlpq at home.", "known": {"name": ["xqtlpq"]}}
    ok = (await post(house, "/v1/deidentify", body)).json()
    assert ok["verdict"] == "release"
    broken = {"record": {"dataType": "nobody-knows-it", "note": NOTE}}
    async with house.client(headers={"Authorization": f"Bearer {house.keys['ann']}"}) as client:
        answer = (await client.post("/v1/deidentify", json=broken)).json()
    assert answer["verdict"] == "quarantine"
    assert (answer["text"], answer["record"], answer["entities"]) == (None, None, [])
    assert answer["reasons"][0]["code"] == "unknown-data-type"
    assert "Carter" not in json.dumps(answer)


async def test_a_record_keeps_its_bytes(house: House) -> None:
    raw = '{"dataType": "note",  "id" : "7", "text": "Seen by Dr. Emily Carter. K+ 4.10"}'
    answer = await post(house, "/v1/deidentify", f'{{"record": {raw}}}')
    result = house.context.deid.deidentify(raw, data_type="note")
    assert result.verdict.released
    assert result.output() in answer.text
    assert "Carter" not in answer.text
    assert answer.json()["record"] == result.record


@pytest.mark.parametrize(
    "body",
    ['{"text": "a", "text": "b"}', '{"record": {"dataType": "note", "id": "1", "text": "a", "text": "b"}}',
     '{"record": {"a": NaN}}', '{"text": "Carter"}'.encode("utf-16")],
)  # fmt: skip
async def test_what_two_may_read_differently_is_refused(house: House, body: Any) -> None:
    """For a duplicate member, the SDK reports `malformed`. The API used to ignore the first one silently."""
    async with house.client(headers=house.key("ann", "submit")) as client:
        answer = await client.post("/v1/deidentify", content=body, headers=JSON)
    assert answer.status_code == 422
    assert "must be JSON" in answer.json()["error"]
    assert not [line for line in house.lines if line["event"] == "error.unexpected"]


async def test_surrogates_need_an_index(house: House) -> None:
    answer = await post(house, "/v1/deidentify", {"text": NOTE, "operation": "surrogate"})
    assert answer.status_code == 501
    assert "index" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ({}, "body"), ({"text": "a", "record": {}}, "body"), ({"text": 7}, "body.text"), ({"Carter": "a"}, "body.?"),
        ({"text": "a", "operation": "x"}, "body.operation"), ([], "body"), ("{", "body.1"),
    ],
)  # fmt: skip
async def test_what_does_not_fit_is_told_by_place(house: House, body: Any, at: str) -> None:
    answer = await post(house, "/v1/deidentify", body)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert at in {fault["at"] for fault in answer.json()["faults"]}


async def test_a_fhir_resource_comes_back_deidentified(house: House) -> None:
    answer = await post(house, "/fhir/$de-identify", PATIENT)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/fhir+json"
    assert answer.json()["resourceType"] == "Patient"
    for word in ("Carter", "Emily", "1961-04-02", "0142"):
        assert word not in answer.text
    raw = answer.request.content.decode()
    assert answer.text == house.context.deid.deidentify(Item(raw, is_record=True)).output()


@pytest.mark.parametrize("body", ['{"resourceType": "Patient", "surprise": "Carter"}', "{", '"Carter"', "[]", "\udcff"])
async def test_a_fhir_resource_that_is_not_released_is_an_outcome(house: House, body: str) -> None:
    headers = house.key("ann", "submit")
    async with house.client(headers=headers) as client:
        answer = await client.post("/fhir/$de-identify", content=body.encode("utf-8", "surrogateescape"))
    assert answer.status_code == 422
    told = answer.json()
    assert told["resourceType"] == "OperationOutcome"
    assert told["issue"][0]["severity"] == "error"
    assert "Carter" not in answer.text


async def finished(client: httpx.AsyncClient, id: str) -> dict[str, Any]:
    for _ in range(400):
        job: dict[str, Any] = (await client.get(f"/v1/jobs/{id}")).json()
        if job["state"] != "running":
            return job
        await asyncio.sleep(0.02)
    raise AssertionError("the job does not end")


async def test_an_id_that_is_a_record_number_stands_in_no_answer_file_or_log(house: House) -> None:
    number, headers = "MRN-48213977", house.key("ann", "submit")
    bodies = [{"text": NOTE, "id": number, "operation": operation} for operation in ("redact", "tag")]
    async with house.client(headers=headers) as client:
        told = [(await client.post("/v1/deidentify", json=body)).text for body in bodies]
        asked = {"documents": [{"text": NOTE, "id": number}, {"text": DOUBTFUL, "id": number}]}
        job = await finished(client, (await client.post("/v1/jobs", json=asked)).json()["id"])
        told.append((await client.get(f"/v1/jobs/{job['id']}/documents")).text)
    stored = b"".join(path.read_bytes() for path in house.folder.rglob("*") if path.is_file())
    assert number not in "".join(told) + house.said.getvalue()
    assert number.encode() not in stored


async def test_a_job_serves_all_its_documents(house: House) -> None:
    headers = house.key("ann", "submit")
    raw = '{"dataType": "note", "id": "7", "text": "K+ 4.10, seen by Dr. Emily Carter"}'
    note = json.dumps({"text": NOTE, "id": "one", "patient": "p1"})
    documents = f'[{note}, {{"record": {raw}}}, {{"record": {{"a": 1}}}}]'
    async with house.client(headers=headers) as client:
        answer = await client.post("/v1/jobs", content=f'{{"documents": {documents}}}', headers=JSON)
        assert answer.status_code == 202, answer.text
        job = await finished(client, answer.json()["id"])
        page = (await client.get(f"/v1/jobs/{job['id']}/documents")).json()
        listed = (await client.get("/v1/jobs")).json()
    assert job["counts"]["released"] == 2
    assert job["counts"]["quarantined"] == 1
    first, second, third = page["documents"]
    assert first["answer"]["text"] == house.context.deid.deidentify(NOTE).text
    assert first["answer"]["id"] == house.context.deid.engine.keyring.name("one")
    assert second["answer"]["record"] == house.context.deid.deidentify(raw, data_type="note").record
    assert third["answer"]["text"] is None
    assert [one["id"] for one in listed["jobs"]] == [job["id"]]
    stored = b"".join(path.read_bytes() for path in house.folder.rglob("*") if path.is_file())
    assert b"Carter" not in stored
    assert b"4471902" not in stored


async def test_documents_of_one_patient_in_a_job_share_a_request_to_the_model(tmp_path: Path) -> None:
    texts = [f"Potassium 4.{n}, drawn by Abara." for n in range(6)]
    model = ScriptedLLM(lambda request: "{}")
    with housed(tmp_path, model=model, detectors=("rules", "llm")) as house:
        async with house.client(headers=house.key("ann", "submit")) as client:
            for patients, calls in ((["p1"] * 6, 1), (["p1", "p2"] * 3, 2), ([None] * 6, 6)):
                before = model.calls
                documents = [{"text": t, "patient": p} for t, p in zip(texts, patients, strict=True)]
                answer = await client.post("/v1/jobs", json={"documents": documents})
                job = await finished(client, answer.json()["id"])
                assert job["counts"]["released"] == 6
                assert model.calls - before == calls, patients


async def test_jobs_are_their_owner_s_alone(house: House) -> None:
    ann, bob = house.key("ann", "submit"), house.key("bob", "submit")
    async with house.client() as client:
        job = (await client.post("/v1/jobs", json={"documents": [{"text": NOTE}]}, headers=ann)).json()["id"]
        for method, path in (("GET", ""), ("GET", "/documents"), ("POST", "/cancel"), ("DELETE", "")):
            assert (await client.request(method, f"/v1/jobs/{job}{path}", headers=bob)).status_code == 404
        assert (await client.get("/v1/jobs", headers=bob)).json()["jobs"] == []
        await finished(httpx.AsyncClient(transport=client._transport, base_url=client.base_url, headers=ann), job)
        assert (await client.delete(f"/v1/jobs/{job}", headers=ann)).status_code == 204
        assert (await client.delete(f"/v1/jobs/{job}", headers=ann)).status_code == 404
    gone = [dict(entry.facts) for entry in entries(house.context.audit.folder) if entry.event == "job.deleted"]
    assert gone == [{"job": job, "by": "ann"}]


def test_a_cancelled_job_serves_nothing_more(house: House) -> None:
    job = house.context.jobs.submit("ann", "redact", [{"content": NOTE}] * 3)
    (taken,) = house.context.jobs.claim(1)
    assert house.context.jobs.cancel(job.id, "ann").state == "cancelled"
    assert not house.context.jobs.settle(taken, "released", {})
    assert house.context.jobs.claim(9) == ()
    assert all(d.given is None for d in house.context.jobs.documents(job.id, "ann"))


def test_what_a_killed_process_left_is_taken_up_again(tmp_path: Path) -> None:
    with housed(tmp_path, service={"api_lease": 1e-9}) as house:
        house.context.jobs.submit("ann", "redact", [{"content": NOTE}])
        (first,) = house.context.jobs.claim(5)
        (again,) = house.context.jobs.claim(5)
        assert (first.job, first.number) == (again.job, again.number)
        assert house.context.jobs.settle(again, "released", {"text": "x"})
        assert not house.context.jobs.settle(first, "released", {"text": "y"})


def test_a_subject_s_documents_are_forgotten(house: House) -> None:
    documents = [{"content": NOTE, "patient": patient} for patient in ("p1", "p2")]
    job = house.context.jobs.submit("ann", "redact", documents)
    assert house.context.jobs.forget("p1") == 1
    assert [d.number for d in house.context.jobs.documents(job.id, "ann")] == [2]
    with pytest.raises(UnknownName):
        house.context.jobs.job("0" * 16, "ann")


async def test_an_outage_leaves_documents_waiting(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    job = house.context.jobs.submit("ann", "redact", [{"content": NOTE, "known": []}])

    async def down(items: Sequence[object]) -> list[Result]:
        return [Result(None, Verdict("quarantine", (Reason("model-unavailable"),)), {}) for _ in items]

    runner = Runner(house.context)
    with monkeypatch.context() as patch:
        patch.setattr(house.context.deid, "_unit", down)
        assert await runner.round() == (True, True)
    assert house.context.jobs.job(job.id, "ann").counts["waiting"] == 1
    assert await runner.round() == (True, False)
    assert house.context.jobs.job(job.id, "ann").counts["released"] == 1


async def test_what_cannot_be_served_is_held_and_the_others_go_on(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.context.jobs.submit("ann", "redact", [{"content": "poison", "known": []}, {"content": NOTE, "known": []}])
    real = Deidentifier._unit

    async def serve(self: Deidentifier, items: Sequence[Any]) -> Any:
        if items[0].content == "poison":
            raise ValueError("poison")
        return await real(self, items)

    monkeypatch.setattr(Deidentifier, "_unit", serve)
    assert await Runner(house.context).round() == (True, False)
    assert house.context.jobs.counts() == {"quarantined": 1, "released": 1}
    assert "poison" not in house.said.getvalue()


async def test_short_texts_of_one_patient_in_a_job_share_a_request(tmp_path: Path) -> None:
    with LocalServer(lambda request: "{}") as server, housed(
        tmp_path, model="openai/x", api_base=server.url, api_key=server.api_key, passes=1, detectors=("rules", "llm"),
    ) as house:  # fmt: skip
        documents = [{"content": f"Dose {n} was taken.", "patient": f"p{n % 2}", "known": []} for n in range(6)]
        house.context.jobs.submit("ann", "redact", documents)
        house.context.optouts.add("p1", "ann")
        assert await Runner(house.context).round() == (True, False)
        assert house.context.jobs.counts() == {"released": 3, "quarantined": 3}
        assert server.calls == 1


async def test_a_document_in_review_leaves_as_a_person_decided(house: House) -> None:
    job = house.context.jobs.submit("ann", "redact", [{"content": DOUBTFUL, "known": []}])
    document = house.context.jobs.claim(1)[0]
    manifest = house.context.deid.deidentify("x").manifest
    result = Result(None, Verdict("review", (Reason("doubtful", "", "PERSON"),)), manifest)
    runner = Runner(house.context)
    runner._hold(document, Item(DOUBTFUL), result)
    house.context.jobs.settle(document, "review", {})
    (entry,) = house.context.queue.list()
    case = house.context.queue.open(entry.id).case
    assert case.texts == (Text(DOUBTFUL),)
    house.context.queue.decide(entry.id, ReviewDecision("approve", (Span(case.texts[0], 13, 26, "PERSON"),)), "ann")
    await runner.round()
    (told,) = house.context.jobs.documents(job.id, "ann")
    assert told.state == "released"
    assert told.answer is not None
    assert told.answer["text"] == "Pt seen with [PERSON] today."
    assert house.context.queue.entry(entry.id).delivered


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/deidentify", {"text": "{\\rtf1 Emily Carter}"}),
        ("/v1/deidentify", {"record": {"dataType": "note", "id": "1", "text": "{\\rtf1 Emily Carter}"}}),
    ],
)
async def test_a_text_in_another_format_is_quarantined_by_its_name(
    house: House, path: str, body: dict[str, Any]
) -> None:
    answer = (await post(house, path, body)).json()
    (reason,) = answer["reasons"]
    assert (answer["verdict"], answer["text"]) == ("quarantine", None)
    assert reason["code"] == "unsupported-format"
    assert reason["detail"].startswith("RTF inside a text. Send it as a document of its own")
    assert reason["field"] == ("text" if "record" in body else "")


async def test_a_fhir_attachment_without_a_reader_is_an_operation_outcome_that_names_it(house: House) -> None:
    resource = {"resourceType": "DocumentReference", "status": "current", "content": [
        {"attachment": {"contentType": "text/plain", "data": "JSFQUy1BZG9iZS0zLjAKMSAwIG9iago="}}]}  # fmt: skip
    answer = await post(house, "/fhir/$de-identify", resource)
    assert answer.status_code == 422
    said = answer.json()["issue"][0]["diagnostics"]
    assert "unsupported-format" in said
    assert "PostScript" in said


async def test_a_job_accounts_for_a_document_without_a_reader(house: House) -> None:
    documents = [{"text": NOTE}, {"text": "<html><body>Emily Carter</body></html>"}]
    async with house.client(headers=house.key("ann", "submit")) as client:
        job = (await client.post("/v1/jobs", json={"documents": documents})).json()["id"]
        for _ in range(400):
            told = (await client.get(f"/v1/jobs/{job}")).json()
            if told["state"] == "done":
                break
            await asyncio.sleep(0.02)
    counts = {state: n for state, n in told["counts"].items() if n}
    assert counts == {"released": 1, "quarantined": 1}


async def test_bytes_come_back_in_the_media_type_they_came_in(house: House) -> None:
    headers = house.key("ann", "submit")
    note = NOTE.encode("utf-16")
    async with house.client(headers={**headers, "Content-Type": "text/plain"}) as client:
        answer = await client.post("/v1/deidentify/bytes", content=note)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/plain")
    assert answer.content.decode("utf-16") == house.context.deid.deidentify(NOTE).text


@pytest.mark.parametrize("name", ["letter.pdf", "letter.docx"])
async def test_the_content_gives_the_format_of_bytes_without_a_media_type(house: House, name: str) -> None:
    headers = {**house.key("ann", "submit"), "Content-Type": "application/octet-stream"}
    original = (Path(__file__).parents[3] / "examples" / name).read_bytes()
    async with house.client(headers=headers) as client:
        answer = await client.post("/v1/deidentify/bytes", content=original)
    assert answer.status_code == 200
    assert answer.content[:4] == original[:4]
    assert answer.content != original


async def test_bytes_that_are_not_released_are_answered_by_their_reasons(house: House) -> None:
    headers = house.key("ann", "submit")
    async with house.client(headers={**headers, "Content-Type": "application/postscript"}) as client:
        answer = await client.post("/v1/deidentify/bytes", content=b"%!PS-Adobe-3.0 Emily Carter")
    assert answer.status_code == 422
    assert [fault["says"].partition(":")[0] for fault in answer.json()["faults"]] == ["unsupported-format"]
    assert "Carter" not in answer.text


async def test_the_patient_of_bytes_is_a_header_and_never_in_the_address(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    items: list[Item] = []

    async def recorded(context: Any, operation: Any, item: Item) -> Result:
        items.append(item)
        return await served(context, operation, item)

    monkeypatch.setattr("incognote.service.api.deidentify.served", recorded)
    headers = {**house.key("ann", "submit"), "Content-Type": "text/plain"}
    words = {"Incognote-Patient": quote("Jürgen")}
    async with house.client(headers=headers) as client:
        accepted = await client.post("/v1/deidentify/bytes", content=b"He came back.", headers=words)
        refused = await client.post("/v1/deidentify/bytes?patient=Carter", content=b"He came back.")
    assert (accepted.status_code, refused.status_code) == (200, 422)
    assert [item.patient for item in items] == ["Jürgen"]
    assert "Carter" not in refused.text
