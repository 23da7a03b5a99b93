"""Set the letters of `pdf.py` as HTML, OpenDocument, TeX, Markdown, and sheets."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby

MARK = re.compile(r"\[\[([A-Z_]+)\|(.+?)\]\]")
PROPERTIES = (("Letter about R. MacGillivray-Stone", "PATIENT"), ("Yewande Forsythe", "CLINICIAN"),
              ("R. MacGillivray-Stone", "PATIENT"))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter. A line that begins with `# ` is a heading, and one with ` | ` a row of a table."""

    name: str
    language: str
    head: str
    foot: str
    lines: tuple[str, ...] = field(repr=False)
    keeps: tuple[str, ...] = ()
    identifiers: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def text(self) -> str:
        """The words in reading order, without layout."""
        lines = [line.removeprefix("# ").replace(" | ", "\t") for line in self.lines]
        return "\n".join(line for line in (self.head, *lines, self.foot) if line)

    @property
    def blocks(self) -> Iterator[tuple[str, list[list[str]]]]:
        """The kind of each block, `heading`, `table` or `line`, with its rows of cells."""
        for kind, lines in groupby(self.lines, _kind):
            rows = [line.removeprefix("# ").split(" | ") for line in lines]
            yield from [(kind, rows)] if kind == "table" else [(kind, [row]) for row in rows]


def _kind(line: str) -> str:
    return "heading" if line.startswith("# ") else "table" if " | " in line else "line"


def unmarked(name: str, language: str, head: str, foot: str, keeps: str, lines: list[str]) -> Letter:
    """Return a letter from lines with marks `[[TYPE|words]]`."""
    found = [(words, kind) for line in (head, *lines, foot) for kind, words in MARK.findall(line)]
    plain = [MARK.sub(r"\2", line) for line in (head, foot, *lines) if line or line in (head, foot)]
    kept = tuple(words for words in keeps.split("; ") if words)
    return Letter(name, language, plain[0], plain[1], tuple(plain[2:]), kept, tuple(dict.fromkeys(found)))


PLAIN = "@page{size:A4;margin:22mm} body{font:11pt 'Liberation Serif',serif} header{border-bottom:1px solid #888}"
FLEX = """@page{size:letter;margin:18mm} body{font:10.5pt 'Liberation Sans',sans-serif;text-align:justify;hyphens:auto}
header{display:flex;justify-content:space-between;background:#e8f0f4;padding:4mm;color:#134}
h2{color:#134;font-size:12pt} footer{font-size:8pt;letter-spacing:.4px;margin-top:8mm} td{padding:1mm 6mm 1mm 0}"""
GRID = """@page{size:letter;margin:15mm} body{font:9pt 'Lato',sans-serif} table{border-collapse:collapse;width:100%}
td{border:.5px solid #777;padding:1mm 2mm} tr:nth-child(even){background:#f2f2f2} tr:first-child{font-weight:bold}"""
COLUMNS = """@page{size:A4;margin:15mm} main{column-count:2;column-gap:9mm;text-align:justify}
body{font:10pt/1.35 'DejaVu Serif',serif;hyphens:auto} h2{font-variant:small-caps;break-after:avoid} p::first-letter
{font-size:1.6em} header{font-size:20pt;text-align:center;border-bottom:3px double}"""
LANDSCAPE = GRID.replace("size:letter", "size:A4 landscape")
RUNNING = """@page{size:letter;margin:25mm 18mm;@top-left{content:"HEAD";font:8pt 'Liberation Sans'}
@bottom-left{content:"FOOT";font:8pt 'Liberation Sans'}
@bottom-right{content:"Page " counter(page) " of " counter(pages);font:8pt 'Liberation Sans'}}
body{font:10.5pt 'Liberation Serif'} header,footer{display:none}"""
TURNED = """@page{size:letter;margin:20mm} body{font:12pt 'DejaVu Sans Mono',monospace} header{transform:rotate(-8deg);
color:#a22;border:2px solid;width:max-content} footer{writing-mode:vertical-rl;position:fixed;right:0;top:40mm}"""
MONOSPACE = "@page{size:A4;margin:12mm} p{font:9pt 'Liberation Mono',monospace;margin:0} b{color:#030}"


