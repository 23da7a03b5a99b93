"""The fonts of a PDF after edits: no letter that was removed, and no number that tells the order of the others."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pikepdf
import pypdfium2
import pytest
from fontTools.misc import eexec
from fontTools.ttLib import TTFont
from pikepdf import Array, Dictionary, Name

from incognote.errors import MalformedRecord
from incognote.formats.base import Edit, FieldEdit, TextEdit
from incognote.formats.pdf.document import PdfDocument, saved
from incognote.formats.pdf.subset import renumbered
from incognote_benchmarks.documents import corpus, pattern

from .samples.pdf import page

DATA = Path(__file__).parents[1] / "data"
FILES = {file.path.name: file for file in corpus(DATA / "documents") if file.path.suffix == ".pdf"}
KINDS = ["lo-text-0.pdf", "lo-discharge-letter.pdf", "cairo-lo-transfer-letter.pdf",
         "cairo-chromium-lab-cumulative.pdf", "chromium-leaflet.pdf", "reportlab-fax-referral.pdf",
         "tex-consent-form.pdf", "cairo-tex-consent-form.pdf", "tex-bitmap-fonts.pdf",
         "type3-with-map.pdf"]  # fmt: skip


def _edited(name: str) -> bytes:
    """Return a file without its identifiers."""
    document = PdfDocument(FILES[name].path.read_bytes())
    edits: list[Edit] = [FieldEdit(action, "[NAME]") for action in document.actions]
    for text in document.texts:
        places = {m.span() for words in FILES[name].identifiers for m in pattern(words).finditer(text.content)}
        taken = 0
        for start, end in sorted(places, key=lambda place: (place[0], -place[1])):
            if start >= taken:
                edits.append(TextEdit(text.field, start, end, "[ID]"))
                taken = end
    out = io.BytesIO()
    document.rebuild(edits, out)
    return out.getvalue()


def _renumbered(data: bytes) -> bytes:
    with pikepdf.open(io.BytesIO(data)) as pdf:
        renumbered(pdf)
        pdf.remove_unreferenced_resources()
        return saved(pdf)


def _maps(data: bytes) -> list[tuple[Dictionary, list[tuple[int, str]]]]:
    """Return each font with its map to Unicode."""
    found = []
    with pikepdf.open(io.BytesIO(data)) as pdf:
        for each in pdf.objects:
            if isinstance(each, Dictionary) and "/ToUnicode" in each:
                pairs = re.findall(rb"^<(\w+)> <(\w{4,})>$", bytes(each.ToUnicode.read_bytes()), re.MULTILINE)
                texts = [(int(code, 16), bytes.fromhex(text.decode()).decode("utf-16-be")) for code, text in pairs]
                inner = each.DescendantFonts[0] if "/DescendantFonts" in each else each
                found.append((pikepdf.Dictionary(inner), texts))
                descriptor = inner.get("/FontDescriptor", Dictionary())
                for key in ("/FontFile", "/FontFile2"):
                    if key in descriptor:
                        _check_program(key, bytes(descriptor[key].read_bytes()), int(descriptor[key].Length1), texts)
    return found


def _check_program(key: str, data: bytes, clear: int, texts: list[tuple[int, str]]) -> None:
    """Assert that a program has the glyphs of a map, and those that they consist of, and no others."""
    if key == "/FontFile2":
        font = TTFont(io.BytesIO(data))
        order = font.getGlyphOrder()
        parts = {part for each in order for part in font["glyf"][each].getComponentNames(font["glyf"])}
        assert len([each for each in order if each not in parts]) <= len(texts) + 1
        assert "name" not in font
    else:
        plain = eexec.decrypt(data[clear:], 55665)[0]
        count = re.search(rb"/CharStrings (\d+)", plain)
        assert count is not None
        assert int(count[1]) <= len(texts) + 3  # and the parts of accented letters


def _pixels(data: bytes) -> list[bytes]:
    with pypdfium2.PdfDocument(data) as pdf:
        return [each.render(scale=100 / 72).to_numpy().tobytes() for each in pdf]


@pytest.mark.parametrize("name", KINDS)
def test_codes_are_in_the_order_of_their_characters(name: str) -> None:
    fonts = _maps(_renumbered(_edited(name)))
    assert fonts
    for _, texts in fonts:
        own = [text for code, text in texts if code not in (0, 32) and text != "\ufffd"]  # 0: no glyph, 32: the space
        assert own == sorted(own)


def test_codes_of_one_byte_spell_no_words() -> None:
    [fonts] = [_maps(_renumbered(_edited("tex-consent-form.pdf")))]
    codes = {code for font, texts in fonts if font.Subtype == "/Type1" for code, _ in texts}
    assert len(codes) > 40
    assert not any(bytes([code]).isalnum() for code in codes)


@pytest.mark.parametrize("name", KINDS)
def test_a_page_looks_and_reads_the_same_and_stays_so(name: str) -> None:
    before = _edited(name)
    after = _renumbered(before)
    assert _pixels(after) == _pixels(before)
    document = PdfDocument(after)
    assert document.texts == PdfDocument(before).texts
    again = io.BytesIO()
    document.rebuild([FieldEdit(action, action.text.content) for action in document.actions], again)
    assert again.getvalue() == after
    assert _renumbered(after) == after


@pytest.mark.parametrize("name", ["lo-discharge-letter.pdf", "cairo-lo-transfer-letter.pdf", "tex-consent-form.pdf"])
def test_letters_that_are_not_shown_any_more_are_in_no_font(name: str) -> None:
    document = PdfDocument(FILES[name].path.read_bytes())
    edits: list[Edit] = [FieldEdit(action, "") for action in document.actions]
    edits += [TextEdit("body", m.start(), m.end(), "-") for m in re.finditer("[aeM]", document.texts[0].content)]
    out = io.BytesIO()
    document.rebuild(edits, out)
    fonts = _maps(_renumbered(out.getvalue()))
    assert fonts
    assert not {text for _, texts in fonts for _, text in texts} & set("aeM")


@pytest.mark.parametrize("name", ["lo-text-0.pdf", "chromium-leaflet.pdf", "tex-ward-book.pdf", "tex-bitmap-fonts.pdf"])
def test_a_font_that_shows_nothing_loses_its_program_and_its_characters(name: str) -> None:
    with pikepdf.open(FILES[name].path) as pdf:
        for each in pdf.pages:
            each.Contents = pdf.make_stream(b"".join(f"BT {key} 9 Tf ET ".encode() for key in each.Resources.Font))
        out = io.BytesIO()
        pdf.save(out)
    data = _renumbered(out.getvalue())
    assert not PdfDocument(data).texts or PdfDocument(data).texts[0].field != "body"
    with pikepdf.open(io.BytesIO(data)) as after:
        left = {key for each in after.objects if isinstance(each, Dictionary) for key in each.keys()}  # noqa: SIM118 -- not a dict
        assert not left & {"/FontFile", "/FontFile2", "/ToUnicode", "/Widths", "/W", "/CharProcs"}


def test_names_of_glyphs_in_the_order_of_their_use_become_others() -> None:
    pdf = pikepdf.new()
    fonts = page(pdf, b"BT /F2 10 Tf 50 700 Td <010203> Tj ET").Resources.Font
    fonts.F2 = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Courier,
                          Encoding=Dictionary(Differences=Array([1, Name.z, Name.a, Name.m, Name.k])))  # fmt: skip
    out = io.BytesIO()
    pdf.save(out)
    with pikepdf.open(io.BytesIO(_renumbered(out.getvalue()))) as after:
        font = after.pages[0].Resources.Font.F2
        names = [str(each) for each in font.Encoding.Differences if isinstance(each, Name)]
        assert names == ["/a", "/m", "/z"]
        shown = next(each for each in pikepdf.parse_content_stream(after.pages[0]) if str(each.operator) == "Tj")
        assert bytes(shown.operands[0]) == b"\x03\x01\x02"


def test_ligatures_of_a_font_that_is_not_in_the_file_are_still_shown() -> None:
    pdf = pikepdf.new()
    fonts = page(pdf, b"BT /F2 20 Tf 50 700 Td (There is no con\\002ict in the \\001nal report) Tj ET").Resources.Font
    fonts.F2 = Dictionary(
        Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica,
        Encoding=Dictionary(BaseEncoding=Name.WinAnsiEncoding, Differences=Array([1, Name.fi, Name.fl])),
    )  # fmt: skip
    before = saved(pdf)
    assert _pixels(_renumbered(before)) == _pixels(before)


def test_a_program_that_cannot_be_read_is_refused() -> None:
    with pikepdf.open(FILES["lo-text-0.pdf"].path) as pdf:
        for each in pdf.objects:
            if isinstance(each, Dictionary) and "/FontFile2" in each:
                each.FontFile2.write(b"\0\1\0\0 Jane Doe")
        with pytest.raises(MalformedRecord, match="Print the document") as problem:
            renumbered(pdf)
        assert "Jane" not in str(problem.value)
