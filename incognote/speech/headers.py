"""What the headers of sound files say about their length, checked against their bytes.

libsndfile reads a file that is cut off as a shorter one, and stops where a header says, even if more sound follows.
Such files are refused, because a recording must not lose a part unseen.
"""

from __future__ import annotations

import re
from typing import Literal

from incognote.errors import MalformedRecord
from incognote.speech import ogg

CUT = "the recording is cut off: its header says that it is longer. Send the whole file, or encode it again"
MORE = "the recording holds more sound than its header says. Encode it again"
_UNKNOWN = 0x7FFFF000  # sizes from here on are written by programs that do not know the length yet
_BITRATES = {  # kbit/s by version and layer (ISO/IEC 11172-3 and 13818-3, section 2.4.2.3)
    (1, 1): (32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448),
    (1, 2): (32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
    (1, 3): (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (2, 1): (32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256),
    (2, 2): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
    (2, 3): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
_RATES = (44_100, 48_000, 32_000)
_SYNC = re.compile(rb"\xff[\xe2-\xe7\xf2-\xff][\x10-\xef]")
_RUN = 4  # frames in a row, which are no chance
SLACK = 5 * 1152
"""The samples of MPEG audio that a decoder may drop as padding."""


def check(data: bytes, container: str) -> None:
    """Compare the header of a file with its bytes.

    Args:
        data: the file.
        container: as libsndfile names it.

    Raises:
        MalformedRecord: the file is cut off, or holds more than one stream of sound.
    """
    match container:
        case "WAV" | "WAVEX" | "RF64":
            _chunks(data, b"data", "little")
        case "AIFF":
            _chunks(data, b"SSND", "big")
        case "AU":
            start, size = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
            if size < _UNKNOWN and start + size > len(data):
                raise MalformedRecord(CUT)
        case "OGG":
            _ogg(data)


def flac(data: bytes) -> tuple[bytes, int | None]:
    """Return a FLAC file whose header gives no length, and the number of frames that its header gave.

    libsndfile then decodes all frames, and the length can be compared.
    """
    at = after_id3(data)
    if data[at : at + 4] != b"fLaC" or len(data) < at + 26:
        return data, None
    total = int.from_bytes(data[at + 21 : at + 26], "big") & 0xFFFFFFFFF
    head = bytearray(data[: at + 26])
    head[at + 21 : at + 26] = bytes((head[at + 21] & 0xF0, 0, 0, 0, 0))
    return bytes(head) + data[at + 26 :], total or None


def after_id3(data: bytes, at: int = 0) -> int:
    """Return the offset after the ID3v2 tags at an offset (ID3v2.4, section 3.1)."""
    while data[at : at + 3] == b"ID3" and len(data) >= at + 10:
        size = 0
        for byte in data[at + 6 : at + 10]:
            size = size << 7 | byte & 0x7F
        at += 10 + size + (10 if data[at + 5] & 0x10 else 0)
    return at


def mpeg(data: bytes) -> tuple[int, bytes]:
    """Return the number of samples of a channel in MPEG audio frames, and the frames alone, without tags.

    Raises:
        MalformedRecord: there are no frames, or frames follow after bytes that are none.
    """
    start = end = after_id3(data)
    samples = 0
    while (frame := _mpeg_frame(data, end)) is not None:
        samples += frame[1]
        end += frame[0]
    if end == start:
        raise MalformedRecord("the recording is not a valid sound file of its format, or is cut off")
    for sync in _SYNC.finditer(data, end):
        last, run = sync.start(), 0
        while run < _RUN and (frame := _mpeg_frame(data, last)) is not None:
            last, run = last + frame[0], run + 1
        if run == _RUN:
            raise MalformedRecord("the recording has damaged parts between its sound. Encode it again")
    return samples, data[start:end]


def counted(data: bytes) -> bool:
    """Return whether MPEG audio frames begin with one that gives their number."""
    return b"Xing" in data[:200] or b"Info" in data[:200]


def compare(given: int, found: int) -> None:
    """Compare the number of samples that a header of MPEG audio gives with that of its frames.

    Raises:
        MalformedRecord: they differ by more than what a decoder may drop as padding.
    """
    if given > found:
        raise MalformedRecord(CUT)
    if found > given + SLACK:
        raise MalformedRecord(MORE)


def _mpeg_frame(data: bytes, at: int) -> tuple[int, int] | None:
    """Return the bytes of a whole frame of MPEG audio and its samples of a channel, or None if there is none."""
    head = int.from_bytes(data[at : at + 4], "big")
    version, layer, bitrate, rate = head >> 19 & 3, 4 - (head >> 17 & 3), head >> 12 & 15, head >> 10 & 3
    if head >> 21 != 0x7FF or version == 1 or layer == 4 or bitrate in (0, 15) or rate == 3 or at + 4 > len(data):
        return None
    hertz = _RATES[rate] >> {3: 0, 2: 1, 0: 2}[version]
    bits = _BITRATES[1 if version == 3 else 2, layer][bitrate - 1] * 1000
    samples = 384 if layer == 1 else 576 if layer == 3 and version != 3 else 1152
    padding = head >> 9 & 1
    size = (12 * bits // hertz + padding) * 4 if layer == 1 else samples // 8 * bits // hertz + padding
    return (size, samples) if at + size <= len(data) else None


def sound_bytes(data: bytes) -> int:
    """Return the number of bytes of a compressed file without the tags before its sound."""
    if data.startswith(b"OggS"):  # the pages of headers are at position 0 of the sound
        return sum(end - start for start, end, _ in ogg.pages(data) if any(data[start + 6 : start + 14]))
    return len(data) - after_id3(data)


def _chunks(data: bytes, wanted: bytes, order: Literal["little", "big"]) -> None:
    at = 12
    while at + 8 <= len(data):
        size = int.from_bytes(data[at + 4 : at + 8], order)
        if data[at : at + 4] == b"ds64" and int.from_bytes(data[at + 16 : at + 24], "little") > len(data):
            raise MalformedRecord(CUT)
        if data[at : at + 4] == wanted:
            if size < _UNKNOWN and at + 8 + size > len(data):
                raise MalformedRecord(CUT)
            return
        at += 8 + size + size % 2
    raise MalformedRecord("the recording has no sound, or is cut off before it")


def _ogg(data: bytes) -> None:
    try:
        flags = [flags for _, _, flags in ogg.pages(data)]
    except ValueError:
        raise MalformedRecord(CUT) from None
    if sum(bool(each & ogg.FIRST) for each in flags) != 1:
        raise MalformedRecord("an Ogg file of several streams. Save each stream of sound as a file of its own")
    if not flags[-1] & ogg.LAST:
        raise MalformedRecord(CUT)
