"""Solid blobs that may be logos."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from incognote.formats.images.parts import area_of, parts_of, stroke_of
from incognote.pages.nouns import Box

_DARKER = 40  # gray levels below the paper
_COLORED = 60  # levels between the strongest and the weakest color
_LARGE = 100  # squared heights of a line that a dark band has at least


def solid(gray: Any, color: Any | None, without: Any, high: float) -> Any:
    """Return 255 where a page has dark or colored ink, with small gaps closed.

    Args:
        gray: the page. color: the page in RGB, or None. without: over 0 at ruled lines and codes.
        high: of a line of text, in pixels.
    """
    import cv2
    import numpy as np

    found = np.where(gray < np.percentile(gray, 90) - _DARKER, np.uint8(255), np.uint8(0))
    if color is not None:
        red, green, blue = cv2.split(color)
        most, least = cv2.max(cv2.max(red, green), blue), cv2.min(cv2.min(red, green), blue)
        found |= np.where(cv2.subtract(most, least) > _COLORED, np.uint8(255), np.uint8(0))
    found[cv2.dilate(without, np.ones((3, 3), np.uint8)) > 0] = 0
    reach = max(3, round(0.25 * high)) | 1
    return cv2.morphologyEx(found, cv2.MORPH_CLOSE, np.ones((reach, reach), np.uint8))


def light_on_dark(gray: Any, high: float) -> Any:
    """Return 255 where dark areas of a page have light blobs that are neither letters nor rectangles."""
    import cv2
    import numpy as np

    dark = np.where(cv2.medianBlur(gray, 3) < 128, np.uint8(255), np.uint8(0))
    light = np.zeros_like(dark)
    outlines, _ = cv2.findContours(dark, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    for outline in outlines:
        if cv2.contourArea(outline) > _LARGE * high**2:
            cv2.drawContours(light, [outline], -1, 255, -1)
    light[dark > 0] = 0
    kept = np.zeros_like(light)
    labels, parts = parts_of(light, 2.5 * high)
    for each in parts:
        if 0.5 * area_of(each.box) < each.area < 0.92 * area_of(each.box):
            kept[labels == each.label] = 255
    return kept


def emblems(mask: Any, high: float) -> Iterator[Box]:
    """Yield the boxes of blobs of the size of a logo, with thick strokes."""
    for each in parts_of(mask, 1.6 * high)[1]:
        left, top, right, bottom = each.box
        if not (1.6 * high < each.high < 12 * high and 1.6 * high < each.wide < 16 * high):
            continue
        if each.area > 0.2 * area_of(each.box) and stroke_of(mask[top:bottom, left:right]) >= 0.3 * high:
            yield each.box
