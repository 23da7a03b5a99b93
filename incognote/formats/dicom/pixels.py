"""Whether the pixels of an instance can hold words that somebody must read."""

from __future__ import annotations

from incognote.errors import UnsupportedFormat
from incognote.formats.dicom.stream import PIXELS, DataElement, DicomFile

_ROWS, _COLUMNS = 0x00280010, 0x00280011
_LEAST = 8  # pixels; no letter can be read in fewer


def require_reader(file: DicomFile) -> tuple[tuple[str, str], ...]:
    """Check that no words in the pixels stay unread.

    Returns:
        The codes and meanings for the method of de-identification that cleaned the pixels; none yet.

    Raises:
        UnsupportedFormat: the instance has pixels in which words could be.
    """
    found = [file.root.elements[tag] for tag in PIXELS if tag in file.root.elements]
    for element in found:
        size = min(_number(file, _ROWS), _number(file, _COLUMNS))
        if size >= _LEAST and not _is_uniform(file, element):
            raise UnsupportedFormat("the pixels of DICOM have no reader yet", field="PixelData")
    return ()


def _number(file: DicomFile, tag: int) -> int:
    element = file.root.elements.get(tag)
    return file.syntax.number(file.body[slice(*element.value)]) if element else _LEAST


def _is_uniform(file: DicomFile, element: DataElement) -> bool:
    """Whether all bytes of pixels that are not compressed are the same."""
    value = file.body[slice(*element.value)]
    return not element.undefined and value == value[:1] * len(value)
