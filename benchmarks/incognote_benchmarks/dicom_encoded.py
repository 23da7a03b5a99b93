"""Files of synthetic DICOM instances whose pixels are given: all transfer syntaxes that can be written."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydicom import Dataset, dcmwrite
from pydicom.dataelem import DataElement
from pydicom.dataset import FileMetaDataset
from pydicom.encaps import encapsulate
from pydicom.pixels.encoders import (  # type: ignore[attr-defined]  # pydicom does not export them
    JPEGLSLosslessEncoder,
    RLELosslessEncoder,
)
from pydicom.uid import (
    JPEG2000,
    UID,
    ExplicitVRBigEndian,
    JPEG2000Lossless,
    JPEGBaseline8Bit,
    JPEGLosslessSV1,
    RLELossless,
)

Array = NDArray[Any]


def filed(made: Dataset, frames: Sequence[Array], samples: int, bits: int, syntax: UID) -> bytes:
    """Return the file of an instance with frames in a transfer syntax."""
    made.Rows, made.Columns = frames[0].shape[:2]
    made.SamplesPerPixel, made.BitsAllocated = samples, 8 if bits <= 8 else 16
    made.BitsStored, made.HighBit, made.PixelRepresentation = bits, bits - 1, 0
    if samples == 3:
        made.PhotometricInterpretation, made.PlanarConfiguration = "RGB", 0
    if len(frames) > 1:
        made.NumberOfFrames, made.FrameIncrementPointer, made.FrameTime = len(frames), 0x00181063, "33.3"
    vr, data = "OW" if bits > 8 else "OB", b""
    if not syntax.is_encapsulated:
        data = b"".join(frame.tobytes() for frame in frames)
        if syntax == ExplicitVRBigEndian and bits > 8:
            data = b"".join(frame.byteswap().tobytes() for frame in frames)
    else:
        data, vr = encapsulate([_compressed(made, frame, syntax) for frame in frames]), "OB"
    made.add(DataElement(0x7FE00010, vr, data + b"\0" * (len(data) % 2), is_undefined_length=syntax.is_encapsulated))
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID = made.SOPClassUID, made.SOPInstanceUID
    meta.TransferSyntaxUID, meta.ImplementationClassUID = syntax, UID("1.2.826.0.1.3680043.10.9999.1")
    made.file_meta, made.preamble = meta, bytes(128)
    out = io.BytesIO()
    dcmwrite(out, made, enforce_file_format=True)
    return out.getvalue()


def _compressed(made: Dataset, frame: Array, syntax: UID) -> bytes:
    out = io.BytesIO()
    if syntax in (JPEGBaseline8Bit, JPEG2000, JPEG2000Lossless):
        if syntax == JPEGBaseline8Bit:
            Image.fromarray(frame).save(out, "JPEG", quality=92, subsampling=0)
            made.PhotometricInterpretation, made.LossyImageCompression = "YBR_FULL_422", "01"
        else:
            lossy: dict[str, Any] = {"irreversible": True, "quality_layers": [12]} if syntax == JPEG2000 else {}
            Image.fromarray(frame).save(out, "JPEG2000", no_jp2=True, mct=int(frame.ndim == 3), **lossy)
            if frame.ndim == 3:
                made.PhotometricInterpretation = "YBR_ICT" if lossy else "YBR_RCT"
        data = out.getvalue()
        return data + b"\0" * (len(data) % 2)
    if syntax == JPEGLosslessSV1:
        return _lossless(frame, int(made.BitsStored))
    encoder = RLELosslessEncoder if syntax == RLELossless else JPEGLSLosslessEncoder
    described: dict[str, Any] = {
        "rows": made.Rows, "columns": made.Columns, "samples_per_pixel": made.SamplesPerPixel,
        "bits_allocated": made.BitsAllocated, "bits_stored": made.BitsStored, "pixel_representation": 0,
        "number_of_frames": 1, "photometric_interpretation": "RGB" if frame.ndim == 3 else "MONOCHROME2",
    }  # fmt: skip
    if frame.ndim == 3:
        described["planar_configuration"] = 0
        made.PlanarConfiguration = 1 if syntax == RLELossless else 0
    plugin = "pydicom" if syntax == RLELossless else "pyjpegls"
    coded = bytes(encoder.encode(frame.tobytes(), encoding_plugin=plugin, **described))
    return coded + b"\0" * (len(coded) % 2)


def _lossless(frame: Array, bits: int) -> bytes:
    """Return a gray frame as lossless JPEG with prediction from the left (ISO 10918-1 Annex H, selection value 1)."""
    values = frame.astype(np.int32)
    before = np.empty_like(values)
    before[:, 1:] = values[:, :-1]
    before[1:, 0] = values[:-1, 0]
    before[0, 0] = 1 << (bits - 1)
    apart = values - before
    apart = (apart + 32768) % 65536 - 32768
    sizes = np.zeros(apart.shape, np.int32)
    for each in range(17):
        sizes[np.abs(apart) >= (1 << each)] = each + 1
    high, wide = frame.shape
    head = b"\xff\xd8\xff\xc3" + (11).to_bytes(2) + bytes((bits,)) + high.to_bytes(2) + wide.to_bytes(2) + b"\1\1\x11\0"
    # all 17 categories have codes of 5 bits
    head += b"\xff\xc4" + (2 + 17 + 17).to_bytes(2) + b"\0" + bytes([0, 0, 0, 0, 17, *[0] * 11]) + bytes(range(17))
    head += b"\xff\xda" + (8).to_bytes(2) + b"\1\1\0\1\0\0"
    extra = np.where(apart < 0, apart + (1 << sizes) - 1, apart)
    stream = np.where(sizes == 16, sizes, (sizes << sizes) | extra)
    lengths = 5 + np.where(sizes == 16, 0, sizes)
    pieces = (f"{code:0{length}b}" for code, length in zip(stream.ravel(), lengths.ravel(), strict=True))
    text = "".join(pieces)
    text += "1" * (-len(text) % 8)
    body = int(text, 2).to_bytes(len(text) // 8).replace(b"\xff", b"\xff\0")
    data: bytes = head + body + b"\xff\xd9"
    return data + b"\0" * (len(data) % 2)
