"""The label set against the catalogue."""

from __future__ import annotations

import numpy as np
import pytest

from incognote.detectors.encoder.labels import allowed, behind_title, class_of, classes, is_none, tags, type_of
from incognote.errors import UnknownName
from incognote.schemas.catalogue import catalogue


def test_every_type_of_the_catalogue_has_a_class_or_is_not_annotated() -> None:
    without = {name for name in catalogue() if class_of(name) is None}
    assert without == {"RACE", "ETHNICITY", "MARITAL_STATUS", "PARENTHOOD"}


def test_a_class_is_its_own_type_and_of_the_catalogue() -> None:
    assert all(class_of(name) == name and name in catalogue() for name in classes())


@pytest.mark.parametrize(
    ("type_", "class_"),
    [
        ("DATE_TIME", "DATE"), ("DEATH_DATE_TIME", "DATE"), ("STREET", "ADDRESS"), ("PHARMACY", "ORGANIZATION"),
        ("FAX_NUMBER", "TELEPHONE_NUMBER"), ("SSN_OR_TAXPAYER", "GUID"), ("CREDIT_DEBIT_NUMBER", "ACCOUNT_NUMBER"),
        ("DRIVER_ID_US", "LICENSE_NUMBER"), ("USERNAME", "EMAIL"),
    ],
)  # fmt: skip
def test_a_finer_type_goes_to_the_class_above_it(type_: str, class_: str) -> None:
    assert class_of(type_) == class_


def test_every_class_but_the_electronic_one_keeps_its_name() -> None:
    assert all(type_of(name, "x") == name for name in classes() if name != "EMAIL")


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(UnknownName):
        class_of("SHOE_SIZE")


def test_an_inside_follows_its_own_begin_or_inside_only() -> None:
    names = tags(("A", "B"))
    legal = allowed(2)
    for i, one in enumerate(names):
        for j, other in enumerate(names):
            assert legal[i, j] == (other[0] != "I" or one[2:] == other[2:])
    assert legal.dtype == np.bool_


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("Mdm Rokiah", "Mdm "), ("Dr. Hale", "Dr. "), ("Dr.Hale", "Dr."), ("Rev. Dr. Hale", "Rev. Dr. "),
        ("Drake Hale", ""), ("Sri Wahyuni", ""), ("overlæge", ""), ("Herr", ""), ("Missy", ""),
    ],
)  # fmt: skip
def test_a_name_begins_behind_its_titles(words: str, title: str) -> None:
    assert behind_title("CLINICIAN", f"by {words}", 3, 3 + len(words)) == 3 + len(title)
    assert behind_title("HOSPITAL", words, 0, len(words)) == 0


@pytest.mark.parametrize(
    ("class_", "words", "none"),
    [
        ("AGE", "-year-old", True), ("AGE", "66-year-old", False), ("AGE", "nineteen", False),
        ("DATE", "SPEAKER_01", True), ("DATE", "3 March", False),
    ],
)  # fmt: skip
def test_what_is_none_of_a_class_by_its_words(class_: str, words: str, none: bool) -> None:
    assert is_none(class_, words) is none
