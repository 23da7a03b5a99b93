"""PDF: what separates the lines, cells, and columns of a page, and in which order words are read."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pikepdf
import pytest

from incognote.formats.base import TextEdit
from incognote.formats.pdf.bidi import logical, visual
from incognote.formats.pdf.content import ContentReader
from incognote.formats.pdf.document import PdfDocument, saved
from incognote.formats.pdf.layout import page_text

from .samples.pdf import page

FOLDER = Path(__file__).parents[1] / "data" / "documents" / "pdf"
STORY = (
    "She lives with her sister in the old town and was a ferry captain until she was seventy. Her doctor, Anselm "
    "Okonjo, saw her on Monday with a cough that had lasted for three weeks, and she takes aspirin."
)


def _width(text: str, size: float = 10) -> float:
    from reportlab.pdfbase.pdfmetrics import stringWidth  # type: ignore[import-untyped]  # ships no types

    return float(stringWidth(text, "Helvetica", size))


def _wrapped(text: str, width: float) -> list[str]:
    """Return a text in lines of at most a width, in points."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if _width(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


NARROW = _wrapped(STORY, 168)


def _of(content: str) -> bytes:
    pdf = pikepdf.new()
    page(pdf, content.encode("latin-1"))
    return saved(pdf)


def _show(text: str, x: float, y: float, size: float = 10, font: str = "F1") -> str:
    escaped = text.replace("(", r"\(").replace(")", r"\)")
    return f"BT /{font} {size} Tf {x:.3f} {y:.3f} Td ({escaped}) Tj ET"


def _lines(*lines: str, x: float = 50, y: float = 700, down: float = 13) -> str:
    return "\n".join(_show(line, x, y - down * i) for i, line in enumerate(lines))


def _text(content: str) -> str:
    return PdfDocument(_of(content)).texts[0].content


def test_lines_of_a_narrow_column_become_a_paragraph() -> None:
    assert len(NARROW) > 4
    assert _text(_lines(*NARROW)) == STORY


def test_a_name_over_two_lines_is_replaced_in_both() -> None:
    assert NARROW[2].endswith("Anselm")
    data = _of(_lines(*NARROW))
    document, out = PdfDocument(data), io.BytesIO()
    at = document.texts[0].content.index("Anselm Okonjo")
    document.rebuild([TextEdit("body", at, at + len("Anselm Okonjo"), "[NAME]")], out)
    text = PdfDocument(out.getvalue()).texts[0].content
    assert "".join(text.split()) == "".join(STORY.replace("Anselm Okonjo", "[NAME]").split())


def test_a_wider_line_below_the_column_does_not_divide_its_lines() -> None:
    footer = "Printed for the ward on 14 March 2024 by the clerk, who keeps the copy of this page"
    below = _show(footer, 50, 700 - 13 * (len(NARROW) - 1) - 18)
    assert _text(f"{_lines(*NARROW)}\n{below}") == f"{STORY}\n{footer}"


def test_paragraphs_with_a_wider_distance_stay_apart() -> None:
    second = _lines(*NARROW, y=700 - 13 * (len(NARROW) - 1) - 18)
    assert _text(f"{_lines(*NARROW)}\n{second}") == f"{STORY}\n{STORY}"


def test_a_list_of_short_lines_stays_a_list() -> None:
    drugs = ("Aspirin 81 mg daily", "Lisinopril 10 mg daily", "Metoprolol 25 mg twice", "Atorvastatin 40 mg nightly",
             "Furosemide 40 mg daily")  # fmt: skip
    assert _text(_lines(*drugs)) == "\n".join(drugs)


def test_an_address_stays_an_address() -> None:
    address = ("Lakemoor Heart Institute", "14 Harbour Street", "Quillan Bay QB4 7XX", "Tel. 0330 555 0100")
    assert _text(_lines(*address)) == "\n".join(address)


def test_a_greeting_is_not_joined_to_the_letter() -> None:
    assert _text(_lines("Dear Dr. Okonjo,", *NARROW)).splitlines()[0] == "Dear Dr. Okonjo,"


