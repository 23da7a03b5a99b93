"""All strings and decoded streams of a PDF: of every object, in every revision, also of objects that nothing refers to.

The text of a content stream is decoded in each way that its font allows: by the font's ToUnicode map, by its encoding,
and by the glyph names of the embedded font. So text whose map shows other characters than its glyphs is found, too.
"""

from __future__ import annotations

import io
import logging
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pikepdf

MOST_REVISIONS, MOST_SYNTAX = 20, 64 << 20
_MOST_IMAGE = 1 << 20
_LITERAL = re.compile(r"\(((?:\\[\s\S]|[^\\()]|\((?:\\[\s\S]|[^\\()])*\))*)\)|(?<!<)<([0-9A-Fa-f\s]{2,})>(?!>)")
_ESCAPE = re.compile(r"\\([0-7]{1,3}|\r\n|[\s\S])")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "\r\n": "", "\n": "", "\r": ""}
_READ_APART = re.compile(rb"(?:/Subtype /Image\b.{0,2000}?\nstream\n|\nstream\n%!).*?\nendstream", re.DOTALL)
"""Images and PostScript fonts in the file that qpdf writes."""
_MOVES = frozenset(("Td", "TD", "Tm", "T*", "'", '"', "BT", "ET"))
Codes = Mapping[int, str]
_SYNTAX = re.compile(
    rb"\b(?:endobj|endstream|startxref|begincmap|endcmap|endbfchar|endbfrange|BT|ET|Tf|Tj|TJ|Td|Tm|cm|re|gs|Do)\b"
)
_NAME = re.compile(r"(?<![\w#])/?([A-Za-z]\w+)(?![\w#])")
_NUMBER = re.compile(r"(?<![\w#])[-+]?\d{0,5}\.?\d{1,5}(?!\w)")


@dataclass(frozen=True, slots=True)
class NotRead:
    """A part of a file that could not be read, and why."""

    why: str


class Syntax(str):
    """The objects of a file as one text."""

    __slots__ = ()


def revisions(data: bytes) -> list[bytes]:
    """Return the file as it was at each end-of-file mark, the last one first."""
    ends = [match.end() for match in re.finditer(rb"%%EOF\r?\n?", data)]
    if not ends or ends[-1] != len(data):
        ends.append(len(data))
    return [data[:end] for end in reversed(ends)]


def streams_and_strings(data: bytes) -> Iterator[str | bytes | NotRead]:
    """Yield the strings and the decoded streams of a PDF and of its earlier revisions."""
    cuts = revisions(data)
    if len(cuts) > MOST_REVISIONS:
        yield NotRead("more than 20 revisions of a PDF")
    for i, cut in enumerate(cuts[:MOST_REVISIONS]):
        try:
            yield from _objects(cut)
        except Exception as problem:
            if i == 0:  # the first revision of a linearized file is no complete file
                yield NotRead(f"a PDF that cannot be opened: {type(problem).__name__}")
    yield from pdf_literals(data.decode("latin-1"))
    plain = _by_qpdf(data)
    if plain is not None and len(plain) > MOST_SYNTAX:
        yield NotRead("a PDF with more than 64 MiB of objects")
    elif plain is not None:
        yield Syntax(without_syntax(plain.decode("latin-1")))
        yield from pdf_literals(plain.decode("latin-1"))


def is_syntax(data: bytes) -> bool:
    """Whether bytes are PDF syntax or a PostScript font, in which numbers are places and sizes."""
    return data.startswith(b"%!") or len(_SYNTAX.findall(data[: 1 << 16])) > 2


def without_syntax(text: str) -> str:
    """Return PDF syntax or binary data without short numbers and the names of glyphs, which can name nobody.

    Otherwise, a room number or an age would be found among sizes and in the names of digits.
    """
    from fontTools.agl import AGL2UV

    return _NAME.sub(lambda name: " " if name[1] in AGL2UV else name[0], _NUMBER.sub(" ", text))


