"""XLSX: which cells are texts, which are structured fields, what stays, and what is removed or refused."""

# ruff: noqa: E501 -- XML reads better with one element in a line

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import MalformedRecord, RecordProblem, UnsupportedFormat
from incognote.formats.base import Edit, FieldEdit, TextEdit
from incognote.formats.office.package import unzipped, zipped
from incognote.formats.output import rebuilt
from incognote.formats.registry import named, second_reading
from incognote.formats.xlsx.closed import is_code, is_number, is_plain
from incognote.formats.xlsx.dates import shown_by
from incognote.formats.xlsx.document import XlsxDocument
from incognote.formats.xlsx.formulas import is_closed, renamed
from incognote.formats.xlsx.labels import ShownCell, label_of, labeled
from incognote.formats.xlsx.workbook import read_workbook

from .samples.xlsx import MAIN, data_of, parts_of, workbook

NONE: Mapping[str, str] = {}
TYPE = named("xlsx").media_types[0]
DATES = '<numFmts count="1"><numFmt numFmtId="170" formatCode="dd/mm/yyyy hh:mm"/></numFmts><cellXfs count="4">' + "".join(
    f'<xf numFmtId="{number}"/>' for number in (0, 14, 170, 20)
) + "</cellXfs>"
"""Styles: 0 is a number, 1 a date, 2 a date with a time, and 3 a time."""


def _opened(sheet: str, more: Mapping[str, str] = NONE, *, names: Sequence[str] = ("Sheet1",), book: str = "") -> XlsxDocument:
    return _document(workbook(sheet, more, names=names, book=book))


def _document(data: bytes) -> XlsxDocument:
    return XlsxDocument(data, read_workbook(data))


def _texts(document: XlsxDocument) -> dict[str, str]:
    return {text.field: text.content for text in document.texts}


def _fields(document: XlsxDocument) -> dict[str, tuple[str, str, str | None]]:
    return {a.text.field: (a.text.content, a.action, a.entity_type) for a in document.actions}


def _written(document: XlsxDocument, *edits: Edit, new: Mapping[str, str] = NONE) -> dict[str, str]:
    """Return the parts of the output. Fields get their labels, or the values in `new`. The output is read again."""
    values = {action: new.get(action.text.field, f"[{action.entity_type}]") for action in document.actions}
    changes: dict[str, list[tuple[int, int, str]]] = {}
    for edit in edits:
        assert isinstance(edit, TextEdit)
        changes.setdefault(edit.field, []).append((edit.start, edit.end, edit.new))
    output = rebuilt(named("xlsx"), document, changes, values)
    again = io.BytesIO()
    reread = _document(output)
    same = [FieldEdit(action, action.text.content) for action in reread.actions]
    reread.rebuild(same, again)
    assert again.getvalue() == output  # what is removed once is gone
    return {name: part.decode() for name, part in unzipped(output).items()}


def _replaced(document: XlsxDocument, words: str, new: str) -> list[TextEdit]:
    return [
        TextEdit(text.field, match.start(), match.end(), new)
        for text in document.texts
        for match in re.finditer(re.escape(words), text.content)
    ]


def _cells(*rows: Sequence[str]) -> str:
    """Return a sheet with cells as they are written, without their positions."""
    return "<sheetData>" + "".join(
        f'<row r="{r}">' + "".join(cell.replace("<c", f'<c r="{chr(64 + c)}{r}"', 1) for c, cell in enumerate(row, 1)) + "</row>"
        for r, row in enumerate(rows, 1)
    ) + "</sheetData>"  # fmt: skip


def _number(value: float | str, style: int = 0) -> str:
    return f'<c s="{style}"><v>{value}</v></c>'


def _words(words: str, style: int = 0) -> str:
    return f'<c s="{style}" t="inlineStr"><is><t>{words}</t></is></c>'


def test_a_row_is_a_line_and_cells_are_set_off_by_tabs() -> None:
    document = _opened(data_of(["Aspirin", "for Jane Doe"], ["twice daily", "Ann & Lee"]))
    assert _texts(document) == {"sheet 1": "Aspirin \t for Jane Doe\ntwice daily \t Ann & Lee"}


def test_a_long_cell_is_set_off_by_blank_lines() -> None:
    note = "Seen by Dr. Carter. " * 10
    document = _opened(data_of(["1", note, "x"]))
    assert _texts(document)["sheet 1"] == f"1\n\n{note.strip()}\n\nx"


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ('<c t="str"><v>Jane</v></c>', "Jane"),
        ('<c t="inlineStr"><is><r><t>Ja</t></r><r><rPr><b/></rPr><t>ne</t></r></is></c>', "Jane"),
        ('<c t="inlineStr"><is><t>J_x0061_ne &#68;oe</t></is></c>', "Jane Doe"),
        ('<c t="inlineStr"><is><t>Jane</t><rPh sb="0" eb="1"><t>Doe</t></rPh></is></c>', "Jane"),
        ("<c><v>4471902</v></c>", "4471902"),
        ("<c><v>4.471902E6</v></c>", "4471902"),
        ("<c><v>12.4</v></c>", ""),
        ("<c><v>36.599999999999994</v></c>", ""),
        ('<c t="b"><v>1</v></c>', ""),
        ('<c t="e"><v>#N/A</v></c>', ""),
        ('<c t="inlineStr"><is><t>44719</t></is></c>', "44719"),
    ],
)
def test_a_cell_reads_as_it_is_shown(cell: str, shown: str) -> None:
    assert _texts(_opened(_cells([cell]))).get("sheet 1", "") == shown


def test_columns_under_labels_are_structured_fields_and_their_names_are_known() -> None:
    document = _opened(
        _cells(
            [_words("Patient"), _words("MRN"), _words("DOB"), _words("Sodium")],
            [_words("Doe, Jane"), _number(4471902), _number(18326, 1), _number(140)],
            [_words("Roe, Richard"), _words("A-551"), _words("3/4/1961"), _number(138)],
        ),
        {"styles": DATES},
    )
    assert _fields(document) == {
        "sheet 1!A2": ("Doe, Jane", "mask", "PATIENT"), "sheet 1!B2": ("4471902", "hash", "MEDICAL_RECORD_NUMBER"),
        "sheet 1!C2": ("1950-03-04", "date", "BIRTH_DATE_TIME"), "sheet 1!A3": ("Roe, Richard", "mask", "PATIENT"),
        "sheet 1!B3": ("A-551", "hash", "MEDICAL_RECORD_NUMBER"), "sheet 1!C3": ("3/4/1961", "date", "BIRTH_DATE_TIME"),
    }  # fmt: skip
    assert _texts(document) == {"sheet 1": "Sodium"}
    assert {"Doe, Jane", "4471902"} <= {known.value for known in document.known}
    assert document.patient is None  # two patients


