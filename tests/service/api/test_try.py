"""The routes of the try page: who may use them, what they return, and that they store nothing."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from incognote.reasons import reason_texts

from .conftest import LOCAL, NOTE, TOKEN, House, housed

GERMAN = "Der Patient wurde gestern in die Klinik eingewiesen und klagte über starke Schmerzen."
TABLE = "id,patient_name,note\nC-101,Chidi Okonkwo,Mr. Okonkwo is tolerating clears and pain is 3/10.\n"


async def tried(house: House, **asked: Any) -> httpx.Response:
    async with house.client(token=TOKEN, headers=LOCAL) as client:
        return await client.post("/v1/try", json=asked)


def file(content: str, suffix: str) -> dict[str, str]:
    return {"file": base64.b64encode(content.encode()).decode(), "suffix": suffix}


async def test_only_the_token_of_the_start_and_keys_with_the_role_may_try(house: House) -> None:
    async with house.client(token=TOKEN) as client:
        assert (await client.post("/v1/try", json={"text": NOTE})).status_code == 401
        assert (await client.post("/v1/try", json={"text": NOTE}, headers=LOCAL)).status_code == 200
        every = house.key("all", "submit", "review", "approve", "reveal")
        for method in ("GET", "POST"):
            body = {"text": NOTE} if method == "POST" else None
            refused = await client.request(method, "/v1/try", json=body, headers=every)
            assert (refused.status_code, refused.json()["detail"]) == (403, "this key lacks the role try")
        assert (await client.post("/v1/try", json={"text": NOTE}, headers=house.key("ann", "try"))).status_code == 200
        assert (await client.post("/v1/try", json={"text": NOTE}, headers=LOCAL)).status_code == 401  # a key exists
    async with house.client(token=TOKEN, address="10.1.2.3") as client:
        assert (await client.get("/v1/try", headers=LOCAL)).status_code == 401


async def test_a_key_that_may_try_may_do_nothing_else(house: House) -> None:
    headers = house.key("ann", "try")
    async with house.client() as client:
        for path in ("/v1/review", "/v1/jobs", "/v1/gold"):
            assert (await client.get(path, headers=headers)).status_code == 403
        assert (await client.post("/v1/deidentify", json={"text": NOTE}, headers=headers)).status_code == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.test"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://["}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Origin": "http://127.0.0.1", "Sec-Fetch-Site": "same-origin"}, 200),
    ],
)
async def test_a_page_of_another_site_is_refused_even_with_a_key(
    house: House, headers: dict[str, str], status: int
) -> None:
    given = {"Content-Type": "application/json", **house.key("ann", "try"), **headers}
    async with house.client() as client:
        answer = await client.post("/v1/try", content=json.dumps({"text": NOTE}), headers=given)
        assert answer.status_code == status
        assert "access-control-allow-origin" not in answer.headers
        page = await client.get("/")
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert "unsafe-inline" not in page.headers["content-security-policy"]


async def test_a_released_note_comes_in_pieces_with_type_source_and_result(house: House) -> None:
    answer = (await tried(house, text=NOTE)).json()
    [record] = answer["records"]
    parts = record["texts"][0]["parts"]
    assert record["verdict"] == "release"
    assert "".join(part["text"] for part in parts) == NOTE
    assert "".join(part.get("new", part["text"]) for part in parts) == answer["output"]
    assert parts[1] == {
        "text": "Emily Carter", "new": "[PERSON]", "state": "replaced", "type": "CLINICIAN", "group": "PERSON",
        "about": "a member of the treating staff", "sources": ["Rules (names.title)"], "score": 0.95,
        "operator": "label",
    }  # fmt: skip
    assert answer["counts"] == {"CLINICIAN": 1, "DATE": 1, "MEDICAL_RECORD_NUMBER": 1, "TELEPHONE_NUMBER": 1}


async def test_a_note_that_is_held_has_reasons_and_spans_but_no_result(house: House) -> None:
    answer = (await tried(house, text=GERMAN)).json()
    [record] = answer["records"]
    assert record["verdict"] == "review"
    [reason] = record["reasons"]
    assert (reason["code"], reason["detail"]) == ("unsupported-language", "German")
    assert reason["means"] == reason_texts()["unsupported-language"].means
    assert reason["next"]
    assert "output" not in answer
    assert not any("new" in part for part in record["texts"][0]["parts"])


async def test_policy_and_detectors_are_chosen_from_those_that_store_nothing(house: House) -> None:
    async with house.client(token=TOKEN, headers=LOCAL) as client:
        offered = (await client.get("/v1/try")).json()
    assert offered["policies"][0]["name"] == "strict"
    assert "surrogate" not in [policy["name"] for policy in offered["policies"]]
    assert [each["name"] for each in offered["detectors"]] == ["rules", "rules, encoder", "encoder"]
    assert "[PERSON] on 2025" in (await tried(house, text=NOTE, policy="safe-harbor")).json()["output"]
    assert (await tried(house, text=NOTE, policy="surrogate")).status_code == 422


async def test_records_tables_and_lines_are_read_and_written_back_as_they_are(house: House) -> None:
    patient = '{"resourceType": "Patient", "id": "p", "name": [{"family": "Smith"}]}'
    answer = (await tried(house, text=patient)).json()
    assert [(f["field"], f["action"]) for f in answer["records"][0]["fields"]] == [
        ("id", "hashed"), ("name[0].family", "masked"),
    ]  # fmt: skip
    assert '"family": "[PERSON]"' in answer["output"]
    lines = "".join(json.dumps({"id": str(n), "text": text}) + "\n" for n, text in enumerate((NOTE, GERMAN, "Well.")))
    answer = (await tried(house, **file(lines, ".jsonl"))).json()
    assert [record["verdict"] for record in answer["records"]] == ["release", "review", "release"]
    assert len(answer["output"].splitlines()) == 2
    answer = (await tried(house, **file(TABLE, ".csv"))).json()
    assert answer["remark"].startswith("Read as free text: note. Hashed: id, patient_name.")
    assert answer["output"].startswith("id,patient_name,note\n")
    assert "Okonkwo" not in answer["output"]
    assert "C-101" not in answer["output"]


@pytest.mark.parametrize(
    ("asked", "status", "says"),
    [
        ({"text": NOTE * 3000}, 413, "up to 200,000 bytes"),
        (file((json.dumps({"text": NOTE}) + "\n") * 51, ".jsonl"), 422, "up to 50 records"),
        (file(NOTE, ".txt.gz"), 415, "decompress it"),
        ({"text": " \n"}, 422, "there is nothing to read"),
        (file("id,name\n1,Emily Carter\n", ".csv"), 422, "no column of the table holds free text"),
        (file(f"Emily Carter,1\nAnn Lee,{NOTE}\n", ".csv"), 422, "add a line of column names above it"),
        (file(f"Was well today. Emily Carter will call.\n{NOTE}\n", ".tsv"), 422, "add a line of column names"),
        (file(f"4471902,text\n4471903,{NOTE}\n", ".csv"), 422, "add a line of column names above it"),
        ({"text": NOTE, "policy": "/etc/passwd"}, 422, "choose from those"),
        ({"file": "Emily Carter!"}, 422, "file must be base64"),
        ({"text": NOTE, "file": "QQ=="}, 422, "either text or file"),
        ({"text": NOTE, "suffix": ".txt/../Carter"}, 422, "see faults"),
    ],
)
async def test_what_cannot_be_read_is_refused_with_the_next_step_and_without_the_text(
    house: House, asked: dict[str, str], status: int, says: str
) -> None:
    answer = await tried(house, **asked)
    assert answer.status_code == status
    assert says in answer.json()["detail"]
    assert "Carter" not in answer.text


async def test_nothing_of_a_tried_note_is_stored_or_logged(house: House) -> None:
    async with house.client(token=TOKEN, headers=LOCAL) as client:
        before = _files(house.folder)
        for text in (NOTE, GERMAN):
            await client.post("/v1/try", json={"text": text, "policy": "limited-data-set"})
        assert _files(house.folder) == before
    assert house.context.queue.counts()["waiting"] == 0
    assert "Carter" not in house.said.getvalue()
    assert "Klinik" not in house.said.getvalue()


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_a_language_model_is_offered_by_name_unless_its_replies_are_recorded(tmp_path: Path) -> None:
    model = {"model": "openai/tiny", "api_base": "http://127.0.0.1:9/v1", "detectors": ("rules", "llm")}
    for recording, first in ((None, "rules, llm"), (tmp_path / "recording.db", "rules")):
        with housed(tmp_path, **model, recording=recording) as house:
            async with house.client(token=TOKEN, headers=LOCAL) as client:
                offered = (await client.get("/v1/try")).json()["detectors"][0]
        assert offered["name"] == first
        assert ("openai/tiny" in offered["about"]) is (recording is None)


async def test_the_redacted_pages_of_an_image_are_shown_if_it_is_released(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cv2", reason="needs the extra images")
    import io

    import numpy as np
    from PIL import Image

    from incognote.formats.images import reading
    from incognote.pages.nouns import Word

    read = tuple(Word(word, (20 + 80 * n, 20, 90 + 80 * n, 40), 0.95) for n, word in enumerate(NOTE.split()))
    found: list[object] = []

    def reading_of(*_: object) -> reading.PageReading:
        found.append(None)
        return reading.PageReading(read, read, (), (), 0.95)

    monkeypatch.setattr(reading, "reading_of", reading_of)
    page, out, many = Image.fromarray(np.full((60, 1300), 255, np.uint8)), io.BytesIO(), io.BytesIO()
    page.save(out, "PNG")
    page.save(many, "TIFF", save_all=True, append_images=[page] * 3)

    def asked(data: bytes, suffix: str) -> dict[str, str]:
        return {"file": base64.b64encode(data).decode(), "suffix": suffix}

    answer = (await tried(house, **asked(out.getvalue(), ".png"))).json()
    [record] = answer["records"]
    assert record["verdict"] == "release"
    [png] = record["pages"]
    shown = np.array(Image.open(io.BytesIO(base64.b64decode(png))).convert("L"))
    left = 20 + 80 * NOTE.split().index("Emily")
    assert (shown[20:22, left : left + 150] == 0).all()
    assert (shown[20:40, 20:90] == 255).all()
    assert base64.b64decode(answer["file"]).startswith(b"\x89PNG")
    assert len(found) == 1
    refused = await tried(house, **asked(many.getvalue(), ".tif"))
    assert (refused.status_code, "up to 3 pages of a scan" in refused.json()["detail"]) == (413, True)
    large = await tried(house, **asked(out.getvalue() + b"\0" * 2_000_000, ".png"))
    assert (large.status_code, "up to 2,000,000 bytes" in large.json()["detail"]) == (413, True)


async def test_a_picture_within_a_message_or_a_resource_is_read_once(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cv2", reason="needs the extra images")
    import io

    from PIL import Image

    from incognote.formats.images import reading
    from incognote.pages.nouns import Word

    words = tuple(Word(word, (20 + 80 * n, 20, 90 + 80 * n, 40), 0.95) for n, word in enumerate(NOTE.split()))
    found: list[object] = []

    def reading_of(*_: object) -> reading.PageReading:
        found.append(None)
        return reading.PageReading(words, words, (), (), 0.95)

    monkeypatch.setattr(reading, "reading_of", reading_of)
    out = io.BytesIO()
    Image.new("L", (1300, 60), 255).save(out, "PNG")
    encoded = base64.b64encode(out.getvalue()).decode()
    head = "MSH|^~\\&|A|B|C|D|20250309101112||ORU^R01|1|P|2.5.1\rPID|1\rOBR|1|||X^Scan^L\r"
    message = f"{head}OBX|1|ED|X^Scan^L||A^image^png^Base64^{encoded}||||||F\r"
    attachment = {"contentType": "image/png", "data": encoded}
    resource = {"resourceType": "DocumentReference", "status": "current", "content": [{"attachment": attachment}]}
    for number, asked in enumerate((file(message, ".hl7"), file(json.dumps(resource), ".json")), 1):
        [record] = (await tried(house, **asked)).json()["records"]
        assert record["verdict"] == "release"
        assert {"text": "Emily Carter", "new": "[PERSON]"}.items() <= record["texts"][-1]["parts"][1].items()
        assert len(found) == number