def test_a_heading_in_another_size_is_not_joined() -> None:
    heading = "History of the patient and her"
    assert _text(f"{_show(heading, 50, 715, size=12)}\n{_lines(*NARROW)}") == f"{heading}\n{STORY}"


def test_a_label_begins_a_line_after_a_sentence() -> None:
    first = "Lungs clear, heart sounds normal today."
    width = _width(first)
    plan = "Plan: see her again after the summer and repeat the film of her chest, which was not normal in spring."
    assert _text(_lines(first, *_wrapped(plan, width))) == f"{first}\n{plan}"


def test_an_indented_line_begins_a_paragraph() -> None:
    full = " ".join(NARROW[:4])
    rest = "Today she is well and walks each day with her dog along the old harbor wall to the town."
    first, *others = _wrapped(rest, 168 - 12)
    content = "\n".join((
        _lines(*NARROW[:4]), _show(first, 62, 700 - 13 * 4), _lines(*_wrapped(" ".join(others), 168), y=700 - 13 * 5)
    ))  # fmt: skip
    assert _text(content) == f"{full}\n{rest}"


def test_a_name_on_two_lines_of_a_cell_is_read_in_one_piece() -> None:
    rows = [
        "\n".join((_show(str(i), 50, y), _show("Featherstonhaugh,", 90, y), _show(name, 90, y - 12),
                   _show("03/04/1951", 190, y), _show("Ward 7", 270, y)))
        for i, (name, y) in enumerate((("Rosamund", 700), ("Lysander", 660), ("Araminta", 620)))
    ]  # fmt: skip
    text = _text("\n".join(rows))
    assert text.splitlines()[0] == "0\tFeatherstonhaugh, Rosamund\t03/04/1951\tWard 7"


def test_cells_that_are_close_to_each_other_get_a_tab() -> None:
    rows = (("3009121", "928-555-0101"), ("3010044", "928-555-0147"), ("2988310", "none"))
    content = "\n".join(
        _show(number, 100 - 5.56 * len(number), 700 - 13 * i) + "\n" + _show(phone, 102.2, 700 - 13 * i)
        for i, (number, phone) in enumerate(rows)
    )
    assert _text(content) == "\n".join("\t".join(row) for row in rows)


def test_a_word_above_another_cell_stays_in_its_own_cell() -> None:
    content = "\n".join((
        _show("12/03/1951", 50, 700), _lines("14", "Harbour", "Street,", "Lakemoor", x=102, y=724, down=12),
        _show("Dr. Okonjo", 190, 700),
    ))  # fmt: skip
    assert "Harbour Street, Lakemoor" in " ".join(_text(content).split())


def test_wide_spaces_of_a_line_with_even_margins_are_not_tabs() -> None:
    content = "BT /F1 10 Tf 50 700 Td [(Seen) -900 (by) -900 (Dr.) -1400 (Anselm) -900 (Okonjo) -900 (today)] TJ ET"
    assert _text(content) == "Seen by Dr. Anselm Okonjo today"


def test_a_sentence_goes_on_in_the_next_column() -> None:
    assert _text(f"{_lines(*NARROW[:3], y=300)}\n{_lines(*NARROW[3:], x=320)}") == STORY


def test_a_paragraph_that_begins_a_column_is_not_joined_to_the_column_before() -> None:
    second = f"{_show(NARROW[3], 332, 700)}\n{_lines(*NARROW[4:], x=320, y=687)}"
    assert _text(f"{_lines(*NARROW[:3], y=300)}\n{second}").splitlines()[0] == " ".join(NARROW[:3])


def test_a_line_that_is_longer_than_those_of_another_paragraph_goes_on() -> None:
    second = ("She is a smoker, not in her house now.", "Discussed with her sister and two of her", "0133.")
    assert 2.5 < _width(second[0]) - max(map(_width, NARROW)) < 10
    assert _text(f"{_lines(*NARROW)}\n{_lines(*second, y=500)}") == f"{STORY}\n{' '.join(second)}"


