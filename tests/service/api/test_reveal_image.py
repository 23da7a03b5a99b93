"""What was removed from an image, over the API: for keys with the role `reveal`, logged, and with approvals."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from incognote.keys import Keyring
from incognote.relex.index.opening import open_index
from incognote.relex.vault import RemovedBox, RemovedPart, image_number, keep_removed
from incognote.service.audit.verify import entries, verify

from .conftest import House, housed

KEY = Keyring(bytes.fromhex("ab" * 32))
IMAGE = image_number(KEY, "default", b"an image")
OTHER = image_number(KEY, "default", b"another one")
NAME = RemovedPart("PERSON", "Zoë Quartermain", (RemovedBox(1, 10, 20, 90, 40, b"\x89PNG"),))
CODE = RemovedPart("BARCODE", "", (RemovedBox(2, 5, 5, 50, 50),))
ASKED = {"image": IMAGE, "why": "wrong patient on a form"}


@pytest.fixture
def filled(tmp_path: Path) -> str:
    """The address of an index with two images."""
    url = f"sqlite:///{tmp_path / 'index.db'}"

    async def fill() -> None:
        async with await open_index(url, KEY, create=True) as index:
            for image in (IMAGE, OTHER):
                await keep_removed(index, "default", image, "r1", "7", (NAME, CODE))

    asyncio.run(fill())
    return url


@pytest.fixture
def one(tmp_path: Path, filled: str) -> Iterator[House]:
    with housed(tmp_path, index=filled) as made:
        yield made


@pytest.fixture
def two(tmp_path: Path, filled: str) -> Iterator[House]:
    """A service that requires two people."""
    with housed(tmp_path, index=filled, reveal_approvals=2) as made:
        yield made


async def test_an_image_is_revealed_and_the_request_is_logged(one: House) -> None:
    async with one.client(headers=one.key("eve", "reveal")) as client:
        told = (await client.post("/v1/reveals/image", json=ASKED)).json()
        shown = (await client.post("/v1/reveals/image", json={**ASKED, "pixels": True})).json()
    name, code = told["parts"]
    box = {"page": 1, "x0": 10, "y0": 20, "x1": 90, "y1": 40, "png": None}
    assert (told["image"], name["type"], name["words"], name["boxes"]) == (IMAGE, "PERSON", "Zoë Quartermain", [box])
    assert (code["type"], code["words"]) == ("BARCODE", "")
    pngs = [box["png"] for part in shown["parts"] for box in part["boxes"]]
    assert pngs == [base64.b64encode(b"\x89PNG").decode(), None]
    logged = [json.loads(line) for line in (one.folder / "reveals.jsonl").read_text().splitlines()]
    assert [(each["account"], each["why"], each["shown"]) for each in logged] == [("eve", ASKED["why"], True)] * 2
    told = [each.facts for each in entries(one.context.audit.folder) if each.event == "image.revealed"]
    assert [(each["image"], each["outcome"], each["by"]) for each in told] == [(IMAGE, "shown", "eve")] * 2
    assert verify(one.context.audit.folder, KEY).sound
    assert "Quartermain" not in one.said.getvalue() + (one.folder / "reveals.jsonl").read_text()


async def test_only_the_role_reveal_sees_an_image(one: House) -> None:
    async with one.client(headers=one.key("ann", "submit", "review", "approve")) as client:
        assert (await client.post("/v1/reveals/image", json=ASKED)).status_code == 403
    assert not (one.folder / "reveals.jsonl").exists()


async def test_an_unknown_image_or_domain_is_not_found_and_the_request_is_logged(one: House) -> None:
    async with one.client(headers=one.key("eve", "reveal")) as client:
        for asked in ({**ASKED, "image": "f" * 24}, {**ASKED, "domain": "research"}):
            assert (await client.post("/v1/reveals/image", json=asked)).status_code == 404
        for wrong in ({"image": IMAGE}, {**ASKED, "why": "  "}, {**ASKED, "image": "Zoë"}):
            assert (await client.post("/v1/reveals/image", json=wrong)).status_code == 422
    logged = [json.loads(line)["shown"] for line in (one.folder / "reveals.jsonl").read_text().splitlines()]
    assert logged == [False, False]


async def test_nothing_is_shown_if_it_cannot_be_logged(one: House) -> None:
    (one.folder / "reveals.jsonl").mkdir()
    async with one.client(headers=one.key("eve", "reveal")) as client:
        refused = await client.post("/v1/reveals/image", json=ASKED)
    assert (refused.status_code, "Quartermain" in refused.text) == (503, False)


async def test_an_image_needs_a_request_and_an_approval_by_someone_else_for_each_use(two: House) -> None:
    ada, eve = (two.key(name, "reveal") for name in ("ada", "eve"))
    async with two.client() as client:
        assert (await client.post("/v1/reveals/image", json=ASKED, headers=ada)).status_code == 403
        both = await client.post("/v1/reveals", json={**ASKED, "release": "r1"}, headers=ada)
        assert both.status_code == 409
        request = (await client.post("/v1/reveals", json=ASKED, headers=ada)).json()
        assert (request["question"]["image"], request["why"]) == (IMAGE, ASKED["why"])
        used = {**ASKED, "approval": request["id"]}
        assert (await client.post("/v1/reveals/image", json=used, headers=ada)).status_code == 403
        assert (await client.post(f"/v1/reveals/{request['id']}/approval", headers=eve)).status_code == 200
        assert (await client.get(f"/v1/gold?approval={request['id']}", headers=ada)).status_code == 403
        other = await client.post("/v1/reveals/image", json={**used, "image": OTHER}, headers=ada)
        assert other.status_code == 403
        assert (await client.post("/v1/reveals/image", json=used, headers=ada)).status_code == 200
        assert (await client.post("/v1/reveals/image", json=used, headers=ada)).status_code == 404


async def test_a_policy_can_forbid_it_and_a_service_without_an_index_has_no_images(
    tmp_path: Path, filled: str
) -> None:
    (tmp_path / "hidden.toml").write_text('name = "hidden"\nextends = "strict"\n[relex]\nreveal = false\n')
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    for more, status in (
        ({"folder": tmp_path / "a", "index": filled, "policy": str(tmp_path / "hidden.toml")}, 403),
        ({"folder": tmp_path / "b"}, 409),
    ):
        with housed(**more) as house:
            async with house.client(headers=house.key("eve", "reveal")) as client:
                assert (await client.post("/v1/reveals/image", json=ASKED)).status_code == status
