"""What is derived from redacted pages holds no covered word: their text, hOCR, and a searchable PDF."""

from __future__ import annotations

import io
import pickle
import re
import sys
import tracemalloc
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from incognote.errors import MissingExtra
from incognote.formats.base import UNWORDED, Change, splice
from incognote.formats.images.derived import VisiblePages, visible_pages
from incognote.formats.images.document import BODY, ImageDocument
from incognote.formats.images.reading import PageReading
from incognote.formats.output import rebuilt
from incognote.formats.registry import open_one
from incognote.formats.text import FORMATS as TEXT
from incognote.nouns import PageBox
from incognote.pages.nouns import Region, Word

from . import made

LABELS = ((f"{made.NAME} {made.SURNAME}", "[PERSON]"),)
TWO_PAGES = made.tiff((made.page("1"), {"compression": "group4", "dpi": (204, 98)}), (made.page("RGB"), {}))
BLANK = made.saved(Image.new("L", made.SIZE, 255), "PNG")
BOX = "{http://www.w3.org/1999/xhtml}span"


def _read(monkeypatch: pytest.MonkeyPatch, words: Sequence[Word], codes: Sequence[Region] = ()) -> None:
    found = PageReading(tuple(words), tuple(words), tuple(codes), (), 0.9)
    monkeypatch.setattr("incognote.formats.images.reading.reading_of", lambda pixels, dpi: found)


def _line(text: str, line: int = 0, turn: Any = 0) -> list[Word]:
    """Return the words of a line, ten pixels for each letter."""
    top = 20 + 30 * line
    return [
        Word(match[0], (10 + 10 * match.start(), top, 10 + 10 * match.end(), top + 20), 0.8, line, turn)
        for match in re.finditer(r"\S+", text)
    ]


def _released(
    data: bytes, *replaced: tuple[str, str], changes: dict[str, list[Change]] | None = None
) -> tuple[VisiblePages, bytes, str]:
    """Return what is visible on an output, the output, and the new text of the machine."""
    form, document = open_one(data, None)
    assert isinstance(document, ImageDocument)
    changes = made.changes_of(document, *replaced) if changes is None else changes
    output = rebuilt(form, document, changes, {})
    pages = visible_pages(document, form.name, changes)
    assert pages is not None
    return pages, output, splice(document.texts[0].content, changes.get(BODY, []))


def _text(pages: VisiblePages, output: bytes = b"") -> str:
    text = pages.derived("text", output)
    assert isinstance(text, str)
    return text


def _words(pages: VisiblePages, output: bytes = b"") -> list[tuple[str, str, bool]]:
    """Return each word of the hOCR with its title, and whether it replaces others."""
    hocr = pages.derived("hocr", output)
    assert isinstance(hocr, str)
    root = ElementTree.fromstring(hocr.encode())
    return [
        ("".join(span.itertext()), span.attrib["title"], span.find(f"{BOX}[@class='replaced']") is not None)
        for span in root.iter(BOX) if span.attrib["class"] == "ocrx_word"
    ]  # fmt: skip


def _box(title: str) -> list[int]:
    """Return the box in a title of hOCR."""
    return [int(side) for side in title.partition(";")[0].split()[1:]]


def _pdf_text(pages: VisiblePages, output: bytes) -> list[str]:
    pdfium = pytest.importorskip("pypdfium2")
    data = pages.derived("pdf", output)
    assert isinstance(data, bytes)
    return [page.get_textpage().get_text_range() for page in pdfium.PdfDocument(data)]


def test_the_text_has_the_lines_of_each_page_with_new_words_and_a_form_feed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incognote.formats.images.reading.reading_of", made.reader_of())
    page = "Patient: [PERSON]\nAsthma, stable\n"
    assert _text(_released(TWO_PAGES, *LABELS)[0]) == f"{page}\f{page}"


def test_a_surrogate_stands_where_the_original_stood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incognote.formats.images.reading.reading_of", made.reader_of())
    pages, output, _ = _released(TWO_PAGES, (f"{made.NAME} {made.SURNAME}", "Ida Moss"))
    assert _text(pages).startswith("Patient: Ida Moss\nAsthma, stable\n")
    assert "Ida Moss" in _pdf_text(pages, output)[1]


