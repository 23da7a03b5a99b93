"""The second reader of PDF: PDFium for the pages, bookmarks, and fields, and a search of the raw bytes for strings.

It shares no code with the first reader, which uses qpdf and pdfminer.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from threading import RLock
from typing import Any

from incognote.formats.pdf import closed
from incognote.formats.pictures import UncheckedPart
from incognote.formats.registry import second_reading

_ONE = RLock()  # PDFium does not work in several threads; an attached PDF is read within the outer one
_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
_LITERAL = re.compile(rb"\((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)", re.DOTALL)
_HEXADECIMAL = re.compile(rb"(?<!<)<([0-9A-Fa-f\s]{4,})>(?!>)")
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|\r?\n|.)", re.DOTALL)
_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"", b"f": b"\n"}
_DIVIDED = re.compile(r"(?<=[^\W\d_]{2})(?<!ty)(?:[-\xad]\s*[\r\n]+|[\ufffe\x02]\s*)(?=[a-zß-öø-ÿ])")
_PROGRAMS = (b"\0\1\0\0", b"true", b"OTTO", b"%!PS-Adobe", b"%!FontType", b"\1\0\4")
"""How the programs of fonts begin."""
_PRINTABLE = bytes([*b"\t\n\f\r", *range(32, 127)])
_RUN = re.compile(rb"[ -~]{8,}")
_LETTERS = re.compile(rb"<((?:[0-9A-Fa-f]{4}){4,})>")
_PICTURE = re.compile(rb"\bBI\s.*?\bID\s.*?\sEI\b", re.DOTALL)
_SCANNED = (["DCTDecode"], ["CCITTFaxDecode"])  # the filters of pictures
_SCALE, _MOST_PIXELS = 200 / 72, 6000  # of the picture of a page
_DATA = 0.3  # the share of bytes of a stream of data that are no characters
_HEAD = 1000  # the most bytes of the dictionary of a stream
_COMMENT = re.compile(rb"%[^\r\n]*")
_NAME = re.compile(rb"/([^\s<>()\[\]{}/%]{3,})")
_ID = re.compile(rb"/ID\s*\[\s*<[^>]*>\s*<[^>]*>\s*\]")


def texts(data: bytes) -> Iterator[str]:
    """Yield the text of every page as PDFium reads it, then other strings.

    Raises:
        Exception: the file cannot be read.
    """
    import pypdfium2

    with _ONE:
        pdf = pypdfium2.PdfDocument(data)
        try:
            for number, page in enumerate(pdf, 1):
                yield from _shown(page, number)
            yield from _besides(pdf)
        finally:
            pdf.close()
    yield from _strings(data)


def beside_pictures(data: bytes, words: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield all strings of a file whose pages are pictures, except their invisible text if it is as expected.

    Args:
        words: those that the invisible text of each page must have.

    Raises:
        Exception: the file cannot be read.
    """
    import pypdfium2

    with _ONE:
        pdf = pypdfium2.PdfDocument(data)
        try:
            for number, (page, expected) in enumerate(zip(pdf, words, strict=True), 1):
                found = page.get_textpage().get_text_range()
                if not _is_picture(page) or not _is_of(found, "".join(expected)):
                    yield found
                    yield UncheckedPart(f"page {number} has other text than expected. Look at it before you release it")
            yield from _besides(pdf)
        finally:
            pdf.close()
    yield from _strings(data)


def _is_of(found: str, expected: str) -> bool:
    """Whether a text has nothing else than another one without white space.

    PDFium leaves out letters that lie on the same ones, and joins a word that is divided at the end of a line.
    """
    words = re.split(r"[\s\ufffe\x02]+", found)
    return all(word in expected for word in words) and Counter("".join(words)) <= Counter(expected)


def _shown(page: Any, number: int) -> Iterator[str]:
    pictures = page.get_objects(filter=(_kinds().FPDF_PAGEOBJ_IMAGE,), max_depth=1)
    shown = any(picture.get_px_size() > (1, 1) for picture in pictures)
    if shown and (not page.get_textpage().count_chars() or _is_picture(page)):
        yield from _seen(page)
    elif shown:
        yield UncheckedPart(f"page {number} is a picture that no reader checked. Look at it before you release it")
    yield _joined(page.get_textpage().get_text_bounded())
    yield _joined(page.get_textpage().get_text_range())


def _besides(pdf: Any) -> Iterator[str]:
    """Yield bookmarks, properties, and attached files."""
    for bookmark in pdf.get_toc(max_depth=50):
        yield bookmark.get_title()
    yield from (value for value in pdf.get_metadata_dict().values() if not _is_kept(value))
    for number in range(pdf.count_attachments()):
        attachment = pdf.get_attachment(number)
        yield re.sub(r"attachment\d+\.\w+", "", attachment.get_name())
        yield from second_reading(bytes(attachment.get_data()))


