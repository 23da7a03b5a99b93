"""Hold instances from which a face can be rendered, if the hospital asks for it."""

from __future__ import annotations

import re

from incognote.errors import UnsupportedFormat
from incognote.formats.dicom.profile import FACES, Profile
from incognote.formats.dicom.stream import DicomFile

_MODALITY, _PART = 0x00080060, 0x00180015
_VOLUMES = frozenset(("CT", "MR", "PT", "NM"))
_ELSEWHERE = re.compile(
    r"CHEST|THORAX|LUNG|HEART|CARDIAC|ABDOMEN|PELVIS|LIVER|KIDNEY|PROSTATE|BREAST|[TL]SPINE|LSSPINE|SACRUM|HIP|KNEE|ANKLE|"
    r"FOOT|LEG|THIGH|FEMUR|TIBIA|SHOULDER|ELBOW|ARM|WRIST|HAND|EXTREMITY|AORTA|COLON|BLADDER|UTERUS"
)
_WHOLE = re.compile(r"HEAD|NECK|WHOLE|BODY")


def require_no_face(file: DicomFile, rules: Profile) -> None:
    """Check that no face can be rendered, if the option for recognizable visual features is on.

    Raises:
        UnsupportedFormat: the instance is of a volume (CT, MR, PT, NM) of the head, or of a part that is not stated.
    """
    if FACES not in rules.options or file.words(_MODALITY) not in _VOLUMES:
        return
    part = file.words(_PART).upper()
    if not _ELSEWHERE.search(part) or _WHOLE.search(part):
        remedy = "a volume that may show a face. Remove the face first, or state the body part"
        raise UnsupportedFormat(remedy, field="BodyPartExamined")