def page(letter: Letter, style: str) -> str:
    """Return a letter as an HTML page."""
    cell = html.escape
    body = []
    for kind, rows in letter.blocks:
        if kind == "table":
            lines = ("<tr>" + "".join(f"<td>{cell(each)}</td>" for each in row) + "</tr>" for row in rows)
            body.append(f"<table>{''.join(lines)}</table>")
        else:
            tag = "h2" if kind == "heading" else "p"
            first, colon, rest = rows[0][0].partition(": ")
            bold = f"<b>{cell(first)}:</b> {cell(rest)}" if colon and len(first) < 30 else cell(rows[0][0])
            body.append(f"<{tag}>{bold}</{tag}>")
    quoted = {"HEAD": letter.head.replace('"', "'"), "FOOT": letter.foot.replace('"', "'")}
    style = re.sub("HEAD|FOOT", lambda match: quoted[match[0]], style)
    way = "rtl" if letter.language == "ar" else "ltr"
    header = "".join(f"<span>{cell(part)}</span> " for part in re.split(" (?=· )", letter.head))
    return (f"<!DOCTYPE html><html lang='{letter.language}' dir='{way}'><meta charset='utf-8'><title>Letter</title>"
            f"<style>{style}</style><header>{header}</header><main>{''.join(body)}</main>"
            f"<footer>{cell(letter.foot)}</footer></html>")  # fmt: skip


def html_form(letter: Letter) -> str:
    """Return a letter as HTML with form fields, which LibreOffice exports as fields of a form."""
    rows: list[str] = []
    for line in letter.lines:
        name, colon, value = line.partition(": ")
        field = f"<input type='text' size='48' name='f{len(rows)}' value='{html.escape(value)}'>" if colon else ""
        rows.append(f"<p>{html.escape(name)}{':' if colon else ''} {field}</p>")
    return (f"<html><meta charset='utf-8'><body><h3>{html.escape(letter.head)}</h3><form>{''.join(rows)}</form>"
            f"<p>{html.escape(letter.foot)}</p></body></html>")  # fmt: skip


FODT = '''<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"
 office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.text">
<office:meta>{meta}</office:meta>
<office:styles><style:default-style style:family="paragraph">
<style:paragraph-properties fo:margin-bottom="0.15cm" style:writing-mode="{way}"/>
<style:text-properties style:font-name="Liberation Serif" fo:font-family="'Liberation Serif'" fo:font-size="11pt"
 fo:language="{language}" style:font-family-complex="'DejaVu Sans'"/></style:default-style></office:styles>
<office:automatic-styles><style:page-layout style:name="L"><style:page-layout-properties fo:page-width="{width}"
 fo:page-height="{height}" fo:margin="2cm" style:print-orientation="{turned}">{columns}</style:page-layout-properties>
<style:header-style/><style:footer-style/></style:page-layout>
<style:style style:name="T" style:family="table-cell"><style:table-cell-properties fo:border="0.5pt solid #000000"
 fo:padding="0.1cm"/></style:style></office:automatic-styles>
<office:master-styles><style:master-page style:name="Standard" style:page-layout-name="L">
<style:header><text:p>{head}</text:p></style:header><style:footer><text:p>{foot}
 Page <text:page-number text:select-page="current">1</text:page-number> of <text:page-count>1</text:page-count></text:p>
</style:footer></style:master-page></office:master-styles>
<office:body><office:text>{body}</office:text></office:body></office:document>
'''


def fodt(letter: Letter, *, columns: int = 1, landscape: bool = False, footnote: str = "") -> str:
    """Return a letter as a flat OpenDocument text with a running header and footer."""
    cell = html.escape
    body: list[str] = []
    for kind, rows in letter.blocks:
        if kind == "table":
            wide = max(map(len, rows))
            filled = ("".join(f"<table:table-cell table:style-name='T'><text:p>{cell(each)}</text:p></table:table-cell>"
                              for each in row + [""] * (wide - len(row))) for row in rows)  # fmt: skip
            lines = "".join(f"<table:table-row>{row}</table:table-row>" for row in filled)
            column = f"<table:table-column table:number-columns-repeated='{wide}'/>"
            body.append(f"<table:table table:name='t{len(body)}'>{column}{lines}</table:table>")
        else:
            tag = ("text:h", " text:outline-level='1'") if kind == "heading" else ("text:p", "")
            body.append(f"<{tag[0]}{tag[1]}>{cell(rows[0][0])}</{tag[0]}>")
    if footnote:
        note = (f"<text:note text:note-class='footnote'><text:note-citation>1</text:note-citation><text:note-body>"
                f"<text:p>{cell(footnote)}</text:p></text:note-body></text:note>")  # fmt: skip
        body[1] = body[1].replace("</text:p>", f"{note}</text:p>")
    size = ("29.7cm", "21cm") if landscape else ("21cm", "29.7cm")
    meta = f"<dc:title>{PROPERTIES[0][0]}</dc:title><dc:creator>{PROPERTIES[1][0]}</dc:creator>"
    split = f"<style:columns fo:column-count='{columns}' fo:column-gap='0.7cm'/>" if columns > 1 else ""
    return FODT.format(
        meta=meta if letter.name == "transfer-letter" else "", way="rl-tb" if letter.language == "ar" else "lr-tb",
        language=letter.language, width=size[0], height=size[1], turned="landscape" if landscape else "portrait",
        columns=split, head=cell(letter.head), foot=cell(letter.foot), body="".join(body),
    )  # fmt: skip


