"""The content of a PDF page: its instructions, and every glyph with its place on the page.

The text is read as PDF 2.0 (ISO 32000-2, section 9.4) says. All glyphs count, whether they are visible or not: those in
hidden layers, outside the page, in white, under a picture, and in the appearance of annotations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import hypot
from typing import TYPE_CHECKING, Any

from incognote.errors import MalformedRecord
from incognote.formats.pdf.fonts import Code, PdfFont, opened
from incognote.formats.pdf.glyphs import IDENTITY, Glyph, Matrix, Show, StreamKey, TextState, times
from incognote.formats.pdf.labels import at_labels
from incognote.formats.pdf.shapes import DRAWING, PAINTING, Shapes
from incognote.formats.pdf.values import forms_of, is_dictionary, is_stream, items

if TYPE_CHECKING:
    from pikepdf import Object, Page, Pdf

_PAINTS = 3  # the last rendering mode that does not add the text to the clipping path
_SHORT = 3  # letters of a form that could be put together to words
MAX_FORMS = 12  # forms inside each other
MAX_STEPS = 2_000_000  # instructions of a page


@dataclass(slots=True)
class PageContent:
    """What is on a page.

    Attributes:
        streams: the instructions of the page (0, 0) and of each form that is read with it.
        glyphs: all glyphs, in order.
        pictures: the share of the page that each picture covers.
        shapes: its painted paths.
    """

    streams: dict[StreamKey, list[Any]] = field(default_factory=dict)
    glyphs: list[Glyph] = field(default_factory=list)
    pictures: list[float] = field(default_factory=list)
    shapes: Shapes = field(default_factory=Shapes)
    steps: int = 0


class ContentReader:
    """Reads pages in order. A form that several pages show is read with the first one only.

    Args:
        pdf: the document.
        owners: as in the attribute, if they are known. Then a page can be read without those before it.

    Attributes:
        owners: the page with which each form is read.
        paints: the forms that each stream shows, with repetitions. A page has its negative number.
        specs: the dictionary of each font that was used so far.
    """

    def __init__(self, pdf: Pdf, owners: Mapping[StreamKey, int] | None = None) -> None:
        self._pdf = pdf
        self._fonts: dict[Any, PdfFont] = {}
        self.specs: dict[PdfFont, Object] = {}
        self.paints: dict[StreamKey, list[StreamKey]] = {}
        self.owners: dict[StreamKey, int] = dict(owners or {})

    def read(self, page: Page, number: int) -> PageContent:
        """Return what is on a page, with the appearance of its annotations.

        Raises:
            MalformedRecord: a font or an instruction cannot be read.
        """
        found = PageContent()
        run = _Run(self, found, number, _area(page))
        run.stream((0, 0), page.obj, page.resources, IDENTITY)
        values = []
        for appearance, matrix, is_field in appearances(page):
            before = len(found.glyphs)
            run.form(appearance, {}, matrix)
            if is_field:
                values.append((before, len(found.glyphs)))
        found.glyphs = at_labels(found.glyphs, values)
        return found

    @property
    def fonts(self) -> Iterable[PdfFont]:
        """All fonts that were used so far."""
        return self._fonts.values()

    def font(self, spec: Object) -> PdfFont:
        key = spec.objgen if spec.is_indirect else bytes(spec.unparse(resolved=True))
        if key not in self._fonts:
            self._fonts[key] = opened(spec)
            self.specs[self._fonts[key]] = spec
        return self._fonts[key]

    def owns(self, key: StreamKey, page: int) -> bool:
        return self.owners.setdefault(key, page) == page


class _Run:
    """Interprets the streams of one page."""

    def __init__(self, reader: ContentReader, found: PageContent, page: int, area: float) -> None:
        self.reader, self.found, self.page, self.area = reader, found, page, area
        self.depth = 0
        self.short: set[StreamKey] = set()

    def form(self, form: Object, resources: Mapping[str, Any], above: Matrix) -> None:
        """Read a form at the first place where it is shown."""
        key = form.objgen
        if key in self.found.streams or not self.reader.owns(key, self.page):
            return
        if self.depth >= MAX_FORMS:
            raise MalformedRecord(f"more than {MAX_FORMS} forms inside each other")
        if "/F" in form:
            raise MalformedRecord("content in another file")
        self.depth += 1
        before = len(self.found.glyphs)
        own = form.get("/Resources", None)
        self.stream(key, form, own if own is not None else resources, times(matrix_of(form), above))
        self.depth -= 1
        if 0 < sum(glyph.text.isalnum() for glyph in self.found.glyphs[before:]) <= _SHORT:
            self.short.add(key)

    def stream(self, key: StreamKey, holder: Object, resources: Any, above: Matrix) -> None:
        """Read one stream."""
        instructions = instructions_of(holder)
        self.found.streams[key] = instructions
        self.found.steps += len(instructions)
        if self.found.steps > MAX_STEPS:
            raise MalformedRecord(f"more than {MAX_STEPS:,} instructions on a page")
        ctm, state = above, TextState()
        stack: list[tuple[Matrix, TextState]] = []
        line = text = IDENTITY
        block = -1
        for index, (operator, operands) in enumerate(instructions):
            if operator == "q":
                stack.append((ctm, state))
            elif operator == "Q":
                ctm, state = stack.pop() if stack else (ctm, state)
            elif operator == "cm":
                ctm = times(_matrix(operands), ctm)
            elif operator == "BT":
                line = text = IDENTITY
                block = index
            elif operator in ("Td", "TD"):
                x, y = map(float, operands[:2])
                if operator == "TD":
                    state = _with(state, leading=-y)
                line = text = times((1, 0, 0, 1, x, y), line)
            elif operator == "Tm":
                line = text = _matrix(operands)
            elif operator == "T*":
                line = text = times((1, 0, 0, 1, 0, -state.leading), line)
            elif operator in ("Tj", "TJ", "'", '"'):
                if operator in "'\"":
                    if operator == '"':
                        state = _with(state, word_space=float(operands[0]), char_space=float(operands[1]))
                    line = text = times((1, 0, 0, 1, 0, -state.leading), line)
                shown = operands[0] if operator == "TJ" else [operands[-1]]
                text = self._show(key, index, block, shown, state, text, ctm)
            elif operator == "Tf":
                state = _with(state, font=self._named(resources, str(operands[0])), name=str(operands[0]),
                              size=float(operands[1]))  # fmt: skip
            elif operator in _STATE:
                name, factor = _STATE[operator]
                value = float(operands[0]) * factor
                state = _with(state, **{name: int(value) if name == "mode" else value})
            elif operator == "gs":
                state = self._from_dictionary(resources, str(operands[0]), state)
            elif operator == "Do":
                self._paint(resources, str(operands[0]), ctm, key)
            elif operator == "INLINE IMAGE":
                self._picture(ctm)
            elif operator in DRAWING:
                self.found.shapes.draw(operator, operands, ctm)
            elif operator in PAINTING:
                self.found.shapes.paint(operator, state.line, ctm)

    def _show(
        self, key: StreamKey, index: int, block: int, shown: Iterable[Any], state: TextState, text: Matrix, ctm: Matrix
    ) -> Matrix:
        """Add the glyphs of an instruction. Return the text matrix after it."""
        font = state.font
        if font is None:
            raise MalformedRecord("text without a font")
        if state.mode > _PAINTS:
            raise MalformedRecord("text that cuts out what is drawn over it. Print the document to a new PDF")
        if font.vertical:
            raise MalformedRecord("vertical writing, which has no reader")
        codes: list[Code] = []
        offsets: list[float] = []
        x = 0.0
        ends: list[float] = []
        for part in shown:
            if isinstance(part, int | float) or not hasattr(part, "__bytes__"):
                x -= float(part) / 1000 * state.size * state.scale
                continue
            for code in font.codes(bytes(part)):
                codes.append(code)
                offsets.append(x)
                wide = code.width * state.size * state.scale
                ends.append(x + wide)
                x += wide + state.char_space * state.scale
                if code.code == b" ":
                    x += state.word_space * state.scale
        show = Show(key, index, block, codes, [*offsets, x], state, text, ctm)
        whole = times(text, ctm)
        a, b, c, d, e, f = whole
        size = abs(state.size) * (hypot(c, d) or hypot(a, b))
        rise = state.rise
        for at, code in enumerate(codes):
            start, wide = offsets[at], ends[at] - offsets[at]
            self.found.glyphs.append(
                Glyph(code.text, a * start + c * rise + e, b * start + d * rise + f, a * wide, b * wide, size, show, at)
            )
        return times((1, 0, 0, 1, x, 0), text)

    def _named(self, resources: Any, name: str) -> PdfFont:
        spec = _entry(resources, "/Font", name)
        if spec is None:
            raise MalformedRecord("text in a font that is not in the document")
        return self.reader.font(spec)

    def _from_dictionary(self, resources: Any, name: str, state: TextState) -> TextState:
        found = _entry(resources, "/ExtGState", name)
        font = found.get("/Font", None) if found is not None else None
        if font is None:
            return state
        return _with(state, font=self.reader.font(font[0]), name="", size=float(font[1]))

    def _paint(self, resources: Any, name: str, ctm: Matrix, key: StreamKey) -> None:
        painted = _entry(resources, "/XObject", name)
        if painted is None:
            return
        if painted.get("/Subtype") == "/Form":
            above = key if key != (0, 0) else (-self.page, 0)
            self.reader.paints.setdefault(above, []).append(painted.objgen)
            if painted.objgen in self.short:
                raise MalformedRecord("single letters that are shown several times. Print the document to a new PDF")
            self.form(painted, resources, ctm)
        elif painted.get("/Subtype") == "/Image":
            self._picture(ctm)

    def _picture(self, ctm: Matrix) -> None:
        a, b, c, d, _, _ = ctm
        self.found.pictures.append(abs(a * d - b * c) / self.area if self.area else 1.0)


_STATE = {"Tc": ("char_space", 1.0), "Tw": ("word_space", 1.0), "Tz": ("scale", 0.01), "TL": ("leading", 1.0),
          "Tr": ("mode", 1.0), "Ts": ("rise", 1.0), "w": ("line", 1.0)}  # fmt: skip


def instructions_of(holder: Object) -> list[tuple[str, list[Any]]]:
    """Return the instructions of a page or a form: the operator, and its operands.

    Raises:
        MalformedRecord: they cannot be read.
    """
    import pikepdf

    if any("/F" in part for part in (items(holder, "/Contents") or [holder.get("/Contents", None)]) if is_stream(part)):
        raise MalformedRecord("content in another file")
    try:
        found = pikepdf.parse_content_stream(holder)
    except (pikepdf.PdfError, ValueError, TypeError):
        raise MalformedRecord("a content stream that cannot be read") from None
    return [
        ("INLINE IMAGE", [each]) if isinstance(each, pikepdf.ContentStreamInlineImage)
        else (str(each.operator), list(each.operands))
        for each in found
    ]  # fmt: skip


def appearances(page: Page) -> Iterable[tuple[Object, Matrix, bool]]:
    """Yield the forms that draw the annotations of a page, each with its place and whether it is a form field."""
    for annotation in items(page.obj, "/Annots"):
        rect = [float(each) for each in items(annotation, "/Rect")] if is_dictionary(annotation) else []
        for form in forms_of(annotation) if len(rect) == 4 else ():
            box = [float(each) for each in items(form, "/BBox")] or [0.0] * 4
            place = (1.0, 0.0, 0.0, 1.0, min(rect[0::2]) - min(box[0::2]), min(rect[1::2]) - min(box[1::2]))
            yield form, place, annotation.get("/Subtype", None) == "/Widget"


def matrix_of(form: Object) -> Matrix:
    """Return the matrix of a form."""
    found = form.get("/Matrix", None)
    return _matrix(found) if found is not None else IDENTITY


def _matrix(operands: Any) -> Matrix:
    a, b, c, d, e, f = (float(each) for each in list(operands)[:6])
    return (a, b, c, d, e, f)


def _with(state: TextState, **changed: Any) -> TextState:
    return replace(state, **changed)


def _entry(resources: Any, kind: str, name: str) -> Any:
    entries = resources.get(kind, None) if resources is not None else None
    return entries.get(name, None) if entries is not None else None


def _area(page: Page) -> float:
    box = [float(each) for each in page.cropbox]
    return abs((box[2] - box[0]) * (box[3] - box[1]))
