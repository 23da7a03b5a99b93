"""Pages of a PDF that become pictures, because their fonts or their order cannot be kept with other words.

A picture is drawn from the page after the text writer has changed it. So it never shows the old words, and its gaps
are those of the new ones. PDFium draws it, in a process of its own with bounded memory and time.
"""

from __future__ import annotations

import subprocess
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from incognote.errors import MalformedRecord
from incognote.formats.pdf.content import ContentReader
from incognote.formats.pdf.fonts import standard
from incognote.formats.pdf.glyphs import Matrix, StreamKey, times
from incognote.formats.pdf.layout import page_text
from incognote.formats.pdf.picture import Raster, raster
from incognote.formats.pdf.subset import renumbered
from incognote.formats.pdf.values import array, decimal, dictionary, is_dictionary, items, name
from incognote.formats.pdf.writing import PageWriter, resource_name, unit_of

if TYPE_CHECKING:
    from pikepdf import Object, Page, Pdf

MOST_DRAWN = 100  # pages of a document
MOST_PIXELS = 4000  # of a side
SCALE, LEAST_SCALE = 150 / 72, 1.0  # pixels of a point
_DRAW = "a page that cannot be drawn. Print the document to a new PDF"


class PlacedWords(NamedTuple):
    """New words on a page.

    Args:
        text: the words. font: the standard font that looks most like theirs. size: the font size.
        width: their width in units of the text space. matrix: leads from the text space to the page.
    """

    text: str
    font: str
    size: float
    width: float
    matrix: Matrix


def placed(writer: PageWriter) -> Iterator[PlacedWords]:
    """Yield the new words that a writer placed."""
    for show, at, words in writer.words():
        state = show.state
        width = sum(code.width for code in words.codes) * state.size * state.scale * words.scale
        place = times((1, 0, 0, 1, show.offsets[at] + words.shift / unit_of(show), state.rise), show.matrix)
        text = "".join(code.text for code in words.codes)
        yield PlacedWords(text, words.font.standard, state.size, width, times(place, show.above))


def unwritable(pdf: Pdf) -> set[int]:
    """Return the pages with a font that cannot be rewritten, from 1. `pdf` does not change, apart from its numbers."""
    import pikepdf

    found = set()
    for number, page in enumerate(pdf.pages, 1):
        with pikepdf.new() as single:
            own = single.add_blank_page().obj
            for key, value in (("/Resources", page.resources), ("/Contents", page.obj.get("/Contents", None))):
                if value is not None:
                    own[key] = single.copy_foreign(pdf.make_indirect(value))
            own["/Annots"] = array(
                dictionary({"/Rect": array([0] * 4), "/AP": single.copy_foreign(pdf.make_indirect(each["/AP"]))})
                for each in items(page.obj, "/Annots") if is_dictionary(each) and "/AP" in each
            )  # fmt: skip
            try:
                renumbered(single)
            except MalformedRecord:
                found.add(number)
    return found or _in_borrowed_fonts(pdf)


def _in_borrowed_fonts(pdf: Pdf) -> set[int]:
    """Return the pages that show a form without resources, which has the fonts of the page."""
    reader = ContentReader(pdf)
    for number, page in enumerate(pdf.pages, 1):
        reader.read(page, number)
    return {
        -page for (page, _), forms in reader.paints.items()
        if page < 0 and any("/Resources" not in pdf.get_object(form) for form in forms)
    }  # fmt: skip


