"""XLSX: which cells of the tables and forms of hospitals are identifiers, and which stay."""

# ruff: noqa: E501 -- a table reads better with one row in a line

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

import pytest

from incognote.formats.base import FieldEdit, TextEdit, splice
from incognote.formats.office.package import unzipped, zipped
from incognote.formats.output import rebuilt
from incognote.formats.registry import named, second_reading
from incognote.formats.xlsx.dates import shown_by
from incognote.formats.xlsx.document import XlsxDocument
from incognote.formats.xlsx.labels import label_of
from incognote.formats.xlsx.shared import SharedStrings
from incognote.formats.xlsx.workbook import read_workbook

from .samples.xlsx import MAIN, parts_of, workbook

TYPE = named("xlsx").media_types[0]
Row = Sequence[str | float | None]


def _made(rows: Sequence[Row], formats: dict[str, str] | None = None) -> bytes:
    import openpyxl

    book, out = openpyxl.Workbook(), io.BytesIO()
    sheet: Any = book.active
    for row in rows:
        sheet.append(row)
    for place, code in (formats or {}).items():
        sheet[place].number_format = code
    book.save(out)
    return out.getvalue()


def _document(rows: Sequence[Row], formats: dict[str, str] | None = None) -> XlsxDocument:
    data = _made(rows, formats)
    return XlsxDocument(data, read_workbook(data))


def _values(document: XlsxDocument) -> set[str]:
    return {each.text.content for each in document.actions if each.text.field.startswith("sheet")}


def _text(document: XlsxDocument) -> str:
    return next((each.content for each in document.texts if each.field == "sheet 1"), "")


def _output(document: XlsxDocument, replaced: str = "") -> bytes:
    """Return the output, read again, in which numbers are hashed and a stretch of the text is a person."""
    values = {action: "84ab82652875a70d" if action.action == "hash" else "[DATE]" if action.action == "date"
              else f"[{action.entity_type}]" for action in document.actions}  # fmt: skip
    at = _text(document).find(replaced) if replaced else -1
    changes = {"sheet 1": [(at, at + len(replaced), "[PERSON]")]} if at >= 0 else {}
    return rebuilt(named("xlsx"), document, changes, values)


@pytest.mark.parametrize(("rows", "identifiers"), [
    ([["Patient", "Kürzel", "Hb"], ["Okafor, Chidi", 552310, 12], ["Wu, Li", 552401, 9]], {"552310", "552401"}),
    ([["Pat", "Kürzel", "Hb"], ["Okafor, Chidi", "AB 4471", 12], ["Wu, Li", "AB 4472", 9]], {"AB 4471", "AB 4472"}),
    ([["Patient", "Okafor", "Wu"], ["MRN", 447190, 447191], ["Hb", 12, 9]], {"447190", "447191"}),
    ([["MRN", "DOB day", "DOB month", "DOB year"], [447190, 4, 3, 1950]], {"447190", "4", "3", "1950"}),
    ([["MRN", "DOB"], [447190, 18325]], {"447190", "18325"}),
    ([["Cognome e nome", "Codice fiscale"], ["Rossi Mario", "RSSMRA50C04H501X"]], {"Rossi Mario", "RSSMRA50C04H501X"}),
    ([["Voornaam", "Patiëntnummer"], ["Pieter", 447190]], {"Pieter", "447190"}),
    ([["Nome do utente", "Nº processo"], ["Maria Costa", 447190]], {"Maria Costa", "447190"}),
    ([["Patient #", "Hb"], [447190, 12]], {"447190"}),
    ([["Name", "Score"], ["Wu, Thessaly", 12], ["Okafor, Nia", 12]], {"Wu, Thessaly", "Okafor, Nia"}),
    ([["Staff", "Score"], ["Thessaly Wu", 12], ["Nia Okafor", 12]], {"Thessaly Wu", "Nia Okafor"}),
    ([["MRN", 4, 4, 7, 1, 8, 0], ["Surname", *"OKAFOR"], ["Pain", 12, 12]], {*"447180", *"OKAFOR"}),
    ([["Hospital #", "Pt #", "Reg#", "SSN last 4"], [447190, 552310, 88123, 4471]], {"447190", "552310", "88123", "4471"}),
    ([["PAT_MRN_ID", "ENC_PROVIDER", "ADD_LINE_1"], ["E447190", "OKAFOR, NIA", "12 OAK CT"]], {"OKAFOR, NIA", "12 OAK CT"}),
])  # fmt: skip
def test_record_numbers_and_parts_of_dates_of_birth_are_fields(rows: Sequence[Row], identifiers: set[str]) -> None:
    document = _document(rows)
    assert identifiers <= _values(document)
    assert not {"12", "9"} & _values(document)
    _output(document)