def test_a_page_number_that_ends_the_last_line_begins_a_line() -> None:
    first = _show("Page 2 of 3 is missing", 50, 700)
    assert _text(f"{first}\n{_show('Telephone 0341 5550 172 Page 1 of 3', 50, 60)}") == (
        "Page 2 of 3 is missing\nTelephone 0341 5550 172 \nPage 1 of 3"
    )


def test_lines_apart_from_the_others_are_read_at_the_top_and_at_the_bottom() -> None:
    edges = f"{_show('Ward 7', 50, 800)}\n{_show('Printed for the clerk', 50, 40)}"
    assert _text(f"{edges}\n{_lines(*NARROW)}") == f"Ward 7\n{STORY}\nPrinted for the clerk"
    assert _text(f"{_lines(*NARROW)}\n{edges}") == f"Ward 7\n{STORY}\nPrinted for the clerk"


def test_a_line_that_the_file_writes_between_others_stays_there() -> None:
    between = _show("and her brother", 50, 40)
    lines = f"{_lines(*NARROW[:4])}\n{between}\n{_lines(*NARROW[4:], y=700 - 13 * 4)}"
    assert _text(lines) == f"{' '.join(NARROW[:4])}\nand her brother\n{' '.join(NARROW[4:])}"


def test_the_value_of_a_form_field_is_read_after_its_label() -> None:
    pdf = pikepdf.new()
    added = page(pdf, _lines("Patient: ", "Ward: ", "Keep this form", down=30).encode())
    added.Annots = pikepdf.Array([
        pdf.make_indirect(pikepdf.Dictionary(
            Type=pikepdf.Name.Annot, Subtype=pikepdf.Name.Widget, FT=pikepdf.Name.Tx, T=pikepdf.String("f"),
            V=pikepdf.String(value), DV=pikepdf.String(value), Rect=pikepdf.Array([200, y, 400, y + 20]),
            AP=pikepdf.Dictionary(N=_appearance(pdf, added, value)),
        )) for value, y in (("Rosalind Brandt", 698), ("7 West", 668))
    ])  # fmt: skip
    pdf.Root.AcroForm = pikepdf.Dictionary(Fields=added.Annots)
    texts = {text.field: text.content for text in PdfDocument(saved(pdf)).texts}
    assert texts == {
        "body": "Patient: Rosalind Brandt\nWard: \t7 West\nKeep this form", "form": "Rosalind Brandt\n7 West",
        "defaults": "Rosalind Brandt\n7 West",
    }  # fmt: skip


def _appearance(pdf: pikepdf.Pdf, added: pikepdf.Page, value: str) -> pikepdf.Stream:
    stream = pdf.make_stream(_show(value, 4, 6).encode())
    stream.Type, stream.Subtype, stream.BBox = pikepdf.Name.XObject, pikepdf.Name.Form, pikepdf.Array([0, 0, 200, 20])
    stream.Resources = added.Resources
    return stream


@pytest.mark.parametrize(
    ("lines", "read"),
    [
        (("Seen by Dr. Feather-", "stonhaugh today"), "Featherstonhaugh"),
        (("a 52-year-", "old woman"), "52-year-old"),
        (("an end-of-", "treatment visit"), "end-of-treatment"),
        (("a Tonga-", "born woman"), "Tonga-born"),
        (("her NT-", "proBNP was high"), "NT-proBNP"),
        (("Mrs. Smith-", "Jones"), "Smith-Jones"),
        (("WITHOUT INVOLVE-", "MENT OF THE"), "INVOLVEMENT"),
        (("MRS. SMITH-", "JONES"), "SMITH-JONES"),
    ],
)
def test_only_the_hyphen_of_a_divided_word_goes(lines: tuple[str, str], read: str) -> None:
    assert read in _text(_lines(*lines))


