"""Identify container formats by content: PDF, RTF, HTML, HL7 v2, C-CDA, office files, images, and so on.

This module does not read the formats. It names them, so that the caller can reject a format without a reader. Plain
text, JSON, JSON lines and delimited tables are not containers. A format counts only if it is the whole content, after
white space, a byte order mark, invisible characters and comments. A note that mentions a tag, contains one HTML table,
or quotes one line of an HL7 message is still a note. The structure decides, never a single keyword.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import json
import re
from collections.abc import Callable
from email import message_from_string

from incognote.text.signatures import HEAD, of_magic

_SYSTEM = frozenset(("__macosx", "thumbs.db", "desktop.ini"))
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"),
          (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))  # fmt: skip
_UTF_16 = ((re.compile(rb"(?:[\t\n\r\x20-\x7e]\x00){8}"), "utf-16-le"),
           (re.compile(rb"(?:\x00[\t\n\r\x20-\x7e]){8}"), "utf-16-be"))  # fmt: skip
# Control characters except tab and line breaks, and Unicode's default ignorable code points
# (DerivedCoreProperties.txt).
_INVISIBLE = (
    "\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
_UNSEEN = re.compile(f"[{_INVISIBLE}]+")
_LEADING = re.compile(rf"(?:[\s{_INVISIBLE}]++|<!--(?:(?!-->).)*+-->)*+", re.DOTALL)  # ++: in constant memory
_LINE = re.compile(r"[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")

_STARTS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"%PDF-\d\.\d[ \t]*(?:[\n\r%]|\d+ \d+ obj|\Z)"), "PDF"),
    (re.compile(r"%!PS"), "PostScript"),
    (re.compile(r"\{\s*\\u?rtf(?:\d|[\\\s{])"), "RTF"),
    (re.compile(r"ISA([^\w\s])\d\d\1.{10}\1\d\d\1.{10}\1"), "X12 interchange"),
    (re.compile(r"UNA:\+[.,]\? ?'|UNB\+UNO[A-Z]:\d\+"), "EDIFACT interchange"),
    (re.compile(r"(?:\d?)H\|\\\^&\|"), "ASTM message"),
    (re.compile(r"BEGIN:VCARD\s", re.IGNORECASE), "vCard"),
    (re.compile(r"BEGIN:VCALENDAR\s", re.IGNORECASE), "iCalendar"),
    (re.compile(r"-----BEGIN [A-Z0-9 ]{3,40}-----"), "PEM or PGP block"),
    (re.compile(r"begin(?:-base64)? [0-7]{3,4} [^\n]{1,255}\n\S{1,80}\s*\n"), "uuencoded file"),
    (re.compile(r"\(This file must be converted with BinHex"), "BinHex file"),
    (re.compile(r"\\documentclass\s*[\[{]"), "LaTeX"),
    (re.compile(r"-- (?:MySQL|MariaDB|PostgreSQL)(?: database)? dump", re.IGNORECASE), "SQL dump"),
)
_EMBEDDED_PDF = re.compile(r"^%PDF-\d\.\d\s*$", re.MULTILINE)
_HL7 = re.compile(r"(?:MSH|FHS|BHS)([^\w\s])[^\w\s]{2,5}\1")
_SEGMENT = re.compile(r"[A-Z][A-Z0-9]{2}(?:[|^#]|$)")

_DECLARATION = re.compile(r"<\?xml[\s?]", re.IGNORECASE)
_PROLOG = re.compile(
    r"(?:\s|<\?[^>]*>|<!--(?:(?!-->).)*-->|<!DOCTYPE(?:[^\[>]|\[[^\]]*\])*>)*", re.DOTALL | re.IGNORECASE
)
_DOCTYPE = re.compile(r"<!DOCTYPE\s+([\w:.-]+)([^>\[]*)", re.IGNORECASE)
_TAG = re.compile(r"<(?P<close>/)?(?P<name>[A-Za-z_][\w:.\-]*)(?P<rest>[^<>]*)>")
_NO_TEXT = re.compile(r"(?:\s|<!--(?:(?!-->).)*-->|<!(?!--)[^<>]*>|<\?[^<>]*>|&nbsp;)*", re.DOTALL)
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_INLINE = frozenset(
    "a abbr acronym b bdi bdo big br cite code data del dfn em font hr i img input ins kbd label mark q s samp small "
    "span strike strong sub sup time tt u var wbr".split()
)
_BLOCK = frozenset(
    "address article aside blockquote body center dd details div dl dt fieldset figure footer form frameset h1 h2 h3 "
    "h4 h5 h6 head header html iframe li link main meta nav ol p pre script section style table tbody td tfoot th "
    "thead title tr ul".split()
)
_ROOTS = {"html": "HTML", "head": "HTML", "body": "HTML", "svg": "SVG", "clinicaldocument": "C-CDA"}
_NAMESPACES = (
    ("http://www.w3.org/1999/xhtml", "XHTML"), ("http://www.w3.org/2000/svg", "SVG"),
    ("http://hl7.org/fhir", "FHIR XML"), ("urn:hl7-org:v3", "HL7 v3 XML"),
    ("urn:oasis:names:tc:opendocument", "ODF in XML"), ("schemas-microsoft-com:office", "Office XML"),
    ("schemas.microsoft.com/office", "Office XML"),
)  # fmt: skip

_HEADER = re.compile(r"[!-9;-~]+:")
_MIME = ("content-type:", "mime-version:", "content-transfer-encoding:")
_READABLE_PART = ("7bit", "8bit", "binary", "quoted-printable", "")

_DATA_URI = re.compile(r"data:[\w/+.\-]*(?:;[\w=.\-]+)*;base64,", re.IGNORECASE)
_LEAST = 16  # minimum length of an encoded signature
_SAMPLE = 1200  # characters that are decoded first
_MOST = 2**22  # maximum number of decoded characters: in a ZIP or OLE file, names may be far from the beginning
_BASE64 = re.compile(r"[A-Za-z0-9+/_\-]+={0,2}")
_HEX = re.compile(r"[0-9A-Fa-f]+")
_ASCII85 = re.compile(r"[!-uz]+(?:~>)?")


def is_hidden(name: str) -> bool:
    """Whether a file or folder is one of programs and operating systems: `.git`, `~$letter.docx`, `Thumbs.db`."""
    return name.startswith((".", "~$")) or name.lower() in _SYSTEM


def of_bytes(data: bytes) -> str | None:
    """Return the container format of bytes, or None for plain text, JSON, tables and unknown formats.

    Args:
        data: all bytes, or at least the first 8 KiB. Formats that are recognized by their end need all bytes.
    """
    found = of_magic(data)
    if found is not None:
        return found
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return of_text(data[len(mark) :].decode(encoding, "replace"))
    for shape, encoding in _UTF_16:
        if shape.match(data):
            return of_text(data.decode(encoding, "replace"))
    try:
        return of_text(data.decode())
    except UnicodeDecodeError:
        return of_text(data.decode("latin-1"))


def of_text(text: str) -> str | None:
    """Return the container format of a text, or None for plain text, JSON, tables and unknown formats."""
    start = _LEADING.match(text)
    assert start is not None  # the pattern also matches the empty string
    begin = start.end()
    if begin == len(text):
        return None
    head = _UNSEEN.sub("", text[begin : begin + HEAD])
    for pattern, name in _STARTS:
        if pattern.match(head):
            return name
    if head[0] == "<":
        return _markup(text, begin, head) or _encoded(text, begin, head)
    if head.startswith("&lt;"):
        return _markup(*_again(html.unescape(text[begin:])))
    if _HL7.match(head):
        return _hl7(text[begin:])
    if _EMBEDDED_PDF.search(head, 0, 1024) and " obj" in text:
        return "PDF"
    return _mime(text, begin, head) or _encoded(text, begin, head)


def of_records(text: str) -> str | None:
    """Return `JSON` or `JSON lines` if the whole text is objects or a list of objects, else None."""
    stripped = text.lstrip("\ufeff").strip()
    if not stripped.startswith(("{", "[")) or not stripped.endswith(("}", "]")):
        return None
    parsed = _parsed(stripped)
    if isinstance(parsed, dict) or (isinstance(parsed, list) and parsed and isinstance(parsed[0], dict)):
        return "JSON"
    lines = [line for line in stripped.split("\n", 3)[:3] if line.strip()]
    if len(lines) > 1 and all(isinstance(_parsed(line), dict) for line in lines[:2]):
        return "JSON lines"
    return None


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _again(text: str) -> tuple[str, int, str]:
    return text, 0, _UNSEEN.sub("", text[:HEAD])


def _hl7(text: str) -> str | None:
    """Recognize a message by its header, alone or followed by another segment. A header above prose is a quotation."""
    lines = [line for line in (_UNSEEN.sub("", piece).strip() for piece in _LINE.split(text, 8)[:8]) if line]
    return "HL7 v2 message" if len(lines) == 1 or _SEGMENT.match(lines[1]) else None


def _markup(text: str, begin: int, head: str) -> str | None:
    """Recognize an XML or HTML document, or elements with no text outside them.

    An opening tag of inline HTML (<b>, <span>) does not begin a document, and a placeholder (<name>) is never closed.
    """
    prolog = _PROLOG.match(head)
    root = _TAG.match(head, prolog.end() if prolog else 0)
    doctype = _DOCTYPE.search(head[: prolog.end() if prolog else 0])
    name = root["name"] if root else ""
    local = name.rpartition(":")[2].lower()
    declared = _DECLARATION.match(head) is not None
    if doctype and doctype[1].lower() == "html":
        return "XHTML" if "xhtml" in doctype[2].lower() else "HTML"
    if declared or doctype or local in _ROOTS:
        spaces = root["rest"] if root else ""
        found = _ROOTS.get(local) or next((what for space, what in _NAMESPACES if space in spaces), "XML")
        return "XHTML" if found == "HTML" and (declared or _NAMESPACES[0][0] in spaces) else found
    if root is None or local in _INLINE:
        return None
    covered = _covered(_UNSEEN.sub("", text[begin:]), is_html=local in _BLOCK)
    if not covered:
        return None
    return "HTML" if local in _BLOCK else next((what for space, what in _NAMESPACES if space in root["rest"]), "XML")


def _covered(text: str, *, is_html: bool) -> bool:
    """Whether all words of a text are between tags. XML tags must be closed, HTML tags may be left open."""
    depth = at = closed = 0
    for tag in _TAG.finditer(text):
        if depth <= 0 and not _NO_TEXT.fullmatch(text, at, tag.start()):
            return False
        at = tag.end()
        if tag["close"]:
            depth, closed = depth - 1, closed + 1
        elif tag["rest"].endswith("/"):
            closed += 1
        elif not (is_html and tag["name"].lower() in _VOID):
            depth += 1
    if not closed:
        return False
    if is_html:
        return depth > 0 or bool(_NO_TEXT.fullmatch(text, at))
    return depth == 0 and bool(_NO_TEXT.fullmatch(text, at))


def _mime(text: str, begin: int, head: str) -> str | None:
    """Recognize an e-mail, or parts of one, if not all of its parts are plain text."""
    low = head.lower()  # ten times as fast as a case-insensitive pattern
    if not any(name in low for name in _MIME):
        return None
    source = _UNSEEN.sub("", text[begin:])
    if source.startswith("--"):
        boundary, _, source = source.partition("\n")
        if not source.lower().startswith(_MIME):
            return None
        source = f'Content-Type: multipart/mixed; boundary="{boundary.strip()[2:]}"\n\n{boundary}\n{source}'
    elif source.startswith("From "):
        source = source.partition("\n")[2]
    block: list[str] = []
    for line in source.splitlines():
        if not line.strip():
            break
        if not _HEADER.match(line) and not (block and line[0] in " \t"):
            return None
        block.append(line)
    if not any(line.lower().startswith(_MIME) for line in block):
        return None
    parts = [part for part in message_from_string(source).walk() if not part.is_multipart()]
    plain = all(
        part.get_content_type() == "text/plain"
        and str(part.get("content-transfer-encoding", "")).strip().lower() in _READABLE_PART
        for part in parts
    )
    return None if plain else "MIME message"


def _encoded(text: str, begin: int, head: str) -> str | None:
    """Recognize a container encoded in base64, hexadecimal digits or ASCII85, with no other text."""
    uri = _DATA_URI.match(head)
    if uri is None and len(head) < _LEAST:
        return None
    if head.startswith("<~"):
        return _decoded(text[begin + 2 :], _ASCII85, _ascii85, "ASCII85")
    if uri is None and " " in head[: 2 * _LEAST].rstrip():
        return None
    body = text[begin:] if uri is None else text[text.index(",", begin) + 1 :]
    return (
        _decoded(body, _HEX, _hexadecimal, "hexadecimal digits")
        or _decoded(body, _BASE64, _base64, "base64")
        or _decoded(body, _ASCII85, _ascii85, "ASCII85")
    )


def _decoded(text: str, alphabet: re.Pattern[str], decode: Callable[[str], bytes], encoding: str) -> str | None:
    """Return the name of the container that a whole text encodes, or None, also for encoded plain text."""
    head = "".join(_UNSEEN.sub("", text[:_SAMPLE]).split())
    if not alphabet.fullmatch(head):
        return None
    # Any prose is valid ASCII85 and decodes to random bytes, so only a byte signature counts there.
    known = of_magic if encoding == "ASCII85" else of_bytes
    try:
        if known(decode(head)) is None:
            return None
        whole = "".join(_UNSEEN.sub("", text).split())
        found = known(decode(whole[:_MOST])) if alphabet.fullmatch(whole) else None
    except (ValueError, binascii.Error):
        return None
    return f"{found} in {encoding}" if found else None


def _hexadecimal(text: str) -> bytes:
    return bytes.fromhex(text[: len(text) - len(text) % 2])


def _base64(text: str) -> bytes:
    text = text.rstrip("=").translate({45: 43, 95: 47})
    whole = text[: len(text) - len(text) % 4]
    return base64.b64decode(whole, validate=True)


def _ascii85(text: str) -> bytes:
    text = text.removesuffix("~>")
    return base64.a85decode(text[: len(text) - len(text) % 5] if "z" not in text else text)
