"""Make the PDF files of `tests/data/documents/pdf` that other programs produce, and their lines in gold.jsonl.

    python scripts/documents/pdf.py

The letters are in `pdf_letters.txt`, and the notes are those of the other formats. All are synthetic. `pdf_hostile.py`
makes the hostile files. Dates and identifiers of files are fixed, so the same programs make the same bytes again,
except for the time in the fonts of PDF/A.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import tempfile
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pdf_drawn as drawn
import pdf_layout as layout
import pikepdf
import pypdf
import rtf
from pdf_layout import Letter

OUT = Path(__file__).parents[2] / "tests" / "data" / "documents" / "pdf"
DAY = "20240314101500"
TEX = os.environ | {"SOURCE_DATE_EPOCH": "1710411300", "FORCE_SOURCE_DATE": "1"}
UNREADABLE = (("loom \x1cxer", "OCCUPATION"),)  # the ligature has no name in a font of bitmaps
PDF_A = '{"SelectPdfVersion":{"type":"long","value":"2"},"ExportBookmarks":{"type":"boolean","value":"true"}}'
WARD, CLINIC = (3, 4, 5, 7, 8, 9, 10, 15, 16, 17), (2, 14, 18, 19, 20, 21, 22)
TAGGED = '{"UseTaggedPDF":{"type":"boolean","value":"true"}}'


@dataclass(frozen=True, slots=True)
class Made:
    """One file with the letter that it shows, and identifiers that are in it but not in the letter."""

    name: str
    by: str
    letter: Letter
    data: bytes = field(repr=False)
    extra: tuple[tuple[str, str], ...] = ()


def letters() -> dict[str, Letter]:
    """Return the letters of `pdf_letters.txt` and the notes of the other formats, by name."""
    found = {}
    for part in Path(__file__).with_name("pdf_letters.txt").read_text(encoding="utf-8").split("=== ")[1:]:
        name, language, head, foot, keeps, *lines = part.strip().splitlines()
        language, head, foot, keeps = (line.partition(": ")[2] for line in (language, head, foot, keeps))
        found[name] = layout.unmarked(name, language, head, foot, keeps, lines)
    for name, note in rtf.notes().items():
        lines = [line for line in note["text"].splitlines() if line]
        found[name] = Letter(name, "en", "", "", tuple(lines), (), tuple(note["identifiers"]))
    return found


def book(name: str, parts: list[Letter], head: str, foot: str) -> Letter:
    """Return several letters as one, with a header and a footer that carry marks."""
    lines = [line for number, part in enumerate(parts, 1) for line in (f"# Part {number}", *part.lines)]
    whole = layout.unmarked(name, "en", head, foot, "", lines)
    return replace(whole, identifiers=(*whole.identifiers, *(each for part in parts for each in part.identifiers)))


def settled(data: bytes) -> bytes:
    """Return a file with fixed dates and file identifiers of the same length."""
    data = re.sub(rb"\(D:\d{14}", b"(D:" + DAY.encode(), data)
    data = re.sub(rb"(<xmp:\w+Date>)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", rb"\g<1>2024-03-14T10:15:00", data)
    ids = rb"(/ID\s*\[\s*<)([0-9A-Fa-f]+)(>\s*<)([0-9A-Fa-f]+)"
    data = re.sub(ids, lambda m: m[1] + b"1" * len(m[2]) + m[3] + b"1" * len(m[4]), data)
    return re.sub(rb"(/DocChecksum /)([0-9A-F]+)", lambda m: m[1] + b"1" * len(m[2]), data)


def ran(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, env=TEX, check=True, capture_output=True, timeout=300)  # noqa: S603 -- our files


class Programs:
    """Programs that write PDF. Each method returns the bytes of a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def libreoffice(self, name: str, content: str | bytes, *, form: str = "writer", options: str = "") -> bytes:
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        into = f"pdf:{form}_pdf_Export" + (f":{options}" if options else "")
        reading = {".txt": ["--infilter=Text (encoded):UTF8,LF,,,"], ".html": ["--infilter=HTML (StarWriter)"],
                   ".csv": ["--infilter=Text - txt - csv (StarCalc):44,34,76,1"]}.get(path.suffix, [])  # fmt: skip
        profile = f"-env:UserInstallation=file://{self.folder}/profile"
        ran(["soffice", profile, "--headless", *reading, "--convert-to", into, path.name], self.folder)
        return settled(path.with_suffix(".pdf").read_bytes())

    def chromium(self, page: str) -> bytes:
        (self.folder / "page.html").write_text(page, encoding="utf-8")
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", "--print-to-pdf=page.pdf"]
        ran(["chromium", *flags, "page.html"], self.folder)
        return settled((self.folder / "page.pdf").read_bytes())

    def tex(self, source: str) -> bytes:
        (self.folder / "letter.tex").write_text(source, encoding="utf-8")
        (self.folder / "letter.aux").unlink(missing_ok=True)
        for _ in range(2):  # the second run knows the number of pages
            ran(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "letter.tex"], self.folder)
        return settled((self.folder / "letter.pdf").read_bytes())

    def pandoc(self, text: str, *options: str) -> bytes:
        (self.folder / "letter.md").write_text(text, encoding="utf-8")
        (self.folder / "head.tex").write_text("\\pdftrailerid{}\\sloppy\n", encoding="utf-8")
        files = ["-H", "head.tex", "letter.md", "-o", "pandoc.pdf"]
        ran(["pandoc", "-f", "markdown-smart", *options, *files], self.folder)
        return settled((self.folder / "pandoc.pdf").read_bytes())

    def on(self, data: bytes, *command: str) -> bytes:
        """Return what a program makes of a file: its names are `in.pdf` and `out.pdf`."""
        (self.folder / "in.pdf").write_bytes(data)
        ran(list(command), self.folder)
        return settled((self.folder / "out.pdf").read_bytes())


