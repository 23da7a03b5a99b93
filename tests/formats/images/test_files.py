"""Hostile and odd image files: what is held, with which reason, and what is read as it looks."""

from __future__ import annotations

import io
import re
import struct
import warnings
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from incognote.errors import MalformedRecord, RecordProblem, UnsupportedFormat
from incognote.formats.images import files, jpeg, tiff
from incognote.formats.images.files import ImageFile

from . import made

TOO_LARGE, DAMAGED = "more than 89,000,000 pixels", "damaged"


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _png(wide: int, high: int, rows: bytes, bits: int = 8, colors: int = 0) -> bytes:
    head = _chunk(b"IHDR", struct.pack(">IIBBBBB", wide, high, bits, colors, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + _chunk(b"IDAT", zlib.compress(rows)) + _chunk(b"IEND", b"")


def _gif(canvas: int, frame: int) -> bytes:
    head = b"GIF89a" + struct.pack("<HHBBB", canvas, canvas, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    return head + b"," + struct.pack("<HHHHB", 0, 0, frame, frame, 0) + b"\x02\x02\x4c\x01\0;"


def _tiff(tags: dict[int, int], following: int = 0) -> bytes:
    """Return a TIFF file of one directory with tags of one long number, and what its pointer to the next one says."""
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in sorted(tags.items()))
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + struct.pack("<I", following) + bytes(64)


def _jpeg(**options: Any) -> bytes:
    return made.saved(made.page("RGB"), "JPEG", **options)


def _frame(data: bytes, at: int, new: bytes) -> bytes:
    """Return a JPEG file with other bytes in its SOF segment."""
    start = data.index(b"\xff\xc0") + at
    return data[:start] + new + data[start + len(new) :]


def _opened(data: bytes) -> ImageFile:
    file = ImageFile(data)
    for number in range(1, len(file) + 1):
        file.page(number)
    return file


_PAGES = {each: made.saved(made.page(), each) for each in ("PNG", "JPEG", "TIFF", "BMP", "GIF", "WEBP")}
_PLAIN = {256: 8, 257: 8, 258: 8, 259: 1, 262: 1, 273: 8, 277: 1, 278: 8, 279: 64}
_TILED = {256: 300, 257: 300, 258: 8, 259: 1, 262: 1, 277: 1, 322: 65_520, 323: 65_520, 324: 8, 325: 8}
HELD = {
    "a PNG of 50,000 x 50,000": (_png(50_000, 50_000, bytes(1000)), TOO_LARGE),
    "a GIF of 65,535 x 65,535": (_gif(65_535, 65_535), TOO_LARGE),
    "a GIF with a frame larger than itself": (_gif(50, 65_535), TOO_LARGE),
    "a JPEG that says 65,500 x 65,500": (_frame(_jpeg(), 5, struct.pack(">HH", 65_500, 65_500)), TOO_LARGE),
    "a JPEG that says 9,000 x 9,000": (_frame(_jpeg(), 5, struct.pack(">HH", 9_000, 9_000)), DAMAGED),
    "a BMP that says 100,000 x 100,000": (
        _PAGES["BMP"][:18] + struct.pack("<ii", 100_000, 100_000) + _PAGES["BMP"][26:], TOO_LARGE),
    "a TIFF with a huge tile": (_tiff(_TILED), "a tile of more than"),
    "a TIFF whose pages have no end": (_tiff(_PLAIN, 8), "without an end"),
    "a TIFF that points outside": (_tiff(_PLAIN, 10**6), DAMAGED),
    "a TIFF that says 9,000 x 9,000": (_tiff({**_PLAIN, 256: 9_000, 257: 9_000}), DAMAGED),
    "a TIFF whose pixels are outside": (_tiff({**_PLAIN, 273: 10**6}), DAMAGED),
    "a TIFF of thumbnails": (made.tiff((made.page("L"), {"tiffinfo": {254: 1}})), "no page"),
    "a PNG that says more rows": (_png(800, 800, bytes(8000)), DAMAGED),
    "a PNG of one row": (_png(800, 1, bytes(801)), "less than 8 pixels"),
    "a JPEG with arithmetic coding": (_frame(_jpeg(), 1, b"\xc9"), "rare coding"),
    "a lossless JPEG": (_frame(_jpeg(), 1, b"\xc3"), "rare coding"),
    "a JPEG of 12 bits": (_frame(_jpeg(), 4, b"\x0c"), "cannot be identified"),
    "a JPEG without its end": (_jpeg()[:-2], "ends too early"),
    "a text": (b"Seen by Dr. Carter.", "cannot be identified"), "nothing": (b"", "cannot be identified"),
    **{f"a {form} of one pixel": (made.saved(Image.new("RGB", (1, 1)), form), "less than 8 pixels") for form in _PAGES},
    "a GIF of 2,000 pictures": (
        made.saved(Image.new("L", (9, 9)), "GIF", save_all=True, append_images=[
            Image.new("L", (9, 9), 1 + n % 2) for n in range(2_000)]), "an animation"),
    "colors of CIE L*a*b*": (made.saved(Image.new("LAB", made.SIZE), "TIFF"), "unusual colors"),
    **{f"an animated {form}": (
        made.saved(made.page(), form, save_all=True, append_images=[made.page().rotate(180)]), "an animation",
    ) for form in ("PNG", "GIF", "WEBP")},
    **{f"a {form} cut in half": (data[: len(data) // 2], DAMAGED) for form, data in _PAGES.items()},
    **{f"the first bytes of a {form}": (data[:40], DAMAGED) for form, data in _PAGES.items()},
}  # fmt: skip


@pytest.mark.parametrize(("data", "why"), HELD.values(), ids=HELD)
def test_it_is_held_with_its_reason(data: bytes, why: str) -> None:
    with pytest.raises((MalformedRecord, UnsupportedFormat), match=why) as held:
        _opened(data)
    assert re.search(r"\. [A-Z][a-z]+ ", str(held.value)), "it says what to do"


@pytest.mark.parametrize("form", _PAGES)
def test_a_file_that_ends_too_early_is_held_wherever_it_ends(form: str) -> None:
    data = _PAGES[form]
    for tenth in range(10):
        with pytest.raises((MalformedRecord, UnsupportedFormat), match="damaged"):
            _opened(data[: tenth * len(data) // 10 + 5])


def test_a_bomb_of_text_in_a_png_is_held() -> None:
    text = _chunk(b"zTXt", b"Comment\0\0" + zlib.compress(bytes(80_000_000)))
    data = _PAGES["PNG"]
    with pytest.raises(RecordProblem):
        _opened(data[:33] + text + data[33:])


def test_a_jpeg_of_too_many_scans_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jpeg, "MOST_SCANS", 3)
    with pytest.raises(MalformedRecord, match="more than 3 scans"):
        _opened(_jpeg(progressive=True))
    _opened(_jpeg())


def test_a_tiff_of_too_many_pages_or_pixels_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    data = made.tiff(*[(made.page("1"), {"compression": "group4"})] * 3)
    assert len(_opened(data)) == 3
    monkeypatch.setattr(tiff, "MOST_OF_ALL", 2 * made.SIZE[0] * made.SIZE[1])
    with pytest.raises(MalformedRecord, match="Split the file"):
        _opened(data)
    monkeypatch.undo()
    monkeypatch.setattr(tiff, "MOST_PAGES", 2)
    with pytest.raises(MalformedRecord, match="Split the file"):
        _opened(data)


def test_a_damaged_page_is_named_and_the_others_are_read() -> None:
    data = made.tiff((made.page("L"), {}), (made.page("L"), {}))
    file = ImageFile(data)
    start = file._starts[1]
    raw, unknown = (struct.pack("<HHIH", 259, 3, 1, compression) for compression in (1, 9))
    broken = ImageFile(data[:start] + data[start:].replace(raw, unknown))
    broken.page(1)
    with pytest.raises(RecordProblem) as problem:
        broken.page(2)
    assert problem.value.field == "page 2"


_16 = np.asarray(made.page("L")).astype(np.uint16)
SAME = {
    "a PNG": (_PAGES["PNG"], "RGB"), "a PNG with bytes after it": (_PAGES["PNG"] + b"Carter", "RGB"),
    "a gray PNG": (made.saved(made.page("L"), "PNG"), "L"), "a PNG of 1 bit": (made.saved(made.page("1"), "PNG"), "1"),
    "a GIF": (_PAGES["GIF"], "P"), "a gray GIF": (made.saved(made.page("L"), "GIF"), "L"),
    "a PNG with a palette": (made.saved(made.page("P"), "PNG"), "P"),
    "a BMP": (_PAGES["BMP"], "RGB"), "a BMP of 1 bit": (made.saved(made.page("1"), "BMP"), "1"),
    "a BMP with a palette": (made.saved(made.page("P"), "BMP"), "P"), "a WebP": (_PAGES["WEBP"], "RGB"),
    "a JPEG": (_jpeg(), "RGB"), "a gray JPEG": (made.saved(made.page("L"), "JPEG"), "L"),
    "a CMYK JPEG": (made.saved(made.page("CMYK"), "JPEG"), "RGB"), "an RGB JPEG": (_jpeg(keep_rgb=True), "RGB"),
    "a progressive JPEG": (_jpeg(progressive=True), "RGB"), "restarts": (_jpeg(restart_marker_blocks=3), "RGB"),
    "a JPEG with half the colors": (_jpeg(subsampling=2), "RGB"), "bytes after a JPEG": (_jpeg() + b"Carter", "RGB"),
    "a TIFF": (_PAGES["TIFF"], "RGB"), "a CMYK TIFF": (made.saved(made.page("CMYK"), "TIFF"), "RGB"),
    "a YCbCr TIFF": (made.saved(made.page("YCbCr"), "TIFF"), "RGB"),
    "a BigTIFF": (made.saved(made.page(), "TIFF", big_tiff=True), "RGB"),
    "a TIFF with a palette": (made.saved(made.page("P"), "TIFF"), "P"),
    **{f"a TIFF in {name}": (made.saved(made.page("1"), "TIFF", compression=name), "1")
       for name in ("group3", "group4", "tiff_ccitt", "packbits", "tiff_lzw", "tiff_adobe_deflate", "raw")},
}  # fmt: skip


@pytest.mark.parametrize(("data", "mode"), SAME.values(), ids=SAME)
def test_a_page_that_nobody_covers_keeps_its_pixels_mode_and_format(data: bytes, mode: str) -> None:
    file = _opened(data)
    page = file.page(1)
    assert page.mode == mode
    colored = page.pixels if page.pixels.ndim == 3 else np.stack([page.pixels] * 3, axis=2)
    assert np.array_equal(colored, made.pixels_of(data))
    output = file.written([(page, False)])
    again = file.again(output).page(1)
    assert np.array_equal(again.pixels, page.pixels)
    assert (again.mode, ImageFile(output).format) == (mode, file.format)
    if mode == "1":
        assert Image.open(io.BytesIO(output)).mode == "1"


@pytest.mark.parametrize("form", ["PNG", "JPEG", "TIFF", "BMP"])
def test_the_resolution_stays(form: str) -> None:
    data = made.saved(made.page(), form, dpi=(204, 98))
    file = ImageFile(data)
    for changed in (False, True):
        dpi = file.again(file.written([(file.page(1), changed)])).page(1).dpi
        assert dpi == pytest.approx((204, 98), abs=0.02)


def test_the_resolution_that_only_exif_states_stays() -> None:
    exif = Image.Exif()
    exif[0x011A], exif[0x011B], exif[0x0128] = 300.0, 300.0, 2
    file = ImageFile(_jpeg(exif=exif))
    output = file.written([(file.page(1), False)])
    assert file.again(output).page(1).dpi == (300, 300)
    assert b"Exif" not in output


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_a_page_is_upright_as_its_file_says_and_stays_so(form: str, orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    turned = {"exif": exif} if form != "TIFF" else {"tiffinfo": {274: orientation}}
    data = made.saved(made.page(), form, **turned)
    plain = np.asarray(made.page(), dtype=np.int16)
    upright = {
        1: plain, 2: plain[:, ::-1], 3: plain[::-1, ::-1], 4: plain[::-1], 5: plain.transpose(1, 0, 2),
        6: np.rot90(plain, -1), 7: np.rot90(plain, -1)[::-1], 8: np.rot90(plain),
    }[orientation]  # fmt: skip
    file = ImageFile(data)
    page = file.page(1)
    output = file.written([(page, False)])
    for pixels in (page.pixels, file.again(output).page(1).pixels, made.pixels_of(output)):
        assert pixels.shape == upright.shape
        assert np.abs(pixels - upright).mean() < (4 if form in ("JPEG", "WEBP") else 0.001)
    assert Image.open(io.BytesIO(output)).getexif().get(0x0112, 1) == 1


def test_text_that_alpha_hides_is_gone_and_text_that_it_shows_is_read() -> None:
    hidden = made.page("RGBA")
    hidden.putalpha(0)
    assert (ImageFile(made.saved(hidden, "PNG")).page(1).pixels == 255).all()
    shown = Image.new("RGBA", made.SIZE)
    shown.putalpha(Image.eval(made.page("L"), lambda value: 255 - value))
    seen = ImageFile(made.saved(shown, "PNG")).page(1).pixels.astype(np.int16)
    assert np.abs(seen - np.asarray(made.page("L"))[..., None]).max() <= 1


@pytest.mark.parametrize("mode", ["L", "1", "P", "RGB"])
@pytest.mark.parametrize("form", ["PNG", "GIF"])
def test_a_transparent_color_becomes_white(form: str, mode: str) -> None:
    if (form, mode) == ("GIF", "RGB"):
        return
    image = made.page(mode)
    black = (0, 0, 0) if mode == "RGB" else image.getpixel((50, 150))
    data = made.saved(image, form, transparency=black if mode != "1" else 0)
    page = ImageFile(data).page(1)
    output = ImageFile(data).written([(page, False)])
    where = np.asarray(image) == black if mode != "RGB" else (np.asarray(image) == 0).all(axis=2)
    assert (made.pixels_of(output)[where] == 255).all()
    assert not {"A", "a"} & set(Image.open(io.BytesIO(output)).getbands())
    assert "transparency" not in Image.open(io.BytesIO(output)).info


@pytest.mark.parametrize(
    "data",
    [
        made.saved(Image.fromarray(_16 * 257), "PNG"),
        made.saved(Image.fromarray(_16 * 257), "TIFF"),
        made.saved(Image.fromarray(_16 * 16), "PNG"),
        made.saved(Image.fromarray(_16.astype(np.int32)), "TIFF"),
        made.saved(Image.fromarray(_16.astype(np.float32) / 255), "TIFF"),
    ],
    ids=["PNG of 16 bits", "TIFF of 16 bits", "PNG of 12 bits", "TIFF of whole numbers", "TIFF of floating point"],
)
def test_gray_of_more_than_8_bits_looks_the_same_in_8(data: bytes) -> None:
    file = ImageFile(data)
    page = file.page(1)
    assert page.mode == "L"
    assert np.abs(page.pixels.astype(np.int16) - np.asarray(made.page("L"))).max() <= 1
    assert np.array_equal(file.again(file.written([(page, True)])).page(1).pixels, page.pixels)


def test_a_value_that_is_no_number_does_not_hide_the_others() -> None:
    values = _16.astype(np.float32) / 255
    values[0, :3] = (np.nan, np.inf, -np.inf)
    page = ImageFile(made.saved(Image.fromarray(values), "TIFF")).page(1)
    assert np.abs(page.pixels[1:].astype(np.int16) - _16[1:]).max() <= 1


def test_a_png_with_colors_of_16_bits_is_read() -> None:
    rows = b"".join(b"\0" + row.tobytes() for row in np.asarray(made.page()).astype(">u2") * 257)
    page = ImageFile(_png(*made.SIZE, rows, 16, 2)).page(1)
    assert np.array_equal(page.pixels, np.asarray(made.page()))


def test_pages_of_a_tiff_keep_their_own_size_mode_resolution_and_order() -> None:
    data = made.tiff(
        (made.page("1"), {"compression": "group4", "dpi": (204, 196)}),
        (made.page("L", (500, 300)), {"dpi": (100, 100)}),
        (made.page("L", (64, 40)), {"tiffinfo": {254: 1}}), (made.page("P"), {}),
        (made.page("RGB", (330, 210)), {"compression": "tiff_lzw"}),
    )  # fmt: skip
    file = ImageFile(data)
    output = file.written((file.page(number), number == 2) for number in range(1, len(file) + 1))
    again = ImageFile(output)
    found = [(page.mode, page.pixels.shape[:2], page.dpi) for page in map(again.page, range(1, len(again) + 1))]
    assert found == [
        ("1", (200, 320), (204, 196)), ("L", (300, 500), (100, 100)),
        ("P", (200, 320), None), ("RGB", (210, 330), None),
    ]  # fmt: skip
    for one, other in ((0, 0), (1, 1), (2, 3), (3, 4)):
        assert np.array_equal(made.pixels_of(output, one), made.pixels_of(data, other))


def test_a_tiled_tiff_is_read_and_no_second_resolution_is_left() -> None:
    import cv2

    encoded = cv2.imencode(".tiff", np.asarray(made.page("L", (640, 400))))[1].tobytes()
    file = ImageFile(encoded)
    assert np.array_equal(file.page(1).pixels, np.asarray(made.page("L", (640, 400))))


@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_jpeg_within_a_tiff_stays_so_and_nearly_keeps_its_pixels(mode: str) -> None:
    file = ImageFile(made.saved(made.page(mode), "TIFF", compression="jpeg", dpi=(200, 200)))
    page = file.page(1)
    output = file.written([(page, False)])
    again = ImageFile(output).page(1)
    assert (again.lossy, again.mode, again.dpi) == (True, mode, (200, 200))
    assert np.abs(again.pixels.astype(np.int16) - page.pixels).mean() < 2
    assert np.array_equal(file.stored(page, False), again.pixels)


def test_of_a_file_with_two_pictures_for_two_eyes_the_first_stays() -> None:
    data = made.saved(made.page(), "MPO", save_all=True, append_images=[made.page().rotate(180)])
    file = ImageFile(data)
    output = file.written([(file.page(1), False)])
    assert len(file) == 1
    assert len(output) < 0.6 * len(data)
    assert np.array_equal(made.pixels_of(output), made.pixels_of(data))


def test_a_jpeg_segment_with_other_bytes_in_it_is_compressed_anew() -> None:
    data = _jpeg()
    at = data.index(b"\xff\xda")
    size = int.from_bytes(data[at + 2 : at + 4])
    odd = data[: at + 2] + (size + 6).to_bytes(2) + data[at + 4 : at + 2 + size] + b"Carter" + data[at + 2 + size :]
    assert jpeg.without_metadata(odd) is None
    assert jpeg.without_metadata(data) is not None


@settings(max_examples=80)
@given(
    name=st.sampled_from(sorted(_PAGES)), cut=st.booleans(),
    places=st.lists(st.tuples(st.floats(0, 0.999), st.integers(0, 255)), min_size=1, max_size=8),
)  # fmt: skip
def test_a_damaged_file_is_held_or_written_as_it_is_read(name: str, cut: bool, places: list[tuple[float, int]]) -> None:
    data = bytearray(_PAGES[name])
    for where, value in places:
        data[int(where**3 * len(data))] = value  # most of them in the headers
    if cut:
        del data[int(places[0][0] * len(data)) :]
    try:
        file = ImageFile(bytes(data))
        page = file.page(1)
    except RecordProblem:
        return
    again = file.again(file.written((file.page(number), False) for number in range(1, len(file) + 1)))
    assert np.array_equal(again.page(1).pixels, page.pixels)


def test_pillows_warnings_of_a_damaged_file_are_not_printed() -> None:
    data = made.saved(made.page(), "TIFF", compression="tiff_lzw")[:-40]  # its directory is at its end
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with pytest.raises(RecordProblem):
            _opened(data)
        assert told == []
        warnings.simplefilter("always")
        with pytest.raises(OSError, match="cannot identify"):
            Image.open(io.BytesIO(data))
        assert told != [], "Pillow itself warns"


def test_the_limits_agree_with_those_of_pillow() -> None:
    assert Image.MAX_IMAGE_PIXELS is not None
    assert files.MOST_PIXELS < Image.MAX_IMAGE_PIXELS
