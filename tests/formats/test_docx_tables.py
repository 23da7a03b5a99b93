"""Tables of Word documents with labels, and the places of a document that could hold a long number or a file name."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from incognote.formats.docx.reader import read

from .samples.docx import document, paragraph
from .test_docx import _left, field, p, r


def table(*rows: Sequence[str]) -> str:
    """Return a table. A line break in a cell begins a new paragraph."""
    cells = (("".join(f"<w:tc>{''.join(map(paragraph, cell.split(chr(10))))}</w:tc>" for cell in row)) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


@pytest.mark.parametrize(
    ("rows", "known"),
    [
        ((("Patient", "MRN", "DOB", "Hb"), ("Okafor, Chidi", "447190", "4.3.50", "12.4")),
         ["Okafor, Chidi", "447190", "4.3.50"]),
        ((("Name", "Okafor"), ("Vorname", "Chidi"), ("Fallnummer", "447190")), ["Okafor", "Chidi", "447190"]),
        ((("Patient\nName", "MRN\n(GH)"), ("Okafor, Chidi\n447191\nfeels better now", "447190")),
         ["Okafor, Chidi", "447191", "447190"]),
        ((("Attending:", "ANN DOYLE, M.D."), ("Surgeon:", "DOYLE, ANN")), ["ANN DOYLE", "DOYLE, ANN"]),
        ((("Surname", "Email"), ("Okafor", "c.okafor@mail.example"), ("Diagnosis", "Case no."), ("Allergies", "none")),
         ["Okafor", "c.okafor@mail.example"]),
        ((("Patient", "Age"), ("will call back", "73")), []),
        ((("Patient", "Age"), ("okafor, chidi", "73")), ["okafor, chidi"]),
        ((("MRN", "2019"), ("Drug", "Dose"), ("Metoprolol", "25 mg")), []),
        ((("MRN", *"4471902"), ("DOB", *"03041950"), ("Surname", *"OKAFOR"), ("Pain", *"34221"), ("MRN", *"12345")),
         ["4\t4\t7\t1\t9\t0\t2", "03/04/1950", "O\tK\tA\tF\tO\tR"]),
    ],
)  # fmt: skip
def test_values_under_and_beside_labels_of_a_table_are_searched_for(
    rows: tuple[tuple[str, ...], ...], known: list[str]
) -> None:
    assert [each.value for each in read(document(table(*rows))).known] == known


def test_columns_count_merged_cells_and_tables_in_cells_have_their_own_labels() -> None:
    wide = '<w:tcPr><w:gridSpan w:val="2"/></w:tcPr>'
    head = f"<w:tr><w:tc>{wide}{paragraph('Ward')}</w:tc><w:tc>{paragraph('MRN')}</w:tc></w:tr>"
    cells = (f"<w:tc>{paragraph(words)}</w:tc>" for words in ("3B", "447189", "447190"))
    row = f"<w:tr>{''.join(cells)}</w:tr>"
    late = f'<w:tr><w:trPr><w:gridBefore w:val="2"/></w:trPr><w:tc>{paragraph("447191")}</w:tc></w:tr>'
    inner = table(("Unit No.", "447192"))
    nested = f"<w:tbl><w:tr><w:tc>{inner}{p()}</w:tc><w:tc><w:tbl>{head}{row}{late}</w:tbl>{p()}</w:tc></w:tr></w:tbl>"
    assert [each.value for each in read(document(nested)).known] == ["447192", "447190", "447191"]


def test_a_label_above_a_table_says_what_its_boxes_hold_together() -> None:
    tables = {"Hospital number:": "482913", "Pain scores": "551120", "Chart #": "773401"}
    body = "".join(paragraph(above) + table(digits) for above, digits in tables.items())
    assert [each.value for each in read(document(body)).known] == ["4\t8\t2\t9\t1\t3", "7\t7\t3\t4\t0\t1"]
    assert not read(document(table("482913", ""))).known


def test_a_table_in_a_cell_tells_the_types_of_its_values_before_the_label_of_the_cell() -> None:
    cells = f"<w:tc>{paragraph('Next of kin')}</w:tc><w:tc>{table(('Phone',), ('956-555-0128',))}{p()}</w:tc>"
    known = read(document(f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>")).known
    assert [(each.type, each.value) for each in known] == [("TELEPHONE_NUMBER", "956-555-0128")]


def test_names_of_files_and_users_in_fields_and_data_at_the_end_of_a_field_are_removed() -> None:
    path = field(" FILENAME \\p ", r("C:\\doe.docx"))
    data = '<w:r><w:fldChar w:fldCharType="end"><w:fldData>RG9l</w:fldData></w:fldChar></w:r>'
    body = _left(p(path, field(" PAGE ", r("7")).replace('<w:r><w:fldChar w:fldCharType="end"/></w:r>', data)))
    assert "doe" not in body
    assert "RG9l" not in body
    assert "<w:t>7" in body.replace(' xml:space="preserve"', "")


def test_bookmarks_with_long_numbers_have_the_same_new_name_in_fields_and_links() -> None:
    old = '<w:bookmarkStart w:id="1" w:name="_Toc4471902"/>' + field(" PAGEREF _Toc4471902 \\h ", r("7"))
    assert _left(p(old)) == p(old.replace("_Toc4471902", "_Ref1"))
    simple = '<w:fldSimple w:instr=" REF _Ref4471902 \\h "><w:r/></w:fldSimple>'
    assert _left(p(simple)) == p(simple.replace("_Ref4471902", "_Ref1"))


def test_measures_of_more_than_six_digits_are_rounded_to_a_grid_that_is_too_fine_to_see() -> None:
    place = "<wp:positionH><wp:posOffset>{}</wp:posOffset></wp:positionH>"
    size = '<wp:extent cx="{}" cy="2229485"/>'
    old = f'<w:r><w:drawing><wp:anchor relativeHeight="{{}}">{place}{size}</wp:anchor></w:drawing></w:r>'
    assert _left(p(old.format(251659264, -4471902, 4471902))) == p(old.format(251659264, -4471920, 4471920))
    level = '<w:r><w:pict><v:shape id="_x0000_s1" style="z-index:4471902;width:1pt"/></w:pict></w:r>'
    assert _left(p(level)) == p(level.replace("z-index:4471902;", ""))
