"""Small pictures of pages, with their boxes: what is gone, left, and lost."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from incognote.errors import MissingExtra
from incognote.evaluation.boxes.scored import PageScores

if TYPE_CHECKING:
    from incognote.pages.nouns import Pixels

MOST = 24
"""The number of pages that a report shows."""
COLORS = {"gone": "#00803c", "left": "#d10000", "lost": "#b36b00", "cover": "#3d6fd1"}
_SIDE, _SMALLEST = 1000, 80
_QUALITY = 60


def picture(page: PageScores, pixels: Pixels | None) -> bytes:
    """Return a page as a JPEG file, whose longer side has at most 1000 pixels.

    Args:
        pixels: of the page, gray or RGB; without them, its boxes are drawn on white.

    Raises:
        MissingExtra: Pillow is not installed.
    """
    try:
        from PIL import Image, ImageDraw
    except ImportError:
        raise MissingExtra("images", "a picture of a page") from None
    done = page.judged
    if pixels is None:
        boxes = [*(each.box for each, _ in (*done.identifiers, *done.others)), *done.covers]
        size = [max((each[side] for each in boxes), default=0) + _SMALLEST for side in (2, 3)]
        scale = min(1.0, _SIDE / max(size))
        shown = Image.new("RGB", (round(size[0] * scale), round(size[1] * scale)), "white")
    else:
        whole = Image.fromarray(pixels).convert("RGB")
        scale = min(1.0, _SIDE / max(whole.size))
        shown = whole.resize((max(1, round(whole.width * scale)), max(1, round(whole.height * scale))))
    draw = ImageDraw.Draw(shown)

    def outline(box: Any, color: str, width: int, beyond: int = 0) -> None:
        left, top, right, bottom = (round(side * scale) for side in box)
        sides = (left - beyond, top - beyond, max(left, right - 1) + beyond, max(top, bottom - 1) + beyond)
        draw.rectangle(sides, outline=COLORS[color], width=width)

    for cover in done.covers:
        outline(cover, "cover", 1, 1)
    for word, kept in done.others:
        if not kept:
            outline(word.box, "lost", 2)
    for identifier, gone in sorted(done.identifiers, key=lambda each: not each[1]):
        outline(identifier.box, "gone" if gone else "left", 2 if gone else 4, 0 if gone else 3)
    out = io.BytesIO()
    shown.save(out, "JPEG", quality=_QUALITY, optimize=True)
    return out.getvalue()