def _is_picture(page: Any) -> bool:
    """Whether a page shows one picture that is compressed as scans are, and its text is invisible."""
    kinds = _kinds()
    shown = list(page.get_objects(max_depth=15))
    pictures = [each for each in shown if each.type == kinds.FPDF_PAGEOBJ_IMAGE]
    texts = [each for each in shown if each.type == kinds.FPDF_PAGEOBJ_TEXT]
    invisible = (kinds.FPDFTextObj_GetTextRenderMode(each.raw) == kinds.FPDF_TEXTRENDERMODE_INVISIBLE for each in texts)
    only = len(pictures) == 1 and len(shown) == 1 + len(texts) and not kinds.FPDFPage_GetAnnotCount(page.raw)
    return only and pictures[0].get_filters() in _SCANNED and all(invisible)


def _kinds() -> Any:
    from pypdfium2 import raw

    return raw


def _seen(page: Any) -> Iterator[str]:
    """Yield what OCR reads on a page that is only a picture."""
    from incognote.formats.images.second import text_of

    wide = max(page.get_size())
    yield text_of(page.render(scale=min(_SCALE, _MOST_PIXELS / wide)).to_numpy())


def _joined(text: str) -> str:
    """Return a page's text, with words that are divided at the end of a line in one piece."""
    whole = _DIVIDED.sub("", text)
    return whole.replace("\ufffe", "-").replace("\x02", "-")


def _strings(data: bytes) -> Iterator[str]:
    """Yield the strings outside streams, and all plain characters of streams without known content."""
    outside = _ID.sub(b" ", _STREAM.sub(b" ", data))
    found = [_ESCAPE.sub(_unescaped, literal[1:-1]) for literal in _LITERAL.findall(outside)]
    for digits in _HEXADECIMAL.findall(outside):
        plain = b"".join(digits.split())
        found.append(bytes.fromhex(plain[: len(plain) // 2 * 2].decode()))
    yield from (text for text in map(_decoded, found) if not _is_kept(text))
    for stream in _STREAM.finditer(data):
        head = data[max(stream.start() - _HEAD, 0) : stream.start()].rpartition(b" obj")[2]
        # the reader of its format reads an attached file; a picture of an output is a gray point or goes to review
        if b"/EmbeddedFile" not in head and b"/Subtype /Image" not in head:
            yield from _in_stream(head, _plain(stream[1]))


def _plain(body: bytes) -> bytes:
    """Return a stream as it is when it is unpacked."""
    try:
        return zlib.decompressobj().decompress(body)
    except zlib.error:
        return body


def _in_stream(head: bytes, plain: bytes) -> Iterator[str]:
    """Yield what a stream has beside the text of a page: metadata, comments, names, and characters in other data.

    The programs of fonts are left out, because random bytes in them look like words.

    Args:
        head: the dictionary of the stream.
    """
    if any(mark in plain[:4096] for mark in (b"<x:xmpmeta", b"<?xpacket")):
        yield plain.decode("utf-8", "replace")
    elif plain.startswith(_PROGRAMS):
        return
    elif b"/FunctionType" in head or b"/ShadingType" in head or _is_data(_PICTURE.sub(b"", plain)):
        yield from (run.decode() for run in _RUN.findall(plain))
    else:
        letters = _LETTERS.findall(plain) if b"begincmap" in plain else ()
        yield from (bytes.fromhex(each.decode()).decode("utf-16-be", "replace") for each in letters)
        left = _HEXADECIMAL.sub(b" ", _LITERAL.sub(b" ", _PICTURE.sub(b" ", plain)))
        yield from (found.decode("latin-1") for found in _COMMENT.findall(left))
        names = (found.decode("latin-1") for found in _NAME.findall(_COMMENT.sub(b" ", left)))
        yield from (each for each in names if not _is_listed(each))


def _is_data(plain: bytes) -> bool:
    """Whether the bytes of a stream are no text, such as the colors of a shading."""
    return len(plain.translate(None, _PRINTABLE)) > _DATA * len(plain)


def _is_listed(word: str) -> bool:
    """Whether a name in a stream is one that every document may keep."""
    named = f"/{word}" in closed.values() | closed.names("tags") | closed.all_keys() or word in closed.words("maps")
    return named or closed.is_resource(word) or word == "Adobe-Identity-UCS"


def _is_kept(text: str) -> bool:
    """Whether every document may keep a string: the name of a program, a language, or a name that we gave."""
    forms = (closed.APPEARANCE, closed.LANGUAGE, closed.NAME)
    return closed.is_program(text) or any(form.fullmatch(text) for form in forms)


def _unescaped(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    if code[:1].isdigit():
        return bytes([int(code, 8) & 255])
    return _ESCAPES.get(code, b"" if code in (b"\n", b"\r\n") else code)


def _decoded(value: bytes) -> str:
    if value.startswith(b"\xfe\xff"):
        return value[2:].decode("utf-16-be", "replace")
    if value.startswith(b"\xff\xfe"):
        return value[2:].decode("utf-16-le", "replace")
    text = value.decode("latin-1")
    return text if sum(c.isprintable() or c.isspace() for c in text) > 0.7 * len(text) else ""
