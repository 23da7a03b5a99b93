"""Image files for tests: a page with words whose places are known, and readings made by hand."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from PIL.TiffImagePlugin import AppendingTiffWriter

from incognote.formats.images.document import BODY, ImageDocument
from incognote.formats.images.reading import PageReading
from incognote.pages.nouns import Box, Word

SIZE = (320, 200)
NAME, SURNAME = "Ottoline", "Quackenbush"
WORDS: dict[str, Box] = {
    "Patient:": (20, 20, 85, 40), NAME: (95, 20, 160, 40), SURNAME: (170, 20, 270, 40),
    "Asthma,": (20, 70, 85, 90), "stable": (95, 70, 140, 90),
}  # fmt: skip
"""The words of a page, and where they are."""


def page(mode: str = "RGB", size: tuple[int, int] = SIZE) -> Image.Image:
    """Return a page with `WORDS`, and colors or grays below."""
    image = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(image)
    draw.fontmode = "1" if mode == "1" else "L"
    for word, (left, top, _, _) in WORDS.items():
        draw.text((left, top), word, font=ImageFont.load_default(17), fill="black")
    draw.rectangle((20, 120, 120, 180), fill="black" if mode == "1" else (200, 30, 90))
    draw.ellipse((150, 120, 250, 180), fill="white" if mode == "1" else (40, 160, 70))
    return image.convert(mode)


def saved(image: Image.Image, form: str, **options: Any) -> bytes:
    """Return an image file."""
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def tiff(*pages: tuple[Image.Image, dict[str, Any]]) -> bytes:
    """Return a TIFF file of several pages, each with its own options."""
    out = io.BytesIO()
    with AppendingTiffWriter(out, True) as writer:
        for image, options in pages:
            image.save(writer, "TIFF", **options)
            writer.newFrame()
    return out.getvalue()


def reader_of(words: dict[str, Box] | None = None) -> Callable[[Any, float | None], PageReading]:
    """Return a reader that finds the same words on every page, whatever its pixels."""
    found = tuple(
        Word(text, box, 0.9, line=box[1]) for text, box in (WORDS if words is None else words).items()
    )
    return lambda pixels, dpi: PageReading(found, found, (), (), 0.9)


def changes_of(document: ImageDocument, *words: tuple[str, str]) -> dict[str, list[tuple[int, int, str]]]:
    """Return the changes that replace words wherever they stand."""
    [text] = document.texts
    return {BODY: [
        (at, at + len(old), new) for old, new in words for at in range(len(text.content))
        if text.content.startswith(old, at)
    ]}  # fmt: skip


def pixels_of(data: bytes, frame: int = 0) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return the pixels of a page of a file, as RGB."""
    with Image.open(io.BytesIO(data)) as image:
        image.seek(frame)
        return np.array(image.convert("RGB"))


def inside(boxes: Sequence[Box], size: tuple[int, int] = SIZE) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which pixels are in boxes."""
    found = np.zeros((size[1], size[0]), dtype=bool)
    for left, top, right, bottom in boxes:
        found[top:bottom, left:right] = True
    return found
