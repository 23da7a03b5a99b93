"""Moving an index: export, import, rekeying, and indexes that do not keep originals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import IndexBusy, UsageError, WrongKey
from incognote.keys import Keyring
from incognote.relex.index import moving
from incognote.relex.index.docs import Scan
from incognote.relex.index.nouns import Query, SurrogateClaimed, SurrogateProposal
from incognote.relex.index.opening import rekey
from incognote.relex.index.sealing import Sealer

from .conftest import PLACE, all_docs, given

Make = Callable[..., Any]
Propose = Callable[..., SurrogateProposal]


async def test_another_key_is_refused_before_the_first_read(
    make: Make, vendor: str, propose: Propose, other_key: Keyring
) -> None:
    index = await make(vendor)
    await given(index, propose("a"))
    with pytest.raises(WrongKey):
        await make(vendor, key=other_key, url=index.url)


@pytest.mark.parametrize("to", ["memory", "sqlite", "opensearch"])
async def test_what_one_exports_another_imports_and_answers_alike(
    make: Make, vendor: str, to: str, propose: Propose, tmp_path: Path
) -> None:
    one = await make(vendor)
    batch = [propose(f"p{n}", f"q{n}", seed=n, attributes={"gender": "fm"[n % 2]}) for n in range(12)]
    outcomes = await one.claim_all(batch)
    await one.use([(outcomes[5].identity.id, "note 5")])
    await one.merge([outcomes[4].identity.id, outcomes[5].identity.id])
    path = tmp_path / "index.export"
    count = await moving.export(one, path)
    assert path.stat().st_mode & 0o777 == 0o600
    text = path.read_text()
    assert not any(word in text for word in ("Surrogate", "patient 7", "clinic", "gender"))
    two = await make(to)
    assert await moving.take_in(two, path) == count
    asked = [(PLACE, [f"q{n}"]) for n in range(12)]
    assert [await two.lookup(*keys) for keys in asked] == [await one.lookup(*keys) for keys in asked]
    await one.refresh()
    query = Query("clinic", "PERSON", attributes={"gender": "m"})
    near = [await each.nearest(batch[0].vector, query, 4) for each in (one, two)]
    assert [hit.identity for hit in near[0]] == [hit.identity for hit in near[1]]
    assert [hit.score for hit in near[0]] == pytest.approx([hit.score for hit in near[1]], abs=1e-4)
    told = [await each.stats() for each in (one, two)]
    assert replace(told[0], vendor="", id="") == replace(told[1], vendor="", id="")
    with pytest.raises(UsageError, match="empty index"):
        await moving.take_in(two, path)


async def test_an_export_that_is_cut_or_of_another_key_is_refused(
    make: Make, propose: Propose, tmp_path: Path, other_key: Keyring
) -> None:
    index = await make("memory")
    await given(index, propose("a"))
    await moving.export(index, tmp_path / "whole")
    lines = (tmp_path / "whole").read_text().splitlines(keepends=True)
    (tmp_path / "cut").write_text("".join(lines[:-1]))
    (tmp_path / "short").write_text("".join(lines[:2] + lines[-1:]))
    (tmp_path / "none").write_text("something\n")
    new = await make("memory")
    for name in ("cut", "short", "none"):
        with pytest.raises(UsageError):
            await moving.take_in(new, tmp_path / name)
    with pytest.raises(WrongKey):
        await moving.take_in(await make("memory", key=other_key), tmp_path / "whole")
    with pytest.raises(UsageError, match="originals"):
        await moving.take_in(await make("memory", originals="off"), tmp_path / "whole")
    with pytest.raises(UsageError, match="cannot be written"):
        await moving.export(index, tmp_path / "whole")
    assert await moving.take_in(new, tmp_path / "whole") == 3


async def test_an_import_that_was_broken_off_shuts_the_index_until_it_is_done(
    make: Make, vendor: str, propose: Propose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await make(vendor)
    await one.claim_all([propose(f"p{n}") for n in range(4)])
    await moving.export(one, tmp_path / "e")
    two = await make(vendor)
    with monkeypatch.context() as patch:
        patch.setattr(moving, "end", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            await moving.take_in(two, tmp_path / "e")
    with pytest.raises(IndexBusy, match="import"):
        await two.claim(propose("p1"))
    assert await moving.take_in(two, tmp_path / "e") == 0
    assert await two.lookup(PLACE, ["p1"]) == await one.lookup(PLACE, ["p1"])


async def test_a_new_key_changes_every_document_and_no_answer(
    make: Make, vendor: str, propose: Propose, key: Keyring, other_key: Keyring
) -> None:
    index = await make(vendor)
    batch = [propose(f"p{n}", f"q{n}", seed=n, attributes={"gender": "f"}) for n in range(4)]
    outcomes = await index.claim_all(batch)
    await index.use([(outcomes[0].identity.id, "note 1")])
    before = {doc.id for doc in await all_docs(index) if doc.kind != "identity"}
    assert await moving.rekey(index, other_key) == 4 + 8 + 4 + 1
    after = await all_docs(index)
    assert {doc.key for doc in after} == {other_key.id}
    assert not before & {doc.id for doc in after}
    for door in (index, await make(vendor, key=other_key, url=index.url)):
        assert await door.lookup(PLACE, ["q2"]) == (outcomes[2].identity,)
        await door.refresh()
        query = Query("clinic", "PERSON", "patient 7", attributes={"gender": "f"})
        (hit,) = await door.nearest(batch[1].vector, query, 1)
        assert hit.identity == outcomes[1].identity
        assert await door.holder("clinic", "patient 7", "Surrogate of p3") == outcomes[3].identity
        assert await door.claim(propose("p0", "q0", "new", whole="Other")) == SurrogateClaimed(
            outcomes[0].identity, False
        )
    assert (await index.merge([one.identity.id for one in outcomes[:2]])).outputs == ()
    with pytest.raises(WrongKey):
        await make(vendor, url=index.url)


@pytest.mark.parametrize("vendor", ["sqlite", "opensearch"])
async def test_a_change_of_the_key_that_was_broken_off_is_ended_later(
    make: Make, vendor: str, propose: Propose, key: Keyring, other_key: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = await make(vendor)
    outcomes = await index.claim_all([propose(f"p{n}", seed=n) for n in range(6)])
    working = await make(vendor, url=index.url)
    real, seen = Sealer.rekeyed, []

    def dies(self: Sealer, doc: Any, old: Sealer) -> Any:
        seen.append(doc)
        if len(seen) > 7:
            raise KeyboardInterrupt
        return real(self, doc, old)

    def small(new: Sealer, old: Sealer, after: Any) -> Any:
        """Use two documents per page, so that some are finished when it is aborted."""
        yield from new.fetch(during="rekeying")
        page = yield Scan({"key": old.keyring.id}, {"kind": "meta"}, vectors=True, after=after)
        inner = moving_rekey(new, old, after)
        result = None
        while True:
            try:
                op = inner.send(result)
            except StopIteration as stop:
                return stop.value
            result = replace(page, docs=page.docs[:2], next=None) if isinstance(op, Scan) else (yield op)

    moving_rekey = moving.rekey_page
    with monkeypatch.context() as patch:
        patch.setattr(Sealer, "rekeyed", dies)
        patch.setattr(moving, "rekey_page", small)
        with pytest.raises(KeyboardInterrupt):
            await moving.rekey(index, other_key)
    assert 0 < len({doc.id for doc in await all_docs(working) if doc.key == other_key.id}) < 18
    with pytest.raises(WrongKey):
        await working.claim(propose("p1"))
    for wrong in (key, other_key):
        with pytest.raises((WrongKey, IndexBusy)):
            await make(vendor, key=wrong, url=index.url)
    with pytest.raises(IndexBusy):
        await rekey(index.url, Keyring(b"a third key, which nobody used.." * 2), other_key)
    assert await rekey(index.url, key, other_key) > 0
    assert await rekey(index.url, key, other_key) == 0
    done = await make(vendor, key=other_key, url=index.url)
    found = [await done.lookup(PLACE, [f"p{n}"]) for n in range(6)]
    assert found == [(outcome.identity,) for outcome in outcomes]


async def test_an_index_without_originals_gives_surrogates_and_cannot_be_rekeyed(
    make: Make, vendor: str, propose: Propose, other_key: Keyring
) -> None:
    index = await make(vendor, originals="off")
    identity = await given(index, propose("adam wilson", "wilson"))
    assert identity.original is None
    assert await index.lookup(PLACE, ["wilson"]) == (identity,)
    opened = [index.sealer.open(doc) for doc in await all_docs(index)]
    assert "wilson" not in str(opened).replace("Surrogate of adam wilson", "")
    with pytest.raises(UsageError, match="originals"):
        await moving.rekey(index, other_key)
