"""The embedded index's file: its permissions, what a thief could read in it, and how it handles foreign files."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import IndexRejected, IndexUnavailable, WrongKey
from incognote.keys import Keyring
from incognote.relex.index import moving
from incognote.relex.index.nouns import IdentityPlace, SurrogateProposal
from incognote.relex.index.opening import open_index
from incognote.relex.index.vendors import sqlite

Make = Callable[..., Any]
Propose = Callable[..., SurrogateProposal]
SECRET = ("Quartermain", "quartermain", "Zebulon", "zebulon", "MRN-4711", "surgeon", "Li Wei", "note-99")


def file_of(index: Any) -> Path:
    return Path(index.url.partition("///")[2].partition("?")[0])


async def test_a_stolen_file_shows_no_original_no_scope_and_no_vector(make: Make, propose: Propose) -> None:
    index = await make("sqlite")
    place = IdentityPlace("clinic", "MRN-4711", "PERSON")
    one = propose(
        "Zebulon Quartermain", "Mr. Quartermain", whole="Li Wei", place=place, seed=1, attributes={"role": "surgeon"}
    )
    identity = (await index.claim(one)).identity
    await index.use([(identity.id, "note-99")])
    assert one.vector is not None
    path = file_of(index)
    stolen = b"".join(file.read_bytes() for file in (path, path.with_name(path.name + "-wal")))
    assert len(stolen) > 10_000
    assert b"clinic" in stolen  # the domain is in clear text, so the search can find something
    for word in SECRET:
        assert word.encode() not in stolen
        assert word.encode("utf-16-le") not in stolen
        assert word.encode().hex().encode() not in stolen
    unit = (one.vector / (one.vector**2).sum() ** 0.5).astype("<f2").tobytes()
    assert unit[:8] not in stolen


async def test_what_was_forgotten_or_rekeyed_is_not_left_in_the_file(
    make: Make, propose: Propose, other_key: Keyring
) -> None:
    index = await make("sqlite")
    await index.claim(propose("wilson"))
    with sqlite3.connect(file_of(index)) as db:
        ids = [row[0].encode() for row in db.execute("SELECT id FROM docs WHERE kind = 'key'")]
    db.close()
    await moving.rekey(index, other_key)
    left = b"".join(file.read_bytes() for file in file_of(index).parent.glob("*.db*"))
    assert ids
    assert not any(one in left for one in ids)


async def test_the_file_is_its_owners_alone(make: Make, propose: Propose) -> None:
    index = await make("sqlite")
    await index.claim(propose("wilson"))
    files = list(file_of(index).parent.glob("*.db*"))
    assert len(files) == 3
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


async def test_strangers_files_are_refused_and_left_as_they_are(tmp_path: Path, key: Keyring) -> None:
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE t (x)")
    db.close()
    text = tmp_path / "text.db"
    text.write_text("something else, longer than a header of SQLite, which has a hundred bytes. " * 4)
    for path in (other, text):
        before = path.read_bytes()
        with pytest.raises(IndexRejected):
            await open_index(f"sqlite:///{path}", key, create=True)
        assert path.read_bytes() == before
    with pytest.raises(IndexRejected, match="index create"):
        await open_index(f"sqlite:///{tmp_path / 'absent.db'}", key)
    assert not (tmp_path / "absent.db").exists()


async def test_a_file_of_an_older_version_is_brought_up_and_one_of_a_newer_refused(
    make: Make, propose: Propose, key: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sqlite, "_STEPS", sqlite._STEPS[:1])
        old = await make("sqlite")
        await old.claim(propose("wilson"))
        await old.aclose()
    index = await make("sqlite", url=old.url)
    assert len(await index.lookup(IdentityPlace("clinic", "patient 7", "PERSON"), ["wilson"])) == 1
    with sqlite3.connect(file_of(index)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (len(sqlite._STEPS),)
        assert db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'docs_of_a_scope'").fetchone() == (1,)
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(IndexRejected, match="newer version"):
        await make("sqlite", url=old.url)


async def test_a_document_swapped_for_another_is_detected(make: Make, propose: Propose) -> None:
    index = await make("sqlite")
    await index.claim_all([propose("a"), propose("b")])
    with sqlite3.connect(file_of(index)) as db:
        (one, _), (_, body) = db.execute("SELECT id, body FROM docs WHERE kind = 'identity'").fetchall()
        db.execute("UPDATE docs SET body = ? WHERE id = ?", (body, one))
    db.close()
    with pytest.raises(WrongKey):
        await index.lookup(IdentityPlace("clinic", "patient 7", "PERSON"), ["a", "b"])


async def test_a_file_that_others_hold_for_too_long_is_unavailable(
    make: Make, propose: Propose, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "WAIT", 0.05)
    index = await make("sqlite")
    holder = sqlite3.connect(file_of(index), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(IndexUnavailable, match="SQLITE_BUSY"):
        await index.claim(propose("wilson"))
    assert await index.lookup(IdentityPlace("clinic", "patient 7", "PERSON"), ["wilson"]) == ()
    holder.execute("ROLLBACK")
    holder.close()
    assert (await index.claim(propose("wilson"))).created