def pdf_literals(source: str) -> Iterator[str]:
    """Yield the strings of PDF syntax, decoded: one a line, and without anything between them."""
    matches = _LITERAL.finditer(source)
    found = [_unescaped(each[1]) if each[1] is not None else _unhexed(each[2]) for each in matches]
    if found:
        yield "\n".join(found)
        yield "".join(found)
    wide = [text.encode("latin-1", "replace").decode("utf-16-be", "replace") for text in found if "\x00" in text]
    if wide:
        yield "\n".join(wide)
        yield "".join(wide)


def _unescaped(body: str) -> str:
    def character(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code, 8) & 255) if code[0] in "01234567" else _ESCAPES.get(code, code)

    return _ESCAPE.sub(character, body)


def _unhexed(digits: str) -> str:
    solid = "".join(digits.split())
    return bytes.fromhex(solid + "0" * (len(solid) % 2)).decode("latin-1")


def _by_qpdf(data: bytes) -> bytes | None:
    program = shutil.which("qpdf")
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.pdf", Path(folder) / "out.pdf"
        source.write_bytes(data)
        options = ["--qdf", "--object-streams=disable", "--preserve-unreferenced"]
        command = [program, *options, str(source), str(target)]
        subprocess.run(command, capture_output=True, timeout=120, check=False)  # noqa: S603 -- on our own file
        return _READ_APART.sub(b"", target.read_bytes()) if target.exists() else None


def _objects(data: bytes) -> Iterator[str | bytes | NotRead]:
    import pikepdf

    with pikepdf.open(io.BytesIO(data), suppress_warnings=True) as pdf:
        every = list(pdf.objects)
        fonts = _Fonts(every)
        yield from _values(pdf.trailer, set())
        for each in every:
            yield from _values(each, set())
            if isinstance(each, pikepdf.Stream):
                yield from _stream(each, fonts)
        for page in pdf.pages:
            yield from _shown(page.obj, page.obj, fonts)


def _values(value: Any, above: set[tuple[int, int]]) -> Iterator[str]:
    """Yield the names and strings within one object, without the objects that it refers to."""
    import pikepdf

    if isinstance(value, pikepdf.String):
        raw = bytes(value)
        yield str(value)
        yield raw.decode("latin-1")
        yield raw.decode("utf-8", "replace")
        if b"\x00" in raw:
            yield raw.decode("utf-16-be", "replace")
    elif isinstance(value, pikepdf.Name):
        yield without_syntax(str(value))
    elif isinstance(value, pikepdf.Array):
        for each in value.as_list():
            if not getattr(each, "is_indirect", False):
                yield from _values(each, above)
    elif isinstance(value, (pikepdf.Dictionary, pikepdf.Stream)):
        for key in value.keys():  # noqa: SIM118 -- a stream is no mapping
            yield str(key)
            inner = value.get(key)
            if not getattr(inner, "is_indirect", False):
                yield from _values(inner, above)


def _stream(stream: pikepdf.Stream, fonts: _Fonts) -> Iterator[str | bytes | NotRead]:
    import pikepdf

    image = stream.get("/Subtype") == "/Image"
    if stream.get("/Type") in ("/XRef", "/ObjStm"):
        return
    try:
        plain = stream.read_bytes()
    except pikepdf.PdfError:
        yield stream.read_raw_bytes()
        if not image:  # the pixels of an image have no strings
            yield NotRead("a stream of a PDF with an unknown filter")
        return
    if image and len(plain) > _MOST_IMAGE:
        return
    yield plain
    if image or stream.get("/Type") == "/Metadata" or "/Length1" in stream:
        return
    yield from pdf_literals(plain.decode("latin-1"))
    if stream.get("/Subtype") == "/Form" or "/PatternType" in stream:
        yield from _shown(stream, stream, fonts)