def of_libreoffice(known: dict[str, Letter], run: Programs) -> Iterator[Made]:
    """Yield what LibreOffice exports."""
    by = "LibreOffice"
    for i, name in enumerate(("dev-a-02", "dev-d-06")):
        yield Made(f"lo-text-{i}", by, known[name], run.libreoffice(f"{name}.txt", "\n".join(known[name].lines)))
    for i, name in enumerate(("dev-a-10", "dev-b-04")):
        page = rtf.as_html("\n".join(known[name].lines))
        yield Made(f"lo-html-{i}", by, known[name], run.libreoffice(f"{name}.html", page))

    def fodt(name: str, options: str = "", **style: Any) -> Made:
        extra = tuple((words, kind) for words, kind in layout.PROPERTIES if options == PDF_A)
        page = layout.fodt(known[name], **style)
        return Made(f"lo-{name}", by, known[name], run.libreoffice(f"{name}.fodt", page, options=options), extra)

    yield fodt("discharge-letter")
    yield fodt("trial-newsletter", columns=2, footnote="The data are preliminary.")
    yield fodt("medication-plan", landscape=True)
    yield fodt("arztbrief", TAGGED)
    yield fodt("arabic-report")
    yield fodt("transfer-letter", PDF_A)
    ward = known["ward-book"]
    yield Made("lo-ward-book", by, ward, run.libreoffice("ward-book.fodt", layout.fodt(ward)))
    form = run.libreoffice("oxygen-order.html", layout.html_form(known["oxygen-order"]), options=TAGGED)
    yield Made("lo-oxygen-form", by, known["oxygen-order"], form)
    report = known["lab-cumulative"]
    yield Made("lo-lab-sheet", by, report, run.libreoffice("lab.xlsx", layout.xlsx(report), form="calc"))
    schedule, rows = layout.with_words(known["dev-a-17"], {"Wed 17-Apr-2024": "04/17/24"}), io.StringIO()
    csv.writer(rows).writerows([cell.strip() for cell in line.split("|")] for line in schedule.lines)
    yield Made("lo-schedule-csv", by, schedule, run.libreoffice("schedule.csv", rows.getvalue(), form="calc"))


