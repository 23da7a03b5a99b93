"""/v1/review for recordings: the waveform, parts of the original sound, and times that a person mutes."""

from __future__ import annotations

import base64
import io
import wave
from typing import Any

import pytest

pytest.importorskip("soundfile", reason="needs the extra audio")

import numpy as np

from incognote.agents.item import Item
from incognote.formats.audio.document import AudioDocument
from incognote.formats.base import UNWORDED
from incognote.nouns import MutedInterval
from incognote.service.audit.verify import entries
from incognote.service.review import case_of, corrected
from incognote.service.review.cases import document_of
from incognote.speech.files import SoundFile

from ...formats.audio import made  # noqa: TID252 -- tests are not a package, so absolute imports cannot reach them
from .conftest import House

QUIET = {"start": 4.75, "end": 5.75, "type": "PERSON"}
"""A time without words."""


@pytest.fixture(autouse=True)
def _heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incognote.formats.audio.document.heard", lambda *_: made.heard(confidence=0.5))
    monkeypatch.setattr("incognote.formats.audio.second.heard", lambda *_: made.heard())


def put(house: House, data: bytes | None = None) -> str:
    """Queue a recording."""
    item, deid = Item(data or made.file(), media_type="audio/wav"), house.context.deid
    return house.context.queue.put("k1", "r1", case_of(item, deid.deidentify(item), deid.engine))


def facts(house: House, event: str) -> list[dict[str, Any]]:
    return [dict(entry.facts) for entry in entries(house.context.audit.folder) if entry.event == event]


def samples(data: bytes) -> np.ndarray:
    return np.concatenate(list(SoundFile(data).samples()))


async def test_the_waveform_and_the_times_of_words_are_shown(house: House) -> None:
    item = put(house)
    async with house.client(headers=house.key("bob", "review")) as client:
        record = (await client.get(f"/v1/review/{item}")).json()
        sound = await client.get(f"/v1/review/{item}/sound")
    assert record["sound"]
    assert record["reasons"][0]["code"] == "poor-hearing"
    assert sound.headers["cache-control"] == "no-store"
    shown = sound.json()
    assert (shown["field"], shown["seconds"], shown["margin"], shown["voice"]) == ("body", made.SECONDS, 0.3, "keep")
    assert len(shown["peaks"]) == 300
    assert 0 < min(shown["peaks"]) < max(shown["peaks"]) <= 100
    text = record["texts"][0]["content"]
    assert [(text[a:b].lower(), start) for a, b, start, _ in shown["pieces"]][:2] == [("good", 0.5), ("morning", 1.0)]
    assert facts(house, "text.viewed") == [{"item": item, "by": "bob"}]