@pytest.mark.parametrize(
    ("header", "kind"),
    [("Patientennummer", "MEDICAL_RECORD_NUMBER"), ("Geburtsdatum", "BIRTH_DATE_TIME"), ("Nachname", "PERSON"),
     ("Apellidos", "PERSON"), ("Date de naissance", "BIRTH_DATE_TIME"), ("اسم المريض", "PATIENT"),
     ("Phone #", "TELEPHONE_NUMBER"), ("PATIENT_ID", "MEDICAL_RECORD_NUMBER"), ("Sodium", None), ("Test name", None)],
)  # fmt: skip
def test_labels_are_known_in_five_languages(header: str, kind: str | None) -> None:
    found = label_of(header)
    assert (found.type if found else None) == kind


def test_a_form_has_its_labels_on_the_left() -> None:
    document = _opened(_cells(
        [_words("Patient name:"), _words("Jane Doe"), _words("MRN"), _number(551)], [_words("DOB"), _number(18326, 1)],
        [_words("Diagnosis"), _words("asthma")],
    ), {"styles": DATES})  # fmt: skip
    assert {field: value[0] for field, value in _fields(document).items()} == {
        "sheet 1!B1": "Jane Doe", "sheet 1!D1": "551", "sheet 1!B2": "1950-03-04",
    }  # fmt: skip
    assert _texts(document) == {"sheet 1": "Diagnosis \t asthma"}
    assert document.patient == "551"
    parts = _written(document)
    assert "[PATIENT]" in parts["xl/worksheets/sheet1.xml"]


def test_a_list_of_drugs_has_no_names_of_persons() -> None:
    assert not _opened(data_of(["Name", "Dose"], ["Aspirin", "81 mg"])).actions


def test_words_such_as_total_stay_in_a_column_of_names() -> None:
    document = _opened(data_of(["Patient", "Unit"], ["Jane Doe", "g"], ["Total", "g"]))
    assert list(_fields(document)) == ["sheet 1!A2"]


SHEETS = st.lists(
    st.lists(
        st.sampled_from(["", "Name", "MRN", "DOB", "Phone", "Sodium", "Jane Doe", "4471902", "3/4/1950", "asthma", "12",
                         "Age:", "Patient", "617 555 0143", "Note 3", "Date"]),
        min_size=1, max_size=5,
    ),
    min_size=1, max_size=6,
)  # fmt: skip


@given(rows=SHEETS, numeric=st.booleans())
def test_the_labels_of_a_sheet_are_the_same_after_its_values_are_replaced(rows: list[list[str]], numeric: bool) -> None:
    cells = [[_number(each) if numeric and each.isdecimal() else _words(each) for each in row] for row in rows]
    document = _opened(_cells(*cells))
    hashed = {a.text.field: "84ab82652875a70d" for a in document.actions if a.action == "hash"}
    _written(document, *_replaced(document, "Jane Doe", "[PERSON]"), new=hashed)


@pytest.mark.parametrize(("number", "style", "shown"), [
    (45355, 1, "2024-03-04"), (45355.604167, 2, "2024-03-04 14:30"), (45355.5, 3, "2024-03-04 12:00"), (1, 1, "1900-01-01"),
    (59, 1, "1900-02-28"), (61, 1, "1900-03-01"),
])  # fmt: skip
def test_a_number_with_a_date_format_is_a_date(number: float, style: int, shown: str) -> None:
    document = _opened(_cells([_number(number, style)]), {"styles": DATES})
    assert _fields(document) == {"sheet 1!A1": (shown, "date", "DATE")}


def test_a_time_of_day_is_no_date() -> None:
    assert not _opened(_cells([_number(0.5, 3)]), {"styles": DATES}).actions


def test_a_shifted_date_is_written_as_a_number_with_its_style_and_a_label_as_words() -> None:
    document = _opened(_cells([_number(45355, 1), _number(45355.5, 2), _number(45355, 1)]), {"styles": DATES})
    parts = _written(document, new={"sheet 1!A1": "2024-03-11", "sheet 1!B1": "2024-03-11 12:00", "sheet 1!C1": "2024"})
    assert parts["xl/worksheets/sheet1.xml"].partition("<row")[2] == (
        ' r="1"><c r="A1" s="1"><v>45362</v></c><c r="B1" s="2"><v>45362.5</v></c><c r="C1" s="1" t="inlineStr"><is>'
        '<t xml:space="preserve">2024</t></is></c></row></sheetData></worksheet>'
    )


def test_dates_of_old_macs_count_from_1904() -> None:
    document = _opened(_cells([_number(43893, 1)]), {"styles": DATES}, book='<workbookPr date1904="1"/>')
    assert _fields(document)["sheet 1!A1"][0] == "2024-03-04"
    assert "<v>43900</v>" in _written(document, new={"sheet 1!A1": "2024-03-11"})["xl/worksheets/sheet1.xml"]


@pytest.mark.parametrize(("code", "shown"), [
    ("General", "number"), ("0.00E+00", "number"), ("#,##0 [$€-407]", "number"), ("yyyy\\-mm\\-dd", "date"), ("mmm yy", "date"),
    ("[h]:mm:ss", "time"), ("mm:ss.0", "time"), ("h:mm AM/PM", "time"), ('0 "days"', "number"), ("[$-409]d/m/yy h:mm;@", "date"),
    ("[Red]0.0", "number"), ("TT.MM.JJJJ", "date"),
])  # fmt: skip
def test_number_formats(code: str, shown: str) -> None:
    assert shown_by(code) == shown


def test_an_edited_shared_string_becomes_an_inline_string_with_its_runs_and_is_emptied() -> None:
    shared = "<si><r><rPr><b/></rPr><t>Mr. Jo</t></r><r><t>hn Doe, </t></r><r><rPr><i/></rPr><t>seen</t></r></si><si><t>Doe</t></si>"
    sheet = _cells(['<c t="s"><v>0</v></c>', '<c t="s"><v>1</v></c>'])
    document = _opened(sheet, {"sharedStrings": shared})
    assert _texts(document)["sheet 1"] == "Mr. John Doe, seen \t Doe"
    parts = _written(document, TextEdit("sheet 1", 4, 12, "[PERSON]"))
    assert '<c r="A1" t="inlineStr"><is><r><rPr><b/></rPr><t>Mr. [PERSON]</t></r><r><t>, </t></r><r><rPr><i/></rPr><t>seen</t></r></is></c>' in (
        parts["xl/worksheets/sheet1.xml"]
    )
    assert parts["xl/sharedStrings.xml"] == f'<sst xmlns="{MAIN}"><si><t/></si><si><t>Doe</t></si></sst>'


