"""The DOCX files of the corpus that LibreOffice, pandoc, and python-docx produce."""

from __future__ import annotations

import base64
import html
import io
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import docx
from docx.enum.section import WD_ORIENT
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls
from docx.shared import Inches
from office_parts import MARK, Made, Words, identifiers, plain, png, settled
from rtf import EXTRA, REMARK, REVIEWER, as_html, as_markdown, notes

WHEN = datetime(2024, 3, 14, 10)
STAMP = (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?", "2024-03-14T10:00:00")
STAMPS = {"docProps/core.xml": STAMP, "word/comments.xml": STAMP}
STAMPED = ("2024-03-14", "DATE")
FLAT = Path(__file__).with_name("office_letter.fodt")


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter of office_letters.txt: lines of a kind, with one marked text, or one for each cell."""

    name: str
    lines: tuple[tuple[str, tuple[str, ...]], ...]
    keeps: tuple[str, ...]
    language: str

    @property
    def note(self) -> str:
        """The letter as plain text, with a tab between cells."""
        return "\n".join(plain("\t".join(cells)) for _, cells in self.lines)

    @property
    def identifiers(self) -> list[Words]:
        """The marked words."""
        return list(identifiers(cell for _, cells in self.lines for cell in cells))

    def first(self, kind: str) -> str:
        """Return the first identifier of a type, or nothing."""
        return next((words for words, each in self.identifiers if each == kind), "")


def letters(file: str = "office_letters.txt") -> dict[str, Letter]:
    """Return the letters of a file beside this one, by name."""
    found = {}
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    for piece in text.split("\n=== ")[1:]:
        name, *rest = piece.strip().splitlines()
        settings = {key: value for key, _, value in (line.partition(": ") for line in rest[:2]) if key in
                    ("keeps", "language")}  # fmt: skip
        lines = []
        for line in rest[len(settings) :]:
            if line.startswith("|"):
                lines.append(("row", tuple(cell.strip() for cell in line[1:].rstrip()[:-1].split(" | "))))
            else:
                sign, _, words = line.partition(" ")
                kind = {"#": "head", "##": "part", ">": "right", "-": "item"}.get(sign, "text")
                lines.append((kind, (words if kind != "text" else line,)))
        found[name] = Letter(name, tuple(lines), tuple(settings["keeps"].split("; ")), settings.get("language", "en"))
    return found


def grouped(letter: Letter) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    """Yield the lines of a letter, with all rows of a table together."""
    rows: list[tuple[str, ...]] = []
    for kind, cells in (*letter.lines, ("end", ())):
        if kind == "row":
            rows.append(cells)
            continue
        if rows:
            yield "table", rows
            rows = []
        if kind != "end":
            yield kind, [cells]


def runs(paragraph: Any, marked: str) -> None:
    """Add a marked text to a paragraph. Identifiers get runs of their own, and long ones get two."""
    place = 0
    for match in MARK.finditer(marked):
        paragraph.add_run(marked[place : match.start()])
        words, place = match[2], match.end()
        half = len(words) // 2 if len(words) > 8 else len(words)
        paragraph.add_run(words[:half]).bold = True
        if words[half:]:
            paragraph.add_run(words[half:]).italic = True
    paragraph.add_run(marked[place:])


def field_of(paragraph: Any, instruction: str, shown: str) -> None:
    """Add a field to a paragraph."""
    field = OxmlElement("w:fldSimple")
    field.set(docx.oxml.ns.qn("w:instr"), instruction)
    field.append(parse_xml(f"<w:r {nsdecls('w')}><w:t>{shown}</w:t></w:r>"))
    paragraph._p.append(field)


def control(label: str, value: str, kind: str) -> Any:
    """Return an inline content control of a form."""
    return parse_xml(
        f"<w:sdt {nsdecls('w')}><w:sdtPr><w:alias w:val={quoteattr(label)}/><w:tag w:val={quoteattr(label.lower())}/>"
        f"{kind}</w:sdtPr><w:sdtContent><w:r><w:t>{escape(value)}</w:t></w:r></w:sdtContent></w:sdt>"
    )


def filled(document: Any, letter: Letter, style: str, form: bool) -> None:
    """Add the lines of a letter to a document of python-docx. In a form, values stand in content controls."""
    for kind, rows in grouped(letter):
        if kind == "table":
            width = max(map(len, rows))
            table = document.add_table(len(rows), width, style=style)
            for row, cells in zip(table.rows, rows, strict=True):
                for i, marked in enumerate(cells):
                    words = plain(marked)
                    if form and i == 1 and MARK.search(marked):
                        listed = f'<w:dropDownList><w:listItem w:displayText={quoteattr(words)} w:value="1"/>' \
                                 "</w:dropDownList>" if "Miss" in words else "<w:text/>"  # fmt: skip
                        row.cells[i].paragraphs[0]._p.append(control(plain(cells[0]), words, listed))
                    else:
                        runs(row.cells[i].paragraphs[0], marked)
                if len(cells) < width:
                    row.cells[len(cells) - 1].merge(row.cells[width - 1])
            continue
        ((marked, *_),) = rows
        label, colon, value = marked.partition(": ")
        if kind in ("head", "part"):
            runs(document.add_heading(level=1 if kind == "head" else 2), marked)
        elif form and colon and len(label) < 25 and MARK.fullmatch(value):
            date = f'<w:date w:fullDate="{plain(value)}T00:00:00Z"><w:dateFormat w:val="yyyy-MM-dd"/></w:date>'
            paragraph = document.add_paragraph(f"{label}: ")
            paragraph._p.append(control(label, plain(value), date if label.startswith("Date") else "<w:text/>"))
        else:
            paragraph = document.add_paragraph(style="List Bullet" if kind == "item" else None)
            runs(paragraph, marked)
            if kind == "right":
                paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT


def by_python(letter: Letter, habits: str, style: str) -> Made:
    """Return a letter as python-docx writes it, with the habits of a hospital."""
    document = docx.Document()
    section = document.sections[0]
    extra: list[Words] = [STAMPED]
    if "wide" in habits:
        section.orientation, section.page_width, section.page_height = WD_ORIENT.LANDSCAPE, Inches(11), Inches(8.5)
    filled(document, letter, style, "form" in habits)
    patient, clinician = letter.first("PATIENT"), letter.first("CLINICIAN")
    if "bare" not in habits:
        section.header.paragraphs[0].text = f"{letter.first('HOSPITAL')}\t{patient}\t{letter.first('BIRTH_DATE_TIME')}"
        footer = section.footer.paragraphs[0]
        footer.add_run("Page ")
        field_of(footer, " PAGE ", "1")
        properties = document.core_properties
        properties.author, properties.last_modified_by = clinician or "Ward office", "wardclerk7"
        properties.title, properties.subject = f"{letter.name} {patient}".strip(), letter.first("MEDICAL_RECORD_NUMBER")
        properties.created = properties.modified = WHEN
        extra.append(("wardclerk7", "USERNAME"))
    if "first" in habits:
        section.different_first_page_header_footer = True
        section.first_page_header.paragraphs[0].text = f"CONFIDENTIAL – {patient}"
    if "comment" in habits:
        document.add_comment(document.paragraphs[-1].runs, text=f"Please ring {patient} before this goes out.",
                             author="Bridie Molloy-Kent", initials="BMK")  # fmt: skip
        extra += [("Bridie Molloy-Kent", "PERSON"), ("BMK", "PERSON")]
    if "logo" in habits:
        document.add_picture(io.BytesIO(png()), width=Inches(0.5))
        document.inline_shapes[0]._inline.docPr.set("descr", f"Signature of {clinician}")
    target = io.BytesIO()
    document.save(target)
    return Made(f"python-{letter.name}.docx", settled(target.getvalue(), STAMPS), "python-docx", "produced",
                tuple(dict([*letter.identifiers, *extra]).items()), letter.note, letter.keeps,
                language=letter.language)  # fmt: skip


def as_letter(name: str, text: str, known: list[Words]) -> Letter:
    """Return a note as a letter. Its `Name: value` lines become rows."""
    for words, kind in sorted(dict(known).items(), key=lambda it: -len(it[0])):
        text = re.sub(rf"(?<![\w«:]){re.escape(words)}(?![\w»])(?![^«]*»)", f"«{kind}:{words}»", text)
    lines: list[tuple[str, tuple[str, ...]]] = []
    for line in text.splitlines():
        label, colon, value = line.partition(": ")
        lines.append(("row", (f"{label}:", value)) if colon and len(plain(label)) < 20 else ("text", (line,)))
    return Letter(name, tuple(lines), (), "en")


def as_page(letter: Letter) -> str:
    """Return a letter as HTML."""
    body = []
    for kind, rows in grouped(letter):
        shown = [[MARK.sub(r"<b>\2</b>", html.escape(cell, quote=False)) for cell in cells] for cells in rows]
        if kind == "table":
            inner = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>" for cells in shown)
            body.append(f"<table border='1'>{inner}</table>")
        else:
            tag = {"head": "h1", "part": "h2", "item": "li"}.get(kind, "p")
            body.append(f"<{tag}>{shown[0][0]}</{tag}>")
    return f"<html><head><meta charset='utf-8'><title>Letter</title></head><body>{''.join(body)}</body></html>"


def converted(sources: list[Path], target: str, reading: str = "") -> dict[str, bytes]:
    """Return what LibreOffice makes of files, by the stem of their names. `target` is a suffix and a filter."""
    folder = sources[0].parent
    out = folder / "converted"
    options = [f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to", target]
    options += [f"--infilter={reading}"] if reading else []
    command = ["soffice", *options, "--outdir", str(out), *map(str, sources)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 -- our own files
    suffix = target.partition(":")[0]
    return {path.stem: (out / f"{path.stem}.{suffix}").read_bytes() for path in sources}


def with_parts(text: str) -> tuple[str, str]:
    """Return a note as a flat ODT with headers, comments, changes, and boxes, with marks and without."""
    body = "".join(f"<text:p>{escape(line)}</text:p>" for line in text.splitlines())
    marked = FLAT.read_text(encoding="utf-8")
    picture = base64.b64encode(png()).decode()
    return marked, plain(marked).replace("@BODY@", body).replace("@PICTURE@", picture)


def by_office(folder: Path) -> Iterator[Made]:
    """Yield the files of LibreOffice. `folder` is for temporary files."""
    known, written = notes(), letters()
    sources: dict[str, list[tuple[Path, str, tuple[Words, ...], tuple[str, ...], str]]] = {}

    def source(reading: str, name: str, content: str | bytes, note: str, found: tuple[Words, ...],
               keeps: tuple[str, ...] = (), language: str = "en") -> None:  # fmt: skip
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        sources.setdefault(reading, []).append((path, note, found, keeps, language))

    for i, name in enumerate(("dev-a-01", "dev-b-18", "dev-c-15", "dev-d-13")):
        text = known[name]["text"]
        source("Text (encoded):UTF8,LF,,,", f"lo-text-{i}.txt", text, text, tuple(known[name]["identifiers"]))
    for i, name in enumerate(("dev-a-20", "dev-b-17", "dev-d-05")):
        text = "\n".join(line for line in known[name]["text"].splitlines() if line)
        source("HTML (StarWriter)", f"lo-html-{i}.html", as_html(text), text, tuple(known[name]["identifiers"]))
    for name in ("arztbrief", "diet-plan", "complaint", "leaflet"):
        each = written[name]
        source("HTML (StarWriter)", f"lo-{name}.html", as_page(each), each.note, tuple(each.identifiers), each.keeps,
               each.language)  # fmt: skip
    for i, name in enumerate(("dev-d-02", "dev-b-16", "dev-a-13", "dev-d-21")):
        marked, content = with_parts(known[name]["text"])
        source("", f"lo-parts-{i}.fodt", content, known[name]["text"],
               identifiers([marked], known[name]["identifiers"]), ("Lungs clear", "asthma plan"))  # fmt: skip
    again = by_python(written["preop-form"], "form first logo", "Table Grid")
    source("", "lo-again.docx", again.data, again.note or "", again.identifiers, again.keeps)
    for reading, rows in sources.items():
        done = converted([path for path, *_ in rows], "docx:MS Word 2007 XML", reading)
        for path, note, found, keeps, language in rows:
            maker = "python-docx and LibreOffice" if path.suffix == ".docx" else "LibreOffice"
            yield Made(f"{path.stem}.docx", settled(done[path.stem]), maker, "produced", found, note, keeps,
                       language=language)  # fmt: skip


def by_pandoc(folder: Path) -> Iterator[Made]:
    """Yield the files of pandoc, with comments, tracked changes, and footnotes."""
    known, written = notes(), letters()
    for name in ("dev-d-14", "dev-c-08", "dev-d-15", "dictated-clinic", "statement", "compte-rendu"):
        letter = written.get(name)
        text = letter.note if letter else "\n".join(line for line in known[name]["text"].splitlines() if line)
        path, target = folder / f"{name}.md", folder / f"{name}.docx"
        path.write_text(as_markdown(text), encoding="utf-8")
        command = ["pandoc", "-s", "-f", "markdown-smart", str(path), "-o", str(target)]
        subprocess.run(command, check=True)  # noqa: S603 -- our own files
        found = dict([*(letter.identifiers if letter else known[name]["identifiers"]), *EXTRA, STAMPED])
        del found["14 March 2024"]  # only in the footer of the other corpus
        note = f"Note\n{REVIEWER}\n{text}\n{REMARK}Signed by Dr. Stellan Vance for Marguerite Oduya"
        yield Made(f"pandoc-{name}.docx", settled(target.read_bytes(), STAMPS), "pandoc", "produced",
                   tuple(found.items()), note, letter.keeps if letter else ("Signed",),
                   language=letter.language if letter else "en")  # fmt: skip


def produced(folder: Path) -> Iterator[Made]:
    """Yield all produced DOCX files."""
    known, written = notes(), letters()
    yield from by_office(folder)
    yield from by_pandoc(folder)
    for name, habits, style in (
        ("discharge-table", "first logo", "Table Grid"), ("tumor-board", "comment", "Light Grid Accent 1"),
        ("ward-round", "wide", "Table Grid"), ("consent", "form", "Table Grid"),
        ("referral-optometry", "comment logo", "Light List"), ("informe", "first", "Table Grid"),
        ("transfer-sbar", "", "Medium Shading 1 Accent 5"), ("case-conference", "wide comment", "Table Grid"),
        ("order-set", "bare", "Table Grid"),
    ):  # fmt: skip
        yield by_python(written[name], habits, style)
    for name in ("dev-d-01", "dev-b-01", "dev-b-free-10"):
        letter = as_letter(name, known[name]["text"], known[name]["identifiers"])
        yield by_python(letter, "comment" if "free" not in name else "bare", "Table Grid")
