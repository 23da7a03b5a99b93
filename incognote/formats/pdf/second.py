"""The second reader of PDF: PDFium for the pages, bookmarks, and fields, and a search of the raw bytes for strings.

It shares no code with the first reader, which uses qpdf and pdfminer.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from threading import RLock
from typing import Any

from incognote.formats.pdf import closed
from incognote.formats.registry import second_reading

_ONE = RLock()  # PDFium does not work in several threads; an attached PDF is read within the outer one
_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
_LITERAL = re.compile(rb"\((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)", re.DOTALL)
_HEXADECIMAL = re.compile(rb"(?<!<)<([0-9A-Fa-f\s]{4,})>(?!>)")
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|\r?\n|.)", re.DOTALL)
_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"", b"f": b"\n"}
_DIVIDED = re.compile(r"(?<=[^\W\d_]{2})(?<!ty)(?:[-\xad]\s*[\r\n]+|[\ufffe\x02]\s*)(?=[a-zß-öø-ÿ])")
_ID = re.compile(rb"/ID\s*\[\s*<[^>]*>\s*<[^>]*>\s*\]")


def texts(data: bytes) -> Iterator[str]:
    """Yield the text of every page as PDFium reads it, then other strings.

    Raises:
        Exception: the file cannot be read.
    """
    import pypdfium2

    with _ONE:
        yield from _shown(pypdfium2.PdfDocument(data))
    yield from _strings(data)


def _shown(pdf: Any) -> Iterator[str]:
    try:
        for page in pdf:
            yield _joined(page.get_textpage().get_text_bounded())
            yield _joined(page.get_textpage().get_text_range())
        for bookmark in pdf.get_toc(max_depth=50):
            yield bookmark.get_title()
        yield from (value for value in pdf.get_metadata_dict().values() if not _is_kept(value))
        for number in range(pdf.count_attachments()):
            attachment = pdf.get_attachment(number)
            yield re.sub(r"attachment\d+\.\w+", "", attachment.get_name())
            yield from second_reading(bytes(attachment.get_data()))
    finally:
        pdf.close()


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
    for start in re.finditer(rb"<x:xmpmeta|<\?xpacket", data):
        yield data[start.start() : start.start() + 65536].decode("utf-8", "replace")
    for body in _STREAM.findall(data):
        try:
            plain = zlib.decompress(body)
        except zlib.error:
            continue
        if b"<x:xmpmeta" in plain[:4096] or b"<?xpacket" in plain[:4096]:
            yield plain.decode("utf-8", "replace")


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
