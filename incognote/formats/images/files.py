"""Image files: their pages as pixels, and new files without metadata.

Of a file, only the pixels of its pages are kept. Thumbnails, EXIF, XMP, color profiles, comments, transparency, and
bytes after the image are left out of every output. Gray of more than 8 bits becomes gray of 8 bits.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from incognote.errors import MalformedRecord, MissingExtra, RecordProblem, UnsupportedFormat
from incognote.formats.images import jpeg, tiff
from incognote.formats.images.painting import MOST_COLORS, colors_of, packed
from incognote.pages.nouns import Word

if TYPE_CHECKING:
    from incognote.pages.nouns import Pixels

FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "GIF", "WEBP")
MOST_PIXELS = 89_000_000  # of a page; Pillow warns of more
_LEAST_SIDE = 8
_ORIENTATION = 0x0112  # tag
_MODES = frozenset(("1", "L", "LA", "La", "P", "PA", "RGB", "RGBA", "RGBa", "RGBX", "CMYK", "YCbCr", "I", "F"))
_LOSSY = frozenset(("jpeg", "tiff_jpeg", "webp"))  # compressions of TIFF
_QUALITY = 90
_AGAIN = ". Copy or scan it again, and save it as PNG, JPEG, or TIFF"


@dataclass(frozen=True, slots=True)
class PageImage:
    """A page of an image file.

    Args:
        pixels: gray or RGB; 0 and 255 for mode `1`.
        mode: `1`, `L`, `RGB`, or `P`, as it is written; `P` are RGB pixels of at most 256 colors.
        dpi: pixels of an inch, if the file states them.
        lossy: whether a page of a TIFF file is compressed as JPEG.
        words: those that a reader of an output may find, for formats that hold the text of a page, too.
    """

    pixels: Pixels
    mode: str
    dpi: tuple[float, float] | None
    lossy: bool = False
    words: tuple[Word, ...] = field(default=(), repr=False)


class Pages(Protocol):
    """The pages of a file as pictures.

    Attributes:
        data: the bytes of the file.
    """

    data: bytes

    def __len__(self) -> int: ...

    def page(self, number: int) -> PageImage:
        """Return a page, counted from 1.

        Raises:
            MalformedRecord: it is damaged, or too large.
        """
        ...

    def written(self, pages: Iterable[tuple[PageImage, bool]]) -> bytes:
        """Return a new file.

        Args:
            pages: its pages in order, and whether each has changed.
        """
        ...

    def stored(self, page: PageImage, changed: bool) -> Pixels:
        """Return the pixels of a page in a file that `written` returns. They differ if pages are compressed as JPEG."""
        ...

    def again(self, output: bytes) -> Pages:
        """Return the pages of an output.

        Raises:
            RecordProblem: they cannot be read.
        """
        ...


class ImageFile:
    """An image file whose pages are decoded one at a time.

    Raises:
        MalformedRecord: it is damaged, too large, or an animation.
        UnsupportedFormat: it is none of `FORMATS`, or has a rare coding.
        MissingExtra: Pillow is not installed.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._starts: list[int] = [0]
        with closing(_opened(data)) as image:
            self.format = "JPEG" if image.format == "MPO" else str(image.format)
            if self.format not in ("TIFF", "JPEG") and getattr(image, "is_animated", False):
                raise MalformedRecord("an animation. Save its pictures as a TIFF file with several pages")
            self._tables = _tables(image)
        if self.format == "JPEG":
            jpeg.check(data)
        if self.format == "TIFF":
            self._starts = tiff.pages(data)

    def __len__(self) -> int:
        return len(self._starts)

    def page(self, number: int) -> PageImage:
        """Return a page, counted from 1, upright as its file says.

        Raises:
            MalformedRecord: it is damaged, or too large. UnsupportedFormat: its pixels are of an unusual kind.
        """
        start = self._starts[number - 1]
        try:
            with closing(_opened(tiff.starting_at(self.data, start) if start else self.data)) as image:
                return _page(image, number)
        except RecordProblem as problem:
            problem.field = problem.field or f"page {number}"
            raise
        except MemoryError:
            raise MalformedRecord("a page that does not fit into memory", field=f"page {number}") from None
        except Exception:  # as in `_opened`
            raise MalformedRecord(f"a damaged page in an image file{_AGAIN}", field=f"page {number}") from None

    def written(self, pages: Iterable[tuple[PageImage, bool]]) -> bytes:
        """Return a new file of the same format.

        A JPEG file whose page has not changed keeps its compressed pixels.

        Args:
            pages: its pages in order, and whether each has changed.
        """
        out = io.BytesIO()
        if self.format == "TIFF":
            from PIL.TiffImagePlugin import AppendingTiffWriter

            with AppendingTiffWriter(out, True) as writer:
                for page, _ in pages:
                    _image(page).save(writer, "TIFF", **_tiff_options(page))
                    writer.newFrame()
            return out.getvalue()
        [(page, changed)] = pages
        if not changed and (same := self._same(page)) is not None:
            return same
        options: dict[str, Any] = {"dpi": page.dpi} if page.dpi and self.format in ("PNG", "JPEG", "BMP") else {}
        if self.format == "JPEG":
            options |= self._tables
        elif self.format == "WEBP":
            options |= {"lossless": True}
        _image(page).save(out, self.format, **options)
        return out.getvalue()

    def stored(self, page: PageImage, changed: bool) -> Pixels:
        if self.format == "JPEG" and (changed or self._same(page) is None):
            return ImageFile(self.written([(page, True)])).page(1).pixels
        if page.lossy:
            out = io.BytesIO()
            _image(page).save(out, "TIFF", **_tiff_options(page))
            return ImageFile(out.getvalue()).page(1).pixels
        return page.pixels

    def again(self, output: bytes) -> Pages:
        made = ImageFile(output)
        if made.format != self.format:
            raise MalformedRecord("the output has another format")
        return made

    def _same(self, page: PageImage) -> bytes | None:
        """Return this file without metadata, if it is a JPEG file that is not to be shown turned."""
        if self.format != "JPEG":
            return None
        with closing(_opened(self.data)) as image:
            if image.getexif().get(_ORIENTATION, 1) != 1:
                return None
        return jpeg.without_metadata(self.data, page.dpi)


