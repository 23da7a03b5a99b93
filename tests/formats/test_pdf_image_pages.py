"""Pages of a PDF that become pictures, because their fonts or their order cannot be kept with other words."""

from __future__ import annotations

import io
import zlib
from typing import Any

import pikepdf
import pypdfium2
import pytest
from pikepdf import Array, Dictionary, Name, Pdf

from incognote.errors import MalformedRecord, NotReleased, UnsupportedFormat
from incognote.formats.output import rebuilt
from incognote.formats.pdf import imaging, picture
from incognote.formats.pdf.document import PdfDocument, saved
from incognote.formats.pdf.second import texts
from incognote.formats.pictures import UncheckedPart
from incognote.formats.registry import named
from incognote.sdk import Deidentifier

from .samples.pdf import page

NAME, MRN = "Ottoline Quackenbush", "4471902"
UNREAD = "page 2 is a picture that no reader checked. Look at it before you release it"


def _content(name: str = NAME, mrn: str = MRN, first: str = "Asthma, stable.") -> bytes:
    lines = (first, f"Patient {name} was seen today and is well.", f"MRN {mrn}", "Takes salbutamol as needed.")
    return b"\n".join(
        f"BT /F1 12 Tf 1 0 0 1 60 {750 - 40 * i} Tm ({line}) Tj ET".encode() for i, line in enumerate(lines)
    )


def _spaced(pdf: Pdf, added: pikepdf.Page) -> None:
    """Add a word in which word spacing widens a letter, because the code of the space stands for that."""
    added.Resources.Font["/Odd"] = pdf.make_indirect(Dictionary(
        Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica,
        Encoding=Dictionary(Type=Name.Encoding, Differences=Array([32, Name.A])),
    ))  # fmt: skip
    added.contents_add(b"BT /Odd 12 Tf 3 Tw 1 0 0 1 60 400 Tm ( nn) Tj ET")


def _file(content: bytes | None = None, **keys: Any) -> bytes:
    """Return a file of three pages, of which the second one has a font that cannot be rewritten."""
    with pikepdf.new() as pdf:
        for number in range(3):
            added = page(pdf, _content() if content is None or number != 1 else content)
            if number == 1:
                _spaced(pdf, added)
                for key, value in keys.items():
                    added.obj[f"/{key}"] = value
        return saved(pdf)


def _edited(document: PdfDocument, *words: tuple[str, str]) -> bytes:
    changes = {
        text.field: [
            (at, at + len(old), new) for old, new in words for at in range(len(text.content))
            if text.content.startswith(old, at)
        ]
        for text in document.texts
    }  # fmt: skip
    return rebuilt(named("pdf"), document, changes, dict.fromkeys(document.actions, "[PERSON]"))


def _output(data: bytes) -> bytes:
    return _edited(PdfDocument(data), (NAME, "[PERSON]"), (MRN, "[ID]"))


def _pixels(data: bytes, number: int) -> bytes:
    """Return the gray values of a page, at 72 dpi."""
    drawn = pypdfium2.PdfDocument(data)[number - 1].render(scale=1, grayscale=True)
    assert drawn.width == drawn.stride
    return bytes(drawn.buffer)


def _drawn(data: bytes, number: int) -> bytes:
    """Return the red, green, and blue values of a page, as a picture page has them."""
    drawn = picture.raster(data, number, imaging.MOST_PIXELS, imaging.SCALE)
    rows = zlib.decompress(drawn.packed())
    length = 3 * drawn.width + 1
    return b"".join(rows[at + 1 : at + length] for at in range(0, len(rows), length))


def _differing(one: bytes, two: bytes) -> float:
    """Return the share of values that clearly differ."""
    assert len(one) == len(two)
    return sum(abs(a - b) > 80 for a, b in zip(one, two, strict=True)) / len(one)


def _everything(data: bytes) -> bytes:
    """Return all objects of a file, and the content of its streams apart from pictures."""
    found = []
    with pikepdf.open(io.BytesIO(data)) as pdf:
        for each in pdf.objects:
            found.append(each.unparse(resolved=True))
            if isinstance(each, pikepdf.Stream) and each.get("/Subtype") != "/Image":
                found.append(each.read_bytes())
    return b"\n".join(found)


