"""Scanned PDF files for tests, and what their outputs hold."""

from __future__ import annotations

import io
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pikepdf
import pypdfium2
from pikepdf import Dictionary, Name, Pdf
from PIL import Image

from incognote.formats.output import rebuilt
from incognote.formats.pdf import scanned
from incognote.formats.pdf.scanned import ScannedPdf
from incognote.formats.registry import named, open_one

from ..images import made  # noqa: TID252 -- tests are not a package, so absolute imports cannot reach it

PDF = named("pdf")
raster = lru_cache(maxsize=100)(scanned.raster)
"""Drawing a page takes a second, and many tests have the same file."""
LABELS = ((made.NAME, "[PERSON]"), (made.SURNAME, "[PERSON]"))
SCALE = 0.72  # points of a pixel: 100 pixels of an inch



def stream(pdf: Pdf, image: Image.Image) -> Any:
    wide, high = image.size
    keys: dict[str, Any] = {"Type": Name.XObject, "Subtype": Name.Image, "Width": wide, "Height": high}
    if image.mode == "1":
        return pdf.make_stream(image.tobytes(), BitsPerComponent=1, ColorSpace=Name.DeviceGray, **keys)
    colors = Name.DeviceGray if image.mode == "L" else Name.DeviceRGB
    data = made.saved(image, "JPEG", quality=90)
    return pdf.make_stream(data, BitsPerComponent=8, ColorSpace=colors, Filter=Name.DCTDecode, **keys)


def add(pdf: Pdf, image: Image.Image, scale: float = SCALE, more: bytes = b"", **keys: Any) -> pikepdf.Page:
    """Add a scanned page with a font for more content."""
    wide, high = (round(side * scale, 3) for side in image.size)
    pdf.add_blank_page(page_size=(wide, high))
    page = pdf.pages[-1]
    font = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica, Encoding=Name.WinAnsiEncoding)
    page.Resources = Dictionary(XObject=Dictionary(Scan=stream(pdf, image)))
    if more:
        page.Resources.Font = Dictionary(F1=font)
    page.Contents = pdf.make_stream(f"q {wide} 0 0 {high} 0 0 cm /Scan Do Q ".encode() + more)
    for key, value in keys.items():
        page.obj[f"/{key}"] = value
    return page


def saved(pdf: Pdf, **options: Any) -> bytes:
    out = io.BytesIO()
    pdf.save(out, **(options if "encryption" in options else {"deterministic_id": True, **options}))
    return out.getvalue()


def file(*modes: str, **keys: Any) -> bytes:
    with pikepdf.new() as pdf:
        for mode in modes:
            add(pdf, scan(mode), **keys)
        return saved(pdf)


def scan(mode: str) -> Image.Image:
    """Return a scan; a gray or colored one has noise, as scans have."""
    image = made.page(mode)
    if mode == "1":
        return image
    pixels = np.asarray(image).astype(np.int16)
    noise = np.random.default_rng(0).normal(0, 4, pixels.shape).astype(np.int16)
    return Image.fromarray(np.clip(pixels - 6 + noise, 0, 255).astype(np.uint8))


def opened(data: bytes) -> ScannedPdf:
    _, document = open_one(data, "application/pdf")
    assert isinstance(document, ScannedPdf)
    return document


def redacted(data: bytes, *words: tuple[str, str]) -> tuple[ScannedPdf, bytes, Mapping[str, Any]]:
    document = opened(data)
    changes = made.changes_of(document, *(words or LABELS))
    return document, rebuilt(PDF, document, changes, {}), changes


def shown(data: bytes, number: int = 1) -> str:
    return str(pypdfium2.PdfDocument(data)[number - 1].get_textpage().get_text_range())


def drawn(page: Any) -> Any:
    """Return the gray values of a page as PDFium draws it, at the resolution of the scan."""
    return page.render(scale=1 / SCALE - 1e-7, grayscale=True).to_numpy().astype(np.int16)


def everything(data: bytes) -> bytes:
    """Return the bytes of a file and of all its streams, unpacked."""
    with pikepdf.open(io.BytesIO(data)) as pdf:
        streams = [each for each in pdf.objects if isinstance(each, pikepdf.Stream)]
        unpacked = [each.read_raw_bytes() for each in streams]
        for each in streams:
            if str(each.get("/Filter", "")) not in ("/DCTDecode", "/CCITTFaxDecode"):
                unpacked.append(each.read_bytes())
    return b"\n".join((data, *unpacked))


def expected(document: ScannedPdf, changes: Mapping[str, Any]) -> list[list[str]]:
    return [[word.text for word, _ in scanned._encoded(words)] for words in document.left(changes)]
