"""Pictures and instances with drawn letters."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from pydicom import Dataset
from pydicom.uid import UID, ExplicitVRLittleEndian

from tests.formats.samples.dicom import dataset, packed

US = UID("1.2.840.10008.5.1.4.1.1.3.1")
SIZE = 200, 320  # rows and columns
NAME, NAME_BOX = "OKONKWO NIA", (15, 17, 113, 28)
SETTING, SETTING_BOX = "Depth 15 cm", (15, 169, 104, 182)


def drawn(*texts: tuple[str, int, int], ground: int = 0, ink: int = 255, noise: float = 0.0) -> NDArray[np.uint8]:
    """Return a gray picture with texts, each with its left and its baseline."""
    found = np.full(SIZE, ground, np.float32)
    for text, left, base in texts:
        mask = np.zeros(SIZE, np.uint8)
        cv2.putText(mask, text, (left, base), cv2.FONT_HERSHEY_SIMPLEX, 0.55, 255, 1, cv2.LINE_AA)
        found += (ink - found) * mask / 255
    return np.asarray(np.clip(found + np.random.default_rng(7).normal(0, noise, SIZE), 0, 255), np.uint8)


def screen(**kinds: Any) -> NDArray[np.uint8]:
    """Return a picture with a name and a setting."""
    return drawn((NAME, 14, 28), (SETTING, 14, 180), **kinds)


def image(*frames: NDArray[Any], **more: Any) -> Dataset:
    """Return the data set of an instance with gray or RGB frames."""
    first = frames[0]
    about: dict[str, Any] = {
        "PatientName": "Okonkwo^Nia", "PatientID": "4711", "Modality": "US", "Rows": first.shape[0],
        "Columns": first.shape[1], "SamplesPerPixel": 3 if first.ndim == 3 else 1, "PixelRepresentation": 0,
        "PhotometricInterpretation": "RGB" if first.ndim == 3 else "MONOCHROME2",
        "BitsAllocated": first.itemsize * 8, "BitsStored": first.itemsize * 8, "HighBit": first.itemsize * 8 - 1,
        "PixelData": b"".join(frame.tobytes() for frame in frames),
    }  # fmt: skip
    if first.ndim == 3:
        about["PlanarConfiguration"] = 0
    if len(frames) > 1:
        about["NumberOfFrames"] = len(frames)
    return dataset(US, **{**about, **more})


def file_of(*frames: NDArray[Any], syntax: str = ExplicitVRLittleEndian, **more: Any) -> bytes:
    """Return the file of an instance with frames."""
    return packed(image(*frames, **more), syntax)
