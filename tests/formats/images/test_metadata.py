"""Of a file, only the pixels of its pages are in an output: no text, thumbnail, profile, or byte after the image."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from incognote.formats.images import jpeg
from incognote.formats.images.document import ImageDocument
from incognote.formats.output import rebuilt
from incognote.formats.registry import of_container

from . import made

PLANTED = "Quackenbush4471902"
_BYTES = PLANTED.encode()
_ICC = bytes(128) + b"\0\0\0\1desc\0\0\0\x90\0\0\0\x30" + b"desc\0\0\0\0\0\0\0\x20" + _BYTES + bytes(40)
_XMP = f"<x:xmpmeta><dc:creator>{PLANTED}</dc:creator></x:xmpmeta>".encode()


def _exif() -> bytes:
    exif = Image.Exif()
    exif[0x010E] = exif[0x013B] = exif[0x013C] = PLANTED  # ImageDescription, Artist, HostComputer
    exif.get_ifd(0x8769)[0x9286] = b"ASCII\0\0\0" + _BYTES  # UserComment
    exif.get_ifd(0x8825)[0x1D] = PLANTED
    return exif.tobytes()


def _with_thumbnail(data: bytes) -> bytes:
    """Return a JPEG file with a thumbnail in its EXIF segment: a small JPEG file with a comment."""
    small = made.saved(made.page().resize((64, 40)), "JPEG", comment=_BYTES)
    directory = struct.pack(">H", 1) + struct.pack(">HHII", 0x010F, 2, 4, 0x41000000) + struct.pack(">I", 26)
    place, size = struct.pack(">HHII", 0x0201, 4, 1, 56), struct.pack(">HHII", 0x0202, 4, 1, len(small))
    second = struct.pack(">H", 2) + place + size
    body = b"Exif\0\0MM\0*" + struct.pack(">I", 8) + directory + second + bytes(4) + small
    return data[:2] + b"\xff\xe1" + (len(body) + 2).to_bytes(2) + body + data[2:]


def _png() -> bytes:
    info = PngImagePlugin.PngInfo()
    info.add_text("Author", PLANTED)
    info.add_text("Comment", PLANTED * 40, zip=True)
    info.add_itxt("XML:com.adobe.xmp", _XMP.decode())
    info.add_itxt("Patient", PLANTED, zip=True)
    info.add(b"tIME", b"\x07\xea\x0b\x1d\x0c\x00\x00")
    info.add(b"prVt", _BYTES)
    return made.saved(made.page(), "PNG", pnginfo=info, exif=_exif(), icc_profile=_ICC, dpi=(200, 200)) + _BYTES


def _jpeg(**options: Any) -> bytes:
    data = made.saved(
        made.page(), "JPEG", comment=_BYTES, exif=_exif(), icc_profile=_ICC, xmp=_XMP, dpi=(200, 200), **options
    )
    iptc = b"Photoshop 3.0\x008BIM\x04\x04\0\0" + struct.pack(">I", 23) + b"\x1c\x02\x50\0\x12" + _BYTES
    own = b"\xff\xed" + (len(iptc) + 2).to_bytes(2) + iptc + b"\xff\xef" + (len(_BYTES) + 2).to_bytes(2) + _BYTES
    return data[:2] + own + data[2:] + _BYTES


def _jpeg_with_thumbnails() -> bytes:
    data = made.saved(made.page(), "JPEG")
    jfif = b"JFIF\0\1\2\1\0\xc8\0\xc8\2\3" + _BYTES
    at = data.index(b"\xff\xe0")
    return _with_thumbnail(data[:at] + b"\xff\xe0" + (len(jfif) + 2).to_bytes(2) + jfif + data[at + 18 :])


def _tiff() -> bytes:
    tags: dict[int, Any] = dict.fromkeys((269, 270, 271, 305, 315, 316, 33432, 65000), PLANTED)
    tags |= {700: _XMP, 34675: _ICC, 306: "2026:11:29 12:00:00", 33723: _BYTES}
    options = {"tiffinfo": tags, "compression": "tiff_lzw", "dpi": (200, 200)}
    thumbnail = made.page().resize((64, 40)), {"tiffinfo": {254: 1, 270: PLANTED}}
    return made.tiff((made.page(), options), thumbnail, (made.page(), options)) + _BYTES


def _sub_directories() -> bytes:
    """Return a TIFF file with a page below its page, to which only the tag SubIFDs leads."""
    pages = made.tiff((made.page("L"), {}), (made.page("L").rotate(180), {"tiffinfo": {270: PLANTED}}))
    [first] = struct.unpack("<I", pages[4:8])
    [n] = struct.unpack("<H", pages[first : first + 2])
    end = first + 2 + 12 * n
    second = pages[end : end + 4]
    entries = pages[first + 2 : end] + struct.pack("<HHI", 330, 4, 1) + second
    return pages[:4] + struct.pack("<I", len(pages)) + pages[8:] + struct.pack("<H", n + 1) + entries + bytes(4)


def _gif() -> bytes:
    return made.saved(made.page(), "GIF", comment=_BYTES) + _BYTES


def _bmp() -> bytes:
    data = made.saved(made.page(), "BMP")
    gap = 10 + 4  # between the header and the pixels
    return data[:10] + struct.pack("<I", 54 + len(_BYTES)) + data[gap:54] + _BYTES + data[54:] + _BYTES


def _webp() -> bytes:
    return made.saved(made.page(), "WEBP", exif=_exif(), icc_profile=_ICC, xmp=_XMP) + _BYTES


FILES: dict[str, Callable[[], bytes]] = {
    "PNG": _png, "JPEG": _jpeg, "progressive": lambda: _jpeg(progressive=True), "thumbnails": _jpeg_with_thumbnails,
    "TIFF": _tiff, "SubIFDs": _sub_directories, "GIF": _gif, "BMP": _bmp, "WebP": _webp,
}  # fmt: skip


def _everything(data: bytes) -> bytes:
    """Return the bytes of a file, and what can be unpacked anywhere in it."""
    found = [data]
    for at in range(len(data) - 2):
        if data[at] == 0x78 and data[at + 1] in (0x01, 0x5E, 0x9C, 0xDA):
            try:
                found.append(zlib.decompressobj().decompress(data[at:], 10**6))
            except zlib.error:
                continue
    return b"\n".join(found)


@pytest.mark.parametrize("covered", [False, True], ids=["untouched", "covered"])
@pytest.mark.parametrize("make", FILES.values(), ids=FILES)
def test_nothing_besides_the_pixels_is_in_an_output(
    make: Callable[[], bytes], covered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("incognote.formats.images.reading.reading_of", made.reader_of())
    data = make()
    assert any(form in _everything(data) for form in (_BYTES, PLANTED.encode("utf-16-le")))
    form = of_container(data)
    assert form is not None
    document = ImageDocument(data)
    output = rebuilt(form, document, made.changes_of(document, (made.NAME, "[PERSON]")) if covered else {}, {})
    everything = _everything(output)
    for planted in (_BYTES, PLANTED.encode("utf-16-le"), PLANTED.encode("utf-16-be"), b"2026:11", b"xmpmeta", b"Exif"):
        assert planted not in everything
    with Image.open(io.BytesIO(output)) as image:
        assert set(image.info) <= {"dpi", "compression", "jfif", "jfif_version", "jfif_unit", "jfif_density", "version",
                                   "background", "loop", "duration", "adobe", "adobe_transform", "progressive",
                                   "progression", "extension", "interlace", "resolution"}  # fmt: skip
        assert not dict(image.getexif()) or image.format == "TIFF"


def test_a_png_has_only_the_chunks_of_its_pixels() -> None:
    data = ImageDocument(_png()).file
    output = data.written([(data.page(1), False)])
    names, at = set(), 8
    while at < len(output):
        names.add(output[at + 4 : at + 8])
        at += 12 + int.from_bytes(output[at : at + 4])
    assert names == {b"IHDR", b"pHYs", b"IDAT", b"IEND"}


def test_a_tiff_has_only_the_tags_of_its_pixels_and_no_thumbnail() -> None:
    file = ImageDocument(_tiff()).file
    output = file.written((file.page(number), False) for number in (1, 2))
    with Image.open(io.BytesIO(output)) as image:
        assert image.n_frames == 2
        for frame in range(2):
            image.seek(frame)
            assert set(image.tag_v2) <= {256, 257, 258, 259, 262, 273, 277, 278, 279, 282, 283, 284, 296}


@pytest.mark.parametrize("make", [_jpeg, _jpeg_with_thumbnails, lambda: _jpeg(progressive=True)])
def test_a_jpeg_has_only_the_segments_of_its_pixels_which_are_the_same(make: Callable[[], bytes]) -> None:
    data = make()
    output = jpeg.without_metadata(data)
    assert output is not None
    assert {each.marker for each in jpeg.segments(output)} <= {0xE0, 0xC0, 0xC2, 0xC4, 0xDB, 0xDA}
    assert np.array_equal(made.pixels_of(output), made.pixels_of(data))
    with Image.open(io.BytesIO(output)) as image:
        assert image.info["dpi"] == (200, 200)