def draw(
    pdf: Pdf, data: bytes, pages: Mapping[int, tuple[str, Sequence[PlacedWords]]], owners: Mapping[StreamKey, int]
) -> None:
    """Replace pages with pictures of them, over which the new words are text. Their annotations and fields are removed.

    Args:
        pdf: the document with the new words. data: its bytes.
        pages: the text of each page, from 1, and the new words on it.
        owners: the page with which each form is read.

    Raises:
        MalformedRecord: a page cannot be drawn, or has other letters than its text.
        UnicodeEncodeError: the standard fonts do not have the new words.
    """
    reader = ContentReader(pdf, owners)
    rasters = {}
    for number, (text, _) in pages.items():
        shown = page_text(reader.read(pdf.pages[number - 1], number).glyphs).text
        if sorted("".join(shown.split())) != sorted("".join(text.split())):
            raise MalformedRecord(_DRAW, field=f"page {number}")
        try:
            rasters[number] = raster(data, number, MOST_PIXELS, SCALE)
        except (OSError, subprocess.SubprocessError, ValueError):
            raise MalformedRecord(_DRAW, field=f"page {number}") from None
        if rasters[number].width < LEAST_SCALE * rasters[number].wide:
            raise MalformedRecord("a page that is too large for a picture", field=f"page {number}")
    gone = set()
    for number, (_, words) in pages.items():
        page = pdf.pages[number - 1]
        gone |= {each.objgen for each in items(page.obj, "/Annots") if is_dictionary(each) and each.is_indirect}
        _replace(pdf, page, rasters[number], words)
    form: Any = pdf.Root.get("/AcroForm", None)
    if is_dictionary(form):
        form["/Fields"] = array(_staying(items(form, "/Fields"), gone, set()))


def _staying(fields: Iterable[Object], gone: Collection[StreamKey], seen: set[StreamKey]) -> Iterator[Object]:
    """Yield the fields that still have a widget on a page."""
    for field in fields:
        if not is_dictionary(field) or (field.is_indirect and field.objgen in seen):
            continue
        seen.add(field.objgen)
        kids = items(field, "/Kids")
        left = list(_staying(kids, gone, seen))
        if field.objgen not in gone and (left or not kids):
            if len(left) < len(kids):
                field["/Kids"] = array(left)
            yield field


def _replace(pdf: Pdf, page: Page, drawn: Raster, words: Iterable[PlacedWords]) -> None:
    """Make a page one with a picture and words only."""
    import pikepdf

    wide, high = drawn.wide, drawn.high
    picture = pdf.make_stream(b"")
    for key, value in {"/Type": name("/XObject"), "/Subtype": name("/Image"), "/ColorSpace": name("/DeviceRGB"),
                       "/Width": drawn.width, "/Height": drawn.height, "/BitsPerComponent": 8}.items():  # fmt: skip
        picture[key] = value
    parameters = dictionary({"/Predictor": 15, "/Colors": 3, "/Columns": drawn.width})
    picture.write(drawn.packed(), filter=name("/FlateDecode"), decode_parms=parameters)
    fonts: dict[str, Object] = {}
    content = [f"q {decimal(wide)} 0 0 {decimal(high)} 0 0 cm /Picture Do Q".encode()]
    flip: Matrix = (wide / drawn.width, 0, 0, -high / drawn.height, 0, high)
    for each in words:
        key = resource_name(each.font)
        fonts[key] = pdf.make_indirect(dictionary({
            "/Type": name("/Font"), "/Subtype": name("/Type1"), "/BaseFont": name(f"/{each.font}"),
            "/Encoding": name("/WinAnsiEncoding"),
        })) if key not in fonts else fonts[key]  # fmt: skip
        codes = each.text.encode("cp1252")
        usual = sum(code.width for code in standard(each.font).codes(codes)) * each.size
        narrow = decimal(100 * each.width / usual if usual else 100)
        place = " ".join(str(decimal(part)) for part in times(times(each.matrix, drawn.matrix), flip))
        content.append(
            f"BT 3 Tr {key} {decimal(each.size)} Tf {narrow} Tz {place} Tm ".encode()
            + pikepdf.String(codes).unparse() + b" Tj ET"
        )  # fmt: skip
    for key in sorted(page.obj.keys()):
        if key not in ("/Type", "/Parent"):
            del page.obj[key]
    page.obj["/MediaBox"] = array([0, 0, decimal(wide), decimal(high)])
    page.obj["/CropBox"] = array(page.obj["/MediaBox"])
    page.obj["/Rotate"] = 0
    page.obj["/Resources"] = dictionary({"/XObject": dictionary({"/Picture": picture}), "/Font": dictionary(fonts)})
    page.obj["/Contents"] = pdf.make_stream(b"\n".join(content))
