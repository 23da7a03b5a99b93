"""What our own redaction of a PDF reveals about a name by its layout, whatever an attacker measures.

Each layout is written with many names, one page for each. All outputs have the same label. What differs between them,
in the words, their places, and the drawn lines, tells the names apart. Names with equal outputs form a class, and the
mean of log2(names / size of the class) is the number of bits that an output reveals. It is 0 if all are equal.
"""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any

from reportlab.lib.utils import simpleSplit  # type: ignore[import-untyped]  # ships no types
from reportlab.pdfbase.pdfmetrics import stringWidth  # type: ignore[import-untyped]  # as above
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]  # as above

from incognote.formats.base import FieldEdit, TextEdit
from incognote.formats.pdf.document import PdfDocument
from incognote_benchmarks.pdf_gaps import candidates
from incognote_benchmarks.pdfium import covers, opened, words

FONT, SIZE, LEFT, RIGHT, LEADING = "Helvetica", 10, 60, 460, 14
LABEL, LONG_LABEL = "[PERSON]", "[MEDICAL_RECORD_NUMBER]"
_PAGE = (520, 400)
_BODY = (
    "The lungs are clear on both sides. The heart is regular and has no murmur. The abdomen is soft and the liver is "
    "not enlarged. The patient walks without help and takes aspirin every day. He was well when he left."
)
_WIDE, _WIDEST = 60, 110  # points: the widest name of a narrow cell, and of other places

Draw = Callable[[Canvas, str], None]


def _lines(page: Canvas, top: float, texts: Iterable[str]) -> None:
    for i, text in enumerate(texts):
        page.drawString(LEFT, top - LEADING * i, text)


def _body(page: Canvas) -> None:
    _lines(page, 200, simpleSplit(_BODY, FONT, SIZE, RIGHT - LEFT))


def _line(page: Canvas, name: str) -> None:
    _lines(page, 300, ["Ward 3", f"Seen by {name} on the ward and at home.", "Monday"])
    _body(page)


def _justified(page: Canvas, name: str) -> None:
    first = f"Seen by {name} on the ward and at home, where all was well with him"
    for i, text in enumerate((first, *simpleSplit(_BODY, FONT, SIZE, 390))):
        parts = text.split()
        free = RIGHT - LEFT - sum(stringWidth(part, FONT, SIZE) for part in parts)
        x = float(LEFT)
        for part in parts:
            page.drawString(x, 300 - LEADING * i, part)
            x += stringWidth(part, FONT, SIZE) + free / (len(parts) - 1)


def _centered(page: Canvas, name: str) -> None:
    for i, text in enumerate(("Ward 3 of the hospital", f"Letter on {name}", "Monday")):
        page.drawCentredString(260, 300 - LEADING * i, text)
    _body(page)


def _title(page: Canvas, name: str) -> None:
    page.drawCentredString(260, 300, name)
    _body(page)


def _right(page: Canvas, name: str) -> None:
    page.drawRightString(RIGHT, 300, name)
    _body(page)


def _grid(page: Canvas, columns: Sequence[float]) -> None:
    for x in columns:
        page.line(x, 246, x, 314)
    for i in range(5):
        page.line(columns[0], 246 + 17 * i, columns[-1], 246 + 17 * i)


def _cells(align: str, columns: Sequence[float] = (60, 220, 320, 420)) -> Draw:
    def draw(page: Canvas, name: str) -> None:
        rows = (("Patient", "Na", "K"), ("Ann Lee", "138", "4.1"), (name, "141", "3.9"), ("Bo", "129", "4.4"))
        for i, row in enumerate(rows):
            for text, left, right in zip(row, columns, columns[1:], strict=False):
                y = 301 - 17 * i
                if align == "left":
                    page.drawString(left + 4, y, text)
                elif align == "right":
                    page.drawRightString(right - 4, y, text)
                else:
                    page.drawCentredString((left + right) / 2, y, text)
        _grid(page, columns)
        _body(page)

    return draw


def _narrow(page: Canvas, name: str) -> None:
    _cells("left", (60, 130, 200, 270))(page, name)