def of_chromium(known: dict[str, Letter], run: Programs) -> Iterator[Made]:
    """Yield what Chromium prints."""

    def page(name: str, style: str, as_name: str | None = None) -> Made:
        shown = known[name]
        return Made(f"chromium-{as_name or name}", "Chromium", shown, run.chromium(layout.page(shown, style)))

    yield page("discharge-letter", layout.FLEX)
    yield page("lab-cumulative", layout.GRID)
    yield page("radiology-addendum", layout.PLAIN)
    yield page("trial-newsletter", layout.COLUMNS)
    yield page("operating-list", layout.LANDSCAPE)
    yield page("informe-de-alta", layout.FLEX)
    yield page("compte-rendu", layout.PLAIN)
    yield page("arabic-report", layout.PLAIN)
    yield page("clinic-book", layout.RUNNING)
    yield page("appointment-letter", layout.TURNED)
    yield page("dev-a-20", layout.MONOSPACE, "statement")
    yield page("dev-a-free-14", layout.COLUMNS, "leaflet")


def of_tex(known: dict[str, Letter], run: Programs) -> Iterator[Made]:
    """Yield what pdfTeX, and pandoc with pdfTeX, typeset."""

    def typeset(name: str, *preamble: str, as_name: str | None = None, **style: Any) -> Made:
        shown = known[name] if as_name == "bitmap-fonts" else layout.curly(known[name])
        data = run.tex(layout.tex(shown, "\n".join(preamble), **style))
        return Made(f"tex-{as_name or name}", "pdfTeX", shown, data, UNREADABLE if as_name == "bitmap-fonts" else ())

    yield typeset("appointment-letter", kind="letter")
    yield typeset("discharge-letter", layout.CMAP, layout.T1, "\\usepackage{lmodern,microtype}")
    yield typeset("trial-newsletter", layout.T1, "\\usepackage{lmodern}", options="twocolumn,10pt")
    yield typeset("lab-cumulative", layout.T1, layout.CMAP, "\\usepackage{tgtermes,booktabs}")
    yield typeset("ward-book", layout.T1, "\\usepackage{lmodern}", layout.RUNNING_TEX, as_name="ward-book")
    yield typeset("tumor-board", layout.T1, layout.LINKS, "\\usepackage[scaled]{helvet}", layout.SANS)
    yield typeset("dev-a-09", "", options="12pt", as_name="plain-fonts")
    yield typeset("dev-d-01", layout.T1, as_name="bitmap-fonts")
    yield typeset("arztbrief", layout.T1, "\\usepackage{charter}", options="11pt")
    yield typeset("consent-form", layout.T1, "\\usepackage{lmodern}", layout.CMAP, options="a4paper")
    for i, name in enumerate(("fax-referral", "dev-b-17")):
        yield Made(f"pandoc-{i}", "pandoc and pdfTeX", known[name], run.pandoc(layout.markdown(known[name])))
    more = ("--toc", "-N", "-V", "documentclass=report", "-V", "colorlinks")
    yield Made("pandoc-2", "pandoc and pdfTeX", known["tumor-board"],
               run.pandoc(layout.markdown(known["tumor-board"]), *more))  # fmt: skip


def of_others(known: dict[str, Letter], run: Programs, made: dict[str, Made]) -> Iterator[Made]:
    """Yield what reportlab draws, and what other programs make of the files above."""
    for name, draw in drawn.FILES.items():
        yield Made(f"reportlab-{name}", "reportlab", known[name], draw(known[name]))
    for name in ("lo-transfer-letter", "tex-consent-form", "chromium-lab-cumulative"):
        data = run.on(made[name].data, "pdftocairo", "-pdf", "in.pdf", "out.pdf")
        yield replace(made[name], name=f"cairo-{name}", by="cairo", data=data, extra=())
    line = replace(made["chromium-radiology-addendum"], name="qpdf-linearized", by="Chromium and qpdf")
    packed = ("qpdf", "--linearize", "--object-streams=generate", "--static-id", "in.pdf", "out.pdf")
    yield replace(line, data=run.on(line.data, *packed))
    merged = [made[name] for name in ("tex-appointment-letter", "chromium-informe-de-alta", "lo-medication-plan")]
    whole = replace(book("merged", [each.letter for each in merged], "", ""), lines=tuple(
        line for each in merged for line in each.letter.text.splitlines()))  # fmt: skip
    writer = pypdf.PdfWriter()
    for each in merged:
        writer.append(io.BytesIO(each.data), import_outline=False)
    yield Made("pypdf-merged", "pypdf", whole, settled(saved(writer.write)))
    with pikepdf.new() as target:
        for each in merged:
            with pikepdf.open(io.BytesIO(each.data)) as part:
                target.pages.extend(part.pages)
        yield Made("pikepdf-merged", "pikepdf", whole, saved(lambda out: target.save(out, static_id=True)))