def _shown(content: pikepdf.Object, owner: pikepdf.Object, fonts: _Fonts) -> Iterator[str]:
    """Yield the text of a page or form, decoded in each way, with and without the spaces that its positions show."""
    import pikepdf

    try:
        instructions = pikepdf.parse_content_stream(content)
    except (pikepdf.PdfError, TypeError):
        return
    pieces: list[list[str]] = [[] for _ in range(2 * _Fonts.WAYS)]
    font: list[_Decoder] = [_LATIN] * _Fonts.WAYS
    for instruction in instructions:
        if not isinstance(instruction, pikepdf.ContentStreamInstruction):
            continue
        operator = str(instruction.operator)
        operands = list(instruction.operands)
        if operator in _MOVES:
            for each in pieces[: _Fonts.WAYS]:
                each.append("\n")
        if operator == "Tf" and operands:
            font = fonts.named(owner, str(operands[0]))
        elif operator in ("Tj", "TJ", "'", '"') and operands:
            last = operands[-1]
            for part in last.as_list() if isinstance(last, pikepdf.Array) else [last]:
                if isinstance(part, pikepdf.String):
                    for way, decoder in enumerate(font):
                        text = decoder.text(bytes(part))
                        pieces[way].append(text)
                        pieces[way + _Fonts.WAYS].append(text)
                elif float(part) < -150:
                    for each in pieces[: _Fonts.WAYS]:
                        each.append(" ")
        elif operator in ("BDC", "DP") and len(operands) > 1:
            yield from _values(operands[1], set())
    yield from dict.fromkeys("".join(each) for each in pieces)


@dataclass(frozen=True, slots=True)
class _Decoder:
    """Codes of one or two bytes to characters."""

    width: int
    codes: Codes

    def text(self, data: bytes) -> str:
        steps = range(0, len(data) - self.width + 1, self.width)
        codes = (int.from_bytes(data[at : at + self.width], "big") for at in steps)
        return "".join(self.codes.get(code, "\ufffd") for code in codes)


_LATIN = _Decoder(1, {code: bytes([code]).decode("cp1252", "replace") for code in range(256)})


class _Fonts:
    """The decoders of all fonts of a file."""

    WAYS = 3

    def __init__(self, every: Iterable[Any]) -> None:
        import pikepdf

        self._decoders: dict[tuple[int, int], list[_Decoder]] = {}
        self._by_name: dict[str, Any] = {}
        for each in every:
            if not isinstance(each, (pikepdf.Dictionary, pikepdf.Stream)):
                continue
            resources: Any = each.get("/Resources", {})
            fonts = each.get("/Font") if "/Font" in each else resources.get("/Font", {})
            if isinstance(fonts, pikepdf.Dictionary):
                self._by_name.update(fonts.items())

    def named(self, owner: Any, name: str) -> list[_Decoder]:
        """Return the decoders of a font, by its name in the resources of a page or form."""
        font = None
        for _ in range(20):
            font = owner.get("/Resources", {}).get("/Font", {}).get(name)
            if font is not None or "/Parent" not in owner:
                break
            owner = owner.get("/Parent")
        font = self._by_name.get(name) if font is None else font
        if font is None:
            return [_LATIN] * self.WAYS
        key = font.objgen
        if key not in self._decoders or key == (0, 0):
            self._decoders[key] = _decoders(font)
        return self._decoders[key]


def _decoders(font: Any) -> list[_Decoder]:
    """Return the decoders by the ToUnicode map, by the encoding, and by the embedded font."""
    wide = font.get("/Subtype") == "/Type0"
    width = 2 if wide else 1
    by_map = _LATIN
    if "/ToUnicode" in font:
        try:
            by_map = _Decoder(width, cmap_codes(font["/ToUnicode"].read_bytes().decode("latin-1")))
        except Exception:  # a damaged map shows nothing; the other two ways remain
            by_map = _LATIN
    by_encoding = _Decoder(2, _Utf16()) if wide else _Decoder(1, _encoding(font))
    glyphs = glyph_characters(font)
    return [by_map, by_encoding, _Decoder(width, glyphs) if glyphs else by_map]


