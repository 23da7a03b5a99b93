"""Scanned PDF files that are held, and outputs of them that are refused or go to review."""

from __future__ import annotations

import io
import subprocess
import zlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name
from PIL import Image, ImageFilter

from incognote.errors import MalformedRecord, RecordProblem
from incognote.formats.base import Unreadable
from incognote.formats.images.files import PageImage
from incognote.formats.output import rebuilt
from incognote.formats.pdf import scanned, second
from incognote.formats.pdf.scanned import PdfPages, ScannedPdf
from incognote.formats.pictures import UncheckedPart
from incognote.formats.registry import FormatMismatch, open_documents
from incognote.pages.nouns import Word

from ..images import made  # noqa: TID252 -- tests are not a package, so absolute imports cannot reach it
from . import scans


@pytest.fixture(autouse=True)
def _read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incognote.formats.images.reading.reading_of", made.reader_of())
    monkeypatch.setattr(scanned, "raster", scans.raster)


def _with_text(output: bytes, content: bytes) -> bytes:
    with pikepdf.open(io.BytesIO(output)) as pdf:
        page = pdf.pages[0]
        page.Contents = pdf.make_stream(page.Contents.read_bytes() + b"\n" + content)
        return scans.saved(pdf, object_stream_mode=pikepdf.ObjectStreamMode.disable)


HIDDEN = b"BT 3 Tr /F0 12 Tf 1 0 0 1 20 120 Tm (Ottoline) Tj ET"
SHOWN = b"BT 0 Tr /F0 12 Tf 1 0 0 1 20 120 Tm (Ottoline) Tj ET"


def test_the_second_reader_is_content_with_the_expected_text() -> None:
    document, output, changes = scans.redacted(scans.file("1"))
    assert not [each for each in second.beside_pictures(output, scans.expected(document, changes)) if each.strip()]


def test_the_second_reader_knows_how_pdfium_reads_hyphens_signs_and_words_on_each_other() -> None:
    signs = [sign for sign in bytes(range(33, 256)).decode("cp1252", "ignore") if sign.isprintable()]
    texts = ["well-", "known", "co-op", "--", "twice", "twice", *signs]
    words = [Word(text, (10, 30 * line, 60, 30 * line + 20), 0.9, line) for line, text in enumerate(texts)]
    words[5] = replace(words[5], box=words[4].box)
    page = PageImage(np.full((30 * len(texts), 100), 255, np.uint8), "1", (100, 100), words=tuple(words))
    output = PdfPages(scans.file("1")).written([(page, False)])
    assert not [each for each in second.beside_pictures(output, [texts]) if each.strip()]
    assert [each for each in second.beside_pictures(output, [texts[1:]]) if isinstance(each, UncheckedPart)]


@pytest.mark.parametrize(
    "content", [HIDDEN, SHOWN, b"/Im0 Do", b"0 0 10 10 re f"], ids=["hidden", "shown", "picture", "path"]
)
def test_the_second_reader_finds_anything_else_on_a_page(content: bytes) -> None:
    document, output, changes = scans.redacted(scans.file("1"))
    found = list(second.beside_pictures(_with_text(output, content), scans.expected(document, changes)))
    assert [each for each in found if isinstance(each, UncheckedPart)] == [
        "page 1 has other text than expected. Look at it before you release it"
    ]
    assert any(made.NAME in each for each in found) == (b"Tj" in content)


def _without_covers(output: bytes, document: ScannedPdf) -> bytes:
    return document.file.written([(document.file.page(1), False)])


def _with_an_annotation(output: bytes, document: ScannedPdf) -> bytes:
    with pikepdf.open(io.BytesIO(output)) as pdf:
        pdf.pages[0].obj.Annots = Array([Dictionary(Type=Name.Annot, Subtype=Name.Text, Contents=made.NAME)])
        return scans.saved(pdf)


def _with_properties(output: bytes, document: ScannedPdf) -> bytes:
    with pikepdf.open(io.BytesIO(output)) as pdf:
        pdf.docinfo["/Title"] = made.NAME
        return scans.saved(pdf)


def _with_an_object(output: bytes, document: ScannedPdf) -> bytes:
    with pikepdf.open(io.BytesIO(output)) as pdf:
        for each in (b"a", b"b"):
            pdf.pages[0].Resources.XObject[f"/{each.decode()}"] = pdf.make_stream(each)
        return scans.saved(pdf)


def _with_two_pages(output: bytes, document: ScannedPdf) -> bytes:
    with pikepdf.open(io.BytesIO(output)) as pdf:
        pdf.pages.append(pdf.pages[0])
        return scans.saved(pdf)


