"""`surrogate` over HTTP: the same surrogate for a patient in every request, equal to the SDK's."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from incognote.keys import Keyring
from incognote.relex.index.opening import open_index
from incognote.sdk import Deidentifier

from .conftest import House, housed, settings
from .test_deidentify import finished

TEXTS = (
    "Pt Jane Quillfeather was seen by Dr. Emily Carter on 03/16/2025. Jane is well.",
    "Called Jane Quillfeather. Dr. Emily Carter will see her again.",
)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A service with its own index."""
    url = f"sqlite:///{tmp_path / 'index.db'}"

    async def create() -> None:
        await (await open_index(url, Keyring(bytes.fromhex("ab" * 32)), create=True)).aclose()

    asyncio.run(create())
    with housed(tmp_path, index=url) as made:
        yield made


def bodies(patient: str = "p1") -> list[dict[str, Any]]:
    return [{"text": text, "operation": "surrogate", "patient": patient} for text in TEXTS]


def borne(answer: dict[str, Any]) -> str:
    """Return the patient's surrogate in an answer."""
    assert answer["verdict"] == "release", answer["reasons"]
    first = min(answer["entities"], key=lambda entity: int(entity["start"]))
    assert first["operator"] == "surrogate"
    return str(answer["text"][first["out_start"] : first["out_end"]])


async def test_two_calls_for_one_patient_give_the_same_surrogate(house: House) -> None:
    headers = house.key("ann", "submit")
    async with house.client(headers=headers) as client:
        answers = [(await client.post("/v1/deidentify", json=body)).json() for body in bodies()]
        other = (await client.post("/v1/deidentify", json=bodies("p2")[0])).json()
    assert borne(answers[0]) == borne(answers[1])
    assert borne(other) != borne(answers[0])
    assert answers[0]["manifest"]["policy"]["name"] == "surrogate"
    for answer in (*answers, other):
        assert "Quillfeather" not in str(answer)
        assert "[PERSON]" not in answer["text"]


async def test_a_job_and_the_sdk_give_what_a_call_gave(house: House) -> None:
    headers = house.key("ann", "submit")
    async with house.client(headers=headers) as client:
        name = borne((await client.post("/v1/deidentify", json=bodies()[0])).json())
        documents = [{k: v for k, v in body.items() if k != "operation"} for body in bodies()]
        job = (await client.post("/v1/jobs", json={"documents": documents, "operation": "surrogate"})).json()
        await finished(client, job["id"])
        found = (await client.get(f"/v1/jobs/{job['id']}/documents")).json()["documents"]
    assert [borne(one["answer"]) for one in found] == [name, name]
    given = settings(house.folder, index=house.context.settings.index, policy="surrogate")
    with Deidentifier(**given) as deid:
        assert name in deid.deidentify(TEXTS[1], patient="p1").text


async def test_calls_at_once_give_one_surrogate(house: House) -> None:
    headers = house.key("ann", "submit")
    async with house.client(headers=headers) as client:
        answers = await asyncio.gather(
            *(client.post("/v1/deidentify", json=body) for body in bodies() * 4), client.get("/livez")
        )
    assert len({borne(answer.json()) for answer in answers[:-1]}) == 1