def test_a_page_whose_font_cannot_be_rewritten_becomes_a_picture_and_others_stay_text() -> None:
    output = _output(_file())
    pages = [each.get_textpage().get_text_range() for each in pypdfium2.PdfDocument(output)]
    assert all("Takes salbutamol" in pages[at] for at in (0, 2))
    assert pages[1].split() == ["[PERSON]", "[ID]"]


def test_a_picture_shows_the_page_with_its_new_words_and_its_moved_line() -> None:
    with pikepdf.new() as pdf:
        _spaced(pdf, page(pdf, _content("[PERSON]", "[ID]")))
        model = _drawn(saved(pdf), 1)
    source = _file()
    with pikepdf.open(io.BytesIO(_output(source))) as pdf:
        shown = pdf.pages[1].obj.Resources.XObject.Picture.read_bytes()
    assert _differing(shown, model) < 0.0001 < 0.001 < _differing(_drawn(source, 2), model)


def test_two_names_of_different_lengths_give_the_same_picture() -> None:
    other = _file(_content("Al Fo", "99"))
    assert _pixels(_edited(PdfDocument(other), ("Al Fo", "[PERSON]"), ("99", "[ID]"), (NAME, "[PERSON]")), 2) == (
        _pixels(_output(_file()), 2)
    )


@pytest.mark.parametrize("words", [b"Ottoline", b"Quackenbush", b"4471902", b"only here"])
def test_no_string_of_the_page_is_left_in_the_file(words: bytes) -> None:
    source = _file(_content(first="Only here, only here."))
    assert words.lower() in _everything(source).lower()
    assert words.lower() not in _everything(_output(source)).lower()


def test_a_picture_page_has_no_old_font_annotation_or_field() -> None:
    link = Dictionary(Type=Name.Annot, Subtype=Name.Link, Rect=[0, 0, 9, 9], Dest=Array([0, Name.Fit]))
    note = Dictionary(Type=Name.Annot, Subtype=Name.Text, Rect=[0, 0, 9, 9], Contents=f"Call {NAME}")
    with pikepdf.open(io.BytesIO(_output(_file(Annots=Array([link, note]))))) as pdf:
        drawn = pdf.pages[1].obj
        assert set(drawn.keys()) == {"/Type", "/Parent", "/MediaBox", "/CropBox", "/Rotate", "/Resources", "/Contents"}
        assert list(drawn.Resources.Font.keys()) == ["/StdHelvetica"]
        assert list(drawn.Resources.XObject.keys()) == ["/Picture"]


def test_a_field_stays_if_one_of_its_widgets_is_on_another_page() -> None:
    with pikepdf.open(io.BytesIO(_file())) as pdf:
        fields = []
        for places in ((0, 1), (1,)):
            field = pdf.make_indirect(Dictionary(FT=Name.Tx, T="field", V=f"Seen by {NAME}", Kids=Array()))
            for number in places:
                widget = pdf.make_indirect(
                    Dictionary(Type=Name.Annot, Subtype=Name.Widget, Rect=[0, 0, 99, 9], Parent=field)
                )
                field.Kids.append(widget)
                if "/Annots" not in pdf.pages[number].obj:
                    pdf.pages[number].obj.Annots = Array()
                pdf.pages[number].obj.Annots.append(widget)
            fields.append(field)
        pdf.Root.AcroForm = pdf.make_indirect(Dictionary(Fields=Array(fields)))
        source = saved(pdf)
    with pikepdf.open(io.BytesIO(_output(source))) as pdf:
        [field] = pdf.Root.AcroForm.Fields
        assert (str(field.V), len(field.Kids)) == ("Seen by [PERSON]", 1)