def saved(save: Callable[[io.BytesIO], Any]) -> bytes:
    out = io.BytesIO()
    save(out)
    return out.getvalue()


def broken(words: str, shown: str) -> list[str]:
    """Return the parts of an identifier that a line end within a word breaks in the text of a file."""
    letters = ("(?:[-\u2010\u00ad]?\\s+)?".join(map(re.escape, word)) for word in words.split())
    parts = [part.strip(" -\u2010\u00ad") for match in re.finditer(r"\s+".join(letters), shown)
             for part in match[0].splitlines()]  # fmt: skip
    return [part for part in parts if sum(map(str.isalnum, part)) > 2]


def gold(made: Made, folder: Path) -> dict[str, Any]:
    """Return the line of a file in gold.jsonl."""
    (folder / "in.pdf").write_bytes(made.data)
    done = subprocess.run(["pdftotext", "-raw", "in.pdf", "-"], cwd=folder, check=True, capture_output=True)  # noqa: S607
    shown = done.stdout.decode()
    identifiers = dict([*made.letter.identifiers, *made.extra])
    with pikepdf.open(io.BytesIO(made.data)) as opened:
        if DAY[:8] in str(opened.docinfo.get("/CreationDate")):
            identifiers[DAY[:8]] = "DATE"
    prose = made.letter.text
    for words in sorted(identifiers, key=len, reverse=True):
        prose = prose.replace(words, " ")
    for words, kind in list(identifiers.items()):
        if not re.search(r"\s+".join(map(re.escape, words.split())), shown):
            parts = broken(words, shown)
            if made.letter.language == "ar":  # readers put marks of direction between the words
                parts = ["-".join(reversed(words.split("-")))] if words.isascii() else words.split()
            if unicodedata.normalize("NFD", words) in shown:
                parts = [unicodedata.normalize("NFD", words)]
            identifiers |= {part: kind for part in parts if not re.search(rf"\b{re.escape(part)}\b", prose)}
    return {"file": f"{made.name}.pdf", "made_by": made.by, "kind": "produced", "media_type": "application/pdf",
            "note": made.letter.text, "keeps": list(made.letter.keeps),
            "identifiers": [{"text": words, "type": kind} for words, kind in identifiers.items()]}  # fmt: skip


def write(lines: list[dict[str, Any]], kind: str) -> None:
    """Write the lines of one kind to gold.jsonl, and keep those of the other kind. The produced ones come first."""
    path = OUT / "gold.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    rows = sorted([*lines, *(row for row in rows if row["kind"] != kind)], key=lambda row: row["kind"] != "produced")
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def main() -> None:
    known = letters()
    head = ("[[HOSPITAL|Saltmarsh Community Hospital]] | [[PATIENT|Araminta Oyelaran-Voss]] | "
            "MRN [[MEDICAL_RECORD_NUMBER|SC 4471 8830]]").replace(" | ", " · ")  # fmt: skip
    foot = "Printed for [[CLINICIAN|Dr. Leopold Anquetil]] on [[DATE|14 March 2024]]"
    for name, parts in (("ward-book", WARD), ("clinic-book", CLINIC)):
        known[name] = book(name, [known[f"dev-d-{number:02}"] for number in parts], head, foot)
    news, case = known["trial-newsletter"], [known[name] for name in ("dev-d-11", "dev-d-16", "dev-d-12")]
    lines = [line for part in case for line in ("# Case of the month", *part.lines)]
    names = [each for part in case for each in part.identifiers]
    known[news.name] = replace(news, lines=(*news.lines, *lines), identifiers=(*news.identifiers, *names))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        run = Programs(folder)
        made: dict[str, Made] = {}
        for files in (of_libreoffice, of_chromium, of_tex):
            made |= {each.name: each for each in files(known, run)}
        made |= {each.name: each for each in of_others(known, run, made)}
        for each in made.values():
            (OUT / f"{each.name}.pdf").write_bytes(each.data)
        write([gold(each, folder) for each in made.values()], "produced")


if __name__ == "__main__":
    main()
