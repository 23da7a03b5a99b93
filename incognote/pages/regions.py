"""The regions of a page that was read: a second network decides which candidates are regions, and of which kind.

It sees of each candidate the numbers of `incognote.pages.measures` and a small picture. The first network
(`incognote.pages.layout`) sees the whole page, and its boxes are among the candidates.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, cached_property
from importlib.resources import files
from threading import Lock
from typing import TYPE_CHECKING, Any

from incognote.errors import IncognoteError
from incognote.onnx import session
from incognote.pages.boxes import overlaps
from incognote.pages.candidates import LayoutPage, candidates
from incognote.pages.layout import KINDS, LayoutDetector, content_hash
from incognote.pages.measures import measures
from incognote.pages.nouns import Box, Region, Word

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    import numpy as np
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession

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
_PROPOSALS = 80
_LOWEST = 0.03  # the lowest score of a proposal
_TEXT = frozenset(
    ("Table", "One_Col_Key_Value", "Two_Col_Key_Value", "Multi_Col_Text", "Header", "Footer", "Handwriting")
)
_SAME, _OTHER, _WITHIN = 0.2, 0.5, 0.6  # shares of overlap above which the region with the lower score is dropped


class RegionFinder:
    """Finds the regions of pages that were read. Threads can share it.

    Args:
        folder: holds `regions.onnx` and its card `regions.json`. By default, the shipped ones.
        lowest: the lowest score of a region (0 to 1), for all kinds. By default, each kind has the card's.
    """

    def __init__(self, folder: Traversable | None = None, lowest: float | None = None) -> None:
        self._folder = folder or files("incognote.pages")
        self._lowest = lowest
        self._lock = Lock()
        self._loaded: InferenceSession | None = None
        self._proposer = LayoutDetector(lowest=_LOWEST)

    @cached_property
    def _card(self) -> dict[str, Any]:
        card: dict[str, Any] = json.loads(self._folder.joinpath(CARD).read_text(encoding="utf-8"))
        return card

    @property
    def version(self) -> str:
        """The hash of the network, as the card states it. The file is checked against it when loaded."""
        return str(self._card["version"])

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
        boxes, *inputs = described(page, self._proposer)
        if not len(boxes):
            return []
        (scores,) = self._session().run(["scores"], dict(zip(INPUTS, inputs, strict=True)))
        lowest = self._card["lowest"]
        limits = np.array([lowest[kind] if self._lowest is None else self._lowest for kind in KINDS], np.float32)
        found = chosen(boxes, np.asarray(scores, np.float32), limits)
        high, wide = gray.shape
        return [replace(each, box=_back(each.box, turns, scale, wide, high)) for each in found]

    def _session(self) -> InferenceSession:
        with self._lock:
            if self._loaded is None:
                model = self._folder.joinpath(MODEL).read_bytes()
                if content_hash(model) != self.version or tuple(self._card["kinds"]) != KINDS:
                    raise IncognoteError("The network of regions does not match its card. Reinstall incognote.")
                self._loaded = session(model)
            return self._loaded


@cache
def shipped() -> RegionFinder:
    """Return the finder with the shipped networks."""
    return RegionFinder()


def upright(gray: Page, words: Sequence[Word], codes: Sequence[Region]) -> tuple[LayoutPage, int, float]:
    """Return a page with most of its words upright and its longer side `LONGEST` pixels long.

    Returns:
        the page, by how many quarters it was turned counterclockwise, and its pixels for one pixel of the given one.

    Raises:
        ValueError: the page is not an 8-bit gray picture, or has no pixels.
    """
    import cv2
    import numpy as np

    if gray.ndim != 2 or gray.dtype != np.uint8 or 0 in gray.shape:
        raise ValueError("a page is an array of 8-bit gray levels, height × width")
    letters = [sum(len(word.text) for word in words if word.turn == turn) for turn in (0, 90, 180, 270)]
    turns = int(np.argmax(letters))
    high, wide = gray.shape
    scale = LONGEST / max(high, wide)
    turned = np.ascontiguousarray(np.rot90(gray, turns))
    size = tuple(max(1, round(side * scale)) for side in turned.shape[::-1])
    small = cv2.resize(turned, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)

    def moved(box: Box) -> Box:
        left, top, right, bottom = box
        width, height = wide, high
        for _ in range(turns):
            left, top, right, bottom = top, width - right, bottom, width - left
            width, height = height, width
        return round(left * scale), round(top * scale), round(right * scale), round(bottom * scale)

    own = [replace(word, box=moved(word.box), turn=(word.turn - 90 * turns) % 360) for word in words]  # type: ignore[arg-type]  # a multiple of 90 below 360
    page = LayoutPage(np.asarray(small, np.uint8), own, [replace(code, box=moved(code.box)) for code in codes])
    return page, turns, scale


def _back(box: Box, turns: int, scale: float, wide: int, high: int) -> Box:
    """Return a box of an upright page as a box of the page of `wide` × `high` pixels that it was made from."""
    left, top, right, bottom = (side / scale for side in box)
    width, height = (high, wide) if turns % 2 else (wide, high)
    for _ in range(turns):
        left, top, right, bottom = height - bottom, left, height - top, right
        width, height = height, width
    return max(0, round(left)), max(0, round(top)), min(wide, round(right)), min(high, round(bottom))


def described(page: LayoutPage, proposer: LayoutDetector) -> tuple[Boxes, Numbers, Numbers, Numbers]:
    """Return the candidates of a page (candidates × 4) and the inputs of the network, in the order of `INPUTS`.

    Args:
        proposer: finds regions with low scores, too.

    Returns:
        boxes, candidates × numbers, candidates × 1 × `CROP`, and candidates × 1 × `DETAIL` with gray levels.
    """
    import numpy as np

    proposed = proposer.find(page.gray)[:_PROPOSALS]
    proposals = np.array([region.box for region in proposed], np.float32).reshape(-1, 4)
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
    within = _contained(boxes[rows])
    found: list[int] = []
    for at in range(len(rows)):
        for other in found:
            if kinds[at] == kinds[other]:
                lost = shared[at, other] > _SAME or within[at, other] > _WITHIN
            else:
                both = KINDS[kinds[at]] in _TEXT and KINDS[kinds[other]] in _TEXT
                lost = shared[at, other] > _OTHER or (both and within[at, other] > _WITHIN)
            if lost:
                break
        else:
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

    start = np.maximum(boxes[:, None, :2], boxes[None, :, :2])
    end = np.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
    areas = np.maximum(np.prod(boxes[:, 2:] - boxes[:, :2], axis=1), 1)
    common = np.prod(np.clip(end - start, 0, None), axis=2)
    return np.asarray(common / np.minimum(areas[:, None], areas[None]), np.float32)
