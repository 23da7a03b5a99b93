"""The regions of a page that was read: a second network decides which candidates are regions, and of which kind.

It sees of each candidate the numbers of `incognote.pages.measures` and a small picture. The first network
(`incognote.pages.layout`) sees the whole page, and its boxes are among the candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from incognote.pages.boxes import boxes_of, common, overlaps, scaled
from incognote.pages.candidates import LayoutPage, candidates
from incognote.pages.layout import KINDS, LayoutDetector, RegionNetwork
from incognote.pages.measures import measures
from incognote.pages.nouns import Box, Region, Word

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from incognote.pages.boxes import Boxes, Page

    Numbers = NDArray[np.float32]

MODEL, CARD = "regions.onnx", "regions.json"
INPUTS = ("numbers", "pictures", "details")
LONGEST = 1100
"""Pixels of the longer side of a page when its candidates are found."""
CROP = (36, 48)
"""Height and width of a candidate's picture."""
DETAIL = (32, 96)
"""Height and width of the picture of its corner."""
_MARGIN = 0.12  # the share of a candidate's sides that its picture shows around it
_PROPOSALS = 80  # the most boxes of the first network that are candidates
_LOWEST = 0.03  # the lowest score of a proposal
_TEXT = ("Table", "One_Col_Key_Value", "Two_Col_Key_Value", "Multi_Col_Text", "Header", "Footer", "Handwriting")
_SAME, _OTHER, _WITHIN = 0.2, 0.5, 0.6  # shares of overlap above which the region with the lower score is dropped


class RegionFinder(RegionNetwork):
    """Finds regions with `regions.onnx`, from a page and its words. `incognote layout choose` writes it and its card.

    The first network is always the shipped one.
    """

    NAMES = MODEL, CARD

    def find(self, gray: Page, words: Sequence[Word] = (), codes: Sequence[Region] = ()) -> list[Region]:
        """Return the regions of a page, in its pixels, by falling score.

        Boxes of kinds of text overlap little. A picture, such as a logo, can be in a region of text, such as a header.

        Args:
            gray: 8-bit, height × width.
            words: that were read on the page. codes: its barcodes.

        Raises:
            IncognoteError: a network does not match its card.
            ValueError: the page is not an 8-bit gray picture, or has no pixels.
        """
        import numpy as np

        page, turns, scale = upright(gray, words, codes)
        boxes, *inputs = described(page)
        if not len(boxes):
            return []
        (scores,) = self._session().run(["scores"], dict(zip(INPUTS, inputs, strict=True)))
        found = chosen(boxes, np.asarray(scores, np.float32), self._limits)
        high, wide = gray.shape
        return [replace(each, box=_back(each.box, turns, scale, wide, high)) for each in found]


@cache
def shipped() -> RegionFinder:
    """Return the finder with the shipped networks."""
    return RegionFinder()


@cache
def _proposer() -> LayoutDetector:
    return LayoutDetector(lowest=_LOWEST)


def upright(gray: Page, words: Sequence[Word], codes: Sequence[Region]) -> tuple[LayoutPage, int, float]:
    """Return a page with most of its words upright and its longer side `LONGEST` pixels long.

    Returns:
        the page, by how many quarters it was turned counterclockwise, and its pixels for one pixel of the given one.

    Raises:
        ValueError: the page is not an 8-bit gray picture, or has no pixels.
    """
    import numpy as np

    letters = [sum(len(word.text) for word in words if word.turn == turn) for turn in (0, 90, 180, 270)]
    turns = int(np.argmax(letters))
    small, scale = scaled(np.ascontiguousarray(np.rot90(gray, turns)), LONGEST)
    high, wide = gray.shape

    def moved(box: Box) -> Box:
        left, top, right, bottom = _turned(box, turns, wide, high)
        return round(left * scale), round(top * scale), round(right * scale), round(bottom * scale)

    own = [replace(word, box=moved(word.box), turn=(word.turn - 90 * turns) % 360) for word in words]  # type: ignore[arg-type]  # a multiple of 90 below 360
    return LayoutPage(small, own, [replace(code, box=moved(code.box)) for code in codes]), turns, scale


def _back(box: Box, turns: int, scale: float, wide: int, high: int) -> Box:
    """Return a box of an upright page as a box of the page of `wide` × `high` pixels that it was made from."""
    width, height = (high, wide) if turns % 2 else (wide, high)
    left, top, right, bottom = _turned([side / scale for side in box], -turns % 4, width, height)
    return max(0, round(left)), max(0, round(top)), min(wide, round(right)), min(high, round(bottom))


