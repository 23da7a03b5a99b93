"""Frames as 8-bit gray pictures in which letters can be read, whatever the values of the pixels are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incognote.errors import MalformedRecord
from incognote.formats.dicom.frames import PixelKind
from incognote.formats.dicom.stream import DicomFile

if TYPE_CHECKING:
    from incognote.formats.dicom.frames import Frame
    from incognote.pages.nouns import Pixels

_CENTER, _WIDTH, _LUT = 0x00281050, 0x00281051, (0x00281201, 0x00281202, 0x00281203)
_DESCRIPTORS = (0x00281101, 0x00281102, 0x00281103)
_SEGMENTED = (0x00281221, 0x00281222, 0x00281223)
_SLOPE, _INTERCEPT = 0x00281053, 0x00281052
_NARROW = 0.7  # the share of all values below which a window shows more
_COLORED = 40  # levels between the colors of a pixel that is not gray
_FEW = 20  # such pixels


class FrameViews:
    """Makes pictures of the frames of an instance.

    Args:
        file: whose header has the windows and palettes.
    """

    def __init__(self, file: DicomFile, kind: PixelKind) -> None:
        self.kind = kind
        self._window = _window(file)
        self._palette = _palette(file, kind) if kind.photometric == "PALETTE COLOR" else None

    def values(self, frame: Frame) -> Frame:
        """Return what a frame shows: colors as 8-bit red, green, and blue, gray as the bits that count."""
        import cv2
        import numpy

        kind = self.kind
        if self._palette is not None:
            return numpy.asarray(self._palette[frame], numpy.uint8)
        if kind.samples == 3:
            found = frame if frame.dtype == numpy.uint8 else (frame >> max(0, kind.stored - 8)).astype(numpy.uint8)
            if kind.photometric.startswith("YBR") and not kind.compressed:
                swapped = numpy.ascontiguousarray(found[..., (0, 2, 1)])
                return numpy.asarray(cv2.cvtColor(swapped, cv2.COLOR_YCrCb2RGB), numpy.uint8)
            return found
        return counted(frame, kind)

    def pictures(self, shown: Frame) -> list[Pixels]:
        """Return gray pictures of what a frame shows. The first one shows most, and others more of some letters."""
        import cv2
        import numpy

        if shown.ndim == 3:
            gray = numpy.asarray(cv2.cvtColor(numpy.ascontiguousarray(shown), cv2.COLOR_RGB2GRAY), numpy.uint8)
            most, least = shown.max(2), shown.min(2)
            colored = int((most.astype(numpy.int16) - least > _COLORED).sum())
            return [gray, most] if colored > _FEW else [gray]
        values = shown.astype(numpy.float64)
        values[~numpy.isfinite(values)] = 0
        low, high = float(values.min()), float(values.max())
        found = [_scaled(values, low, high)]
        narrow = self._window if self._window and self._window[1] > self._window[0] else None
        if narrow is None:
            a, b = numpy.percentile(values, (0.5, 99.5))
            narrow = float(a), float(b)
        first, last = max(low, narrow[0]), min(high, narrow[1])
        if low < high and first < last and last - first < _NARROW * (high - low):
            found.append(_scaled(values, first, last))
        return found

    def black(self, least: float, most: float) -> Any:
        """Return the value of a covered pixel.

        Args:
            least, most: of the values of all frames.
        """
        import numpy

        kind = self.kind
        if self._palette is not None:
            return int(self._palette.sum(1).argmin())
        if kind.samples == 3:
            middle = 1 << (kind.stored - 1)
            return (0, middle, middle) if kind.photometric.startswith("YBR") and not kind.compressed else (0, 0, 0)
        value = most if kind.photometric == "MONOCHROME1" else least
        return value if numpy.dtype(kind.type).kind == "f" else int(value)


def counted(frame: Frame, kind: PixelKind) -> Frame:
    """Return the values of gray pixels without the bits that do not count."""
    import numpy

    if kind.stored == kind.bits or frame.dtype.kind == "f" or kind.bits == 1:
        return frame
    plain = frame.astype(frame.dtype.newbyteorder("="))
    spare = kind.bits - kind.stored
    return numpy.asarray((plain << spare) >> spare, plain.dtype)


def _scaled(values: Any, low: float, high: float) -> Pixels:
    import numpy

    if high <= low:
        return numpy.zeros(values.shape, numpy.uint8)
    return numpy.asarray(numpy.clip((values - low) / (high - low), 0, 1) * 255, numpy.uint8)


def _number(file: DicomFile, tag: int) -> float | None:
    try:
        return float(file.words(tag).split("\\")[0])
    except ValueError:
        return None


def _window(file: DicomFile) -> tuple[float, float] | None:
    """Return the least and greatest stored value that the first window of an image shows, or None."""
    center, width = _number(file, _CENTER), _number(file, _WIDTH)
    slope, intercept = _number(file, _SLOPE) or 1.0, _number(file, _INTERCEPT) or 0.0
    if center is None or not width or width < 2:
        return None
    low, high = sorted(((center - width / 2 - intercept) / slope, (center + width / 2 - intercept) / slope))
    return low, high


def _palette(file: DicomFile, kind: PixelKind) -> Any:
    """Return the 8-bit red, green, and blue for each value of a pixel.

    Raises:
        MalformedRecord: the palette is damaged.
    """
    import numpy
    from pydicom import Dataset
    from pydicom.datadict import keyword_for_tag
    from pydicom.pixels.processing import apply_color_lut

    made = Dataset()
    for tag in (*_DESCRIPTORS, *_LUT, *_SEGMENTED):
        if (element := file.root.elements.get(tag)) is not None:
            value = bytes(file.body[slice(*element.value)])
            numbers = [file.syntax.number(value[at : at + 2]) for at in range(0, len(value), 2)]
            setattr(made, keyword_for_tag(tag), numbers if tag in _DESCRIPTORS else value)
    try:
        if kind.signed or kind.bits > 16:
            raise ValueError
        found = apply_color_lut(numpy.arange(1 << kind.bits, dtype=kind.type[1:]), made)[:, :3]
    except Exception:  # pydicom raises many errors
        raise MalformedRecord("the palette of the pixels is damaged", field="PhotometricInterpretation") from None
    return (found >> 8 if found.dtype.itemsize > 1 and int(found.max()) > 255 else found).astype(numpy.uint8)
