"""Take the letters that are no longer shown out of the fonts of a PDF, and number the others by their characters.

Many programs number the glyphs of a font as they come in the document. Such numbers still spell what was removed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from incognote.errors import MalformedRecord
from incognote.formats.pdf.content import ContentReader, PageContent
from incognote.formats.pdf.fonts import Code, PdfFont
from incognote.formats.pdf.glyphs import StreamKey
from incognote.formats.pdf.programs import UNREADABLE, Cff, Program, TrueType, Type1, is_known, names_of
from incognote.formats.pdf.tounicode import unicode_map
from incognote.formats.pdf.values import (
    array,
    decimal,
    dictionary,
    entries,
    is_array,
    is_dictionary,
    is_name,
    is_stream,
    items,
    name,
)

if TYPE_CHECKING:
    from pikepdf import Object, Pdf

_SPACE = b" "  # the code that word spacing widens, so it keeps its number
_PROGRAMS = ("/FontFile", "/FontFile2", "/FontFile3")
_OWN_CODES = "a font with a table of codes of its own. Print the document to a new PDF"


def renumbered(pdf: Pdf) -> int:
    """Rewrite all fonts and the instructions that show text in them. Return how many fonts changed.

    Each glyph keeps its shape, width, place, and characters. `pdf` is changed in place.

    Raises:
        MalformedRecord: a font cannot be rewritten.
    """
    specs = _fonts(pdf)
    reader = ContentReader(pdf)
    shown: dict[PdfFont, dict[bytes, Code]] = {}
    shows: set[StreamKey] = set()
    for number, page in enumerate(pdf.pages, 1):
        for glyph in reader.read(page, number).glyphs:
            shows.add(glyph.show.stream)
            font = glyph.show.state.font
            if font is not None:
                code = glyph.show.codes[glyph.at]
                if code.code == _SPACE and code.text != " " and glyph.show.state.word_space:
                    raise MalformedRecord("word spacing after a letter. Print the document to a new PDF")
                shown.setdefault(font, {})[code.code] = code
    _check_forms(pdf, reader, shows)
    new: dict[PdfFont, dict[bytes, bytes]] = {}
    used = set()
    for font, spec in reader.specs.items():
        if font in shown:
            used.add(spec.objgen)
            new[font] = _Rewriter(pdf, spec, font.wide, len(used)).apply(list(shown[font].values()))
    for spec in specs:
        if spec.objgen not in used:
            _emptied(spec)
    changed = {font: codes for font, codes in new.items() if any(old != now for old, now in codes.items())}
    for number, page in enumerate(pdf.pages, 1):  # read again, because the glyphs of all pages fill the memory
        _rewrite(pdf, page.obj, reader.read(page, number), changed)
    return len(specs)


def _check_forms(pdf: Pdf, reader: ContentReader, shows: Collection[StreamKey]) -> None:
    """Refuse forms with text that have the fonts of whatever shows them.

    Raises:
        MalformedRecord: there is one in several places.
    """
    times = Counter(form for forms in reader.paints.values() for form in set(forms))
    if any(count > 1 and form in shows and "/Resources" not in pdf.get_object(form) for form, count in times.items()):
        raise MalformedRecord("a form with text in the fonts of several pages. Print the document to a new PDF")


def _fonts(pdf: Pdf) -> list[Object]:
    """Return the dictionaries of all fonts of pages, forms, and graphics states, and make them objects of their own."""
    found: dict[tuple[int, int], Object] = {}
    seen: set[tuple[int, int]] = set()
    waiting: list[Any] = [pdf.Root]

    def own(holder: Any, key: Any) -> None:
        if is_dictionary(holder[key]) and not holder[key].is_indirect:
            holder[key] = pdf.make_indirect(holder[key])
        if is_dictionary(holder[key]):
            found[holder[key].objgen] = holder[key]

    while waiting:
        holder = waiting.pop()
        if holder.is_indirect:
            if holder.objgen in seen:
                continue
            seen.add(holder.objgen)
        if is_array(holder):
            waiting += [each for each in holder if is_array(each) or is_dictionary(each) or is_stream(each)]
            continue
        if is_array(holder.get("/Font", None)) and len(holder["/Font"]):
            own(holder["/Font"], 0)
        for key, _ in entries(holder, "/Font"):
            own(holder["/Font"], key)
        for key in sorted(holder.keys()):
            if is_array(holder[key]) or is_dictionary(holder[key]) or is_stream(holder[key]):
                waiting.append(holder[key])
    return [found[key] for key in sorted(found)]


class _Rewriter:
    """Rewrites one font.

    Args:
        spec: its dictionary. wide: whether its codes have two bytes. number: its position among the fonts.
    """

    def __init__(self, pdf: Pdf, spec: Any, wide: bool, number: int) -> None:
        self._pdf, self._spec, self._wide, self._number = pdf, spec, wide, number
        self._inner = items(spec, "/DescendantFonts")[0] if wide else spec
        found = self._inner.get("/FontDescriptor", None)
        self._descriptor: Any = found if is_dictionary(found) else dictionary()
        self._program = next((key for key in _PROGRAMS if is_stream(self._descriptor.get(key, None))), "")

    def apply(self, codes: Sequence[Code]) -> dict[bytes, bytes]:
        """Rewrite the font for the codes that are shown. Return the new code of each."""
        encoding: Any = self._spec.get("/Encoding", None)
        has_names = is_dictionary(encoding) and "/Differences" in encoding
        if not self._program and self._spec.get("/Subtype") != "/Type3" and (self._wide or not has_names):
            return self._pruned(codes)
        if self._wide:
            return self._composite(codes)
        program = self._opened()
        return self._by_code(codes, program) if isinstance(program, TrueType) else self._by_name(codes, program)

    def _opened(self) -> Program | None:
        if not self._program:
            return None
        stream = self._descriptor[self._program]
        data = bytes(stream.read_bytes())
        if self._program == "/FontFile":
            return Type1(data, int(stream.get("/Length1", 0)), int(stream.get("/Length2", 0)))
        if self._program == "/FontFile2" or data[:4] in (b"\0\1\0\0", b"true"):
            return TrueType(data)
        return Cff(data)

    def _composite(self, codes: Sequence[Code]) -> dict[bytes, bytes]:
        """Rewrite a font whose codes have two bytes, which are the numbers of its glyphs."""
        if self._spec.get("/Encoding") != "/Identity-H":
            raise MalformedRecord(_OWN_CODES)
        program = self._opened()
        if not isinstance(program, TrueType | Cff):
            raise MalformedRecord(UNREADABLE)
        places = self._inner.get("/CIDToGIDMap", None)
        table = bytes(places.read_bytes()) if is_stream(places) else None
        glyphs = {}
        for code in codes:
            cid = int.from_bytes(code.code, "big")
            glyph = int.from_bytes(table[2 * cid : 2 * cid + 2], "big") if table is not None else program.glyph(cid)
            glyphs[code] = glyph if 0 <= glyph < program.count else 0
        ordered = self._sorted(codes, lambda code: program.shape(glyphs[code]))
        order = list(dict.fromkeys([0, *(glyphs[code] for code in ordered)]))
        taken = {glyph: at for at, glyph in enumerate(order)}
        data, total = program.subset(order)
        new: dict[bytes, bytes] = {}
        free = total
        used = set()
        for code in ordered:
            number = taken[glyphs[code]]
            if number in used or (number == 0 and code.code != b"\0\0"):
                number, free = free, free + 1
            used.add(number)
            new[code.code] = number.to_bytes(2, "big")
        extra = {int.from_bytes(new[code.code], "big"): taken[glyphs[code]] for code in ordered}
        self._write(program, data)
        if isinstance(program, TrueType):
            self._inner["/CIDToGIDMap"] = name("/Identity")
            if free > total and any(extra[number] for number in range(total, free)):
                table = b"".join(extra.get(number, number).to_bytes(2, "big") for number in range(free))
                self._inner["/CIDToGIDMap"] = self._pdf.make_stream(table)
        elif any(number >= total and at for number, at in extra.items()):
            raise MalformedRecord(UNREADABLE)
        for key in ("/DW", "/W", "/DW2", "/W2"):
            if key in self._inner:
                del self._inner[key]
        widths = sorted((int.from_bytes(new[code.code], "big"), decimal(code.width * 1000)) for code in codes)
        self._inner["/W"] = array([each for at, wide in widths for each in (at, array([wide]))])
        self._spec["/DescendantFonts"] = array([self._pdf.make_indirect(self._inner)])
        self._unicode({new[code.code]: code.text for code in codes})
        return new

    def _by_code(self, codes: Sequence[Code], program: TrueType) -> dict[bytes, bytes]:
        """Rewrite a TrueType font whose codes have one byte. Its table of codes becomes one without an encoding."""
        symbolic = bool(int(self._descriptor.get("/Flags", 4)) & 4)
        names = self._names({} if symbolic else names_of("StandardEncoding"))
        glyphs = {code: program.of_code(code.code[0], names.get(code.code[0]), symbolic=symbolic) for code in codes}
        ordered = self._sorted(codes, lambda code: program.shape(glyphs[code]))
        order = list(dict.fromkeys([0, *(glyphs[code] for code in ordered)]))
        new = _numbers(ordered)
        data, _ = program.subset(order, {new[code.code][0]: order.index(glyphs[code]) for code in ordered})
        self._write(program, data)
        self._descriptor["/Flags"] = int(self._descriptor.get("/Flags", 0)) & ~32 | 4
        if "/Encoding" in self._spec:
            del self._spec["/Encoding"]
        return self._coded(codes, new)

    def _by_name(self, codes: Sequence[Code], program: Program | None) -> dict[bytes, bytes]:
        """Rewrite a font whose codes have one byte and stand for the names of its glyphs."""
        procedures = dict(entries(self._spec, "/CharProcs"))
        names = self._names(program.encoding if isinstance(program, Type1 | Cff) else {})
        own = {code: names.get(code.code[0], ".notdef") for code in codes}

        def shape(code: Code) -> Any:
            if isinstance(program, Type1 | Cff):
                return program.shape(own[code])
            found: Any = procedures.get(f"/{own[code]}")
            return bytes(found.read_bytes()) if is_stream(found) else own[code].encode()

        ordered = self._sorted(codes, shape)
        new = _numbers(ordered)
        order = list(dict.fromkeys(own[code] for code in ordered))
        known = {old: old if is_known(old) else f"g{at}" for at, old in enumerate(order, 1)}
        if isinstance(program, Type1):
            self._write(program, *program.renamed(known))
        elif isinstance(program, Cff):
            self._write(program, program.renamed(known))
        elif procedures:
            known = {old: new for old, new in known.items() if f"/{old}" in procedures}
            self._spec["/CharProcs"] = dictionary({f"/{new}": procedures[f"/{old}"] for old, new in known.items()})
        renamed = {code: known.get(old, ".notdef") for code, old in own.items()}
        by_number = sorted((new[code.code][0], renamed[code]) for code in codes)
        differences = [each for at, glyph in by_number for each in (at, name(f"/{glyph}"))]
        self._spec["/Encoding"] = dictionary({"/Type": name("/Encoding"), "/Differences": array(differences)})
        return self._coded(codes, new)

    def _pruned(self, codes: Sequence[Code]) -> dict[bytes, bytes]:
        """Remove the characters and widths of codes that are no longer shown. The codes stay."""
        same = {code.code: code.code for code in codes}
        if "/ToUnicode" in self._spec:
            self._unicode({code.code: code.text for code in codes})
        if self._wide and not is_name(self._spec.get("/Encoding", None)):
            raise MalformedRecord(_OWN_CODES)
        if self._wide and "/W" in self._inner:
            self._inner = dictionary(dict(self._inner.items()))
            self._spec["/DescendantFonts"] = array([self._pdf.make_indirect(self._inner)])
            widths = sorted((int.from_bytes(code.code, "big"), decimal(code.width * 1000)) for code in codes)
            self._inner["/W"] = array([each for at, wide in widths for each in (at, array([wide]))])
        elif not self._wide:
            self._widths(codes, same)
        return same

    def _sorted(self, codes: Sequence[Code], shape: Callable[[Code], Any]) -> list[Code]:
        """Return codes in the order of their characters. The shape decides between glyphs of the same ones."""
        by_text: dict[tuple[bool, str, float], list[Code]] = {}
        for code in codes:
            by_text.setdefault((not code.text, code.text, code.width), []).append(code)
        return [
            code
            for key in sorted(by_text)
            for code in (by_text[key] if len(by_text[key]) == 1 else sorted(by_text[key], key=shape))
        ]

    def _names(self, own: Mapping[int, str]) -> dict[int, str]:
        """Return the names of the glyphs of codes, by the encoding of the font or `own`, that of its program."""
        encoding: Any = self._spec.get("/Encoding", None)
        base = encoding.get("/BaseEncoding", None) if is_dictionary(encoding) else encoding
        if base is None and not self._program:
            base = "/StandardEncoding"
        names = dict(names_of(str(base)[1:])) if base is not None else dict(own)
        at = 0
        for each in items(encoding, "/Differences") if is_dictionary(encoding) else ():
            if isinstance(each, int):
                at = each
            else:
                names[at] = str(each)[1:]
                at += 1
        return names

    def _write(self, program: Program, data: bytes, lengths: Any = None) -> None:
        """Write the program of the font into a descriptor of its own."""
        stream = self._pdf.make_stream(data)
        if isinstance(program, TrueType):
            key = "/FontFile2"
            stream["/Length1"] = len(data)
        elif isinstance(program, Type1):
            key = "/FontFile"
            for at, length in enumerate(lengths, 1):
                stream[f"/Length{at}"] = length
        else:
            key = "/FontFile3"
            bare = "/CIDFontType0C" if self._wide else "/Type1C"
            stream["/Subtype"] = name(bare if program.around is None else "/OpenType")
        old = dict(self._descriptor.items())
        self._descriptor = self._pdf.make_indirect(dictionary({k: v for k, v in old.items() if k not in _PROGRAMS}))
        self._descriptor[key] = stream
        if self._wide:
            self._inner = dictionary(dict(self._inner.items()))
        self._inner["/FontDescriptor"] = self._descriptor
        self._tag()

    def _tag(self) -> None:
        """Number the prefix of the font's name. Some programs compute it from the letters."""
        number, prefix = self._number, ""
        for _ in range(6):
            number, rest = divmod(number, 26)
            prefix = chr(ord("A") + rest) + prefix
        for holder, key in ((self._spec, "/BaseFont"), (self._inner, "/BaseFont"), (self._descriptor, "/FontName")):
            if key in holder:
                holder[key] = name(f"/{prefix}+{str(holder[key])[1:].rpartition('+')[2]}")

    def _coded(self, codes: Sequence[Code], new: dict[bytes, bytes]) -> dict[bytes, bytes]:
        """Write the widths and the characters of new codes. Return these codes."""
        self._widths(codes, new)
        self._unicode({new[code.code]: code.text for code in codes})
        return new

    def _widths(self, codes: Sequence[Code], new: Mapping[bytes, bytes]) -> None:
        old = items(self._spec, "/Widths")
        if not old:
            return
        first = int(self._spec.get("/FirstChar", 0))
        missing = self._descriptor.get("/MissingWidth", 0)
        wide: dict[int, Any] = {}
        for code in codes:
            at = code.code[0] - first
            wide[new[code.code][0]] = old[at] if 0 <= at < len(old) else missing
        self._spec["/FirstChar"], self._spec["/LastChar"] = min(wide), max(wide)
        self._spec["/Widths"] = array(wide.get(at, 0) for at in range(min(wide), max(wide) + 1))

    def _unicode(self, texts: Mapping[bytes, str]) -> None:
        self._spec["/ToUnicode"] = self._pdf.make_stream(unicode_map(texts))


