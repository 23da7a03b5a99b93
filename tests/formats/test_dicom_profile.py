"""The table of the confidentiality profile: its facts, the codes that follow from them, and our closed lists."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pydicom.datadict import DicomDictionary, tag_for_keyword
from pydicom.sr._concepts_dict import concepts

from incognote.formats.dicom.profile import (
    BASIC,
    OPTIONS,
    Profile,
    iod_of,
    is_standard_meaning,
    is_technical,
    lists,
    profile,
    rows,
    safe_private,
    stretch_of,
)

ROOT = Path(__file__).parents[2]
CT, ENHANCED_CT, SR = "1.2.840.10008.5.1.4.1.1.2", "1.2.840.10008.5.1.4.1.1.2.1", "1.2.840.10008.5.1.4.1.1.88.11"


def code(keyword: str, sop_class: str = CT, rules: Profile | None = None) -> str | None:
    return (rules or Profile(frozenset())).code(tag_for_keyword(keyword) or 0, keyword, iod_of(sop_class))


def test_the_table_has_no_fault() -> None:
    script = [sys.executable, str(ROOT / "scripts" / "dicom_table.py"), "check"]
    run = subprocess.run(script, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, "no fault found\n"), run.stdout


def test_the_codes_of_options_are_those_of_the_standards_context_group() -> None:
    known = {code: meaning for names in concepts["DCM"].values() for code, (meaning, _) in names.items()}  # type: ignore[attr-defined]  # its type is object
    assert {number: known[number].replace(" with ", " ") for number, _ in (BASIC, *OPTIONS.values())} == dict(
        [BASIC, *OPTIONS.values()])


@pytest.mark.parametrize(
    ("keyword", "sop_class", "expected"),
    [
        ("PatientName", CT, "empty"), ("StudyDate", CT, "empty"), ("SeriesDate", CT, "remove"),
        ("AcquisitionDateTime", CT, "remove"), ("AcquisitionDateTime", ENHANCED_CT, "dummy"),
        ("DeviceSerialNumber", CT, "remove"), ("DeviceSerialNumber", ENHANCED_CT, "dummy"),
        ("ContentDate", CT, "empty"), ("ContentDate", SR, "dummy"), ("SOPInstanceUID", CT, "uid"),
        ("InstitutionName", "1.2.3", "dummy"), ("SliceThickness", CT, None),
    ],
)  # fmt: skip
def test_the_type_of_an_attribute_in_its_iod_decides_between_codes(
    keyword: str, sop_class: str, expected: str | None
) -> None:
    assert code(keyword, sop_class) == expected


def test_inside_a_sequence_the_strictest_type_is_assumed() -> None:
    assert Profile(frozenset()).code(tag_for_keyword("SeriesDate") or 0, "SeriesDate", "") == "dummy"


def test_an_option_keeps_or_cleans_its_attributes() -> None:
    for option, keyword, expected in (
        ("uids", "SOPInstanceUID", "keep"), ("device", "StationName", "keep"), ("modified", "StudyDate", "clean"),
        ("institution", "InstitutionName", "keep"), ("patient", "PatientSize", "keep"),
        ("descriptors", "StudyDescription", "clean"), ("structured", "ContentSequence", "clean"),
    ):  # fmt: skip
        assert code(keyword, CT, Profile(frozenset([option]))) == expected
        assert code(keyword) != expected
    assert code("Occupation", CT, profile()) == "remove"


def test_every_name_in_our_lists_is_an_attribute() -> None:
    keywords = {entry[4] for entry in DicomDictionary.values()}
    ours = lists()
    named = ours.hash.keys() | ours.known.keys() | ours.names.keys() | profile().site.keys()
    assert named | ours.classes | ours.binary | ours.technical <= keywords
    assert ours.devices <= ours.technical
    assert len(rows()) > 640
    assert safe_private()[0x0019, 0x0C, "SIEMENS MR HEADER"] == "IS"


def test_only_known_words_and_short_settings_are_technical() -> None:
    for value in ("Thorax 1.0 B31f", "AX T2 FLAIR", "R CC", "HEAD_8CH", "CORONAL MPR 3X3"):
        assert is_technical("SeriesDescription", value)
    for value in ("Thorax Whitfield", "MRN 00412873", "CT CHEST LI", "10/12/1958 Roe"):
        assert not is_technical("SeriesDescription", value)
    assert is_technical("Manufacturer", "Philips")
    assert not is_technical("SeriesDescription", "Philips")
    assert not is_technical("ImageComments", "CT CHEST")


def test_the_stretch_of_known_words_is_found_only_if_all_others_are_settings() -> None:
    assert stretch_of("StudyDescription", "CT CHEST ROE^JANE 2", {"roe", "jane"}) == (9, 17)
    assert stretch_of("StudyDescription", "CT CHEST ROE Whitfield", {"roe"}) is None
    assert stretch_of("ImageComments", "CT CHEST ROE", {"roe"}) is None


def test_a_code_keeps_its_meaning_only_if_the_standard_has_it() -> None:
    assert is_standard_meaning("SCT", "816094009", "Chest")
    assert not is_standard_meaning("SCT", "816094009", "Emily Carter")
    assert not is_standard_meaning("99LOCAL", "816094009", "Chest")
