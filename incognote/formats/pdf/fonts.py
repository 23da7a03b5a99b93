"""The fonts of a PDF: the characters and widths of codes, and the codes of characters.

pdfminer.six reads encodings, CMaps, and widths. It gets the objects as pikepdf sees them, so both read the same file.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from statistics import correlation
from typing import TYPE_CHECKING, Any, NamedTuple

from incognote.errors import MalformedRecord
from incognote.formats.pdf.programs import TrueType, built_in
from incognote.formats.pdf.values import is_dictionary, items

if TYPE_CHECKING:
    from pikepdf import Object

_KEYS = frozenset(
    "Type Subtype BaseFont FirstChar LastChar Widths Encoding ToUnicode FontDescriptor DescendantFonts W DW W2 DW2"
    " CIDSystemInfo FontMatrix FontBBox FontName Flags Ascent Descent ItalicAngle MissingWidth FontFile FontFile2"
    " BaseEncoding Differences Registry Ordering Supplement CMapName WMode Length1".split()
)
_DEPTH = 8
_TEX = {11: "ff", 12: "fi", 13: "fl", 14: "ffi", 15: "ffl", 27: "ff", 28: "fi", 29: "fl", 30: "ffi", 31: "ffl",
        16: "\u0131", 18: "`", 19: "\u00b4", 34: "\u201d", 39: "\u2019", 92: "\u201c", 96: "\u2018", 123: "\u2013",
        124: "\u2014", 127: "\u00a8"}  # fmt: skip
"""The characters of TeX's own encodings of letters that are not those of ASCII."""
_LONGEST = 10  # letters of a glyph; more could be a name
_HYPHEN = 0xAD  # of the Windows character set; pdfminer takes it for a space
_FEW = 8  # letters, of which a correlation says little
_PLAUSIBLE = 0.4
_UNREADABLE = re.compile("[\x00-\x1f\x7f-\x9f\ue000-\uf8ff\ufffd\U000f0000-\U0010ffff]|\\(cid:")
_SIZE = re.compile("(?:[bB]igg?|display|text|tp|bt|mid|ex)$")
_BLANK = re.compile("[\\s\u2000-\u200a\u202f\u205f\u3000]+")
_BOLD = re.compile("bold|black|heavy|demi|cmb", re.IGNORECASE)
_ITALIC = re.compile("ital|obli|slant|cmti|cmsl", re.IGNORECASE)
_FIXED = re.compile("mono|cour|consol|typewriter|cmtt", re.IGNORECASE)
_SERIF = re.compile("times|serif|roman|georgia|cmr|cmb|cmti|garamond|palat|minion|cambria", re.IGNORECASE)
_SANS = re.compile("sans|arial|helv|calibri|verdana|carlito", re.IGNORECASE)
_FLAGS = {"fixed": 1, "serif": 2, "italic": 64, "bold": 1 << 18}
_STANDARD = {"Times": ("Times-Roman", "Times-Bold", "Times-Italic", "Times-BoldItalic")}


class Code(NamedTuple):
    """One code of a shown string.

    Args:
        code: its bytes.
        text: its characters, or "" if they are unknown.
        width: its advance for a font size of 1, in text space.
    """

    code: bytes
    text: str
    width: float


