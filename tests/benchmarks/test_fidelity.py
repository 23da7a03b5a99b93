"""What an output changes outside of its redactions is counted: pixels, structure, styles, and words."""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx as python_docx
import openpyxl
import pytest
from openpyxl.styles import Font
from reportlab.pdfgen import canvas

from incognote_benchmarks import fidelity

NAME = "Johanna Wexford"


def _pdf(name: str, *, move: float = 0, extra: str = "", pages: int = 1) -> bytes:
    out = io.BytesIO()
    page = canvas.Canvas(out, pagesize=(300, 200))
    for _ in range(pages):
        page.drawString(40, 150, "Seen:")
        page.drawString(75, 150, name)
        page.drawString(175 + move, 150, "with pain")
        page.drawString(40, 100, f"Aspirin 100 mg{extra}")
        page.showPage()
    page.save()
    return out.getvalue()


def test_pixels_differ_only_in_the_boxes_of_the_changed_words() -> None:
    counts, kinds = fidelity.pdf(_pdf(NAME), _pdf("[NAME]"), [NAME])
    assert not kinds
    assert (counts["pages"], counts["changes"], counts["pixels_outside"]) == (1, 1, 0)
    assert 0 < counts["pixels_boxes"] < 0.1 * counts["pixels"]
    assert counts["image_pages"] == counts["neighbors_moved"] == 0


def test_the_rest_of_a_line_that_moved_is_outside_of_the_boxes_but_not_of_the_line() -> None:
    counts, _ = fidelity.pdf(_pdf(NAME), _pdf("[NAME]", move=20))
    assert counts["neighbors_moved"] == 1
    assert counts["pixels_outside"] > 100
    assert counts["pixels_outside_lines"] == 0


def test_pixels_that_change_elsewhere_are_counted() -> None:
    out = io.BytesIO()
    page = canvas.Canvas(out, pagesize=(300, 200))
    page.rect(200, 20, 50, 30, fill=1)
    page.drawString(40, 150, "Seen:")
    page.drawString(75, 150, "[NAME]")
    page.drawString(175, 150, "with pain")
    page.drawString(40, 100, "Aspirin 100 mg")
    page.save()
    counts, _ = fidelity.pdf(_pdf(NAME), out.getvalue())
    assert counts["pixels_outside"] == counts["pixels_outside_lines"] > 50 * 30


def test_boxes_can_be_given() -> None:
    given, _ = fidelity.pdf(_pdf(NAME), _pdf("[NAME]"), boxes={0: [(70, 140, 175, 165)]})
    assert given["pixels_outside"] == 0
    assert fidelity.pdf(_pdf(NAME), _pdf("[NAME]"), boxes={0: []})[0]["pixels_outside"] > 100


def test_words_of_a_page_that_are_no_identifiers_and_gone_are_named() -> None:
    counts, kinds = fidelity.pdf(_pdf(NAME, extra=" daily"), _pdf("[NAME]"), [NAME])
    assert counts["words_lost"] == 1
    assert list(kinds) == ["page 1: lost word daily"]


def test_lost_pages_and_pages_without_words_are_counted() -> None:
    assert fidelity.pdf(_pdf(NAME, pages=2), _pdf("[NAME]"))[0]["page_count_differs"] == 1
    out = io.BytesIO()
    page = canvas.Canvas(out, pagesize=(300, 200))
    page.rect(10, 10, 50, 50)
    page.save()
    assert fidelity.pdf(_pdf(NAME), out.getvalue())[0]["image_pages"] == 1


def _docx() -> bytes:
    document = python_docx.Document()
    paragraph = document.add_paragraph("Mrs. ")
    paragraph.add_run("Johanna ").bold = True
    paragraph.add_run("Wexford has pain.")
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def _edited(data: bytes, part: str, edit: Callable[[str], str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, edit(content.decode("utf-8")) if name == part else content)
    return out.getvalue()


@pytest.mark.parametrize(
    ("old", "new", "lost", "added", "words"),
    [
        ("Johanna ", "[NAME] ", 0, 0, 0),
        ("<w:b/>", "", 1, 0, 0),
        ("<w:b/>", "<w:b/><w:i/>", 0, 1, 0),
        ('<w:pgSz w:w="', '<w:pgSz w:w="9', 1, 1, 0),
        (" has pain", "", 0, 0, 2),
    ],
)
def test_elements_attributes_and_words_that_differ_are_counted(
    old: str, new: str, lost: int, added: int, words: int
) -> None:
    output = _edited(_docx(), "word/document.xml", lambda xml: _once(_once(xml, "Wexford", ""), old, new))
    counts, kinds = fidelity.docx(_docx(), output, [NAME])
    assert counts["parts"] == counts["parts_identical"] + 1
    assert (counts["elements_lost"], counts["elements_added"], counts["words_lost"]) == (lost, added, words)
    assert counts["parts_same_skeleton"] == (lost + added == 0)
    assert kinds.total() == lost + added + words


def _once(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


def _xlsx(edit: Callable[[Any], None] = lambda sheet: None) -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet["A1"], sheet["B1"], sheet["A2"] = "Name", "Date", NAME
    sheet["B2"], sheet["B2"].number_format = 44927, "dd/mm/yyyy"
    sheet["A1"].font = Font(bold=True)
    sheet.column_dimensions["A"].width = 30
    edit(sheet)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def test_cells_with_another_value_or_style_are_counted() -> None:
    def change(sheet: Any) -> None:
        sheet["A2"], sheet["B1"] = "[NAME]", "Day"
        sheet["B2"].number_format = "yyyy-mm-dd"

    counts, _ = fidelity.xlsx(_xlsx(), _xlsx(change), [NAME])
    assert (counts["sheets"], counts["cells"], counts["cells_edited"]) == (1, 4, 1)
    assert (counts["cells_changed_outside"], counts["cells_other_style"]) == (1, 1)
    same, _ = fidelity.xlsx(_xlsx(), _xlsx(), [NAME])
    assert same["cells_changed_outside"] == same["cells_other_style"] == same["sheets_other_layout"] == 0

    def widen(sheet: Any) -> None:
        sheet.column_dimensions["A"].width = 50

    assert fidelity.xlsx(_xlsx(), _xlsx(widen), [NAME])[0]["sheets_other_layout"] == 1


def test_libreoffice_opens_originals_and_outputs(tmp_path: Path) -> None:
    if shutil.which("soffice") is None:
        pytest.skip("LibreOffice is not installed")
    files = {"1": (".docx", _docx(), _docx()), "2": (".docx", _docx(), b"PK\x03\x04 damaged")}
    assert fidelity.printed(tmp_path, files) == {"1": (1, 1), "2": (1, 0)}
