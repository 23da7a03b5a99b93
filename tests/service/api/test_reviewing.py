"""/v1/review and /v1/schemas: permission to view, correct, and approve. Each view of a text is in the audit log."""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest

from incognote.agents.item import Item
from incognote.errors import IncognoteError
from incognote.evaluation.corpus import read_gold
from incognote.evaluation.formats.document import Gold
from incognote.nouns import Reason, Span, Text
from incognote.service.audit.verify import entries
from incognote.service.review import ReviewCase, ReviewDecision, case_of, corrected

from .conftest import House, housed

NOTE = Text("😀 Seen by Dr. Emily Carter on 03/16/2025.")
NAME = Span(NOTE, 14, 26, "PERSON", 0.9, ("rules:names",))
PAGES = Path(__file__).parents[2] / "data" / "documents" / "pdf" / "pages.pdf"
RAW = '{"dataType": "note", "id": "7", "text": "K+ 4.10, seen by Dr. Emily Carter", "patient_id": "Q"}'


def put(house: House, *codes: str, key: str = "k1") -> str:
    reasons = tuple(Reason(code, "", "PERSON") for code in codes or ("doubtful",))
    return house.context.queue.put(key, "r1", ReviewCase(Item(NOTE.content), (NOTE,), (NAME,), (), reasons, "strict 1"))


def told(house: House, event: str) -> list[dict[str, Any]]:
    return [dict(entry.facts) for entry in entries(house.context.audit.folder) if entry.event == event]


