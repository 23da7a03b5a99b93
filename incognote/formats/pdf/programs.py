"""The programs of fonts in PDF files: TrueType, CFF, and Type 1. fontTools reads and writes them."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from incognote.errors import MalformedRecord

UNREADABLE = "a font whose program cannot be read. Print the document to a new PDF"
_AMBIGUOUS = "a font whose codes do not stand for one glyph each. Print the document to a new PDF"
_TABLES = frozenset(("glyf", "loca", "head", "hhea", "hmtx", "maxp", "cvt ", "fpgm", "prep", "gasp", "cmap"))
_AROUND = frozenset(("CFF ", "head", "hhea", "hmtx", "maxp"))
_PREFIXES = (0xF000, 0xF100, 0xF200, 0)  # where the codes of symbols are in the table of codes of Windows
_EEXEC, _CHARSTRING = 55665, 4330  # the keys of the encryption of Type 1
_BUILT_IN = re.compile(rb"/Encoding\s+256\s+array.*?\bdef\b", re.DOTALL)
_PUT = re.compile(rb"\bdup\s+(\d+)\s*/(\S+)\s+put\b")
_CHARSTRINGS = re.compile(rb"/CharStrings\s+(\d+)\s+dict\s+dup\s+begin\s*")
_RANDOM = re.compile(rb"/lenIV\s+(-?\d+)")
_ENTRY = re.compile(rb"\s*/(\S+)\s+(\d+)\s+(?:RD|-\|) ")
_AFTER = re.compile(rb"\s*(?:ND|\|-|noaccess\s+def)\s")
_ZEROS = b"\n" + (b"0" * 64 + b"\n") * 8 + b"cleartomark\n"


class TrueType:
    """A program with TrueType outlines.

    Raises:
        MalformedRecord: it cannot be read.
    """

    def __init__(self, data: bytes) -> None:
        from fontTools.ttLib import TTFont

        with _reading():
            self._font = TTFont(io.BytesIO(data), recalcBBoxes=False, recalcTimestamp=False)
            self.count = int(self._font["maxp"].numGlyphs)
            self._names = [f"glyph{number:05d}" for number in range(self.count)]
            self._font.setGlyphOrder(self._names)
            self._glyf = self._font["glyf"]
            self._cmaps = {
                (table.platformID, table.platEncID): {
                    code: self._font.getGlyphID(glyph) for code, glyph in table.cmap.items()
                }
                for table in (self._font["cmap"].tables if "cmap" in self._font else ())
                if table.format != 14
            }  # fmt: skip

    def glyph(self, cid: int) -> int:
        return cid

    def of_code(self, code: int, name: str | None, *, symbolic: bool) -> int:
        """Return the glyph of a code of one byte, given its name in the encoding of the font.

        Raises:
            MalformedRecord: the tables of the program do not say, or do not agree.
        """
        from fontTools.agl import toUnicode

        windows, symbols, mac = (self._cmaps.get(key, {}) for key in ((3, 1), (3, 0), (1, 0)))
        windows = windows or self._cmaps.get((0, 3), {})
        found: set[int] = {symbols.get(prefix + code, 0) for prefix in _PREFIXES}
        if name is not None and not (symbolic and symbols):
            text = toUnicode(name)
            found.add(windows.get(ord(text), 0) if len(text) == 1 else 0)
            found.add(mac.get(_codes_of("MacRomanEncoding").get(name, -1), 0))
        if name is None or symbolic:
            found.add(mac.get(code, 0))
            found.add(windows.get(code, 0) if not (symbols or mac) else 0)
        found.discard(0)
        if len(found) != 1:
            raise MalformedRecord(_AMBIGUOUS)
        return found.pop()

    def characters(self) -> Mapping[int, set[str]]:
        """Return the characters of each glyph that the program declares in a table of Unicode."""
        found: dict[int, set[str]] = {}
        for (platform, encoding), codes in self._cmaps.items():
            for code, glyph in codes.items() if platform == 0 or (platform == 3 and encoding in (1, 10)) else ():
                found.setdefault(glyph, set()).add(chr(code))
        return found

    def shape(self, glyph: int) -> Any:
        with _reading():
            points, ends, flags = self._glyf[self._names[glyph]].getCoordinates(self._glyf)
            return list(points), list(ends), bytes(flags)

    def subset(self, order: Sequence[int], codes: Mapping[int, int] | None = None) -> tuple[bytes, int]:
        """Return a program with these glyphs, and the parts of glyphs that they use, and how many that are.

        Args:
            order: old numbers. codes: the new numbers of the glyphs of codes, if the codes have one byte.
        """
        from fontTools.ttLib import newTable
        from fontTools.ttLib.tables._c_m_a_p import CmapSubtable

        font = self._font
        with _reading():
            kept = dict.fromkeys(self._names[number] for number in order)
            waiting = list(kept)
            for each in waiting:
                self._glyf[each].expand(self._glyf)
                for part in self._glyf[each].getComponentNames(self._glyf):
                    if part not in kept:
                        kept[part] = None
                        waiting.append(part)
            names = list(kept)
            metrics = font["hmtx"].metrics
            for tag in [tag for tag in font.keys() if tag not in _TABLES and tag != "GlyphOrder"]:  # noqa: SIM118 -- not a dict
                del font[tag]
            font["hmtx"].metrics = {each: metrics[each] for each in names}
            self._glyf.glyphs = {each: self._glyf.glyphs[each] for each in names}
            self._glyf.setGlyphOrder(names)
            font.setGlyphOrder(names)
            font["maxp"].numGlyphs = len(names)
            font["maxp"].recalc(font)
            font["hhea"].recalc(font)
            font["head"].created = font["head"].modified = 0
            if "cmap" in font:
                del font["cmap"]
            if codes is not None:
                font["cmap"] = newTable("cmap")
                font["cmap"].tableVersion = 0
                font["cmap"].tables = []
                for platform, encoding, kind, first in ((1, 0, 0, 0), (3, 0, 4, 0xF000)):
                    table = CmapSubtable.newSubtable(kind)
                    table.platformID, table.platEncID, table.language = platform, encoding, 0
                    table.cmap = {first + code: names[glyph] for code, glyph in sorted(codes.items())}
                    font["cmap"].tables.append(table)
            out = io.BytesIO()
            font.save(out, reorderTables=True)
            return out.getvalue(), len(names)


class Cff:
    """A program in the compact font format, alone or in an OpenType font.

    Attributes:
        count: how many glyphs it has. encoding: the names of the glyphs of its own codes.
        around: the OpenType font, or None.

    Raises:
        MalformedRecord: it cannot be read.
    """

    def __init__(self, data: bytes) -> None:
        from fontTools.cffLib import CFFFontSet
        from fontTools.ttLib import TTFont

        with _reading():
            self.around = TTFont(io.BytesIO(data), recalcTimestamp=False) if data[:4] == b"OTTO" else None
            if self.around is not None:
                self._metrics = dict(self.around["hmtx"].metrics)
                self._set = self.around["CFF "].cff
            else:
                self._set = CFFFontSet()
                self._set.decompile(io.BytesIO(data), None)
            self._top = self._set[0]
            self._charset = list(self._top.charset)
            self._strings = self._top.CharStrings
            self.count = len(self._charset)
            self._cids = hasattr(self._top, "ROS")
            self.encoding: dict[int, str] = {}
            if not self._cids:
                built_in = self._top.Encoding
                self.encoding = (
                    dict(names_of(built_in)) if isinstance(built_in, str)
                    else {code: each for code, each in enumerate(built_in) if each != ".notdef"}
                )  # fmt: skip
            self._set.desubroutinize()

    def glyph(self, cid: int) -> int:
        """Return the glyph of the number of a character, or -1."""
        if not self._cids:
            return cid
        each = ".notdef" if cid == 0 else f"cid{cid:05d}"
        return self._charset.index(each) if each in self._charset else -1

    def shape(self, glyph: int | str) -> Any:
        each = self._charset[glyph] if isinstance(glyph, int) else glyph
        if each not in self._strings:
            return ""
        with _reading():
            string = self._strings[each]
            string.decompile()
            return repr(string.program)

    def subset(self, order: Iterable[int]) -> tuple[bytes, int]:
        """Return a program with these glyphs, whose numbers are their positions, and how many that are."""
        numbers = list(order)
        names = [".notdef", *(f"cid{at:05d}" for at in range(1, len(numbers)))]
        return self._subset(numbers, names), len(numbers)

    def renamed(self, names: Mapping[str, str]) -> bytes:
        """Return a program with glyphs in an order, which get new names. Missing ones are left out."""
        known = {old: new for old, new in names.items() if old in self._strings and old != ".notdef"}
        return self._subset([0, *(self._charset.index(old) for old in known)], [".notdef", *known.values()])

    def _subset(self, numbers: Sequence[int], names: Sequence[str]) -> bytes:
        top, strings = self._top, self._strings
        with _reading():
            for each in self._charset:
                strings.getItemAndSelector(each)
            index = strings.charStringsIndex
            index.items = [index[number] for number in numbers]
            for each in ("file", "offsets"):
                if hasattr(index, each):
                    delattr(index, each)
            if hasattr(top, "FDSelect"):
                top.FDSelect.format = None
                top.FDSelect.gidArray = [top.FDSelect.gidArray[number] for number in numbers]
            top.charset = list(names)
            top.numGlyphs = len(names)
            strings.charStrings = {each: at for at, each in enumerate(names)}
            if "Encoding" in top.rawDict or hasattr(top, "Encoding"):
                top.rawDict.pop("Encoding", None)
                top.__dict__.pop("Encoding", None)
            for key in ("version", "Notice", "Copyright", "FullName", "FamilyName", "Weight", "UniqueID", "XUID"):
                top.rawDict.pop(key, None)
                top.__dict__.pop(key, None)
            self._set.fontNames = ["Font"]
            out = io.BytesIO()
            if self.around is None:
                self._set.compile(out, _NoFont(list(names)), isCFF2=False)
                return out.getvalue()
            font = self.around
            for tag in [tag for tag in font.keys() if tag not in _AROUND and tag != "GlyphOrder"]:  # noqa: SIM118 -- not a dict
                del font[tag]
            font["hmtx"].metrics = {
                new: self._metrics[self._charset[old]] for new, old in zip(names, numbers, strict=True)
            }
            font["head"].created = font["head"].modified = 0
            font.setGlyphOrder(list(names))
            font.save(out, reorderTables=True)
            return out.getvalue()


class _NoFont:
    """What the writer of CFF asks of the font around it."""

    def __init__(self, names: list[str]) -> None:
        self._names = names
        self.recalcBBoxes = False
        self.cfg: dict[str, Any] = {}

    def getGlyphOrder(self) -> list[str]:  # noqa: N802 -- fontTools names it
        return self._names


class Type1:
    """A program in the format Type 1.

    Args:
        data: its bytes. clear, encrypted: the lengths of its first parts.

    Raises:
        MalformedRecord: it cannot be read.
    """

    def __init__(self, data: bytes, clear: int, encrypted: int) -> None:
        from fontTools.misc import eexec

        with _reading():
            self._clear = data[:clear]
            self._plain, _ = eexec.decrypt(data[clear : clear + encrypted], _EEXEC)
            head, random = _CHARSTRINGS.search(self._plain), _RANDOM.search(self._plain)
            if head is None or (random is not None and int(random[1]) != 4):
                raise ValueError(clear)
            self._strings: dict[str, bytes] = {}
            self._start, at = head.start(), head.end()
            while (entry := _ENTRY.match(self._plain, at)) is not None:
                end = entry.end() + int(entry[2])
                after = _AFTER.match(self._plain, end)
                if after is None:
                    raise ValueError(end)
                self._strings.setdefault(entry[1].decode("ascii"), self._plain[at : after.end()])
                at = after.end()
            self._end = at
            if len(self._strings) > int(head[1]) or _CHARSTRINGS.search(self._plain, at):
                raise ValueError(at)
            if not self._plain[at:].lstrip().startswith(b"end"):
                raise ValueError(at)
            self.encoding = built_in(self._clear) or dict(names_of("StandardEncoding"))

    def shape(self, glyph: str) -> Any:
        return self._code(glyph) if glyph in self._strings else b""

    def renamed(self, names: Mapping[str, str]) -> tuple[bytes, tuple[int, int, int]]:
        """Return a program with glyphs in an order, which get new names, and the lengths of its parts."""
        from fontTools.misc import eexec

        with _reading():
            kept = dict.fromkeys([".notdef", *names])
            waiting = [each for each in kept if each in self._strings]
            for each in waiting:
                for part in self._parts(each):
                    if part not in kept:
                        kept[part] = None
                        waiting.append(part)
            lines = [
                b"/%s %s\n" % (names.get(each, each).encode("ascii"), self._strings[each].split(None, 1)[1].rstrip())
                for each in kept
                if each in self._strings
            ]
            head = b"/CharStrings %d dict dup begin\n" % len(lines)
            plain = self._plain[: self._start] + head + b"".join(lines) + self._plain[self._end :].lstrip()
            encrypted, _ = eexec.encrypt(plain, _EEXEC)
            clear = _BUILT_IN.sub(b"/Encoding StandardEncoding def", self._clear)
            return clear + encrypted + _ZEROS, (len(clear), len(encrypted), len(_ZEROS))

    def _code(self, glyph: str) -> bytes:
        """Return the instructions of a glyph."""
        from fontTools.misc import eexec

        line = self._strings[glyph]
        entry = _ENTRY.match(line)
        if entry is None:
            raise MalformedRecord(UNREADABLE)
        found: bytes = eexec.decrypt(line[entry.end() : entry.end() + int(entry[2])], _CHARSTRING)[0]
        return found[4:]

    def _parts(self, glyph: str) -> list[str]:
        """Return the glyphs that an accented letter consists of."""
        from fontTools.misc.psCharStrings import T1CharString

        string = T1CharString(self._code(glyph), subrs=[])
        string.decompile()
        if "seac" not in string.program:
            return []
        at = string.program.index("seac")
        standard = names_of("StandardEncoding")
        return [standard[int(code)] for code in string.program[at - 2 : at]]


Program = TrueType | Cff | Type1


def built_in(clear: bytes) -> dict[int, str]:
    """Return the names of the glyphs of codes in a program of Type 1, given the part that is not encrypted."""
    table = _BUILT_IN.search(clear)
    return {int(code): name.decode("latin-1") for code, name in _PUT.findall(table[0])} if table else {}


@cache
def names_of(encoding: str) -> Mapping[int, str]:
    """Return the names of the glyphs of the codes of a standard encoding."""
    from pdfminer.latin_enc import ENCODING

    column = {"StandardEncoding": 1, "MacRomanEncoding": 2, "WinAnsiEncoding": 3, "PDFDocEncoding": 4}.get(encoding)
    if column is None:
        raise MalformedRecord("a font with an unknown encoding. Print the document to a new PDF")
    names = {int(row[column]): row[0] for row in ENCODING if row[column] is not None}  # type: ignore[arg-type]  # it is a number
    return {160: "space", 173: "hyphen", **names} if column == 3 else names


@cache
def _codes_of(encoding: str) -> Mapping[str, int]:
    return {name: code for code, name in names_of(encoding).items()}


@contextmanager
def _reading() -> Iterator[None]:
    """Turn whatever fontTools raises into MalformedRecord. Its messages may quote the document."""
    logging.getLogger("fontTools").setLevel(logging.CRITICAL)
    try:
        yield
    except MalformedRecord:
        raise
    except Exception:  # fontTools has many error classes of its own
        raise MalformedRecord(UNREADABLE) from None


def is_known(name: str) -> bool:
    """Whether the name of a glyph says which character it is, or which letters a ligature stands for."""
    from fontTools.agl import AGL2UV, LEGACY_AGL2UV

    return name in AGL2UV or name in LEGACY_AGL2UV or name == ".notdef"


