"""A PDF document with scanned pages: every page is read as a picture, and becomes one.

PDFium draws the pages, at the resolution of the scan. A page of an output has the redacted picture, and over it, as
invisible text, the words that stay. There is no hidden text of the scanner, and there are no annotations, fields,
bookmarks, attachments, and properties. What annotations and fields show is in the picture.
"""

from __future__ import annotations

import io
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from incognote.errors import MalformedRecord, MissingExtra, UnsupportedFormat
from incognote.formats.base import Change
from incognote.formats.images.document import ImageDocument
from incognote.formats.images.files import PageImage, Pages
from incognote.formats.images.painting import Cover
from incognote.formats.pdf.bounds import check_unpacked
from incognote.formats.pdf.fonts import standard
from incognote.formats.pdf.picture import Raster, raster
from incognote.formats.pdf.values import array, decimal, dictionary, entries, is_stream, name
from incognote.pages.nouns import Word

if TYPE_CHECKING:
    from incognote.pages.nouns import Pixels

USUAL_DPI, LEAST_DPI, MOST_DPI = 200.0, 100.0, 300.0
MOST_SIDE = 8_000  # pixels
MOST_PAGES = 5_000
_TOO_COARSE = 90.0  # pixels of an inch of a page that is drawn smaller, because it is large
_MOST_KEPT = 32 * 2**20  # bytes of drawn pages that are kept, since drawing is slow
_POINTS = 72.0
_QUALITY = 85
_END = 1024  # bytes in which a file must say that it ends
_SHAPE, _SAME = 1.1, 1.01  # the most by which the resolutions of a scan in both directions differ, and equal ones
_FAX = (1.8, 2.3)  # the same, of a fax
_BLACK, _WHITE = 64, 192  # gray levels
_GRAY = 0.0002  # the share of gray pixels of a black and white page that are no edges
_FONT, _NAME = "Helvetica", "/F0"
_RISE = 0.15  # the baseline of a word above the bottom of its box, in heights of it
_ROOT, _TRAILER = {"/Type", "/Pages"}, {"/Root", "/ID", "/Size"}
_PAGE = {"/Type", "/Parent", "/MediaBox", "/Resources", "/Contents"}


class PdfPages:
    """The pages of a PDF file as pictures.

    Raises:
        UnsupportedFormat: it is encrypted. MalformedRecord: it is damaged or too large.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._drawn: dict[int, Raster] = {}
        self._room = _MOST_KEPT
        check_unpacked(data)
        if b"%%EOF" not in data[-_END:]:
            raise MalformedRecord("a PDF file that ends too early")
        with _opened(data) as pdf:
            try:
                if not 0 < len(pdf.pages) <= MOST_PAGES:
                    raise MalformedRecord(f"no pages, or more than {MOST_PAGES:,}. Split the file")
                self._resolutions = [_resolution(page) for page in pdf.pages]
            except (ValueError, TypeError, KeyError, AttributeError, RuntimeError):
                raise MalformedRecord("a PDF file with damaged pages. Print it to a new PDF") from None

    def __len__(self) -> int:
        return len(self._resolutions)

    def page(self, number: int) -> PageImage:
        """Return a page, counted from 1. It is gray if it has no colors, and of mode `1` if it is black and white.

        Raises:
            MalformedRecord: it cannot be drawn, or is too large.
        """
        import numpy
        from PIL import Image

        drawn = self._raster(number)
        dpi = drawn.width / drawn.wide * _POINTS, drawn.height / drawn.high * _POINTS
        if min(dpi) < _TOO_COARSE:
            raise MalformedRecord("a page that is too large for a picture", field=f"page {number}")
        pixels = numpy.array(Image.open(io.BytesIO(drawn.png), formats=["PNG"]).convert("RGB"))
        if _has_colors(pixels):
            return PageImage(pixels, "RGB", dpi)
        pixels = numpy.ascontiguousarray(pixels[..., 0])
        if _is_black_and_white(pixels):
            return PageImage(numpy.where(pixels > 127, 255, 0).astype(numpy.uint8), "1", dpi)
        return PageImage(pixels, "L", dpi)

    def _raster(self, number: int) -> Raster:
        if number in self._drawn:
            return self._drawn[number]
        try:
            # a little less, so that rounding up gives the size of the scan
            drawn = raster(self.data, number, MOST_SIDE, self._resolutions[number - 1] / _POINTS * (1 - 1e-7))
        except (OSError, subprocess.SubprocessError, ValueError):
            raise MalformedRecord("a page that cannot be drawn", field=f"page {number}") from None
        if len(drawn.png) <= self._room:
            self._room -= len(drawn.png)
            self._drawn[number] = drawn
        return drawn

    def written(self, pages: Iterable[tuple[PageImage, bool]]) -> bytes:
        """Return a new PDF file with a picture on each page, and the words that stay as invisible text."""
        import pikepdf

        with pikepdf.new() as pdf:
            font = pdf.make_indirect(dictionary({
                "/Type": name("/Font"), "/Subtype": name("/Type1"), "/BaseFont": name(f"/{_FONT}"),
                "/Encoding": name("/WinAnsiEncoding"),
            }))  # fmt: skip
            for page, _ in pages:
                own = pdf.add_blank_page().obj
                own["/MediaBox"] = array([0, 0, *map(decimal, _size(page))])
                own["/Resources"] = dictionary({
                    "/XObject": dictionary({"/Im0": _picture(pdf, page)}), "/Font": dictionary({_NAME: font}),
                })  # fmt: skip
                own["/Contents"] = pdf.make_stream(_content(page))
            out = io.BytesIO()
            pdf.save(out, deterministic_id=True, object_stream_mode=pikepdf.ObjectStreamMode.disable)
        return out.getvalue()

    def stored(self, page: PageImage, changed: bool) -> Pixels:
        import numpy
        from PIL import Image

        if page.mode == "1":
            return page.pixels
        pixels: Pixels = numpy.array(Image.open(io.BytesIO(_jpeg(page)), formats=["JPEG"]))
        return pixels

    def again(self, output: bytes) -> Pages:
        """Return the pages of an output, as they are in it.

        Raises:
            MalformedRecord: the output has something besides its pages.
        """
        return _Pictures(output)


class _Pictures(PdfPages):
    """The pages of an output, of which each has one picture, invisible text, and nothing else.

    Raises:
        MalformedRecord: it has something else.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._pdf = _opened(data, recover=False)
        self._resolutions = [USUAL_DPI] * len(self._pdf.pages)
        more = len(self._pdf.objects) - 3 * len(self._resolutions)  # a page, its picture, and its content
        if set(self._pdf.trailer.keys()) - _TRAILER or set(self._pdf.Root.keys()) != _ROOT or more > len("RPF"):
            raise MalformedRecord("the output has more than its pages")

    def page(self, number: int) -> PageImage:
        import numpy
        import pikepdf

        page = self._pdf.pages[number - 1]
        pictures = _images(page)
        if set(page.obj.keys()) != _PAGE or len(pictures) != 1 or set(page.resources.keys()) != {"/XObject", "/Font"}:
            raise MalformedRecord("the output has other parts", field=f"page {number}")
        image = pikepdf.PdfImage(pictures[0]).as_pil_image()
        mode = str(image.mode)
        return PageImage(numpy.array(image.convert("L") if mode == "1" else image), mode, None)

    def content(self, number: int) -> bytes:
        """Return the content of a page."""
        return bytes(self._pdf.pages[number - 1].Contents.read_bytes())