def test_a_shared_string_stays_while_a_cell_uses_it_and_is_emptied_if_none_does() -> None:
    shared = "<si><t>Jane</t></si><si><t>Unused Doe</t></si>"
    parts = _written(
        document := _opened(_cells(['<c t="s"><v>0</v></c>'], ['<c t="s"><v>0</v></c>']), {"sharedStrings": shared}),
        TextEdit("sheet 1", 0, 4, "X"),
    )
    assert "<si><t>Jane</t></si><si><t/></si>" in parts["xl/sharedStrings.xml"]
    assert _texts(document) == {"sheet 1": "Jane\nJane"}


def test_cells_and_parts_without_edits_keep_their_bytes() -> None:
    sheet = _cells([_words("Jane"), "<c><f>SUM(B2:B9)</f><v>36.599999999999994</v></c>"], [_words("  Doe "), _number("1.50")])
    source = parts_of(sheet, {"styles": DATES})
    parts = _written(_document(zipped(source)), TextEdit("sheet 1", 0, 4, "X"))
    edited = source["xl/worksheets/sheet1.xml"].decode().replace('<c r="A1" s="0" t="inlineStr"><is><t>Jane</t>',
                                                                  '<c r="A1" s="0" t="inlineStr"><is><t xml:space="preserve">X</t>')
    assert parts == {name: data.decode() for name, data in source.items()} | {"xl/worksheets/sheet1.xml": edited}


def test_a_change_over_several_cells_goes_into_the_first_one() -> None:
    document = _opened(data_of(["Doe", "Jane", "x"]))
    parts = _written(document, TextEdit("sheet 1", 0, 10, "[PERSON]"))
    assert re.findall(r"<t[^>]*>([^<]*)|(<c[^>]*/>)", parts["xl/worksheets/sheet1.xml"]) == [
        ("[PERSON]", ""), ("", '<c r="B1"/>'), ("x", "")
    ]  # fmt: skip


@pytest.mark.parametrize(("formula", "stays"), [
    ("SUM(A1:B$2)", True), ("IF(A1>5,\"high\",\"\")", True), ("'My sheet'!A1*2", True), ("Labs!$C$3/100000", True),
    ("_xlfn.XLOOKUP(A1,B:B,C:C)", True), ("total+1", True), ("\"Jane Doe\"", False), ("A1&\" Doe\"", False), ("[1]Sheet1!A1", False),
    ("'[Doe.xlsx]Sheet1'!A1", False), ("Doe!A1", False), ("Doe+1", False), ("DOE(A1)", False), ("HYPERLINK(A1)", False), ("CHAR(74)", False),
    ("DATE(1950,3,4)", False), ("Table1[Doe]", False), ("4471902+0", False), ("DOE4471", False), ("A1#", False), ("#REF!+1", True),
    ("\"3/4/1950\"", False), ("{1,2;3,4}", True), ("WEBSERVICE(A1)", False), ("Sheet1:Doe!A1", False),
])  # fmt: skip
def test_a_formula_stays_if_it_cannot_name_a_person(formula: str, stays: bool) -> None:
    assert is_closed(formula, {"my sheet", "labs"}, {"total"}) is stays
    cell = formula.replace("&", "&amp;").replace("<", "&lt;")
    parts = _written(_opened(_cells([f"<c><f>{cell}</f><v>7</v></c>"]), names=("Sheet1", "My sheet", "Labs")))
    kept = is_closed(formula, {"my sheet", "labs", "sheet1"}, set())
    assert (f"<f>{cell}</f>" in parts["xl/worksheets/sheet1.xml"]) is kept
    assert "<v>7</v>" in parts["xl/worksheets/sheet1.xml"]


def test_a_formula_is_removed_if_its_result_is_edited() -> None:
    document = _opened(_cells(['<c t="str"><f>A2</f><v>Jane Doe</v></c>']))
    parts = _written(document, TextEdit("sheet 1", 0, 8, "[PERSON]"))
    assert "<f>" not in parts["xl/worksheets/sheet1.xml"]
    assert '<c r="A1" t="inlineStr"><is><t xml:space="preserve">[PERSON]</t></is></c>' in parts["xl/worksheets/sheet1.xml"]


SHARED = [
    ['<c><f t="shared" ref="A1:A3" si="0">B1*2</f><v>2</v></c>'],
    ['<c t="str"><f t="shared" si="0"/><v>Doe</v></c>'], ['<c><f t="shared" si="0"/><v>6</v></c>'],
]  # fmt: skip


def test_a_shared_formula_loses_one_cell_or_all_with_its_first() -> None:
    parts = _written(_opened(_cells(*SHARED)), TextEdit("sheet 1", 0, 3, "X"))
    assert parts["xl/worksheets/sheet1.xml"].count("<f ") == 2
    first = [['<c t="str"><f t="shared" ref="A1:A3" si="0">B1</f><v>Doe</v></c>'], *SHARED[2:]]
    assert "<f" not in _written(_opened(_cells(*first)), TextEdit("sheet 1", 0, 3, "X"))["xl/worksheets/sheet1.xml"]
    unsafe = [[SHARED[0][0].replace("B1*2", "&quot;Doe&quot;")], *SHARED[2:]]
    assert "<f" not in _written(_opened(_cells(*unsafe)))["xl/worksheets/sheet1.xml"]


def test_an_array_formula_is_removed_if_a_cell_of_it_is_edited() -> None:
    rows = [['<c><f t="array" ref="A1:A2">TRANSPOSE(C1:D1)</f><v>1</v></c>'], ['<c t="str"><v>Doe</v></c>']]
    document = _opened(_cells(*rows))
    assert "<f" in _written(document)["xl/worksheets/sheet1.xml"]
    assert "<f" not in _written(document, TextEdit("sheet 1", 0, 3, "X"))["xl/worksheets/sheet1.xml"]


