"""New pixels of an instance, and the attributes that describe them (PS3.3 section C.7.6.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from incognote.errors import MalformedRecord
from incognote.formats import encoding
from incognote.formats.dicom.frames import PixelFrames, PixelKind
from incognote.formats.dicom.pixels import FIELD, PixelText
from incognote.formats.dicom.stream import EXPLICIT, DataElement, DicomFile
from incognote.formats.dicom.values import padded
from incognote.pages.nouns import Box

if TYPE_CHECKING:
    from incognote.formats.dicom.frames import Frame

_META_SYNTAX, _PHOTOMETRIC, _PLANAR, _BURNED_IN = 0x00020010, 0x00280004, 0x00280006, 0x00280301
_STALE = (0x7FE00001, 0x7FE00002, 0x00280106, 0x00280107, 0x00280108, 0x00280109, 0x00280110, 0x00280111)
"""Offsets of compressed frames, and the least and greatest values."""


@dataclass(frozen=True, slots=True)
class NewPixels:
    """What changes in a data set, as for `write.written`.

    Args:
        values: the new value of elements. vrs: their value representation. added: elements that are written anew.
    """

    values: dict[DataElement, bytes | None] = field(repr=False)
    vrs: dict[DataElement, str] = field(default_factory=dict)
    added: dict[int, tuple[str, bytes]] = field(default_factory=dict)


def new_pixels(file: DicomFile, pixels: PixelText, covers: Sequence[Box]) -> NewPixels:
    """Return what changes if parts of all frames are covered. Compressed pixels are written without compression.

    Raises:
        MalformedRecord, UnsupportedFormat: the pixels cannot be decoded, or are too large without compression.
    """
    frames = pixels.frames
    if frames is None:
        return NewPixels({})
    added: dict[int, tuple[str, bytes]] = {_BURNED_IN: ("CS", b"NO")}
    if not pixels.must_be_written(covers):
        return NewPixels({}, added=added)
    kind, root = frames.kind, file.root.elements
    if kind.rows * kind.columns * kind.samples * kind.frames * kind.bits // 8 > encoding.MAX_BYTES:
        raise MalformedRecord("pixels that are too large without compression. Split the instance", field=FIELD)
    data = _data(frames, [_stored(frame, kind) for frame in pixels.covered(covers)])
    values: dict[DataElement, bytes | None] = {root[tag]: None for tag in _STALE if tag in root}
    values[frames.element] = data
    vrs = {frames.element: "OB" if kind.bits <= 8 else "OW"} if kind.compressed else {}
    if kind.compressed and file.meta is not None:
        values[file.meta.elements[_META_SYNTAX]] = padded(EXPLICIT.encode(), "UI")
    if kind.samples == 3:
        if kind.compressed or kind.is_halved:
            photometric = "RGB" if kind.compressed else "YBR_FULL"
            added[_PHOTOMETRIC] = ("CS", padded(photometric.encode(), "CS"))
        if kind.compressed:
            added[_PLANAR] = ("US", file.syntax.bytes_of(0, 2))
    return NewPixels(values, vrs, added)


def _stored(frame: Frame, kind: PixelKind) -> Frame:
    """Return a frame in the type and order of its file."""
    import numpy

    made = frame.astype(frame.dtype.newbyteorder("<") if kind.compressed else kind.type, copy=False)
    return numpy.moveaxis(made, 2, 0) if kind.samples == 3 and kind.by_plane and not kind.compressed else made


def _data(frames: PixelFrames, made: Sequence[Frame]) -> bytes:
    """Return the value of pixel data.

    Args:
        frames: of the original. made: in the type and order of its file.
    """
    import numpy

    if frames.kind.bits == 1:
        flat = numpy.concatenate([each.ravel() for each in made])
        return padded(numpy.packbits(flat, bitorder="little").tobytes(), "OB")
    data = padded(b"".join(each.tobytes() for each in made), "OB")
    if frames.in_pairs:
        return numpy.frombuffer(data, numpy.uint8).reshape(-1, 2)[:, ::-1].tobytes()
    return data


def verify(original: PixelText, covers: Sequence[Box], made: PixelFrames | None) -> None:
    """Check the pixels of an output: those of the original, with parts covered.

    Args:
        made: those of the output.

    Raises:
        MalformedRecord: they are not.
    """
    import numpy

    frames = original.frames
    if frames is None:
        return
    changed = original.must_be_written(covers)
    if made is None or (not changed and made.value() != frames.value()):
        raise MalformedRecord("the output has other pixels", field=FIELD)
    if not changed:
        return
    if made.kind.frames != frames.kind.frames:
        raise MalformedRecord("the output has other frames", field=FIELD)
    for wanted, found in zip(original.covered(covers), made, strict=True):
        if not numpy.array_equal(wanted, found):
            raise MalformedRecord("the output has other pixels", field=FIELD)