@pytest.mark.parametrize("rows", [
    [["Ward", "Patients", "Deaths"], ["ICU", 120, 3], ["Surgery", 340, 5]],
    [["Ward", "Patients #", "# of falls"], ["ICU", 120, 3], ["Surgery", 340, 5]],
    [["Patients", "n", "%"], ["treated", 120, 60], ["placebo", 118, 59]],
    [["Variable", "Label", "Type"], ["pat_id", "Patient identifier", "string"], ["phone", "Phone number", "string"], ["sex", "Sex", "factor"]],
    [["Date", "MPI"], ["baseline", "normal"]],
    [["Pain", 3, 4, 2, 2, 1], ["Group", *"ABCDE"]],
    [["Name", "Result"], ["Sodium, Serum", 139], ["Glucose, Fasting", 88], ["Blood Pressure", 120]],
    [["Name", "Beds"], ["St. Mary Hospital", 139], ["Grace Clinic", 88], ["Iron Sucrose", 120]],
    [["Patient", "Okafor", None, "Labs"], ["MRN", "Last", "First", "Hb"], [447190, "Wu", "Li", 12]],
])  # fmt: skip
def test_counts_variables_and_words_of_layout_stay(rows: Sequence[Row]) -> None:
    assert _values(_document(rows)) <= {"Okafor", "447190", "Wu", "Li"}


@pytest.mark.parametrize("rows", [
    [["Viral load (copies/ml)", "Hb"], [2345678, 12.5]], [["HIV RNA", "copies/ml", "<20", 2345678]], [["Test", "Unit"], [1234567, "copies/ml"]],
    [["Cell count"], [4471902000]], [["Case", "Revenue (EUR)"], ["A", 1234567]],
])  # fmt: skip
def test_amounts_are_not_read_whatever_their_length(rows: Sequence[Row]) -> None:
    document = _document(rows)
    assert not _values(document)
    shown = [_text(document), *second_reading(_made(rows), TYPE)]
    assert not any(str(number) in words for words in shown for row in rows for number in row if isinstance(number, int))


@pytest.mark.parametrize("rows", [[["Note", "x"], [4471902, 12]], [["Costs", "EUR"], ["Code", "x"], [4471902, 12]], [["Account number (EUR)"], [4471902]]])
def test_a_long_number_without_the_name_of_an_amount_is_read(rows: Sequence[Row]) -> None:
    document = _document(rows)
    assert "4471902" in _text(document) or "4471902" in _values(document)


@pytest.mark.parametrize(("code", "shown"), [
    ("0000000", "code"), ("000-00-0000", "code"), ("[<=9999999]###-####;(###) ###-####", "code"), ('"MRN "0000000', "code"),
    ("0.00000", "number"), ("#,##0", "number"), ("0.0%", "number"), ("0000", "number"), ("### ### ##0", "number"),
])  # fmt: skip
def test_a_format_with_leading_zeros_or_hyphens_shows_a_code(code: str, shown: str) -> None:
    assert shown_by(code) == shown


def test_a_number_that_is_shown_as_a_code_is_a_field() -> None:
    document = _document([["Social", "Hb"], [447190, 12]], {"A2": "000-00-0000"})
    assert _values(document) == {"447190"}
    _output(document)


def test_remarks_below_a_table_are_read_as_text() -> None:
    rows = [["Patient", "Hb"], ["Okafor, Chidi", 12], ["Normal range", "12-16"], ["* fasting sample, seen by Dr. Carter"]]
    document = _document(rows)
    assert _values(document) == {"Okafor, Chidi"}
    assert "Normal range \t 12-16\n* fasting sample, seen by Dr. Carter" in _text(document)