def test_the_names_of_sheets_change_everywhere() -> None:
    sheet = _cells(["<c><f>'Jane Doe'!A1+Labs!B1</f><v>1</v></c>"]) + (
        '<hyperlinks><hyperlink ref="A1" location="\'Jane Doe\'!A1" display="Doe"/></hyperlinks>'
    )
    names = ("Labs", "Jane Doe", "John Doe", "Doe (2)")
    book = "<definedNames><definedName name=\"total\">'Jane Doe'!$A$1</definedName></definedNames>"
    document = _opened(sheet, names=names, book=book)
    assert _texts(document) == {"sheet names": "Jane Doe\nJohn Doe\nDoe [2]"}
    edits = [TextEdit("sheet names", 0, 8, "[PERSON]"), TextEdit("sheet names", 9, 17, "[PERSON]"),
             TextEdit("sheet names", 18, 21, "[PERSON]")]  # fmt: skip
    parts = _written(document, *edits)
    assert re.findall(r'name="([^"]*)"', parts["xl/workbook.xml"]) == ["Labs", "(PERSON)", "(PERSON) 2", "(PERSON) (2)", "total"]
    assert "'(PERSON)'!$A$1<" in parts["xl/workbook.xml"]
    assert "<f>'(PERSON)'!A1+Labs!B1</f>" in parts["xl/worksheets/sheet1.xml"].replace("&#39;", "'").replace("&apos;", "'")
    assert "Doe" not in parts["xl/worksheets/sheet1.xml"]


def test_a_sheet_gets_no_name_that_is_too_long() -> None:
    document = _opened(data_of(["a"]), names=("Discharge of 4471902",))
    with pytest.raises(MalformedRecord, match="too long"):
        document.rebuild([TextEdit("sheet names", 13, 20, "[MEDICAL_RECORD_NUMBER]")], io.BytesIO())


def test_only_formulas_with_sheets_are_renamed() -> None:
    assert renamed("'Jane Doe'!A1&\"Jane Doe!\"", {"jane doe": "X"}) == "'X'!A1&\"Jane Doe!\""


def test_hidden_rows_columns_and_sheets_are_read_like_others() -> None:
    sheet = '<cols><col min="1" max="1" hidden="1"/></cols>' + _cells([_words("Jane")]).replace("<row", '<row hidden="1"')
    source = workbook(sheet, names=("Sheet1",)).replace(b"", b"")
    document = _document(source)
    assert _texts(document) == {"sheet 1": "Jane"}
    parts = _written(document, TextEdit("sheet 1", 0, 4, "X"))
    assert 'hidden="1"' in parts["xl/worksheets/sheet1.xml"]


def test_comments_are_texts_and_their_authors_are_masked() -> None:
    comments = (
        "<authors><author>Ann Lee</author></authors><commentList>"
        '<comment ref="B2" authorId="0" xmlns:xr="http://schemas.microsoft.com/office/spreadsheetml/2014/revision" '
        'xr:uid="{00000000-0006-0000-0000-000001000000}" guid="{4471902}"><text><r><rPr><b/><rFont val="Doe"/></rPr>'
        "<t>Ann Lee:</t></r><r><t> Jane called</t></r></text></comment></commentList>"
    )
    document = _opened(data_of(["a"]), {"comments": comments})
    assert _texts(document)["sheet 1!B2 comment"] == "Ann Lee: Jane called"
    assert [a.text.content for a in document.actions] == ["Ann Lee"]
    parts = _written(document, *_replaced(document, "Jane", "[PERSON]"), *_replaced(document, "Ann Lee", "[PERSON]"))
    assert parts["xl/comments1.xml"] == (
        f'<comments xmlns="{MAIN}"><authors><author>[PERSON]</author></authors><commentList><comment ref="B2" authorId="0" '
        'xmlns:xr="http://schemas.microsoft.com/office/spreadsheetml/2014/revision"><text><r><rPr><b/><rFont val="Arial"/></rPr>'
        "<t>[PERSON]:</t></r><r><t> [PERSON] called</t></r></text></comment></commentList></comments>"
    )


def test_headers_and_footers_are_read_without_their_codes() -> None:
    sheet = data_of(["a"]) + (
        '<headerFooter><oddHeader>&amp;L&amp;"Arial,Bold"&amp;12Jane Doe&amp;RSmith &amp;&amp; Sons</oddHeader>'
        '<oddFooter>&amp;CPage &amp;P&amp;"Doe,Regular"</oddFooter></headerFooter>'
    )
    document = _opened(sheet)
    assert _texts(document)["sheet 1 header"] == "Jane Doe\nSmith & Sons"
    parts = _written(document, *_replaced(document, "Jane Doe", "[PERSON]"))
    assert '<oddHeader>&amp;L&amp;"Arial,Bold"&amp;12[PERSON]&amp;RSmith &amp;&amp; Sons</oddHeader>' in parts["xl/worksheets/sheet1.xml"]
    assert '&amp;"-,Regular"' in parts["xl/worksheets/sheet1.xml"]


def test_choices_and_messages_of_validations_are_read() -> None:
    sheet = data_of(["a"]) + (
        '<dataValidations count="3"><dataValidation type="list" prompt="Ask Dr. Carter" sqref="B1"><formula1>"Jane Doe,none"</formula1>'
        '</dataValidation><dataValidation type="whole" operator="between" sqref="B2"><formula1>1</formula1><formula2>9</formula2>'
        '</dataValidation><dataValidation type="custom" sqref="B3"><formula1>A1="Doe"</formula1></dataValidation></dataValidations>'
    )
    document = _opened(sheet)
    assert _texts(document)["sheet 1 message"] == "Ask Dr. Carter"
    assert _texts(document)["sheet 1 choices"] == "Jane Doe,none"
    part = _written(document, *_replaced(document, "Jane Doe", "X"), *_replaced(document, "Carter", "Y"))["xl/worksheets/sheet1.xml"]
    assert 'prompt="Ask Dr. Y"' in part
    assert '"X,none"' in part
    assert 'operator="between"' in part
    assert "Doe" not in part


