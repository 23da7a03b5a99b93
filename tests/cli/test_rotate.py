"""`incognote key rotate`: stores from the settings and from options get a key that a file or a command provides."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from incognote.files.quarantine import listed
from incognote.keys import Keyring
from incognote.service.audit import entries
from incognote.settings import home

from .conftest import Run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> Path:
    """A folder with a record in quarantine, an opt-out, an audit log, and two keys."""
    monkeypatch.chdir(tmp_path)
    Keyring.write_new(home() / "master.key")
    Keyring.write_new("new.key")
    Path("whom").write_text("Zebulon-7712\n")
    Path("in.jsonl").write_text('{"dataType": "unheard of", "text": "Zebulon"}\n')
    assert run("deid", "in.jsonl", "--out", "out", "--quarantine", "held", "--detectors", "rules").code == 3
    assert run("optout", "add", "--by", "Ada", "--patient-file", "whom").code == 0
    gc.collect()
    return tmp_path


def test_stores_that_are_named_and_those_of_the_settings_change_their_key(here: Path, run: Run) -> None:
    old, new = Keyring.read(home() / "master.key"), Keyring.read("new.key")
    done = run("key", "rotate", "--new-key-command", "cat new.key", "--quarantine", "held", "--json")
    assert done.data == {
        "key": new.id,
        "former_key": old.id,
        "stores": [
            {"store": "database", "items": 0},
            {"store": "quarantine", "items": 1},
            {"store": "audit log", "items": 1},
        ],
    }
    assert {one.key for one in listed(Path("held"))} == {new.id}
    assert [entry.event for entry in entries(home() / "audit")][-1] == "key.rotated"
    gc.collect()
    assert "made under key" in run("optout", "list").err  # the settings still name the former key
    assert run("optout", "list", "--key-file", "new.key", "--json").data["subjects"]
    gc.collect()
    assert "entered" not in run("optout", "add", "--by", "A", "--patient-file", "whom", "--key-file", "new.key").out
    assert run("audit", "verify", "--key-file", "new.key").code == 0
    assert "Zebulon" in run("quarantine", "show", "held", listed_name(), "--key-file", "new.key", "--show-anyway").out


def listed_name() -> str:
    """Return the listed name of the held record."""
    (one,) = listed(Path("held"))
    return one.name


def test_it_wants_one_new_key_and_folders_that_are_there(here: Path, run: Run) -> None:
    assert "Name one of" in run("key", "rotate").err
    assert "Name one of" in run("key", "rotate", "--new-key-file", "new.key", "--new-key-fd", "9").err
    assert "hedl does not exist" in run("key", "rotate", "--new-key-file", "new.key", "--quarantine", "hedl").err
    same = run("key", "rotate", "--new-key-file", home() / "master.key", "--quarantine", "held")
    assert "another one" in same.err
    old = Keyring.read(home() / "master.key")
    assert {one.key for one in listed(Path("held"))} == {old.id}
