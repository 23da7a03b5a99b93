"""The limits of the try page, and the images and scans that it reads."""

from __future__ import annotations

import base64
import binascii
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

from incognote.errors import IncognoteError, RecordProblem, UsageError
from incognote.formats.base import Document, texts_of
from incognote.formats.images import FORMATS
from incognote.formats.images.document import ImageDocument
from incognote.formats.pictures import PagedDocument, has_pixels
from incognote.formats.registry import name_of, of_content
from incognote.service.api.problems import Refused
from incognote.service.api.reviewmarks import output_page

if TYPE_CHECKING:
    from incognote.agents.engine import Engine
    from incognote.agents.item import Item

MOST_BYTES = 200_000
"""The limit of one request. The encoder reads about 7,000 characters per second on one core, and a person waits."""
MOST_PAGE_BYTES = 2_000_000
"""The same for an image or a PDF file."""
MOST_PAGES = 3
"""Pages of an image or a scan. OCR takes seconds for each."""
_PAGED = frozenset(("pdf", *(form.name for form in FORMATS)))


def bytes_of(text: str | None, file: str | None, suffix: str) -> bytes:
    """Return the note or file.

    Raises:
        UsageError: neither or both are given, or it is not base64.
        Refused: it is too large (413), or compressed (415).
    """
    if (text is None) == (file is None):
        raise UsageError("send either text or file")
    try:
        data = text.encode() if text is not None else base64.b64decode(file or "", validate=True)
    except UnicodeEncodeError:
        raise UsageError("text holds half of a character (a lone surrogate): copy the note again") from None
    except binascii.Error:
        raise UsageError("file must be base64") from None
    kind = name_of(suffix.lower()) if suffix else of_content(data[:8192]).name
    most = MOST_PAGE_BYTES if kind in _PAGED else MOST_BYTES
    if len(data) > most:
        raise Refused(413, f"this page reads up to {most:,} bytes: for larger files use `incognote deid FILE`")
    if suffix.lower().endswith(".gz"):
        raise Refused(415, "the file is compressed: decompress it, or use `incognote deid FILE`")
    return data


def with_pages(item: Item, engine: Engine) -> Item:
    """Return an item with its pages read, if it or a document within it consists of pixels. They are read only once.

    Raises:
        Refused: an image or a scan has too many pages, or the text is too long (413).
    """
    if not isinstance(item.content, bytes) and not item.is_record:
        return item
    try:
        with engine.opening():
            _, document = item.open(lambda: engine.registry, engine.settings.data_type)
            pages = len(document.file) if isinstance(document, ImageDocument) else 0
            size = sum(map(len, texts_of(document))) if document is not None and pages <= MOST_PAGES else 0
    except (IncognoteError, RecursionError):  # the machine gives the reason
        return item
    if pages > MOST_PAGES:
        raise Refused(413, f"this page reads up to {MOST_PAGES} pages of a scan: use `incognote deid FILE`")
    if size > MOST_BYTES:
        raise Refused(413, f"this page reads up to {MOST_BYTES:,} characters: use `incognote deid FILE`")
    return replace(item, opened=document) if document is not None and has_pixels(document) else item


def released_pages(document: Document | None, output: str | bytes) -> list[str]:
    """Return the pages of a released document as PNG files in Base64. Of other documents there are none."""
    if not isinstance(document, PagedDocument) or not isinstance(output, bytes):
        return []
    try:
        return [output_page(document, output, n).png for n in range(1, min(len(document.pages), MOST_PAGES) + 1)]
    except (OSError, ValueError, subprocess.SubprocessError, RecordProblem):
        return []
