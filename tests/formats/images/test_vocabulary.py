"""The labels of pages: what the values beside them are, and which of them must have the form of their type."""

from __future__ import annotations

import pytest

from incognote.formats.images.vocabulary import _labels, label_of
from incognote.formats.xlsx.vocabulary import is_label
from incognote.schemas.catalogue import catalogue


@pytest.mark.parametrize(("label", "kind", "certain"), [
    ("Insured's Name:", "PATIENT", True), ("Emergency Contact Name", "RELATIVE", True),
    ("Electronically signed by", "CLINICIAN", True), ("Kürzel", "USERNAME", True), ("Operator ID", "USERNAME", True),
    ("RxBIN", "HEALTH_PLAN_ID", True),
    ("UHID No.", "MEDICAL_RECORD_NUMBER", True), ("Invoice #", "FIN", True), ("S/N", "DEVICE_ID", True),
    ("Collected on", "DATE", False), ("Ward / Bed", "LOCATION", False), ("State/Province", "STATE", False),
    ("اسم المريضة", "PATIENT", True), ("Édité le", "DATE", False),
])  # fmt: skip
def test_a_label_says_what_its_values_are(label: str, kind: str, certain: bool) -> None:
    found = label_of(label)
    assert found is not None
    assert (found.type, found.certain) == (kind, certain)


@pytest.mark.parametrize("words", ["Hemoglobin", "Impression", "[PATIENT_1]", "Name of the drug that was given " * 3])
def test_other_words_are_no_labels(words: str) -> None:
    assert label_of(words) is None


def test_every_type_of_the_list_is_in_the_catalog_and_every_label_can_be_found() -> None:
    assert len(_labels()) > 300
    assert {label.type for label in _labels().values()} <= set(catalogue())
    assert [label for label in _labels() if label_of(label) is None] == []


def test_a_label_of_the_list_is_not_displaced_by_a_guess() -> None:
    displaced = {label for label, one in _labels().items() if label_of(label) != one}
    assert all(is_label(label) for label in displaced)


@pytest.mark.parametrize(("value", "fits"), [
    ("MN", True), ("TX", True), ("mn", False), ("M1", False), ("Male", False), ("stable", False),
])  # fmt: skip
def test_the_value_of_a_state_is_two_capitals(value: str, fits: bool) -> None:
    label = label_of("State")
    assert label is not None
    assert label.fits(value) is fits
    assert label.takes(value) is fits