def test_the_cells_of_a_header_are_set_off_from_each_other() -> None:
    assert _text(_document([["Ward", "Beds", "Occupied"], ["ICU", 12, 10]])) == "Ward\n\nBeds\n\nOccupied\n\nICU"


def test_a_row_without_cells_in_the_text_is_a_blank_line() -> None:
    assert _text(_document([["Dialysis"], ["MRN:", 447190], ["Labs"]])) == "Dialysis\n\nLabs"


@pytest.mark.parametrize("header", ["Hospital no", "K-Nr", "Kennung", "N° patient", "Nº HC", "Case ref.", "NHS No", "SSN", "Sobrenome", "BSN", "Geboortedatum"])
def test_labels_of_more_languages_are_known(header: str) -> None:
    assert label_of(header) is not None


@pytest.mark.parametrize(("rows", "replaced"), [
    ([["Name", "Okafor Chidi", "Ward"], ["x", "y", "z"]], "Okafor Chidi"), ([["Patient", "Plan", "Deaths"], ["Wu", "y", "z"]], "Deaths"),
    ([["DOB", "Okafor"], ["3/4/1950", "x"]], "Okafor"), ([["MRN", "DOB"], [447190, "Okafor"]], "Okafor"),
])  # fmt: skip
def test_labels_are_the_same_after_a_detector_replaces_other_cells(rows: Sequence[Row], replaced: str) -> None:
    _output(_document(rows), replaced)


@pytest.mark.parametrize(("attribute", "stays"), [
    ('count="2"', True), ('uniqueCount="2"', True), ('count="4471902"', False), ('count="Doe"', False), ('doe="1"', False),
    ('xmlns:x14ac="http://schemas.microsoft.com/office/spreadsheetml/2009/9/ac"', True), ('xmlns:doe="urn:doe"', False),
])  # fmt: skip
def test_shared_strings_keep_only_counts_and_known_namespaces(attribute: str, stays: bool) -> None:
    source = f'<sst xmlns="{MAIN}" {attribute}><si><t>Doe</t></si></sst>'
    assert splice(source, SharedStrings(source).fixed) == (source if stays else source.replace(f" {attribute}", ""))


def test_a_copy_of_cells_in_a_chart_keeps_nothing_that_is_no_part_of_it() -> None:
    import openpyxl
    from openpyxl.chart import BarChart, Reference

    out, book = io.BytesIO(), openpyxl.Workbook()
    sheet: Any = book.active
    sheet.append([12])
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=1, min_row=1))
    sheet.add_chart(chart, "C1")
    book.save(out)
    name, parts = "xl/charts/chart1.xml", unzipped(out.getvalue())
    cache = b'<numCache doe="Doe">4471902<ptCount val="1"/><pt idx="0"><v>12</v></pt><doe>Doe</doe></numCache></numRef>'
    parts[name] = parts[name].replace(b"</numRef>", cache)
    document, output = XlsxDocument(zipped(parts), read_workbook(zipped(parts))), io.BytesIO()
    changes = [TextEdit(text.field, 0, len(text.content), "x") for text in document.texts if text.content == "4471902"]
    document.rebuild([*changes, *(FieldEdit(action, "[PERSON]") for action in document.actions)], output)
    written = unzipped(output.getvalue())[name]
    assert b'<ptCount val="1"/></numCache>' in written
    assert not re.search(b"doe|Doe|4471902", written)


def test_a_strict_workbook_is_read_and_written_in_the_transitional_form() -> None:
    from incognote.formats.office.package import unzipped, zipped

    old, new = b"http://schemas.openxmlformats.org/", b"http://purl.oclc.org/ooxml/"
    source = parts_of('<sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>Jane Doe</t></is></c></row></sheetData>')
    strict = {name: part if name == "[Content_Types].xml" else part.replace(old + b"spreadsheetml/2006/", new + b"spreadsheetml/")
              .replace(old + b"officeDocument/2006/", new + b"officeDocument/") for name, part in source.items()}  # fmt: skip
    data = zipped(strict)
    document, out = XlsxDocument(data, read_workbook(data)), io.BytesIO()
    assert document.texts[0].content == "Jane Doe"
    document.rebuild([TextEdit("sheet 1", 0, 8, "[PERSON]")], out)
    parts = unzipped(out.getvalue())
    assert not any(b"purl.oclc.org" in part for part in parts.values())
    assert b"[PERSON]" in parts["xl/worksheets/sheet1.xml"]
    assert "[PERSON]" in list(second_reading(out.getvalue(), TYPE))