@pytest.mark.parametrize("angle", [0, 90, 180, 270])
def test_words_over_a_turned_page_are_where_the_picture_shows_them(angle: int) -> None:
    output = pypdfium2.PdfDocument(_output(_file(Rotate=angle)))[1]
    drawn = output.render(scale=1, grayscale=True)
    words = output.get_textpage()
    darkest = []
    for at in range(len("[PERSON]")):
        left, bottom, right, top = (round(each) for each in words.get_charbox(at, loose=True))
        darkest.append(min(drawn.buffer[y * drawn.stride + x] for y in range(drawn.height - top, drawn.height - bottom)
                           for x in range(left, right)))  # fmt: skip
    assert max(darkest) < 120


def test_a_document_with_a_picture_page_goes_to_review() -> None:
    result = Deidentifier("strict", detectors=["rules"]).deidentify(_file(), media_type="application/pdf")
    assert [(each.code, each.detail) for each in result.verdict.reasons] == [("not-verified", UNREAD)]
    assert result.verdict.outcome == "review"
    with pytest.raises(NotReleased):
        _ = result.data


def test_the_second_reader_names_each_picture_page_and_still_reads_the_others() -> None:
    found = list(texts(_output(_file())))
    assert [each for each in found if isinstance(each, UncheckedPart)] == [UNREAD]
    assert any("Takes salbutamol" in each for each in found)


def test_a_picture_page_is_held_if_it_is_a_source() -> None:
    with pytest.raises(UnsupportedFormat, match="a page with a large picture"):
        PdfDocument(_output(_file()))


def test_a_page_that_reads_differently_after_edits_becomes_a_picture() -> None:
    with pikepdf.new() as pdf:
        page(pdf, _content())
        page(pdf, _content())
        source = saved(pdf)
    document, changes = PdfDocument(source), {"body": [(0, 6, "[DRUG]")]}
    output = rebuilt(named("pdf"), document, changes, {})
    with pikepdf.open(io.BytesIO(output)) as pdf:
        pdf.pages[1].contents_add(b"BT /F1 12 Tf 1 0 0 1 60 90 Tm (more) Tj ET")
        other = PdfDocument(saved(pdf))
    assert document.draw_more(other, changes)
    again = pypdfium2.PdfDocument(rebuilt(named("pdf"), document, changes, {}))
    assert [bool(each.get_textpage().get_text_range()) for each in again] == [True, False]
    assert not document.draw_more(other, changes)


def test_a_page_is_not_drawn_if_it_does_not_have_the_letters_of_its_text() -> None:
    with pikepdf.new() as pdf:
        page(pdf, _content())
        with pytest.raises(MalformedRecord, match="cannot be drawn"):
            imaging.draw(pdf, saved(pdf), {1: ("[PERSON]", [])}, {})


def test_pages_of_a_form_in_their_own_fonts_become_pictures() -> None:
    with pikepdf.new() as pdf:
        form = pdf.make_stream(b"BT /F1 12 Tf 60 300 Td (Asthma) Tj ET")
        form.Type, form.Subtype, form.BBox = Name.XObject, Name.Form, Array([0, 0, 595, 842])
        for _ in range(2):
            page(pdf, _content() + b" /Fm Do").Resources.XObject = Dictionary(Fm=form)
        page(pdf, _content())
        output = _output(saved(pdf))
    assert [str(each) for each in texts(output) if isinstance(each, UncheckedPart)] == [
        UNREAD.replace("2", str(number)) for number in (1, 2)
    ]


def test_a_picture_of_a_huge_page_has_few_pixels_and_the_document_is_held() -> None:
    source = _file(MediaBox=Array([0, 0, 14400, 14400]))
    drawn = picture.raster(source, 2, imaging.MOST_PIXELS, imaging.SCALE)
    assert max(drawn.width, drawn.height) <= imaging.MOST_PIXELS
    with pytest.raises(MalformedRecord, match="too large for a picture") as raised:
        _output(source)
    assert raised.value.field == "page 2"


def test_a_document_with_more_picture_pages_than_the_limit_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incognote.formats.pdf.document.MOST_DRAWN", 0)
    with pytest.raises(MalformedRecord, match="word spacing after a letter"):
        _output(_file())