async def test_a_part_of_the_original_is_played_to_reviewers_and_to_nobody_else(house: House) -> None:
    item = put(house)
    path = f"/v1/review/{item}/sound/part"
    async with house.client(headers=house.key("bob", "review")) as client:
        answer = await client.get(path, params={"start": 1.0, "end": 2.5})
        pairs = ((2, 1), (0, 61), (7, 8), ("nan", 1))
        wrong = [await client.get(path, params={"start": start, "end": end}) for start, end in pairs]
        assert (await client.get(f"/v1/review/{item}/sound/part")).status_code == 422
    assert answer.headers["cache-control"] == "no-store"
    with wave.open(io.BytesIO(base64.b64decode(answer.json()["wav"]))) as part:
        played = np.frombuffer(part.readframes(part.getnframes()), "<i2")
    assert np.array_equal(played, made.sound()[made.RATE : made.RATE * 5 // 2, 0])
    assert [each.status_code for each in wrong] == [422] * 4
    async with house.client(headers=house.key("ada", "submit", "try")) as client:
        assert (await client.get(path, params={"start": 1, "end": 2})).status_code == 403
    async with house.client() as client:
        assert (await client.get(path, params={"start": 1, "end": 2})).status_code == 401
    assert "end=" not in house.said.getvalue()
    assert facts(house, "text.viewed") == [{"item": item, "by": "bob"}] * 2  # the last of the wrong ones, too


async def test_a_note_has_no_sound(house: House) -> None:
    item, deid = Item("Seen by Dr. Emily Carter."), house.context.deid
    id_ = house.context.queue.put("k1", "r1", case_of(item, deid.deidentify(item), deid.engine))
    async with house.client(headers=house.key("bob", "review")) as client:
        assert not (await client.get(f"/v1/review/{id_}")).json()["sound"]
        assert (await client.get(f"/v1/review/{id_}/sound")).status_code == 404
        answer = await client.post(f"/v1/review/{id_}/preview", json={"spans": [], "regions": [QUIET]})
        assert answer.json()["detail"] == "regions: this record is neither an image, a scan, nor a recording"


async def test_an_added_time_without_words_is_proposed_previewed_approved_and_muted(house: House) -> None:
    item = put(house)
    path = f"/v1/review/{item}"
    async with house.client(headers=house.key("bob", "approve")) as client:
        shown = (await client.get(path)).json()
        name = next(span for span in shown["spans"] if "CLINICIAN" in span["type"] or span["type"] == "PERSON")
        spans = [{key: name[key] for key in ("field", "start", "end", "type")}]
        marks = {"spans": spans, "regions": [QUIET]}
        preview = (await client.post(f"{path}/preview", json=marks)).json()
        assert preview["texts"][0]["content"].endswith("\n[PERSON]")
        assert (await client.put(f"{path}/proposal", json=marks)).status_code == 200
        assert (await client.get(path)).json()["regions"] == [QUIET]
        decided = await client.post(f"{path}/decision", json={"outcome": "approve", "spans": spans})
        assert decided.status_code == 200
    assert facts(house, "review.decided")[0]["added"] == 1
    opened = house.context.queue.open(item)
    assert opened.regions == (MutedInterval(4.75, 5.75, "PERSON", 1.0, ("person",)),)
    result = await corrected(house.context.deid, opened.case, opened.spans, regions=opened.regions)
    assert result.verdict.released
    assert (4.75, 5.75, "PERSON") in [(each.start, each.end, each.type) for each in result.intervals]
    before, after = made.sound(), samples(result.data)
    first, last = round(4.75 * made.RATE), round(5.75 * made.RATE)
    assert not after[first:last].any()
    assert np.array_equal(after[last + made.RATE // 100 :], before[last + made.RATE // 100 :])


async def test_a_time_that_does_not_fit_is_refused_without_its_values(house: House) -> None:
    item = put(house)
    box = {"page": 1, "x0": 0, "y0": 0, "x1": 9, "y1": 9, "type": "SIGNATURE"}
    wrong: list[dict[str, Any]] = [
        {**QUIET, "end": 6.1}, {**QUIET, "start": 5.75}, {**QUIET, "start": -1}, {**QUIET, "type": "SURNAME_LINDQVIST"},
        {**QUIET, "score": 1}, box,
    ]  # fmt: skip
    async with house.client(headers=house.key("bob", "approve")) as client:
        for region in wrong:
            answer = await client.put(f"/v1/review/{item}/proposal", json={"spans": [], "regions": [region]})
            assert answer.status_code == 422, region
            assert "LINDQVIST" not in answer.text
    assert house.context.queue.open(item).regions == ()


async def test_what_was_heard_is_kept_with_the_record_and_its_settings_apply(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = house.context.queue.open(put(house))

    def listening(*_: object) -> None:
        pytest.fail("the recording is heard again")

    monkeypatch.setattr("incognote.formats.audio.document.heard", listening)
    engine = house.context.deid.engine
    document = document_of(opened.case, engine)
    assert isinstance(document, AudioDocument)
    assert document.texts == opened.case.texts
    assert document.how.margin == engine.settings.audio_margin
    assert document.with_regions([MutedInterval(1, 2, "PERSON")]).texts[0].content.endswith(f"\n{UNWORDED}")
    again = await corrected(house.context.deid, opened.case, opened.spans)
    assert again.verdict.released