def gray_of(pixels: Pixels) -> Pixels:
    """Return a page in gray."""
    if pixels.ndim == 2:
        return pixels
    import cv2
    import numpy

    return cv2.cvtColor(pixels[..., :3], cv2.COLOR_RGB2GRAY).astype(numpy.uint8)


def is_tiny(data: bytes) -> bool:
    """Whether an image file is too small for words, such as a line or a dot of a layout."""
    try:
        with closing(_opened(data)) as image:
            return bool(min(image.size) < _LEAST_SIDE)
    except (RecordProblem, MissingExtra):
        return False


def _opened(data: bytes) -> Any:
    """Return an image as Pillow opens it.

    Raises:
        MalformedRecord, UnsupportedFormat, MissingExtra: as `ImageFile`.
    """
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise MissingExtra("images", "an image file") from None
    warnings.filterwarnings("ignore", module=r"PIL\.")  # of odd metadata, which is left out
    try:
        image = Image.open(io.BytesIO(data), formats=FORMATS)
    except UnidentifiedImageError:
        raise UnsupportedFormat(f"an image file that cannot be identified, or is damaged{_AGAIN}") from None
    except Image.DecompressionBombError:
        raise _too_large() from None
    except Exception:  # Pillow raises many kinds of errors for damaged files, and their messages may quote them
        raise MalformedRecord(f"a damaged image file{_AGAIN}") from None
    if image.width * image.height > MOST_PIXELS:
        raise _too_large()
    return image


def _too_large() -> MalformedRecord:
    return MalformedRecord(f"a page of more than {MOST_PIXELS:,} pixels. Reduce its resolution")


