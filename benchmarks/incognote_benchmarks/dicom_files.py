"""Files of synthetic DICOM instances: their pixels, encapsulated PDFs, and transfer syntaxes."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from pydicom import Dataset, dcmwrite
from pydicom.dataelem import DataElement
from pydicom.dataset import FileMetaDataset
from pydicom.encaps import encapsulate
from pydicom.pixels.encoders import RLELosslessEncoder  # type: ignore[attr-defined]  # pydicom does not export it
from pydicom.pixels.encoders.base import Encoder
from pydicom.uid import UID, RLELossless

ROWS, COLUMNS = 6, 6
"""The size of the pixels, too small for letters."""
IMPLEMENTATION = UID("1.2.826.0.1.3680043.10.9999.1")


def with_pixels(made: Dataset, frames: int, samples: int, bits: int, seed: int) -> None:
    """Add noise as pixels."""
    values = np.random.default_rng(seed).integers(0, 200, (frames, ROWS, COLUMNS, samples))
    made.SamplesPerPixel, made.PhotometricInterpretation = samples, "RGB" if samples == 3 else "MONOCHROME2"
    made.Rows, made.Columns, made.BitsAllocated, made.BitsStored, made.HighBit = ROWS, COLUMNS, bits, bits, bits - 1
    made.PixelRepresentation, made.BurnedInAnnotation = 0, "NO"
    if samples == 3:
        made.PlanarConfiguration = 0
    if frames > 1:
        made.NumberOfFrames, made.FrameIncrementPointer, made.FrameTime = frames, 0x00181063, "33.3"
    data = values.astype(np.uint8 if bits == 8 else np.uint16).tobytes()
    made.add(DataElement(0x7FE00010, "OB" if bits == 8 else "OW", data))


def pdf(*lines: str) -> bytes:
    """Return a PDF of one page with these lines."""
    from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]  # the library has no types

    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(400, 300), invariant=1)
    for at, line in enumerate(lines):
        canvas.drawString(40, 250 - 20 * at, line)
    canvas.save()
    return out.getvalue()


def filed(made: Dataset, syntax: UID) -> bytes:
    """Return the file of an instance in a transfer syntax, with a station's name in its file meta information."""
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID = made.SOPClassUID, made.SOPInstanceUID
    meta.TransferSyntaxUID, meta.ImplementationClassUID = syntax, IMPLEMENTATION
    meta.SourceApplicationEntityTitle = "MILLBROOKCT"
    if syntax == RLELossless:
        made.PixelData = encapsulate(_rle(made))
        made["PixelData"].VR, made["PixelData"].is_undefined_length = "OB", True
        if made.SamplesPerPixel == 3:
            made.PlanarConfiguration = 1
    made.file_meta, made.preamble = meta, b"Millbrook scanner".ljust(128, b"\0")
    out = io.BytesIO()
    dcmwrite(out, made, enforce_file_format=True)
    return out.getvalue()


def _rle(made: Dataset) -> list[bytes]:
    """Return the frames of the pixels in the syntax RLE Lossless."""
    encoder: Encoder = RLELosslessEncoder
    size = ROWS * COLUMNS * made.SamplesPerPixel * made.BitsAllocated // 8
    described: dict[str, Any] = {
        "rows": ROWS, "columns": COLUMNS, "samples_per_pixel": made.SamplesPerPixel,
        "bits_allocated": made.BitsAllocated, "bits_stored": made.BitsStored, "pixel_representation": 0,
        "number_of_frames": 1, "planar_configuration": 0, "photometric_interpretation": made.PhotometricInterpretation,
        "transfer_syntax_uid": RLELossless,
    }  # fmt: skip
    whole = made.PixelData
    frames = (whole[at : at + size] for at in range(0, len(whole), size))
    return [encoder.encode(frame, encoding_plugin="pydicom", **described) for frame in frames]
