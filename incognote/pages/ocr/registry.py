"""OCR engines by name."""

from __future__ import annotations

from functools import cache

from incognote.errors import UnknownName
from incognote.pages.ocr.base import OcrEngine
from incognote.pages.ocr.rapid import RapidOcr
from incognote.pages.ocr.tesseract import Tesseract

ENGINES = {engine.name: engine for engine in (Tesseract, RapidOcr)}
DEFAULT = Tesseract.name


@cache
def engine_of(name: str = DEFAULT) -> OcrEngine:
    """Return an OCR engine. It is the same one for each call.

    Raises:
        UnknownName: no engine has this name.
    """
    if name not in ENGINES:
        raise UnknownName("OCR engine", name, ENGINES)
    return ENGINES[name]()
