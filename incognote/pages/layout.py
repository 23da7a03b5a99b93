"""The layout detector: the kinds of regions on a picture of a page, found by a small network.

The image paper (§II.B) segments a page before it is read. The network here is smaller than the paper's; how it is
trained, and how well it does, is in docs/layout.md.
"""

from __future__ import annotations

import json
from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

from incognote.errors import IncognoteError
from incognote.onnx import session
from incognote.pages.boxes import letterboxed, suppressed
from incognote.pages.nouns import Region

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    import numpy as np
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession

KINDS = (
    "Logo", "Table", "One_Col_Key_Value", "Two_Col_Key_Value", "Multi_Col_Text", "QR_Bar_Code", "Seal_Stamp",
    "Signature", "Image", "Handwriting", "Header", "Footer", "Face",
)  # fmt: skip
"""The nine classes that the image paper prints in its Table 1, and four more."""
MODEL, CARD = "layout.onnx", "layout.json"
_SAME = 0.5  # two boxes of one kind that overlap by more are one region
_MOST = 300  # boxes compared with each other


class RegionNetwork:
    """A network in a folder, and its card: hash, kinds, and lowest scores. Threads can share it.

    Args:
        folder: holds the files that `NAMES` names. By default, the shipped ones.
        lowest: the lowest score of a region (0 to 1), for all kinds. By default, each kind has the card's.
    """

    NAMES: ClassVar[tuple[str, str]]
    """The files of the network and of its card."""

    def __init__(self, folder: Traversable | None = None, lowest: float | None = None) -> None:
        self._folder = folder or files("incognote.pages")
        self._lowest = lowest
        self._lock = Lock()
        self._loaded: InferenceSession | None = None

    @cached_property
    def _card(self) -> dict[str, Any]:
        card: dict[str, Any] = json.loads(self._folder.joinpath(self.NAMES[1]).read_text(encoding="utf-8"))
        return card

    @cached_property
    def _limits(self) -> NDArray[np.float32]:
        """The lowest score of each kind."""
        import numpy as np

        lowest = self._card["lowest"]
        return np.array([lowest[kind] if self._lowest is None else self._lowest for kind in KINDS], np.float32)

    @property
    def version(self) -> str:
        """The hash of the network, as the card states it. The file is checked against it when loaded."""
        return str(self._card["version"])

    def _session(self) -> InferenceSession:
        """Return the network, read once by the first thread.

        Raises:
            IncognoteError: it does not match its card.
        """
        with self._lock:
            if self._loaded is None:
                name = self.NAMES[0]
                model = self._folder.joinpath(name).read_bytes()
                if content_hash(model) != self.version or tuple(self._card["kinds"]) != KINDS:
                    raise IncognoteError(f"{name} does not match its card. Reinstall incognote.")
                self._loaded = session(model)
            return self._loaded


class LayoutDetector(RegionNetwork):
    """Finds regions with `layout.onnx`, which sees the whole page. `incognote layout export` writes it and its card."""

    NAMES = MODEL, CARD

    def find(self, page: NDArray[np.uint8]) -> list[Region]:
        """Return the regions of a page, in its pixels, by falling score. Boxes of different kinds can overlap.

        Args:
            page: 8-bit gray levels, height × width.

        Raises:
            IncognoteError: the network does not match its card.
            ValueError: the page is not an 8-bit gray picture, or has no pixels.
        """
        import numpy as np

        pixels, fit = letterboxed(page, int(self._card["size"]), int(self._card["multiple"]))
        inputs = {"page": (pixels / np.float32(255))[None, None].astype(np.float32)}
        boxes, scores = (output[0] for output in self._session().run(["boxes", "scores"], inputs))
        rows, kinds = np.nonzero(scores >= self._limits)
        chosen = np.argsort(-scores[rows, kinds], kind="stable")[:_MOST]
        rows, kinds = rows[chosen], kinds[chosen]
        found = np.rint(fit.restored(boxes[rows])).astype(np.float32)
        values = scores[rows, kinds]
        full = (found[:, 2] > found[:, 0]) & (found[:, 3] > found[:, 1])
        found, values, kinds = found[full], values[full], kinds[full]
        regions = []
        for index in suppressed(found, values, kinds, _SAME):
            left, top, right, bottom = (int(side) for side in found[index])
            regions.append(Region(KINDS[kinds[index]], (left, top, right, bottom), float(values[index]), ("network",)))
        return regions


def content_hash(model: bytes) -> str:
    """Return the hash that names a version: 16 hexadecimal digits."""
    return sha256(model).hexdigest()[:16]