def test_the_columns_of_a_table_follow_its_header_cells() -> None:
    table = (
        f'<table xmlns="{MAIN}" id="1" name="DoeTable" displayName="DoeTable" ref="A1:B2" totalsRowCount="1"><autoFilter ref="A1:B2">'
        '<filterColumn colId="0"><filters><filter val="Doe"/></filters></filterColumn></autoFilter><tableColumns count="2">'
        '<tableColumn id="1" name="Jane" totalsRowLabel="Sum of Jane"/><tableColumn id="2" name="Dose"><calculatedColumnFormula>'
        'Doe[Jane]</calculatedColumnFormula></tableColumn></tableColumns><tableStyleInfo name="Doe" showRowStripes="1"/></table>'
    )
    sheet = data_of(["Jane", "Dose"], ["a", "b"]) + '<tableParts count="1"><tablePart r:id="rId1"/></tableParts>'
    document = _opened(sheet, {"table": table})
    part = _written(document, *_replaced(document, "Jane", "[PERSON]"))["xl/tables/table1.xml"]
    assert part == (
        f'<table xmlns="{MAIN}" id="1" name="Table_1" displayName="Table_1" ref="A1:B2" totalsRowCount="1"><autoFilter ref="A1:B2">'
        '</autoFilter><tableColumns count="2"><tableColumn id="1" name="[PERSON]" totalsRowLabel="Sum of [PERSON]"/>'
        '<tableColumn id="2" name="Dose"></tableColumn></tableColumns><tableStyleInfo showRowStripes="1"/></table>'
    )


SMUGGLED = [
    '<sheetPr codeName="Doe"/>', '<sheetPr><tabColor rgb="Doe"/></sheetPr>', '<sheetViews><sheetView workbookViewId="0" doe="Doe"/></sheetViews>',
    '<sheetProtection password="Doe" hashValue="RG9l" saltValue="RG9l" sheet="1"/>', '<protectedRanges><protectedRange name="Doe"/></protectedRanges>',
    '<scenarios><scenario name="Doe" user="Doe" comment="Doe"><inputCells r="A1" val="Doe"/></scenario></scenarios>',
    '<autoFilter ref="A1:B9"><filterColumn colId="0"><filters><filter val="Doe"/></filters></filterColumn></autoFilter>',
    '<autoFilter ref="A1:B9"><filterColumn colId="0"><customFilters><customFilter val="Doe"/></customFilters></filterColumn></autoFilter>',
    '<customSheetViews><customSheetView guid="{4471902}"/></customSheetViews>',
    '<conditionalFormatting sqref="A1"><cfRule type="containsText" text="Doe" priority="1"><formula>SEARCH("Doe",A1)</formula></cfRule></conditionalFormatting>',
    '<conditionalFormatting sqref="A1"><cfRule type="colorScale" priority="1"><colorScale><cfvo type="num" val="Doe"/></colorScale></cfRule></conditionalFormatting>',
    '<hyperlinks><hyperlink ref="A1" location="Doe!A1" tooltip="Doe" display="Doe"/></hyperlinks>',
    '<cellWatches><cellWatch r="Doe"/></cellWatches>', '<customProperties><customPr name="Doe" r:id="rId9"/></customProperties>',
    '<smartTags><cellSmartTags r="Doe"/></smartTags>', '<oleObjects><oleObject progId="Doe" shapeId="1"/></oleObjects>',
    '<webPublishItems><webPublishItem destinationFile="Doe"/></webPublishItems>', '<!-- Doe -->', '<sortState ref="A1:A9" customList="Doe"/>',
    '<extLst><ext uri="{4471902}"><x14:Doe xmlns:x14="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main">Doe</x14:Doe></ext></extLst>',
    '<pageSetup r:id="Doe" paperSize="9"/>', '<ignoredErrors><ignoredError sqref="Doe"/></ignoredErrors>', '<doe/>', '<doe xmlns="urn:doe">Doe</doe>',
    '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice Requires="x14">Doe</mc:Choice></mc:AlternateContent>',
    '<mergeCells doe="Doe"><mergeCell ref="Doe"/></mergeCells>', '<dataConsolidate><dataRefs><dataRef name="Doe"/></dataRefs></dataConsolidate>',
    '<colBreaks count="1"><brk id="4471902"/></colBreaks>', '<drawing r:id="Doe"/>', '<picture r:id="Doe"/>', '<phoneticPr fontId="0" type="Doe"/>',
    '<headerFooter><oddHeader doe="Doe"></oddHeader></headerFooter>', '<pageMargins left="4471902"/>',
    '<dataValidations><dataValidation type="list" sqref="A1" doe="Doe" imeMode="Doe"><formula1>Doe</formula1></dataValidation></dataValidations>',
]  # fmt: skip


@pytest.mark.parametrize("smuggled", SMUGGLED)
@pytest.mark.parametrize("before", [True, False])
def test_nothing_around_the_cells_keeps_a_name(smuggled: str, before: bool) -> None:
    cells = data_of(["a"])
    parts = _written(_opened(smuggled + cells if before else cells + smuggled))
    assert not re.search("doe|4471902|RG9l", "".join(parts.values()), re.IGNORECASE)
    assert "<t>a</t>" in parts["xl/worksheets/sheet1.xml"]


@pytest.mark.parametrize("smuggled", [
    '<c r="A1" doe="Doe" cm="1" vm="4471902" s="0"><v>1</v></c>', '<c r="A1"><v>1</v><extLst><ext>Doe</ext></extLst></c>',
    '<c r="A1" t="inlineStr"><is><t>a</t><rPh sb="0" eb="1"><t>Doe</t></rPh><phoneticPr fontId="1"/></is></c>',
    '<c r="A1" t="inlineStr"><is><r><rPr><rFont val="Doe"/><color rgb="Doe"/><scheme val="Doe"/></rPr><t>a</t></r></is></c>',
    '<c r="A1"><f doe="Doe">B1</f><v>1</v></c>', '<c r="A1"><f t="dataTable" ref="A1:A2" r1="Doe"/><v>1</v></c>',
    '<c r="A1"><f t="array" ref="Doe">B1</f><v>1</v></c>', '<c r="A1"><f>N("Doe")+1</f><v>1</v></c>', '<c r="A1"><f t="shared" si="3"/><v>1</v></c>',
])  # fmt: skip
def test_nothing_in_a_cell_keeps_a_name(smuggled: str) -> None:
    part = _written(_opened(f'<sheetData><row r="1" doe="Doe" spans="Doe" ht="4471902">{smuggled}</row></sheetData>'))["xl/worksheets/sheet1.xml"]
    assert not re.search("doe|4471902", part, re.IGNORECASE)