def _page(image: Any, number: int) -> PageImage:
    import numpy
    from PIL import Image, ImageOps

    if min(image.size) < _LEAST_SIDE:
        raise MalformedRecord(f"a side of less than {_LEAST_SIDE} pixels. Leave it out", field=f"page {number}")
    if image.mode not in _MODES and not image.mode.startswith("I;"):
        raise UnsupportedFormat("an image with unusual colors. Save it as RGB", field=f"page {number}")
    dpi, lossy = _dpi(image.info.get("dpi")), image.info.get("compression") in _LOSSY
    image.load()
    mode = _mode(image)
    upright = ImageOps.exif_transpose(image)
    if upright.mode.startswith(("I", "F")):
        return PageImage(_in_8_bits(numpy.asarray(upright)), mode, dpi)
    if upright.mode in ("La", "RGBa"):
        upright = upright.convert("LA" if upright.mode == "La" else "RGBA")
    if "A" in upright.getbands() or "transparency" in upright.info:
        ground = Image.new("RGBA", upright.size, "white")
        upright = Image.alpha_composite(ground, upright.convert("RGBA"))
    pixels = numpy.array(upright.convert("RGB" if mode in ("RGB", "P") else "L"))
    return PageImage(pixels, mode, dpi, lossy and mode in ("L", "RGB"))


def _mode(image: Any) -> str:
    if image.mode == "1":
        return "1"
    if image.mode in ("L", "LA", "La", "I", "F") or image.mode.startswith("I;"):
        return "L"
    if image.mode in ("P", "PA"):
        colors = image.convert("RGB").getcolors(MOST_COLORS)
        if colors is None:  # in mode PA, a color has many values of alpha
            return "RGB"
        return "L" if all(r == g == b for _, (r, g, b) in colors) else "P" if image.mode == "P" else "RGB"
    return "RGB"


def _in_8_bits(values: Any) -> Pixels:
    """Return gray of 8 bits: whole numbers of 16 by the bits of the largest, others from the least to the largest."""
    import numpy

    made: Pixels
    if values.dtype.kind == "u" and values.dtype.itemsize == 2:
        made = (values >> max(0, int(values.max()).bit_length() - 8)).astype(numpy.uint8)
        return made
    numbers = numpy.nan_to_num(values.astype(numpy.float32), nan=0.0, posinf=0.0, neginf=0.0)
    low, high = float(numbers.min()), float(numbers.max())
    if low < 0 or not 1 < high <= 255:
        numbers = (numbers.astype(numpy.float64) - low) * (255 / (high - low) if high > low else 0.0)
    made = numbers.astype(numpy.uint8)
    return made


def _image(page: PageImage) -> Any:
    """Return a page as an image in its mode."""
    import numpy
    from PIL import Image

    if page.mode == "P":
        colors = colors_of(page.pixels)
        index = numpy.zeros(1 << 24, dtype=numpy.uint8)
        index[colors] = numpy.arange(len(colors))
        image = Image.fromarray(index[packed(page.pixels)])
        image.putpalette(b"".join(int(color).to_bytes(3) for color in colors))
        return image
    image = Image.fromarray(page.pixels)
    return image.convert("1", dither=Image.Dither.NONE) if page.mode == "1" else image


def _tiff_options(page: PageImage) -> dict[str, Any]:
    options: dict[str, Any] = {"dpi": page.dpi} if page.dpi else {}
    if page.lossy:
        return {**options, "compression": "jpeg", "quality": _QUALITY}
    return {**options, "compression": "group4" if page.mode == "1" else "tiff_adobe_deflate"}


def _dpi(stated: Any) -> tuple[float, float] | None:
    try:
        wide, high = (float(each) for each in stated)
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    return (wide, high) if 10 < wide < 10_000 and 10 < high < 10_000 else None


def _tables(image: Any) -> dict[str, Any]:
    """Return the tables with which a JPEG file was compressed."""
    if image.format not in ("JPEG", "MPO"):
        return {}
    from PIL import JpegImagePlugin

    sampling = JpegImagePlugin.get_sampling(image)
    usual = image.mode in ("L", "RGB") and image.quantization
    tables = {"qtables": image.quantization} if usual else {"quality": _QUALITY}
    return {**tables, "subsampling": sampling} if sampling >= 0 and image.mode == "RGB" else tables
