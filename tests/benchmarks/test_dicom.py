"""The score of DICOM actions: what counts as right, and that the studies do not change."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator
from itertools import islice

import pytest
from pydicom import Dataset, dcmread

from incognote_benchmarks.dicom import Score, element
from incognote_benchmarks.dicom_studies import CLASSES, Action, Instance, instances

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:pydicom")  # wrong values are planted on purpose


@pytest.fixture(scope="module")
def studies() -> list[Instance]:
    return list(instances(1, 1))


def read(data: bytes) -> Dataset:
    return dcmread(io.BytesIO(data))


def _scored(studies: list[Instance]) -> Iterator[tuple[Instance, Dataset]]:
    return ((each, read(each.data)) for each in studies)


def test_the_same_seed_gives_the_same_bytes(studies: list[Instance]) -> None:
    def digests(made: Iterable[Instance]) -> list[str]:
        return [hashlib.sha256(each.data).hexdigest() for each in islice(made, 3)]

    assert digests(studies) == digests(instances(1, 1)) != digests(instances(1, 1, seed=7))
    assert {each.modality for each in studies} == CLASSES.keys()


def test_an_instance_that_nobody_changed_has_only_what_must_stay(studies: list[Instance]) -> None:
    score = Score()
    for instance, before in _scored(studies):
        score.add(instance, before, before)
    for kind in ("tag kept", "text kept", "pixels kept"):
        assert score.right[kind] == score.all[kind] > 0
    for kind in score.all.keys() - {"tag kept", "text kept", "pixels kept"}:
        assert score.right[kind] == 0 < score.all[kind]


def test_an_instance_that_is_held_has_nothing_right_and_is_not_among_the_released(studies: list[Instance]) -> None:
    score = Score()
    for instance, before in _scored(studies[:1]):
        score.add(instance, before, None)
    figures = score.figures()["actions"]
    assert (score.held, figures["all"]["right"], figures["released"]["of"]) == (1, 0, 0)
    assert figures["all"]["of"] == len(studies[0].actions)


def test_a_date_must_move_by_the_offset_of_its_patient_and_a_uid_must_always_become_the_same() -> None:
    score = Score()

    def add(kind: str, keyword: str, old: str, new: str) -> bool:
        before, after = Dataset(), Dataset()
        setattr(before, keyword, old)
        setattr(after, keyword, new)
        action = Action(kind, keyword, old)  # type: ignore[arg-type]  # one of the kinds
        made = Instance("1", "CT", "4711", b"", [action])
        right = score.right[kind]
        score.add(made, before, after)
        return score.right[kind] > right

    assert add("date shifted", "StudyDate", "20240309", "20240316")
    assert add("date shifted", "SeriesDate", "20240310", "20240317")
    assert not add("date shifted", "ContentDate", "20240310", "20240318")
    assert not add("date shifted", "ContentDate", "20240310", "")
    assert add("uid changed", "SOPInstanceUID", "1.2.3", "2.25.5")
    assert add("uid changed", "SOPInstanceUID", "1.2.3", "2.25.5")
    assert not add("uid changed", "SOPInstanceUID", "1.2.3", "2.25.6")


def test_a_path_leads_to_an_element_in_a_sequence_or_in_the_file_meta_information(studies: list[Instance]) -> None:
    made = read(studies[0].data)
    assert element(made, "AnatomicRegionSequence[1].CodeMeaning") is not None
    assert element(made, "AnatomicRegionSequence[2].CodeMeaning") is None
    assert element(made, "meta:SourceApplicationEntityTitle") is not None
    assert element(made, "(0009,1001)") is not None
    assert element(made, "NoSuchKeyword") is None
