"""What the headers of sound files say about their length, checked against their bytes.

libsndfile reads a file that is cut off as a shorter one, and stops where a header says, even if more sound follows.
Such files are refused, because a recording must not lose a part unseen.
"""

from __future__ import annotations

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
_SLACK = 5  # frames of an MP3 that a decoder may drop as padding


def check(data: bytes, container: str, frames: int | None) -> None:
    """Compare the header of a file with its bytes.

    Args:
        data: the file.
        container: as libsndfile names it.
        frames: the number of frames that libsndfile expects, if it knows it.

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
        case "MP3" if frames is not None and mpeg_samples(data, frames) > frames:
            raise MalformedRecord(MORE)


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


def mpeg_samples(data: bytes, enough: int) -> int:
    """Return the samples of a channel in consecutive MPEG audio frames, less the padding that a decoder may drop.

    Args:
        data: the file. Counting ends at bytes that are no frame, and soon after `enough` samples.
        enough: as many as the header gives.
    """
    at, samples = after_id3(data), 0
    while at + 4 <= len(data):
        head = int.from_bytes(data[at : at + 4], "big")
        version = {3: 1, 2: 2, 0: 2}.get(head >> 19 & 3)
        layer, bitrate, rate = 4 - (head >> 17 & 3), head >> 12 & 15, head >> 10 & 3
        if head >> 21 != 0x7FF or version is None or layer == 4 or bitrate in (0, 15) or rate == 3:
            following = after_id3(data, at)
            if following == at:
                break
            at = following
            continue
        hertz = _RATES[rate] >> {3: 0, 2: 1, 0: 2}[head >> 19 & 3]
        bits = _BITRATES[version, layer][bitrate - 1] * 1000
        length = 384 if layer == 1 else 576 if (layer, version) == (3, 2) else 1152
        padding = head >> 9 & 1
        at += (12 * bits // hertz + padding) * 4 if layer == 1 else length // 8 * bits // hertz + padding
        samples += length
        if samples > enough + _SLACK * 1152:
            break
    return samples - _SLACK * 1152


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
