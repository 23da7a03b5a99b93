"""RapidOCR as an OCR engine. Its models are in its wheel; it makes no network call. It reads Latin scripts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from incognote import onnx
from incognote.errors import MissingExtra, SettingError
from incognote.pages.nouns import Word
from incognote.pages.ocr.base import Mode

if TYPE_CHECKING:
    from incognote.pages.ocr.base import Image

LANGUAGES = frozenset(("de", "en", "es", "fr", "it", "nl", "pt"))
_PARAMETERS = {
    "Global.log_level": "critical", "Global.use_cls": False,
    "Det.limit_type": "max", "Det.limit_side_len": 1280,  # pixels in which lines are sought; they are read in full size
}  # fmt: skip
_CALIBRATED = 0.95  # it is surer than Tesseract of the same print, and separates words less well
_MODELS = {"Det": "PP-OCRv6_det_small.onnx", "Rec": "PP-OCRv6_rec_small.onnx"}


class RapidOcr:
    """RapidOCR 3.10 with the models of its wheel. It reads one image at a time; other threads wait."""

    name = "rapidocr"

    def __init__(self) -> None:
        self._lock = Lock()
        self._engine: Any = None

    def read(self, image: Image, languages: Sequence[str], mode: Mode) -> list[Word]:
        """See `OcrEngine.read`. All modes find the lines of text in the same way."""
        import numpy as np

        for language in languages:
            if language.split("-")[0].lower() not in LANGUAGES:
                raise SettingError(f"RapidOCR has no model for the language {language!r}: choose the engine tesseract")
        height, width = image.shape[:2]
        if not height or not width:
            return []
        picture = np.dstack([image] * 3) if image.ndim == 2 else image[:, :, ::-1]  # it takes blue, green, red
        with self._lock:
            if self._engine is None:
                self._engine = _engine()
            found = self._engine(
                np.ascontiguousarray(picture), use_cls=False, return_word_box=True, text_score=0.0
            )
        words: list[Word] = []
        boxes = () if found.boxes is None else found.boxes
        for line, (items, corners) in enumerate(zip(found.word_results or (), boxes, strict=False)):
            x, y = corners[:, 0], corners[:, 1]
            # a line without letters has an item without corners
            parts = [item for item in items if isinstance(item, (tuple, list)) and len(item) == 3 and item[2]]
            for (text, confidence, _), (left, right) in zip(parts, _extents(parts, x.min(), x.max()), strict=True):
                box = (max(0, left), max(0, int(y.min())), min(width, right), min(height, int(y.max()) + 1))
                if str(text).strip() and box[0] < box[2] and box[1] < box[3]:
                    sure = _CALIBRATED * min(max(float(confidence), 0.0), 1.0)
                    words.append(Word(str(text).strip(), box, sure, line))
        return words


def _extents(parts: Sequence[Any], left: float, right: float) -> list[tuple[int, int]]:
    """Return where the words of a line begin and end: in the middle of the gaps between RapidOCR's boxes.

    These boxes may miss a part of a letter.
    """
    inner = [sorted(float(x) for x, _ in corners) for _, _, corners in parts]
    middles = [(before[-1] + after[0]) / 2 for before, after in pairwise(inner)]
    edges = [min(left, *(each[0] for each in inner[:1])), *middles, max(right, *(each[-1] for each in inner[-1:]))]
    return [(int(a), int(b) + 1) for a, b in pairwise(edges)]


def _engine() -> Any:
    """Return RapidOCR with its models on one thread.

    Raises:
        MissingExtra: it is not installed, or its wheel has no models.
    """
    try:
        import rapidocr
        from omegaconf import OmegaConf
    except ImportError:
        raise MissingExtra("images", "reading pages with RapidOCR") from None
    folder = Path(rapidocr.__file__).parent / "models"
    paths = {part: folder / name for part, name in _MODELS.items()}
    if not all(path.is_file() for path in paths.values()):
        raise MissingExtra("images", "reading pages with RapidOCR 3.10, whose wheel has its models,")
    engine: Any = rapidocr.RapidOCR(params=_PARAMETERS)
    for part, path in paths.items():
        # given our own session, it neither looks for a model nor opens one with more threads
        settings = OmegaConf.create(dict(engine.cfg[part]), flags={"allow_objects": True})
        settings.session = onnx.session(str(path), arena=False)
        engine.cfg[part] = settings
    return engine
