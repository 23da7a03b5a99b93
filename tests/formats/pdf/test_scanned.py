"""Scanned PDF files: pages that are read from their pixels and written as pictures with invisible text."""

from __future__ import annotations

import io
import subprocess

import numpy as np
import pikepdf
import pypdfium2
import pytest
from pikepdf import Array, Dictionary, Name
from PIL import Image

from incognote.formats.images.reading import PageReading
from incognote.formats.output import rebuilt
from incognote.formats.pdf import scanned, second
from incognote.formats.pdf.scanned import PdfPages, ScannedPdf
from incognote.formats.pictures import UncheckedPart
from incognote.pages.nouns import Turn, Word

from ..images import made  # noqa: TID252 -- tests are not a package, so absolute imports cannot reach it
from . import scans

PLANTED = "Featherstonehaugh"


@pytest.fixture(autouse=True)
def _read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incognote.formats.images.reading.reading_of", made.reader_of())
    monkeypatch.setattr(scanned, "raster", scans.raster)


def test_opening_reads_and_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(*_: object) -> None:
        raise AssertionError("worked")

    monkeypatch.setattr("incognote.formats.images.reading.reading_of", work)
    monkeypatch.setattr(scanned, "raster", work)
    assert len(scans.opened(scans.file("1", "L")).file) == 2


def test_black_and_white_stays_so_and_is_exact_and_small() -> None:
    data = scans.file("1")
    document, output, changes = scans.redacted(data)
    with pikepdf.open(io.BytesIO(output)) as pdf:
        [image] = pdf.pages[0].Resources.XObject.values()
        assert (image.BitsPerComponent, image.Filter) == (1, Name.CCITTFaxDecode)
        pixels = np.array(pikepdf.PdfImage(image).as_pil_image().convert("L"))
    where = made.inside([cover.box for cover in document._covers(changes)[0]])
    assert np.array_equal(pixels[~where], np.asarray(made.page("1").convert("L"))[~where])
    assert (pixels[where] < 128).mean() > 0.5
    assert np.array_equal(scans.drawn(pypdfium2.PdfDocument(output)[0]), pixels)  # PDFium shows the same
    assert len(output) < 8_000


@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_gray_and_colored_scans_keep_their_mode_size_and_pixels_outside_of_covers(mode: str) -> None:
    document, output, changes = scans.redacted(scans.file(mode))
    page = document.file.page(1)
    with pikepdf.open(io.BytesIO(output)) as pdf:
        [image] = pdf.pages[0].Resources.XObject.values()
        assert (image.Filter, image.Width, image.Height) == (Name.DCTDecode, *made.SIZE)
        assert image.ColorSpace == (Name.DeviceGray if mode == "L" else Name.DeviceRGB)
        pixels = np.array(pikepdf.PdfImage(image).as_pil_image())
    where = made.inside([cover.box for cover in document._covers(changes)[0]])
    assert np.abs(pixels.astype(np.int16) - page.pixels)[~where].mean() < 5
    assert pixels[where].mean() < 110  # most of it is black


def test_pages_keep_their_size_in_points_and_are_upright() -> None:
    with pikepdf.new() as pdf:
        scans.add(pdf, made.page("1"))
        scans.add(pdf, made.page("1"), Rotate=90)
        scans.add(pdf, made.page("1"), Rotate=180)
        scans.add(pdf, made.page("1", (500, 700)), scale=0.36)
        scans.add(pdf, made.page("1", (333, 471)), scale=1.0, CropBox=Array([0, 100, 333, 471]))
        data = scans.saved(pdf)
    _, output, _ = scans.redacted(data)
    old, new = pypdfium2.PdfDocument(data), pypdfium2.PdfDocument(output)
    assert len(old) == len(new) == 5
    for number, (one, other) in enumerate(zip(old, new, strict=True)):
        assert other.get_size() == pytest.approx(one.get_size(), abs=0.01)
        assert np.abs(scans.drawn(one) - scans.drawn(other)).mean() < 40, number
    assert np.abs(scans.drawn(new[1]) - np.rot90(np.asarray(made.page("1").convert("L")), -1)).mean() < 30