class _Utf16(dict[int, str]):
    """Two-byte codes that are characters themselves."""

    def get(self, code: int, default: Any = None) -> str:
        return chr(code) if code and not 0xD800 <= code < 0xE000 else "\ufffd"


def _encoding(font: Any) -> dict[int, str]:
    from fontTools.agl import toUnicode

    encoding = font.get("/Encoding")
    codec = "mac_roman" if encoding == "/MacRomanEncoding" else "cp1252"
    codes = {code: bytes([code]).decode(codec, "replace") for code in range(256)}
    at = 0
    for each in encoding.get("/Differences", []) if hasattr(encoding, "keys") else []:
        if isinstance(each, int):
            at = each
        else:
            codes[at] = toUnicode(str(each).removeprefix("/")) or "\ufffd"
            at += 1
    return codes


_CMAP = re.compile(r"begin(bfchar|bfrange)(.*?)end\1", re.DOTALL)
_CMAP_PART = re.compile(r"<([0-9A-Fa-f\s]*)>|(\[)([^\]]*)\]")


def cmap_codes(source: str) -> dict[int, str]:
    """Return the codes of a ToUnicode map with their characters."""
    codes: dict[int, str] = {}
    for kind, body in _CMAP.findall(source):
        parts = [match[0] for match in _CMAP_PART.finditer(body)]
        step = 2 if kind == "bfchar" else 3
        for at in range(0, len(parts) - step + 1, step):
            first = int(parts[at].strip("<>"), 16)
            if kind == "bfchar":
                codes[first] = _wide(parts[at + 1])
                continue
            last, target = int(parts[at + 1].strip("<>"), 16), parts[at + 2]
            if target.startswith("["):
                for i, each in enumerate(re.findall(r"<[^>]*>", target)):
                    codes[first + i] = _wide(each)
            elif begin := _wide(target):
                for code in range(first, min(last, first + 65535) + 1):
                    codes[code] = begin[:-1] + chr(min(ord(begin[-1]) + code - first, 0x10FFFF))
    return codes


def _wide(digits: str) -> str:
    return _unhexed(digits.strip("<>")).encode("latin-1").decode("utf-16-be", "replace")


def glyph_characters(font: Any) -> dict[int, str]:
    """Return the glyphs of an embedded font that have an outline and a character, by their index or their code."""
    from fontTools.agl import toUnicode

    found = embedded(font)
    if found is None:
        return {}
    names, characters = found
    by_name = {name: chr(code) for code, name in characters.items()}
    return {i: text for i, name in enumerate(names) if (text := by_name.get(name) or toUnicode(name))}


def embedded(font: Any) -> tuple[list[str], dict[int, str]] | None:
    """Return the names of the glyphs of a font's embedded file in order, and its characters, or None without a file.

    Glyphs without an outline have the name "".
    """
    from fontTools.cffLib import CFFFontSet
    from fontTools.ttLib import TTFont

    logging.getLogger("fontTools").setLevel(logging.ERROR)  # it warns about the dates of subsets
    inner = font.get("/DescendantFonts")
    descriptor = (inner[0] if inner is not None and len(inner) else font).get("/FontDescriptor")
    if descriptor is None:
        return None
    for key in ("/FontFile2", "/FontFile3"):
        if key not in descriptor:
            continue
        data = descriptor[key].read_bytes()
        try:
            if data[:4] in (b"OTTO", b"\x00\x01\x00\x00", b"true"):
                opened = TTFont(io.BytesIO(data), lazy=True)
                cmap = opened.getBestCmap() if "cmap" in opened else None
                outlines = opened.get("glyf")
                names = opened.getGlyphOrder()
                if outlines is not None:
                    names = [name if outlines[name].numberOfContours else "" for name in names]
                return names, cmap or {}
            fonts = CFFFontSet()
            fonts.decompile(io.BytesIO(data), None)
            return list(fonts[0].charset), {}
        except Exception:  # subsets lack tables that fontTools expects; the other ways to decode remain
            return None
    return None