def _fitted(page: Canvas, name: str) -> None:
    edge = 68 + max(stringWidth(name, FONT, SIZE), 40)
    _cells("left", (60, edge, edge + 60, edge + 120))(page, name)


def _around(shape: Callable[[Canvas, float, float], None]) -> Draw:
    def draw(page: Canvas, name: str) -> None:
        start, width = LEFT + stringWidth("Seen by ", FONT, SIZE), stringWidth(name, FONT, SIZE)
        shape(page, start, width)
        page.setFillGray(0)
        _line(page, name)

    return draw


def _mark(page: Canvas, start: float, width: float) -> None:
    page.setFillColorRGB(1, 1, 0)
    page.rect(start, 283, width, 12, stroke=0, fill=1)


def _paragraph(page: Canvas, name: str) -> None:
    text = f"The patient was seen by {name} on the ward this morning. {_BODY}"
    _lines(page, 300, simpleSplit(text, FONT, SIZE, RIGHT - LEFT))


LAYOUTS: dict[str, Draw] = {
    "line": _line,
    "justified line": _justified,
    "centered lines": _centered,
    "centered title": _title,
    "line at the right edge": _right,
    "cell": _cells("left"),
    "cell with words at its right": _cells("right"),
    "cell with words in its middle": _cells("center"),
    "narrow cell": _narrow,
    "underline": _around(lambda page, start, width: page.line(start, 284.5, start + width, 284.5)),
    "strike-through": _around(lambda page, start, width: page.line(start, 289, start + width, 289)),
    "mark": _around(_mark),
    "frame": _around(lambda page, start, width: page.rect(start - 2, 282, width + 4, 13)),
    "breaks of lines": _paragraph,
    "column as wide as its widest name": _fitted,
}


def by_layout(count: int = 64) -> dict[str, Any]:
    """Return the bits that an output reveals by layout: if all places stay as they were, and as we write it."""
    figures: dict[str, Any] = {"names": count, "bits_of_all": round(math.log2(count), 2), "layouts": {}}
    for layout, draw in LAYOUTS.items():
        label = LONG_LABEL if layout == "narrow cell" else LABEL
        names = list(_names(count, fits=_WIDE if layout == "narrow cell" else _WIDEST))
        pages = [_page(draw, name) for name in names]
        figures["layouts"][layout] = {
            "before": _bits([_seen(page, name) for page, name in zip(pages, names, strict=True)]),
            "after": _bits([_seen(_redacted(page, name, label)) for page, name in zip(pages, names, strict=True)]),
        }
    return figures


def _names(count: int, fits: float) -> Iterator[str]:
    words_ = 1 if fits < 100 else 2
    fitting = [name for name in candidates(words_) if 20 < stringWidth(name, FONT, SIZE) < fits and name.isascii()]
    yield from fitting[:count]


def _page(draw: Draw, name: str) -> bytes:
    out = io.BytesIO()
    page = Canvas(out, pagesize=_PAGE, invariant=1)
    page.setFont(FONT, SIZE)
    draw(page, name)
    page.save()
    return out.getvalue()


def _redacted(data: bytes, name: str, label: str) -> bytes:
    document, out = PdfDocument(data), io.BytesIO()
    [text] = [text for text in document.texts if text.field == "body"]
    start = " ".join(text.content.split("\n")).index(name)
    fields = [FieldEdit(action, "[PERSON]") for action in document.actions]
    document.rebuild([TextEdit("body", start, start + len(name), label), *fields], out)
    return out.getvalue()


def _seen(data: bytes, name: str = "") -> Hashable:
    """Return what an attacker sees of a page, to a tenth of a point. Of the words of a name, only the places."""
    parts = name.split()
    with opened(data) as document:
        shown = [
            ("" if word.text.strip(".,") in parts else word.text, round(word.start, 1), round(word.end, 1))
            for word in words(document[0])
        ]
        drawn = sorted(tuple(round(side, 1) for side in box) for _, box in covers(document[0]))
    return tuple(shown), tuple(drawn)


def _bits(seen: Sequence[Hashable]) -> float:
    classes = Counter(seen)
    return round(sum(math.log2(len(seen) / classes[each]) for each in seen) / len(seen), 2)
