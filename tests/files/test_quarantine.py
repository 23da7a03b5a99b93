"""The quarantine is encrypted and bound to its header, and nothing of a patient is readable without the key."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from incognote.errors import IncognoteError, UnknownName, WrongKey
from incognote.files.quarantine import Contents, Held, Quarantine, listed
from incognote.keys import Keyring
from incognote.nouns import Reason

KEY = Keyring(b"k" * 32)
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def _quarantine(folder: Path, key: Keyring = KEY) -> Quarantine:
    return Quarantine(folder, key, clock=lambda: NOON)


def _put(quarantine: Quarantine, position: int = 1, name: str | None = None) -> Held:
    return quarantine.put(
        Contents(b"\xffJane Doe\nMRN 77", {"id": "778-21", "known": ["Jane\nDoe"]}),
        outcome="review",
        reasons=[Reason("doubtful", "contact[0].name", "PERSON")],
        source="0a1b.jsonl",
        position=position,
        kind="lines",
        data_type="note",
        policy="strict 0123",
        name=name,
    )


def test_what_is_put_is_opened_again_byte_for_byte(tmp_path: Path) -> None:
    held = _put(_quarantine(tmp_path / "q"))
    contents = _quarantine(tmp_path / "q").open(held)
    assert contents.data == b"\xffJane Doe\nMRN 77"
    assert contents.words == {"id": "778-21", "known": ["Jane\nDoe"]}


def test_the_header_gives_the_reason_and_position_and_nothing_about_the_patient(tmp_path: Path) -> None:
    _put(_quarantine(tmp_path / "q"))
    [path] = (tmp_path / "q").iterdir()
    data = path.read_bytes()
    header = json.loads(data.split(b"\n")[0])
    assert header == {
        "incognote_quarantine": 2,
        "key": KEY.id,
        "check": KEY.check,
        "outcome": "review",
        "reasons": [["doubtful", "contact[0].name"]],
        "data_type": "note",
        "source": "0a1b.jsonl",
        "position": 1,
        "kind": "lines",
        "time": "2026-01-02T12:00:00+00:00",
        "policy": "strict 0123",
        "kept": True,
    }
    assert b"Doe" not in data
    assert b"778" not in data


def test_details_and_fields_that_no_schema_names_are_inside_the_seal(tmp_path: Path) -> None:
    quarantine = _quarantine(tmp_path / "q")
    reason = Reason("schema-violation", "visits.Jane Doe", "visits.Jane Doe: not named by the schema")
    held = quarantine.put(
        Contents(b"{}", {}), outcome="quarantine", reasons=[reason], source="s", position=1, kind="json"
    )
    [path] = (tmp_path / "q").iterdir()
    assert b"Doe" not in path.read_bytes()
    assert held.reasons == (Reason("schema-violation"),)
    assert next(listed(tmp_path / "q")) == held
    assert quarantine.open(held).reasons == (reason,)


def test_a_held_record_that_vanishes_while_the_folder_is_listed_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quarantine = _quarantine(tmp_path / "q")
    _put(quarantine)
    gone = tmp_path / "q" / "gone.held"
    seen = list((tmp_path / "q").iterdir())
    monkeypatch.setattr(Path, "glob", lambda self, pattern: iter([gone, *seen]))
    assert [held.position for held in listed(tmp_path / "q")] == [1]


def test_opening_what_another_run_dropped_says_so(tmp_path: Path) -> None:
    quarantine = _quarantine(tmp_path / "q")
    held = _put(quarantine)
    quarantine.drop(held)
    with pytest.raises(IncognoteError, match="cannot be read"):
        quarantine.open(held)


def test_the_folder_and_its_files_are_the_owners_alone(tmp_path: Path) -> None:
    _put(_quarantine(tmp_path / "q"))
    assert (tmp_path / "q").stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "q").iterdir())


def test_held_records_are_listed_by_source_and_position_without_a_key(tmp_path: Path) -> None:
    quarantine = _quarantine(tmp_path / "q")
    for position in (3, 1, 2):
        _put(quarantine, position)
    assert [held.position for held in listed(tmp_path / "q")] == [1, 2, 3]


def test_another_key_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    _put(_quarantine(tmp_path / "q"))
    with pytest.raises(WrongKey, match=KEY.id):
        _quarantine(tmp_path / "q", Keyring(b"j" * 32))


def test_an_ephemeral_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongKey, match="persistent"):
        _quarantine(tmp_path / "q", Keyring.ephemeral())
    assert not (tmp_path / "q").exists()


def test_a_changed_header_makes_the_record_unreadable(tmp_path: Path) -> None:
    quarantine = _quarantine(tmp_path / "q")
    _put(quarantine)
    [path] = (tmp_path / "q").iterdir()
    path.write_bytes(path.read_bytes().replace(b'"position": 1', b'"position": 2'))
    [held] = quarantine.items()
    with pytest.raises(WrongKey):
        quarantine.open(held)


def test_a_damaged_header_is_said_by_file_and_hides_nothing(tmp_path: Path) -> None:
    _put(_quarantine(tmp_path / "q"))
    [path] = (tmp_path / "q").iterdir()
    path.write_bytes(b"{" + path.read_bytes()[5:])
    with pytest.raises(IncognoteError, match="damaged"):
        list(listed(tmp_path / "q"))


def test_a_record_held_again_takes_the_place_of_the_former(tmp_path: Path) -> None:
    quarantine = _quarantine(tmp_path / "q")
    held = _put(quarantine)
    _put(quarantine, 7, name=held.name)
    assert [h.position for h in quarantine.items()] == [7]


def test_a_held_record_is_found_by_the_beginning_of_its_name_and_dropped_for_good(tmp_path: Path) -> None:
    quarantine = _quarantine(tmp_path / "q")
    held, other = _put(quarantine), _put(quarantine, 2)
    assert quarantine.find(held.name[:12]) == held
    for vague in ("", "zz"):
        with pytest.raises(UnknownName):
            quarantine.find(vague)
    quarantine.drop(held)
    quarantine.drop(held)
    assert list(quarantine.items()) == [other]


def test_names_are_random(tmp_path: Path) -> None:
    quarantine = _quarantine(tmp_path / "q")
    assert _put(quarantine).name != _put(quarantine).name


def test_contents_never_show_in_a_repr() -> None:
    assert "Doe" not in repr(Contents(b"Jane Doe", {"id": "Jane Doe"}))
