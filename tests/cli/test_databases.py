"""The options of the worker for databases that do not fit each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from incognote.cli.databases import databases_of
from incognote.cli.options import DatabaseOptions
from incognote.errors import UsageError


@pytest.mark.parametrize(("source", "destination", "options", "says"), [
    ("notes", "released", {"table": "note"}, "need a SOURCE in a database"),
    ("notes", "sqlite:///b.db", {}, "need a SOURCE in a database"),
    ("sqlite:///a.db", "released", {}, "--table: name"),
    ("sqlite:///a.db", "released", {"table": "note", "overlap": 5.0}, "needs --watermark"),
    ("sqlite:///a.db", "released", {"table": "note", "into": "x"}, "is not a database"),
])  # fmt: skip
def test_options_that_do_not_fit_are_refused(source: str, destination: str, options: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        databases_of(source, destination, DatabaseOptions(**options))


def test_folders_need_no_database_and_a_destination_is_created(tmp_path: Path) -> None:
    assert databases_of("notes", "released", DatabaseOptions()) == (None, None)
    (tmp_path / "a.db").touch()
    source, into = databases_of(
        f"sqlite:///{tmp_path}/a.db", f"sqlite:///{tmp_path}/b.db", DatabaseOptions(table="note")
    )
    assert source is not None
    assert into is not None
    assert into.place is not None
    assert into.place.root == f"{tmp_path}/b.db"
