"""Pictures of pages: each character has its box, a page is bounded, and one that cannot be drawn has no picture."""

from __future__ import annotations

import base64
import struct
import zlib
from pathlib import Path

import pytest

from incognote.formats.base import texts_of
from incognote.formats.pdf.document import PdfDocument
from incognote.formats.pdf.picture import MOST_PIXELS
from incognote.formats.pictures import DrawnPage, PagePart, PlacedPage, pages_of, picture_of
from incognote.formats.registry import open_one

FOLDER = Path(__file__).parents[1] / "data" / "documents" / "pdf"
INK = 128  # a pixel whose colors are all less is part of a letter


def _of(name: str) -> PdfDocument:
    return PdfDocument((FOLDER / name).read_bytes())


def _ink(picture: DrawnPage) -> set[tuple[int, int]]:
    """Return the dark pixels of a picture, after every checksum of its file was checked."""
    data, parts, at = picture.png, {}, 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert data[at + 8 + length : at + 12 + length] == struct.pack(">I", zlib.crc32(name + body))
        parts[name] = body
        at += 12 + length
    assert struct.unpack(">II", parts[b"IHDR"][:8]) == (picture.width, picture.height)
    rows, stride = zlib.decompress(parts[b"IDAT"]), 3 * picture.width + 1
    assert len(rows) == stride * picture.height
    return {
        (x, y)
        for y in range(picture.height)
        for x in range(picture.width)
        if max(rows[stride * y + 1 + 3 * x : stride * y + 4 + 3 * x]) < INK
    }


@pytest.mark.parametrize(
    "name", ["pages.pdf", "page-turned.pdf", "cropped.pdf", "user-unit.pdf", "slanted.pdf", "right-to-left.pdf"]
)
def test_each_letter_is_in_its_box_and_no_letter_is_outside_all_boxes(name: str) -> None:
    document = _of(name)
    picture = document.picture(1)
    _, start, end = document.pages[0]
    text, ink = document.texts[0].content[start:end], _ink(picture)
    assert len(picture.boxes) == len(text)
    inside: set[tuple[int, int]] = set()
    for character, box in zip(text, picture.boxes, strict=True):
        if box is None:
            assert character.isspace() or name == "cropped.pdf"
            continue
        left, top, right, bottom = box
        pixels = {(x, y) for x in range(left - 1, right + 2) for y in range(top - 1, bottom + 2)}
        assert character.isspace() or pixels & ink, character
        inside |= pixels
    assert len(ink) > 500
    assert len(ink - inside) < len(ink) / 100


@pytest.mark.parametrize("name", ["huge-page.pdf", "tiny.pdf", "cropped.pdf"])
def test_no_side_is_longer_than_the_limit(name: str) -> None:
    picture = _of(name).picture(1)
    assert 0 < min(picture.width, picture.height) <= max(picture.width, picture.height) <= MOST_PIXELS


def test_the_words_of_a_form_that_two_pages_show_have_boxes_on_the_page_of_their_text() -> None:
    document = _of("forms-in-forms.pdf")
    lengths = [len(document.picture(number).boxes) for number in (1, 2)]
    assert lengths == [page.end - page.start for page in document.pages]


def test_letters_outside_the_page_have_no_box() -> None:
    document = _of("cropped.pdf")
    [text] = [text.content for text in document.texts if text.field == "body"]
    boxes = document.picture(1).boxes
    hidden = "".join(c for c, box in zip(text, boxes, strict=True) if box is None and not c.isspace())
    assert hidden == "LeocadiaBrandt60215587" * 2


def test_a_page_that_cannot_be_drawn_has_no_picture() -> None:
    document = _of("pages.pdf")
    document.data = document.data[: len(document.data) // 3]
    assert picture_of(document, 0) is None
    with pytest.raises(IndexError):
        picture_of(document, 2)


def test_pages_of_an_attached_document_have_the_field_of_its_text() -> None:
    mail = (
        b"Subject: Letter\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
        b"--b\r\nContent-Type: text/plain\r\n\r\nSee the letter.\r\n"
        b"--b\r\nContent-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n"
        + base64.encodebytes((FOLDER / "pages.pdf").read_bytes()).replace(b"\n", b"\r\n")
        + b"--b--\r\n"
    )
    document = open_one(mail, "message/rfc822")[1]
    first, second = pages_of(document)
    field = next(text.field for text in texts_of(document) if text.field.endswith("/body"))
    assert first == PlacedPage(field.removesuffix("body"), 1, PagePart(field, 0, 41))
    assert (second.number, second.text.field) == (2, field)
    picture = picture_of(document, 1)
    assert picture is not None
    assert picture.boxes == _of("pages.pdf").picture(2).boxes


def test_a_document_without_pages_has_no_pictures() -> None:
    assert pages_of(open_one(b"{\\rtf1 Emily\\par}", "application/rtf")[1]) == []