def test_a_cell_in_the_last_column_and_row_does_not_slow_the_second_reader() -> None:
    sheet = '<sheetData><row r="1048576"><c r="XFD1048576"><v>4471902</v></c></row></sheetData>'
    assert "4471902" in list(second_reading(workbook(sheet), TYPE))


@pytest.mark.parametrize(("label", "value"), [
    ("Patient", "eczema"), ("Patient", "hydrocortisone 1 %"), ("Patient", "TSH 0.02"), ("Patient", "sodium 140 mmol/l"),
    ("Date", "furosemide 80 mg"), ("Date", "furosemide 800 mg, seen by Dr. Carter"), ("DOB", "weight 3450 g"),
])  # fmt: skip
def test_clinical_words_under_the_label_of_a_name_or_date_are_read_as_text(label: str, value: str) -> None:
    document = _document([["MRN", label], [447190, "Okafor 3/4/1950"], [447191, value]])
    assert "Okafor 3/4/1950" in _values(document)
    assert value in _text(document)
    _output(document)


@pytest.mark.parametrize(("label", "value"), [
    ("Patient", "okafor, chidi"), ("Patient", "rose king"), ("Patient", "will"), ("Patient", "WU 0.02"), ("Patient", "Okafor 12.03"),
    ("Patient", "Okafor born 12.03"), ("Patient", "Okafor TSH 0.02"), ("Patient", "Okafor 4471902 mg"), ("Date", "march 3"),
    ("Date", "12.03"), ("Date", "12/80 mg"), ("Date", "19500403 g"), ("Date", "3/4/1950, furosemide 80 mg"), ("MRN", "12 mg"),
])  # fmt: skip
def test_a_value_that_may_be_a_name_or_date_stays_a_field(label: str, value: str) -> None:
    document = _document([["Social security number", label], [447190, "Okafor 3/4/1950"], [447191, value]])
    [field] = [each for each in document.actions if each.text.content == value]
    assert (field.start, field.end) == (0, len(value))


def test_only_the_name_before_known_words_and_a_dose_is_replaced() -> None:
    document = _document([["Patient", "MRN"], ["Okafor allopurinol 100 mg", 447190]])
    assert "Okafor" in {each.value for each in document.known}
    assert "[PATIENT] allopurinol 100 mg" in list(second_reading(_output(document), TYPE))


@pytest.mark.parametrize(("label", "note"), [
    ("Patient", "Reviewed 3/4/2024 by Dr. Carter: stable"), ("Date", "Printed on 3/4/2024 by Dr. Carter"),
])  # fmt: skip
def test_a_note_after_an_empty_row_below_a_table_is_read_as_text(label: str, note: str) -> None:
    assert note in _text(_document([[label, "MRN"], ["Okafor 3/4/1950", 447190], [], [note]]))


def test_a_name_after_an_empty_row_below_a_table_is_a_field() -> None:
    assert "Wu, Li" in _values(_document([["Patient", "MRN"], ["Okafor, Chidi", 447190], [], ["Wu, Li"]]))


@pytest.mark.parametrize("new", ["Patient", "MRN", "3/4/1950", "Smith, Jo", "[DATE]"])
def test_an_output_whose_new_words_read_as_labels_or_values_is_accepted(new: str) -> None:
    import openpyxl

    document = _document([["Hb", "Okafor", "Rue"], ["Chidi", "MRN", "eczema"], ["Name", 447190, "Li"]])
    places = [(_text(document).index(name), len(name)) for name in ("Okafor", "Chidi")]
    changes = {"sheet 1": [(at, at + size, new) for at, size in places]}
    output = rebuilt(named("xlsx"), document, changes, dict.fromkeys(document.actions, new))
    sheet: Any = openpyxl.load_workbook(io.BytesIO(output)).active
    assert (sheet["B1"].value, sheet["A2"].value) == (new, new)
