"""The XLSX files of the corpus that openpyxl, XlsxWriter, and LibreOffice produce."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Iterator
from datetime import date
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import xlsxwriter
from office_docx import STAMP, STAMPED, WHEN, Letter, converted, letters
from office_parts import MARK, Made, Words, identifiers, plain, png, settled
from openpyxl import Workbook
from openpyxl.chart import LineChart, Reference
from openpyxl.comments import Comment
from openpyxl.formatting.rule import CellIsRule
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.table import Table
from rtf import notes

HERE = Path(__file__).parent
ISO = re.compile(r"\d{4}-\d\d-\d\d")
NUMBER = re.compile(r"(0|[1-9]\d*)(\.\d+)?")
FORMATS = {"dd/mm/yyyy": "%d/%m/%Y", "yyyy-mm-dd": "%Y-%m-%d", "dd.mm.yyyy": "%d.%m.%Y", "m/d/yyyy": ""}
Sheets = dict[str, list[tuple[str, ...]]]


def serial(day: str) -> str:
    """Return the number of a day in the 1900 system."""
    return str((date.fromisoformat(day) - date(1899, 12, 30)).days)


def shown(day: str, form: str) -> str:
    """Return a day as a number format shows it."""
    each = date.fromisoformat(day)
    return each.strftime(FORMATS[form]) if FORMATS[form] else f"{each.month}/{each.day}/{each.year}"


def forms(day: str, form: str) -> tuple[str, str, str]:
    """Return the number of a day, the day in its number format, and the day as an export in English shows it."""
    return serial(day), shown(day, form), date.fromisoformat(day).strftime("%m/%d/%Y")


def value(marked: str) -> str | float | date | None:
    """Return the value of a cell."""
    words = plain(marked)
    if ISO.fullmatch(words):
        return date.fromisoformat(words)
    return float(words) if NUMBER.fullmatch(words) else (words or None)


def sheets(table: Letter) -> Sheets:
    """Return the marked rows of each sheet."""
    found: Sheets = {}
    for kind, cells in table.lines:
        if kind == "part":
            found[cells[0]] = []
        else:
            list(found.values())[-1].append(cells)
    return found


def found_in(marked: Sheets, form: str) -> list[Words]:
    """Return the identifiers of sheets. Dates stand in the cells as numbers, and programs show them in three forms."""
    cells = [cell for title, rows in marked.items() for cell in (title, *(cell for row in rows for cell in row))]
    days = [(match[2], match[1]) for match in map(MARK.fullmatch, cells) if match and ISO.fullmatch(match[2])]
    more = [(each, kind) for day, kind in days for each in forms(day, form)]
    return [*identifiers(cells), *more]


def note_of(marked: Sheets, form: str) -> str:
    """Return the rows of all sheets as plain text, with a tab between cells."""
    rows = (row for rows in marked.values() for row in rows)
    return "\n".join("\t".join(shown(words, form) if ISO.fullmatch(words) else words for words in map(plain, row))
                     for row in rows)  # fmt: skip


def opened(marked: Sheets, form: str) -> Workbook:
    """Return a workbook with the sheets, with the habits of openpyxl."""
    book = Workbook()
    book.remove(book.active)
    for title, rows in marked.items():
        sheet = book.create_sheet(plain(title))
        for row in rows:
            sheet.append([value(cell) for cell in row])
        for row in sheet.iter_rows():
            for cell in row:
                if isinstance(cell.value, date):
                    cell.number_format = form
        for cell in sheet[1]:
            cell.font = Font(bold=True)
        sheet.freeze_panes = "A2"
    properties = book.properties
    properties.creator, properties.lastModifiedBy, properties.title = "Maureen Larkham", "wardclerk7", "Export"
    properties.created = properties.modified = WHEN
    return book


OWNERS: list[Words] = [("Maureen Larkham", "PERSON"), ("wardclerk7", "USERNAME"), STAMPED]


def saved(book: Workbook) -> bytes:
    """Return the bytes of a workbook, with fixed dates."""
    target = io.BytesIO()
    book.save(target)
    return settled(target.getvalue(), {"docProps/core.xml": STAMP})


def labs(book: Workbook) -> list[Words]:
    sheet = book.active
    sheet.merge_cells("A1:H1")
    sheet["A1"].alignment = Alignment(horizontal="center")
    sheet.conditional_formatting.add("E3:G7", CellIsRule(operator="greaterThan", formula=["$D3"], fill=PatternFill(
        bgColor="FFC7CE", fill_type="solid")))  # fmt: skip
    sheet.oddHeader.center.text = "Thaddeus Brannigan"
    sheet.oddFooter.left.text = "Printed by M. Larkham, page &P"
    return [("M. Larkham", "PERSON")]


def summary(book: Workbook) -> list[Words]:
    sheet = book["Summary"]
    sheet["B1"] = "=AVERAGE('Pettifer Doreen'!B3,'Umunna H.'!B3)"
    sheet["A3"], sheet["B3"] = "Check", '=IF(B2="Doreen Pettifer",\'Pettifer Doreen\'!B2,"none")'
    return []


def choices(book: Workbook) -> list[Words]:
    sheet = book.active
    sheet["D2"].comment = Comment("Family complained, see letter of Rowena Tull", "Ottoline Faraday")
    sheet["E3"].comment = Comment("Ask Nell Fairbrother", "Bridie Molloy-Kent")
    rule = DataValidation(type="list", formula1='"Perpetua Ngwenya,Nell Fairbrother,Jonty Abelard"')
    rule.prompt, rule.promptTitle, rule.error = "If it was Dr Auchinleck, write PA", "Reporter", "Not on the list"
    rule.add("E2:E50")
    sheet.add_data_validation(rule)
    book.create_sheet("Lists").sheet_state = "hidden"
    book["Lists"].append(["Managers", "Ottoline Faraday", "Rowena Tull"])
    names = ("Rowena Tull", "Ottoline Faraday", "Nell Fairbrother", "Bridie Molloy-Kent", "Perpetua Ngwenya",
             "Jonty Abelard")  # fmt: skip
    return [(each, "PERSON") for each in names]


def growth(book: Workbook) -> list[Words]:
    sheet = book.active
    sheet.add_table(Table(displayName="Vaccinations", ref="A1:H5"))
    sheet["J1"], sheet["J2"] = "Months", '=DATEDIF(C2,F2,"m")'
    return []


def trend(book: Workbook) -> list[Words]:
    sheet = book.active
    chart = LineChart()
    chart.title, chart.y_axis.title = "Potassium of Thaddeus Brannigan", "mmol/L"
    chart.add_data(Reference(sheet, min_col=4, max_col=7, min_row=4), from_rows=True, titles_from_data=True)
    chart.set_categories(Reference(sheet, min_col=5, max_col=7, min_row=2))
    sheet.add_chart(chart, "A12")
    return []


def ranges(book: Workbook) -> list[Words]:
    sheet = book.active
    sheet.print_title_rows, sheet.print_area = "1:1", "A1:H6"
    sheet.auto_filter.ref = "A1:H6"
    sheet.auto_filter.add_filter_column(4, ["Stanhope"])
    sheet.oddHeader.left.text = "Saltmarsh Memorial Hospital"
    sheet.column_dimensions["A"].width = 28
    sheet.row_dimensions[5].hidden = True
    return [("Saltmarsh Memorial Hospital", "HOSPITAL")]


def by_openpyxl(tables: dict[str, Letter]) -> Iterator[Made]:
    """Yield the files of openpyxl."""
    for name, table, form, change in (
        ("worklist", "worklist", "m/d/yyyy", ranges), ("labs", "labs", "yyyy-mm-dd", labs),
        ("theatre", "theatre", "dd/mm/yyyy", None), ("patients", "patients", "dd/mm/yyyy", summary),
        ("incidents", "incidents", "dd/mm/yyyy", choices), ("vaccinations", "vaccinations", "yyyy-mm-dd", growth),
        ("trend", "labs", "dd/mm/yyyy", trend), ("screening", "screening", "yyyy-mm-dd", None),
        ("reference", "reference", "yyyy-mm-dd", None),
    ):  # fmt: skip
        marked = sheets(tables[table])
        book = opened(marked, form)
        extra = change(book) if change else []
        yield Made(f"openpyxl-{name}.xlsx", saved(book), "openpyxl", "produced",
                   tuple(dict([*found_in(marked, form), *extra, *OWNERS]).items()), note_of(marked, form),
                   tables[table].keeps)  # fmt: skip
    known = [notes()[name] for name in ("dev-e-031", "dev-e-040", "devg-108", "devf-065", "devg-120", "dev-d-10")]
    book = opened({"Notes": [("ID", "Note"), *((str(i), note["text"]) for i, note in enumerate(known, 1))]}, "")
    for cell in book.active["B"]:
        cell.alignment = Alignment(wrap_text=True)
    found = dict([*(each for note in known for each in note["identifiers"]), *OWNERS])
    text = "\n".join(["ID\tNote", *(f"{i}\t{note['text']}" for i, note in enumerate(known, 1))])
    yield Made("openpyxl-notes.xlsx", saved(book), "openpyxl", "produced", tuple(found.items()), text)
    marked = sheets(tables["worklist"])
    rows = marked["Worklist"]
    marked["Worklist"] = [rows[0], *islice(cycle(rows[1:]), 2500)]
    yield Made("openpyxl-20000-cells.xlsx", saved(opened(marked, "yyyy-mm-dd")), "openpyxl", "produced",
               tuple(dict([*found_in(marked, "yyyy-mm-dd"), *OWNERS]).items()), None,
               tables["worklist"].keeps)  # fmt: skip


def by_office(tables: dict[str, Letter], folder: Path) -> Iterator[Made]:
    """Yield the files of LibreOffice. `folder` is for temporary files."""
    rows: dict[str, tuple[Path, str, list[Words], str | None, tuple[str, ...]]] = {}
    for name, table in (("lo-csv-worklist", "worklist"), ("lo-csv-vaccinations", "vaccinations")):
        (marked,) = sheets(tables[table]).values()
        path = folder / f"{name}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([plain(cell) for cell in row] for row in marked)
        only = {"": marked}
        rows[name] = (path, "CSV:44,34,76,1,,1033,false,true", found_in(only, "yyyy-mm-dd"),
                      note_of(only, "yyyy-mm-dd"), tables[table].keeps)  # fmt: skip
    marked = sheets(tables["theatre"])
    page = "".join(f"<table>{''.join(f'<tr>{cells}</tr>' for cells in lines)}</table>" for lines in (
        ["".join(f"<td>{html.escape(plain(cell))}</td>" for cell in row) for row in each] for each in marked.values()))
    path = folder / "lo-html-theatre.html"
    path.write_text(f"<html><head><meta charset='utf-8'></head><body>{page}</body></html>", encoding="utf-8")
    rows[path.stem] = (path, "HTML (StarCalc)", found_in(marked, "yyyy-mm-dd"), note_of(marked, "yyyy-mm-dd"),
                       tables["theatre"].keeps)  # fmt: skip
    flat = (HERE / "office_sheet.fods").read_text(encoding="utf-8")
    path = folder / "lo-flat.fods"
    path.write_text(plain(flat), encoding="utf-8")
    born = [(each, "BIRTH_DATE_TIME") for day in ("1958-12-19", "1964-05-18")
            for each in forms(day, "dd.mm.yyyy")]  # fmt: skip
    rows[path.stem] = (path, "", [*identifiers([flat]), *born], None, ("71.5", "Dry weight", "Kt/V 1.4"))
    for made in by_openpyxl(tables):
        if made.name in ("openpyxl-trend.xlsx", "openpyxl-patients.xlsx"):
            path = folder / f"lo-again-{made.name[9:]}"
            path.write_bytes(made.data)
            rows[path.stem] = (path, "", list(made.identifiers), made.note, made.keeps)
    for reading in dict.fromkeys(row[1] for row in rows.values()):
        chosen = [row[0] for row in rows.values() if row[1] == reading]
        for name, data in sorted(converted(chosen, "xlsx:Calc MS Excel 2007 XML", reading).items()):
            path, _, found, note, keeps = rows[name]
            maker = "openpyxl and LibreOffice" if path.suffix == ".xlsx" else "LibreOffice"
            stamped = {"docProps/core.xml": STAMP} if path.suffix != ".fods" else None
            yield Made(f"{name}.xlsx", settled(data, stamped), maker, "produced",
                       tuple(dict(found).items()), note, keeps)  # fmt: skip


def by_xlsxwriter(tables: dict[str, Letter]) -> Iterator[Made]:
    """Yield the files of XlsxWriter."""
    for name, form, habit in (("rota", "yyyy-mm-dd", rota), ("labs", "dd/mm/yyyy", pictures),
                              ("screening", "m/d/yyyy", None), ("belegung", "dd.mm.yyyy", secret),
                              ("lista", "dd/mm/yyyy", None)):  # fmt: skip
        marked, table = sheets(tables[name]), tables[name]
        target = io.BytesIO()
        book = xlsxwriter.Workbook(target, {"constant_memory": name == "screening"})
        book.set_properties({"author": "Maureen Larkham", "manager": "Ottoline Faraday", "created": WHEN})
        day, bold = book.add_format({"num_format": form}), book.add_format({"bold": True})
        for title, rows in marked.items():
            sheet = book.add_worksheet(plain(title))
            for i, row in enumerate(rows):
                for j, cell in enumerate(map(value, row)):
                    if isinstance(cell, date):
                        sheet.write_datetime(i, j, cell, day)
                    elif isinstance(cell, str) and len(cell) > 60 and not habit:
                        sheet.write_rich_string(i, j, cell[:50], bold, cell[50:])
                    else:
                        sheet.write(i, j, cell)
        extra = habit(book, sheet) if habit else []
        book.close()
        owners = [("Maureen Larkham", "PERSON"), ("Ottoline Faraday", "PERSON"), STAMPED]
        yield Made(f"xlsxwriter-{name}.xlsx", settled(target.getvalue(), {"docProps/core.xml": STAMP}), "XlsxWriter",
                   "produced", tuple(dict([*found_in(marked, form), *extra, *owners]).items()), note_of(marked, form),
                   table.keeps, language=table.language)  # fmt: skip


def rota(book: Any, sheet: Any) -> list[Words]:
    sheet.add_table("A1:G5", {"name": "Rota", "columns": [{"header": each} for each in (
        "Date", "Shift", "Doctor", "Mobile", "E-mail", "Role", "Remarks")]})  # fmt: skip
    sheet.write_url("I1", "mailto:rota@northgate.example", string="Bleep", tip="Write to Delphine Arceneaux")
    sheet.write_comment("C3", "Swapped with Jonty Abelard", {"author": "Delphine Arceneaux"})
    sheet.data_validation("C2:C9", {"validate": "list", "source": ["Ifeoma Stanhope", "Jonty Abelard"]})
    sheet.set_header("&LNorthgate Kidney Centre&R&D")
    book.define_name("Next_Brekke", "='On call'!$C$4")
    return [("rota@northgate.example", "EMAIL"), ("Delphine Arceneaux", "PERSON"), ("Jonty Abelard", "CLINICIAN"),
            ("Northgate Kidney Centre", "HOSPITAL"), ("Brekke", "CLINICIAN")]  # fmt: skip


def pictures(book: Any, sheet: Any) -> list[Words]:
    chart = book.add_chart({"type": "line"})
    chart.add_series({"name": "=Results!$A$4", "categories": "=Results!$E$2:$G$2", "values": "=Results!$E$4:$G$4"})
    chart.set_title({"name": "Mr Brannigan, potassium"})
    sheet.insert_chart("A10", chart, {"description": "Potassium of Thaddeus Brannigan over six weeks"})
    sheet.insert_image("J2", "photo.png", {"image_data": io.BytesIO(png()), "description": "Wristband 60441783"})
    sheet.insert_textbox("J10", "Ring his daughter Concepta Brannigan on 518-555-0149")
    book.set_custom_property("Owner", "Philippa Okereke")
    return [("Brannigan", "PATIENT"), ("Concepta Brannigan", "RELATIVE"), ("518-555-0149", "TELEPHONE_NUMBER"),
            ("Philippa Okereke", "CLINICIAN")]  # fmt: skip


def secret(book: Any, sheet: Any) -> list[Words]:
    hidden = book.add_worksheet("Archiv Rauschenbach")
    hidden.write("A1", "Betreuerin: Notburga Kleinschmidt")
    hidden.very_hidden()
    sheet.set_column("D:D", None, None, {"hidden": True})
    return [("Rauschenbach", "PATIENT"), ("Notburga Kleinschmidt", "PERSON")]


def produced(folder: Path) -> Iterator[Made]:
    """Yield all produced XLSX files. `folder` is for temporary files."""
    tables = letters("office_tables.txt")
    yield from by_openpyxl(tables)
    yield from by_office(tables, folder)
    yield from by_xlsxwriter(tables)
