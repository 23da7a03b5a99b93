"""/v1/review for images: boxes without words that a person adds to the pages of a record."""

from __future__ import annotations

import base64
import io
from dataclasses import replace
from typing import Any

import httpx
import pytest

pytest.importorskip("cv2", reason="needs the extra images")

import numpy as np
from PIL import Image

from incognote.agents.item import Item
from incognote.formats.base import UNWORDED
from incognote.formats.images import reading
from incognote.formats.images.document import ImageDocument
from incognote.nouns import PageBox
from incognote.pages.nouns import Word
from incognote.service.audit.verify import entries
from incognote.service.review import ReviewDecision, case_of, corrected
from incognote.service.review.cases import document_of

from .conftest import House

SEEN = ("Seen", "by", "Dr.", "Emily", "Carter", "today.")
WIDE, HIGH = 560, 200
INK = (300, 120, 500, 160)
MARK = {"page": 1, "x0": 300, "y0": 120, "x1": 500, "y1": 160, "type": "SIGNATURE"}
BODY = "Seen by Dr. Emily Carter today.\n"
NAME = {"field": "body", "start": 12, "end": 24, "type": "PERSON"}


def put(house: House, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...] = SEEN, pages: int = 1) -> str:
    """Queue a TIFF or PNG file on whose pages `words` are read in one line."""
    read = tuple(Word(each, (20 + 80 * n, 20, 90 + 80 * n, 40), 0.95) for n, each in enumerate(words))
    monkeypatch.setattr(reading, "reading_of", lambda *_: reading.PageReading(read, read, (), (), 0.95))
    pixels = np.full((HIGH, WIDE), 255, np.uint8)
    pixels[INK[1] : INK[3] : 2, INK[0] : INK[2]] = 0
    image, out = Image.fromarray(pixels), io.BytesIO()
    more = {"save_all": True, "append_images": [image] * (pages - 1)} if pages > 1 else {}
    image.save(out, "TIFF" if pages > 1 else "PNG", **more)
    item, deid = Item(out.getvalue(), media_type="image/tiff" if pages > 1 else "image/png"), house.context.deid
    return house.context.queue.put("k1", "r1", case_of(item, deid.deidentify(item), deid.engine))


def facts(house: House, event: str) -> list[dict[str, Any]]:
    return [dict(entry.facts) for entry in entries(house.context.audit.folder) if entry.event == event]


def pixels_of(answer: httpx.Response, number: int = 0) -> Any:
    image = Image.open(io.BytesIO(base64.b64decode(answer.json()["png"])))
    image.seek(number)
    return np.array(image.convert("L"))


def is_covered(pixels: Any) -> bool:
    left, top, right, bottom = INK
    return bool((pixels[top:bottom, left : left + 3] == 0).all() and (pixels[top : top + 2, left:right] == 0).all())