async def test_a_view_is_logged_before_it_is_given(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    item, headers = put(house), house.key("ann", "review")
    async with house.client(headers=headers) as client:
        shown = (await client.get(f"/v1/review/{item}")).json()
        assert shown["texts"] == [{"field": "", "content": NOTE.content}]
        assert NOTE.content[shown["spans"][0]["start"] : shown["spans"][0]["end"]] == "Emily Carter"
        assert told(house, "review.opened") == [{"item": item, "by": "ann"}]

        def full(*_: object, **__: object) -> None:
            raise IncognoteError("the output cannot be written: no space")

        with monkeypatch.context() as patch:
            patch.setattr(house.context.audit, "append", full)
            refused = await client.get(f"/v1/review/{item}")
        assert refused.status_code == 503
        assert "Carter" not in refused.text


async def test_review_proposes_and_rejects_approve_approves(house: House) -> None:
    one, two = put(house), put(house, key="k2")
    reviewer, approver = house.key("ann", "review"), house.key("bob", "approve")
    spans = [{"start": 14, "end": 26, "type": "CLINICIAN"}, {"start": 30, "end": 40, "type": "DATE"}]
    async with house.client() as client:
        answer = await client.put(f"/v1/review/{one}/proposal", json={"spans": spans}, headers=reviewer)
        assert (answer.json()["state"], answer.json()["by"]) == ("waiting", "ann")
        preview = await client.post(f"/v1/review/{one}/preview", json={"spans": spans}, headers=reviewer)
        assert preview.json()["output"] == "😀 Seen by Dr. [PERSON] on [DATE]."
        path = f"/v1/review/{one}/decision"
        assert (await client.post(path, json={"outcome": "approve"}, headers=reviewer)).status_code == 403
        unseen = await client.post(path, json={"outcome": "approve"}, headers=approver)
        assert unseen.status_code == 409
        shown = (await client.get(f"/v1/review/{one}", headers=approver)).json()
        approval = {"outcome": "approve", "revision": shown["revision"]}
        done = await client.post(path, json=approval, headers=approver)
        assert done.json()["changes"] == {"kept": 0, "moved": 0, "retyped": 1, "added": 1, "dropped": 0}
        again = await client.post(path, json={"outcome": "reject"}, headers=approver)
        assert again.status_code == 409
        other = await client.post(f"/v1/review/{two}/decision", json={"outcome": "reject"}, headers=reviewer)
        assert other.json()["state"] == "rejected"
        queue = (await client.get("/v1/review?state=approved", headers=reviewer)).json()
    assert [entry["id"] for entry in queue["entries"]] == [one]
    assert queue["counts"] == {"waiting": 0, "approved": 1, "rejected": 1}
    assert told(house, "review.decided") == [
        {"item": one, "outcome": "approve", "by": "bob"}, {"item": two, "outcome": "reject", "by": "ann"},
    ]  # fmt: skip


async def test_the_queue_is_searched_by_reason_id_age_and_assignee(house: House) -> None:
    one, two = put(house), put(house, "over-masked", key="ab12")
    house.context.queue.assign(two, "ann")
    async with house.client(headers=house.key("ann", "review")) as client:

        async def found(**only: Any) -> list[str]:
            answer = (await client.post("/v1/review/search", json=only)).json()
            assert answer["total"] == len(answer["entries"])
            return [entry["id"] for entry in answer["entries"]]

        assert await found() == [one, two]
        assert await found(reason="over-masked") == [two]
        assert await found(reason="over") == []
        assert await found(find="ab1") == [two]
        assert await found(find="1") == [one, two]  # matches a number, and part of a key
        assert await found(find=one[:6]) == [one]
        assert await found(find="_") == []
        assert await found(assignee="ann") == [two]
        assert await found(assignee="") == [one]
        assert await found(days=1) == []
        assert await found(state="rejected") == []
        number = house.context.queue.entry(two).number
        before = (await client.post("/v1/review/search", json={"before": number, "limit": 1})).json()
        assert [entry["id"] for entry in before["entries"]] == [one]
        assert (before["total"], before["next"]) == (2, house.context.queue.entry(one).number)
        assert (await client.post("/v1/review/search", json={"patient": "p-17"})).status_code == 422


async def test_a_record_is_assigned_to_a_person_who_may_review(house: House) -> None:
    item = put(house)
    ann = house.key("ann", "review")
    house.key("sam", "submit")
    house.key("bob", "approve")
    path = f"/v1/review/{item}/assignment"
    async with house.client(headers=ann) as client:
        assert (await client.get("/v1/reviewers")).json() == {"names": ["ann", "bob"]}
        assert (await client.put(path, json={"assignee": "bob"})).json()["assignee"] == "bob"
        assert (await client.put(path, json={"assignee": "sam"})).status_code == 422
        assert (await client.put(path, json={"assignee": None})).json()["assignee"] is None
        assert (await client.put(f"/v1/review/{'0' * 16}/assignment", json={"assignee": "bob"})).status_code == 404
    assert told(house, "review.assigned") == [{"item": item, "assignee": "bob", "by": "ann"}]
    assert told(house, "review.unassigned") == [{"item": item, "by": "ann"}]


async def test_a_comment_is_sealed_and_the_audit_log_has_the_event_alone(house: House) -> None:
    item = put(house)
    async with house.client(headers=house.key("ann", "review")) as client:
        path = f"/v1/review/{item}/comments"
        first = (await client.post(path, json={"text": "  Zofia is his wife. "})).json()
        assert [(one["by"], one["text"]) for one in first] == [("ann", "Zofia is his wife.")]
        await client.post(path, json={"text": "Then add her."})
        shown = (await client.get(f"/v1/review/{item}")).json()
        assert [one["text"] for one in shown["comments"]] == ["Zofia is his wife.", "Then add her."]
        assert shown["entry"]["comments"] == 2
        assert (await client.post(path, json={"text": " "})).status_code == 422
    assert told(house, "review.commented") == [{"item": item, "by": "ann"}] * 2
    written = b"".join(path.read_bytes() for path in house.folder.rglob("*") if path.is_file())
    assert b"Zofia" not in written
    assert "Zofia" not in house.said.getvalue()


async def test_reason_codes_come_with_words(house: House) -> None:
    async with house.client(headers=house.key("ann", "review")) as client:
        reasons = {reason["code"]: reason for reason in (await client.get("/v1/reasons")).json()}
    assert reasons["doubtful"]["means"] == "A detector was not sure whether this is an identifier."
    assert all(reason["means"] and reason["next"] and reason["review"] for reason in reasons.values())


async def test_a_preview_marks_what_is_replaced(house: House) -> None:
    item = put(house)
    async with house.client(headers=house.key("ann", "review")) as client:
        spans = [{"start": 14, "end": 26, "type": "PERSON"}, {"start": 30, "end": 40, "type": "DATE"}]
        shown = (await client.post(f"/v1/review/{item}/preview", json={"spans": spans})).json()
    (text,) = shown["texts"]
    assert text["content"] == shown["output"]
    assert [text["content"][m["start"] : m["end"]] for m in text["marks"]] == ["[PERSON]", "[DATE]"]


async def test_what_was_corrected_since_it_was_looked_at_is_not_approved(house: House) -> None:
    """Otherwise, a user without permission to approve could remove all spans just before another user approves."""
    item, reviewer, approver = put(house), house.key("ann", "review"), house.key("bob", "approve")
    path = f"/v1/review/{item}"
    async with house.client() as client:
        seen = (await client.get(path, headers=approver)).json()["revision"]
        await client.put(f"{path}/proposal", json={"spans": []}, headers=reviewer)
        for body in ({"outcome": "approve", "revision": seen}, {"outcome": "approve"}):
            assert (await client.post(f"{path}/decision", json=body, headers=approver)).status_code == 409
    assert house.context.queue.entry(item).state == "waiting"
    assert told(house, "review.proposed") == [{"item": item, "spans": 0, "by": "ann"}]
    assert told(house, "review.decided") == []


async def test_of_two_decisions_at_once_one_stands_and_the_log_says_which(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = put(house)
    real = house.context.audit.append

    def append(event: str, **facts: Any) -> Any:
        done = real(event, **facts)
        if event == "review.decided" and facts["by"] == "bob":  # in another tab, at this moment
            house.context.queue.decide(item, ReviewDecision("reject"), "eve")
        return done

    monkeypatch.setattr(house.context.audit, "append", append)
    async with house.client(headers=house.key("bob", "approve")) as client:
        answer = await client.post(f"/v1/review/{item}/decision", json={"outcome": "approve"})
    assert answer.status_code == 409
    assert house.context.queue.entry(item).by == "eve"
    assert told(house, "review.overtaken") == [{"item": item, "outcome": "approve", "by": "bob"}]


@pytest.mark.parametrize(
    "spans",
    [
        [{"start": 0, "end": 99, "type": "PERSON"}], [{"start": 5, "end": 5, "type": "PERSON"}],
        [{"start": 0, "end": 3, "type": "NOTHING"}], [{"field": "x", "start": 0, "end": 3, "type": "PERSON"}],
        [{"start": 0, "end": 9, "type": "DATE"}, {"start": 5, "end": 12, "type": "DATE"}],
    ],
)  # fmt: skip
async def test_spans_that_do_not_fit_decide_nothing(house: House, spans: list[dict[str, Any]]) -> None:
    item = put(house)
    async with house.client(headers=house.key("bob", "approve")) as client:
        for path in ("decision", "preview"):
            body = {"spans": spans, **({"outcome": "approve"} if path == "decision" else {})}
            assert (await client.post(f"/v1/review/{item}/{path}", json=body)).status_code == 422
    assert house.context.queue.entry(item).state == "waiting"
    assert told(house, "review.decided") == []


async def test_what_no_span_mends_can_only_be_rejected(house: House) -> None:
    item = put(house, "doubtful", "no-subject")
    async with house.client(headers=house.key("bob", "approve")) as client:
        assert (await client.get(f"/v1/review/{item}")).json()["approvable"] is False
        answer = await client.post(f"/v1/review/{item}/decision", json={"outcome": "approve"})
        assert answer.status_code == 422
        assert (await client.post(f"/v1/review/{item}/decision", json={"outcome": "reject"})).status_code == 200


async def test_decisions_come_out_as_gold_that_evaluate_reads(house: House, tmp_path: Path) -> None:
    put(house, key="k2")
    item = put(house)
    async with house.client(headers=house.key("eve", "approve", "reveal")) as client:
        await client.post(f"/v1/review/{item}/decision", json={"outcome": "approve"})
        answer = await client.get("/v1/gold")
        assert answer.headers["content-type"] == "application/x-ndjson"
        assert (await client.get("/v1/gold?release=r2")).text == ""
    (tmp_path / "gold.jsonl").write_text(answer.text)
    (line,) = map(json.loads, answer.text.splitlines())
    assert line["spans"] == [{"start": 14, "end": 26, "type": "PERSON"}]
    (document,) = read_gold(tmp_path / "gold.jsonl")
    assert isinstance(document, Gold)
    assert (document.text, len(document.labels)) == (NOTE.content, 1)
    assert told(house, "review.exported")[0] == {"records": 1, "by": "eve"}


def test_a_record_is_corrected_field_by_field_and_keeps_its_bytes(house: House) -> None:
    import asyncio

    item = Item(RAW, is_record=True)
    result = house.context.deid.deidentify(item)
    case = case_of(item, result, house.context.deid.engine, {"shard": 3})
    assert [text.field for text in case.texts] == ["text"]
    assert ReviewCase.unpacked(case.packed()) == case
    potassium = Span(case.texts[0], 3, 7, "DATE")
    made = asyncio.run(corrected(house.context.deid, case, (potassium,)))
    assert made.verdict.released
    assert '"text": "K+ [DATE], seen by Dr. Emily Carter"' in made.output()
    assert made.output().startswith('{"dataType": "note", "id": ')


VISIT = Path(__file__).parents[1] / "visit.json"


async def test_a_schema_is_approved_as_it_was_read_and_serves_from_then_on(tmp_path: Path) -> None:
    schemas = tmp_path / "schemas"
    schemas.mkdir()
    shutil.copy(VISIT, schemas)
    record = {"dataType": "visit", "ward": "7B", "note": "Seen by Dr. Emily Carter."}
    with housed(tmp_path / "home", schemas=(schemas,)) as house:
        async with house.client(headers=house.key("bob", "submit", "review", "approve")) as client:

            async def ask() -> httpx.Response:
                return await client.post("/v1/deidentify", json={"record": record})

            assert (await ask()).json()["verdict"] == "quarantine"
            first = (await client.get("/v1/schemas")).json()[0]
            assert (first["data_type"], first["state"]) == ("visit", "unapproved")
            shown = (await client.get("/v1/schemas/visit")).json()
            assert [(f["path"], f["flag"]) for f in shown["fields"]] == [("ward", "pass"), ("note", "auto")]
            samples = {"records": [record, {**record, "ward": "7C"}]}
            statistics = (await client.post("/v1/schemas/visit/statistics", json=samples)).json()
            assert {s["path"]: s["distinct"] for s in statistics} == {"ward": 2, "note": 1}
            assert "Carter" not in json.dumps(statistics)
            wrong = await client.post("/v1/schemas/visit/approval", json={"version": "0" * 16})
            assert wrong.status_code == 409
            good = await client.post("/v1/schemas/visit/approval", json={"version": shown["schema"]["version"]})
            assert (good.json()["state"], good.json()["by"]) == ("approved", "bob")
            assert (await ask()).json()["record"]["note"] == "Seen by Dr. [PERSON]."
            again = await client.post("/v1/schemas/visit/approval", json={"version": shown["schema"]["version"]})
            assert again.status_code == 409
            assert (await client.get("/v1/schemas/nothing")).status_code == 404
        assert told(house, "schema.approved") == [
            {"data_type": "visit", "version": shown["schema"]["version"], "by": "bob"}
        ]


async def test_a_schema_that_is_changed_while_it_is_approved_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An approval applies to the version that was read, and not to one that was saved a moment before."""
    folder = tmp_path / "schemas"
    folder.mkdir()
    path = folder / "visit.json"
    shutil.copy(VISIT, path)
    with housed(tmp_path, schemas=(folder,)) as house:
        real = house.context.audit.append

        def append(event: str, _real: Any = real, **facts: Any) -> Any:
            if event == "schema.approved":
                path.write_text(VISIT.read_text().replace("Visits", "Visit"))
            return _real(event, **facts)

        monkeypatch.setattr(house.context.audit, "append", append)
        async with house.client(headers=house.key("bob", "approve")) as client:
            version = (await client.get("/v1/schemas/visit")).json()["schema"]["version"]
            answer = await client.post("/v1/schemas/visit/approval", json={"version": version})
            assert answer.status_code == 409
            assert (await client.get("/v1/schemas/visit")).json()["schema"]["state"] != "approved"


async def test_the_dashboard_adds_up_what_the_audit_log_says(house: House) -> None:
    for released in (10, 20):
        house.context.audit.append(
            "records.committed", release="r1", released=released, review=1, quarantined=2, tokens=700, usd=0.5
        )
    house.context.audit.append("records.committed", release="r2", released=1, review=0, quarantined=0, tokens=5)
    score = {"release": "r1", "notes": 2, "failed": 0, "count": 40, "found": 39, "leaked": 1}
    house.context.audit.append("sentinels.scored", **score)
    item = put(house)
    async with house.client(headers=house.key("bob", "approve")) as client:
        spans = [{"start": 14, "end": 26, "type": "PERSON"}, {"start": 30, "end": 40, "type": "DATE"}]
        await client.post(f"/v1/review/{item}/decision", json={"outcome": "approve", "spans": spans})
        board = (await client.get("/v1/dashboard")).json()
    assert board["releases"][0] == {
        "release": "r1", "released": 30, "review": 2, "quarantined": 4, "refused": 0, "tokens": 1400,
        "usd": 1.0,
    }  # fmt: skip
    assert (board["releases"][1]["tokens"], board["releases"][1]["usd"]) == (5, None)
    assert board["sentinels"][0]["recall"] == pytest.approx(39 / 40)
    assert board["review"]["changes"]["added"] == 1
    assert board["review"]["corrected"] == 1


def put_document(house: House, data: bytes = b"") -> str:
    """Queue a PDF file with two pages."""
    pytest.importorskip("pikepdf", reason="needs the extra documents")
    item, deid = Item(data or PAGES.read_bytes(), media_type="application/pdf"), house.context.deid
    return house.context.queue.put("p1", "r1", case_of(item, deid.deidentify(item), deid.engine))


async def test_the_picture_of_one_page_is_given_to_a_reviewer_after_it_is_logged(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    item, headers = put_document(house), house.key("ann", "review")
    path = f"/v1/review/{item}/pages"
    async with house.client(headers=headers) as client:
        shown = (await client.get(f"/v1/review/{item}")).json()
        pages = (await client.get(path)).json()
        assert [(page["within"], page["number"], page["field"]) for page in pages] == [("", 1, "body"), ("", 2, "body")]
        answer = await client.get(f"{path}/1")
        assert answer.headers["cache-control"] == "no-store"
        assert told(house, "text.viewed") == [{"item": item, "by": "ann"}]
        picture, page = answer.json(), pages[1]
        assert base64.b64decode(picture["png"]).startswith(b"\x89PNG")
        [body] = [text["content"] for text in shown["texts"] if text["field"] == "body"]
        assert body[page["start"] : page["end"]].startswith("Featherstonhaugh")
        assert len(picture["boxes"]) == page["end"] - page["start"]
        assert (await client.get(f"{path}/2")).status_code == 404
        assert (await client.get(f"/v1/review/{'0' * 16}/pages/0")).status_code == 404
        submitter = house.key("sam", "submit")
        for address in (path, f"{path}/0"):
            assert (await client.get(address, headers=submitter)).status_code == 403

        def full(*_: object, **__: object) -> None:
            raise IncognoteError("the output cannot be written: no space")

        with monkeypatch.context() as patch:
            patch.setattr(house.context.audit, "append", full)
            refused = await client.get(f"{path}/0")
        assert (refused.status_code, "png" in refused.text) == (503, False)


@pytest.mark.parametrize("name", ["pages.pdf", "scattered-letters.pdf"])
async def test_a_page_is_shown_as_an_approval_would_release_it(house: House, name: str) -> None:
    item = put_document(house, (PAGES.parent / name).read_bytes())
    path = f"/v1/review/{item}/preview/pages"
    async with house.client(headers=house.key("ann", "review")) as client:
        [body] = [text["content"] for text in (await client.get(f"/v1/review/{item}")).json()["texts"]]
        start = body.index("patient is" if name == "pages.pdf" else "Philippa")
        marks = [{"field": "body", "start": start, "end": start + 8, "type": "PERSON"}]
        shown = [(await client.post(f"{path}/1", json={"spans": each})).json() for each in ([], marks)]
        assert all(base64.b64decode(each["png"]).startswith(b"\x89PNG") for each in shown)
        assert shown[0]["png"] != shown[1]["png"]
        assert told(house, "text.viewed") == [{"item": item, "by": "ann"}] * 2
        assert (await client.post(f"{path}/3", json={"spans": marks})).status_code == 404
        submitter = house.key("sam", "submit")
        assert (await client.post(f"{path}/1", json={"spans": marks}, headers=submitter)).status_code == 403


async def test_a_record_whose_page_cannot_be_shown_is_reviewed_by_its_text(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = put_document(house)
    monkeypatch.setattr("incognote.formats.pdf.picture.SECONDS", 0)
    async with house.client(headers=house.key("bob", "approve")) as client:
        answer = await client.get(f"/v1/review/{item}/pages/0")
        assert (answer.status_code, answer.json()["detail"]) == (422, "this page cannot be shown")
        [body] = [text["content"] for text in (await client.get(f"/v1/review/{item}")).json()["texts"]]
        start, end = body.index("Rosamund"), body.index(", a widow")
        marks = [{"field": "body", "start": start, "end": end, "type": "PERSON"}]
        answer = await client.post(f"/v1/review/{item}/preview/pages/1", json={"spans": marks})
        assert (answer.status_code, answer.json()["detail"]) == (422, "this page cannot be shown")
        preview = (await client.post(f"/v1/review/{item}/preview", json={"spans": marks})).json()
        assert preview["output"] == ""  # binary
        assert "Featherstonhaugh" not in str(preview)
        done = await client.post(f"/v1/review/{item}/decision", json={"outcome": "approve", "spans": marks})
        assert done.json()["state"] == "approved"


async def test_a_record_without_pages_has_no_pictures(house: House) -> None:
    item = put(house)
    async with house.client(headers=house.key("ann", "review")) as client:
        assert (await client.get(f"/v1/review/{item}/pages")).json() == []
        assert (await client.get(f"/v1/review/{item}/pages/0")).status_code == 404
