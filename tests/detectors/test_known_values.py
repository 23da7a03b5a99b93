"""What callers pass as `known=`, and what rosters contain."""

from __future__ import annotations

import gzip
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from incognote.detectors.known import known_from, read_roster
from incognote.errors import SettingError, UsageError
from incognote.nouns import Known


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"name": "Ada Long"}, [("PERSON", "Ada Long")]),
        ({"Patient Name": "Ada"}, [("PATIENT", "Ada")]),
        ({"DOB": "1950-01-02", "Date_of_Birth": date(1951, 2, 3)},
         [("BIRTH_DATE_TIME", "1950-01-02"), ("BIRTH_DATE_TIME", "1951-02-03")]),
        ({"mrn": 12345}, [("MEDICAL_RECORD_NUMBER", "12345")]),
        ({"phones": ["1", "2"]}, [("TELEPHONE_NUMBER", "1"), ("TELEPHONE_NUMBER", "2")]),
        ({"HOSPITAL": "Mercy"}, [("HOSPITAL", "Mercy")]),
        ({"sex": "F", "age": 40, "mrn": None, "note": " "}, []),
        ({"first_name": "Ada", "last_name": "Long"}, [("PERSON", "Long, Ada"), ("PERSON", "Ada"), ("PERSON", "Long")]),
        ({"contact": {"name": "Bo", "phone": "555"}}, [("PERSON", "Bo"), ("TELEPHONE_NUMBER", "555")]),
        ("Ada Long", [("PERSON", "Ada Long")]),
        (["a@b.example", "2020-01-02", "415-555-0199", "12 Oak St, Dallas", "AB1234", "Bo Li"],
         [("EMAIL", "a@b.example"), ("DATE", "2020-01-02"),
          ("TELEPHONE_NUMBER", "415-555-0199"), ("ADDRESS", "12 Oak St, Dallas"),
          ("GUID", "AB1234"), ("PERSON", "Bo Li")]),
        ([Known("CITY", "Bath"), "x"], [("CITY", "Bath"), ("PERSON", "x")]),
    ],
)  # fmt: skip
def test_what_is_passed_becomes_typed_values(given: Any, expected: list[tuple[str, str]]) -> None:
    assert [(k.type, k.value) for k in known_from(given)] == expected


def test_something_else_is_refused_without_being_quoted() -> None:
    with pytest.raises(UsageError) as caught:
        known_from({"name": object()})
    assert "object" in str(caught.value)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_csv_roster_is_read_by_its_header(tmp_path: Path, delimiter: str) -> None:
    path = tmp_path / "roster.csv"
    rows = [["\ufeffMRN", "Name", "DOB"], ["123", "Ada Long", "1950-01-02"], ["456", "Bo", ""]]
    path.write_text("".join(delimiter.join(row) + "\n" for row in rows))
    assert [(k.type, k.value) for k in read_roster(path)] == [
        ("MEDICAL_RECORD_NUMBER", "123"),
        ("PERSON", "Ada Long"),
        ("BIRTH_DATE_TIME", "1950-01-02"),
        ("MEDICAL_RECORD_NUMBER", "456"),
        ("PERSON", "Bo"),
    ]


@pytest.mark.parametrize(
    "content",
    [
        "Ada Secret,123,1950-01-02\nBo Secret,456,1951-01-02\n",
        "Ada Secret\n",
        "Ada Secret;12 Oak Street;1950-01-02\n",
        "\nname,mrn\n",
    ],
)
def test_a_csv_roster_whose_first_line_names_no_column_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "roster.csv"
    path.write_text(content)
    with pytest.raises(SettingError, match=r"first line of the roster names no known column.*name,mrn,dob") as caught:
        read_roster(path)
    assert "Secret" not in str(caught.value)


@pytest.mark.parametrize("header", ["Patient_Name,w", "GIVEN NAME,x", "age,who", "SSN_OR_TAXPAYER", "Home Address 2"])
def test_one_known_column_makes_a_header(tmp_path: Path, header: str) -> None:
    path = tmp_path / "roster.csv"
    path.write_text(f"{header}\n")
    assert read_roster(path) == ()


def test_a_jsonl_roster_may_be_gzipped(tmp_path: Path) -> None:
    path = tmp_path / "roster.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"name": "Ada"}\n\n{"mrn": 7}\n'))
    assert [k.value for k in read_roster(path)] == ["Ada", "7"]


@pytest.mark.parametrize(
    "content",
    [b'{"name": "SECRET"\n', b"name,mrn\nSECRET,1,2\n", b"\xff\xfeSECRET", b'{"name": "x"}\nSECRET\n'],
)
def test_a_malformed_roster_is_refused_without_its_words(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "roster"
    path.write_bytes(content)
    with pytest.raises(SettingError) as caught:
        read_roster(path)
    assert "SECRET" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_missing_roster_is_named_by_its_setting(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="INCOGNOTE_ROSTER"):
        read_roster(tmp_path / "none.csv")
