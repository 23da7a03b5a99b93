"""Write PDF files object by object, as no PDF library would write them, and the fonts and pictures for them."""

from __future__ import annotations

import io
import zlib
from dataclasses import dataclass, field
from typing import Any

from fontTools import subset
from fontTools.pens.basePen import BasePen
from fontTools.ttLib import TTFont
from PIL import Image, ImageDraw, ImageFont
from reportlab.pdfbase.pdfmetrics import stringWidth

FONTS = "/usr/share/fonts/truetype"
LIBERATION = f"{FONTS}/liberation/LiberationSans-Regular.ttf"
DEJAVU = f"{FONTS}/dejavu/DejaVuSans.ttf"
FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
LETTER = b"[0 0 612 792]"
ID = b"[<31313131313131313131313131313131> <31313131313131313131313131313131>]"


def string(words: str) -> bytes:
    """Return words as a string of a content stream in WinAnsi."""
    escaped = words.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return b"(" + escaped.encode("cp1252") + b")"


def utf16(words: str) -> bytes:
    """Return words as a hexadecimal text string in UTF-16."""
    return b"<FEFF" + words.encode("utf-16-be").hex().upper().encode() + b">"


def width(words: str, size: float = 11) -> float:
    return float(stringWidth(words, "Helvetica", size))


def at(x: float, y: float, words: str, *, size: float = 11, font: str = "F1", before: str = "") -> bytes:
    """Return the operators that show words at a position."""
    return f"BT {before} /{font} {size:g} Tf {x:.2f} {y:.2f} Td ".encode() + string(words) + b" Tj ET\n"


def lines(words: str, *, x: float = 72, y: float = 720) -> bytes:
    """Return the operators that show each line of a text."""
    return b"".join(at(x, y - 18 * i, line) for i, line in enumerate(words.splitlines()))


def stream(data: bytes, entries: bytes = b"", *, packed: bool = True) -> bytes:
    """Return a stream object."""
    if packed:
        data, entries = zlib.compress(data, 9), entries + b"/Filter/FlateDecode"
    return b"<<" + entries + b"/Length %d>>\nstream\n" % len(data) + data + b"\nendstream"


@dataclass(slots=True)
class File:
    """A file of raw objects. Object 1 is the catalog, 2 the pages, and 3 the font F1."""

    version: bytes = b"1.7"
    catalog: bytes = b""
    trailer: bytes = b""
    inherited: bytes = b""
    kids: list[int] = field(default_factory=list)
    objects: dict[int, bytes] = field(default_factory=lambda: {1: b"", 2: b"", 3: FONT})

    def add(self, body: bytes) -> int:
        """Add an object and return its number."""
        number = max(self.objects) + 1
        self.objects[number] = body
        return number

    def page(self, content: bytes, *, resources: bytes = b"", fonts: bytes = b"", extra: bytes = b"",
             box: bytes = LETTER, packed: bool = True, shown: int = 0) -> int:  # fmt: skip
        """Add a page and return its number. Its content may be in an object `shown` that exists."""
        shown = shown or self.add(stream(content, packed=packed))
        self.kids.append(self.add(
            b"<</Type/Page/Parent 2 0 R/MediaBox%s/Contents %d 0 R/Resources<</Font<</F1 3 0 R%s>>%s>>%s>>"
            % (box, shown, fonts, resources, extra)
        ))  # fmt: skip
        return self.kids[-1]

    def roots(self) -> None:
        """Fill in the catalog and the tree of pages."""
        kids = b" ".join(b"%d 0 R" % kid for kid in self.kids)
        self.objects[1] = b"<</Type/Catalog/Pages 2 0 R" + self.catalog + b">>"
        self.objects[2] = b"<</Type/Pages/Count %d/Kids[%s]%s>>" % (len(self.kids), kids, self.inherited)

    def data(self, *, before: bytes = b"", between: bytes = b"", after: bytes = b"") -> bytes:
        """Return the file, with bytes before the header, between the objects, and after the end."""
        self.roots()
        out, places = before + b"%PDF-" + self.version + b"\n%\xe2\xe3\xcf\xd3\n", {}
        for number, body in sorted(self.objects.items()):
            places[number] = len(out) - len(before)
            out += b"%d 0 obj\n" % number + body + b"\nendobj\n" + between
        start, size = len(out) - len(before), max(self.objects) + 1
        table = b"".join(b"%010d 00000 n \n" % places[number] for number in range(1, size))
        out += b"xref\n0 %d\n0000000000 65535 f \n" % size + table
        out += b"trailer\n<</Size %d/Root 1 0 R/ID%s%s>>\nstartxref\n%d\n%%%%EOF\n" % (size, ID, self.trailer, start)
        return out + after

    def streamed(self, packed: dict[int, tuple[int, int]]) -> bytes:
        """Return the file with a cross-reference stream. Packed objects are in an object stream, at an index."""
        self.roots()
        out, rows, size = b"%PDF-1.7\n", bytes(5), max(*self.objects, *packed) + 2
        for number in range(1, size):
            kind = b"\x02" if number in packed else b"\x01"
            place, index = packed.get(number, (len(out), 0))
            rows += kind + place.to_bytes(3, "big") + bytes([index])
            if number in self.objects:
                out += b"%d 0 obj\n" % number + self.objects[number] + b"\nendobj\n"
        entries = b"/Type/XRef/W[1 3 1]/Size %d/Root 1 0 R/ID%s%s" % (size, ID, self.trailer)
        last = b"%d 0 obj\n" % (size - 1) + stream(rows, entries) + b"\nendobj\n"
        return out + last + b"startxref\n%d\n%%%%EOF\n" % len(out)