def xlsx(letter: Letter) -> bytes:
    """Return a letter as a sheet with a printed header."""
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None  # a new workbook has a sheet
    sheet.title = "Results"
    for line in letter.lines:
        sheet.append(line.removeprefix("# ").split(" | "))
    for column, width in zip("ABCDEF", (20, 34, 14, 14, 14, 12), strict=True):
        sheet.column_dimensions[column].width = width
    sheet.page_setup.orientation = "landscape"
    sheet.oddHeader.left.text, sheet.oddFooter.left.text = letter.head, letter.foot
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


T1 = "\\usepackage[T1]{fontenc}\\usepackage[utf8]{inputenc}"
CMAP = "\\usepackage{cmap}\\input{glyphtounicode}\\pdfgentounicode=1"
RUNNING_TEX = "\\usepackage{fancyhdr,lastpage}\\pagestyle{fancy}\\fancyhead{}\\fancyfoot{}\\fancyhead[L]{\\small HEAD}"
RUNNING_TEX += "\\fancyfoot[L]{\\small FOOT}\\fancyfoot[R]{\\small Page \\thepage\\ of \\pageref{LastPage}}"
LINKS = "\\usepackage[pdftitle={Tumor board},pdfauthor={Calliope Brandvold},bookmarks]{hyperref}"
SANS = "\\renewcommand{\\familydefault}{\\sfdefault}"
ESCAPED = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
           ">": r"\textgreater{}", "|": r"\textbar{}", **{sign: f"\\{sign}" for sign in "{}$&#_%"}}  # fmt: skip
SIGNS = {"µ": "\\ensuremath{\\mu}", "≥": "\\ensuremath{\\geq}", "→": "\\ensuremath{\\to}",
         "²": "\\ensuremath{^2}", "°": "\\ensuremath{^\\circ}", "·": "\\ensuremath{\\cdot}", "½": "1/2",
         "–": "--", "—": "---", "’": "'", "”": "''"}  # fmt: skip



def escaped(words: str) -> str:
    return "".join((ESCAPED | SIGNS).get(sign, sign) for sign in words)


def curly(letter: Letter) -> Letter:
    """Return a letter with the quotation marks that TeX sets."""
    return with_words(letter, {"'": "’", '"': "”"})


def with_words(letter: Letter, new: dict[str, str]) -> Letter:
    """Return a letter in which words are replaced."""

    def changed(words: str) -> str:
        for old, other in new.items():
            words = words.replace(old, other)
        return words

    identifiers = tuple((changed(words), kind) for words, kind in letter.identifiers)
    return replace(letter, lines=tuple(map(changed, letter.lines)), identifiers=identifiers)


def tex(letter: Letter, preamble: str, *, options: str = "letterpaper", kind: str = "article") -> str:
    """Return a letter for pdfTeX."""
    running = "HEAD" in preamble
    body = [] if running else [f"\\noindent\\textbf{{{escaped(letter.head)}}}\\par\\medskip"]
    for block, rows in letter.blocks:
        cells = [[escaped(each) for each in row] for row in rows]
        if block == "table":
            columns = "l" * max(map(len, cells))
            body.append(f"\\begin{{tabular}}{{{columns}}}\n" + "\\\\\n".join(" & ".join(row) for row in cells)
                        + "\\\\\n\\end{tabular}\\par")  # fmt: skip
        else:
            body.append(f"\\section*{{{cells[0][0]}}}" if block == "heading" and kind == "article" else cells[0][0])
    if not running:
        body.append(f"\\vfill\\noindent\\small {escaped(letter.foot)}")
    inner = "\n\n".join(body)
    if kind == "letter":
        inner = f"\\begin{{letter}}{{}}\n\\opening{{}}\n{inner}\n\\end{{letter}}"
    preamble = preamble.replace("HEAD", escaped(letter.head)).replace("FOOT", escaped(letter.foot))
    begin = f"\\documentclass[{options}]{{{kind}}}\n\\usepackage[margin=23mm]{{geometry}}\n\\pdftrailerid{{}}\n"
    return (f"{begin}{preamble}\n"
            f"\\begin{{document}}\n{inner}\n\\end{{document}}\n")  # fmt: skip


def markdown(letter: Letter) -> str:
    """Return a letter for pandoc."""
    body = [] if not letter.head else [_plain(letter.head)]
    for kind, rows in letter.blocks:
        cells = [" | ".join(map(_plain, row)) for row in rows]
        if kind == "table":
            wide = max(map(len, rows))
            body.append("\n".join([f"| {cells[0]} |", "|" + "---|" * wide, *(f"| {row} |" for row in cells[1:])]))
        else:
            body.append(("# " if kind == "heading" else "") + cells[0])
    return "\n\n".join([*body, _plain(letter.foot)]) + "\n"


def _plain(words: str) -> str:
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]()#+-.!|<>~^$@\"'" else sign for sign in words)
