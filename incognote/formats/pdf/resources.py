"""The resources of PDF pages: fonts, pictures, forms, patterns, and graphics states."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from incognote.errors import MalformedRecord
from incognote.formats.pdf import closed
from incognote.formats.pdf.cleaning import cleaned
from incognote.formats.pdf.content import instructions_of
from incognote.formats.pdf.glyphs import IDENTITY, StreamKey
from incognote.formats.pdf.keeping import Kept
from incognote.formats.pdf.shapes import DRAWING, PAINTING, Shapes
from incognote.formats.pdf.values import entries, is_dictionary, is_stream, items, name

GREY = b"\xcc"
_WIDE, _LINE = 3, 8  # a picture of words is this much wider than high, and higher than a line, in points of it
_GLYPH = 10.0  # the height to which a glyph is scaled before it is judged, in points
_BLANK = re.compile(rb"[\x00\t\n\f\r ]+")
_SHOWS = frozenset(("Tj", "TJ", "'", '"'))


class Resources:
    """Cleans resources.

    Args:
        kept: counts what is removed. read: the forms whose text is read with the pages. All others are removed.
    """

    def __init__(self, kept: Kept, read: Iterable[StreamKey]) -> None:
        self._kept, self._read = kept, frozenset(read)

    def clean(self, resources: Any) -> None:
        """Clean a dictionary of resources, and all that it refers to.

        Raises:
            MalformedRecord: a pattern, a mask, or the glyphs of a font draw text, which is not read.
        """
        if not self._kept.first(resources):
            return
        self._kept.keep(resources, "resources")
        for _, state in entries(resources, "/ExtGState"):
            self._kept.keep(state, "state")
            mask = state.get("/SMask", None)
            if is_dictionary(mask):
                self._kept.keep(mask, "mask")
                if is_stream(mask.get("/G", None)):
                    self._drawing(mask["/G"], "form")
        for _, font in entries(resources, "/Font"):
            self._font(font)
        for _, pattern in entries(resources, "/Pattern"):
            self._drawing(pattern, "pattern")
        for _, each in entries(resources, "/Properties"):
            self._kept.keep(each, "property")
            if "/MCID" in each and not isinstance(each["/MCID"], int):
                self._kept.remove(each, "/MCID")
            if each.get("/Type") != "/OCG" and "/Name" in each:
                self._kept.remove(each, "/Name")
        shadings = [each for _, each in entries(resources, "/Shading")]
        shadings += [each["/Shading"] for _, each in entries(resources, "/Pattern") if "/Shading" in each]
        if any(each.get("/ShadingType", 0) == 1 for each in shadings):
            raise MalformedRecord("a drawing by a function, which can be a picture. Print the document to a new PDF")
        for key, painted in entries(resources, "/XObject"):
            if painted.get("/Subtype") != "/Image" and painted.objgen not in self._read:
                self._kept.remove(resources["/XObject"], key)
            else:
                self.xobject(painted)

    def reads(self, form: Any) -> bool:
        """Whether the text of a form is read with a page."""
        return form.objgen in self._read

    def xobject(self, stream: Any) -> None:
        """Clean a form or a picture."""
        if not self._kept.first(stream):
            return
        if stream.get("/Subtype") == "/Image":
            self._picture(stream)
            return
        self._kept.keep(stream, "form")
        if "/Group" in stream:
            self._kept.keep(stream["/Group"], "group")
        if "/Resources" in stream:
            self.clean(stream["/Resources"])

    def _drawing(self, drawn: Any, kind: str) -> None:
        """Clean a pattern or a mask, whose content is not read."""
        if not self._kept.first(drawn):
            return
        if is_stream(drawn) and drawn.objgen not in self._read:
            instructions = instructions_of(drawn)
            if any(operator in _SHOWS for operator, _ in instructions):
                raise MalformedRecord("text in a pattern or a mask. Print the document to a new PDF")
            if any(operator == "INLINE IMAGE" for operator, _ in instructions):
                raise MalformedRecord("a picture in a pattern or a mask. Print the document to a new PDF")
            self._rewrite(drawn, instructions)
        self._kept.keep(drawn, kind)
        if "/Resources" in drawn:
            self.clean(drawn["/Resources"])

    def _picture(self, stream: Any) -> None:
        """Replace a picture with a grey one of a single point, which covers the same part of the page."""
        grey = {"/Type": "/XObject", "/Subtype": "/Image", "/ColorSpace": "/DeviceGray"}
        known = {key for key in stream.keys() if key not in ("/Length", "/Filter")}  # noqa: SIM118 -- not a dict
        if (
            known == {*grey, "/Width", "/Height", "/BitsPerComponent"}
            and (stream["/Width"], stream["/Height"]) == (1, 1)
            and all(stream[key] == value for key, value in grey.items())
            and bytes(stream.read_bytes()) == GREY
        ):
            return
        for key in known:
            del stream[key]
        for key, value in grey.items():
            stream[key] = name(value)
        stream["/Width"] = stream["/Height"] = 1
        stream["/BitsPerComponent"] = 8
        stream.write(GREY)
        self._kept.changed += 1

    def _font(self, font: Any) -> None:
        if not self._kept.first(font):
            return
        self._kept.keep(font, "font")
        odd = self._rename(font, "/BaseFont")
        if is_dictionary(font.get("/Encoding", None)):
            self._kept.keep(font["/Encoding"], "encoding")
        for each in items(font, "/DescendantFonts"):
            self._font(each)
        descriptor = font.get("/FontDescriptor", None)
        if is_dictionary(descriptor):
            self._kept.keep(descriptor, "descriptor")
            odd |= self._rename(descriptor, "/FontName")
            for key in ("/FontFile", "/FontFile2", "/FontFile3"):
                if is_stream(descriptor.get(key, None)):
                    self._kept.keep(descriptor[key], "fontfile")
                    self._blank(descriptor[key], odd)
        for _, procedure in entries(font, "/CharProcs"):
            instructions = instructions_of(procedure)
            if any(operator in _SHOWS or operator == "Do" for operator, _ in instructions) or _spells(instructions):
                raise MalformedRecord("a font whose glyphs draw text. Print the document to a new PDF")
            self._kept.keep(procedure, "embedded")
            self._rewrite(procedure, instructions)
        if "/Resources" in font:
            self.clean(font["/Resources"])

    def _rewrite(self, stream: Any, instructions: Sequence[tuple[str, list[Any]]]) -> None:
        """Write a drawing that is not read with a page without comments and unknown instructions."""
        import pikepdf

        new: list[Any] = []
        for operator, operands in instructions:
            if operator == "INLINE IMAGE":
                new += operands
            else:
                new += (pikepdf.ContentStreamInstruction(own, pikepdf.Operator(each))
                        for each, own in cleaned([(operator, operands)]))  # fmt: skip
        data = pikepdf.unparse_content_stream(new)
        old = bytes(stream.read_bytes())
        if len(new) < len(instructions) or len(_BLANK.sub(b"", data)) < len(_BLANK.sub(b"", old)):
            stream.write(data)
            self._kept.changed += data != old

    def _rename(self, holder: Any, key: str) -> set[str]:
        """Rename a font whose name has words that are not known. Return these words."""
        if key not in holder:
            return set()
        old = str(holder[key])[1:]
        self._kept.write(holder, key, name(f"/{closed.font_name(old)}"))
        return closed.odd_words(old)

    def _blank(self, program: Any, words: set[str]) -> None:
        """Write other letters over words in the program of a font, which names itself too."""
        data = bytes(program.read_bytes()) if words else b""
        new = data
        for word in words:
            for encoding in ("ascii", "utf-16-be"):
                new = new.replace(word.encode(encoding), ("A" * len(word)).encode(encoding))
        if new != data:
            program.write(new)
            self._kept.changed += 1


def _is_solid(picture: Any) -> bool:
    """Whether all pixels of a mask are equal, as in a hyphen. A compressed mask does not count."""
    size, unused = -(-picture.width // 8), -picture.width % 8
    data = picture.read_raw_bytes()[: size * picture.height]
    rows = {int.from_bytes(data[at : at + size], "big") >> unused for at in range(0, len(data), size)}
    return bool(picture.image_mask) and not picture.filters and rows in ({0}, {2**picture.width - 1})


def _spells(instructions: Iterable[tuple[str, list[Any]]]) -> bool:
    """Whether a glyph looks like several letters in a line, as a picture or as shapes."""
    drawn = []
    low = high = 0.0
    for operator, operands in instructions:
        if operator == "INLINE IMAGE":
            picture = operands[0].iimage
            if picture.height > _LINE and picture.width > _WIDE * picture.height and not _is_solid(picture):
                return True
        elif operator in DRAWING or operator in PAINTING:
            heights = [float(each) for each in operands][1::2]
            if operator == "re":
                heights = [heights[0], sum(heights)]
            low, high = min([low, *heights]), max([high, *heights])
            drawn.append((operator, operands))
    scale = _GLYPH / (high - low) if high > low else 1.0
    shapes = Shapes()
    for operator, operands in drawn:
        if operator in DRAWING:
            shapes.draw(operator, operands, (scale, 0.0, 0.0, scale, 0.0, 0.0))
        else:
            shapes.paint(operator, 0.0, IDENTITY)
    return shapes.problem() is not None
