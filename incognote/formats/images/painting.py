"""Cover parts of a page, and write the new words where they fit."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from incognote.pages.nouns import Box

if TYPE_CHECKING:
    from incognote.pages.nouns import Pixels

MOST_COLORS = 256  # of a page with a palette
_LEAST_SIZE, _MOST_SIZE = 8, 60  # pixels of a font
_FILLED = 0.78  # the font size as a share of the height of a box
_ROOM = 0.96  # the share of a box that words may take
_AROUND = 3  # pixels around a box that show the color of the paper
_INK = 0.02  # the share of a box that is surely ink
_CONTRAST = 110  # gray levels between paper and ink, or the words are black or white
_FONTS = (
    "DejaVuSans.ttf", "NotoSans-Regular.ttf", "NotoSansArabic-Regular.ttf", "NotoNaskhArabic-Regular.ttf",
    "NotoSansHebrew-Regular.ttf", "arial.ttf", "Arial.ttf", "Arial Unicode.ttf",
)  # fmt: skip
"""Fonts for letters that the font of Pillow does not have."""
_RIGHT_TO_LEFT = frozenset(("R", "AL"))


@dataclass(frozen=True, slots=True)
class Cover:
    """A part of a page that is covered.

    Args:
        box: in pixels.
        words: what is written on it, if it fits; a label in brackets is white on black, other words look like the page.
    """

    box: Box
    words: str = field(default="", repr=False)


def painted(pixels: Pixels, covers: Iterable[Cover], mode: str = "RGB") -> Pixels:
    """Return a page with parts covered. It depends only on the covers and on the pixels in and around them.

    Args:
        mode: as of a `PageImage`. Words on pages of mode `1` and `P` have sharp edges, and a page of mode `P` has no
            more than `MOST_COLORS` colors.
    """
    import numpy
    from PIL import Image

    covers = [Cover(_within(cover.box, pixels), cover.words) for cover in covers]
    image = Image.fromarray(pixels)
    colors = [_colors(pixels, cover, mode) for cover in covers]
    for cover, (ground, _) in zip(covers, colors, strict=True):
        image.paste(ground, cover.box)
    for cover, (_, ink) in zip(covers, colors, strict=True):
        _write(image, cover, ink, sharp=mode in ("1", "P"))
    made: Pixels = numpy.array(image)
    return _in_few_colors(made, pixels, covers) if mode == "P" else made


def _within(box: Box, pixels: Pixels) -> Box:
    high, wide = pixels.shape[:2]
    left, top = min(max(box[0], 0), wide - 1), min(max(box[1], 0), high - 1)
    return left, top, min(max(box[2], left + 1), wide), min(max(box[3], top + 1), high)


def _colors(pixels: Pixels, cover: Cover, mode: str) -> tuple[Any, Any]:
    """Return the color of a cover and that of its words: those of the page for a surrogate, else white on black."""
    import numpy

    one, other = _color(pixels, 0), _color(pixels, 255)
    if not cover.words or cover.words.startswith("["):
        return one, other
    left, top, right, bottom = cover.box
    x, y = max(0, left - _AROUND), max(0, top - _AROUND)
    ring = pixels[y : bottom + _AROUND, x : right + _AROUND]
    outside = numpy.ones(ring.shape[:2], dtype=bool)
    outside[top - y : bottom - y, left - x : right - x] = False
    paper = numpy.median(ring[outside] if outside.any() else ring.reshape(-1, *ring.shape[2:]), axis=0)
    inside = pixels[top:bottom, left:right].reshape(-1, *pixels.shape[2:]).astype(numpy.float32)
    far = numpy.abs(inside - paper).reshape(len(inside), -1).sum(axis=1)
    ink = numpy.median(inside[numpy.argsort(far)[-max(1, int(_INK * len(inside))) :]], axis=0)
    if mode == "1":
        paper = numpy.where(paper > 127, 255, 0)
    if mode == "1" or float(numpy.abs(ink - paper).mean()) < _CONTRAST:
        ink = numpy.full_like(paper, 0 if float(paper.mean()) > 127 else 255)
    return _color(pixels, paper), _color(pixels, ink)


def _color(pixels: Pixels, value: Any) -> Any:
    import numpy

    if pixels.ndim == 2:
        return int(value)
    return tuple(int(each) for each in numpy.broadcast_to(value, 3))


@lru_cache(maxsize=256)
def _font(size: int, name: str) -> Any:
    """Return a font, that of Pillow for the name "", or None if it is not installed."""
    from PIL import ImageFont

    try:
        return ImageFont.truetype(name, size) if name else ImageFont.load_default(size)
    except OSError:
        return None


@lru_cache(maxsize=1024)
def _font_of(letters: str) -> str | None:
    """Return the name of a font that has some letters, or None."""
    return next((name for name in ("", *_FONTS) if _has(name, letters)), None)


def _has(name: str, letters: str) -> bool:
    font = _font(_MOST_SIZE, name)
    if font is None:
        return False
    missing = _shape(font, "\U0010fffe")
    return all(_shape(font, each) != missing for each in letters if not each.isspace())


def _shape(font: Any, letter: str) -> bytes:
    mask = font.getmask(letter)
    return repr(mask.size).encode() + bytes(mask)


def _write(image: Any, cover: Cover, color: Any, *, sharp: bool) -> None:
    """Write words on an image, within their cover, if they fit and a font has their letters."""
    from PIL import ImageDraw, features

    is_label = cover.words.startswith("[")
    words = cover.words.strip("[]").replace("_", " ") if is_label else " ".join(cover.words.split())
    backwards = any(unicodedata.bidirectional(each) in _RIGHT_TO_LEFT for each in words)
    name = _font_of("".join(sorted(set(words)))) if words else None
    if name is None or (backwards and not features.check("raqm")):
        return
    tile = image.crop(cover.box)
    wide, high = tile.size
    draw = ImageDraw.Draw(tile)
    draw.fontmode = "1" if sharp else "L"
    options: dict[str, Any] = {"direction": "rtl"} if backwards else {}
    size = min(max(int(high * _FILLED), _LEAST_SIZE), _MOST_SIZE)
    while size >= _LEAST_SIZE:
        font = _font(size, name)
        x0, y0, x1, y1 = font.getbbox(words, mode=draw.fontmode, **options)
        if x1 - x0 <= wide * _ROOM and y1 - y0 <= high * _ROOM:
            spare = wide - (x1 - x0)
            left = spare / 2 if is_label else spare if backwards else min(spare, 1)
            draw.text((round(left - x0), round((high - y1 - y0) / 2)), words, font=font, fill=color, **options)
            image.paste(tile, cover.box)
            return
        size = min(size - 1, int(size * 0.92))


def _in_few_colors(made: Pixels, original: Pixels, covers: Sequence[Cover]) -> Pixels:
    """Return a covered page, with the colors of the original in the covers if there are too many."""
    import numpy

    if made.ndim == 2 or len(colors_of(made)) <= MOST_COLORS:
        return made
    own = colors_of(original)
    channels = numpy.stack((own >> 16, own >> 8 & 255, own & 255), axis=1).astype(numpy.int32)
    for cover in covers:
        left, top, right, bottom = cover.box
        part = made[top:bottom, left:right]
        for color in colors_of(part):
            wanted = numpy.array((color >> 16, color >> 8 & 255, color & 255), dtype=numpy.int32)
            nearest = channels[numpy.abs(channels - wanted).sum(axis=1).argmin()]
            part[(part == wanted).all(axis=2)] = nearest
    return made


def colors_of(pixels: Pixels) -> Any:
    """Return the colors of an RGB page, in order, each as one number."""
    import numpy

    seen = numpy.zeros(1 << 24, dtype=bool)
    seen[packed(pixels)] = True
    return numpy.flatnonzero(seen)


def packed(pixels: Pixels) -> Any:
    """Return the color of each pixel of an RGB page as one number."""
    import numpy

    red, green, blue = (pixels[..., channel].astype(numpy.uint32) for channel in range(3))
    return red << 16 | green << 8 | blue