def updated(data: bytes, objects: dict[int, bytes], trailer: bytes = b"") -> bytes:
    """Return a file with an incremental update."""
    before = int(data.rstrip().split(b"\n")[-2])
    size = max(int(data.split(b"/Size ")[-1].split(b"/")[0]), max(objects) + 1)
    table = b""
    for number, body in sorted(objects.items()):
        table += b"%d 1\n%010d 00000 n \n" % (number, len(data))
        data += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    ends = b"xref\n" + table + b"trailer\n<</Size %d/Root 1 0 R/Prev %d/ID%s%s>>\n" % (size, before, ID, trailer)
    return data + ends + b"startxref\n%d\n%%%%EOF\n" % len(data)


class _Path(BasePen):
    """Writes outlines as operators of a content stream."""

    def __init__(self, glyphs: Any, scale: float, x: float = 0, y: float = 0) -> None:
        super().__init__(glyphs)
        self.scale, self.x, self.y, self.out = scale, x, y, b""

    def _put(self, operator: str, *points: tuple[float, float]) -> None:
        numbers = " ".join(f"{x * self.scale + self.x:.1f} {y * self.scale + self.y:.1f}" for x, y in points)
        self.out += f"{numbers} {operator}\n".encode()

    def _moveTo(self, pt: Any) -> None:  # noqa: N802 -- the name of fontTools
        self._put("m", pt)

    def _lineTo(self, pt: Any) -> None:  # noqa: N802 -- the name of fontTools
        self._put("l", pt)

    def _curveToOne(self, pt1: Any, pt2: Any, pt3: Any) -> None:  # noqa: N802 -- the name of fontTools
        self._put("c", pt1, pt2, pt3)

    def _closePath(self) -> None:  # noqa: N802 -- the name of fontTools
        self.out += b"h\n"


def outlines(words: str, x: float, y: float, size: float = 11) -> bytes:
    """Return the operators that fill the outlines of words. No text is in them."""
    font = TTFont(LIBERATION)
    glyphs, names, out = font.getGlyphSet(), font.getBestCmap(), b""
    for sign in words:
        pen = _Path(glyphs, size / 2048, x, y)
        glyphs[names[ord(sign)]].draw(pen)
        out += pen.out + (b"f\n" if pen.out else b"")
        x += glyphs[names[ord(sign)]].width * size / 2048
    return out


