"""OCR engines by name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec

from incognote.errors import UnknownName
from incognote.pages.ocr.base import OcrEngine
from incognote.pages.ocr.rapid import LANGUAGES, RapidOcr
from incognote.pages.ocr.tesseract import Tesseract

ENGINES = {engine.name: engine for engine in (Tesseract, RapidOcr)}
DEFAULT = Tesseract.name


def engine_of(name: str = DEFAULT) -> OcrEngine:
    """Return an OCR engine. It is the same one for each call.

    Raises:
        UnknownName: no engine has this name.
    """
    if name not in ENGINES:
        raise UnknownName("OCR engine", name, ENGINES)
    return _opened(name)


@cache
def _opened(name: str) -> OcrEngine:
    return ENGINES[name]()


def other_engine(engine: OcrEngine, languages: Sequence[str]) -> OcrEngine | None:
    """Return an installed engine beside another one that reads some languages, or None."""
    if engine.name == RapidOcr.name or not LANGUAGES.issuperset(languages) or find_spec("rapidocr") is None:
        return None
    return engine_of(RapidOcr.name)
