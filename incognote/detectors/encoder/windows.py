"""Cut texts into overlapping windows of pieces, turn windows into arrays, and combine the logits of the windows.

The model's graphs run in onnxruntime with one thread each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incognote.detectors.encoder.units import Encoded, matrix
from incognote.errors import SettingError
from incognote.onnx import session

Floats = NDArray[np.float32]
_BLOCK = 4_000
"""The minimum size of a block of logits, in units."""


@dataclass(frozen=True, slots=True)
class Window:
    """Units `begin` to `end` of the text with index `text`. `size` counts their pieces, including [CLS] and [SEP]."""

    text: int
    begin: int
    end: int
    size: int


@dataclass(frozen=True, slots=True)
class Batch:
    """Windows side by side.

    Attributes:
        ids: windows × pieces (× the numbers of a word), padded.
        features: windows × pieces × 64; zero for [CLS], [SEP] and padding.
        at: for each window, the position of each unit's first piece.
    """

    windows: tuple[Window, ...]
    ids: NDArray[np.int64]
    features: Floats
    at: tuple[NDArray[np.int64], ...]


def cut(text: int, encoded: Encoded, size: int, overlap: int) -> list[Window]:
    """Return windows of at most `size` pieces over a text, as equal in size as possible.

    Neighboring windows share about `overlap` pieces.
    """
    first, n = encoded.first, len(encoded.units)
    total = len(encoded.ids)
    room = size - 2
    if n == 0:
        return []
    if total <= room:
        return [Window(text, 0, n, total + 2)]
    count = -(-(total - overlap) // (room - overlap))
    made: list[Window] = []
    begin = 0
    while True:
        left = total - first[begin]
        remaining = max(1, count - len(made))
        goal = min(room, -(-(left + overlap * (remaining - 1)) // remaining))
        end = int(np.searchsorted(first, first[begin] + goal, side="right")) - 1
        end = max(end, begin + 1)
        made.append(Window(text, begin, end, int(first[end] - first[begin]) + 2))
        if end >= n:
            return made
        begin = max(begin + 1, int(np.searchsorted(first, first[end] - overlap)))


def batch(texts: Sequence[Encoded], windows: Sequence[Window], special: tuple[int, int, int]) -> Batch:
    """Return the arrays of some windows, padded to the longest. A single window has no padding.

    Args:
        special: the ids of [PAD], [CLS] and [SEP].
    """
    pad, cls, sep = special
    longest = max(w.size for w in windows)
    ids = np.full((len(windows), longest, *texts[windows[0].text].ids.shape[1:]), pad, np.int64)
    masks = np.zeros((len(windows), longest), np.uint64)
    at = []
    for i, w in enumerate(windows):
        encoded = texts[w.text]
        a, b = int(encoded.first[w.begin]), int(encoded.first[w.end])
        ids[i, 0], ids[i, b - a + 1] = cls, sep
        ids[i, 1 : b - a + 1] = encoded.ids[a:b]
        sizes = np.diff(encoded.first[w.begin : w.end + 1])
        masks[i, 1 : b - a + 1] = np.repeat(encoded.units.masks[w.begin : w.end], sizes)
        at.append(encoded.first[w.begin : w.end] - a + 1)
    return Batch(tuple(windows), ids, matrix(masks), tuple(at))


class Stitches:
    """Combines the logits of windows into the logits of each text's units.

    Where windows overlap, it takes the mean, weighted by the distance of the unit from the edge of each window.
    """

    def __init__(self, texts: Sequence[Encoded], tags: int) -> None:
        self._sums: list[Floats] = [np.zeros((len(text.units), tags), np.float32) for text in texts]
        self._weights: list[Floats] = [np.zeros(len(text.units), np.float32) for text in texts]

    def add(self, batch: Batch, logits: Floats) -> None:
        """Add the logits of a batch (windows × pieces × tags)."""
        for row, w, at in zip(logits, batch.windows, batch.at, strict=True):
            _add(row[at], self._sums[w.text][w.begin : w.end], self._weights[w.text][w.begin : w.end])

    def texts(self) -> list[Floats]:
        """Return the logits of each text (units × tags)."""
        return [_mean(sums, weights) for sums, weights in zip(self._sums, self._weights, strict=True)]


def stitched(windows: Iterable[tuple[Window, Floats]], tags: int) -> Iterator[Floats]:
    """Yield the logits of one text's units in blocks, equal to those of `Stitches`, without keeping all in memory.

    Args:
        windows: the windows in order, each with the logits of its units (units × tags).
    """
    first, sums, weights = 0, np.zeros((0, tags), np.float32), np.zeros(0, np.float32)
    for w, logits in windows:
        settled = w.begin - first
        if settled >= _BLOCK:
            yield _mean(sums[:settled], weights[:settled])
            first, sums, weights = w.begin, sums[settled:].copy(), weights[settled:].copy()
        more = w.end - first - len(weights)
        sums = np.concatenate([sums, np.zeros((more, tags), np.float32)])
        weights = np.concatenate([weights, np.zeros(more, np.float32)])
        _add(logits, sums[w.begin - first :], weights[w.begin - first :])
    yield _mean(sums, weights)


def log_odds(logits: Floats) -> Floats:
    """For each row of logits (units or pieces × tags), the log-odds of all other tags together against O."""
    top = logits[:, 1:].max(axis=1)
    odds: Floats = top + np.log(np.exp(logits[:, 1:] - top[:, None]).sum(axis=1)) - logits[:, 0]
    return odds


def _add(logits: Floats, sums: Floats, weights: Floats) -> None:
    n = len(logits)
    edge = np.minimum(np.arange(1, n + 1), np.arange(n, 0, -1)).astype(np.float32)
    sums += logits * edge[:, None]
    weights += edge


def _mean(sums: Floats, weights: Floats) -> Floats:
    return np.divide(sums, np.maximum(weights, 1)[:, None], dtype=np.float32)


class Session:
    """The graphs of a bundle, ready to run. Thread-safe, like the sessions of onnxruntime.

    Args:
        folder: the folder of a bundle.
        fast: always use the early exit.
        leave: a window also leaves at the early exit if that exit gives every piece less than these log-odds of being
            in an identifier. Most windows of prose hold no identifier, and the upper layers add nothing there. None:
            no window leaves early.

    Raises:
        SettingError: a graph cannot be loaded.
    """

    def __init__(self, folder: Path, *, fast: bool, leave: float | None = None) -> None:
        self._lower = _open(folder / "lower.onnx")
        self._leave = leave
        upper = folder / "upper.onnx"
        self._upper = _open(upper) if not fast and upper.is_file() else None

    def __call__(self, ids: NDArray[np.int64], features: Floats) -> Floats:
        """Return the logits (windows × pieces × tags)."""
        hidden, early = _asked(self._lower, ("hidden", "fast"), ids=ids, features=features)
        logits: Floats = early
        if self._upper is not None and not self._empty(early):
            (logits,) = _asked(self._upper, ("logits",), hidden=hidden, ids=ids, features=features)
        return logits

    def _empty(self, early: Floats) -> bool:
        return self._leave is not None and all(surest(window) < self._leave for window in early)


def surest(window: Floats) -> float:
    """The largest log-odds of a window's pieces (pieces × tags), without the first and last, which are not words."""
    return float(log_odds(window[1:-1]).max(initial=-np.inf))


def _asked(graph: Any, outputs: tuple[str, ...], **inputs: Any) -> Any:
    taken = {each.name for each in graph.get_inputs()}  # the exporter omits the inputs of disabled parts
    return graph.run(outputs, {name: value for name, value in inputs.items() if name in taken})


def _open(path: Path) -> Any:
    try:
        # The fused node normalizes the sum of a layer and its skip connection one number at a time. It takes six times
        # as long as the two separate nodes: a seventh of the total time.
        apart = ["SkipLayerNormFusion"]
        return session(str(path), disabled_optimizers=apart)
    except Exception:  # onnxruntime raises its own class for each status; all mean the same here
        raise SettingError(f"encoder: {path.name} cannot be loaded. Export the model again.") from None