def cmap(codes: dict[int, str], *, size: int = 1) -> bytes:
    """Return the stream of a ToUnicode map."""
    pairs = [b"<%0*X> <%s>" % (2 * size, code, words.encode("utf-16-be").hex().upper().encode())
             for code, words in sorted(codes.items())]  # fmt: skip
    head = b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /M def /CMapType 2 def\n"
    space = b"1 begincodespacerange <%s> <%s> endcodespacerange\n" % (b"00" * size, b"FF" * size)
    groups = [pairs[i : i + 100] for i in range(0, len(pairs), 100)]
    body = b"".join(b"%d beginbfchar\n%s\nendbfchar\n" % (len(group), b"\n".join(group)) for group in groups)
    return stream(head + space + body + b"endcmap end end")


def type3(file: File, words: str, *, names: dict[str, str], codes: dict[str, int], unicode: dict[int, str]) -> int:
    """Add a Type 3 font with the outlines of the characters of words, and return its number."""
    font, procs, widths = TTFont(LIBERATION), b"", {}
    glyphs, cmapped = font.getGlyphSet(), font.getBestCmap()
    for sign in sorted(set(words)):
        pen, name = _Path(glyphs, 1000 / 2048), cmapped[ord(sign)]
        glyphs[name].draw(pen)
        widths[codes[sign]] = round(glyphs[name].width * 1000 / 2048)
        proc = b"%d 0 0 -250 1000 1000 d1\n" % widths[codes[sign]] + pen.out + (b"f" if pen.out else b"")
        procs += b"/%s %d 0 R" % (names[sign].encode(), file.add(stream(proc)))
    named = b" ".join(b"%d/%s" % (codes[sign], names[sign].encode()) for sign in sorted(codes, key=lambda s: codes[s]))
    first, last = min(widths), max(widths)
    wide = b" ".join(b"%d" % widths.get(code, 0) for code in range(first, last + 1))
    mapped = b"/ToUnicode %d 0 R" % file.add(cmap(unicode)) if unicode else b""
    return file.add(
        b"<</Type/Font/Subtype/Type3/FontBBox[0 -250 1000 1000]/FontMatrix[.001 0 0 .001 0 0]/CharProcs<<%s>>"
        b"/Encoding<</Type/Encoding/Differences[%s]>>/FirstChar %d/LastChar %d/Widths[%s]/Resources<<>>%s>>"
        % (procs, named, first, last, wide, mapped)
    )  # fmt: skip


def embedded(file: File, words: str, unicode: dict[str, str] | None = None, *, path: str = DEJAVU,
             upright: bool = False, name: str = "AAAAAA+DejaVuSans") -> tuple[int, dict[str, bytes]]:  # fmt: skip
    """Add an embedded subset font and return its number and the code of each character.

    `unicode` has the text that ToUnicode gives for each character. Without it, the font has no ToUnicode.
    """
    font = TTFont(path, recalcTimestamp=False)
    options = subset.Options(layout_features=[], name_IDs=[], notdef_outline=True, hinting=False)
    options.drop_tables += ["FFTM"]
    cutter = subset.Subsetter(options)
    cutter.populate(text=words)
    cutter.subset(font)
    order, names, unit = font.getGlyphOrder(), font.getBestCmap(), 1000 / font["head"].unitsPerEm
    numbers = {sign: order.index(names[ord(sign)]) for sign in set(words)}
    wide = b" ".join(b"%d" % round(font["hmtx"][glyph][0] * unit) for glyph in order)
    out = io.BytesIO()
    if name.startswith("AAAAAA+"):
        del font["cmap"], font["name"], font["OS/2"], font["post"]
    else:
        font["name"].setName(name, 1, 3, 1, 0x409)
        font["name"].setName(name, 6, 3, 1, 0x409)
    font.save(out)
    program = file.add(stream(out.getvalue(), b"/Length1 %d" % len(out.getvalue())))
    called = name.encode()
    descriptor = file.add(b"<</Type/FontDescriptor/FontName/%s/Flags 4/FontBBox[-500 -300 1500 1000]/ItalicAngle 0"
                          b"/Ascent 900/Descent -250/CapHeight 700/StemV 80/FontFile2 %d 0 R>>"
                          % (called, program))  # fmt: skip
    inner = file.add(b"<</Type/Font/Subtype/CIDFontType2/BaseFont/%s/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)"
                     b"/Supplement 0>>/FontDescriptor %d 0 R/CIDToGIDMap/Identity/DW 600/W[0[%s]]>>"
                     % (called, descriptor, wide))  # fmt: skip
    mapped = b""
    if unicode is not None:
        texts = {numbers[sign]: text for sign, text in unicode.items()}
        mapped = b"/ToUnicode %d 0 R" % file.add(cmap(texts, size=2))
    number = file.add(b"<</Type/Font/Subtype/Type0/BaseFont/%s/Encoding/Identity-%s/DescendantFonts[%d 0 R]%s>>"
                      % (called, b"V" if upright else b"H", inner, mapped))  # fmt: skip
    return number, {sign: b"%04X" % code for sign, code in numbers.items()}