@dataclass(eq=False)
class PdfFont:
    """A font of a document.

    Attributes:
        standard: the standard font that looks most like it, such as `Times-Bold`.
        vertical: whether it is written from top to bottom.
        complete: whether every code has a glyph, because the font is not a part of a font in the file.
        own: the characters of codes that pdfminer does not know: "" if they are unknown.
        declared: the characters of codes that the program of the font declares.
        signs: the characters of codes without others.
    """

    standard: str
    vertical: bool
    complete: bool
    own: Mapping[int, str]
    declared: Mapping[int, set[str]]
    signs: Mapping[int, str]
    _font: Any = field(repr=False)
    _codes: dict[bytes, Code] = field(default_factory=dict, repr=False)

    @property
    def wide(self) -> bool:
        """Whether its codes have two bytes."""
        return bool(self._font.is_multibyte())

    def codes(self, shown: bytes) -> list[Code]:
        """Return the codes of a shown string, in order.

        Raises:
            MalformedRecord: they are of different lengths.
        """
        if not self._font.is_multibyte():
            return [self._code(shown[i : i + 1], shown[i]) for i in range(len(shown))]
        cids = list(self._font.decode(shown))
        if len(cids) * 2 != len(shown):
            raise MalformedRecord("a font whose codes do not have two bytes each")
        return [self._code(shown[i * 2 : i * 2 + 2], cid) for i, cid in enumerate(cids)]

    def encoded(self, text: str) -> list[Code] | None:
        """Return codes for characters, or None if the font may lack one of them.

        A font in a file holds only the glyphs of the codes that the file uses.
        """
        if self.complete and not self._font.is_multibyte():
            for number in range(32, 256):
                self._code(bytes([number]), number)
        used = {each.text: each for each in sorted(self._codes.values(), reverse=True) if each.text and each.width > 0}
        found = [used[character] for character in text if character in used]
        return found if len(found) == len(text) else None

    def is_plausible(self) -> bool:
        """Whether the widths of the letters that were read are roughly those of the same letters in other fonts.

        In a font with a wrong map to Unicode, a page shows other letters than those that were read.
        """
        model = standard(self.standard)
        pairs = [
            (code.width, model._code(code.text.encode(), ord(code.text)).width)
            for code in self._codes.values()
            if len(code.text) == 1 and code.text.isascii() and code.text.isalnum()
        ]
        widths, models = zip(*pairs, strict=True) if pairs else ((), ())
        if len(pairs) < _FEW or max(widths) - min(widths) < 0.1 or max(models) - min(models) < 0.1:
            return True
        return correlation(widths, models) > _PLAUSIBLE

    def _code(self, code: bytes, cid: int) -> Code:
        known = self._codes.get(code)
        if known is None:
            known = self._codes[code] = Code(code, self._text(cid), self._font.char_width(cid))
        return known

    def _text(self, cid: int) -> str:
        from pdfminer.pdffont import PDFUnicodeNotDefined

        if cid in self.own:
            return self.own[cid]
        if cid == _HYPHEN and not self._font.is_multibyte() and self._font.unicode_map is None:
            return "-"
        try:
            text = str(self._font.to_unichr(cid))
        except (PDFUnicodeNotDefined, KeyError, ValueError, OverflowError):
            return self.signs.get(cid, "")
        if _BLANK.fullmatch(text):
            return " "
        encoded = getattr(self._font, "cid2unicode", {}).get(cid, "") if self.complete else ""
        declared = self.declared.get(cid, {encoded} - {""})
        if declared and all(each.isalnum() for each in (text, *declared)) and _plain(text) not in map(_plain, declared):
            raise MalformedRecord("a font with two different characters for a code. Print the document to a new PDF")
        if len(text) > _LONGEST:
            raise MalformedRecord("a font in which one glyph stands for many letters. Print the document to a new PDF")
        return "" if _UNREADABLE.search(text) else text


@cache
def standard(name: str) -> PdfFont:
    """Return one of the fonts that every PDF program has, in the encoding of Windows."""
    from pdfminer.pdffont import PDFType1Font
    from pdfminer.psparser import LIT

    spec = {"BaseFont": LIT(name), "Encoding": LIT("WinAnsiEncoding")}
    return PdfFont(name, False, True, {}, {}, {}, PDFType1Font(None, spec))  # type: ignore[arg-type]  # the manager is not used


def opened(spec: Object) -> PdfFont:
    """Return a font, given its dictionary.

    Raises:
        MalformedRecord: pdfminer cannot read it.
    """
    from pdfminer.pdfinterp import PDFResourceManager

    logging.getLogger("pdfminer").setLevel(logging.CRITICAL)  # it logs what it finds wrong in a font
    try:
        font: Any = PDFResourceManager(caching=False).get_font(None, _converted(spec))
        complete = _descriptor(spec) is None
        return PdfFont(
            _standard(spec), bool(font.is_vertical()), complete, _own(spec), _declared(spec), _signs(spec), font
        )
    except Exception as error:  # the library may raise anything, and its message may quote the document
        raise MalformedRecord(f"a font that cannot be read ({type(error).__name__})") from None


def _descriptor(spec: Object) -> Object | None:
    """Return the descriptor of a font whose program is in the file, or None."""
    for each in (spec, *_descendants(spec)):
        descriptor = each.get("/FontDescriptor")
        if descriptor is not None and any(key in descriptor for key in ("/FontFile", "/FontFile2", "/FontFile3")):
            return descriptor
    return spec if spec.get("/Subtype") == "/Type3" else None


