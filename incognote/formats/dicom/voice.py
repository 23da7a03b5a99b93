"""Hold instances with a waveform that may be a voice. Nobody hears it, so it could name a person."""

from __future__ import annotations

import re
from collections.abc import Iterator

from incognote.errors import UnsupportedFormat
from incognote.formats.dicom.stream import DicomFile, SequenceItem

MOST = 2_000.0
"""The highest rate of a waveform that passes, in samples a second. Nothing above 1 kHz is in it."""
_CLASS, _MODALITY, _SOUND = 0x00080016, 0x00080060, "AU"
_FREQUENCY, _DATA = 0x003A001A, 0x54001010
_SILENT = re.compile(r"1\.2\.840\.10008\.5\.1\.4\.1\.1\.9\.[1235678]\.[0-9]+")  # PS3.4 B.5: ECG, EEG, and so on


def require_no_voice(file: DicomFile) -> None:
    """Check that no waveform can be a voice. One passes if its class is none of sound, and its rate at most `MOST`.

    Raises:
        UnsupportedFormat: the class is one of sound, or unknown, or the rate is higher, or missing.
    """
    rates = list(_rates(file, file.root))
    if not rates:
        return
    is_silent = _SILENT.fullmatch(file.words(_CLASS)) and file.words(_MODALITY) != _SOUND
    if not is_silent or not all(0 < rate <= MOST for rate in rates):
        remedy = "a waveform that may be a voice, which is not heard. Send its sound as a WAV file"
        raise UnsupportedFormat(remedy, field="WaveformSequence")


def _rates(file: DicomFile, item: SequenceItem) -> Iterator[float]:
    """Yield the rates of all groups of channels, in samples a second. A missing or illegal one is 0."""
    if _DATA in item.elements:
        element = item.elements.get(_FREQUENCY)
        try:
            yield float(file.body[slice(*element.value)].decode("ascii").strip(" \0")) if element else 0.0
        except ValueError:  # UnicodeDecodeError, too
            yield 0.0
    for element in item.elements.values():
        for inner in element.items or ():
            yield from _rates(file, inner)
