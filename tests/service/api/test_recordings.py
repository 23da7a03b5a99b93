"""A spoken recording through /v1/deidentify, /v1/jobs, and the try page. It is synthetic."""

from __future__ import annotations

import asyncio
import base64
import io
import wave
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pocketsphinx", reason="needs the extra audio")
pytest.importorskip("soundfile", reason="needs the extra audio")

from incognote.service.api.trypages import MOST_SECONDS
from incognote.speech.files import SoundFile

from ...speech import spoken  # noqa: TID252 -- tests are not a package, so absolute imports cannot reach them
from .conftest import LOCAL, TOKEN, House


def recording(text: str = "his doctor is doctor smith. his blood pressure is high.") -> bytes:
    return file(spoken.say(text, "slt"))


def file(samples: np.ndarray) -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as written:
        written.setparams((1, 2, 16_000, 0, "NONE", ""))
        written.writeframes(samples.astype("<i2").tobytes())
    return out.getvalue()


def is_muted(before: bytes, after: bytes) -> bool:
    """Whether an output has the original's length and its own silence."""
    one, two = (np.concatenate(list(SoundFile(data).samples())) for data in (before, after))
    return len(one) == len(two) and np.count_nonzero(two) < 0.8 * np.count_nonzero(one) and bool((two == one).any())


async def test_a_recording_is_answered_with_its_muted_sound(house: House) -> None:
    sound = recording()
    document = {"file": base64.b64encode(sound).decode(), "media_type": "audio/wav", "id": "r1"}
    async with house.client(headers=house.key("ann", "submit")) as client:
        answer: dict[str, Any] = (await client.post("/v1/deidentify", json=document)).json()
        job = (await client.post("/v1/jobs", json={"documents": [document]})).json()["id"]
        for _ in range(1000):
            if (await client.get(f"/v1/jobs/{job}")).json()["state"] != "running":
                break
            await asyncio.sleep(0.05)
        page = (await client.get(f"/v1/jobs/{job}/documents")).json()
    assert answer["verdict"] == "release"
    released = base64.b64decode(answer["file"])
    assert is_muted(sound, released)
    assert base64.b64decode(page["documents"][0]["answer"]["file"]) == released
    stored = b"".join(path.read_bytes() for path in house.folder.rglob("*") if path.is_file())
    assert b"mith" not in stored
    assert "mith" not in house.said.getvalue()


async def test_the_try_page_shows_the_transcript_and_the_muted_sound(house: House) -> None:
    sound = recording()
    asked = {"file": base64.b64encode(sound).decode(), "suffix": ".wav"}
    async with house.client(token=TOKEN, headers=LOCAL) as client:
        told = (await client.post("/v1/try", json=asked)).json()
    [record] = told["records"]
    assert record["verdict"] == "release"
    assert is_muted(sound, base64.b64decode(told["file"]))
    shown = record["sound"]
    assert len(shown["peaks"]) == pytest.approx(50 * shown["seconds"], abs=1)
    assert {part["type"] for part in record["texts"][0]["parts"] if part.get("new")} == {
        each["type"] for each in shown["muted"]
    }
    middle = shown["muted"][0]["start"] + 0.2
    assert shown["peaks"][round(50 * middle)] == 0


async def test_the_try_page_refuses_a_long_recording_before_it_listens(house: House) -> None:
    long = file(np.zeros(16_000 * (MOST_SECONDS + 1), np.int16))
    asked = {"file": base64.b64encode(long).decode(), "suffix": ".wav"}
    async with house.client(token=TOKEN, headers=LOCAL) as client:
        answer = await client.post("/v1/try", json=asked)
    assert answer.status_code == 413
    assert "60 seconds" in answer.json()["detail"]