async def test_a_region_is_proposed_previewed_approved_and_released(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = put(house, monkeypatch)
    path = f"/v1/review/{item}"
    marks = {"spans": [NAME], "regions": [MARK]}
    async with house.client(headers=house.key("bob", "approve")) as client:
        shown = (await client.get(path)).json()
        assert [text["content"] for text in shown["texts"]] == [BODY]
        assert shown["regions"] == []
        [page] = (await client.get(f"{path}/pages")).json()
        assert page["takes_regions"]
        preview = (await client.post(f"{path}/preview", json=marks)).json()
        assert [text["content"] for text in preview["texts"]] == ["Seen by Dr. [PERSON] today.\n\n[SIGNATURE]"]
        before, after = [
            pixels_of(await client.post(f"{path}/preview/pages/1", json={"spans": [NAME], "regions": regions}))
            for regions in ([], [MARK])
        ]
        assert (is_covered(before), is_covered(after)) == (False, True)
        assert before.shape == (HIGH, WIDE)
        saved = await client.put(f"{path}/proposal", json=marks)
        assert saved.status_code == 200
        again = (await client.get(path)).json()
        assert again["regions"] == [MARK]
        assert again["revision"] != shown["revision"]
        kept = await client.put(f"{path}/proposal", json={"spans": []})  # it says nothing about regions
        assert kept.status_code == 200
        assert (await client.get(path)).json()["regions"] == [MARK]
        decided = await client.post(f"{path}/decision", json={"outcome": "approve", "spans": []})
        assert decided.json()["changes"]["added"] == 1
    assert facts(house, "review.decided") == [
        {"item": item, "outcome": "approve", "by": "bob", "added": 1, "dropped": 1}
    ]
    opened = house.context.queue.open(item)
    assert opened.regions == (PageBox(1, *INK, "SIGNATURE", 1.0, ("person",)),)
    result = await corrected(house.context.deid, opened.case, opened.spans, regions=opened.regions)
    assert result.verdict.released
    assert [(box.page, box.x0, box.y0, box.x1, box.y1, box.type) for box in result.boxes] == [(1, *INK, "SIGNATURE")]
    assert is_covered(np.array(Image.open(io.BytesIO(result.data)).convert("L")))


async def test_a_region_that_does_not_fit_is_refused_without_its_values(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = put(house, monkeypatch)
    wrong: list[dict[str, Any]] = [
        {"page": 2}, {"x1": WIDE + 1}, {"y1": HIGH + 1}, {"x0": 500}, {"y0": 180}, {"type": "PERSON"},
        {"type": "SURNAME_LINDQVIST"}, {"page": 0}, {"x0": -1}, {"type": "signature"}, {"score": 1},
    ]  # fmt: skip
    requests = (("PUT", "proposal"), ("POST", "preview"), ("POST", "preview/pages/1"), ("POST", "decision"))
    async with house.client(headers=house.key("bob", "approve")) as client:
        for number, change in enumerate(wrong):
            method, end = requests[number % len(requests)]
            marks = {"spans": [], "regions": [{**MARK, **change}]}
            body = {"outcome": "approve", **marks} if end == "decision" else marks
            answer = await client.request(method, f"/v1/review/{item}/{end}", json=body)
            assert answer.status_code == 422, (end, change)
            assert "LINDQVIST" not in answer.text
    opened = house.context.queue.open(item)
    assert (opened.entry.state, opened.entry.by, opened.regions) == ("waiting", None, ())


async def test_a_record_without_pixels_takes_no_regions(house: House) -> None:
    item = Item("Seen by Dr. Emily Carter.")
    deid = house.context.deid
    id_ = house.context.queue.put("k1", "r1", case_of(item, deid.deidentify(item), deid.engine))
    async with house.client(headers=house.key("bob", "approve")) as client:
        answer = await client.post(f"/v1/review/{id_}/preview", json={"spans": [], "regions": [MARK]})
    assert answer.status_code == 422
    assert answer.json()["detail"] == "regions: this record is neither an image, a scan, nor a recording"


async def test_a_page_without_words_is_shown_and_takes_regions(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    item = put(house, monkeypatch, (), pages=3)
    path = f"/v1/review/{item}"
    mark = {**MARK, "page": 3}
    async with house.client(headers=house.key("bob", "approve")) as client:
        shown = (await client.get(path)).json()
        assert shown["texts"] == [{"field": "body", "content": ""}]
        assert [page["number"] for page in (await client.get(f"{path}/pages")).json()] == [1, 2, 3]
        marks = {"spans": [], "regions": [mark]}
        preview = (await client.post(f"{path}/preview", json=marks)).json()
        assert [text["content"] for text in preview["texts"]] == ["\n[SIGNATURE]"]
        pages = [pixels_of(await client.post(f"{path}/preview/pages/{n}", json=marks)) for n in (1, 3)]
        assert [is_covered(page) for page in pages] == [False, True]
        assert (await client.post(f"{path}/preview/pages/4", json=marks)).status_code == 404


async def test_pages_that_are_read_otherwise_than_for_the_review_are_not_released(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = put(house, monkeypatch)
    house.context.queue.decide(item, ReviewDecision("approve"), "ann")
    opened = house.context.queue.open(item)
    case = replace(opened.case, readings="")  # as a former version saved it
    others = (Word("Dr.", (20, 20, 90, 40), 0.95),)
    monkeypatch.setattr(reading, "reading_of", lambda *_: reading.PageReading(others, others, (), (), 0.95))
    with pytest.raises(Exception, match="now read differently"):
        await corrected(house.context.deid, case, opened.spans)


def test_the_regions_of_an_item_are_findings_after_all_pages(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = house.context.queue.open(put(house, monkeypatch))
    deid = house.context.deid
    result = deid.deidentify(replace(opened.case.item, regions=(PageBox(1, *INK, "STAMP"),)))
    assert [r.span.text for r in result.replacements] == ["Emily Carter", UNWORDED]
    assert result.replacements[-1].span.start == len(BODY) + 1
    assert is_covered(np.array(Image.open(io.BytesIO(result.data)).convert("L")))
    wrong = deid.deidentify(replace(opened.case.item, regions=(PageBox(2, *INK, "STAMP"),)))
    assert [reason.code for reason in wrong.verdict.reasons] == ["malformed"]


def test_a_decision_that_a_former_version_saved_is_read(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    import json

    from incognote.service.review.nouns import DecidedCase, pack_spans

    opened = house.context.queue.open(put(house, monkeypatch))
    told = json.dumps(pack_spans(opened.case.texts, opened.spans)).encode()
    again = DecidedCase.unpacked(opened.entry, opened.case, told)
    assert (again.spans, again.regions) == (opened.spans, ())
    assert DecidedCase.unpacked(opened.entry, opened.case, again.packed()).spans == opened.spans


def test_what_was_read_on_pages_is_kept_with_the_record(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = house.context.queue.open(put(house, monkeypatch))
    engine = house.context.deid.engine
    _, document = opened.case.item.open(lambda: engine.registry, None)
    assert isinstance(document, ImageDocument)
    assert document.texts

    def unread(*_: object) -> None:
        pytest.fail("the page is read again")

    monkeypatch.setattr(reading, "reading_of", unread)
    again = document_of(opened.case, engine)
    assert isinstance(again, ImageDocument)
    assert (again.texts, again.pages, again.findings) == (document.texts, document.pages, document.findings)
    assert again.picture(1) == document.picture(1)
    assert again.boxes_of("body", 12, 24) == document.boxes_of("body", 12, 24)