def coded(words: str, codes: dict[str, bytes], x: float, y: float, *, font: str = "F2", size: float = 11) -> bytes:
    """Return the operators that show words in an embedded font."""
    shown = b"".join(codes[sign] for sign in words)
    return f"BT /{font} {size:g} Tf {x:.2f} {y:.2f} Td <".encode() + shown + b"> Tj ET\n"


def picture(words: str, size: tuple[int, int] = (420, 60), *, scale: int = 16) -> tuple[bytes, bytes]:
    """Return the gray pixels of a picture of words, and the entries of its dictionary."""
    image = Image.new("L", size, 255)
    font, draw = ImageFont.truetype(LIBERATION, scale), ImageDraw.Draw(image)
    for i, line in enumerate(words.splitlines()):
        draw.text((8, 8 + i * scale * 1.5), line, fill=0, font=font)
    entries = b"/Width %d/Height %d/ColorSpace/DeviceGray/BitsPerComponent 8" % size
    return image.tobytes(), entries


def image(file: File, words: str, size: tuple[int, int] = (420, 60), *, scale: int = 16) -> int:
    """Add a picture of words as an image, and return its number."""
    pixels, entries = picture(words, size, scale=scale)
    return file.add(stream(pixels, b"/Type/XObject/Subtype/Image" + entries))


NOTE = """Progress note
Patient: Philippa Ravensworth, MRN 73904418, born 07/19/1956
Seen by Dr. Anselm Okonjo on 03/11/2024 for asthma. Lungs clear, peak flow 410.
Please call her sister Wilhelmina Ravensworth at 330-555-0174."""
NAMES = (("Philippa Ravensworth", "PATIENT"), ("73904418", "MEDICAL_RECORD_NUMBER"), ("07/19/1956", "BIRTH_DATE_TIME"),
         ("Anselm Okonjo", "CLINICIAN"), ("03/11/2024", "DATE"), ("Wilhelmina Ravensworth", "RELATIVE"),
         ("330-555-0174", "TELEPHONE_NUMBER"))  # fmt: skip
HIDDEN = (("Leocadia Brandt", "PATIENT"), ("60215587", "MEDICAL_RECORD_NUMBER"))  # in no text that a page shows
UNSEEN = "Leocadia Brandt 60215587"


@dataclass(frozen=True, slots=True)
class Attack:
    """One hostile file. `why` says why it must be held."""

    name: str
    data: bytes = field(repr=False)
    identifiers: tuple[tuple[str, str], ...] = NAMES
    keeps: tuple[str, ...] = ("asthma", "Lungs clear")
    note: str | None = NOTE
    why: str = ""
