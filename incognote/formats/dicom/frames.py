"""The pixels of an instance, frame by frame (PS3.5 section 8, PS3.3 section C.7.6.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incognote.errors import MalformedRecord, UnsupportedFormat
from incognote.formats.dicom.codestreams import coded_frame
from incognote.formats.dicom.stream import PIXELS, DataElement, DicomFile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Frame = NDArray[Any]
    """Values of shape (rows, columns), or (rows, columns, samples)."""

MOST_PIXELS = 89_000_000  # of a frame
MOST_FRAMES = 1_000_000
_FLOATS = {0x7FE00008: "f4", 0x7FE00009: "f8"}
_OFFSETS = (0x7FE00001, 0x7FE00002)
_BIG = "1.2.840.10008.1.2.2"
_HALVED = "YBR_FULL_422"
_GRAY, _PALETTE = ("MONOCHROME1", "MONOCHROME2"), "PALETTE COLOR"
_COLORS = ("RGB", "YBR_FULL", _HALVED, "YBR_RCT", "YBR_ICT", "YBR_PARTIAL_420")


@dataclass(frozen=True, slots=True)
class PixelKind:
    """How pixels are stored.

    Args:
        syntax: the unique identifier of the transfer syntax.
        bits: allocated for a value. stored: of them, those that count.
        photometric: as the header says, such as `MONOCHROME2`.
        by_plane: whether each color has a plane of its own.
        type: of values that are not compressed, for numpy.
    """

    syntax: str
    rows: int
    columns: int
    frames: int
    samples: int
    bits: int
    stored: int
    signed: bool
    photometric: str
    by_plane: bool
    type: str
    compressed: bool

    @property
    def is_halved(self) -> bool:
        """Whether two pixels share their colors."""
        return self.photometric == _HALVED and not self.compressed

    @property
    def size(self) -> int:
        """The bytes of a frame that is not compressed; 0 for pixels of one bit."""
        if self.bits == 1:
            return 0
        return self.rows * self.columns * (2 if self.is_halved else self.samples) * self.bits // 8


class PixelFrames:
    """The frames of an instance.

    Attributes:
        kind: how they are stored. element: that has them.

    Raises:
        MalformedRecord: the header and the pixels do not agree, or they are too large.
        UnsupportedFormat: they are stored in an unusual way.
    """

    def __init__(self, file: DicomFile, element: DataElement) -> None:
        self._file, self.element = file, element
        self.kind = _kind(file, element)
        kind, size = self.kind, element.value[1] - element.value[0]
        if not kind.compressed:
            wanted = kind.size * kind.frames or -(-kind.rows * kind.columns * kind.frames // 8)
            spare = wanted + (1 if self.in_pairs else 0)
            if size < wanted or file.body[element.value[0] + spare : element.value[1]].strip(b"\0"):
                raise MalformedRecord("the pixels are not as many as the header says", field="PixelData")

    def __iter__(self) -> Iterator[Frame]:
        """Yield the frames as they are stored, or decoded if they are compressed. They are read-only."""
        if self.kind.compressed:
            for frame in self.coded():
                yield self._decoded(frame)
        else:
            yield from map(self._stored, range(self.kind.frames))

    @property
    def in_pairs(self) -> bool:
        """Whether bytes are swapped in pairs: words of a big endian syntax."""
        return self.kind.syntax == _BIG and self.kind.bits == 8 and self.element.vr == "OW"

    def value(self) -> bytes:
        """Return the value of the pixel data."""
        return self._file.body[slice(*self.element.value)]

    def coded(self) -> Iterator[bytes]:
        """Yield the compressed frames.

        Raises:
            MalformedRecord: there are more or fewer than the header says, or one has another size.
        """
        from pydicom.encaps import generate_frames

        kind, count = self.kind, 0
        root = self._file.root.elements
        tables = [root[tag] for tag in _OFFSETS if tag in root]
        offsets = tuple(self._file.body[slice(*table.value)] for table in tables) if len(tables) == 2 else None
        value = self.value()
        frames = generate_frames(value, number_of_frames=kind.frames, extended_offsets=offsets)  # type: ignore[arg-type]  # a pair
        while True:
            try:
                frame = next(frames, None)
            except Exception:  # the offsets may be anything
                raise MalformedRecord("the frames are not where the offsets say", field="PixelData") from None
            if frame is None:
                break
            count += 1
            if count <= kind.frames:
                yield frame
        if count != kind.frames:
            raise MalformedRecord("the frames are not as many as the header says", field="PixelData")

    def is_bare(self) -> bool:
        """Whether compressed frames have no comments and no bytes after their end, and no fragment is outside them."""
        bare = [coded_frame(frame, self.kind.rows, self.kind.columns).is_bare for frame in self.coded()]
        return all(bare)

    def _stored(self, number: int) -> Frame:
        import numpy

        kind, start = self.kind, self.element.value[0]
        shape: tuple[int, ...] = (kind.rows, kind.columns)
        if kind.bits == 1:
            pixels = kind.rows * kind.columns
            first, last = number * pixels, (number + 1) * pixels
            packed = numpy.frombuffer(self._file.body, numpy.uint8, -(-last // 8) - first // 8, start + first // 8)
            flat = numpy.unpackbits(packed, bitorder="little")[first % 8 : first % 8 + pixels]
            return flat.reshape(shape)
        values = numpy.frombuffer(
            self._file.body, kind.type, kind.size * 8 // kind.bits, start + number * kind.size
        )
        if self.in_pairs:
            values = _swapped(self._file.body, start, number * kind.size, kind.size)
        if kind.is_halved:
            return _whole(values, kind)
        if kind.samples > 1:
            return (
                numpy.moveaxis(values.reshape(kind.samples, *shape), 0, 2)
                if kind.by_plane else values.reshape(*shape, kind.samples)
            )  # fmt: skip
        return values.reshape(shape)

    def _decoded(self, frame: bytes) -> Frame:
        from incognote.formats.dicom.decoding import decoded

        kind = self.kind
        header = coded_frame(frame, kind.rows, kind.columns)
        if (header.rows, header.columns) != (kind.rows, kind.columns) or header.samples not in (None, kind.samples):
            raise MalformedRecord("a compressed frame has another size than the header says", field="PixelData")
        about: dict[str, Any] = {
            "rows": kind.rows, "columns": kind.columns, "samples_per_pixel": kind.samples, "number_of_frames": 1,
            "bits_allocated": kind.bits, "bits_stored": kind.stored, "pixel_representation": int(kind.signed),
            "photometric_interpretation": kind.photometric, "pixel_keyword": "PixelData",
        }  # fmt: skip
        if kind.samples > 1:
            about["planar_configuration"] = int(kind.by_plane)
        found = decoded(kind.syntax, about, frame)
        shape = (kind.rows, kind.columns) if kind.samples == 1 else (kind.rows, kind.columns, kind.samples)
        if found.shape != shape or found.dtype.itemsize * 8 != kind.bits:
            raise MalformedRecord("a compressed frame has other pixels than the header says", field="PixelData")
        return found


def pixels_of(file: DicomFile) -> PixelFrames | None:
    """Return the frames of an instance, or None if it has no pixels.

    Raises:
        MalformedRecord, UnsupportedFormat: as in `PixelFrames`.
    """
    found = [file.root.elements[tag] for tag in sorted(PIXELS) if tag in file.root.elements]
    if len(found) > 1:
        raise MalformedRecord("pixels of two kinds", field="PixelData")
    return PixelFrames(file, found[0]) if found and found[0].value[0] < found[0].value[1] else None


def _kind(file: DicomFile, element: DataElement) -> PixelKind:
    def number(tag: int, usual: int | None = None) -> int:
        found = file.root.elements.get(tag)
        value = file.body[slice(*found.value)] if found and found.items is None else b""
        if len(value) != 2 and (value or usual is None):
            raise MalformedRecord("a value that pixels need is missing or wrong", field=_NAMES[tag])
        return file.syntax.number(value) if value else int(usual or 0)

    syntax, many = file.words(0x00020010), file.words(0x00280008)
    if not many.isascii() or not (many.isdigit() or not many) or len(many) > 12:
        raise MalformedRecord("a value that pixels need is missing or wrong", field="NumberOfFrames")
    frames = int(many or 1)
    rows, columns, samples = number(0x00280010), number(0x00280011), number(0x00280002, 1)
    if not rows * columns or rows * columns > MOST_PIXELS or not 0 < frames <= MOST_FRAMES:
        raise MalformedRecord("no pixels, or more than fit into memory", field="PixelData")
    is_float = element.tag in _FLOATS
    bits = number(0x00280100, 32 if is_float else None)
    stored, signed = number(0x00280101, bits), number(0x00280103, 0) == 1
    photometric = file.words(0x00280004) or "MONOCHROME2"
    known = _GRAY if samples == 1 else _COLORS
    if photometric not in known and (samples, photometric) != (1, _PALETTE):
        raise UnsupportedFormat("pixels of an unusual photometric interpretation", field="PhotometricInterpretation")
    if samples not in (1, 3) or bits not in (1, 8, 16, 32, 64) or not 0 < stored <= bits or (bits == 1 and samples > 1):
        raise UnsupportedFormat("pixels with an unusual number of samples or bits", field="BitsAllocated")
    halved = photometric in (_HALVED, "YBR_PARTIAL_420") and not element.undefined
    if halved and (photometric != _HALVED or columns % 2 or bits != 8):
        raise UnsupportedFormat("pixels of an unusual photometric interpretation", field="PhotometricInterpretation")
    order = ">" if syntax == _BIG else "<"
    kind = _FLOATS.get(element.tag, f"{'i' if signed else 'u'}{max(1, bits // 8)}")
    if is_float and (element.undefined or bits != int(kind[1]) * 8):
        raise UnsupportedFormat("pixels with an unusual number of samples or bits", field="BitsAllocated")
    return PixelKind(
        syntax, rows, columns, frames, samples, bits, stored, signed, photometric,
        samples > 1 and number(0x00280006, 0) == 1, order + kind, element.undefined,
    )  # fmt: skip


_NAMES = {
    0x00280010: "Rows", 0x00280011: "Columns", 0x00280002: "SamplesPerPixel", 0x00280100: "BitsAllocated",
    0x00280101: "BitsStored", 0x00280103: "PixelRepresentation", 0x00280006: "PlanarConfiguration",
}  # fmt: skip


def _swapped(body: bytes, start: int, offset: int, size: int) -> Frame:
    """Return bytes of a big endian syntax that are stored in pairs."""
    import numpy

    first = offset // 2 * 2
    count = min(-(-(offset + size - first) // 2) * 2, len(body) - start - first)
    pairs = numpy.frombuffer(body, numpy.uint8, count, start + first).reshape(-1, 2)[:, ::-1].reshape(-1)
    return pairs[offset - first : offset - first + size]


def _whole(values: Frame, kind: PixelKind) -> Frame:
    """Return pixels whose colors are stored for two at a time (PS3.3 section C.7.6.3.1.2), for all."""
    import numpy

    pairs = values.reshape(kind.rows, kind.columns // 2, 4)
    found = numpy.empty((kind.rows, kind.columns, 3), values.dtype)
    found[:, 0::2, 0], found[:, 1::2, 0] = pairs[..., 0], pairs[..., 1]
    for color in (1, 2):
        found[..., color] = numpy.repeat(pairs[..., color + 1], 2, axis=1)
    return found
