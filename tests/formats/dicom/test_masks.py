"""Masks: packs of a hospital, and the regions of ultrasound pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from incognote import Deidentifier
from incognote.errors import SettingError
from incognote.formats.dicom.masks import VARIABLE, masks_of, outside, regions
from incognote.formats.dicom.stream import DicomFile, read_file
from tests.formats.samples.dicom import item

from . import drawn

SIZE = 320, 200


def _file() -> DicomFile:
    region = item(RegionLocationMinX0=20, RegionLocationMinY0=40, RegionLocationMaxX1=299, RegionLocationMaxY1=179)
    made = drawn.image(np.zeros(drawn.SIZE, np.uint8), Manufacturer="Example Imaging")
    for each in ("X0", "Y0", "X1", "Y1"):
        region[f"RegionLocation{'Min' if each.endswith('0') else 'Max'}{each}"].VR = "UL"
    made.SequenceOfUltrasoundRegions = [region]
    return read_file(drawn.packed(made), 2**24)


def _covered(boxes: list[tuple[int, int, int, int]]) -> np.ndarray:
    mask = np.zeros(drawn.SIZE, bool)
    for left, top, right, bottom in boxes:
        mask[top:bottom, left:right] = True
    return mask


def test_everything_outside_of_the_regions_is_covered() -> None:
    kept = regions(_file())
    assert kept == [(20, 40, 300, 180)]
    mask = _covered(outside(kept, SIZE))
    assert not mask[40:180, 20:300].any()
    assert mask.sum() == 320 * 200 - 280 * 140
    assert outside([], SIZE) == []
    two = [(0, 0, 100, 100), (50, 50, 320, 200)]
    assert not _covered(outside(two, SIZE))[50:100, 0:320].any()


def test_a_mask_applies_to_the_instances_that_it_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack = tmp_path / "masks.toml"
    pack.write_text('[[mask]]\nmanufacturer = "^example"\nrows = 200\ncolumns = 320\n'
                    'cover = [[0, 0, 0, 30], [-50, -20, 0, 0]]\n'
                    '[[mask]]\nmodality = "CT"\ncover = [[0, 0, 0, 0]]\n'
                    '[[mask]]\nmodality = "US"\noutside_regions = true\n')  # fmt: skip
    assert masks_of(_file(), SIZE) == []
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    found = masks_of(_file(), SIZE)
    assert found[:2] == [(0, 0, 320, 30), (271, 181, 320, 200)]
    assert len(found) == 2 + len(outside([(20, 40, 300, 180)], SIZE))
    assert masks_of(_file(), (640, 480)) == outside([(20, 40, 300, 180)], (640, 480))


@pytest.mark.parametrize(
    "text", ["[[mask]]\n", "[[mask]]\ncover = [[1, 2]]\n", '[[mask]]\ncover = [[0,0,1,1]]\nbrand = "x"\n', "mask = 1",
             "[[masks]]\ncover = [[0,0,1,1]]\n",
             "[[", '[[mask]]\nmodel = "("\ncover = [[0,0,1,1]]\n']
)  # fmt: skip
def test_a_wrong_pack_is_refused(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.toml").write_text(text)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "a.toml"))
    with pytest.raises(SettingError, match=r"a\.toml"):
        masks_of(_file(), SIZE)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none"))
    with pytest.raises(SettingError, match="does not exist"):
        masks_of(_file(), SIZE)
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv(VARIABLE, str(tmp_path / "empty"))
    with pytest.raises(SettingError, match="without a TOML file"):
        masks_of(_file(), SIZE)


def test_own_masks_are_read_at_the_start_and_have_a_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def version(text: str, name: str) -> str | None:
        (tmp_path / name).write_text(text)
        monkeypatch.setenv(VARIABLE, str(tmp_path / name))
        return Deidentifier("strict").engine.versions.get("dicom-masks")

    monkeypatch.delenv(VARIABLE, raising=False)
    assert "dicom-masks" not in Deidentifier("strict").engine.versions
    first, same, other = (
        version(f"[[mask]]\n{comment}cover = [[0, 0, {side}, 9]]\n", name)
        for comment, side, name in (("", 8, "a"), ("# banner\n", 8, "b"), ("", 7, "c"))
    )
    assert first == same != other
    with pytest.raises(SettingError, match=r"wrong\.toml"):
        version("mask = 1", "wrong.toml")
