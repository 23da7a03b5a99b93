"""What is derived from redacted pages: their text, hOCR, and a searchable PDF.

All of it consists of the words that stay visible and of the words that replace others. The rest of a word that is
replaced in part can be covered, too, so it is left out, except for punctuation.

hOCR: Breuel, "The hOCR Embedded OCR Workflow and Output Format", version 1.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from importlib.util import find_spec
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from incognote.errors import MissingExtra
from incognote.formats.base import Change
from incognote.formats.images.document import BODY, ImageDocument
from incognote.formats.images.page import union
from incognote.nouns import DerivedKind
from incognote.pages.nouns import Word

if TYPE_CHECKING:
    from incognote.formats.base import Document
    from incognote.formats.images.files import PageImage
    from incognote.formats.images.page import ReadPage

REPLACED = "replaced"
"""The source of a word that replaces others."""
_PDF: Literal["pdf"] = "pdf"
_FULL_TURN = 360
_POINTS = 72.0
_MOST_POINTS = 14_400  # of a side of a page of a PDF file
_HEAD = """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml">
<head>
<title></title>
<meta http-equiv="Content-Type" content="text/html; charset=utf-8"/>
<meta name="ocr-system" content="incognote"/>
<meta name="ocr-capabilities" content="ocr_page ocr_line ocrx_word"/>
</head>
<body>
"""


@dataclass(frozen=True, slots=True)
class VisiblePage:
    """What is visible on a redacted page.

    Args:
        text: its lines, with new words in place.
        words: in reading order. Those with the source `REPLACED` replace others.
        size: width and height in pixels.
    """

    text: str = field(repr=False)
    words: tuple[Word, ...] = field(repr=False)
    size: tuple[int, int]


@dataclass(frozen=True, slots=True)
class VisiblePages:
    """What is visible on the pages of an output.

    Args:
        form: the name of the format of the output.
    """

    pages: tuple[VisiblePage, ...]
    form: str

    @property
    def kinds(self) -> tuple[DerivedKind, ...]:
        return ("text", "hocr", _PDF)

    def derived(self, kind: DerivedKind, output: bytes) -> str | bytes:
        if kind == "text":
            return "\f".join(f"{page.text}\n" if page.text else "" for page in self.pages)
        if kind == "hocr":
            return _hocr(self.pages)
        return output if self.form == _PDF else _pdf(self.pages, output)


def visible_pages(
    document: Document | None, form: str, changes: Mapping[str, Sequence[Change]]
) -> VisiblePages | None:
    """Return what is visible on the pages of an output, or None if the document is not read from pixels.

    Args:
        form: the name of the format.
        changes: of the texts of the document, by field.
    """
    if not isinstance(document, ImageDocument):
        return None
    own = changes.get(BODY, ())
    pages = [_visible(*each) for each in document.redacted({BODY: own})]
    for region, (start, end, _) in zip(document.regions, document.marks, strict=True):
        page = pages[region.page - 1]
        box = region.x0, region.y0, region.x1, region.y1
        new = [Word(words, box, 1.0, -1 - start, 0, REPLACED) for a, b, words in own if a < end and start < b and words]
        text = "\n".join(filter(None, (page.text, *(word.text for word in new))))
        pages[region.page - 1] = replace(page, text=text, words=(*page.words, *new))
    return VisiblePages(tuple(pages), form)


def _visible(page: ReadPage, changes: Sequence[Change], left: Iterable[Word]) -> VisiblePage:
    """Return what is visible on a page.

    Args:
        left: the words that are not covered.
    """
    gone, new = bytearray(len(page.text)), {start: words for start, _, words in changes}
    changed = bytearray(len(page.text))
    for start, end, _ in changes:
        changed[start:end] = b"\1" * (end - start)
    not_covered = set(left)
    stays: list[tuple[int, Word]] = []
    for each in page.words:
        touched = any(changed[each.start : each.end])
        if each.word in not_covered and not touched:
            stays.append((each.start, each.word))
        elif touched:
            _hide_rest(page.text, each.start, each.end, changed, gone)
        else:
            end = next((at for at in range(each.end, len(page.text)) if page.text[at] != " "), len(page.text))
            gone[each.start : end] = b"\1" * (end - each.start)
    for at, _ in page.marks:
        gone[at] = 1
    text = "".join(
        new.get(at, "") + ("" if hidden or other else letter)
        for at, (letter, hidden, other) in enumerate(zip(page.text, gone, changed, strict=True))
    )
    lines = filter(None, (line.strip() for line in text.split("\n")))
    written = [word for change in changes for word in _written(page, change)]
    words = tuple(word for _, word in sorted([*stays, *written], key=lambda each: each[0]))
    return VisiblePage("\n".join(lines), words, page.size)


def _hide_rest(text: str, start: int, end: int, changed: bytearray, gone: bytearray) -> None:
    """Hide the stretches of a word that are not changed, except for punctuation."""
    for is_changed, stretch in groupby(range(start, end), lambda at: changed[at]):
        rest = list(stretch)
        if not is_changed and any(text[at].isalnum() for at in rest):
            gone[rest[0] : rest[-1] + 1] = b"\1" * len(rest)


def _written(page: ReadPage, change: Change) -> Iterator[tuple[int, Word]]:
    """Yield the new words of a change as one word at the place where they are drawn, with its position in the text."""
    start, end, _ = change
    for cover in page.covers([change]):
        if words := " ".join(cover.words.split()):
            left, top, right, bottom = cover.box
            under = (
                each for each in page.words
                if each.start < end and start < each.end
                and left <= each.word.box[0] and each.word.box[2] <= right
                and top <= each.word.box[1] and each.word.box[3] <= bottom
            )  # fmt: skip
            first = next(under, None)
            if first is None:  # a region without words
                yield start, Word(words, cover.box, 1.0, -1 - start, 0, REPLACED)
            else:
                yield first.start, Word(words, cover.box, 1.0, first.word.line, first.word.turn, REPLACED)


def _hocr(pages: Sequence[VisiblePage]) -> str:
    pieces = [_HEAD]
    for number, page in enumerate(pages, 1):
        wide, high = page.size
        title = f"bbox 0 0 {wide} {high}; ppageno {number - 1}"
        pieces.append(f'<div class="ocr_page" id="page_{number}" title="{title}">\n')
        for at, (_, line) in enumerate(groupby(page.words, lambda word: (word.line, word.turn)), 1):
            pieces.append(_hocr_line(list(line), f"{number}_{at}"))
        pieces.append("</div>\n")
    return "".join((*pieces, "</body>\n</html>\n"))


def _hocr_line(words: Sequence[Word], number: str) -> str:
    turn = words[0].turn
    angle = f"; textangle {_FULL_TURN - turn}" if turn else ""  # it counts counterclockwise
    inner = " ".join(_hocr_word(word, f"{number}_{at}") for at, word in enumerate(words, 1))
    title = _bbox(union(word.box for word in words)) + angle
    return f'<span class="ocr_line" id="line_{number}" title="{title}">{inner}</span>\n'


def _hocr_word(word: Word, number: str) -> str:
    text = escape("".join(letter for letter in word.text if letter.isprintable()))
    if word.source == REPLACED:
        text = f'<span class="{REPLACED}">{text}</span>'
    title = f"{_bbox(word.box)}; x_wconf {round(100 * word.confidence)}"
    return f'<span class="ocrx_word" id="word_{number}" title="{title}">{text}</span>'


def _bbox(box: Sequence[int]) -> str:
    return f"bbox {' '.join(map(str, box))}"


def _pdf(pages: Sequence[VisiblePage], output: bytes) -> bytes:
    """Return a PDF file with the pages of an image file as pictures, and their words as invisible text.

    Raises:
        MissingExtra: pikepdf is not installed.
    """
    if find_spec("pikepdf") is None:
        raise MissingExtra("documents", "a searchable PDF")
    from incognote.formats.images.files import ImageFile
    from incognote.formats.pdf.scanned import PdfPages

    class NewPages(PdfPages):
        """Pages that come from no PDF file."""

        def __init__(self) -> None:
            self.data = b""

    file = ImageFile(output)
    made = (_of_pdf(file.page(number), page.words) for number, page in enumerate(pages, 1))
    return NewPages().written((page, True) for page in made)


def _of_pdf(page: PageImage, words: tuple[Word, ...]) -> PageImage:
    """Return a page of an image file as a page of a PDF file."""
    from incognote.formats.pdf.scanned import USUAL_DPI

    x, y = page.dpi or (USUAL_DPI, USUAL_DPI)
    high, wide = page.pixels.shape[:2]
    larger = max(1.0, wide / x * _POINTS / _MOST_POINTS, high / y * _POINTS / _MOST_POINTS)
    dpi = x * larger, y * larger
    return replace(page, mode="RGB" if page.mode == "P" else page.mode, dpi=dpi, words=words)