class ScannedPdf(ImageDocument):
    """A PDF document that is read and written as pictures of its pages."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.file = PdfPages(data)

    def verify(self, made: Pages, number: int, page: PageImage, changed: bool, covers: Sequence[Cover]) -> None:
        super().verify(made, number, page, changed, covers)
        if not isinstance(made, _Pictures) or made.content(number) != _content(page):
            raise MalformedRecord("the output has other text", field=f"page {number}")

    def second(self, output: bytes, changes: Mapping[str, Sequence[Change]]) -> Iterable[str]:
        from incognote.formats.pdf.second import beside_pictures

        yield from super().second(output, changes)
        yield from beside_pictures(output, [[word.text for word, _ in _encoded(each)] for each in self.left(changes)])


def _opened(data: bytes, *, recover: bool = True) -> Any:
    try:
        import pikepdf
    except ImportError:
        raise MissingExtra("documents", "a PDF file") from None
    try:
        return pikepdf.open(io.BytesIO(data), suppress_warnings=True, attempt_recovery=recover)
    except pikepdf.PasswordError:
        raise UnsupportedFormat("an encrypted PDF. Save it without a password") from None
    except (pikepdf.PdfError, ValueError, TypeError, KeyError, AttributeError):
        raise MalformedRecord("not a PDF file that can be read") from None


def _images(page: Any) -> list[Any]:
    """Return the pictures in the resources of a page."""
    found = [each for _, each in entries(page.resources, "/XObject") if is_stream(each)]
    return [each for each in found if each.get("/Subtype", None) == name("/Image")]


def _resolution(page: Any) -> float:
    """Return the pixels of an inch at which a page is drawn: those of its scan, or the usual ones."""
    try:
        box = [float(each) for each in page.mediabox]
        wide, high = abs(box[2] - box[0]), abs(box[3] - box[1])
        sizes = [(int(each.get("/Width", 0)), int(each.get("/Height", 0))) for each in _images(page)]
        is_scan = len(sizes) == 1 and "/Font" not in page.resources
    except (ValueError, TypeError, KeyError, AttributeError):
        return USUAL_DPI
    if not wide or not high:
        return USUAL_DPI
    found = max((_dpi(w, h, wide, high) for w, h in sizes if w > 0 and h > 0), default=0.0)
    return min(max(found, LEAST_DPI if is_scan and found else USUAL_DPI), MOST_DPI)


def _dpi(w: int, h: int, wide: float, high: float) -> float:
    """Return the resolution of a picture that has the shape of its page, perhaps turned, or 0 if it has another one.

    A fax has different ones in both directions. Then this is the larger one.
    """
    for both in ((w / wide, h / high), (w / high, h / wide)):
        apart = max(both) / min(both)
        if apart < _SHAPE:
            return _POINTS * (min(both) if apart < _SAME else max(both))
    apart = (w / wide) / (h / high)
    return _POINTS * w / wide if _FAX[0] < apart < _FAX[1] else 0.0


def _has_colors(pixels: Pixels) -> bool:
    return bool((pixels[..., 0] != pixels[..., 1]).any() or (pixels[..., 1] != pixels[..., 2]).any())


def _is_black_and_white(gray: Pixels) -> bool:
    """Whether gray pixels are only where black and white meet."""
    import cv2
    import numpy

    middle = (gray >= _BLACK) & (gray <= _WHITE)
    if not middle.any():
        return True
    around = numpy.ones((3, 3), numpy.uint8)
    edge = (cv2.erode(gray, around) < _BLACK) & (cv2.dilate(gray, around) > _WHITE)
    return float((middle & ~edge).mean()) <= _GRAY


def _size(page: PageImage) -> tuple[float, float]:
    """Return the width and height of a page in points."""
    assert page.dpi is not None
    high, wide = page.pixels.shape[:2]
    return wide / page.dpi[0] * _POINTS, high / page.dpi[1] * _POINTS


def _content(page: PageImage) -> bytes:
    """Return the content of a page: its picture, and words as invisible text."""
    import pikepdf

    wide, high = _size(page)
    x, y = wide / page.pixels.shape[1], high / page.pixels.shape[0]
    lines = [f"q {decimal(wide)} 0 0 {decimal(high)} 0 0 cm /Im0 Do Q".encode(), b"BT 3 Tr"]
    for word, codes in _encoded(page.words):
        left, top, right, bottom = word.box
        across, up = x * (right - left), y * (bottom - top)
        along, size = (across, up) if word.turn in (0, 180) else (up, across)
        usual = sum(code.width for code in standard(_FONT).codes(codes)) * size
        if usual <= 0 or along <= 0:
            continue
        start, foot, rise = x * left, high - y * bottom, _RISE * size
        place = {
            0: (1, 0, 0, 1, start, foot + rise), 180: (-1, 0, 0, -1, start + across, foot + up - rise),
            90: (0, -1, 1, 0, start + rise, foot + up), 270: (0, 1, -1, 0, start + across - rise, foot),
        }[word.turn]  # fmt: skip
        matrix = " ".join(str(decimal(each)) for each in place)
        lines.append(
            f"{_NAME} {decimal(size)} Tf {decimal(100 * along / usual)} Tz {matrix} Tm ".encode()
            + pikepdf.String(codes).unparse() + b" Tj"
        )  # fmt: skip
    return b"\n".join((*lines, b"ET"))


def _encoded(words: Iterable[Word]) -> Iterator[tuple[Word, bytes]]:
    """Yield the words that the standard encoding has, with their codes."""
    for word in words:
        try:
            codes = word.text.encode("cp1252")
        except UnicodeEncodeError:
            continue
        if word.text.isprintable() and codes.strip():
            yield word, codes


def _picture(pdf: Any, page: PageImage) -> Any:
    """Return the stream of a picture."""
    high, wide = page.pixels.shape[:2]
    keys = {"/Type": name("/XObject"), "/Subtype": name("/Image"), "/Width": wide, "/Height": high}
    if page.mode == "1":
        picture = pdf.make_stream(_fax(page))
        keys |= {"/BitsPerComponent": 1, "/ColorSpace": name("/DeviceGray"), "/Filter": name("/CCITTFaxDecode"),
                 "/DecodeParms": dictionary({"/K": -1, "/Columns": wide, "/Rows": high})}  # fmt: skip
    else:
        picture = pdf.make_stream(_jpeg(page))
        keys |= {"/BitsPerComponent": 8, "/ColorSpace": name("/DeviceRGB" if page.mode == "RGB" else "/DeviceGray"),
                 "/Filter": name("/DCTDecode")}  # fmt: skip
    for key, value in keys.items():
        picture[key] = value
    return picture


def _fax(page: PageImage) -> bytes:
    """Return a black and white page as CCITT Group 4, in one strip."""
    from PIL import Image, ImageChops

    out = io.BytesIO()
    image = ImageChops.invert(Image.fromarray(page.pixels)).convert("1", dither=Image.Dither.NONE)
    image.save(out, "TIFF", compression="group4", tiffinfo={278: image.height})
    made: Any = Image.open(out, formats=["TIFF"])
    [start], [size] = made.tag_v2[273], made.tag_v2[279]
    return out.getvalue()[start : start + size]


def _jpeg(page: PageImage) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(page.pixels).save(out, "JPEG", quality=_QUALITY, subsampling=0)
    return out.getvalue()
