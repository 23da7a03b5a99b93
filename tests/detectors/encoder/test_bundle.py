"""Weights that are missing or do not fit raise an error that names a remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incognote.detectors.encoder import EncoderDetector
from incognote.detectors.encoder.bundle import (
    FORMAT,
    POINTS,
    Exit,
    allowed,
    behind_title,
    class_of,
    classes,
    is_none,
    load,
    tags,
    type_of,
)
from incognote.errors import SettingError, UnknownName
from incognote.schemas.catalogue import catalogue

N = len(classes())


WAY = Exit(np.where(allowed(N), 0.5, -np.inf), np.ones(N, np.float32), dict.fromkeys(POINTS, 0.0)).as_json()


def told(**changes: Any) -> dict[str, Any]:
    return {
        "format": FORMAT, "classes": classes(), "window": 64, "overlap": 8, "medical": True, "exits": {"full": WAY},
        **changes,
    }  # fmt: skip


def written(folder: Path, content: str) -> Path:
    (folder / "bundle.json").write_text(content)
    for name in ("lower.onnx", "tokenizer.json"):
        (folder / name).write_text("x")
    return folder


def test_a_bundle_is_read_back(tmp_path: Path) -> None:
    bundle = load(written(tmp_path, json.dumps(told())))
    assert (bundle.window, bundle.overlap, bundle.medical, list(bundle.exits)) == (64, 8, True, ["full"])
    transitions = bundle.exits["full"].transitions
    assert np.isfinite(transitions).tolist() == allowed(N).tolist()


def test_windows_leave_early_only_where_the_bundle_says_when_and_has_an_early_exit(tmp_path: Path) -> None:
    both = {"full": WAY, "fast": WAY}
    assert load(written(tmp_path, json.dumps(told(leave=-2.5, exits=both)))).leave == -2.5
    assert load(written(tmp_path, json.dumps(told(exits=both)))).leave is None
    assert load(written(tmp_path, json.dumps(told(leave=-2.5)))).leave is None


def test_no_weights_is_told_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="pip install incognote-en"):
        EncoderDetector(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("content", "remedy"),
    [
        ("{", "malformed"),
        ("[]", "malformed"),
        (json.dumps(told(format=99)), "another format"),
        (json.dumps(told(classes=["DOG"])), "other classes"),
        (json.dumps(told(overlap=64)), "smaller than window"),
        (json.dumps(told(exits={"full": WAY, "fast": WAY}, leave="soon")), "malformed"),
        (json.dumps(told(exits={"full": {"transitions": [[0]], "temperatures": [1], "biases": {}}})), "malformed"),
    ],
)
def test_a_bundle_that_does_not_fit_is_refused(tmp_path: Path, content: str, remedy: str) -> None:
    with pytest.raises(SettingError, match=remedy):
        load(written(tmp_path, content))


def test_a_bundle_without_its_graph_is_refused(tmp_path: Path) -> None:
    written(tmp_path, json.dumps(told()))
    (tmp_path / "lower.onnx").unlink()
    with pytest.raises(SettingError, match=r"lower\.onnx"):
        load(tmp_path)


def test_an_unknown_operating_point_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="recall, balanced, precision"):
        EncoderDetector(written(tmp_path, json.dumps(told())), point="wild")  # type: ignore[arg-type] # on purpose


def test_every_type_of_the_catalogue_has_a_class_or_is_not_annotated() -> None:
    without = {name for name in catalogue() if class_of(name) is None}
    assert without == {"RACE", "ETHNICITY", "MARITAL_STATUS", "PARENTHOOD", "REGION"}


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