@pytest.mark.parametrize(
    ("size", "points", "expected"),
    [((1700, 2200), (612, 792), 200), ((2550, 3300), (612, 792), 300), ((5100, 6600), (612, 792), 300),
     ((1654, 2339), (595.276, 841.89), 200), ((1728, 1078), (612, 792), 203.3), ((850, 1100), (612, 792), 100),
     ((200, 100), (612, 792), 200), ((40, 52), (612, 792), 100)],
)  # fmt: skip
def test_a_page_is_drawn_at_the_resolution_of_its_scan(
    size: tuple[int, int], points: tuple[float, float], expected: float
) -> None:
    with pikepdf.new() as pdf:
        pdf.add_blank_page(page_size=points)
        pdf.pages[0].Resources = Dictionary(XObject=Dictionary(Scan=scans.stream(pdf, Image.new("1", size, 1))))
        pdf.pages[0].Contents = pdf.make_stream(f"q {points[0]} 0 0 {points[1]} 0 0 cm /Scan Do Q".encode())
        assert scanned._resolution(pdf.pages[0]) == pytest.approx(expected, rel=0.002)


def test_a_scan_of_odd_size_is_drawn_pixel_by_pixel() -> None:
    image = Image.fromarray((np.random.default_rng(0).integers(0, 2, (585, 414)) * 255).astype(np.uint8)).convert("1")
    with pikepdf.new() as pdf:
        pdf.add_blank_page(page_size=(148.819, 210.472))
        pdf.pages[0].Resources = Dictionary(XObject=Dictionary(Scan=scans.stream(pdf, image)))
        pdf.pages[0].Contents = pdf.make_stream(b"q 148.819 0 0 210.472 0 0 cm /Scan Do Q")
        page = PdfPages(scans.saved(pdf)).page(1)
    assert page.mode == "1"
    assert np.array_equal(page.pixels, np.asarray(image.convert("L")))


def test_gray_that_is_no_edge_is_not_lost() -> None:
    faint = made.page("L")
    faint.paste(200, (200, 100, 240, 110))
    smooth = Image.fromarray(np.full((50, 50), 255, np.uint8))
    smooth.paste(0, (10, 10, 30, 30))
    assert not scanned._is_black_and_white(np.asarray(Image.eval(faint, lambda value: max(value, 90))))
    for value in (255, 0):
        assert scanned._is_black_and_white(np.full((50, 50), value, np.uint8))
    assert scanned._is_black_and_white(np.asarray(smooth.resize((73, 73), Image.Resampling.BILINEAR)))


def test_the_words_that_stay_can_be_searched_and_the_covered_ones_cannot() -> None:
    _, output, _ = scans.redacted(scans.file("1"))
    assert scans.shown(output).split() == ["Patient:", "Asthma,", "stable"]
    found = pypdfium2.PdfDocument(output)[0].get_textpage()
    place = found.search("Asthma,").get_next()
    assert place is not None
    left, bottom, right, top = found.get_charbox(place[0])
    box = made.WORDS["Asthma,"]
    assert box[0] * scans.SCALE - 1 < left < right < box[2] * scans.SCALE
    assert (made.SIZE[1] - box[3]) * scans.SCALE - 2 < bottom < top < (made.SIZE[1] - box[1]) * scans.SCALE + 2
    everything = scans.everything(output)
    for word in (made.NAME, made.SURNAME):
        for form in (word.encode(), word.encode("utf-16-be"), word.encode().hex().encode()):
            assert form not in everything


def test_another_program_finds_the_words_too() -> None:
    _, output, _ = scans.redacted(scans.file("1"))
    try:
        done = subprocess.run(("pdftotext", "-layout", "-", "-"), input=output, capture_output=True, check=True)
    except FileNotFoundError:
        pytest.skip("needs pdftotext")
    assert done.stdout.decode().split() == ["Patient:", "Asthma,", "stable"]


def test_invisible_words_are_drawn_nowhere_and_follow_the_turn_of_theirs(monkeypatch: pytest.MonkeyPatch) -> None:

    places: dict[str, tuple[Turn, tuple[int, int, int, int]]] = {
        "upright": (0, (20, 20, 85, 40)), "down": (90, (300, 20, 316, 80)), "over": (180, (100, 150, 140, 170)),
        "rise": (270, (280, 100, 296, 130)),
    }  # fmt: skip
    words = tuple(Word(text, box, 0.9, line, turn) for line, (text, (turn, box)) in enumerate(places.items()))
    reading = PageReading(words, words, (), (), 0.9)
    monkeypatch.setattr("incognote.formats.images.reading.reading_of", lambda pixels, dpi: reading)
    output = rebuilt(scans.PDF, scans.opened(scans.file("1")), {}, {})
    page = pypdfium2.PdfDocument(output)[0]
    found = page.get_textpage()
    for text, (_, (left, top, right, bottom)) in places.items():
        place = found.search(text).get_next()
        assert place is not None
        for at in range(place[0], place[0] + place[1]):
            x0, y0, x1, y1 = found.get_charbox(at)
            assert left * scans.SCALE - 3 < x0 <= x1 < right * scans.SCALE + 3
            assert (made.SIZE[1] - bottom) * scans.SCALE - 3 < y0 <= y1 < (made.SIZE[1] - top) * scans.SCALE + 3
    first, last = (found.get_charbox(found.search("down").get_next()[0] + at) for at in (0, 3))
    assert first[1] > last[1]
    assert np.array_equal(scans.drawn(page), np.asarray(made.page("1").convert("L")))


