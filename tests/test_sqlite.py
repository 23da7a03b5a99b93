"""SQLite files shared with real processes."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from incognote.sqlite import go_wal, private

_COUNT = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
print(*db.execute("SELECT count(*) FROM t").fetchone())
"""


def rows_for_another_process(file: Path) -> int:
    """The number of rows that another process reads. It closes the file when it exits."""
    return int(subprocess.run([sys.executable, "-c", _COUNT, file], capture_output=True, check=True).stdout)


def test_a_file_opened_twice_keeps_its_locks_and_loses_no_row_when_another_process_ends(tmp_path: Path) -> None:
    file = tmp_path / "service.db"
    private(file, create=True)
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        go_wal(db)
        db.execute("CREATE TABLE t (n)")
        private(file, create=True)  # a second store in this process, as in a server
        assert rows_for_another_process(file) == 0
        db.execute("INSERT INTO t VALUES (1)")
        assert rows_for_another_process(file) == 1
        assert file.with_name("service.db-wal").exists()


def test_a_new_file_is_its_owners_alone_through_a_link_too(tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "real.db")
    private(link, create=True)
    assert (tmp_path / "real.db").stat().st_mode & 0o777 == 0o600


def test_a_missing_file_or_a_folder_is_refused_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        private(tmp_path / "no" / "x.db", create=False)
    with pytest.raises(IsADirectoryError):
        private(tmp_path, create=True)
    assert not list(tmp_path.iterdir())