def _turned(box: Sequence[float], turns: int, wide: int, high: int) -> tuple[float, ...]:
    """Return a box of a page of `wide` × `high` pixels after quarter turns of the page, counterclockwise."""
    left, top, right, bottom = box
    for _ in range(turns):
        left, top, right, bottom = top, wide - right, bottom, wide - left
        wide, high = high, wide
    return left, top, right, bottom


def described(page: LayoutPage) -> tuple[Boxes, Numbers, Numbers, Numbers]:
    """Return the candidates of a page (candidates × 4) and the inputs of the network, in the order of `INPUTS`.

    Returns:
        boxes, candidates × numbers, candidates × 1 × `CROP`, and candidates × 1 × `DETAIL` with gray levels.

    Raises:
        IncognoteError: the first network does not match its card.
    """
    import numpy as np

    proposed = _proposer().find(page.gray)[:_PROPOSALS]
    proposals = boxes_of(proposed)
    scores = np.zeros((len(proposed), len(KINDS)), np.float32)
    for row, region in enumerate(proposed):
        scores[row, KINDS.index(region.kind)] = region.score
    boxes, sources = candidates(page, proposals)
    numbers = measures(page, boxes, sources, proposals, scores)
    return boxes, numbers, _pictures(page.gray, boxes), _details(page, boxes)


def _pictures(gray: Page, boxes: Boxes) -> Numbers:
    """Return a picture of each candidate, with a margin."""
    import numpy as np

    by = _MARGIN * (boxes[:, 2:] - boxes[:, :2])
    return _cut(gray, np.concatenate([boxes[:, :2] - by, boxes[:, 2:] + by], axis=1), CROP)


def _details(page: LayoutPage, boxes: Boxes) -> Numbers:
    """Return a picture of the top left corner of each candidate: 4 × 12 heights of a line. Small ones are whole."""
    import numpy as np

    high = page.high
    window = np.array([12, 4], np.float32) * high
    size = boxes[:, 2:] - boxes[:, :2]
    begin = np.where(size > window - high, boxes[:, :2] - high / 2, (boxes[:, :2] + boxes[:, 2:] - window) / 2)
    return _cut(page.gray, np.concatenate([begin, begin + window], axis=1), DETAIL)


def _cut(gray: Page, boxes: Boxes, shape: tuple[int, int]) -> Numbers:
    """Return the parts of a page in boxes, scaled to one shape: boxes × 1 × height × width."""
    import cv2
    import numpy as np

    high, wide = gray.shape
    made = np.zeros((len(boxes), 1, *shape), np.float32)
    for row, (left, top, right, bottom) in enumerate(boxes.tolist()):
        x, y = max(0, min(int(left), wide - 1)), max(0, min(int(top), high - 1))
        part = gray[y : max(y + 1, int(bottom) + 1), x : max(x + 1, int(right) + 1)]
        made[row, 0] = cv2.resize(part, shape[::-1], interpolation=cv2.INTER_AREA)
    return made


def chosen(boxes: Boxes, scores: Numbers, limits: Numbers) -> list[Region]:
    """Return the candidates that are regions, by falling score.

    Args:
        boxes: candidates × 4. scores: candidates × kinds. limits: the lowest score of each kind.
    """
    import numpy as np

    rows, kinds = np.nonzero(scores >= limits)
    order = np.argsort(-scores[rows, kinds], kind="stable")
    rows, kinds = rows[order], kinds[order]
    shared = overlaps(boxes[rows], boxes[rows])
    same = kinds[:, None] == kinds
    text = np.isin(kinds, [KINDS.index(kind) for kind in _TEXT])
    alike = same | (text[:, None] & text)
    dropped = (shared > np.where(same, _SAME, _OTHER)) | (alike & (_contained(boxes[rows]) > _WITHIN))
    found: list[int] = []
    for at in range(len(rows)):
        if not dropped[at, found].any():
            found.append(at)
    regions = []
    for at in found:
        left, top, right, bottom = (round(side) for side in boxes[rows[at]].tolist())
        score = float(scores[rows[at], kinds[at]])
        regions.append(Region(KINDS[kinds[at]], (left, top, right, bottom), score, ("layout",)))
    return regions


def _contained(boxes: Boxes) -> Numbers:
    """Return the share of the smaller box that two boxes have in common (boxes × boxes)."""
    import numpy as np

    areas = np.maximum(np.prod(boxes[:, 2:] - boxes[:, :2], axis=1), 1)
    return np.asarray(common(boxes, boxes) / np.minimum(areas[:, None], areas[None]), np.float32)
