"""Solid blobs that may be logos."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from incognote.formats.images.parts import area_of, parts_of, stroke_of
from incognote.pages.nouns import Box

_DARKER = 40  # gray levels below the paper
_COLORED = 60  # levels between the strongest and the weakest color
_LARGE = 60  # squared heights of a line that a dark band has at least
_WIDEST, _TALLEST = 16, 12  # heights of a line that a logo has at most


def solid(gray: Any, color: Any | None, without: Any, high: float) -> Any:
    """Return 255 where a page has dark or colored ink, with small gaps closed.

    Args:
        gray: the page. color: the page in RGB, or None. without: over 0 at ruled lines and codes.
        high: of a line of text, in pixels.
    """
    import cv2
    import numpy as np

    found = np.where(gray < np.percentile(gray, 90) - _DARKER, np.uint8(255), np.uint8(0))
    found |= _strong(color, gray)
    found[cv2.dilate(without, np.ones((3, 3), np.uint8)) > 0] = 0
    reach = max(3, round(0.25 * high)) | 1
    return cv2.morphologyEx(found, cv2.MORPH_CLOSE, np.ones((reach, reach), np.uint8))


def light_on_dark(gray: Any, color: Any | None, high: float) -> tuple[Any, list[Box]]:
    """Return where dark or colored areas of a page have light blobs that are neither letters nor rectangles.

    Returns:
        255 at such blobs, and the boxes of small areas with one, which are an emblem as a whole.

    Args:
        gray: the page. color: the page in RGB, or None. high: of a line of text, in pixels.
    """
    import cv2
    import numpy as np

    dark = np.where(cv2.medianBlur(gray, 3) < 128, np.uint8(255), np.uint8(0))
    found = _light_in(dark, high)
    if color is not None:
        colored, panels = _light_in(dark | _strong(color, gray), high)
        found = found[0] | colored, list(dict.fromkeys((*found[1], *panels)))
    return found


def _light_in(dark: Any, high: float) -> tuple[Any, list[Box]]:
    """Return the light blobs in dark areas, as `light_on_dark` does.

    Args:
        dark: 255 at dark pixels.
    """
    import cv2
    import numpy as np

    light = np.zeros_like(dark)
    outlines, _ = cv2.findContours(dark, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    for outline in outlines:
        if cv2.contourArea(outline) > _LARGE * high**2:
            cv2.drawContours(light, [outline], -1, 255, -1)
    panels = parts_of(light)[1]
    light[dark > 0] = 0
    kept, found = np.zeros_like(light), []
    blobs, _ = cv2.findContours(light, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    for blob in blobs:
        x, y, wide, tall = cv2.boundingRect(blob)
        if max(wide, tall) < 2.5 * high or not 0.45 * wide * tall < cv2.contourArea(blob) < 0.92 * wide * tall:
            continue
        cv2.drawContours(kept, [blob], -1, 255, -1)
        for panel in panels:
            left, top, right, bottom = panel.box
            small = panel.wide < _WIDEST * high and panel.high < _TALLEST * high
            if small and left <= x < right and top <= y < bottom:
                found.append(panel.box)
    return kept, found


def _strong(color: Any | None, gray: Any) -> Any:
    """Return 255 where a page has a strong color."""
    import cv2
    import numpy as np

    if color is None:
        return np.zeros_like(gray)
    red, green, blue = cv2.split(color)
    most, least = cv2.max(cv2.max(red, green), blue), cv2.min(cv2.min(red, green), blue)
    return np.where(cv2.subtract(most, least) > _COLORED, np.uint8(255), np.uint8(0))


def emblems(mask: Any, high: float) -> Iterator[Box]:
    """Yield the boxes of blobs of the size of a logo, with thick strokes."""
    for each in parts_of(mask, 1.6 * high)[1]:
        left, top, right, bottom = each.box
        if not (1.6 * high < each.high < _TALLEST * high and 1.6 * high < each.wide < _WIDEST * high):
            continue
        if each.area > 0.2 * area_of(each.box) and stroke_of(mask[top:bottom, left:right]) >= 0.3 * high:
            yield each.box