@pytest.mark.parametrize("smuggled", [
    '<fileSharing userName="Doe" reservationPassword="Doe"/>', '<workbookProtection workbookPassword="Doe" lockStructure="1"/>',
    '<definedNames><definedName name="Doe">Sheet1!$A$1</definedName><definedName name="total" comment="Doe">"Doe"</definedName></definedNames>',
    '<definedNames><definedName name="total" comment="Doe" description="Doe">Sheet1!$A$1</definedName></definedNames>',
    '<externalReferences><externalReference r:id="rId9"/></externalReferences>', '<customWorkbookViews><customWorkbookView name="Doe" guid="x"/></customWorkbookViews>',
    '<pivotCaches><pivotCache cacheId="4471902" r:id="rId9"/></pivotCaches>', '<fileVersion appName="Doe" codeName="{4471902}"/>',
    '<functionGroups><functionGroup name="Doe"/></functionGroups>', '<webPublishing codePage="Doe"/>', '<smartTagTypes><smartTagType name="Doe"/></smartTagTypes>',
    '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice Requires="x15"><x15ac:absPath '
    'xmlns:x15ac="http://schemas.microsoft.com/office/spreadsheetml/2010/11/ac" url="C:\\Users\\Doe\\"/></mc:Choice></mc:AlternateContent>',
])  # fmt: skip
def test_nothing_in_the_workbook_keeps_a_name(smuggled: str) -> None:
    parts = _written(_opened(data_of(["a"]), book=smuggled))
    assert not re.search("doe|4471902", "".join(parts.values()), re.IGNORECASE)


@pytest.mark.parametrize("smuggled", [
    '<numFmts><numFmt numFmtId="170" formatCode="&quot;Doe&quot; 0"/></numFmts>', '<numFmts><numFmt numFmtId="170" formatCode="\\D\\o\\e 0"/></numFmts>',
    '<fonts><font><name val="Doe"/><sz val="4471902"/></font></fonts>', '<cellStyles><cellStyle name="Doe" xfId="0"/></cellStyles>',
    '<tableStyles count="1" defaultTableStyle="Doe"><tableStyle name="Doe"/></tableStyles>', '<dxfs><dxf><font><name val="Doe"/></font></dxf></dxfs>',
    '<extLst><ext uri="Doe"/></extLst>', '<colors><mruColors><color rgb="Doe"/></mruColors></colors>', '<doe>Doe</doe>',
])  # fmt: skip
def test_nothing_in_the_styles_keeps_a_name(smuggled: str) -> None:
    parts = _written(_opened(data_of(["a"]), {"styles": smuggled}))
    assert not re.search("doe|4471902", "".join(parts.values()), re.IGNORECASE)


@pytest.mark.parametrize(("code", "stays"), [
    ("#,##0.00", True), ('0.0" mg/dL"', True), ("[$-409]d\\-mmm\\-yy;@", True), ("[>=100]0;0.0", True), ('"Jane "0', False),
    ("General", True), ('_(* #,##0_);_(* \\(#,##0\\);_(* "-"??_);_(@_)', True), ("[Doe]0", False), ('[h]:mm:ss', True), ("\\J\\a\\n\\e", False),
])  # fmt: skip
def test_a_number_format_stays_if_its_words_are_units(code: str, stays: bool) -> None:
    assert is_code(code) is stays


@pytest.mark.parametrize("name", [
    "xl/calcChain.xml", "xl/externalLinks/externalLink1.xml", "xl/connections.xml", "xl/queryTables/queryTable1.xml", "xl/pivotTables/pivotTable1.xml",
    "xl/pivotCache/pivotCacheRecords1.xml", "xl/printerSettings/printerSettings1.bin", "customXml/item1.xml", "docProps/custom.xml", "Doe.txt",
    "xl/persons/person.xml", "xl/threadedComments/threadedComment1.xml", "xl/revisions/revisionLog1.xml", "xl/model/item.data", "docProps/thumbnail.jpeg",
    "xl/metadata.xml", "xl/richData/rdrichvalue.xml", "xl/ctrlProps/ctrlProp1.xml", "xl/slicers/slicer1.xml", "customUI/customUI.xml",
])  # fmt: skip
def test_parts_without_a_rule_are_removed(name: str) -> None:
    kind = name.rpartition("/")[2].partition(".")[0].rstrip("1")
    source = parts_of(data_of(["a"]), {name: "<x>Doe</x>"})
    relation = f'<Relationship Id="rId77" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}" Target="/{name}"/>'
    links = "xl/_rels/workbook.xml.rels"
    source[links] = source[links].replace(b"</Rel", f"{relation}</Rel".encode())
    types = source["[Content_Types].xml"].replace(b"</Types", f'<Override PartName="/{name}" ContentType="application/doe"/></Types'.encode())
    parts = _written(_document(zipped(source | {"[Content_Types].xml": types})))
    assert name not in parts
    assert not re.search("doe|rId77", "".join(parts.values()), re.IGNORECASE)


def test_external_links_of_cells_are_removed_and_their_words_stay() -> None:
    source = parts_of(data_of(["Jane"]) + '<hyperlinks><hyperlink ref="A1" r:id="rId1" tooltip="Doe"/></hyperlinks>', {"comments": ""})
    links = "xl/worksheets/_rels/sheet1.xml.rels"
    source[links] = re.sub(rb"<Relationship .*?/>", b'<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
                           b'relationships/hyperlink" Target="mailto:jane.doe@example.org" TargetMode="External"/>', source[links])  # fmt: skip
    parts = _written(_document(zipped(source)))
    assert "hyperlink " not in parts["xl/worksheets/sheet1.xml"]
    assert "doe" not in "".join(parts.values()).lower()
    assert "Jane" in parts["xl/worksheets/sheet1.xml"]


@pytest.mark.parametrize("data", [
    workbook("<sheetData><row><c>xyz</c></row></sheetData>"), workbook("<sheetData><c><v>1</v></c></sheetData>"),
    workbook('<sheetData><row r="0"><c><v>1</v></c></row></sheetData>'), workbook(_cells(["<c><v>xyz</v></c>"])),
    workbook(_cells(['<c t="b"><v>xyz</v></c>'])), workbook(_cells(['<c t="xyz"><v>1</v></c>'])), workbook(_cells(['<c t="s"><v>0</v></c>'])),
    workbook(_cells(['<c><v>1</v><is><t>xyz</t></is></c>'])), workbook(_cells(['<c t="inlineStr"><is>xyz</is></c>'])),
    workbook(_cells(['<c t="inlineStr"><is><t>a</t><xyz/></is></c>'])), 
    workbook("<sheetData>xyz</sheetData>"), workbook("<sheetData/><pageMargins>xyz</pageMargins>"),
    workbook(data_of(["a"]), {"sharedStrings": "<si><t>xyz</t></si><xyz/>"}), workbook(data_of(["a"]), {"sharedStrings": "xyz"}),
    zipped(parts_of("<sheetData/>") | {"xl/worksheets/sheet1.xml": b'<worksheet xmlns="urn:xyz"><sheetData/></worksheet>'}),
    zipped(parts_of("<sheetData/>") | {"xl/worksheets/sheet1.xml": b'<!DOCTYPE x [<!ENTITY e "xyz">]><worksheet/>'}),
])  # fmt: skip
def test_a_damaged_workbook_is_refused_without_its_words(data: bytes) -> None:
    with pytest.raises(RecordProblem) as refused:
        _document(data)
    assert "xyz" not in str(refused.value)


