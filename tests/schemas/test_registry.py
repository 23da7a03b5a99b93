"""The registry: shipped schemas, a site's own schemas, and refused schemas."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import BadSchema, UnapprovedSchema, UnknownDataType, UsageError
from incognote.schemas.check import read_definition
from incognote.schemas.record_schema import content_hash
from incognote.schemas.registry import Registry, approve, check, load_schema

NOW = datetime(2025, 3, 1, 12, 30, tzinfo=UTC)


def write(folder: Path, data_type: str = "visit", name: str | None = None, **field: Any) -> Path:
    path = folder / (name or f"{data_type}.json")
    note = field or {"type": "string", "autoDeId": True}
    path.write_text(json.dumps({"dataType": data_type, "type": "object", "properties": {"note": note}}))
    return path


def test_every_shipped_schema_is_approved_by_its_hash() -> None:
    rows = Registry().rows()
    assert {row.data_type for row in rows} == {
        "clinicalRecord", "csvNotes", "note", "omopNote", "omopNoteNlp", "workflow",
    }  # fmt: skip
    assert {(row.state, row.shipped, row.problems) for row in rows} == {("approved", True, 0)}
    assert [schema.data_type for schema in Registry().all()] == [row.data_type for row in rows]


def test_an_approved_schema_of_a_folder_is_served(tmp_path: Path) -> None:
    approve(write(tmp_path), "Ada Privacy", NOW)
    registry = Registry([tmp_path])
    assert registry.get("visit").version == load_schema(tmp_path / "visit.json").version
    row = next(row for row in registry.rows() if row.data_type == "visit")
    assert (row.state, row.by, row.at, row.shipped) == ("approved", "Ada Privacy", "2025-03-01T12:30:00+00:00", False)


def test_an_unapproved_schema_is_not_served_but_listed(tmp_path: Path) -> None:
    write(tmp_path)
    registry = Registry([tmp_path])
    with pytest.raises(UnapprovedSchema, match=r"visit.*incognote schema approve"):
        registry.get("visit")
    assert [row.state for row in registry.rows() if row.data_type == "visit"] == ["unapproved"]
    assert "visit" not in {schema.data_type for schema in registry.all()}


def test_a_changed_schema_is_unapproved_again_and_a_reformatted_one_is_not(tmp_path: Path) -> None:
    path = write(tmp_path)
    approve(path, "Ada Privacy", NOW)
    path.write_text(json.dumps(json.loads(path.read_text()), indent=4))
    assert Registry([tmp_path]).get("visit").data_type == "visit"
    write(tmp_path, type="string", passThrough=True)
    with pytest.raises(UnapprovedSchema, match="changed after its approval"):
        Registry([tmp_path]).get("visit")
    assert [row.state for row in Registry([tmp_path]).rows() if row.data_type == "visit"] == ["changed"]


def test_a_schema_with_undecided_fields_cannot_be_approved(tmp_path: Path) -> None:
    path = write(tmp_path, type="string")
    with pytest.raises(BadSchema, match=r"visit.json cannot be approved: note: has no flag"):
        approve(path, "Ada Privacy", NOW)
    assert not (tmp_path / "approvals.json").exists()
    assert [problem.path for problem in check(path)] == ["note"]
    assert [row.flag for row in Registry([tmp_path]).show("visit")] == ["undecided"]


def test_a_bad_schema_approved_by_hand_is_still_refused(tmp_path: Path) -> None:
    forged = content_hash(read_definition(write(tmp_path, type="string").read_text()))
    (tmp_path / "approvals.json").write_text(json.dumps({"visit.json": {"by": "x", "at": "y", "sha256": forged}}))
    with pytest.raises(BadSchema, match="note: has no flag"):
        Registry([tmp_path]).get("visit")


def test_a_second_approval_keeps_the_first(tmp_path: Path) -> None:
    approve(write(tmp_path, "a"), "Ada Privacy", NOW)
    approve(write(tmp_path, "b"), "Bo Privacy", NOW)
    assert {row.data_type: row.by for row in Registry([tmp_path]).rows() if not row.shipped} == {
        "a": "Ada Privacy", "b": "Bo Privacy"}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.json", "approvals.json", "b.json"]


@pytest.mark.parametrize("by", ["", "  ", "123", "--"])
def test_an_approval_needs_a_name(tmp_path: Path, by: str) -> None:
    with pytest.raises(UsageError, match="name of a person"):
        approve(write(tmp_path), by, NOW)


def test_an_approval_needs_a_time_with_a_zone(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="time zone"):
        approve(write(tmp_path), "Ada", NOW.replace(tzinfo=None))


def test_a_shipped_data_type_cannot_be_shadowed(tmp_path: Path) -> None:
    write(tmp_path, "note")
    with pytest.raises(BadSchema, match=r"note\.json: the data type note already belongs to a shipped schema"):
        Registry([tmp_path])


def test_two_files_cannot_claim_one_data_type(tmp_path: Path) -> None:
    write(tmp_path, "visit", "a.json")
    write(tmp_path, "visit", "b.json")
    with pytest.raises(BadSchema, match=r"b.json: the data type visit already belongs to a.json"):
        Registry([tmp_path])


@pytest.mark.parametrize("content", [
    b"{", b"[]", b"{}", b'{"dataType":1}', b"\xff\xfe", b'{"dataType":"a","dataType":"b"}',
])
def test_a_folder_of_schemas_holds_nothing_else(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(BadSchema, match=r"x\.json"):
        Registry([tmp_path])


@pytest.mark.parametrize("content", ["{", "[]", '{"a.json": 1}', '{"a.json": {"by": "x"}}'])
def test_damaged_approvals_approve_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / "approvals.json").write_text(content)
    with pytest.raises(BadSchema, match=r"approvals\.json is damaged"):
        Registry([tmp_path])


def test_a_folder_that_is_none_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        Registry([tmp_path / "nowhere"])


def test_an_unknown_data_type_lists_the_known(tmp_path: Path) -> None:
    for ask in (Registry().get, Registry().show, Registry().definition):
        listed = "clinicalRecord, csvNotes, note, omopNote, omopNoteNlp, workflow"
        with pytest.raises(UnknownDataType, match=rf"'vist'\. Known: {listed}"):
            ask("vist")


def test_show_says_what_happens_to_each_field() -> None:
    rows = {row.path: (row.flag, row.entity_type, row.known_as) for row in Registry().show("clinicalRecord")}
    assert rows == {
        "PatientId": ("hash", "", "GUID"), "MRN": ("hash", "", "MEDICAL_RECORD_NUMBER"),
        "AGE": ("mask", "AGE", ""), "note": ("auto", "", ""),
    }


def test_check_reports_an_unreadable_schema_as_a_problem(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{")
    assert next(str(p) for p in check(tmp_path / "x.json")).startswith("the schema: not valid JSON at line 1")
    with pytest.raises(UsageError):
        check(tmp_path / "nowhere.json")
