"""Volumes that may show a face are held if the hospital asks for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from incognote.errors import UnsupportedFormat
from incognote.formats.dicom.faces import require_no_face
from incognote.formats.dicom.profile import FACES, profile
from incognote.formats.dicom.stream import read_file
from tests.formats.samples.dicom import CT, instance

ASKED = replace(profile(), options=profile().options | {FACES})


@pytest.mark.parametrize("part", ["HEAD", "BRAIN", "HEADNECK", "", "WHOLEBODY", "CHEST NECK"])
def test_a_head_or_an_unknown_part_is_held(part: str) -> None:
    file = read_file(instance(CT, BodyPartExamined=part), 2**20)
    with pytest.raises(UnsupportedFormat, match="face"):
        require_no_face(file, ASKED)
    require_no_face(file, profile())


def test_other_parts_and_other_modalities_pass() -> None:
    require_no_face(read_file(instance(CT, BodyPartExamined="CHEST"), 2**20), ASKED)
    require_no_face(read_file(instance(Modality="US", BodyPartExamined="HEAD"), 2**20), ASKED)