def _with_a_blurred_picture(output: bytes, document: ScannedPdf) -> bytes:
    page = document.file.page(1)
    blurred = Image.fromarray(page.pixels).filter(ImageFilter.GaussianBlur(3))
    words = document.left(made.changes_of(document, *scans.LABELS))[0]
    return document.file.written([(replace(page, pixels=np.asarray(blurred), words=words), True)])


@pytest.mark.parametrize("mode", ["1", "L"])
@pytest.mark.parametrize(
    "wrong",
    [_without_covers, _with_an_annotation, _with_properties, _with_an_object, _with_two_pages, _with_a_blurred_picture,
     lambda output, document: _with_text(output, HIDDEN), lambda output, document: output[:-200]],
    ids=["no covers", "annotation", "properties", "object", "two pages", "blurred", "hidden text", "cut"],
)  # fmt: skip
def test_a_wrong_output_is_refused(mode: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    document, output, changes = scans.redacted(scans.file(mode))
    bad = wrong(output, document)
    monkeypatch.setattr(ScannedPdf, "rebuild", lambda self, edits, out: out.write(bad))
    with pytest.raises(FormatMismatch):
        rebuilt(scans.PDF, document, changes, {})


def _reasons(data: bytes) -> Iterable[tuple[str, str]]:
    for each in open_documents(scans.PDF, io.BufferedReader(io.BytesIO(data))):  # type: ignore[arg-type]  # BytesIO is no raw stream for mypy
        assert isinstance(each, Unreadable)
        yield each.reason.code, each.reason.detail


def test_an_encrypted_file_is_held() -> None:
    with pikepdf.open(io.BytesIO(scans.file("1"))) as pdf:
        data = scans.saved(pdf, encryption=pikepdf.Encryption(user="secret", owner="secret"))
    [(code, detail)] = _reasons(data)
    assert code == "unsupported-format"
    assert "password" in detail
    with pytest.raises(RecordProblem):
        PdfPages(data)


def test_a_bomb_of_pixels_is_held() -> None:
    with pikepdf.new() as pdf:
        page = scans.add(pdf, made.page("1"))
        page.Resources.XObject.Scan = pdf.make_stream(
            zlib.compress(bytes(200 * 2**20), 9), Type=Name.XObject, Subtype=Name.Image, Width=40_000, Height=40_000,
            BitsPerComponent=1, ColorSpace=Name.DeviceGray, Filter=Name.FlateDecode,
        )  # fmt: skip
        data = scans.saved(pdf, compress_streams=False)
    with pytest.raises(MalformedRecord, match="when it is unpacked"):
        PdfPages(data)


def test_a_page_that_is_too_large_to_be_read_is_held() -> None:
    with pikepdf.new() as pdf:
        scans.add(pdf, made.page("1"), scale=40.0)
        file = PdfPages(scans.saved(pdf))
    with pytest.raises(MalformedRecord, match="too large for a picture"):
        file.page(1)


def test_a_page_that_cannot_be_drawn_is_held_with_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise subprocess.TimeoutExpired("PDFium", 20)

    file = PdfPages(scans.file("1", "1"))
    monkeypatch.setattr(scanned, "raster", fail)
    with pytest.raises(MalformedRecord, match="cannot be drawn") as problem:
        file.page(2)
    assert problem.value.field == "page 2"


@pytest.mark.parametrize(
    "data", [b"%PDF-1.7\n", scans.file("1")[:300], b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer<</Root 1 0 R>>\n%%EOF"]
)
def test_a_damaged_file_is_held(data: bytes) -> None:
    with pytest.raises(RecordProblem):
        PdfPages(data)


def test_drawn_pages_are_kept_only_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    real = scanned.raster

    def counting(data: bytes, number: int, most: int, scale: float) -> Any:
        drawn.append(number)
        return real(data, number, most, scale)

    monkeypatch.setattr(scanned, "raster", counting)
    file = PdfPages(scans.file("1", "1"))
    first = file.page(1)
    assert np.array_equal(file.page(1).pixels, first.pixels)
    assert drawn == [1]
    file._room = 0
    file.page(2)
    file.page(2)
    assert drawn == [1, 2, 2]


def test_pages_are_drawn_by_pdfium_with_what_annotations_show() -> None:
    with pikepdf.new() as pdf:
        page = scans.add(pdf, made.page("1"))
        look = pdf.make_stream(b"0 g 0 0 60 20 re f", Type=Name.XObject, Subtype=Name.Form, BBox=Array([0, 0, 60, 20]))
        box = Array([150, 10, 210, 30])
        stamp = Dictionary(Type=Name.Annot, Subtype=Name.Stamp, Rect=box, F=4, AP=Dictionary(N=look))
        page.obj.Annots = Array([pdf.make_indirect(stamp)])
        found: PageImage = PdfPages(scans.saved(pdf)).page(1)
    assert not found.pixels[-38:-18, 215:285].any()
