"""The lock of a folder: one run at a time, released when its process ends, and without a trace."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from incognote.errors import IncognoteError
from incognote.files.atomic import LOCK, exclusive

pytest.importorskip("fcntl")
HOLD = """
import sys, time
from pathlib import Path
from incognote.files.atomic import exclusive
with exclusive(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_second_run_in_a_folder_is_refused_and_the_next_one_is_not(tmp_path: Path) -> None:
    with exclusive(tmp_path), pytest.raises(IncognoteError, match="Another run is writing"), exclusive(tmp_path):
        pytest.fail("two at once")
    with exclusive(tmp_path):
        assert (tmp_path / LOCK).exists()
    assert not (tmp_path / LOCK).exists()


def test_a_killed_process_blocks_nobody(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(IncognoteError, match="Another run"), exclusive(tmp_path):
            pytest.fail("two at once")
        process.kill()
    assert (tmp_path / LOCK).exists()
    with exclusive(tmp_path):
        assert (tmp_path / LOCK).exists()
    assert not (tmp_path / LOCK).exists()


def test_a_folder_made_for_the_lock_goes_unless_something_came_into_it(tmp_path: Path) -> None:
    with exclusive(tmp_path / "a", private=True):
        assert (tmp_path / "a").stat().st_mode & 0o077 == 0
    assert not (tmp_path / "a").exists()
    with exclusive(tmp_path / "a"):
        (tmp_path / "a" / "x").touch()
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["x"]


def test_a_folder_that_was_there_stays(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with exclusive(tmp_path / "a"):
        assert [path.name for path in (tmp_path / "a").iterdir()] == [LOCK]
    assert list((tmp_path / "a").iterdir()) == []
