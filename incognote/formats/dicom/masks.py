"""Parts of frames that are covered whatever is there: banners of machines, from packs of masks."""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from incognote.errors import SettingError
from incognote.formats.dicom.stream import DicomFile, SequenceItem
from incognote.pages.nouns import Box

VARIABLE = "INCOGNOTE_DICOM_MASKS"
"""The environment variable that names a file of masks (TOML), or a folder of them."""
_REGIONS = 0x00186011
_EDGES = (0x00186018, 0x0018601A, 0x0018601C, 0x0018601E)  # left, top, right, bottom; the last two are inclusive
_NAMED = {"modality": 0x00080060, "manufacturer": 0x00080070, "model": 0x00081090, "software": 0x00181020}
_SOP_CLASS = 0x00080016
_ULTRASOUND = re.compile(r"1\.2\.840\.10008\.5\.1\.4\.1\.1\.(?:3\.1|6\.1)")


def masks_of(file: DicomFile, size: tuple[int, int]) -> list[Box]:
    """Return the parts of all frames to cover: those of masks that fit the instance.

    Args:
        size: width and height of a frame.

    Raises:
        SettingError: a file of masks is missing or wrong.
    """
    found: list[Box] = []
    for mask in _masks(os.environ.get(VARIABLE)):
        if _fits(mask, file, size):
            found += [_within(box, size) for box in mask.get("cover", ())]
            if mask.get("outside_regions"):
                found += outside(regions(file), size)
    return [box for box in found if box[0] < box[2] and box[1] < box[3]]


def masks_version() -> str:
    """Return a content hash of the masks of this package and of a hospital's own files.

    Raises:
        SettingError: a file of masks is missing or wrong.
    """
    return hashlib.sha256(repr(_masks(os.environ.get(VARIABLE))).encode()).hexdigest()[:16]


def regions(file: DicomFile) -> list[Box]:
    """Return the calibrated regions of an ultrasound picture (PS3.3 section C.8.5.5)."""
    sequence = file.root.elements.get(_REGIONS)
    found = []
    for item in (sequence.items or ()) if sequence else ():
        edges = [_number(file, item, tag) for tag in _EDGES]
        left, top, right, bottom = (edge if edge is not None else -1 for edge in edges)
        if 0 <= left <= right and 0 <= top <= bottom:
            found.append((left, top, right + 1, bottom + 1))
    return found


def outside(kept: Sequence[Box], size: tuple[int, int]) -> list[Box]:
    """Return boxes that cover everything outside of some boxes; none if there are no boxes to keep."""
    wide, high = size
    if not kept:
        return []
    edges = sorted({0, high, *(min(each, high) for box in kept for each in (box[1], box[3]))})
    found: list[Box] = []
    for top, bottom in pairwise(edges):
        at = 0
        for left, _, right, _ in sorted(box for box in kept if box[1] < bottom and top < box[3]):
            if at < left:
                found.append((at, top, min(left, wide), bottom))
            at = max(at, right)
        if at < wide:
            found.append((at, top, wide, bottom))
    return found


def _fits(mask: Mapping[str, Any], file: DicomFile, size: tuple[int, int]) -> bool:
    for name, tag in _NAMED.items():
        if name in mask and re.search(str(mask[name]), file.words(tag), re.IGNORECASE) is None:
            return False
    if mask.get("outside_regions") and _ULTRASOUND.match(file.words(_SOP_CLASS)) is None:
        return False
    return size == (mask.get("columns", size[0]), mask.get("rows", size[1]))


def _within(box: Sequence[int], size: tuple[int, int]) -> Box:
    """Return a box of a mask on a frame. Negative sides count from the right or the bottom, and 0 there is the end."""
    left, top, right, bottom = box
    wide, high = size
    left, top = left % (wide + 1) if left < 0 else left, top % (high + 1) if top < 0 else top
    right, bottom = right + wide if right <= 0 else right, bottom + high if bottom <= 0 else bottom
    return max(0, left), max(0, top), min(wide, right), min(high, bottom)


def _number(file: DicomFile, item: SequenceItem, tag: int) -> int | None:
    element = item.elements.get(tag)
    if element is None or element.items is not None:
        return None
    return file.syntax.number(file.body[slice(*element.value)])


@lru_cache(maxsize=8)
def _masks(place: str | None) -> tuple[Mapping[str, Any], ...]:
    """Return the masks of this package and of a hospital's own files.

    Raises:
        SettingError: a file is missing or wrong.
    """
    own = Path(place).expanduser() if place else None
    paths = [Path(__file__).with_name("masks.toml")]
    if own is not None:
        if not own.exists():
            raise SettingError(f"{VARIABLE} names a file that does not exist. Correct it")
        files = sorted(own.glob("*.toml")) if own.is_dir() else [own]
        if not files:
            raise SettingError(f"{VARIABLE} names a folder without a TOML file. Correct it")
        paths += files
    found: list[Mapping[str, Any]] = []
    for path in paths:
        try:
            read = tomllib.loads(path.read_text(encoding="utf-8"))
            if read.keys() - {"mask"}:
                raise ValueError
            for mask in read.get("mask", []):
                _check(mask)
                found.append(mask)
        except (OSError, ValueError, TypeError, AttributeError, KeyError, re.error) as error:
            raise SettingError(f"{path.name}: not a file of masks ({type(error).__name__}). Correct it") from None
    return tuple(found)


def _check(mask: Mapping[str, Any]) -> None:
    """Raise a ValueError or TypeError for a mask with an unknown or wrong entry."""
    if mask.keys() - {*_NAMED, "name", "rows", "columns", "cover", "outside_regions"}:
        raise ValueError
    for name in _NAMED:
        re.compile(mask.get(name, ""))
    for box in mask.get("cover", ()):
        if len(box) != 4 or not all(isinstance(side, int) for side in box):
            raise ValueError
    if not mask.get("cover") and mask.get("outside_regions") is not True:
        raise ValueError