def test_macros_templates_and_binary_workbooks_are_refused() -> None:
    main = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
    for kind in ("application/vnd.ms-excel.sheet.macroEnabled.main+xml", "application/vnd.ms-excel.sheet.binary.macroEnabled.main",
                 "application/vnd.openxmlformats-officedocument.spreadsheetml.template.main+xml"):  # fmt: skip
        source = parts_of(data_of(["a"]))
        source["[Content_Types].xml"] = source["[Content_Types].xml"].replace(main.encode(), kind.encode())
        with pytest.raises(UnsupportedFormat):
            _document(zipped(source))


def test_a_large_number_of_cells_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incognote.formats.xlsx.book.MAX_CELLS", 3)
    with pytest.raises(MalformedRecord, match="Split the workbook"):
        _opened(data_of(*(["a"] for _ in range(1_000_001))))


def test_prefixes_of_elements_are_read() -> None:
    source = parts_of(data_of(["Jane"]))
    sheet = source["xl/worksheets/sheet1.xml"].decode()
    sheet = re.sub(r"<(/?)(\w)", r"<\1x:\2", sheet).replace("xmlns=", "xmlns:x=")
    parts = _written(_document(zipped(source | {"xl/worksheets/sheet1.xml": sheet.encode()})), TextEdit("sheet 1", 0, 4, "X"))
    assert '<x:c r="A1" t="inlineStr"><x:is><x:t xml:space="preserve">X</x:t></x:is></x:c>' in parts["xl/worksheets/sheet1.xml"]


@pytest.mark.parametrize("number", ["0", "12.4", "-36.599999999999994", "250000", "1E-3", "0.000001", "0.4471902", "4500000000000"])
def test_short_numbers_and_results_of_arithmetic_are_not_read(number: str) -> None:
    assert is_number(number)


@pytest.mark.parametrize("number", ["4471902", "6175550143", "617.5550143", "4471902.5", "4471000"])
def test_long_numbers_are_read(number: str) -> None:
    assert not is_number(number)


@pytest.mark.parametrize(("words", "plain"), [("Lab results 2", True), ("Jane", False), ("3-4-1950", False), ("April", False), ("4471902", False)])
def test_plain_words(words: str, plain: bool) -> None:
    assert is_plain(words) is plain


def test_a_header_needs_values_below_it() -> None:
    rows = [[ShownCell(1, "Name", True), ShownCell(2, "MRN", True)], [ShownCell(1, "Jane", True), ShownCell(2, "551", False)], [], [], [],
            [ShownCell(1, "asthma", True)]]  # fmt: skip
    assert [sorted(each.values) for each in labeled(rows)] == [[], [1, 2], [], [], [], []]


@pytest.mark.parametrize("rows", [
    [["Name", "Jane Doe"], ["DOB", "3/4/1950"], ["Sex", "F"], ["MRN", "4471902"]],
    [["Name", "Jane Doe", "DOB", "3/4/1950"], ["MRN", "4471902", "Sex", "F"], ["Hb", "12.4", "WBC", "5"]],
    [["DOB", "04.03.1950"], ["Sex", "w"], ["Hb", "12.4"]],
    [["Name", "MRN", "DOB", "CA125"], ["Jane Doe", "447190", "3/4/1950", "12"]],
])  # fmt: skip
def test_labels_are_the_same_after_dates_become_labels(rows: list[list[str]]) -> None:
    document = _opened(_cells(*([_words(each) for each in row] for row in rows)))
    assert {value for value, _, _ in _fields(document).values()} >= {"3/4/1950"} or rows[0][0] == "DOB"
    new = {a.text.field: "[DATE]" if a.action == "date" else "84ab82652875a70d" if a.action == "hash" else f"[{a.entity_type}]"
           for a in document.actions}  # fmt: skip
    _written(document, new=new)


@pytest.mark.parametrize("rows", [
    [["Patient", "MRN", "Hb"], ["", "", "g/dL"], ["Okafor", "447190", "12"]],
    [["Patient", "MRN", "2023"], ["Okafor", "447190", "12"]],
    [["Patient", "MRN", "Comments (please enter only short remarks here)"], ["Okafor", "447190", "x"]],
    [["Name:", "MRN:", "Hb:"], ["Okafor", "447190", "12"]],
    [["Room", "HbA1c", "Patient", "MRN"], ["7B", "6.1", "Okafor", "447190"]],
    [["Patient", "MRN", "Hb"], ["Lind", "447191", "9"], ["", "", ""], ["Test", "Patient", "MRN", "Result"], ["Na", "Okafor", "447190", "140"]],
    [["Patient", "MRN", "Hb"], ["Lind", "447191", "9"], ["", "", ""], ["", "", ""], ["Okafor", "447190", "9"]],
    [["Patient", "Hosp. Nr.", "Hb"], ["Okafor", "447190", "9"]], [["Patient", "Pat.-Nr. (KIS)"], ["Okafor", "447190"]],
    [["Patient", "Patient-Nr. intern:"], ["Okafor", "447190"]],
])  # fmt: skip
def test_values_under_a_header_are_fields_whatever_is_around_it(rows: list[list[str]]) -> None:
    cells = [[_number(each) if each.isdecimal() else _words(each) for each in row] for row in rows]
    document = _opened(_cells(*cells))
    assert {"Okafor", "447190"} <= {value for value, _, _ in _fields(document).values()}
    assert "447190" not in _texts(document).get("sheet 1", "")
    assert not {"Hb", "2023", "HbA1c", "140", "9", "12", "6.1"} & {value for value, _, _ in _fields(document).values()}
    _written(document, new={a.text.field: "84ab82652875a70d" for a in document.actions if a.action == "hash"})


