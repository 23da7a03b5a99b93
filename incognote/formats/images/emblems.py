"""Solid blobs that may be logos."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from incognote.formats.images.page import shared, union
from incognote.formats.images.parts import area_of, parts_of, stroke_of
from incognote.pages.nouns import Box, Word

_DARKER = 40  # gray levels below the paper
_COLORED = 60  # levels between the strongest and the weakest color
_LARGE = 25  # squared heights of a line that a dark band has at least
_WIDEST, _TALLEST = 16, 12  # heights of a line that a logo has at most
_LEAST = 1.8  # the same, that a light blob in a dark area has at least
_FEW = 3  # words in a line of a wordmark
_ROUND = 1.6  # heights of an icon that it is wide at most
_NEAR, _LONG = 0.6, 4  # heights of an icon to its wordmark, and of the wordmark's width
_OVER = 0.3  # the share of a word of a wordmark that its icon covers at most
_FILLED = 0.5  # the share of a dark area that is dark
_GAP = 0.9  # heights of a word between two words of a wordmark


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

    smooth = cv2.medianBlur(gray, 3)
    dark = np.where(smooth < 128, np.uint8(255), np.uint8(0))
    darker = np.where(smooth < np.percentile(gray, 90) - _DARKER, np.uint8(255), np.uint8(0))
    found = _light_in(dark, high)
    for each in (darker, dark | _strong(color, gray)) if color is not None else (darker,):
        light, panels = _light_in(each, high)
        found = found[0] | light, list(dict.fromkeys((*found[1], *panels)))
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
        if cv2.contourArea(outline) > _LARGE * high**2 and _is_filled(dark, outline):
            cv2.drawContours(light, [outline], -1, 255, -1)
    panels = parts_of(light)[1]
    light[dark > 0] = 0
    kept, found = np.zeros_like(light), []
    blobs, _ = cv2.findContours(light, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    for blob in blobs:
        x, y, wide, tall = cv2.boundingRect(blob)
        if max(wide, tall) < _LEAST * high or not 0.45 * wide * tall < cv2.contourArea(blob) < 0.92 * wide * tall:
            continue
        cv2.drawContours(kept, [blob], -1, 255, -1)
        for panel in panels:
            left, top, right, bottom = panel.box
            small = panel.wide < _WIDEST * high and panel.high < _TALLEST * high
            if small and left <= x < right and top <= y < bottom:
                found.append(panel.box)
    return kept, found


def _is_filled(dark: Any, outline: Any) -> bool:
    """Whether an area is mostly dark, and no frame or table."""
    import cv2

    left, top, wide, high = cv2.boundingRect(outline)
    return cv2.countNonZero(dark[top : top + high, left : left + wide]) > _FILLED * cv2.contourArea(outline)


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


def wordmark(icon: Box, words: Sequence[Word]) -> list[Box]:
    """Return the boxes of the lines of a wordmark beside an icon: short lines in its rows, close to it.

    Args:
        words: of the page, in reading order.
    """
    left, top, right, bottom = icon
    high = bottom - top
    if right - left > _ROUND * high:
        return []
    rows: dict[int, list[Word]] = {}
    for word in words:
        within = shared(word.box, icon) > _OVER * area_of(word.box)
        if not word.turn and top < (word.box[1] + word.box[3]) / 2 < bottom and not within:
            rows.setdefault(word.line, []).append(word)
    lines: list[Box] = []
    for row in rows.values():
        after = [word.box for word in row if word.box[0] >= right - _NEAR / 2 * high]
        before = [(-word.box[2], word.box[1], -word.box[0], word.box[3]) for word in row if word.is_rtl]
        for side, edge, back in ((after, right, False), (before, -left, True)):
            line = _run(sorted(side), edge, high)
            if line is not None:
                lines.append((-line[2], line[1], -line[0], line[3]) if back else line)
    return lines


def _run(boxes: Sequence[Box], edge: int, high: int) -> Box | None:
    """Return the box around the words of a line that follow an edge, or None if they are far, many, or wide.

    Args:
        boxes: of words, from left to right. high: of the icon, in pixels.
    """
    run: list[Box] = []
    for box in boxes:
        if box[0] - (run[-1][2] if run else edge) > (_GAP * (box[3] - box[1]) if run else _NEAR * high):
            break
        run.append(box)
    if not run or len(run) > _FEW or run[-1][2] - edge > _LONG * high:
        return None
    return union(run)
