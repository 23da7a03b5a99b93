"""Dual control of reveals over the API: one key requests, another approves, and the approval is used once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from incognote.service.audit.verify import entries, verify

from .conftest import House, housed


@pytest.fixture
def two(tmp_path: Path) -> Iterator[House]:
    """A service that requires two people."""
    with housed(tmp_path, reveal_approvals=2) as made:
        yield made


async def test_gold_needs_no_approval_unless_the_setting_says_so(house: House) -> None:
    async with house.client(headers=house.key("eve", "reveal")) as client:
        assert (await client.get("/v1/gold")).status_code == 200
        assert (await client.post("/v1/reveals", json={"why": "x"})).status_code == 409


async def test_gold_needs_a_request_and_an_approval_by_someone_else_for_each_use(two: House) -> None:
    ada, eve, bob = (two.key(name, "reveal") for name in ("ada", "eve", "bob"))
    async with two.client() as client:
        assert (await client.get("/v1/gold", headers=ada)).status_code == 403
        asked = await client.post("/v1/reveals", json={"why": "quarterly audit", "release": "r1"}, headers=ada)
        name = asked.json()["id"]
        gold = f"/v1/gold?release=r1&approval={name}"
        assert (await client.get(gold, headers=ada)).status_code == 403
        assert (await client.post(f"/v1/reveals/{name}/approval", headers=ada)).status_code == 422
        (shown,) = (await client.get("/v1/reveals", headers=eve)).json()
        assert (shown["by"], shown["why"], shown["question"]["release"]) == ("ada", "quarterly audit", "r1")
        assert (await client.post(f"/v1/reveals/{name}/approval", headers=eve)).json()["approved_by"] == "eve"
        assert (await client.post(f"/v1/reveals/{name}/approval", headers=bob)).status_code == 409
        for address, who in ((f"/v1/gold?approval={name}", ada), (gold, bob)):
            assert (await client.get(address, headers=who)).status_code == 403
        assert (await client.get(gold, headers=ada)).status_code == 200
        assert (await client.get(gold, headers=ada)).status_code == 404
    told = [(one.event, one.facts["by"]) for one in entries(two.context.audit.folder) if one.facts.get("item") == name]
    assert told == [("reveal.requested", "ada"), ("reveal.approved", "eve"), ("review.exported", "ada")]
    assert verify(two.context.audit.folder, two.context.deid.engine.keyring).sound


async def test_only_the_role_reveal_asks_and_approves(two: House) -> None:
    async with two.client(headers=two.key("ann", "submit", "review", "approve")) as client:
        assert (await client.post("/v1/reveals", json={"why": "x"})).status_code == 403
        assert (await client.get("/v1/reveals")).status_code == 403
        assert (await client.post("/v1/reveals/" + "a" * 16 + "/approval")).status_code == 403