@pytest.mark.parametrize("rows", [
    [["Isolate", "AMP", "CIP"], ["E. coli", "R", "0.25"]], [["PCP", "negative"], ["CIP", "S"], ["CP", "B"]],
    [["Date", "MPI", "IEP", "CP"], ["baseline", "normal", "none", "B"]], [["Ward", "Patients"], ["ICU", "120"]],
])  # fmt: skip
def test_drugs_tests_and_counts_are_no_identifiers(rows: list[list[str]]) -> None:
    cells = [[_number(each) if each.isdecimal() else _words(each) for each in row] for row in rows]
    assert not [field for field in _fields(_opened(_cells(*cells))).values() if field[0] != "baseline"]


def test_the_header_of_a_column_of_numbers_is_no_name() -> None:
    document = _opened(_cells([_words("Patient"), _words("Hb")], [_words("Okafor, Chidi"), _number(12)]))
    assert list(_fields(document)) == ["sheet 1!A2"]


def test_a_number_under_a_header_of_birth_is_a_date() -> None:
    document = _opened(_cells([_words("MRN"), _words("DOB (y/m/d)")], [_number(4471901), _number(18325)]))
    assert _fields(document)["sheet 1!B2"] == ("18325", "date", "BIRTH_DATE_TIME")


def test_the_second_reader_does_not_walk_empty_cells() -> None:
    sheet = '<sheetData><row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>Ben</t></is></c></row></sheetData>'
    assert "Ben" in list(second_reading(workbook(sheet), TYPE))


@pytest.mark.parametrize("formula", ["447*1000+190", "4471&902"])
def test_a_formula_of_literals_is_removed(formula: str) -> None:
    assert not is_closed(formula, set(), set())


def test_the_box_of_a_comment_is_at_its_cell() -> None:
    import openpyxl
    from openpyxl.comments import Comment

    book, source = openpyxl.Workbook(), io.BytesIO()
    sheet: Any = book.active
    sheet["B3"] = "x"
    sheet["B3"].comment = Comment("seen", "Ann Lee")
    book.save(source)
    drawings = [part for name, part in _written(_document(source.getvalue())).items() if name.endswith(".vml")]
    assert "<x:Row>2</x:Row><x:Column>1</x:Column>" in drawings[0]


def _made() -> bytes:
    """Return a workbook that openpyxl wrote."""
    import openpyxl
    from openpyxl.chart import BarChart, Reference
    from openpyxl.comments import Comment

    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.title = "Jane Doe"
    sheet.append(["Patient", "MRN", "DOB", "Hemoglobin", "Notes"])
    sheet.append(["Doe, Jane", 4471902, date(1950, 3, 4), 12.4, "Seen by Dr. Carter."])
    sheet.append(["Roe, Richard", 4471903, datetime(1961, 12, 31, 8, 30), 11.9, "Doing well."])
    sheet["D4"] = "=AVERAGE(D2:D3)"
    sheet["A2"].comment = Comment("Jane Doe called", "Ann Lee")
    sheet["E2"].hyperlink = "mailto:jane.doe@example.org"
    sheet.oddHeader.left.text = "Jane Doe"
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=4, min_row=1, max_row=3), titles_from_data=True)
    sheet.add_chart(chart, "H2")
    book.create_sheet("Hidden").sheet_state = "veryHidden"
    book.properties.creator, book.properties.title = "Ann Lee", "Labs of Jane Doe"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def test_given_identifiers_are_gone_from_a_workbook_of_openpyxl_and_it_opens_again() -> None:
    import openpyxl

    document = _document(_made())
    edits = [edit for words in ("Jane Doe", "Carter") for edit in _replaced(document, words, "[PERSON]")]
    changes: dict[str, list[tuple[int, int, str]]] = {}
    for edit in edits:
        changes.setdefault(edit.field, []).append((edit.start, edit.end, edit.new))
    values = {action: "2001-05-06" if action.action == "date" else "[ID]" for action in document.actions}
    output = rebuilt(named("xlsx"), document, changes, values)
    shown = "\n".join([*second_reading(output, TYPE), *(part.decode() for part in unzipped(output).values())])
    assert not re.search("Jane|Doe|Roe|Carter|Ann Lee|447190|1950|1961|example", shown)
    again = openpyxl.load_workbook(io.BytesIO(output))
    sheet = again["(PERSON)"]
    assert [cell.value for cell in sheet[2]][:4] == ["[ID]", "[ID]", datetime(2001, 5, 6), 12.4]
    assert sheet["D4"].value == "=AVERAGE(D2:D3)"
    assert sheet["A2"].comment.text == "[PERSON] called"
    assert again["Hidden"].sheet_state == "veryHidden"


def test_the_second_reader_sees_what_the_first_one_removes() -> None:
    sheet = _cells([_words("Ben"), '<c t="str"><f>"Cara"</f><v>Dan</v></c>']) + (
        '<autoFilter ref="A1:A2"><filterColumn colId="0"><filters><filter val="Eva"/></filters></filterColumn></autoFilter>'
        "<extLst><ext uri=\"x\">Fred</ext></extLst><!-- Gil -->"
    )
    more = {"comments": "<authors><author>Hal</author></authors><commentList><comment ref=\"A1\" authorId=\"0\"><text><t>Ida</t></text></comment>"
            "</commentList>", "sharedStrings": "<si><t>Jo</t></si>", "docProps/custom.xml": "<x>Kim</x>"}  # fmt: skip
    book = '<definedNames><definedName name="Lea" comment="Mia">"Nia"</definedName></definedNames>'
    shown = " ".join(second_reading(workbook(sheet, more, names=("Sheet1", "Ole"), book=book), TYPE))
    assert {"Ben", "Cara", "Dan", "Eva", "Fred", "Gil", "Hal", "Ida", "Jo", "Kim", "Lea", "Mia", "Nia", "Ole"} <= set(re.findall(r"\w+", shown))


def test_the_second_reader_leaves_out_layout_and_laboratory_values() -> None:
    shown = second_reading(workbook(_cells([_words("Patient"), _number(12.4), "<c><f>SUM(A1:A9)</f><v>250000</v></c>"]), {"styles": DATES}), TYPE)
    assert not any(words.strip() for words in shown)


def test_an_output_is_a_zip_file_without_dates_and_comments() -> None:
    out = io.BytesIO()
    _opened(data_of(["Jane"])).rebuild([TextEdit("sheet 1", 0, 4, "X")], out)
    with zipfile.ZipFile(io.BytesIO(out.getvalue())) as file:
        assert {entry.date_time for entry in file.infolist()} == {(1980, 1, 1, 0, 0, 0)}