def test_words_that_the_encoding_does_not_have_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    words = dict(zip(("(café)\\", "حسن", "Łódź", "ß €"), made.WORDS.values(), strict=False))
    monkeypatch.setattr("incognote.formats.images.reading.reading_of", made.reader_of(words))
    document = scans.opened(scans.file("1"))
    output = rebuilt(scans.PDF, document, {}, {})
    assert "".join(scans.shown(output).split()) == "(café)\\ß€"
    assert not [each for each in second.beside_pictures(output, scans.expected(document, {})) if each.strip()]


def test_a_word_that_a_cover_touches_is_no_invisible_text(monkeypatch: pytest.MonkeyPatch) -> None:
    words = dict(made.WORDS) | {"uackenbush": (185, 22, 272, 42), "next": (274, 20, 310, 40)}
    monkeypatch.setattr("incognote.formats.images.reading.reading_of", made.reader_of(words))
    _, output, _ = scans.redacted(scans.file("1"), (made.SURNAME, "[PERSON]"))
    assert "uackenbush" not in scans.shown(output)
    assert "next" in scans.shown(output)


def _laden() -> bytes:
    """Return a scan with the text of a scanner, annotations, a field, an attachment, bookmarks, and properties."""
    with pikepdf.new() as pdf:
        hidden = f"BT 3 Tr /F1 12 Tf 1 0 0 1 20 120 Tm ({PLANTED}) Tj ET".encode()
        page = scans.add(pdf, made.page("1"), more=hidden)
        note = Dictionary(Type=Name.Annot, Subtype=Name.Text, Rect=Array([0, 0, 20, 20]), Contents=PLANTED, T=PLANTED)
        field = Dictionary(Type=Name.Annot, Subtype=Name.Widget, FT=Name.Tx, T=PLANTED, V=PLANTED)
        form = pdf.make_indirect(field)
        page.obj.Annots = Array([pdf.make_indirect(note), form])
        page.obj.PieceInfo = Dictionary(Maker=Dictionary(Private=pikepdf.String(PLANTED)))
        pdf.Root.AcroForm = Dictionary(Fields=Array([form]))
        pdf.Root.Lang = pikepdf.String(PLANTED)
        pdf.attachments[f"{PLANTED}.txt"] = PLANTED.encode()
        with pdf.open_outline() as outline:
            outline.root.append(pikepdf.OutlineItem(PLANTED, 0))
        with pdf.open_metadata() as meta:
            meta["dc:title"] = PLANTED
        pdf.docinfo["/Author"] = PLANTED
        return scans.saved(pdf) + f"\n% {PLANTED}\n".encode()


def test_nothing_but_pictures_and_words_is_in_an_output() -> None:
    assert scans.everything(_laden()).count(PLANTED.encode()) >= 6
    document = ScannedPdf(_laden())
    output = rebuilt(scans.PDF, document, made.changes_of(document, *scans.LABELS), {})
    everything = scans.everything(output)
    for form in (PLANTED.encode(), PLANTED.encode("utf-16-be"), PLANTED.encode().hex().encode()):
        assert form not in everything
    with pikepdf.open(io.BytesIO(output)) as pdf:
        assert set(pdf.Root.keys()) == {"/Type", "/Pages"}
        assert set(pdf.pages[0].keys()) == {"/Type", "/Parent", "/MediaBox", "/Resources", "/Contents"}
        assert "/Info" not in pdf.trailer
        assert not pdf.attachments
    assert not any(PLANTED in text for text in second.texts(output) if not isinstance(text, UncheckedPart))


def test_the_same_input_gives_the_same_bytes() -> None:
    assert scans.redacted(scans.file("L"))[1] == scans.redacted(scans.file("L"))[1]