def test_what_covers_hide_beside_a_change_is_in_nothing_that_is_derived(monkeypatch: pytest.MonkeyPatch) -> None:
    _read(monkeypatch, _line("Seen by Dr. Emily Carter, MD today."))
    pages, output, text = _released(BLANK, ("Emily Carter", "[PERSON]"))
    assert "Dr. [PERSON], MD" in text
    assert _text(pages) == "Seen by [PERSON], today.\n"
    assert [word for word, _, _ in _words(pages)] == ["Seen", "by", "[PERSON]", "today."]
    assert _pdf_text(pages, output)[0].split() == ["Seen", "by", "[PERSON]", "today."]


def test_the_rest_of_a_word_is_left_out_except_for_punctuation(monkeypatch: pytest.MonkeyPatch) -> None:
    _read(monkeypatch, _line("Name:Winslow (Ward) rests."))
    pages, _, text = _released(BLANK, ("Winslow", "[PERSON]"), ("Ward", "[PERSON]"))
    assert "Name:[PERSON] ([PERSON])" in text
    assert _text(pages) == "[PERSON] ([PERSON]) rests.\n"
    assert [word for word, _, _ in _words(pages)] == ["[PERSON]", "[PERSON]", "rests."]


def test_a_word_without_area_is_left_out_if_it_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    _read(monkeypatch, [Word("Winslow", (30, 30, 30, 50), 0.9), *_line("rests.", 2)])
    pages, output, _ = _released(BLANK, ("Winslow", "[PERSON]"))
    assert "Winslow" not in _text(pages) + str(_words(pages)) + _pdf_text(pages, output)[0]


def test_a_change_over_two_lines_is_drawn_once_where_there_is_most_room(monkeypatch: pytest.MonkeyPatch) -> None:
    _read(monkeypatch, [*_line("lives at 9 Elm", 0), *_line("Terrace Springfield now", 1)])
    pages, _, _ = _released(BLANK, ("9 Elm\nTerrace Springfield", "[ADDRESS]"))
    assert _text(pages) == "lives at [ADDRESS] now\n"
    [(_, title, _)] = [each for each in _words(pages) if each[2]]
    assert _box(title) == pytest.approx((10, 50, 200, 70), abs=8)


def test_a_region_without_words_has_its_label_and_no_character_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = [Region("QR_Bar_Code", (20, 120, 120, 180)), Region("QR_Bar_Code", (200, 120, 260, 180))]
    _read(monkeypatch, _line("Scan the code."), codes)
    _, document = open_one(BLANK, None)
    at = document.texts[0].content.index(UNWORDED)
    pages, _, _ = _released(BLANK, changes={BODY: [(at, at + 1, "[BARCODE]")]})
    assert _text(pages) == "Scan the code.\n[BARCODE]\n"
    (word, title, new) = _words(pages)[-1]
    assert (word, new) == ("[BARCODE]", True)
    assert _box(title) == pytest.approx((20, 120, 120, 180), abs=12)


