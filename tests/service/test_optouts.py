"""Opt-outs: added once, compared by keyed hash, and withdrawn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from incognote.errors import WrongKey
from incognote.keys import Keyring
from incognote.service.optouts import OptOuts
from incognote.service.store import open_engine

KEY = Keyring(bytes(range(32)))


@pytest.fixture
def optouts(database: str) -> Iterator[OptOuts]:
    """A list with one subject."""
    made = OptOuts(database, KEY)
    assert made.add("Zebulon-7712", "Ada Officer")
    yield made
    made.close()


def test_a_subject_is_refused_from_then_on_and_others_are_not(optouts: OptOuts) -> None:
    assert optouts.refused(["Zebulon-7712", "Zebulon-7713"]) == {"Zebulon-7712"}
    assert optouts.refused([]) == set()


def test_blanks_around_an_id_do_not_count_and_every_spelling_is_refused(optouts: OptOuts) -> None:
    assert optouts.refused([" Zebulon-7712", "Zebulon-7712 "]) == {" Zebulon-7712", "Zebulon-7712 "}


def test_a_subject_is_entered_once_and_can_be_withdrawn(optouts: OptOuts) -> None:
    assert not optouts.add("Zebulon-7712", "Bob")
    assert [one.by for one in optouts.items()] == ["Ada Officer"]
    assert optouts.remove("Zebulon-7712")
    assert not optouts.remove("Zebulon-7712")
    assert optouts.refused(["Zebulon-7712"]) == set()


def test_the_database_holds_nothing_of_the_id(optouts: OptOuts, database: str, tmp_path: Path) -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy")
    engine, metadata = open_engine(database), sqlalchemy.MetaData()
    with engine.connect() as connection:
        metadata.reflect(connection)
        rows = [row for table in metadata.sorted_tables for row in connection.execute(sqlalchemy.select(table))]
    engine.dispose()
    optouts.close()
    key = optouts.key("Zebulon-7712")
    held = [str(tuple(row)).encode() for row in rows] + [path.read_bytes() for path in tmp_path.iterdir()]
    assert any(key.encode() in each for each in held)
    for each in held:
        assert b"Zebulon" not in each
        assert b"7712" not in each.replace(key.encode(), b"")


def test_another_process_sees_it_and_another_key_is_refused(optouts: OptOuts, database: str) -> None:
    other = OptOuts(database, KEY)
    assert other.refused(["Zebulon-7712"])
    other.close()
    with pytest.raises(WrongKey):
        OptOuts(database, Keyring(bytes(32)))