def _own(spec: Object) -> Mapping[int, str]:
    """Return the characters of the codes whose glyphs have names that are not in a standard.

    TeX names the glyphs of a bitmap font by their codes, which are those of ASCII for the most part. The names of other
    glyphs, and fonts without an encoding, say nothing.
    """
    from pdfminer.encodingdb import name2unicode

    descriptor = _descriptor(spec)
    if descriptor is None or "/ToUnicode" in spec or spec.get("/Subtype") == "/Type0":
        return {}
    encoding: Any = spec.get("/Encoding", None)
    if encoding is None:
        return {} if "/FontFile" in descriptor else dict.fromkeys(range(256), "")
    own, code = {}, 0
    for each in items(encoding, "/Differences") if is_dictionary(encoding) else ():
        if isinstance(each, int):
            code = each
            continue
        name = str(each)[1:]
        if name == f"a{code}":
            own[code] = _TEX.get(code, chr(code) if 32 < code < 127 else "")
        else:
            try:
                name2unicode(name)
            except (KeyError, ValueError):
                own[code] = _part(name)
        code += 1
    return own


def _signs(spec: Object) -> Mapping[int, str]:
    """Return the signs of mathematics of codes by the names of glyphs in the program of a font."""
    descriptor = _descriptor(spec)
    if "/Encoding" in spec or descriptor is None or "/FontFile" not in descriptor:
        return {}
    names = built_in(bytes(descriptor["/FontFile"].read_bytes()))
    return {code: text for code, name in names.items() if (text := _part(name))}


def _part(name: str) -> str:
    """Return the character of a glyph that is a size or a part of a sign of mathematics, such as `parenleftbig`."""
    from fontTools.agl import AGL2UV

    base, count = _SIZE.subn("", name)
    return chr(AGL2UV[base]) if count and base in AGL2UV and not chr(AGL2UV[base]).isalnum() else ""


def _declared(spec: Object) -> Mapping[int, set[str]]:
    """Return the characters of codes by the program of a font whose codes are the numbers of its glyphs."""
    descriptor = _descriptor(spec)
    if spec.get("/Encoding") != "/Identity-H" or descriptor is None or "/FontFile2" not in descriptor:
        return {}
    if _descendants(spec)[0].get("/CIDToGIDMap", "/Identity") != "/Identity":
        return {}
    try:
        return TrueType(bytes(descriptor["/FontFile2"].read_bytes())).characters()
    except MalformedRecord:
        return {}


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _descendants(spec: Object) -> Sequence[Object]:
    return list(spec.get("/DescendantFonts", []))


def _standard(spec: Object) -> str:
    """Return the standard font that looks most like a font, by its flags and name."""
    flags, name = 0, str(spec.get("/BaseFont", ""))
    for each in (spec, *_descendants(spec)):
        descriptor = each.get("/FontDescriptor")
        if descriptor is not None:
            flags |= int(descriptor.get("/Flags", 0))
    bold = bool(_BOLD.search(name)) or bool(flags & _FLAGS["bold"])
    italic = bool(_ITALIC.search(name)) or bool(flags & _FLAGS["italic"])
    if _FIXED.search(name) or flags & _FLAGS["fixed"]:
        family = "Courier"
    elif (_SERIF.search(name) and not _SANS.search(name)) or (flags & _FLAGS["serif"] and not _SANS.search(name)):
        return _STANDARD["Times"][bold + 2 * italic]
    else:
        family = "Helvetica"
    look = ("Bold" if bold else "") + ("Oblique" if italic else "")
    return f"{family}-{look}" if look else family


def _converted(value: Any, depth: int = 0) -> Any:
    """Convert an object of pikepdf to one of pdfminer. Only what a font needs is converted."""
    import pikepdf
    from pdfminer.pdftypes import PDFStream
    from pdfminer.psparser import LIT

    if depth > _DEPTH:
        return None
    if isinstance(value, pikepdf.Stream):
        attributes = {key[1:]: int(item) for key, item in value.items() if key == "/Length1"}
        return PDFStream(attributes, bytes(value.read_bytes()))
    if isinstance(value, pikepdf.Dictionary):
        return {key[1:]: _converted(item, depth + 1) for key, item in value.items() if key[1:] in _KEYS}
    if isinstance(value, pikepdf.Array):
        return [_converted(item, depth + 1) for item in value]
    if isinstance(value, pikepdf.Name):
        return LIT(str(value)[1:])
    if isinstance(value, pikepdf.String):
        return bytes(value)
    return value if isinstance(value, bool | int) or value is None else float(value)