def _numbers(ordered: Iterable[Code]) -> dict[bytes, bytes]:
    """Return new codes of one byte. Codes of letters and digits come last, so that codes in a row spell no words.

    A space that word spacing can widen keeps its own, and nothing else gets that.
    """
    free = iter([*sorted([*range(1, 32), *range(33, 256)], key=lambda code: bytes([code]).isalnum()), 0, 32])
    return {
        code.code: _SPACE if code.code == _SPACE and code.text == " " else bytes([next(free)]) for code in ordered
    }


def _emptied(spec: Any) -> None:
    """Take everything out of a font that shows no text."""
    for each in (spec, *items(spec, "/DescendantFonts")):
        descriptor = each.get("/FontDescriptor", None)
        if is_dictionary(descriptor):
            each["/FontDescriptor"] = dictionary({k: v for k, v in descriptor.items() if k not in _PROGRAMS})
        if is_stream(each.get("/Encoding", None)):
            each["/Encoding"] = name("/Identity-H")
        elif is_dictionary(each.get("/Encoding", None)):
            del each["/Encoding"]
        for key in ("/CharProcs", "/ToUnicode", "/W", "/W2", "/CIDToGIDMap", "/Widths", "/FirstChar", "/LastChar"):
            if key in each:
                del each[key]