@pytest.mark.parametrize(
    ("shown", "read"),
    [
        ("0147-555-06 فتاه", "هاتف 06-555-0147"),
        ("172 5550 0341 فتاه", "هاتف 0341 5550 172"),
        ("06-555-0147 ןופלט", "טלפון 06-555-0147"),
        ("0147 555 03 ןופלט", "טלפון 03 555 0147"),
        ("Dr. John Smith ,12.09.1958 דלונ", "נולד 12.09.1958, Dr. John Smith"),
        ("رضح Ziad Smith-Jones 06-555-0147 ضيرملا", "المريض Ziad Smith-Jones 06-555-0147 حضر"),
        ("0147 555 6 962+ فتاه", "هاتف +962 6 555 0147"),
        ("(12-345) רפסמ", "מספר (12-345)"),
        ("1,250 150/90 طغض", "ضغط 150/90 1,250"),
        ("(45) הנש", "שנה (45)"),
        ("5mg הנש", "שנה 5mg"),
        ("5% הנש", "שנה 5%"),
    ],
)
def test_numbers_after_words_from_right_to_left_are_read_as_they_were_written(shown: str, read: str) -> None:
    assert "".join(c for c, _ in logical([(c, i) for i, c in enumerate(shown)])) == read


def test_words_that_the_file_writes_from_right_to_left_are_read_in_its_order() -> None:
    parts = ["1", " ", "Page 1 of", " ", "0147", "-", "555", "-", "06", " ", "فتاه"]
    shown: list[tuple[str, int]] = []
    for part in reversed(parts):
        numbers = range(len(shown), len(shown) + len(part))
        shown = [*zip(part, numbers if part.isascii() else reversed(numbers), strict=True), *shown]
    assert "".join(c for c, _ in logical(shown)) == "هاتف 06-555-0147 Page 1 of 1"


@pytest.mark.parametrize(
    ("number", "before", "written"),
    [
        ("06-555-0147", "هاتف ", "0147-555-06"),
        ("+962 6 555", "هاتف ", "555 6 962+"),
        ("03-555 0147", "טלפון ", "0147 03-555"),
        ("06-555-0147", "هاتف Page ", "06-555-0147"),
        ("[PHONE-1]", "هاتف ", "[PHONE-1]"),
    ],
)
def test_a_number_is_written_as_it_is_read(number: str, before: str, written: str) -> None:
    assert visual(number, before) == written


@pytest.mark.parametrize("new", ["07-444-0123", "[TELEPHONE_NUMBER]"])
def test_a_new_telephone_number_in_arabic_words_is_read_again(new: str) -> None:
    document, out = PdfDocument((FOLDER / "lo-arabic-report.pdf").read_bytes()), io.BytesIO()
    text = document.texts[0].content
    at = text.index("06-555-0147")
    document.rebuild([TextEdit("body", at, at + 11, new)], out)
    assert PdfDocument(out.getvalue()).texts[0].content == text.replace("06-555-0147", new)


@pytest.mark.parametrize(
    "name",
    ["lo-trial-newsletter", "tex-ward-book", "chromium-arabic-report", "scattered-letters", "lo-html-1"],
)
def test_all_glyphs_are_read(name: str) -> None:
    with pikepdf.open(FOLDER / f"{name}.pdf") as pdf:
        reader = ContentReader(pdf)
        assert len(pdf.pages) > 0
        for number, each in enumerate(pdf.pages, 1):
            glyphs = reader.read(each, number).glyphs
            read = page_text(glyphs)
            over = {accent for accents in read.accents.values() for accent in accents}
            assert {at for at in read.glyphs if at >= 0} | over == set(range(len(glyphs)))


def test_many_words_at_any_place_are_read_in_short_time() -> None:
    words = "\n".join(_show("word", 20 + 37 * (i * 7919 % 4001), 10 + 0.4 * (i * 104729 % 1999)) for i in range(12000))
    with pikepdf.open(io.BytesIO(_of(words))) as pdf:
        glyphs = ContentReader(pdf).read(pdf.pages[0], 1).glyphs
    before = time.process_time()
    page_text(glyphs)
    assert time.process_time() - before < 20
