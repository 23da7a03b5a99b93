"""Read the words of a page in the languages that are installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from incognote.pages.nouns import Region, Word

if TYPE_CHECKING:
    from incognote.pages.nouns import Pixels

_POOR = 0.75  # the quality of a reading below which languages in other scripts are tried
_LATIN = ("en", "es", "de", "fr")
_LANGUAGES: ContextVar[tuple[str, ...]] = ContextVar("languages of pages", default=("en",))
_WHOLE_REGIONS: ContextVar[bool] = ContextVar("whether regions with much PHI are removed as a whole", default=False)


@dataclass(frozen=True, slots=True)
class PageReading:
    """The words, codes, and regions of a page.

    Args:
        words: in reading order. seen: all words of all passes.
        codes: barcodes. regions: of the layout, if the policy removes whole ones.
        quality: from 0 to 1. languages: in which it was read (ISO 639-1).
    """

    words: tuple[Word, ...] = field(repr=False)
    seen: tuple[Word, ...] = field(repr=False)
    codes: tuple[Region, ...]
    regions: tuple[Region, ...]
    quality: float
    languages: tuple[str, ...] = ("en",)


@contextmanager
def languages_of_pages(codes: Iterable[str]) -> Iterator[None]:
    """Read pages in these languages (ISO 639-1) within the block. English is read first."""
    token = _LANGUAGES.set(tuple(sorted(codes, key=lambda code: (code != "en", code))))
    try:
        yield
    finally:
        _LANGUAGES.reset(token)


def page_languages() -> tuple[str, ...]:
    """Return the languages in which pages are read (ISO 639-1)."""
    return _LANGUAGES.get()


@contextmanager
def whole_regions(*, go: bool) -> Iterator[None]:
    """Find regions of pages that are removed as a whole within the block, or do not."""
    token = _WHOLE_REGIONS.set(go)
    try:
        yield
    finally:
        _WHOLE_REGIONS.reset(token)


def regions_go_whole() -> bool:
    """Return whether regions with considerable PHI are removed as a whole."""
    return _WHOLE_REGIONS.get()


def reading_of(pixels: Pixels, dpi: float | None) -> PageReading:
    """Return what is on a page.

    Raises:
        MissingExtra, SettingError, RecordProblem: as in `incognote.pages.ocr.passes.read_page`.
    """
    from incognote.formats.images.files import gray_of
    from incognote.pages.codes import codes
    from incognote.pages.ocr.passes import read_page
    from incognote.pages.regions import shipped

    languages = tuple(code for code in _LANGUAGES.get() if code in _LATIN) or ("en",)
    found = read_page(pixels, dpi, languages)
    others = [code for code in _LANGUAGES.get() if code not in _LATIN]
    if others and found.quality < _POOR:
        other = read_page(pixels, dpi, [*others, "en"])
        if other.quality > found.quality:
            found, languages = other, (*others, "en")
    barcodes = tuple(codes(pixels, dpi))
    regions = shipped().find(gray_of(pixels), found.words, barcodes) if regions_go_whole() else ()
    return PageReading(found.words, found.seen, barcodes, tuple(regions), found.quality, languages)