def test_a_region_that_a_person_added_covers_words_and_has_its_label(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incognote.formats.images.reading.reading_of", made.reader_of())
    form, document = open_one(TWO_PAGES, None)
    assert isinstance(document, ImageDocument)
    document = document.with_regions([PageBox(2, 10, 60, 88, 100, "HANDWRITING")])
    at = len(document.texts[0].content) - 1
    changes = {BODY: [(at, at + 1, "[HANDWRITING]")]}
    output = rebuilt(form, document, changes, {})
    pages = visible_pages(document, form.name, changes)
    assert pages is not None
    first, second = _text(pages).split("\f")
    assert first == f"Patient: {made.NAME} {made.SURNAME}\nAsthma, stable\n"
    assert second == f"Patient: {made.NAME} {made.SURNAME}\nstable\n[HANDWRITING]\n"
    assert _words(pages)[-1] == ("[HANDWRITING]", "bbox 10 60 88 100; x_wconf 100", True)
    assert "Asthma" not in _pdf_text(pages, output)[1]


def test_hocr_has_pages_lines_and_words_with_boxes_and_confidences(monkeypatch: pytest.MonkeyPatch) -> None:
    _read(monkeypatch, [*_line("pulse <90 & well"), *_line("Zoë \ud800", 1, 90)])
    pages, _, _ = _released(BLANK, ("well", "[X]"))
    hocr = str(pages.derived("hocr", b""))
    root = ElementTree.fromstring(hocr.encode())
    parts = {name: [each.attrib for each in root.iter() if each.attrib.get("class") == name] for name in (
        "ocr_page", "ocr_line", "ocrx_word",
    )}  # fmt: skip
    assert [each["title"] for each in parts["ocr_page"]] == ["bbox 0 0 320 200; ppageno 0"]
    assert [each["title"] for each in parts["ocr_line"]][1:] == ["bbox 10 50 60 70; textangle 270"]
    assert _box(parts["ocr_line"][0]["title"]) == pytest.approx((10, 20, 170, 40), abs=8)
    assert parts["ocrx_word"][0]["title"] == "bbox 10 20 60 40; x_wconf 80"
    assert len({each["id"] for each in (*parts["ocr_page"], *parts["ocr_line"], *parts["ocrx_word"])}) == 9
    assert [(word, new) for word, _, new in _words(pages)] == [
        ("pulse", False), ("<90", False), ("&", False), ("[X]", True), ("Zoë", False), ("", False)
    ]  # fmt: skip


@pytest.mark.parametrize("mode", ["1", "L", "RGB", "P"])
def test_the_pdf_has_the_redacted_pictures_at_their_size_and_the_words_at_their_places(
    monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    pdfium = pytest.importorskip("pypdfium2")
    monkeypatch.setattr("incognote.formats.images.reading.reading_of", made.reader_of())
    pages, output, _ = _released(made.saved(made.page(mode), "PNG", dpi=(100, 100)), *LABELS)
    [page] = pdfium.PdfDocument(pages.derived("pdf", output))
    assert page.get_size() == pytest.approx((320 * 0.72, 200 * 0.72), abs=0.1)
    [picture] = page.get_objects(filter=[pdfium.raw.FPDF_PAGEOBJ_IMAGE])
    drawn = np.asarray(picture.get_bitmap().to_pil().convert("RGB"), dtype=np.int16)
    assert np.abs(drawn - made.pixels_of(output)).mean() < 8
    found = page.get_textpage()
    at, count = found.search("stable").get_next()
    (left, bottom, _, _), (_, _, right, top) = found.get_charbox(at), found.get_charbox(at + count - 1)
    wide = made.WORDS["stable"]
    assert (left, right) == pytest.approx((wide[0] * 0.72, wide[2] * 0.72), abs=4)
    assert 144 - wide[3] * 0.72 - 2 < bottom < top < 144 - wide[1] * 0.72 + 2


@pytest.mark.parametrize(("dpi", "size"), [(None, (115.2, 72.0)), ((11, 11), (2094.5, 1309.1))])
def test_a_page_without_a_resolution_has_200_pixels_for_an_inch(
    monkeypatch: pytest.MonkeyPatch, dpi: tuple[int, int] | None, size: tuple[float, float]
) -> None:
    pdfium = pytest.importorskip("pypdfium2")
    monkeypatch.setattr("incognote.formats.images.reading.reading_of", made.reader_of())
    data = made.saved(made.page(), "PNG", **({"dpi": dpi} if dpi else {}))
    pages, output, _ = _released(data, *LABELS)
    [page] = pdfium.PdfDocument(pages.derived("pdf", output))
    assert page.get_size() == pytest.approx(size, abs=1)


def test_no_side_of_a_page_is_longer_than_pdf_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    pdfium = pytest.importorskip("pypdfium2")
    monkeypatch.setattr("incognote.formats.images.reading.reading_of", made.reader_of())
    data = made.saved(made.page("L", (4000, 200)), "PNG", dpi=(11, 11))
    pages, output, _ = _released(data, *LABELS)
    [page] = pdfium.PdfDocument(pages.derived("pdf", output))
    assert page.get_size() == pytest.approx((14_400, 720), abs=1)


LETTERS = st.sampled_from(["Anna", "Berg", "MRN:", "4711", "pain,", "Dr.", "MD", "(x)", "-", "May"])


@st.composite
def _pages(draw: st.DrawFn) -> tuple[list[Word], list[Change]]:
    """Return words whose texts have numbers of their own, and changes that begin and end within words."""
    lines = draw(st.lists(st.lists(LETTERS, min_size=1, max_size=5), min_size=1, max_size=4))
    numbered = [[f"{word}{number}{at}" for at, word in enumerate(line)] for number, line in enumerate(lines)]
    words = [word for number, line in enumerate(numbered) for word in _line(" ".join(line), number)]
    text = "\n".join(map(" ".join, numbered))
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    within = [(a, b) for a, b in pairs if not (text[a].isspace() or text[b - 1].isspace())]
    return words, [(a, b, draw(st.sampled_from(["‹A›", "‹B C›", ""]))) for a, b in within]


@given(_pages())
@settings(max_examples=100)
def test_nothing_that_is_derived_has_a_covered_word_or_one_that_the_audit_did_not_read(
    case: tuple[list[Word], list[Change]],
) -> None:
    words, changes = case
    with pytest.MonkeyPatch.context() as patch:
        _read(patch, words)
        pages, output, audited = _released(BLANK, changes={BODY: changes})
        _, document = open_one(BLANK, None)
        assert isinstance(document, ImageDocument)
        [left] = document.left({BODY: changes})
        [page] = document._read
        stays = [
            each.word.text for each in page.words
            if each.word in left and not any(a < each.end and each.start < b for a, b, _ in changes)
        ]  # fmt: skip
        text, written, searched = _text(pages), _words(pages), _pdf_text(pages, output)[0]
    assert [word for word, _, new in written if not new] == stays
    assert {word for word, _, new in written if new} <= {new for _, _, new in changes}
    assert [word for word in re.sub("‹.*?›", " ", text).split() if any(map(str.isalnum, word))] == stays
    assert sorted(re.findall(r"[^‹›\s]*\d", searched)) == sorted(stays)
    letters = iter("".join(audited.split()))  # what the audit reads, of which some words are left out here
    assert all(letter in letters for letter in "".join(text.split()))


def test_what_is_visible_can_be_sent_to_another_process_and_shows_no_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incognote.formats.images.reading.reading_of", made.reader_of())
    pages, _, _ = _released(TWO_PAGES, *LABELS)
    assert pickle.loads(pickle.dumps(pages)) == pages
    assert "Asthma" not in repr(pages)


def test_a_scanned_pdf_is_its_own_searchable_pdf(monkeypatch: pytest.MonkeyPatch) -> None:
    pikepdf = pytest.importorskip("pikepdf")
    scan = io.BytesIO()
    made.page("L").save(scan, "PDF", resolution=100)
    monkeypatch.setattr("incognote.formats.images.reading.reading_of", made.reader_of())
    pages, output, _ = _released(scan.getvalue(), *LABELS)
    assert pages.derived("pdf", output) is output
    assert _text(pages) == "Patient: [PERSON]\nAsthma, stable\n"
    assert len(pikepdf.open(io.BytesIO(output)).pages) == 1


def test_a_document_that_is_not_read_from_pixels_has_no_visible_pages() -> None:
    [form] = TEXT
    [document] = form.open(io.BufferedReader(io.BytesIO(b"Stable.")), "text/plain")  # type: ignore[arg-type]  # a raw stream reads
    assert visible_pages(document, "text", {}) is None  # type: ignore[arg-type]  # it is readable
    assert visible_pages(None, "text", {}) is None


def test_a_pdf_needs_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incognote.formats.images.reading.reading_of", made.reader_of())
    pages, output, _ = _released(TWO_PAGES, *LABELS)
    monkeypatch.setattr("incognote.formats.images.derived.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="documents"):
        pages.derived("pdf", output)


@pytest.mark.skipif(sys.platform == "win32", reason="the sizes of objects differ there")
def test_the_pages_of_a_pdf_are_decoded_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incognote.formats.images.reading.reading_of", made.reader_of())
    size = (1000, 1000)
    one_page = 3 * size[0] * size[1]
    data = made.tiff(*[(Image.new("RGB", size, "white"), {"compression": "tiff_adobe_deflate"})] * 12)
    pages, output, _ = _released(data, *LABELS)
    pages.derived("pdf", output)
    tracemalloc.start()
    try:
        pages.derived("pdf", output)
        assert tracemalloc.get_traced_memory()[1] < 6 * one_page
    finally:
        tracemalloc.stop()
