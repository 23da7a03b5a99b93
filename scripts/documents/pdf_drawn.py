"""Draw the letters of `pdf.py` with reportlab: flowing tables, forms, frames, positioned and turned text."""

from __future__ import annotations

import html
import io
from collections.abc import Callable
from typing import Any

from pdf_layout import Letter
from reportlab import rl_config
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4, landscape, letter
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph, Spacer, Table

rl_config.invariant = 1
FONTS = "/usr/share/fonts/truetype"
pdfmetrics.registerFont(TTFont("Sans", f"{FONTS}/dejavu/DejaVuSansCondensed.ttf"))
pdfmetrics.registerFont(TTFont("Serif", f"{FONTS}/dejavu/DejaVuSerif.ttf"))
LINES = [("GRID", (0, 0), (-1, -1), 0.4, colors.grey), ("FONT", (0, 0), (-1, -1), "Sans", 8)]
HEADED = [*LINES, ("BACKGROUND", (0, 0), (-1, 0), colors.lightblue)]


def flowing(shown: Letter, *, size: tuple[float, float] = letter, columns: int = 1, font: str = "Sans") -> bytes:
    """Return a letter that flows over pages with a header, a footer, and tables."""
    style = ParagraphStyle("p", getSampleStyleSheet()["Normal"], fontName=font, fontSize=9.5, leading=13, spaceAfter=4)
    heading = ParagraphStyle("h", style, fontSize=12, leading=16, spaceBefore=6, textColor=colors.darkblue)
    story: list[Any] = []
    for kind, rows in shown.blocks:
        if kind == "table":
            wide = max(map(len, rows))
            small = ParagraphStyle("c", style, fontSize=8, leading=10)
            cells = [[Paragraph(html.escape(each), small) for each in row] + [""] * (wide - len(row)) for row in rows]
            story += [Table(cells, style=HEADED if wide > 2 else LINES, repeatRows=1), Spacer(1, 8)]
        else:
            story.append(Paragraph(html.escape(rows[0][0]), heading if kind == "heading" else style))

    def around(canvas: Canvas, document: BaseDocTemplate) -> None:
        canvas.setFont(font, 8)
        canvas.drawString(40, size[1] - 30, shown.head)
        canvas.drawString(40, 24, shown.foot)
        canvas.drawRightString(size[0] - 40, 24, f"Page {document.page}")

    width = (size[0] - 80) / columns
    frames = [Frame(40 + width * i, 40, width, size[1] - 80, showBoundary=int(columns > 1)) for i in range(columns)]
    out = io.BytesIO()
    document = BaseDocTemplate(out, pagesize=size, title="Letter", pageTemplates=[PageTemplate("p", frames, around)])
    document.build(story)
    return out.getvalue()


def form(shown: Letter) -> bytes:
    """Return a letter as a form with fields that are filled in."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.setFont("Helvetica-Bold", 12)
    canvas.drawString(50, 790, shown.head)
    for i, line in enumerate(shown.lines):
        name, colon, value = line.removeprefix("# ").partition(": ")
        canvas.setFont("Helvetica", 10)
        canvas.drawString(50, 750 - 30 * i, name + colon)
        if colon:
            size = {"fontSize": 10} if len(value) < 60 else {"fontSize": 7, "fieldFlags": "multiline", "maxlen": 400}
            place = {"x": 200, "y": 742 - 30 * i, "width": 330, "height": 24}
            canvas.acroForm.textfield(value=value, name=f"field{i}", tooltip=name, **size, **place)
    canvas.acroForm.checkbox(x=50, y=300, checked=True, name="renewal", tooltip="Renewal")
    canvas.drawString(80, 305, "Renewal")
    canvas.drawString(50, 40, shown.foot)
    canvas.save()
    return out.getvalue()


def placed(shown: Letter) -> bytes:
    """Return a letter whose lines are drawn at fixed positions in several fonts, with turned margins."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=letter)
    fonts = ("Helvetica", "Times-Roman", "Courier", "Sans", "Serif")
    canvas.saveState()
    canvas.translate(30, 200)
    canvas.rotate(90)
    canvas.setFont("Helvetica-Oblique", 9)
    canvas.drawString(0, 0, shown.foot)
    canvas.restoreState()
    canvas.setFont("Sans", 9)
    canvas.drawCentredString(306, 760, shown.head)
    height = 730
    for i, line in enumerate(shown.lines):
        font = fonts[i % 5] if line.isascii() else "Sans"
        text = canvas.beginText(60, height)
        text.setFont(font, 9.5, 13)
        words = line.removeprefix("# ").replace(" | ", "    ").split(" ")
        while words:
            count = len(words)
            while pdfmetrics.stringWidth(" ".join(words[:count]), font, 9.5) > 490:
                count -= 1
            text.textLine(" ".join(words[:count]))
            words, height = words[count:], height - 13
        canvas.drawText(text)
        height -= 5
    canvas.save()
    return out.getvalue()


def wide(shown: Letter) -> bytes:
    return flowing(shown, size=landscape(A4))


def framed(shown: Letter) -> bytes:
    return flowing(shown, size=A4, columns=2, font="Serif")


FILES: dict[str, Callable[[Letter], bytes]] = {
    "discharge-letter": flowing,
    "lab-cumulative": flowing,
    "operating-list": wide,
    "trial-newsletter": framed,
    "oxygen-order": form,
    "consent-form": form,
    "fax-referral": placed,
    "compte-rendu": placed,
    "dev-d-13": flowing,
}