def _rewrite(pdf: Pdf, page: Any, content: PageContent, new: Mapping[PdfFont, Mapping[bytes, bytes]]) -> None:
    """Write the new codes into the streams of a page."""
    import pikepdf

    shows = {}
    for glyph in content.glyphs:
        font = glyph.show.state.font
        if font is not None and font in new:
            shows[glyph.show.stream, glyph.show.index] = new[font], 2 if font.wide else 1
    for key in sorted({stream for stream, _ in shows}):
        instructions = []
        for index, (operator, operands) in enumerate(content.streams[key]):
            known = shows.get((key, index))
            own = list(_recoded(operands, *known)) if known is not None else operands
            if operator == "INLINE IMAGE":
                instructions.append(own[0])
            else:
                instructions.append(pikepdf.ContentStreamInstruction(own, pikepdf.Operator(operator)))
        data = pikepdf.unparse_content_stream(instructions)
        if key == (0, 0):
            page["/Contents"] = pdf.make_stream(data)
        else:
            pdf.get_object(key).write(data)


def _recoded(operands: Iterable[Any], new: Mapping[bytes, bytes], size: int) -> Iterator[Any]:
    """Yield the operands of an instruction that shows text, with new codes."""
    import pikepdf

    for each in operands:
        if isinstance(each, pikepdf.Array):
            yield pikepdf.Array(list(_recoded(each, new, size)))
        elif isinstance(each, pikepdf.String):
            old = bytes(each)
            yield pikepdf.String(b"".join(new[old[at : at + size]] for at in range(0, len(old), size)))
        else:
            yield each
